//! The arguments of a program, searched for options that carry a password.

use crate::disguise::is_break;
use crate::prepared::{Prepared, Secret};
use crate::rule::Shape;
use crate::scan::{Scan, is_word};
use crate::value::{Quoting, at, is_quote};

/// Longer command lines are generated, and lists of files.
const REACH: usize = 512;

/// Called at the name of a program.
///
/// The rest of a command is searched once: where its name comes up again among its own arguments, nothing new is found.
pub(crate) fn check(scan: &mut Scan<'_>, prepared: &Prepared, start: usize, end: usize) {
    let text = scan.text;
    let rule = prepared.rule;
    // Short names have a blank in their keyword, because they are parts of many words.
    let end = end - usize::from(at(text, end - 1) == b' ');
    let (searched, by) = scan.commanded;
    if !is_program(text, start, end) || by == rule.name && end + REACH / 2 < searched {
        return;
    }
    let stop = command_end(text, end);
    // What was searched from the name before is not searched again, but for an option that begins there.
    const LONGEST_OPTION: usize = 64;
    let again = match by == rule.name {
        true => searched.saturating_sub(LONGEST_OPTION).max(scan.floor(searched)).saturating_sub(end),
        false => 0,
    };
    scan.commanded = (stop, rule.name);
    let Some(arguments) = text.get(end..stop) else { return };
    let mut from = again.min(arguments.len());
    while let Some(secret) = next_secret(prepared, arguments, &mut from) {
        let value = scan.value_of(secret, end);
        let is_option = at(text, value.start) == b'-' && value.quoting == Quoting::Bare;
        if value.start < value.end && !is_option && !value.is_between_strings(text) && scan.passes(rule, value.of(text))
        {
            scan.report(rule, value.start, value.end);
        }
        from = from.max(value.end.saturating_sub(end));
    }
}

/// The next place among the arguments that the pattern fits, after `from`.
fn next_secret(prepared: &Prepared, arguments: &[u8], from: &mut usize) -> Option<Secret> {
    if matches!(prepared.rule.shape, Shape::Command(_)) {
        let found = prepared.search(arguments, *from)?;
        *from += 1;
        return Some(found);
    }
    loop {
        let dash = *from + memchr::memchr2(b'-', b'/', arguments.get(*from..)?)?;
        *from = dash + 1;
        let before = dash.checked_sub(1).map_or(b' ', |index| at(arguments, index));
        if (matches!(before, b' ' | b'\t' | b',' | b'[' | b'(') || is_quote(before))
            && let Some(found) = prepared.search(arguments.get(dash..)?, 0)
        {
            return Some(found.moved(dash));
        }
    }
}

/// Whether a word stands where programs stand: alone, perhaps behind a path, with arguments behind it.
fn is_program(text: &[u8], start: usize, end: usize) -> bool {
    let before = start.checked_sub(1).map_or(b' ', |index| at(text, index));
    let rest = text.get(end..).unwrap_or_default();
    let end = end + if rest.starts_with(b".exe") { 4 } else { 0 };
    let after = at(text, end);
    !is_word(before) && !matches!(before, b'-' | b'.') && (matches!(after, b' ' | b'\t' | b',') || is_quote(after))
}

/// Where the command ends: at the end of the line, or before the next command.
fn command_end(text: &[u8], from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    let rest = rest.get(..REACH).unwrap_or(rest);
    let separates = |(offset, &byte): (usize, &u8)| {
        is_break(byte)
            || matches!(byte, b'|' | b';' | b'&') && matches!(at(text, from + offset + 1), b' ' | b'|' | b'&' | b'\n')
    };
    from + rest.iter().enumerate().position(separates).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::REACH;
    use crate::{Mode, find};

    #[test]
    fn a_value_may_go_on_where_the_arguments_that_are_searched_end() {
        for before in REACH - 40..REACH {
            let text = format!("openssl enc {} -k a{}9", "x".repeat(before), "B7".repeat(40));
            let found = find(&text, Mode::Text);
            assert!(found.iter().all(|found| found.end <= text.len()), "{before}");
        }
    }
}
