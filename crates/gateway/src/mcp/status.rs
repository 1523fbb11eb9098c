//! How a session stands, for whoever works in it.

use crate::conversation::SessionView;
use foldline_core::ledger::{Held, HeldKind};
use std::fmt::Write as _;

/// Sessions that are looked at.
pub(super) const MOST_SESSIONS: usize = 50;
/// Other sessions that are named.
const NAMED: usize = 5;
/// What is said where no session is known.
pub(super) const NOTHING: &str = "No session is known: none has passed through the gateway yet. foldline_recall and foldline_search work on \
                                  everything that was removed by other ways.\n";

/// The status of a session, and the names of others.
pub(super) fn told(session: &SessionView, held: &[Held], sessions: &[SessionView]) -> String {
    let sums = &session.sums;
    let label = if session.label.is_empty() { String::new() } else { format!(" ({})", session.label) };
    let mut out = format!("Session {}{label}, model {}\n", session.id, session.model);
    let share = (session.context * 100).checked_div(session.window).unwrap_or_default();
    let _ = writeln!(
        out,
        "Context: {} of {} tokens ({share} %); folds from {} on.",
        session.context, session.window, session.trigger
    );
    let _ = writeln!(
        out,
        "So far: {} requests, {} folds, {} prunes; {} tokens came, {} were sent.",
        sums.requests, sums.folds, sums.prunes, sums.tokens_before, sums.tokens_after
    );
    if sums.uncompacted > 0.0 {
        let _ = writeln!(out, "Cost: ${:.2}; as it came it would have been ${:.2}.", sums.charged, sums.uncompacted);
    }
    match held {
        [] => out.push_str("Held as rule or pin: nothing was folded yet that holds one.\n"),
        held => {
            out.push_str("Held as rule or pin:\n");
            for held in held {
                let pinned = if held.kind == HeldKind::Pin { "(pinned) " } else { "" };
                let _ = writeln!(out, "- {pinned}{}", held.text);
            }
        }
    }
    let others = sessions.iter().filter(|other| other.id != session.id).take(NAMED);
    let others: Vec<&str> = others.map(|other| other.id.as_str()).collect();
    if !others.is_empty() {
        let _ = writeln!(out, "Other sessions: {}", others.join(", "));
    }
    out
}
