//! The wrappers and openings that hosts are known to use, and how long what they hold is true. Facts about programs, not
//! about language.

/// How long what an envelope holds is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lasts {
    /// Until a newer version comes.
    Standing(Newer),
    /// For the moment in which it was written.
    Passing,
    /// As its place says: what a host writes before the user's first words stands, what it writes later passes.
    ByPlace,
}

/// What a newer envelope of a kind does to an older one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Newer {
    /// It takes its place.
    Replaces,
    /// It takes its place if it repeats most of it. A host may also send only what was added to a list.
    ReplacesWhatItRepeats,
}

/// The wrapper that says by its first words what it holds.
pub(super) const REMINDER: &str = "system-reminder";

/// Wrappers by name.
pub(super) const WRAPPERS: [(&str, Lasts); 28] = [
    (REMINDER, Lasts::ByPlace),
    ("INSTRUCTIONS", Lasts::Standing(Newer::Replaces)),
    ("user_instructions", Lasts::Standing(Newer::Replaces)),
    ("environment_context", Lasts::Standing(Newer::Replaces)),
    ("environment_details", Lasts::Standing(Newer::Replaces)),
    ("session_context", Lasts::Standing(Newer::Replaces)),
    ("session-context", Lasts::Standing(Newer::Replaces)),
    ("memory-context", Lasts::Standing(Newer::Replaces)),
    ("user_info", Lasts::Standing(Newer::Replaces)),
    ("skills_instructions", Lasts::Standing(Newer::Replaces)),
    ("permissions_instructions", Lasts::Standing(Newer::Replaces)),
    ("available_skills", Lasts::Standing(Newer::ReplacesWhatItRepeats)),
    ("available-deferred-tools", Lasts::Standing(Newer::ReplacesWhatItRepeats)),
    ("command-message", Lasts::Passing),
    ("command-name", Lasts::Passing),
    ("command-args", Lasts::Passing),
    ("local-command-stdout", Lasts::Passing),
    ("local-command-stderr", Lasts::Passing),
    ("local-command-caveat", Lasts::Passing),
    ("bash-stdout", Lasts::Passing),
    ("bash-stderr", Lasts::Passing),
    ("task-notification", Lasts::Passing),
    ("ide_opened_file", Lasts::Passing),
    ("ide_selection", Lasts::Passing),
    ("new-diagnostics", Lasts::Passing),
    ("turn_aborted", Lasts::Passing),
    ("info-msg", Lasts::Passing),
    ("user-prompt-submit-hook", Lasts::Passing),
];

/// What reminders are about, by words at their beginning.
pub(super) const TOPICS: [(&str, &str, Lasts); 16] = [
    ("# claudeMd", "memory", Lasts::Standing(Newer::Replaces)),
    ("codebase and user instructions", "memory", Lasts::Standing(Newer::Replaces)),
    ("skills are available", "skills", Lasts::Standing(Newer::ReplacesWhatItRepeats)),
    ("deferred tools", "tools", Lasts::Standing(Newer::ReplacesWhatItRepeats)),
    ("agent types", "agents", Lasts::Standing(Newer::ReplacesWhatItRepeats)),
    ("MCP Server Instructions", "servers", Lasts::Standing(Newer::ReplacesWhatItRepeats)),
    ("todo list", "", Lasts::Passing),
    ("TodoWrite", "", Lasts::Passing),
    ("task tools", "", Lasts::Passing),
    ("was modified, either by", "", Lasts::Passing),
    ("changed on disk since you last read it", "", Lasts::Passing),
    ("Called the ", "", Lasts::Passing),
    ("Result of calling", "", Lasts::Passing),
    ("user opened the file", "", Lasts::Passing),
    ("user selected the lines", "", Lasts::Passing),
    ("user sent a new message", "", Lasts::Passing),
];

/// How a reminder begins that holds one memory file: its path follows. A host sends those of a folder when the agent first reads there,
/// so each path is a kind of its own.
pub(super) const CONTENTS: &str = "Contents of ";
/// How a reminder begins that tells what changed in a file: its path follows. That of a memory file stands, because the version that
/// came before it does not say so.
pub(super) const NOTE: &str = "Note: ";
pub(super) const MEMORY_FILES: [&str; 5] =
    ["CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "AGENTS.override.md", "GEMINI.md"];

/// How far into a reminder its topic is looked for.
pub(super) const TOPIC_WITHIN: usize = 400;

/// How hosts begin texts without a wrapper that are theirs from beginning to end.
pub(super) const OPENINGS: [(&str, Lasts); 8] = [
    ("# AGENTS.md instructions for", Lasts::Standing(Newer::Replaces)),
    ("This is the Gemini CLI. We are setting up the context", Lasts::Standing(Newer::Replaces)),
    ("This is the Qwen Code. We are setting up the context", Lasts::Standing(Newer::Replaces)),
    ("This is Qwen Code. We are setting up the context", Lasts::Standing(Newer::Replaces)),
    ("Base directory for this skill:", Lasts::Passing),
    ("Caveat: The messages below", Lasts::Passing),
    ("Continue if you have next steps, or stop and ask for clarification", Lasts::Passing),
    ("[Request interrupted", Lasts::Passing),
];
