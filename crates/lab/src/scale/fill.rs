//! What the stores are filled with: half of it belongs to one client, the rest to many.

use crate::Failure;
use foldline_store::{
    Bytes, Cursor, Key, Limits, NewCheckpoint, NewFold, NewOriginal, Precedence, Record, Removal, SessionRow, Store,
};
use foldline_transcript::recall::Handle;
use std::path::Path;

/// The time of everything.
pub(super) const NOW: i64 = 1_760_000_000_000;
/// Checkpoints of one conversation; as many originals were removed in it.
const PER_CONVERSATION: usize = 5;
/// Clients that share one half.
const CLIENTS: usize = 50;
/// Originals that are packed at once.
const BATCH: usize = 1_000;
/// Records that are added at once. Their keys are scattered, so small batches would write most pages of an index again and again.
pub(super) const ADDED: usize = 20_000;

/// Texts and keys that follow from a number.
#[derive(Clone, Copy)]
pub(super) struct Content {
    pub(super) count: usize,
}

/// What is put into stores.
pub(super) struct Filling {
    content: Content,
    /// Holds every original once, to be exported from.
    packed: Store,
    /// A checkpoint as a store exports it, to be varied.
    checkpoint: Record,
}

impl Content {
    /// One of the originals, never twice in a row.
    pub(super) fn pick(&self, number: usize) -> usize {
        (number.wrapping_mul(0x9E37_79B9) + 77) % self.count
    }

    pub(super) fn namespace(&self, number: usize) -> String {
        let conversation = number / PER_CONVERSATION;
        match conversation % 2 {
            0 => "client-0".to_owned(),
            _ => format!("client-{}", 1 + conversation / 2 % CLIENTS),
        }
    }

    pub(super) fn session(&self, number: usize) -> String {
        format!("session-{}", number / PER_CONVERSATION)
    }

    /// Whose conversation an original was removed from, and its root.
    pub(super) fn conversation(&self, number: usize) -> (String, Key) {
        (self.namespace(number), key(number - number % PER_CONVERSATION))
    }

    pub(super) fn own_word(&self, number: usize) -> String {
        format!("case{number:07}x")
    }

    /// Words of ten, a hundred and so on.
    pub(super) fn rare_word(&self, number: usize) -> String {
        let rank = [100_000, 10_000, 1_000][number % 3];
        format!("word{rank}n{}", scatter(number, rank) % rank)
    }

    pub(super) fn two_words(&self, number: usize) -> String {
        let first = scatter(number, 100) % 100;
        format!("module{first} function{}", scatter(number, 101) % 101)
    }

    pub(super) fn text(&self, number: usize) -> String {
        let own = self.own_word(number);
        let rare: Vec<String> =
            [100_000, 10_000, 1_000].map(|rank| format!("word{rank}n{}", scatter(number, rank) % rank)).into();
        let two = self.two_words(number);
        format!(
            "running {own}\n{two} ... ok\n{} in {}\nerror: expected {} but found nothing\nfinished in {} ms\n",
            rare.join(" "),
            number % 977,
            number % 313,
            number % 1_009
        )
    }
}

impl Filling {
    pub(super) fn new(content: Content, folder: &Path) -> Result<Filling, Failure> {
        let packed = Store::open(&folder.join("packed.db"), Limits { max_bytes: 1 << 40, ..Limits::default() })?;
        let checkpoint = exported_checkpoint(&folder.join("checkpoint.db"))?;
        for from in (0..content.count).step_by(BATCH) {
            let numbers = from..(from + BATCH).min(content.count);
            let texts: Vec<String> = numbers.map(|number| content.text(number)).collect();
            let originals: Vec<NewOriginal<'_>> =
                texts.iter().map(|text| NewOriginal { handle: Handle::of(text), text, tool: "bash" }).collect();
            packed.put(NOW, "", &originals)?;
        }
        Ok(Filling { content, packed, checkpoint })
    }

    /// Puts everything into a store.
    pub(super) fn fill(&self, store: &Store) -> Result<(), Failure> {
        let (mut cursor, mut number, mut batch) = (Cursor::default(), 0, Vec::new());
        while number < self.content.count {
            for mut record in self.packed.page(&mut cursor)? {
                let Record::Original { namespace, sessions, .. } = &mut record else { continue };
                *namespace = self.content.namespace(number);
                *sessions = vec![Removal { session: self.content.session(number), key: None }];
                batch.extend([record, self.checkpoint(number)]);
                if number % PER_CONVERSATION == 0 {
                    batch.push(self.session_record(number));
                }
                number += 1;
            }
            if batch.len() >= ADDED || number == self.content.count {
                store.add(&batch)?;
                batch.clear();
            }
        }
        Ok(())
    }

    fn session_record(&self, number: usize) -> Record {
        let record = r#"{"label":"a","dialect":"chat","model":"m","first_at":1,"last_at":2,"lanes":[]}"#.to_owned();
        Record::Session {
            id: self.content.session(number),
            namespace: self.content.namespace(number),
            last_at: NOW,
            record,
            key: None,
        }
    }

    fn checkpoint(&self, number: usize) -> Record {
        let mut record = self.checkpoint.clone();
        if let Record::Checkpoint { namespace, id, root, position, session, .. } = &mut record {
            *namespace = self.content.namespace(number);
            *id = Bytes(key(number).0.to_vec());
            *root = Bytes(key(number - number % PER_CONVERSATION).0.to_vec());
            *position = 20 * (1 + number % PER_CONVERSATION) as i64;
            *session = self.content.session(number);
        }
        record
    }
}

/// A checkpoint as a store exports it.
fn exported_checkpoint(file: &Path) -> Result<Record, Failure> {
    let store = Store::open(file, Limits::default())?;
    let session = SessionRow { id: "s".into(), namespace: "n".into(), last_at: NOW, record: "{}".into() };
    let text = r#"{"role":"user","content":"Continue from this handoff: all tests were run, two failed."}"#;
    let record = r#"{"position":20,"messages":3,"tokens":400}"#;
    let checkpoint = NewCheckpoint { key: key(0), root: key(0), position: 20, record, text };
    let fold = NewFold { namespace: "n", originals: &[], checkpoint, precedence: Precedence::First, session: &session };
    store.keep_fold(NOW, &fold)?;
    let mut cursor = Cursor::default();
    loop {
        let page = store.page(&mut cursor)?;
        if page.is_empty() {
            return Err("an export without its checkpoint".into());
        }
        if let Some(checkpoint) = page.into_iter().find(|record| matches!(record, Record::Checkpoint { .. })) {
            return Ok(checkpoint);
        }
    }
}

/// A number that has nothing to do with its neighbours.
fn scatter(number: usize, seed: usize) -> usize {
    let mixed = (number as u64 ^ (seed as u64) << 32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 33) as usize
}

fn key(number: usize) -> Key {
    let mut bytes = [0; 32];
    for (part, bytes) in bytes.chunks_exact_mut(8).enumerate() {
        bytes.copy_from_slice(&(scatter(number, part) as u64).wrapping_mul(0xD6E8_FEB8_6659_FD93).to_le_bytes());
    }
    bytes[..8].copy_from_slice(&(number as u64).to_be_bytes());
    Key(bytes)
}
