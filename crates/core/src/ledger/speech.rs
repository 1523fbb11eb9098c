//! What people really said: the user's turn without what clients put into it, and the user's words where clients
//! hide them in results of tools.

use crate::inserted;

/// What a client says in the user's turn when the user stopped the assistant.
const INTERRUPTED: &str = "[Request interrupted";

/// How clients say that the user did not allow a call.
const REJECTIONS: [&str; 6] = [
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action",
    "Request interrupted by user",
    "rejected by user",
    "rejected by the user",
    "User rejected",
];

/// What comes before the user's own words in such a result.
const TOLD_INSTEAD: &str = "the user said:";

/// Marks that only programs of a client run; the model never sees what was typed there.
const LOCAL_COMMAND: &str = "<local-command-";

/// The user's words before, between and after the lines in which a client says that the user stopped the assistant.
/// Where messages of one role are joined, all of these stand in one text.
pub(super) fn between_interruptions(words: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut from = 0;
    for (start, _) in words.match_indices(INTERRUPTED) {
        let is_line = words.get(..start).is_some_and(|before| before.is_empty() || before.ends_with('\n'));
        let end = words.get(start..).and_then(|rest| rest.find(']')).map_or(words.len(), |end| start + end + 1);
        if is_line && start >= from {
            pieces.push(words.get(from..start).unwrap_or_default());
            from = end;
        }
    }
    pieces.push(words.get(from..).unwrap_or_default());
    pieces
}

/// Whether a text belongs to a command that ran in the client alone.
pub(super) fn is_local_command(words: &str) -> bool {
    words.contains(LOCAL_COMMAND)
}

/// The words of a user without what clients put around them; a slash command as it was typed.
pub(crate) fn spoken(words: &str) -> String {
    let kept = inserted::without_envelopes(words);
    if !words.contains('<') {
        return kept.into_owned();
    }
    let command = inside(words, "command-name").map(|name| {
        let arguments = inside(words, "command-args").unwrap_or_default();
        format!("{} {}", name.trim(), arguments.trim()).trim().to_owned()
    });
    let kept = kept.replace("<bash-input>", "! ").replace("</bash-input>", "");
    match command {
        Some(command) if kept.trim().is_empty() => command,
        Some(command) => format!("{command}\n{}", kept.trim()),
        None => kept,
    }
}

/// Whether a result says that the user did not allow the call.
pub(super) fn is_rejection(output: &str) -> bool {
    let start = output.get(..output.floor_char_boundary(300)).unwrap_or_default();
    REJECTIONS.iter().any(|words| start.contains(words))
}

/// What the user said instead of allowing a call.
pub(super) fn said_instead(output: &str) -> Option<&str> {
    let (_, words) = output.split_once(TOLD_INSTEAD)?;
    Some(words.trim()).filter(|words| !words.is_empty())
}

fn inside<'a>(words: &'a str, name: &str) -> Option<&'a str> {
    let (_, after) = words.split_once(&format!("<{name}>"))?;
    after.split_once(&format!("</{name}>")).map(|(inside, _)| inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn envelopes_of_clients_are_no_words_of_the_user() {
        assert_eq!(spoken("<system-reminder>Be brief.</system-reminder>\nFix it.").trim(), "Fix it.");
        assert_eq!(spoken("<local-command-caveat>Caveat: do not reply</local-command-caveat>"), "");
        assert_eq!(spoken("Base directory for this skill: /x\n\n# Skill"), "");
        assert_eq!(spoken("a < b and b > c"), "a < b and b > c");
        let typed = "<command-message>review</command-message>\n<command-name>/review</command-name>\n\
                     <command-args>the last commit</command-args>";
        assert_eq!(spoken(typed), "/review the last commit");
    }

    #[test]
    fn words_around_an_interruption_are_the_users() {
        let joined = "commit this\n\n[Request interrupted by user]\n\nwait, why?";
        let pieces: Vec<&str> = between_interruptions(joined).into_iter().map(str::trim).collect();
        assert_eq!(pieces, ["commit this", "wait, why?"]);
        assert_eq!(between_interruptions("[Request interrupted by user for tool use]"), ["", ""]);
        assert_eq!(between_interruptions("say [Request interrupted]"), ["say [Request interrupted]"]);
        assert_eq!(spoken("[Request interrupted by user]\n\nwait, why?").trim(), "wait, why?");
    }

    #[test]
    fn words_in_a_rejection_are_the_users() {
        let output = "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nask me first";
        assert!(is_rejection(output));
        assert_eq!(said_instead(output), Some("ask me first"));
        assert_eq!(said_instead("exit code 1"), None);
        assert!(!is_rejection("error: permission denied"));
    }
}
