//! Both stores with a million checkpoints and small originals: how long look-ups and searches take.

mod fill;
mod place;

use crate::Failure;
use fill::{Content, NOW};
use foldline_core::reading::{Reach, Way};
use foldline_store::{Query, Recall, Search, Whose};
use foldline_transcript::recall::Handle;
use place::{Filled, Place};
use serde_json::{Value, json};
use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// What is tried.
#[derive(Clone, Debug)]
pub struct ScaleTest {
    /// Checkpoints, and as many originals.
    pub count: usize,
    /// Look-ups and searches of each kind.
    pub tries: usize,
    /// Where the stores are kept, to be timed again.
    pub keep: Option<PathBuf>,
}

/// What a call must take at most, for 99 of 100.
const LOOK_UP_SQLITE: Duration = Duration::from_millis(1);
const LOOK_UP_POSTGRES: Duration = Duration::from_millis(5);
const SEARCH: Duration = Duration::from_millis(50);

/// How long calls of one kind took.
#[derive(Clone, Debug)]
pub struct Timed {
    /// The store.
    pub store: &'static str,
    /// What was called.
    pub what: &'static str,
    /// Half took no longer, 99 of 100, and none.
    pub times: [Duration; 3],
    /// What 99 of 100 may take.
    pub limit: Duration,
}

/// A store with all its rows.
#[derive(Clone, Debug)]
pub struct Size {
    /// The store.
    pub store: &'static str,
    /// Bytes on the disk.
    pub bytes: u64,
    /// How long the rows and the index took; none if the store was filled earlier.
    pub took: Option<[Duration; 2]>,
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// The stores.
    pub stores: Vec<Size>,
    /// Calls.
    pub timed: Vec<Timed>,
}

/// Fills both stores and measures; PostgreSQL is left out, with a line that says so, where it is not installed.
pub fn measure(plan: &ScaleTest, tell: impl Fn(&str)) -> Result<Figures, Failure> {
    let content = Content { count: plan.count };
    let place = Place::new(plan.keep.as_deref(), content)?;
    let mut figures = Figures::default();
    let sqlite = place.sqlite(&tell)?;
    one(plan, content, ("SQLite", &sqlite, LOOK_UP_SQLITE), &mut figures, &tell)?;
    if let Some(postgres) = place.postgres(&sqlite.store, &tell)? {
        one(plan, content, ("PostgreSQL", &postgres, LOOK_UP_POSTGRES), &mut figures, &tell)?;
    }
    Ok(figures)
}

fn one(
    plan: &ScaleTest,
    content: Content,
    (name, filled, look_up): (&'static str, &Filled, Duration),
    figures: &mut Figures,
    tell: &impl Fn(&str),
) -> Result<(), Failure> {
    let Filled { store, took, bytes, .. } = filled;
    figures.stores.push(Size { store: name, bytes: *bytes, took: *took });
    tell(&format!("{name}: look-ups and searches"));
    let mut timed = |what, limit, call: &mut dyn FnMut(usize) -> Result<bool, Failure>| -> Result<(), Failure> {
        let mut times = Vec::with_capacity(plan.tries);
        for number in 0..plan.tries {
            let began = Instant::now();
            let found = call(number)?;
            times.push(began.elapsed());
            if !found {
                return Err(format!("{name}: {what} number {number} found nothing").into());
            }
        }
        times.sort_unstable();
        let at = |share: f64| times.get((times.len() as f64 * share) as usize).or(times.last()).copied();
        let times = [0.5, 0.99, 1.0].map(|share| at(share).unwrap_or_default());
        let timed = Timed { store: name, what, times, limit };
        tell(timed.to_string().trim_end());
        figures.timed.push(timed);
        Ok(())
    };
    let pick = |number: usize| content.pick(number);
    timed("checkpoint of a conversation", look_up, &mut |number| {
        let (namespace, root) = content.conversation(pick(number));
        let known = store.checkpoints(&namespace, &root, 4_096)?;
        let Some(longest) = known.iter().max_by_key(|entry| entry.position) else { return Ok(false) };
        Ok(store.checkpoint_text(NOW, &namespace, &longest.key)?.is_some())
    })?;
    timed("session", look_up, &mut |number| Ok(store.session(&content.session(pick(number)))?.is_some()))?;
    timed("original by its handle", look_up, &mut |number| {
        let (namespace, text) = (content.namespace(pick(number)), content.text(pick(number)));
        Ok(matches!(store.get(NOW, &namespace, Handle::of(&text))?, Recall::Found(_)))
    })?;
    let search = |number: usize, words: &str, session: Option<&str>| -> Result<bool, Failure> {
        let query = Query::parse(words)?;
        let namespace = content.namespace(pick(number));
        let search = Search { query: &query, whose: Whose::Namespace(&namespace), session, limit: 10 };
        Ok(!store.search(&search, &Way::of(Reach::Command))?.hits.is_empty())
    };
    timed("search: a word of one original", SEARCH, &mut |number| {
        search(number, &content.own_word(pick(number)), None)
    })?;
    timed("search: words of one in ten to a hundred thousand", SEARCH, &mut |number| {
        search(number, &content.rare_word(pick(number)), None)
    })?;
    timed("search: two words of one in a hundred", SEARCH, &mut |number| {
        search(number, &content.two_words(pick(number)), None)
    })?;
    timed("search: a word of every original", SEARCH, &mut |number| search(number, "finished", None))?;
    timed("search: the beginning of a word", SEARCH, &mut |number| {
        let word = content.own_word(pick(number));
        search(number, &format!("{}*", word.get(..word.len() - 1).unwrap_or(&word)), None)
    })?;
    timed("search: a word of every original, in one session", SEARCH, &mut |number| {
        search(number, "finished", Some(&content.session(pick(number))))
    })?;
    timed("search: a word that nobody wrote", SEARCH, &mut |number| {
        search(number, "zirconium", None).map(|found| !found)
    })
}

impl Timed {
    /// Whether it takes longer than it may.
    fn is_slow(&self) -> bool {
        self.times[1] > self.limit
    }
}

impl Figures {
    /// Whether everything is as fast as it must be.
    pub fn is_fast(&self) -> bool {
        !self.timed.iter().any(Timed::is_slow)
    }

    /// For programs.
    pub fn to_json(&self) -> Value {
        let ms = |time: Duration| time.as_secs_f64() * 1_000.0;
        let calls: Vec<Value> = self
            .timed
            .iter()
            .map(|timed| {
                let [half, most, all] = timed.times.map(ms);
                json!({ "store": timed.store, "what": timed.what, "p50_ms": half, "p99_ms": most, "max_ms": all,
                        "limit_ms": ms(timed.limit) })
            })
            .collect();
        let bytes: Vec<(&str, u64)> = self.stores.iter().map(|size| (size.store, size.bytes)).collect();
        json!({ "calls": calls, "bytes": bytes })
    }
}

impl fmt::Display for Timed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [half, most, all] = self.times.map(|time| time.as_secs_f64() * 1_000.0);
        let limit = self.limit.as_millis();
        let slow = if self.is_slow() { "  TOO SLOW" } else { "" };
        writeln!(f, "{:<12}{:<52}{half:>9.2}{most:>9.2}{all:>9.2}{limit:>9}{slow}", self.store, self.what)
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Size { store, bytes, took } in &self.stores {
            write!(f, "{store}: {} MB", bytes >> 20)?;
            match took.map(|took| took.map(|time| time.as_secs_f64())) {
                Some([rows, index]) => writeln!(f, ", rows in {rows:.0} s, index in {index:.0} s")?,
                None => writeln!(f, ", filled earlier")?,
            }
        }
        writeln!(f, "{:<12}{:<52}{:>9}{:>9}{:>9}{:>9}", "store", "milliseconds", "p50", "p99", "most", "limit")?;
        for timed in &self.timed {
            write!(f, "{timed}")?;
        }
        Ok(())
    }
}
