//! Envelopes in a text: what a host wrapped, and the words that are left when they are taken out.

use super::super::mark::OPENING;
use super::table::{CONTENTS, Lasts, MEMORY_FILES, NOTE, Newer, OPENINGS, REMINDER, TOPIC_WITHIN, TOPICS, WRAPPERS};
use std::borrow::Cow;
use std::ops::Range;

/// Something that a host wrote into a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Envelope {
    /// Where it stands, wrapper included.
    pub(super) span: Range<usize>,
    /// What it is a version of.
    pub(super) kind: String,
    /// How long it is true.
    pub(super) lasts: Lasts,
    /// Whether its wrapper is a known one; an unknown one is believed only where the user's own words follow it.
    pub(super) is_known: bool,
}

/// All envelopes of a text, in order, none inside another. Of wrappers that nobody knows those before the first other
/// words are taken.
pub(super) fn envelopes(text: &str) -> Vec<Envelope> {
    let mut found: Vec<Envelope> = whole_text(text).into_iter().collect();
    let mut at = found.first().map_or(0, |whole| whole.span.end);
    let mut only_envelopes = true;
    while let Some(start) = text.get(at..).and_then(|rest| rest.find('<')).map(|offset| at + offset) {
        only_envelopes &= text.get(at..start).is_some_and(is_heading_or_blank);
        match wrapped(text, start, only_envelopes) {
            Some(envelope) => {
                at = envelope.span.end;
                found.push(envelope);
            }
            None => {
                only_envelopes = false;
                at = start + 1;
            }
        }
    }
    found
}

/// Where the envelopes end that a text begins with.
pub(crate) fn leading(text: &str) -> usize {
    let mut end = 0;
    for envelope in envelopes(text) {
        if text.get(end..envelope.span.start).is_none_or(|between| !between.trim().is_empty()) {
            break;
        }
        end = envelope.span.end;
    }
    end
}

/// A text without the envelopes in it. Wrappers that nobody knows are taken out only where words follow them.
pub(crate) fn without_envelopes(text: &str) -> Cow<'_, str> {
    let all = envelopes(text);
    let last_unknown = all.iter().rposition(|envelope| !envelope.is_known);
    let words_follow = last_unknown.is_none_or(|last| {
        let after = all.get(last).map_or(0, |envelope| envelope.span.end);
        !without(text, all.iter().filter(|envelope| envelope.is_known || envelope.span.end <= after), after)
            .trim()
            .is_empty()
    });
    let out: Vec<&Envelope> = all.iter().filter(|envelope| envelope.is_known || words_follow).collect();
    match out.is_empty() {
        true => Cow::Borrowed(text),
        false => Cow::Owned(without(text, out.into_iter(), 0)),
    }
}

/// An output without the reminders that a host puts behind it.
pub(crate) fn without_reminders(output: &str) -> &str {
    let mut output = output;
    while let Some(body) = output.trim_end().strip_suffix(&format!("</{REMINDER}>"))
        && let Some(start) = body.rfind(&format!("<{REMINDER}>"))
    {
        output = body.get(..start).unwrap_or_default().trim_end();
    }
    output
}

/// Whether a text is a host's from beginning to end.
pub(crate) fn is_host_text(text: &str) -> bool {
    without(text, envelopes(text).iter(), 0).trim().is_empty()
}

/// What is left of a text from `start` on.
fn without<'e>(text: &str, envelopes: impl Iterator<Item = &'e Envelope>, start: usize) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut at = start;
    for envelope in envelopes {
        kept.push_str(text.get(at..envelope.span.start.max(at)).unwrap_or_default());
        at = at.max(envelope.span.end);
    }
    kept.push_str(text.get(at..).unwrap_or_default());
    kept
}

/// A text that begins as only hosts begin theirs.
fn whole_text(text: &str) -> Option<Envelope> {
    let words = text.trim_start();
    let (opening, lasts) = OPENINGS.iter().find(|(opening, _)| words.starts_with(opening))?;
    // Where it goes on with a wrapper, it ends with it.
    let wrapper = words.lines().nth(1).is_some_and(|line| line.trim().is_empty())
        && words.lines().nth(2).is_some_and(|line| line.starts_with("<INSTRUCTIONS>"));
    if wrapper {
        return None;
    }
    // Where messages are strings, more of the host's stands behind it, and the handoff.
    let known = WRAPPERS.iter().filter_map(|(name, _)| text.find(&format!("\n<{name}>")));
    // A notice in brackets ends with them; the user's next words may follow in the same text.
    let notice = opening.starts_with('[').then(|| text.find(']')).flatten().map(|bracket| bracket + 1);
    let end = known.chain(text.find(OPENING)).chain(notice).min().unwrap_or(text.len());
    Some(Envelope { span: 0..end, kind: (*opening).to_owned(), lasts: *lasts, is_known: true })
}

/// White space, or a heading that belongs to the wrapper that follows it.
fn is_heading_or_blank(between: &str) -> bool {
    let words = between.trim();
    words.is_empty() || heading(between).is_some()
}

/// The heading at the end of what stands before a wrapper.
fn heading(before: &str) -> Option<&str> {
    let line = before.trim_end().rsplit('\n').next()?;
    OPENINGS.iter().any(|(opening, _)| line.starts_with(opening)).then_some(line)
}

/// The envelope whose wrapper opens at `start`.
fn wrapped(text: &str, start: usize, is_leading: bool) -> Option<Envelope> {
    let rest = text.get(start + 1..)?;
    let length = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')).count();
    let name = rest.get(..length)?;
    let known = WRAPPERS.iter().find(|(wrapper, _)| *wrapper == name);
    let is_plain = rest.get(length..)?.starts_with('>');
    let lasts = match known {
        Some((_, lasts)) if is_plain => *lasts,
        None if is_plain && is_leading && is_compound(name) => Lasts::ByPlace,
        _ => return None,
    };
    let inside = start + length + 2;
    let end = match (closing(text, inside, name), known) {
        (Some(end), _) => end,
        // Cut short: what comes after it is a host's as well.
        (None, Some(_)) if begins_line(text, start) => text.len(),
        (None, _) => return None,
    };
    if known.is_none() && text.get(end..)?.chars().next().is_some_and(|next| next != '\n' && next != '\r') {
        return None;
    }
    let before = text.get(..start)?;
    let begin = heading(before).and_then(|heading| before.rfind(heading)).unwrap_or(start);
    let content = text.get(inside..end)?;
    let (kind, lasts) = match name {
        REMINDER => topic(content),
        _ => (name.to_owned(), lasts),
    };
    Some(Envelope { span: begin..end, kind, lasts, is_known: known.is_some() })
}

fn begins_line(text: &str, start: usize) -> bool {
    text.get(..start).is_some_and(|before| before.is_empty() || before.ends_with('\n'))
}

/// Where the wrapper closes that is open at `inside`. What it holds may speak of the same wrapper.
fn closing(text: &str, inside: usize, name: &str) -> Option<usize> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let mut depth = 1_usize;
    let mut at = inside;
    let mut first = None;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find(&close)).map(|offset| at + offset) {
        depth += text.get(at..found).map_or(0, |between| between.matches(&open).count());
        depth -= 1;
        at = found + close.len();
        first = first.or(Some(at));
        if depth == 0 {
            return Some(at);
        }
    }
    first
}

/// What a reminder is about.
fn topic(content: &str) -> (String, Lasts) {
    let beginning = content.get(..content.floor_char_boundary(TOPIC_WITHIN)).unwrap_or_default();
    if let Some(path) = memory_file(beginning) {
        return (format!("{REMINDER} {path}"), Lasts::Standing(Newer::Replaces));
    }
    if let Some((_, topic, lasts)) = TOPICS.iter().find(|(words, ..)| beginning.contains(words)) {
        return (format!("{REMINDER} {topic}"), *lasts);
    }
    let line = beginning.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    // Counts and dates change from version to version.
    let line: String = line.trim().chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    (format!("{REMINDER} {line}"), Lasts::ByPlace)
}

/// The words with the path of the memory file that a reminder holds or tells a change of.
fn memory_file(beginning: &str) -> Option<&str> {
    let line = beginning.trim_start().lines().next()?;
    let held = || line.starts_with(CONTENTS).then_some(line);
    let changed = || {
        let path = line.strip_prefix(NOTE)?.split_whitespace().next()?;
        let name = path.rsplit(['/', '\\']).next()?;
        MEMORY_FILES.contains(&name).then(|| line.get(..NOTE.len() + path.len())).flatten()
    };
    held().or_else(changed)
}

/// Programs name their wrappers with several words; people who mark a passage take one.
fn is_compound(name: &str) -> bool {
    name.contains(['_', '-']) && name.starts_with(|c: char| c.is_ascii_alphabetic())
}

impl Envelope {
    /// How a newer version takes the place of an older one; `None` where it does not stand at all.
    pub(super) fn stands(&self, is_in_front: bool) -> Option<Newer> {
        match self.lasts {
            Lasts::Standing(newer) => Some(newer),
            Lasts::ByPlace if is_in_front => Some(Newer::Replaces),
            Lasts::ByPlace | Lasts::Passing => None,
        }
    }
}
