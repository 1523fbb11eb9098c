//! The sections of a handoff, in the order in which a reader needs them.

/// One section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Section {
    /// The newest request that is not fulfilled, verbatim.
    ActiveTask,
    /// What all of it is for.
    Goal,
    /// What the user wants respected.
    Constraints,
    /// What was done: action, target, outcome, tool.
    CompletedActions,
    /// Where things stand: directory, branch, tests, processes.
    ActiveState,
    /// What was under way at the moment of the fold.
    InProgress,
    /// Errors that stand in the way, in their own words.
    Blocked,
    /// What was decided, and why.
    KeyDecisions,
    /// What the user asked and got answered.
    ResolvedQuestions,
    /// What the user asked and has not got.
    PendingAsks,
    /// Files, what was done to each, and the lines of them that matter.
    RelevantFiles,
    /// What is left, as context and not as a command.
    RemainingWork,
    /// Exact values that would otherwise be lost.
    CriticalContext,
}

impl Section {
    /// All sections in order, with their headings.
    pub const ALL: [(Section, &'static str); 13] = [
        (Section::ActiveTask, "Active Task"),
        (Section::Goal, "Goal"),
        (Section::Constraints, "Constraints & Preferences"),
        (Section::CompletedActions, "Completed Actions"),
        (Section::ActiveState, "Active State"),
        (Section::InProgress, "In Progress"),
        (Section::Blocked, "Blocked"),
        (Section::KeyDecisions, "Key Decisions"),
        (Section::ResolvedQuestions, "Resolved Questions"),
        (Section::PendingAsks, "Pending User Asks"),
        (Section::RelevantFiles, "Relevant Files"),
        (Section::RemainingWork, "Remaining Work"),
        (Section::CriticalContext, "Critical Context"),
    ];

    /// The heading.
    pub fn title(self) -> &'static str {
        Section::ALL.iter().find(|(section, _)| *section == self).map_or("", |(_, title)| title)
    }

    /// The section of a heading, also under the names that other compactors use.
    pub fn titled(title: &str) -> Option<Section> {
        let title = title.trim().trim_start_matches("Historical ").trim();
        Section::ALL.iter().find(|(_, own)| own.eq_ignore_ascii_case(title)).map(|(section, _)| *section).or(
            match title {
                "Task Snapshot" => Some(Section::ActiveTask),
                "Goal & Constraints" => Some(Section::Constraints),
                "Progress" | "Done" => Some(Section::CompletedActions),
                "In-Progress State" | "In Progress / Blocked" => Some(Section::InProgress),
                "Key Decisions Made" => Some(Section::KeyDecisions),
                "Next Steps" => Some(Section::RemainingWork),
                _ => None,
            },
        )
    }
}
