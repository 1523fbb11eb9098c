//! One search: from keywords to findings.

use crate::code_context::CodeContext;
use crate::decoded::Decoded;
use crate::disguise::{URL_AND, URL_BLANK, URL_EQUALS, URL_QUOTE, is_break};
use crate::keywords::{Hit, KEYWORD_SEARCH, KeywordSearch};
use crate::mask;
use crate::name::Names;
use crate::parts::{self, SIZES, Sizes};
use crate::prepared::{Prepared, Secret};
use crate::repeat::Repeat;
use crate::rule::{Check, Confidence, Reads, Reveal, Rule, Shape};
use crate::value::{LONGEST_VALUE, Memory, Quoting, Value, at};
use crate::{
    Finding, Mode, command, cookies, gibberish, kubernetes, name_value, placeholder, private_key, random_token,
    sentence, sql_insert, string_stats, wrapped,
};
use std::cell::RefCell;

/// The text under search and what was found so far.
pub(crate) struct Scan<'t> {
    pub(crate) text: &'t [u8],
    pub(crate) mode: Mode,
    surroundings: RefCell<CodeContext>,
    pub(crate) names: Names<'t>,
    found: Vec<ScanFinding>,
    pub(crate) memory: Memory,
    /// End of the last name that was looked at; its other words lead to the same place.
    pub(crate) named: usize,
    /// The last bare value that turned out to be no secret: names inside it are part of it.
    pub(crate) rejected: (usize, usize),
    /// End of the last command whose arguments were searched, and the rule that it was for.
    pub(crate) commanded: (usize, &'static str),
    /// End of the last heading of a table.
    pub(crate) tabled: usize,
    /// End of the last manifest of secrets.
    pub(crate) manifested: usize,
    /// The keyword that is looked at.
    by: Hit,
    /// Whether other keywords stand in its line.
    neighbours: Neighbours,
    /// Index of the finding at which [`Self::find_again`] looked last.
    again: usize,
}

/// Findings are nearly in order: one that a keyword leads to stands among the last ones.
const RECENT: usize = 4;

/// A secret in the view of a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScanFinding {
    rule: &'static Rule,
    pub(crate) start: usize,
    pub(crate) end: usize,
    reveal: Reveal,
    /// The keyword that led to it. They are in order.
    pub(crate) by: Hit,
    /// Whether no other keyword stands in the line of that one.
    alone: bool,
}

impl ScanFinding {
    /// Whether nothing new can come of it when it is masked and nothing of it is shown: nothing else in its line leads
    /// to a secret, it is whole, and its mask means the same to those that read it.
    fn is_settled(&self, text: &[u8]) -> bool {
        let ends = !is_word(at(text, self.end)) && at(text, self.end) < 0x80;
        let read_by_name = matches!(
            self.rule.shape,
            Shape::Name | Shape::Option(_) | Shape::Command(_) | Shape::Cookies | Shape::Sentence
        );
        self.alone && ends && read_by_name
    }
}

/// Keywords beside the one that is looked at.
#[derive(Debug, Default)]
struct Neighbours {
    /// End of the last keyword before it that does not overlap it.
    before: Option<usize>,
    /// Whether something was found by it that is alone as far as is known.
    awaited: bool,
}

/// Whether a line ends between two keywords. Lines that are longer than this are taken for one line.
fn is_apart(text: &[u8], end: usize, start: usize) -> bool {
    const REACH: usize = 512;
    let between = text.get(end.max(start.saturating_sub(REACH))..start).unwrap_or_default();
    between.iter().any(|&byte| is_break(byte))
}

/// All secrets of a text, in order and without overlaps.
pub(crate) fn find(raw: &[u8], mode: Mode) -> Vec<Finding> {
    find_in_parts(raw, mode, SIZES)
}

/// The same with parts of any size.
pub(crate) fn find_in_parts(raw: &[u8], mode: Mode, sizes: Sizes) -> Vec<Finding> {
    if raw.len() <= sizes.context + sizes.batch + sizes.margin {
        return find_in_part(raw, mode);
    }
    let mut found = Vec::new();
    let mut from = 0;
    let mut batch = sizes.batch;
    loop {
        let begin = from - sizes.context.min(from);
        let end = raw.len().min(from + batch + sizes.margin);
        let part = raw.get(begin..end).unwrap_or_default();
        let findings = find_in_part(part, mode);
        let last = end == raw.len();
        let cut =
            if last { Some(part.len()) } else { parts::cut(part, from - begin, part.len() - sizes.margin, &findings) };
        let Some(cut) = cut else {
            batch *= 2;
            continue;
        };
        let moved = |finding: Finding| Finding {
            start: (finding.start + begin).max(from),
            end: finding.end + begin,
            ..finding
        };
        found.extend(
            findings.into_iter().map(moved).filter(|finding| finding.end > from && finding.start < begin + cut),
        );
        if last {
            return found;
        }
        from = begin + cut;
        batch = sizes.batch;
    }
}

fn find_in_part(raw: &[u8], mode: Mode) -> Vec<Finding> {
    find_with(raw, mode, Some(Repeat::default()))
}

/// As [`find_in_part`]; without a [`Repeat`] every keyword is looked at.
pub(crate) fn find_with(raw: &[u8], mode: Mode, repeat: Option<Repeat>) -> Vec<Finding> {
    let view = Decoded::of(raw);
    let mut scan = Scan {
        text: view.bytes(),
        mode,
        surroundings: RefCell::default(),
        names: Names::new(),
        found: Vec::new(),
        memory: Memory::default(),
        named: 0,
        rejected: (0, 0),
        commanded: (0, ""),
        tabled: 0,
        manifested: 0,
        by: Hit::default(),
        neighbours: Neighbours::default(),
        again: 0,
    };
    scan.run(&KEYWORD_SEARCH, repeat);
    random_token::check(&mut scan);
    scan.into_findings(&view, raw)
}

impl<'t> Scan<'t> {
    fn run(&mut self, gate: &KeywordSearch, mut repeat: Option<Repeat>) {
        gate.each(self.text, |start, hit| {
            self.meet(start, hit);
            if let Some(period) = repeat.as_mut().and_then(|repeat| repeat.period(self.text, hit, &self.found)) {
                return self.find_again(period);
            }
            for prepared in gate.rules_of(hit) {
                if !self.is_decided(start, prepared.rule) {
                    self.check(prepared, start, hit.end);
                }
            }
        });
    }

    /// Goes on to the next keyword. One in the line of the last finding may be judged anew when that is masked.
    fn meet(&mut self, start: usize, hit: Hit) {
        if start >= self.by.end {
            self.neighbours.before = Some(self.by.end).filter(|&end| end > 0);
            if self.neighbours.awaited && !is_apart(self.text, self.by.end, start) {
                let same = |found: &&mut ScanFinding| found.by.end == self.by.end;
                self.found.iter_mut().rev().take_while(same).for_each(|found| found.alone = false);
            }
            self.neighbours.awaited = false;
        }
        self.by = hit;
    }

    /// Reports what the same keyword led to a period before.
    fn find_again(&mut self, period: usize) {
        let earlier = self.by.end - period;
        let mut index = self.first_by(earlier);
        self.again = index;
        while let Some(&found) = self.found.get(index).filter(|found| found.by.end == earlier) {
            let (start, end) = (found.start + period, found.end + period);
            let again = ScanFinding { start, end, by: self.by, ..found };
            if found.by.keyword == self.by.keyword && !self.is_reported(&again) {
                self.found.push(again);
            }
            index += 1;
        }
    }

    /// Whether the keyword before has led to the same: a command reports what stands behind the next ones, too.
    fn is_reported(&self, again: &ScanFinding) -> bool {
        /// More secrets do not fit into the arguments of a command.
        const MOST: usize = 64;
        let same = |found: &ScanFinding| {
            found.start == again.start && found.end == again.end && std::ptr::eq(found.rule, again.rule)
        };
        self.found.last().is_some_and(|last| again.start <= last.start) && self.found.iter().rev().take(MOST).any(same)
    }

    /// Index of the first finding whose keyword ends at `end` or later. It is nearly always beside the last one asked for.
    fn first_by(&self, end: usize) -> usize {
        const BESIDE: usize = 8;
        let before = |found: &ScanFinding| found.by.end < end;
        let from = match self.again.checked_sub(1).and_then(|last| self.found.get(last)) {
            Some(last) if !before(last) => 0,
            _ => self.again,
        };
        let rest = self.found.get(from..).unwrap_or_default();
        let beside = rest.iter().take(BESIDE).position(|found| !before(found));
        from + beside.unwrap_or_else(|| rest.partition_point(before))
    }

    /// Whether a place is inside a secret already. A token there may still tell whose secret it is.
    fn is_decided(&self, start: usize, rule: &Rule) -> bool {
        let inside = |found: &&ScanFinding| (found.start..found.end).contains(&start);
        let Some(found) = self.found.iter().rev().take(RECENT).find(inside) else { return false };
        !(matches!(rule.shape, Shape::Token(_)) && found.start == start)
    }

    /// The end of the last secret before `index`: what stands before it says nothing about what follows.
    pub(crate) fn floor(&self, index: usize) -> usize {
        let before = self.found.iter().rev().take(RECENT).map(|found| found.end).filter(|&end| end <= index);
        before.max().unwrap_or(0)
    }

    fn check(&mut self, prepared: &Prepared, start: usize, end: usize) {
        let rule = prepared.rule;
        match rule.shape {
            Shape::Name => name_value::check(self, rule, start, end),
            Shape::KeyBegin => private_key::begin(self, rule, start),
            Shape::KeyEnd => private_key::end(self, rule, start, end),
            Shape::Cookies => cookies::check(self, rule, end),
            Shape::Command(_) | Shape::Option(_) => command::check(self, prepared, start, end),
            Shape::Sentence => sentence::check(self, rule, start, end),
            Shape::Insert => sql_insert::check(self, rule, end),
            Shape::Manifest => kubernetes::check(self, rule, start),
            // Searched for without a keyword.
            Shape::Random => {}
            Shape::Token(_) => self.token(prepared, start, end),
            Shape::From { reach, .. } => self.pattern(prepared, start, start, start + reach),
            Shape::Back { class, run: (fewest, most), reach, .. } => {
                let from = start.saturating_sub(most + 1).max(self.floor(start));
                let before = self.text.get(from..start).unwrap_or_default();
                let run = before.iter().rev().take_while(|&&byte| class.has(byte)).count();
                if (fewest..=most).contains(&run) {
                    self.pattern(prepared, start - run, start, end + reach);
                }
            }
        }
    }

    /// A token that begins with its keyword.
    fn token(&mut self, prepared: &Prepared, start: usize, end: usize) {
        const LONGEST: usize = 8 * 1024;
        let rule = prepared.rule;
        let window = self.text.get(end..self.text.len().min(end + LONGEST)).unwrap_or_default();
        if let Some(lead) = prepared.lead() {
            let count = lead.count(window);
            // What a line break has cut may go on behind it.
            if count < lead.fewest && !window.get(count).is_some_and(|&byte| is_break(byte)) {
                return;
            }
        }
        let spelled = |keyword: &&&str| self.text.get(start..end) == Some(keyword.as_bytes());
        if !self.starts_word(start) || !rule.keywords.iter().any(|keyword| spelled(&keyword)) {
            return;
        }
        let Some(regex) = prepared.regex() else { return };
        let length = regex.find(window).map(|found| found.end());
        let whole = length.filter(|length| !is_word(at(self.text, end + length)));
        match whole {
            Some(length) => {
                let secret_end = wrapped::extended(self.text, start, token_end(self.text, end + length));
                let body = self.text.get(end..end + length).unwrap_or_default();
                if self.passes(rule, body) && !string_stats::is_filler(body) {
                    self.report(rule, start, secret_end);
                }
            }
            None => {
                // A token that a terminal or a mail program cut in two.
                let Some(joined) = wrapped::joined(self.text, end, &self.memory) else { return };
                let fits = regex.find(&joined.bytes).is_some_and(|found| found.end() == joined.bytes.len());
                if fits && self.passes(rule, &joined.bytes) {
                    self.report(rule, start, joined.end);
                }
            }
        }
    }

    /// A pattern that begins at `from`. Most attempts fail within a few bytes; only a match pays for its groups.
    fn pattern(&mut self, prepared: &Prepared, from: usize, keyword: usize, to: usize) {
        let rule = prepared.rule;
        if rule.checks.contains(&Check::Apart) && !self.stands_apart(from) {
            return;
        }
        let window = self.text.get(from..to.min(self.text.len())).unwrap_or_default();
        if rule.needs.is_some_and(|byte| memchr::memchr(byte, window).is_none()) {
            return;
        }
        let Some(secret) = prepared.search(window, 0) else { return };
        let value = match (secret, rule.reads) {
            (Secret::Is(..), _) | (_, Reads::Argument) => self.value_of(secret, from),
            (Secret::BeginsAt(start), Reads::Credential) => self.credential(from + start),
            (Secret::BeginsAt(start), Reads::UpToKeyword) => {
                Value { start: from + start, end: keyword, quoting: Quoting::Quoted }
            }
            (Secret::BeginsAt(start), reads) => {
                let (start, loose) = (from + start, reads == Reads::LooseUserinfo);
                Value { start, end: userinfo_end(self.text, start, loose), quoting: Quoting::Quoted }
            }
        };
        if value.start < value.end && !value.is_between_strings(self.text) && self.passes(rule, value.of(self.text)) {
            let run = if rule.reads == Reads::Credential {
                credential_end(self.text, value.end, LONGEST_VALUE)
            } else {
                value.end
            };
            let end = wrapped::extended(self.text, value.start, run);
            self.report(rule, value.start, end);
        }
    }

    /// As much of a credential as judgement needs. What turns out to be none is not read to its end again and again.
    fn credential(&self, start: usize) -> Value {
        const SHORTEST: usize = 6;
        let end = credential_end(self.text, start, string_stats::WINDOW);
        Value { start, end: if end - start < SHORTEST { start } else { end }, quoting: Quoting::Quoted }
    }

    /// The place of a secret that was matched in a window from `from` on.
    pub(crate) fn value_of(&self, secret: Secret, from: usize) -> Value {
        match secret {
            Secret::Is(start, end) => Value { start: from + start, end: from + end, quoting: Quoting::Quoted },
            Secret::BeginsAt(start) => Value::argument(self.text, from + start, &self.memory),
        }
    }

    fn stands_apart(&self, index: usize) -> bool {
        let before = index.checked_sub(1).map_or(b' ', |before| at(self.text, before));
        !is_word(before) && !matches!(before, b')' | b']' | b'.' | b'+' | b'/' | b'\\' | b'-')
    }

    /// Whether a secret is what its rule asks for, and, in source code, no fixture.
    pub(crate) fn passes(&self, rule: &Rule, secret: &[u8]) -> bool {
        let head = string_stats::head(secret);
        let fixture =
            || rule.confidence == Confidence::Low && (!string_stats::is_random(head) || placeholder::is_fixture(head));
        let fits = |check: &Check| match *check {
            Check::Least(length) => secret.len() >= length,
            Check::Most(length) => secret.len() <= length,
            Check::Digits(fewest, most) => {
                (fewest..=most).contains(&secret.iter().filter(|byte| byte.is_ascii_digit()).count())
            }
            Check::Digit => string_stats::has_digit(secret),
            Check::Mixed => string_stats::is_mixed(secret),
            Check::Dense => {
                /// No word of a natural language is this long.
                const LONGER_THAN_A_WORD: usize = 16;
                string_stats::longest_stretch(secret) >= LONGER_THAN_A_WORD
                    || string_stats::has_digit(secret) && string_stats::is_random(head)
            }
            Check::Random => string_stats::is_random(head),
            Check::Entropy(bits) => string_stats::entropy(secret) >= bits,
            Check::Real => !placeholder::is_placeholder(secret) && !placeholder::is_expression(secret),
            Check::NotProse => !placeholder::is_plain_word(secret),
            Check::NotPlain => {
                let letters = secret.iter().all(u8::is_ascii_lowercase);
                string_stats::is_mixed(secret) && !string_stats::is_wordy(secret)
                    || letters && gibberish::is_gibberish(secret)
            }
            Check::NotSentence => !placeholder::is_prose(secret),
            Check::NotSign => !matches!(secret.first(), Some(b'=' | b'/' | b'`' | b'-')),
            Check::NotPort => {
                let digits = secret.iter().take_while(|byte| byte.is_ascii_digit()).count();
                digits == 0 || digits > 5 || !matches!(secret.get(digits), None | Some(b'/' | b'?' | b'#'))
            }
            Check::Apart => true,
        };
        rule.checks.iter().all(fits) && !(self.mode == Mode::Code && fixture())
    }

    /// How many findings there are.
    pub(crate) fn count(&self) -> usize {
        self.found.len()
    }

    /// Puts the findings in order, for [`Self::is_found`].
    pub(crate) fn sort(&mut self) {
        self.found.sort_by_key(|found| (found.start, found.end));
    }

    /// Whether one of the sorted findings covers a place. `from` moves along with the places, which come in order.
    pub(crate) fn is_found(&self, from: &mut usize, start: usize, end: usize) -> bool {
        let rest = self.found.get(*from..).unwrap_or_default();
        *from += rest.iter().take_while(|found| found.end <= start).count();
        self.found.get(*from).is_some_and(|found| found.start <= start && end <= found.end)
    }

    /// Whether a finding covers part of a stretch. What was found is sorted, and findings are shorter than this is wide.
    pub(crate) fn is_masked(&self, start: usize, end: usize) -> bool {
        let behind = self.found.partition_point(|found| found.start < end);
        self.found.get(..behind).unwrap_or_default().iter().rev().take(RECENT).any(|found| found.end > start)
    }

    pub(crate) fn report(&mut self, rule: &'static Rule, start: usize, end: usize) {
        self.report_as(rule, start, end, rule.reveal);
    }

    pub(crate) fn report_as(&mut self, rule: &'static Rule, start: usize, end: usize, reveal: Reveal) {
        if start >= end {
            return;
        }
        match self.found.iter_mut().rev().take(RECENT).find(|found| found.start == start) {
            Some(found) => {
                found.end = found.end.max(end);
                // A token inside a value names the value's vendor, and any rule says more than a sentence.
                if matches!(rule.shape, Shape::Token(_)) || matches!(found.rule.shape, Shape::Sentence) {
                    (found.rule, found.reveal) = (rule, reveal);
                }
            }
            None => {
                let begin = self.by.end.min(start);
                let alone = self.neighbours.before.is_none_or(|before| is_apart(self.text, before, begin));
                self.neighbours.awaited = alone;
                self.found.push(ScanFinding { rule, start, end, reveal, by: self.by, alone });
            }
        }
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
    fn into_findings(mut self, view: &Decoded<'_>, raw: &[u8]) -> Vec<Finding> {
        self.sort();
        let mut findings: Vec<Finding> = Vec::with_capacity(self.found.len());
        for found in self.found {
            let start = mask::boundary_before(raw, view.raw_start(found.start));
            let end = mask::boundary_after(raw, view.raw_end(found.end));
            match findings.last_mut() {
                Some(last) if start < last.end => last.end = last.end.max(end),
                _ if start < end => findings.push(Finding {
                    rule: found.rule.name,
                    start,
                    end,
                    reveal: found.reveal,
                    settled: found.is_settled(self.text),
                }),
                _ => {}
            }
        }
        findings
    }
}

pub(crate) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Where a token ends that was recognised up to `end`. Vendors make them longer, and some carry a signed part behind a dot.
fn token_end(text: &[u8], end: usize) -> usize {
    const LONGEST: usize = 4 * 1024;
    /// Shorter parts are names of files and hosts.
    const PART: usize = 16;
    let run = |from: usize| {
        let rest = text.get(from..).unwrap_or_default().iter().take(LONGEST);
        from + rest.take_while(|&&byte| is_word(byte) || byte == b'-').count()
    };
    let mut end = run(end);
    while at(text, end) == b'.' && run(end + 1) >= end + 1 + PART {
        end = run(end + 1);
    }
    end
}

/// Where the credential of a header ends that goes on after `end`.
fn credential_end(text: &[u8], end: usize, most: usize) -> usize {
    let inside = |byte: &&u8| {
        byte.is_ascii_alphanumeric() || matches!(**byte, b'.' | b'_' | b'~' | b'+' | b'/' | b'=' | b'-' | URL_EQUALS)
    };
    let rest = text.get(end..).unwrap_or_default();
    end + rest.iter().take(most).take_while(inside).count()
}

/// Where the `@` stands that ends the user information of an address; `from` if there is none.
///
/// A password of a database may have a slash in it, which should have been escaped; a slash behind an `@` begins the path.
fn userinfo_end(text: &[u8], from: usize, loose: bool) -> usize {
    const LONGEST: usize = 300;
    let mut last = None;
    let rest = text.get(from..).unwrap_or_default();
    for (offset, &byte) in rest.iter().take(LONGEST).enumerate() {
        match byte {
            b'@' => last = Some(offset),
            0..=b' ' | 0x7f | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\'
                if !matches!(byte, URL_EQUALS | URL_AND | URL_QUOTE | URL_BLANK) =>
            {
                break;
            }
            b'/' | b'?' | b'#' if !loose || last.is_some() => break,
            b':' if rest.get(offset..).is_some_and(|rest| rest.starts_with(b"://")) => break,
            _ => {}
        }
    }
    let host = |at: &usize| {
        rest.get(at + 1).is_some_and(|&byte| {
            byte.is_ascii_alphanumeric()
                || matches!(byte, b'[' | b'{' | b'$' | b'%' | b'.' | b'*' | b'_')
                || loose && rest.get(at + 1..).is_some_and(|rest| rest.starts_with(b"//"))
        })
    };
    from + last.filter(host).unwrap_or(0)
}
