//! Decides what of a terminal's output was ever visible: escape sequences go, and a line that was redrawn in
//! place keeps its last state.

use std::borrow::Cow;

use vte::{Parser, Perform};

use super::lines::lines;

/// Notes that clients append to tool results for the model, not produced by the tool.
const REMINDER: (&str, &str) = ("<system-reminder>", "</system-reminder>");

/// The text as a person would have seen it in the end.
pub(super) fn clean(text: &str) -> Cow<'_, str> {
    let visible = if memchr::memchr(0x1b, text.as_bytes()).is_some() {
        Cow::Owned(without_escapes(text))
    } else {
        Cow::Borrowed(text)
    };
    let settled = if has_redraws(&visible) { Cow::Owned(last_states(&visible)) } else { visible };
    match settled {
        Cow::Borrowed(text) => Cow::Borrowed(without_reminder(text)),
        Cow::Owned(mut text) => {
            let keep = without_reminder(&text).len();
            text.truncate(keep);
            Cow::Owned(text)
        }
    }
}

/// One line as a person would have seen it in the end, without what would act on the reader's terminal.
pub fn visible(line: &str) -> Cow<'_, str> {
    // The second set of control characters begins with this byte, in UTF-8.
    const SECOND_SET: u8 = 0xc2;
    if !line.bytes().any(|byte| (byte.is_ascii_control() && byte != b'\t') || byte == SECOND_SET) {
        return Cow::Borrowed(line);
    }
    let mut screen = Screen { text: String::with_capacity(line.len()) };
    screen.show(line);
    let last = screen.text.rsplit('\r').find(|state| !state.trim().is_empty()).unwrap_or_default();
    Cow::Owned(last.chars().filter(|&c| c == '\t' || !c.is_control()).collect())
}

/// Drops one reminder block at the end of an output.
fn without_reminder(text: &str) -> &str {
    text.trim_end()
        .strip_suffix(REMINDER.1)
        .and_then(|body| body.rfind(REMINDER.0))
        .and_then(|at| text.get(..at))
        .map_or(text, str::trim_end)
}

/// Colours and cursor moves are skipped in place; a line with a rarer escape goes through the terminal parser.
fn without_escapes(text: &str) -> String {
    let mut screen = Screen { text: String::with_capacity(text.len()) };
    for line in lines(text) {
        screen.show(line);
        screen.text.push('\n');
    }
    screen.text
}

struct Screen {
    text: String,
}

impl Screen {
    fn show(&mut self, line: &str) {
        let mut rest = line;
        while let Some(at) = memchr::memchr(0x1b, rest.as_bytes()) {
            let (shown, escape) = rest.split_at_checked(at).unwrap_or((rest, ""));
            self.text.push_str(shown);
            let end = escape
                .strip_prefix("\u{1b}[")
                .and_then(|sequence| sequence.bytes().position(|b| (0x40..=0x7e).contains(&b)));
            match end.and_then(|end| escape.get(end + 3..)) {
                Some(after) => rest = after,
                None => {
                    Parser::new().advance(self, escape.as_bytes());
                    return;
                }
            }
        }
        self.text.push_str(rest);
    }
}

impl Perform for Screen {
    fn print(&mut self, c: char) {
        self.text.push(c);
    }

    fn execute(&mut self, byte: u8) {
        if matches!(byte, b'\t' | b'\r') {
            self.text.push(char::from(byte));
        }
    }
}

/// A carriage return that is not part of a line break.
fn has_redraws(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'\r', bytes).any(|at| !matches!(bytes.get(at + 1), None | Some(b'\n')))
}

fn last_states(text: &str) -> String {
    let mut settled = String::with_capacity(text.len());
    for line in lines(text) {
        let last = line.rsplit('\r').find(|state| !state.trim().is_empty()).unwrap_or_default();
        settled.push_str(last);
        settled.push('\n');
    }
    settled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_vanish_and_tabs_stay() {
        assert_eq!(clean("\u{1b}[31merror\u{1b}[0m\tät\nplain\n"), "error\tät\nplain\n");
        assert_eq!(clean("\u{1b}]0;title\u{7}ok\n"), "ok\n");
    }

    #[test]
    fn a_line_is_shown_without_what_acts_on_a_terminal() {
        assert_eq!(visible("plain\tät"), "plain\tät");
        assert_eq!(visible("\u{1b}[31mred\u{1b}[0m\u{7}\0 1%\r100%"), "100%");
        assert_eq!(visible("\u{1b}]0;title\u{7}ok\u{8}"), "ok");
        assert_eq!(visible("20 °C \u{9b}31m"), "20 °C 31m");
    }

    #[test]
    fn a_progress_bar_keeps_its_last_state() {
        assert_eq!(clean("  1%\r 50%\r100% done\nnext\r\nend"), "100% done\nnext\nend\n");
        assert_eq!(clean("a\r\nb\r\n"), "a\r\nb\r\n");
    }

    #[test]
    fn a_reminder_at_the_end_is_no_output() {
        let text = format!("code\n\n{}\nbe careful\n{}\n", REMINDER.0, REMINDER.1);
        assert_eq!(clean(&text), "code");
        assert_eq!(clean("code </system-reminder> x"), "code </system-reminder> x");
    }
}
