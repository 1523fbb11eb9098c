//! The questions that a compacted part must answer, and how many of them it does.

use super::page::Page;
use super::timeline::Timeline;
use super::token::{Class, Standing, Token, tokenize};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use std::hash::{BuildHasher, Hash};
use std::ops::AddAssign;

/// How far context reaches, in tokens: a sentence or a line of code, and a bound for lines without end.
const REACH: usize = 12;
/// Folders of deeper paths are not looked for, so that the work stays linear.
const DEEPEST: usize = 16;
/// From this many names on, names with nothing between them are a list.
const LIST: usize = 3;

/// A name that was needed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Fact {
    /// The name.
    pub name: String,
    /// What it names.
    pub class: Class,
}

impl Fact {
    /// The fact of a name that stands by itself; `None` where it is no name.
    pub fn named(name: &str) -> Option<Fact> {
        let mut tokens = Vec::new();
        tokenize(name, &mut tokens);
        let whole = tokens.first().filter(|token| token.span == (0..name.len()))?;
        Some(Fact { name: name.to_owned(), class: whole.class? })
    }
}

/// How many were kept of how many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Facts kept.
    pub kept: u64,
    /// Facts asked for.
    pub of: u64,
}

impl Tally {
    /// The share kept, 0 to 1; `None` when nothing was asked for.
    pub fn share(self) -> Option<f64> {
        (self.of > 0).then(|| self.kept as f64 / self.of as f64)
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.kept += other.kept;
        self.of += other.of;
    }
}

/// What was kept, by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Score {
    /// Paths.
    pub paths: Tally,
    /// Identifiers.
    pub identifiers: Tally,
    /// Hashes.
    pub hashes: Tally,
}

impl Score {
    /// The tally of one class.
    pub fn of(&self, class: Class) -> Tally {
        match class {
            Class::Path => self.paths,
            Class::Identifier => self.identifiers,
            Class::Hash => self.hashes,
        }
    }

    fn of_mut(&mut self, class: Class) -> &mut Tally {
        match class {
            Class::Path => &mut self.paths,
            Class::Identifier => &mut self.identifiers,
            Class::Hash => &mut self.hashes,
        }
    }

    /// All classes together.
    pub fn total(&self) -> Tally {
        let mut total = Tally::default();
        Class::ALL.iter().for_each(|&class| total += self.of(class));
        total
    }
}

impl AddAssign for Score {
    fn add_assign(&mut self, other: Score) {
        Class::ALL.iter().for_each(|&class| *self.of_mut(class) += other.of(class));
    }
}

/// The facts that were needed of a text, with what they stood with in it.
#[derive(Clone, Debug, Default)]
pub struct Exam {
    facts: Vec<Fact>,
    ids: FxHashMap<u64, u32>,
    /// Pairs of fact and context, as hashes.
    contexts: FxHashSet<u64>,
    /// Lists that the source itself has.
    lists: FxHashSet<u64>,
    /// The folder that relative paths of a compacted part start from.
    root: Option<String>,
}

impl Exam {
    /// What the agent needed, from `message` on, of everything before it.
    pub fn at(page: &Page, timeline: &Timeline, message: usize) -> Exam {
        let cut = page.first_block_of(message);
        let before = page.blocks().get(..cut).unwrap_or_default();
        let facts = timeline.used_first_from(cut).cloned();
        Exam::on(facts, before.iter().flat_map(|block| page.words(block).lines()))
    }

    /// The exam of `facts` on a source: those that do not occur in it, or stand alone there, are not asked for.
    pub fn on<'a>(facts: impl IntoIterator<Item = Fact>, source: impl Iterator<Item = &'a str>) -> Exam {
        let mut exam = Exam { facts: facts.into_iter().collect(), ..Exam::default() };
        exam.number();
        let mut answerable = vec![false; exam.facts.len()];
        let mut tokens = Vec::new();
        for line in source {
            tokenize(line, &mut tokens);
            for (at, fact) in exam.facts_on(line, &tokens) {
                for beside in neighbours(&tokens, at) {
                    exam.contexts.insert(pair(fact, beside));
                    if let Some(answerable) = answerable.get_mut(fact as usize) {
                        *answerable = true;
                    }
                }
            }
            if is_list(line, &tokens) {
                exam.lists.insert(hash(line.trim()));
            }
        }
        exam.keep_only(&answerable);
        exam
    }

    /// The same exam for a compacted part whose paths are relative to a folder that it states.
    pub fn relative_to(mut self, root: Option<&str>) -> Exam {
        self.root = root.map(str::to_owned);
        self
    }

    fn number(&mut self) {
        self.ids = self.facts.iter().zip(0..).map(|(fact, id)| (super::token::key_of(&fact.name), id)).collect();
    }

    /// Unanswerable facts keep their number, so that contexts stay right, but lose their key.
    fn keep_only(&mut self, answerable: &[bool]) {
        self.ids.retain(|_, id| answerable.get(*id as usize).copied().unwrap_or_default());
    }

    fn is_asked(&self, fact: &Fact) -> bool {
        self.ids.contains_key(&super::token::key_of(&fact.name))
    }

    /// The facts on a line, with their places among its tokens. Who reads a path has read the folders it leads through.
    fn facts_on(&self, line: &str, tokens: &[Token]) -> Vec<(usize, u32)> {
        let mut found = Vec::new();
        for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.class.is_some()) {
            let mut find = |key: u64| found.extend(self.ids.get(&key).map(|&id| (at, id)));
            find(token.key);
            if token.class == Some(Class::Path) && token.standing == Standing::Whole {
                let path = line.get(token.span.clone()).unwrap_or_default();
                let rooted = self.root.as_deref().filter(|_| !path.starts_with('/'));
                let whole = rooted.map(|root| format!("{root}/{}", path.trim_start_matches("./")));
                stretches(whole.as_deref().unwrap_or(path), |part| find(super::token::key_of(part)));
            }
        }
        found
    }

    /// What is asked for, in the order in which it was needed.
    pub fn facts(&self) -> impl Iterator<Item = &Fact> {
        self.facts.iter().filter(|fact| self.is_asked(fact))
    }

    /// How many facts there are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether nothing was needed.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Marks a compacted part.
    pub fn score<'a>(&self, lines: impl Iterator<Item = &'a str>) -> Score {
        let kept = self.kept(lines);
        let mut score = Score::default();
        for (fact, kept) in self.facts.iter().zip(kept).filter(|(fact, _)| self.is_asked(fact)) {
            *score.of_mut(fact.class) += Tally { kept: u64::from(kept), of: 1 };
        }
        score
    }

    /// The facts that a compacted part has lost.
    pub fn lost<'a>(&self, lines: impl Iterator<Item = &'a str>) -> Vec<&Fact> {
        let kept = self.kept(lines);
        let asked = self.facts.iter().zip(kept).filter(|(fact, _)| self.is_asked(fact));
        asked.filter(|(_, kept)| !kept).map(|(fact, _)| fact).collect()
    }

    fn kept<'a>(&self, lines: impl Iterator<Item = &'a str>) -> Vec<bool> {
        let mut kept = vec![false; self.facts.len()];
        let mut tokens = Vec::new();
        for line in lines {
            tokenize(line, &mut tokens);
            let facts = self.facts_on(line, &tokens);
            if facts.is_empty() || (is_list(line, &tokens) && !self.lists.contains(&hash(line.trim()))) {
                continue;
            }
            for (at, fact) in facts {
                let Some(kept) = kept.get_mut(fact as usize).filter(|kept| !**kept) else {
                    continue;
                };
                *kept = neighbours(&tokens, at).any(|beside| self.contexts.contains(&pair(fact, beside)));
            }
        }
        kept
    }
}

/// Calls `found` for each path that a path has in it: some of its components, one after the other.
fn stretches<'p>(path: &'p str, mut found: impl FnMut(&'p str)) {
    let starts = || std::iter::once(0).chain(path.match_indices('/').map(|(at, _)| at + 1)).take(DEEPEST);
    let ends = || path.match_indices('/').map(|(at, _)| at).chain([path.len()]).take(DEEPEST);
    for start in starts() {
        for end in ends().filter(|end| *end > start) {
            path.get(start..end).into_iter().for_each(&mut found);
        }
    }
}

/// The tokens near the one at `at` that are not made of the same letters.
fn neighbours(tokens: &[Token], at: usize) -> impl Iterator<Item = u64> {
    let own = tokens.get(at).map(|token| (token.span.clone(), token.key)).unwrap_or_default();
    let near = tokens.get(at.saturating_sub(REACH)..(at + REACH + 1).min(tokens.len())).unwrap_or_default();
    near.iter()
        .filter(move |token| token.key != own.1 && (token.span.end <= own.0.start || own.0.end <= token.span.start))
        .map(|token| token.key)
}

fn pair(fact: u32, beside: u64) -> u64 {
    hash((fact, beside))
}

fn hash(value: impl Hash) -> u64 {
    rustc_hash::FxBuildHasher.hash_one(value)
}

/// Whether a line is nothing but names, one after the other.
fn is_list(line: &str, tokens: &[Token]) -> bool {
    let whole = || tokens.iter().filter(|token| token.standing == Standing::Whole);
    if whole().count() < LIST || whole().any(|token| token.class.is_none()) {
        return false;
    }
    let mut end = 0;
    let is_gap = |text: Option<&str>| text.is_some_and(|text| text.chars().all(is_separator));
    whole().all(|token| is_gap(line.get(std::mem::replace(&mut end, token.span.end)..token.span.start)))
        && is_gap(line.get(end..))
}

fn is_separator(c: char) -> bool {
    c.is_whitespace() || matches!(c, ',' | ';' | '|' | '"' | '\'' | '`' | '-' | '*' | '•' | '·' | '.' | '[' | ']')
}
