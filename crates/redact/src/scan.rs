//! One search: from keywords to findings.

use crate::gate::{GATE, Gate, Prepared};
use crate::mask;
use crate::rule::{Check, Confidence, Reveal, Rule, Shape};
use crate::surroundings::Surroundings;
use crate::value::{Quoting, Value, at};
use crate::view::View;
use std::cell::RefCell;
use crate::{Finding, Mode, command, cookies, insert, key, manifest, pair, sentence, shape, verdict, wrap};

/// The text under search and what was found so far.
pub(crate) struct Scan<'t> {
    pub(crate) text: &'t [u8],
    pub(crate) mode: Mode,
    surroundings: RefCell<Surroundings>,
    found: Vec<Found>,
    /// End of the last finding: what stands before it was decided.
    pub(crate) floor: usize,
    /// End of the last name that was looked at; its other words lead to the same place.
    pub(crate) named: usize,
    /// End of the last command whose arguments were searched, and the rule that it was for.
    pub(crate) commanded: (usize, &'static str),
    /// End of the last manifest of secrets.
    pub(crate) manifested: usize,
}

#[derive(Debug, Clone, Copy)]
struct Found {
    rule: &'static Rule,
    start: usize,
    end: usize,
    reveal: Reveal,
}

/// All secrets of a text, in order and without overlaps.
pub(crate) fn find(raw: &[u8], mode: Mode) -> Vec<Finding> {
    let Some(gate) = GATE.as_ref() else { return Vec::new() };
    let view = View::of(raw);
    let mut scan = Scan {
        text: view.bytes(),
        mode,
        surroundings: RefCell::default(),
        found: Vec::new(),
        floor: 0,
        named: 0,
        commanded: (0, ""),
        manifested: 0,
    };
    scan.run(gate);
    scan.into_findings(&view, raw)
}

impl<'t> Scan<'t> {
    fn run(&mut self, gate: &Gate) {
        gate.each(self.text, |hit| {
            let Some((start, rules)) = gate.rules_of(hit) else { return };
            for prepared in rules {
                if !self.is_decided(start, prepared.rule) {
                    self.check(prepared, start, hit.end);
                }
            }
        });
    }

    /// Whether a place is inside a secret already. A token there may still tell whose secret it is.
    fn is_decided(&self, start: usize, rule: &Rule) -> bool {
        let names_it = || matches!(rule.shape, Shape::Token(_)) && self.found.last().is_some_and(|last| last.start == start);
        start < self.floor && !names_it()
    }

    fn check(&mut self, prepared: &Prepared, start: usize, end: usize) {
        let rule = prepared.rule;
        match rule.shape {
            Shape::Name => pair::check(self, rule, start, end),
            Shape::KeyBegin => key::begin(self, rule, start),
            Shape::KeyEnd => key::end(self, rule, start, end),
            Shape::Cookies => cookies::check(self, rule, end),
            Shape::Command(_) => command::check(self, prepared, start, end),
            Shape::Sentence => sentence::check(self, rule, start, end),
            Shape::Insert => insert::check(self, rule, end),
            Shape::Manifest => manifest::check(self, rule, start),
            Shape::Token(_) => self.token(prepared, start, end),
            Shape::From { reach, .. } => self.pattern(prepared, start, start + reach),
            Shape::Back { class, run: (fewest, most), reach, .. } => {
                let from = start.saturating_sub(most + 1).max(self.floor);
                let before = self.text.get(from..start).unwrap_or_default();
                let run = before.iter().rev().take_while(|&&byte| class.has(byte)).count();
                if (fewest..=most).contains(&run) {
                    self.pattern(prepared, start - run, end + reach);
                }
            }
        }
    }

    /// A token that begins with its keyword.
    fn token(&mut self, prepared: &Prepared, start: usize, end: usize) {
        const LONGEST: usize = 8 * 1024;
        let rule = prepared.rule;
        let spelled = |keyword: &&&str| self.text.get(start..end) == Some(keyword.as_bytes());
        if !self.starts_word(start) || !rule.keywords.iter().any(|keyword| spelled(&keyword)) {
            return;
        }
        let Some(regex) = prepared.regex() else { return };
        let window = self.text.get(end..self.text.len().min(end + LONGEST)).unwrap_or_default();
        let length = regex.find(window).map(|found| found.end());
        let whole = length.filter(|length| !is_word(at(self.text, end + length)));
        match whole {
            Some(length) => {
                let secret_end = wrap::extended(self.text, start, end + length);
                let body = self.text.get(end..end + length).unwrap_or_default();
                if self.passes(rule, body) && !shape::is_filler(body) {
                    self.report(rule, start, secret_end);
                }
            }
            None => {
                // A token that a terminal or a mail program cut in two.
                let Some(joined) = wrap::joined(self.text, end) else { return };
                let fits = regex.find(&joined.bytes).is_some_and(|found| found.end() == joined.bytes.len());
                if fits && self.passes(rule, &joined.bytes) {
                    self.report(rule, start, joined.end);
                }
            }
        }
    }

    /// A pattern that begins at `from`. Most attempts fail within a few bytes; only a match pays for its groups.
    fn pattern(&mut self, prepared: &Prepared, from: usize, to: usize) {
        let rule = prepared.rule;
        if rule.checks.contains(&Check::Apart) && !self.stands_apart(from) {
            return;
        }
        let Some(regex) = prepared.regex() else { return };
        let window = self.text.get(from..to.min(self.text.len())).unwrap_or_default();
        if !regex.is_match(window) {
            return;
        }
        let Some(groups) = regex.captures(window) else { return };
        let Some(secret) = groups.iter().skip(1).flatten().last() else { return };
        let value = match secret.is_empty() {
            true => Value::argument(self.text, from + secret.start()),
            false => Value { start: from + secret.start(), end: from + secret.end(), quoting: Quoting::Quoted },
        };
        if value.start < value.end && !value.is_between_strings(self.text) && self.passes(rule, value.of(self.text)) {
            let end = wrap::extended(self.text, value.start, value.end);
            self.report(rule, value.start, end);
        }
    }

    fn stands_apart(&self, index: usize) -> bool {
        let before = index.checked_sub(1).map_or(b' ', |before| at(self.text, before));
        !is_word(before) && !matches!(before, b')' | b']' | b'.' | b'+' | b'/' | b'\\' | b'-')
    }

    /// Whether a secret is what its rule asks for, and, in source code, no fixture.
    pub(crate) fn passes(&self, rule: &Rule, secret: &[u8]) -> bool {
        let head = shape::head(secret);
        let fixture = || rule.confidence == Confidence::Low && (!shape::is_random(head) || verdict::is_fixture(head));
        let fits = |check: &Check| match *check {
            Check::Most(length) => secret.len() <= length,
            Check::Digit => shape::has_digit(secret),
            Check::Mixed => shape::is_mixed(secret),
            Check::Dense => {
                /// No word of a natural language is this long.
                const LONGER_THAN_A_WORD: usize = 16;
                shape::longest_stretch(secret) >= LONGER_THAN_A_WORD || shape::has_digit(secret) && shape::is_random(head)
            }
            Check::Random => shape::is_random(head),
            Check::Entropy(bits) => shape::entropy(secret) >= bits,
            Check::Real => !verdict::is_placeholder(secret) && !verdict::is_expression(secret),
            Check::NotProse => !verdict::is_plain_word(secret),
            Check::NotSentence => !verdict::is_prose(secret),
            Check::NotPort => {
                let digits = secret.iter().take_while(|byte| byte.is_ascii_digit()).count();
                digits == 0 || digits > 5 || !matches!(secret.get(digits), None | Some(b'/' | b'?' | b'#'))
            }
            Check::Apart => true,
        };
        rule.checks.iter().all(fits) && !(self.mode == Mode::Code && fixture())
    }

    pub(crate) fn report(&mut self, rule: &'static Rule, start: usize, end: usize) {
        self.report_as(rule, start, end, rule.reveal);
    }

    pub(crate) fn report_as(&mut self, rule: &'static Rule, start: usize, end: usize, reveal: Reveal) {
        if start >= end {
            return;
        }
        match self.found.last_mut() {
            // A token inside a value names the value's vendor.
            Some(last) if last.start == start && start < self.floor => {
                last.end = last.end.max(end);
                (last.rule, last.reveal) = (rule, reveal);
            }
            _ => self.found.push(Found { rule, start, end, reveal }),
        }
        self.floor = self.floor.max(end);
    }

    /// Whether the text around a place reads as a program.
    pub(crate) fn is_code(&self, index: usize) -> bool {
        self.surroundings.borrow_mut().is_code(self.text, index)
    }

    /// Whether a token may begin at `index`: no letter, digit, underscore or dash before it.
    pub(crate) fn starts_word(&self, index: usize) -> bool {
        index.checked_sub(1).is_none_or(|before| {
            let byte = at(self.text, before);
            !is_word(byte) && byte != b'-'
        })
    }

    /// Findings at their places in the original; those that overlap become one.
    fn into_findings(mut self, view: &View<'_>, raw: &[u8]) -> Vec<Finding> {
        self.found.sort_by_key(|found| (found.start, found.end));
        let mut findings: Vec<Finding> = Vec::with_capacity(self.found.len());
        for found in self.found {
            let start = mask::boundary_before(raw, view.raw_start(found.start));
            let end = mask::boundary_after(raw, view.raw_end(found.end));
            match findings.last_mut() {
                Some(last) if start < last.end => last.end = last.end.max(end),
                _ if start < end => findings.push(Finding { rule: found.rule.name, start, end, reveal: found.reveal }),
                _ => {}
            }
        }
        findings
    }
}

pub(crate) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
