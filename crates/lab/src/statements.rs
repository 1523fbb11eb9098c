//! Fits how sentences of users are judged: a rule, a fact, a request for now, or talk.
//!
//! First the table of letters, on labelled sentences in many languages; then, on chats with notes, how much it and each
//! other sign count. Each chat is judged by numbers that were fitted on all the others.

use crate::Failure;
use crate::chats::Chat;
use crate::matrix::sessions;
use foldline_core::ledger::letters::{KINDS, SLOTS, slots};
use foldline_core::ledger::statement::{BY_LETTERS, SIGNS, letter_signs, write_fitted, write_signs};
use foldline_core::ledger::{Statement, Stretches, Weights, Wishes, gather};
use foldline_transcript::wire;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// What is fitted on.
pub struct Options {
    /// Folder with labelled sentences: a class, a tab, a sentence in each line of its `.tsv` files. Without it the table
    /// of letters stays as it is.
    pub sentences: Option<PathBuf>,
    /// Folder with chats and notes.
    pub chats: PathBuf,
    /// Where the fitted numbers go.
    pub into: Option<PathBuf>,
}

/// The classes of sentences; the last is what the others are measured against.
const CLASSES: [&str; KINDS + 1] = ["rule", "fact", "once", "chat"];
/// How often all sentences are gone through.
const ROUNDS: usize = 8;
const RATE: f32 = 0.1;
/// How fast weights shrink that nothing needs.
const SHRINK: f32 = 1e-4;

struct Sentence {
    class: usize,
    /// Its slots with how often each occurs.
    slots: Vec<(usize, f32)>,
    norm: f32,
    /// The signs that are not its letters: what they explain the letters need not.
    form: [f32; SIGNS.len()],
}

type Table = Vec<[f32; KINDS + 1]>;

/// Fits everything, and says how well it does.
pub fn run(options: &Options) -> Result<String, Failure> {
    let mut out = String::new();
    let table = match &options.sentences {
        Some(folder) => Some(fit_letters(folder, &mut out)?),
        None => None,
    };
    let chats = read_chats(&options.chats, table.as_deref())?;
    judge_chats(&chats, &mut out);
    let all: Vec<&Said> = chats.iter().flatten().collect();
    let (rule, keep) = (fit_signs(&all, |kind| kind == Kind::Rule), fit_signs(&all, |kind| kind != Kind::Other));
    let _ = writeln!(out, "\n{:<26}{:>8}{:>8}", "sign", "rule", "keep");
    for ((name, rule), keep) in SIGNS.iter().zip(rule).zip(keep) {
        let _ = writeln!(out, "{name:<26}{rule:>8.2}{keep:>8.2}");
    }
    if let Some(into) = &options.into {
        let fitted = match &table {
            Some(table) => write_fitted(&rule, &keep, table),
            None => write_signs(&rule, &keep),
        };
        std::fs::write(into, fitted)?;
        let _ = writeln!(out, "written to {}", into.display());
    }
    Ok(out)
}

/// Fits the table of letters: for each slot how much it speaks for each kind against talk.
fn fit_letters(folder: &Path, out: &mut String) -> Result<Vec<[f32; KINDS]>, Failure> {
    let sentences = read_sentences(folder)?;
    let _ = writeln!(
        out,
        "{} sentences; of held-out ones (a fifth at a time) {:.1} % have the right class",
        sentences.len(),
        crossed(&sentences)
    );
    let table = fit_table(&sentences.iter().collect::<Vec<_>>());
    Ok(table.iter().take(SLOTS).map(|[kinds @ .., talk]| kinds.map(|weight| weight - talk)).collect())
}

/// How the lines of a file are judged, as logarithms of odds.
pub fn judge(file: &Path) -> Result<String, Failure> {
    let mut out = format!("{:>6}{:>6}   by letters: rule, keep, once\n", "rule", "keep");
    for line in std::fs::read_to_string(file)?.lines() {
        let Statement { rule, keep, seen: [_, letters @ .., _], .. } = Statement::alone(line);
        let letters: String = letters.iter().take(KINDS).map(|sign| format!("{sign:>6.2}")).collect();
        let _ = writeln!(out, "{rule:>6.2}{keep:>6.2}{letters}  {line}");
    }
    Ok(out)
}

fn read_sentences(folder: &Path) -> Result<Vec<Sentence>, Failure> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_, Failure>>()?;
    files.retain(|path| path.extension().is_some_and(|ending| ending == "tsv"));
    files.sort();
    let mut sentences = Vec::new();
    for file in files {
        for line in std::fs::read_to_string(&file)?.lines() {
            let Some((class, text)) = line.split_once('\t') else { continue };
            let Some(class) = CLASSES.iter().position(|known| *known == class) else {
                return Err(format!("{}: `{class}` is none of {}", file.display(), CLASSES.join(", ")).into());
            };
            sentences.push(Sentence::new(class, text));
        }
    }
    Ok(sentences)
}

impl Sentence {
    fn new(class: usize, text: &str) -> Sentence {
        let mut all = Vec::new();
        slots(text, |slot| all.push(slot));
        let norm = 1.0 / (all.len().max(1) as f32).sqrt();
        all.sort_unstable();
        let mut slots: Vec<(usize, f32)> = Vec::new();
        for slot in all {
            match slots.last_mut() {
                Some((last, times)) if *last == slot => *times += 1.0,
                _ => slots.push((slot, 1.0)),
            }
        }
        let mut form = Statement::alone(text).seen;
        form.iter_mut().skip(1).take(BY_LETTERS).for_each(|sign| *sign = 0.0);
        Sentence { class, slots, norm, form }
    }

    fn scores(&self, table: &Table) -> [f32; KINDS + 1] {
        let mut scores = [0.0; KINDS + 1];
        for (weights, sign) in table.get(SLOTS..).unwrap_or_default().iter().zip(self.form) {
            scores.iter_mut().zip(weights).for_each(|(score, weight)| *score += weight * sign);
        }
        for &(slot, times) in &self.slots {
            let weights = table.get(slot).copied().unwrap_or_default();
            scores.iter_mut().zip(weights).for_each(|(score, weight)| *score += weight * times * self.norm);
        }
        scores
    }
}

/// Softmax regression, the letters first and then the other signs, by gradient steps that get smaller where much was learnt (AdaGrad).
fn fit_table(sentences: &[&Sentence]) -> Table {
    let mut table: Table = vec![[0.0; KINDS + 1]; SLOTS + SIGNS.len()];
    let mut learnt: Table = vec![[1e-6; KINDS + 1]; SLOTS + SIGNS.len()];
    let mut order: Vec<usize> = (0..sentences.len()).collect();
    let mut state = 1_u64;
    for _ in 0..ROUNDS {
        shuffle(&mut order, &mut state);
        for sentence in order.iter().filter_map(|&at| sentences.get(at)) {
            let mut errors = softmax(sentence.scores(&table));
            if let Some(right) = errors.get_mut(sentence.class) {
                *right -= 1.0;
            }
            let letters = sentence.slots.iter().map(|&(slot, times)| (slot, times * sentence.norm));
            let form = sentence.form.iter().enumerate().map(|(at, &sign)| (SLOTS + at, sign));
            for (slot, size) in letters.chain(form) {
                let (Some(weights), Some(learnt)) = (table.get_mut(slot), learnt.get_mut(slot)) else { continue };
                for ((weight, learnt), error) in weights.iter_mut().zip(learnt).zip(errors) {
                    let slope = error * size + SHRINK * *weight;
                    *learnt += slope * slope;
                    *weight -= RATE * slope / learnt.sqrt();
                }
            }
        }
    }
    table
}

fn softmax(scores: [f32; KINDS + 1]) -> [f32; KINDS + 1] {
    let most = scores.iter().copied().fold(f32::MIN, f32::max);
    let powers = scores.map(|score| (score - most).exp());
    let sum: f32 = powers.iter().sum();
    powers.map(|power| power / sum)
}

/// Shuffles with a generator of its own, so that a fit can be repeated.
fn shuffle(order: &mut [usize], state: &mut u64) {
    for at in (1..order.len()).rev() {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        order.swap(at, (*state >> 33) as usize % (at + 1));
    }
}

/// The share of sentences, in percent, that get their class from a table fitted without them.
fn crossed(sentences: &[Sentence]) -> f64 {
    const PARTS: usize = 5;
    let mut right = 0;
    for part in 0..PARTS {
        let is_out = |at: usize| at % PARTS == part;
        let within: Vec<&Sentence> =
            sentences.iter().enumerate().filter(|(at, _)| !is_out(*at)).map(|(_, one)| one).collect();
        let table = fit_table(&within);
        for (_, sentence) in sentences.iter().enumerate().filter(|(at, _)| is_out(*at)) {
            let scores = sentence.scores(&table);
            let best = scores.iter().enumerate().max_by(|one, other| one.1.total_cmp(other.1)).map(|(at, _)| at);
            right += usize::from(best == Some(sentence.class));
        }
    }
    100.0 * right as f64 / sentences.len().max(1) as f64
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Rule,
    Fact,
    Other,
}

/// A sentence of a chat, with what it is.
struct Said {
    seen: [f32; SIGNS.len()],
    kind: Kind,
    bytes: usize,
}

fn read_chats(folder: &Path, table: Option<&[[f32; KINDS]]>) -> Result<Vec<Vec<Said>>, Failure> {
    sessions(folder)?
        .iter()
        .map(|file| {
            let chat: Chat = serde_json::from_str(&std::fs::read_to_string(file)?)?;
            let body = chat.body();
            let transcript = wire::read(&body, None)?;
            let folded: Vec<usize> = (0..transcript.messages.len()).collect();
            let weights = Weights::default();
            let wishes = Wishes { focus: None, pins: &[], weights: &weights };
            let ledger = gather(&transcript, Stretches { folded: &folded, live: &[] }, wishes);
            let sentences =
                ledger.entries.iter().filter_map(|entry| Some((ledger.text(entry), ledger.statement(entry)?)));
            Ok(sentences.map(|(text, statement)| said(&chat, text, statement, table)).collect())
        })
        .collect()
}

/// A sentence as it is judged with `table`, or else with the one that this program was built with.
fn said(chat: &Chat, text: &str, statement: &Statement, table: Option<&[[f32; KINDS]]>) -> Said {
    let mut seen = statement.seen;
    if let Some(table) = table {
        let letters = letter_signs(text, |text| look_up(text, table));
        seen.iter_mut().skip(1).zip(letters).for_each(|(sign, letters)| *sign = letters);
    }
    // A note may quote a part of a sentence, or several.
    let is_in = |note: &str| note.contains(text) || (text.chars().count() > 8 && text.contains(note));
    let kind = match () {
        () if chat.rules.iter().any(|held| is_in(&held.text)) => Kind::Rule,
        () if chat.facts.iter().any(|held| is_in(&held.text)) => Kind::Fact,
        () => Kind::Other,
    };
    Said { seen, kind, bytes: text.len() }
}

fn look_up(text: &str, table: &[[f32; KINDS]]) -> [f32; KINDS] {
    let mut letters = [0.0; KINDS];
    let mut count = 0.0_f32;
    slots(text, |slot| {
        let weights = table.get(slot).copied().unwrap_or_default();
        letters.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += weight);
        count += 1.0;
    });
    letters.map(|sum| sum / count.max(1.0).sqrt())
}

/// Logistic regression; what is wanted is rare and counts three times.
fn fit_signs(all: &[&Said], wanted: impl Fn(Kind) -> bool) -> [f32; SIGNS.len()] {
    const STEPS: usize = 3_000;
    const RATE: f32 = 0.05;
    let mut weights = [0.0_f32; SIGNS.len()];
    let count = all.len().max(1) as f32;
    for _ in 0..STEPS {
        let mut slopes = weights.map(|weight| weight * 1e-3);
        for said in all {
            let sum: f32 = said.seen.iter().zip(weights).map(|(sign, weight)| sign * weight).sum();
            let (is, counts) = if wanted(said.kind) { (1.0, 3.0) } else { (0.0, 1.0) };
            let error = (1.0 / (1.0 + (-sum).exp()) - is) * counts / count;
            slopes.iter_mut().zip(said.seen).for_each(|(slope, sign)| *slope += error * sign);
        }
        weights.iter_mut().zip(slopes).for_each(|(weight, slope)| *weight -= RATE * slope);
    }
    weights
}

/// How many rules and facts stand among the likeliest sentences of each chat, judged by what was fitted on the others.
fn judge_chats(chats: &[Vec<Said>], out: &mut String) {
    let mut found = [(0, 0); 3];
    for (place, chat) in chats.iter().enumerate() {
        let others: Vec<&Said> =
            chats.iter().enumerate().filter(|(at, _)| *at != place).flat_map(|(_, chat)| chat).collect();
        let rule = fit_signs(&others, |kind| kind == Kind::Rule);
        let keep = fit_signs(&others, |kind| kind != Kind::Other);
        for (slot, (weights, share, kind)) in
            found.iter_mut().zip([(rule, 0.2, Kind::Rule), (keep, 0.45, Kind::Rule), (keep, 0.45, Kind::Fact)])
        {
            let (kept, of) = among_likeliest(chat, &weights, share, kind);
            slot.0 += kept;
            slot.1 += of;
        }
    }
    let share = |(kept, of): (usize, usize)| 100.0 * kept as f64 / of.max(1) as f64;
    let [rules, kept_rules, kept_facts] = found.map(share);
    let _ = writeln!(
        out,
        "chats judged by the others: {rules:.0} % of the rules stand in the likeliest fifth; {kept_rules:.0} % of the rules \
         and {kept_facts:.0} % of the facts in the 45 % most worth keeping"
    );
}

fn among_likeliest(chat: &[Said], weights: &[f32; SIGNS.len()], share: f64, kind: Kind) -> (usize, usize) {
    let score = |said: &Said| -> f32 { said.seen.iter().zip(weights).map(|(sign, weight)| sign * weight).sum() };
    let mut ranked: Vec<&Said> = chat.iter().collect();
    ranked.sort_by(|one, other| score(other).total_cmp(&score(one)));
    let room = chat.iter().map(|said| said.bytes).sum::<usize>() as f64 * share;
    let mut used = 0;
    let mut kept = 0;
    for said in ranked {
        used += said.bytes;
        if used as f64 > room {
            break;
        }
        kept += usize::from(said.kind == kind);
    }
    (kept, chat.iter().filter(|said| said.kind == kind).count())
}
