//! Passwords on command lines and in login files, where no sign binds them to a name.

use crate::redact::judge;
use crate::redact::rules::Rule;
use crate::redact::scan::Scan;
use crate::redact::value::{Quoting, Value};
use crate::redact::{Mode, alphabet::DOTTED};

/// User names and options are shorter.
const LONGEST_WORD: usize = 64;

/// `sshpass -p SECRET`.
pub(crate) fn sshpass(scan: &mut Scan<'_>, rule: &'static Rule, at: usize) -> Option<usize> {
    let start = scan.skip_blanks(at + "sshpass -p".len());
    report_word(scan, rule, Value::read(scan, start))
}

/// `login NAME password SECRET`, a line of `.netrc`.
pub(crate) fn netrc(scan: &mut Scan<'_>, rule: &'static Rule, at: usize) -> Option<usize> {
    let name = scan.skip_blanks(at + "login ".len());
    let name_end = name + scan.slice(name, name + LONGEST_WORD).iter().position(u8::is_ascii_whitespace)?;
    let word =
        name_end + scan.slice(name_end, name_end + LONGEST_WORD).iter().position(|byte| !byte.is_ascii_whitespace())?;
    let blank = word + "password".len();
    let start = scan.skip_blanks(blank);
    if !scan.starts_with(word, "password") || start == blank || !matches!(scan.before(at), b' ' | b'\t' | b'\n' | 0) {
        return None;
    }
    report_word(scan, rule, Value::read(scan, start))
}

/// `curl … -u NAME:SECRET`; other programs take a user and a group in that form.
pub(crate) fn curl_user(scan: &mut Scan<'_>, rule: &'static Rule, at: usize) -> Option<usize> {
    /// How far the option stands behind the name of the program.
    const REACH: usize = 128;
    let option = if scan.starts_with(at, " -u ") { " -u " } else { "--user " };
    let value = Value::read(scan, scan.skip_blanks(at + option.len()));
    let colon = scan.run(value.start, &DOTTED, LONGEST_WORD);
    let before = scan.slice(at.saturating_sub(REACH), at + 1);
    let line = before.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
    let is_curl = || line.windows(b"curl ".len()).any(|word| word == b"curl ");
    if scan.at(colon) != b':' || colon == value.start || !is_curl() {
        return None;
    }
    report_word(scan, rule, Value { start: colon + 1, ..value })
}

fn report_word(scan: &mut Scan<'_>, rule: &'static Rule, value: Value) -> Option<usize> {
    let bytes = value.judged(scan);
    if judge::is_masked(bytes) {
        return Some(scan.pass(value.end));
    }
    let expression = value.quoting == Quoting::Bare && judge::is_expression(bytes);
    let fixture = scan.mode == Mode::Code && !judge::is_random(bytes);
    let accepted = judge::is_long_enough(bytes) && !expression && !fixture && !judge::is_placeholder(bytes);
    accepted.then(|| {
        scan.report(rule, value.start, value.end);
        value.end
    })
}
