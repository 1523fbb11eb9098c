//! Secrets that go on in the next line, as terminals, mail programs and editors wrap them.

use crate::disguise::is_break;
use crate::string_stats;
use crate::value::{Memory, at};

/// A line of this width may have been wrapped at a margin.
const WIDE: usize = 60;
/// The longest wrapped keys have about this many lines.
const MOST_LINES: usize = 48;
/// Indentation, a line number, a quotation or diff mark before what goes on.
const LONGEST_PREFIX: usize = 24;
/// A piece on one line; longer lines are not wrapped.
const LONGEST_PIECE: usize = 512;

/// A token with the breaks inside it taken out, and where it ends in the text.
pub(crate) struct Joined {
    pub(crate) bytes: Vec<u8>,
    pub(crate) end: usize,
}

/// The token characters from `from` on, across the ends of lines.
///
/// Most tokens that do not fit end before the line does: nothing is joined then.
pub(crate) fn joined(text: &[u8], from: usize, memory: &Memory) -> Option<Joined> {
    let first = memory.run_end(from, || from + run(text, from, usize::MAX));
    if first > from + LONGEST_PIECE || !is_break(at(text, first)) && at(text, first) != b'=' {
        return None;
    }
    let mut bytes = text.get(from..first)?.to_vec();
    let mut end = first;
    for _ in 0..MOST_LINES {
        let Some((start, stop)) = next_piece(text, end) else { break };
        if !goes_on(text, end, start, stop) {
            break;
        }
        bytes.extend_from_slice(text.get(start..stop)?);
        end = stop;
    }
    (end > first).then_some(Joined { bytes, end })
}

/// The end of a secret that was found up to `end`, if it goes on in the next line.
pub(crate) fn extended(text: &[u8], start: usize, end: usize) -> usize {
    let mut end = end;
    if !string_stats::is_mixed(text.get(start..end).unwrap_or_default()) {
        return end;
    }
    for _ in 0..MOST_LINES {
        match next_piece(text, end) {
            Some((start, stop)) if goes_on(text, end, start, stop) => end = stop,
            _ => break,
        }
    }
    end
}

/// The piece on the line after `end`, if the line ends there.
fn next_piece(text: &[u8], end: usize) -> Option<(usize, usize)> {
    let broken = match (at(text, end), at(text, end + 1)) {
        (b'\r', b'\n') => 2,
        // A soft line break of mail.
        (b'=', next) if is_break(next) => 2,
        (byte, _) if is_break(byte) => 1,
        _ => return None,
    };
    let mut start = end + broken;
    let limit = start + LONGEST_PREFIX;
    while start < limit && matches!(at(text, start), b' ' | b'\t' | b'>' | b'|' | b'+') {
        start += 1;
    }
    let digits = text.get(start..).unwrap_or_default().iter().take(7).take_while(|byte| byte.is_ascii_digit()).count();
    if digits > 0 && text.get(start + digits..).is_some_and(|rest| rest.starts_with("→".as_bytes())) {
        start += digits + "→".len();
    }
    let stop = start + piece(text, start);
    (stop > start).then_some((start, stop))
}

/// Whether a piece is the rest of a token and not the beginning of something else.
fn goes_on(text: &[u8], end: usize, start: usize, stop: usize) -> bool {
    let rest = text.get(start..stop).unwrap_or_default();
    let line = text.get(end.saturating_sub(WIDE)..end).unwrap_or_default();
    let wide = line.len() == WIDE && !line.iter().any(|&byte| is_break(byte));
    let after = at(text, stop);
    let alone = after == 0
        || is_break(after)
        || matches!(after, b'"' | b'\'' | b'`' | 0x11..=0x19 | b',' | b';' | b')' | b'}' | b']');
    let ends = alone || wide && after == b' ';
    let generated = string_stats::is_mixed(rest) && !string_stats::is_wordy(rest) || string_stats::is_random(rest);
    // `PORT=8080` is the next setting; base64 has such signs at its end only.
    let setting = rest
        .iter()
        .position(|&byte| byte == b'=')
        .is_some_and(|sign| !rest.iter().skip(sign).all(|&byte| byte == b'='));
    if setting {
        return false;
    }
    string_stats::is_random(rest) && after == b' '
        || ends && (generated && rest.len() >= 6 || wide && alone && (generated || rest.len() <= 4))
}

fn piece(text: &[u8], from: usize) -> usize {
    run(text, from, LONGEST_PIECE)
}

/// Length of the run of token characters.
fn run(text: &[u8], from: usize, most: usize) -> usize {
    let token =
        |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b'+' | b'=' | b'~');
    text.get(from..).unwrap_or_default().iter().take(most).take_while(token).count()
}
