//! An earlier handoff, read back: its lines are facts to be merged, not text to be folded again.

use super::section::Section;

/// One line or block of an earlier handoff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remembered {
    /// The section it stood in.
    pub section: Section,
    /// The heading it stood under, without its dash; empty text means that the heading is the fact.
    pub group: Option<String>,
    /// What it said.
    pub text: String,
}

/// Reads the body of a handoff back. What stands under no known heading becomes critical context.
pub fn remember(body: &str) -> Vec<Remembered> {
    let mut section = Section::CriticalContext;
    let mut group: Option<String> = None;
    let mut facts: Vec<Remembered> = Vec::new();
    for line in body.lines() {
        if let Some(title) = line.strip_prefix("## ").or_else(|| line.strip_prefix("### ")) {
            section = Section::titled(title).unwrap_or(Section::CriticalContext);
            group = None;
            continue;
        }
        let text = line.trim_end();
        if text.is_empty() || text == "None." || text == "None" {
            continue;
        }
        let grouped = matches!(section, Section::RelevantFiles | Section::CriticalContext);
        match text.strip_prefix("  ") {
            Some(inner) if grouped && group.is_some() => {
                facts.push(Remembered { section, group: group.clone(), text: inner.to_owned() });
            }
            // The continuation of a block that began above.
            _ if !starts_a_fact(text)
                && matches!(
                    section,
                    Section::Goal | Section::PendingAsks | Section::ResolvedQuestions | Section::Blocked
                )
                && facts.last().is_some_and(|last| last.section == section) =>
            {
                if let Some(last) = facts.last_mut() {
                    last.text.push('\n');
                    last.text.push_str(text);
                }
            }
            _ if grouped && text.starts_with("- ") => {
                let title = text.trim_start_matches("- ").to_owned();
                facts.push(Remembered { section, group: Some(title.clone()), text: String::new() });
                group = Some(title);
            }
            _ => {
                group = None;
                facts.push(Remembered { section, group: None, text: text.to_owned() });
            }
        }
    }
    facts
}

fn starts_a_fact(line: &str) -> bool {
    line.starts_with("- ") || line.starts_with("User: ") || line.chars().next().is_some_and(|c| c.is_ascii_digit())
}
