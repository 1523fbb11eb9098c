//! The line above a reduced output: what it was, how large, how it ended, and where the rest is.

use crate::ledger::{Call, exit_code};
use foldline_reduce as reduce;
use foldline_reduce::wording::counted;

/// The line that says what an output was.
pub(crate) struct Header {
    what: String,
    lines: usize,
    bytes: usize,
    media: usize,
    exit: Option<i32>,
}

impl Header {
    /// How such a line begins; reduced outputs are recognised by it.
    pub(super) const OPENING: &'static str = "[was ";

    pub(crate) fn of(call: Option<&Call<'_>>, words: &str, media: usize) -> Header {
        let what = match call {
            Some(call) if !call.target.is_empty() => format!("{} `{}`", call.tool, first_line(&call.target)),
            Some(call) => call.tool.to_owned(),
            None => "tool output".to_owned(),
        };
        let lines = reduce::printed(words).lines().count();
        Header { what, lines, bytes: words.len(), media, exit: exit_code(words) }
    }

    pub(crate) fn line(&self, note: &str) -> String {
        let size = if self.bytes < 2048 { format!("{} B", self.bytes) } else { format!("{} KB", self.bytes / 1024) };
        let exit = self.exit.map(|code| format!("exit {code}, ")).unwrap_or_default();
        let media = if self.media > 0 { format!(", {} images", self.media) } else { String::new() };
        let lines = counted(self.lines, "line");
        format!("{}{} · {exit}{lines}, {size}{media} · {note}]", Header::OPENING, self.what)
    }
}

pub(crate) fn is_already_reduced(words: &str) -> bool {
    words.starts_with(Header::OPENING)
}

fn first_line(text: &str) -> String {
    const LONGEST: usize = 120;
    let line = text.trim().lines().next().unwrap_or_default();
    match line.len() > LONGEST {
        true => format!("{}…", line.get(..line.floor_char_boundary(LONGEST)).unwrap_or_default()),
        false => line.to_owned(),
    }
}
