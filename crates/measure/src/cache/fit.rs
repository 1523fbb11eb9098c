//! Compares a recording with the cache simulator.
//!
//! Session files lack the system prompt and the tools, and tokens are estimated. Both follow from what was reported:
//! the scale from how the prompt grew, the rest from the first request. Two things cannot be predicted from
//! messages and are taken from the record: where the client compacted (the prompt shrank) and where it changed
//! what stands before the messages (the read fell back to the system prompt although the cache was warm).

use super::record::Recording;
use super::simulate::{Block, Rules, SLACK, Simulator};
use foldline_core::cache::Layout;
use foldline_core::cache::Traffic;
use foldline_core::policy::CacheTtl;
use foldline_core::tokens::Counts;
use foldline_transcript::Transcript;
use serde::Serialize;

/// A prompt that shrinks to less than this share was compacted.
const COMPACTED: f64 = 0.8;
/// One that shrinks a little and is read from the start again was compacted, too: old outputs were cleared.
const CLEARED: f64 = 0.98;
/// A warm read of less than this share of what was there means that the beginning changed.
const REREAD: f64 = 0.5;
/// Scales beyond these say that the record does not belong to the messages.
const SCALES: (f64, f64) = (0.5, 2.0);

/// Why a prompt is not the continuation of the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Break {
    /// The client compacted.
    Compaction,
    /// The client changed what stands between the system prompt and the first message.
    Client,
}

/// What a session's record tells about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// Reported tokens per counted token.
    pub scale: f64,
    /// Tokens beside the messages: system prompt, tools, what the client adds.
    pub outside: u64,
    /// Tokens of them that survive when the client changes its own: the system prompt and the tools.
    pub system: u64,
    /// Whether another session had put them in the cache before.
    pub shared: bool,
    /// Lifetime that the client asks for.
    pub ttl: CacheTtl,
    /// Per request: whether it continues the one before.
    pub breaks: Vec<Option<Break>>,
}

/// How the size of a prompt is known in a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// As reported: what is left are the errors of the cache rules.
    Reported,
    /// Counted in the messages and scaled; only the first prompt, and the first after a compaction, as reported.
    Counted,
    /// As `Counted`, and nobody says where the client changed its prompt.
    Unaided,
}

/// A predicted session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prediction {
    /// Request by request.
    pub requests: Vec<Traffic>,
}

impl Prediction {
    /// All requests together.
    pub fn total(&self) -> Traffic {
        let mut total = Traffic::default();
        self.requests.iter().for_each(|&request| total += request);
        total
    }
}

impl Fit {
    /// Fits a session with reported usage; `None` where nothing was reported.
    pub fn of(recording: &Recording, counts: &Counts) -> Option<Fit> {
        let requests = &recording.requests;
        let first = requests.first()?;
        let opening = first.reported?;
        let ttl = recording.ttl().unwrap_or(CacheTtl::FiveMinutes);
        let breaks = breaks(recording, ttl);
        let (mut grown, mut counted) = (0_i64, 0_u64);
        for (pair, broken) in requests.windows(2).zip(breaks.iter().skip(1)) {
            if let ([before, after], None | Some(Break::Client)) = (pair, broken)
                && let (Some(one), Some(two)) = (before.reported, after.reported)
            {
                grown += two.prompt() as i64 - one.prompt() as i64;
                counted += counts.between(before.reply, after.reply);
            }
        }
        let scale = match counted {
            0 => 1.0,
            counted => (grown as f64 / counted as f64).clamp(SCALES.0, SCALES.1),
        };
        let beside = opening.prompt().saturating_sub((counts.between(0, first.reply) as f64 * scale) as u64);
        // What stands in every request is no larger than the smallest. A record that begins in the middle of a
        // conversation opens with history that its file does not have.
        let smallest = requests.iter().filter_map(|request| request.reported).map(|reported| reported.prompt()).min();
        let outside = beside.min(smallest.unwrap_or(beside));
        let mut survived: Vec<u64> = requests
            .iter()
            .zip(&breaks)
            .filter(|(_, broken)| broken.is_some())
            .filter_map(|(request, _)| request.reported.map(|reported| reported.cache_read))
            .filter(|&read| read > 0)
            .collect();
        survived.sort_unstable();
        let typical = survived.get(survived.len() / 2).copied();
        let shared = opening.cache_read > 0;
        let system = typical.or(shared.then_some(opening.cache_read)).unwrap_or(outside).min(outside);
        Some(Fit { scale, outside, system, shared, ttl, breaks })
    }

    /// What the simulator says about the session.
    pub fn predict(
        &self,
        recording: &Recording,
        transcript: &Transcript<'_>,
        counts: &Counts,
        rules: Rules,
        sizes: Sizes,
    ) -> Prediction {
        let mut cache = Simulator::new(rules);
        let system = Block::after(None, 1, self.system);
        let mut prediction = Prediction::default();
        let mut epoch = 0;
        // Tokens and message at which the sizes were last known.
        let opening = recording.requests.first();
        let mut known = opening.map_or((0, 0), |first| (first.reported.unwrap_or_default().prompt(), first.reply));
        // Where earlier prompts ended, with their sizes: what is continued keeps the size it had.
        let mut ended: Vec<(usize, u64)> = Vec::new();
        for (index, (request, broken)) in recording.requests.iter().zip(&self.breaks).enumerate() {
            let at = request.at.unwrap_or(index as f64);
            let reported = request.reported.unwrap_or_default();
            match broken {
                Some(Break::Compaction) => epoch = index,
                Some(Break::Client) if sizes != Sizes::Unaided => epoch = index,
                _ => {}
            }
            let estimate =
                |known: (u64, usize)| known.0 + (counts.between(known.1, request.reply) as f64 * self.scale) as u64;
            if sizes == Sizes::Reported || *broken == Some(Break::Compaction) {
                known = (reported.prompt(), request.reply);
            }
            if *broken == Some(Break::Compaction) {
                ended.clear();
            }
            let total = estimate(known).max(self.system);
            if index == 0 && self.shared {
                cache.seed(system, at, self.ttl);
            }
            let total = ended.last().map_or(total, |&(_, before)| total.max(before));
            ended.push((request.reply, total));
            let (blocks, ends) = blocks(transcript, epoch, system, &ended);
            let marks = Layout::Auto.marks(Some(0), &ends, self.ttl);
            prediction.requests.push(cache.request(at, &blocks, &marks));
        }
        prediction
    }
}

/// The blocks of a prompt, and where its messages end. Only the sizes of whole prompts are known: what lies between
/// two of them counts where the later one ends.
fn blocks(
    transcript: &Transcript<'_>,
    epoch: usize,
    system: Block,
    ended: &[(usize, u64)],
) -> (Vec<Block>, Vec<usize>) {
    let mut blocks = vec![system];
    let mut ends = Vec::new();
    let mut from = 0;
    for &(reply, total) in ended {
        for message in transcript.messages.get(from..reply).unwrap_or_default() {
            for part in message.parts.clone() {
                let digest = (epoch as u64) << 40 | (u64::from(part) + 2);
                blocks.push(Block::after(blocks.last().copied(), digest, 0));
            }
            if !message.parts.is_empty() {
                ends.push(blocks.len() - 1);
            }
        }
        from = reply;
        if let Some(last) = blocks.last_mut() {
            last.upto = last.upto.max(total);
        }
    }
    (blocks, ends)
}

/// Where prompts do not continue the ones before them.
fn breaks(recording: &Recording, ttl: CacheTtl) -> Vec<Option<Break>> {
    let mut breaks = vec![None; recording.requests.len().min(1)];
    for pair in recording.requests.windows(2) {
        let [before, after] = pair else { continue };
        let (Some(one), Some(two)) = (before.reported, after.reported) else {
            breaks.push(None);
            continue;
        };
        let gap = after.at.unwrap_or_default() - before.at.unwrap_or_default();
        let there = (one.cache_read + one.written()) as f64;
        let left = two.prompt() as f64 / one.prompt().max(1) as f64;
        let is_reread = (two.cache_read as f64) < there * REREAD;
        breaks.push(if left < COMPACTED || (left < CLEARED && is_reread) {
            Some(Break::Compaction)
        } else if is_reread && gap <= f64::from(ttl.seconds()) + SLACK {
            Some(Break::Client)
        } else {
            None
        });
    }
    breaks
}
