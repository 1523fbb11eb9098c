//! Earlier handoffs among the folded messages: their episodes and facts go on.

use super::episodes::{DECISION_WORTH, REQUEST_BESIDE};
use super::goal::GOAL_BELOW;
use super::sentences::sentences;
use super::terms::Voice;
use super::{Episode, Gathering, Group, GroupKind, Source, paragraphs, rules, state};
use crate::inserted::{self, HandoffLine, Maker, RECAP, Record, Section};

/// What was chosen once is worth more than what was never weighed.
const SURVIVOR_WORTH: f32 = 6.0;
/// What a client's own summary said is all that is left of what it stands for: it goes last.
const RECAP_WORTH: f32 = 18.0;

impl Gathering<'_, '_> {
    /// Takes over what earlier handoffs told, oldest first.
    pub(super) fn previous_handoffs(&mut self) {
        let folded = self.stretches.folded;
        for &index in folded {
            let Some(part) =
                inserted::handoff_part(self.transcript, index).and_then(|part| self.transcript.parts.get(part))
            else {
                continue;
            };
            let words = self.transcript.words(part);
            let Some(record) = inserted::record_in(self.transcript, part, &words) else {
                continue;
            };
            self.ledger.earlier.extend(inserted::originals(record.text));
            self.take_over(index, &record);
        }
    }

    fn take_over(&mut self, index: usize, record: &Record<'_>) {
        self.terms.begin();
        let root = inserted::root(record.text);
        let mut group: Option<u32> = None;
        let mut stands_in = Section::CompletedActions;
        for line in inserted::recall(record) {
            match line {
                HandoffLine::Episode { section, number, turns, words } => {
                    self.ledger.episodes.push(Episode { number, turns, is_new: false });
                    self.talk.close_request();
                    stands_in = section;
                    group = Some(self.group(index, section, GroupKind::Request, String::new(), Voice::User));
                    match words.strip_prefix(REQUEST_BESIDE) {
                        Some(quote) => self.carried_request(group, quote),
                        // A further part of the same episode.
                        None if words.is_empty() => {}
                        None => {
                            self.talk.carried = None;
                            self.remembered(index, group, Source::User, &words);
                        }
                    }
                }
                HandoffLine::Step { title, source, text } => {
                    let is_recap = title == RECAP;
                    let title = rooted_step(root, title);
                    let step = self.group(index, stands_in, GroupKind::Step, title, Voice::Tool);
                    group = Some(step);
                    match text.is_empty() {
                        true if is_recap => {}
                        true => self.heading(index, step, source, SURVIVOR_WORTH),
                        false => self.remembered(index, group, source, &text),
                    }
                }
                HandoffLine::Passage { source, text } => self.remembered(index, group, source, &text),
                HandoffLine::File { title } => {
                    let title = rooted(root, &title);
                    let path = title.split(" — ").next().unwrap_or(&title).to_owned();
                    let file = self.file(index, &path);
                    if let Some(slot) = self.ledger.groups.get_mut(file as usize) {
                        slot.title = title;
                    }
                    self.heading(index, file, Source::Read, SURVIVOR_WORTH);
                    group = Some(file);
                }
                HandoffLine::Fact { section: Section::ActiveState, text } => self.record.remember(index, &text, root),
                HandoffLine::Fact { section: Section::Goal, text } if record.maker == Maker::Other => {
                    self.goal_of_a_client(index, &text);
                }
                HandoffLine::Fact { section, text } => self.remembered_fact(index, section, &text),
            }
        }
    }

    /// A client's own summary may count among the goal what later requests added, which stands nowhere else any more. Where the first
    /// request is there in its own words, the goal is that, and the rest goes on beside it.
    fn goal_of_a_client(&mut self, index: usize, text: &str) {
        let asked = self.asked_before(index);
        if asked.is_empty() {
            return self.remembered_fact(index, Section::Goal, text);
        }
        let asked = on_one_line(&asked);
        let text = on_one_line(text);
        let rest: Vec<&str> = sentences(&text).filter(|sentence| !asked.contains(sentence)).collect();
        if !rest.is_empty() {
            self.fact(index, Section::CriticalContext, &format!("- {}", rest.join(" ")), RECAP_WORTH);
        }
    }

    /// The request of an episode stood beside its handoff: above it, where it has been read already, or below it.
    fn carried_request(&mut self, group: Option<u32>, quote: &str) {
        let Some(group) = group else { return };
        match self.talk.ahead.take_if(|(_, words)| quote.contains(words.as_str())) {
            Some((above, _)) => self.move_request(above, group),
            None => self.talk.carried = Some((group, quote.to_owned())),
        }
    }

    /// Passages that stood together are told apart again.
    fn remembered(&mut self, index: usize, group: Option<u32>, source: Source, text: &str) {
        let Some(group) = group else {
            return;
        };
        if source == Source::User {
            // Where it stood in its message is no longer known.
            self.talk.is_remembering = true;
            self.user_words(index, group, text, SURVIVOR_WORTH);
            self.talk.is_remembering = false;
            return;
        }
        let is_prose = matches!(
            source,
            Source::Pasted | Source::Answer | Source::Explanation | Source::Narration | Source::Report
        );
        let mut places = Vec::new();
        match is_prose {
            true => paragraphs::each(text, |range| places.push(range)),
            false => places.push(0..text.len()),
        }
        let is_recap = self.ledger.groups.get(group as usize).is_some_and(|group| group.title == RECAP);
        let worth = if is_recap { RECAP_WORTH } else { SURVIVOR_WORTH };
        for range in places {
            self.passage(index, group, source, text.get(range).unwrap_or_default(), worth);
        }
    }

    fn remembered_fact(&mut self, index: usize, section: Section, text: &str) {
        // Whether the chronicle tells the request of the goal is found out anew.
        let text = match section {
            Section::Goal => text.rsplit_once(GOAL_BELOW).map_or(text, |(goal, _)| goal),
            _ => text,
        };
        if section == Section::Constraints && self.remember_pin(text) {
            return;
        }
        if section == Section::RemainingWork && (is_judged_anew(text) || self.record.remember_todo(index, text)) {
            return;
        }
        let worth = match section {
            // What was going on then is over, and the task is read off the live conversation.
            Section::ActiveTask | Section::InProgress | Section::PendingAsks => return,
            // A request that stood before the handoff, in the head, is what it was all for.
            Section::Goal if !self.asked_before(index).is_empty() => return,
            Section::Goal => self.goal_worth(),
            Section::Constraints => rules::RULE_WORTH,
            // What somebody wrote down as a decision is surer than a short reply that may be one.
            Section::KeyDecisions if !text.starts_with("- User:") => DECISION_WORTH + 1.0,
            Section::KeyDecisions => DECISION_WORTH,
            Section::RemainingWork => 20.0,
            Section::Blocked => 6.0,
            _ => 4.0,
        };
        self.fact(index, section, text, worth);
    }
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What each handoff finds out by itself, as this release and earlier ones wrote it.
fn is_judged_anew(text: &str) -> bool {
    [state::RUN_AGAIN, state::OLDER_LIST].contains(&text)
        || text.starts_with(state::FINISH)
        || text.starts_with("- Run again, files were changed since:")
        || text.starts_with("- The assistant asked, and the user has not answered:")
}

/// A path of an earlier handoff as it reads without the folder that was its root.
pub(super) fn rooted(root: Option<&str>, path: &str) -> String {
    match root {
        Some(root) if !path.starts_with(['/', '~']) && !path.contains("://") => format!("{root}/{path}"),
        _ => path.to_owned(),
    }
}

/// A heading of an earlier handoff whose path reads without that folder.
fn rooted_step(root: Option<&str>, title: String) -> String {
    let changed = ["EDIT ", "WRITE "].iter().find_map(|verb| Some((verb, title.strip_prefix(verb)?)));
    match changed {
        Some((verb, path)) => format!("{verb}{}", rooted(root, path)),
        None => title,
    }
}

impl Group {
    /// Whether its heading tells something by itself.
    pub fn is_titled(&self) -> bool {
        !self.title.is_empty()
    }
}
