//! A page as text.

use super::INDENT;
use super::page::{Page, Passage, ShownLine};
use foldline_reduce::wording::{counted, grouped};
use std::fmt;

impl fmt::Display for Page {
    /// The page for people and agents. Ends with a line that says what follows and how to get it, when something does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, passage) in self.content.iter().enumerate() {
            if at > 0 {
                writeln!(f)?;
            }
            self.passage(f, passage)?;
        }
        match self.note() {
            Some(note) => writeln!(f, "[{note}]"),
            None => Ok(()),
        }
    }
}

impl Page {
    fn passage(&self, f: &mut fmt::Formatter<'_>, passage: &Passage) -> fmt::Result {
        if let Some(turn) = passage.turn {
            let from = passage.lines.first().filter(|_| passage.continued && self.matches.is_none());
            match from {
                Some(line) => writeln!(f, "[{turn}] {}, from line {}", passage.role, line.line)?,
                None => writeln!(f, "[{turn}] {}", passage.role)?,
            }
        }
        passage.lines.iter().try_for_each(|line| self.line(f, passage, line))
    }

    fn line(&self, f: &mut fmt::Formatter<'_>, passage: &Passage, line: &ShownLine) -> fmt::Result {
        if line.after_gap {
            writeln!(f, "--")?;
        }
        if self.matches.is_some() {
            write!(f, "{}{}", line.line, if line.is_match { ':' } else { '-' })?;
        }
        let is_words = passage.turn.is_some() && !line.mark && !line.text.is_empty();
        let indent = if is_words { INDENT } else { "" };
        writeln!(f, "{indent}{}", line.text)
    }

    /// What is said below a page: how much there is and how to get the rest.
    fn note(&self) -> Option<String> {
        let mut parts = Vec::new();
        if self.pages > 1 {
            parts.push(format!("page {} of {}", grouped(self.page), grouped(self.pages)));
        }
        if let Some(matches) = self.matches {
            let turns = self.matching_turns.map(|turns| format!(" in {}", counted(turns, "turn"))).unwrap_or_default();
            parts.push(format!("{}{turns}", counted(matches, "matching line")));
        }
        if self.next.is_some() && self.matches.is_none() {
            let last = self.content.last().and_then(|passage| passage.turn);
            let more = |count: usize, noun: &str| counted(count, &format!("more {noun}"));
            let (lines, turns) = (more(self.lines_follow, "line"), more(self.turns_follow, "turn"));
            parts.push(match (last, self.lines_follow, self.turns_follow) {
                (_, 0, 0) => "the line goes on".to_owned(),
                (None, ..) => lines,
                (Some(_), 0, _) => turns,
                (Some(turn), _, 0) => format!("{lines} of turn {turn}"),
                (Some(turn), ..) => format!("{lines} of turn {turn}, {turns}"),
            });
        }
        parts.extend(self.next.as_ref().map(|next| format!("next: {next}")));
        (!parts.is_empty()).then(|| parts.join(" · "))
    }
}
