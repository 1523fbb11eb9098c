//! How things stand: directory, branch, commits, the latest result of each check, files, what is left to do. Each is
//! what no later turn contradicted.

use super::tool::{Act, understand};
use super::work::{Step, first_line};
use super::{Gathering, exits, shell, todo};
use crate::inserted::Section;
use foldline_transcript::{Part, PartKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// State and blockers come right after what the user said.
const STATE_WORTH: f32 = 80.0;
const BLOCKER_WORTH: f32 = 50.0;
/// That a file was changed is told in any case.
const FILE_WORTH: f32 = 60.0;
/// The list of what is left to do, as the agent wrote it.
const TODO_WORTH: f32 = 160.0;
/// Only this many of the latest unsolved errors block anything, and only those of so many episodes.
const MOST_BLOCKERS: usize = 4;
const BLOCKING_EPISODES: usize = 2;
/// The latest commits are told; older ones stand in the repository.
const MOST_COMMITS: usize = 6;
/// Checks whose latest results are told.
const MOST_CHECKS: usize = 6;

/// An output of at most so many bytes is told whole, a longer one by the line that sums it up.
const LONGEST_RESULT: usize = 160;

/// What is told as left to do when files were changed after checks.
pub(super) const RUN_AGAIN: &str =
    "- Run the checks again whose results are older than the latest edits (see Active State).";

/// What comes before a todo list that is older than the latest commit.
pub(super) const OLDER_LIST: &str = "- The list was last touched before the latest commit:";
/// How a line of earlier releases begins that tells which request is to be finished; In Progress tells it now.
pub(super) const FINISH: &str = "- Finish request ";
/// Of files that were changed for a request that is being worked on, the latest are named.
const MOST_CHANGED: usize = 8;

/// What comes before the result of a check that failed.
const FAILED: &str = "failed: ";
/// What marks the result of a check that is older than the latest edits.
const OUTDATED: &str = " (before the latest edits)";
/// What comes before files that were changed and not committed.
const CHANGED: &str = "changed by edits since the last commit seen: ";

/// A command is known by so many bytes.
const LONGEST_KEY: usize = 160;

/// What is known about the state so far.
#[derive(Default)]
pub(super) struct Record {
    pub(super) todo: Option<(usize, Vec<String>)>,
    pub(super) tasks: todo::Tasks,
    place: Checkout,
    /// Where the latest command that changed its folder went.
    gone_to: Option<String>,
    /// Where things stood before the latest call, which may turn out not to have gone through.
    before: Checkout,
    commits: Vec<(usize, String)>,
    /// The runs of each command, by what was typed.
    runs: FxHashMap<String, Runs>,
    files: FxHashMap<u32, FileRecord>,
    /// The message of the latest change.
    last_change: usize,
    /// … and of the latest commit.
    last_commit: usize,
    /// Files that were changed since the last commit, in order.
    changed: Vec<String>,
}

#[derive(Clone, Default)]
struct Checkout {
    directory: Option<String>,
    branch: Option<String>,
}

/// The runs of one command.
struct Runs {
    times: u32,
    message: usize,
    failed: bool,
    has_failed: bool,
    /// Whether it counts what passed.
    counts: bool,
    said: String,
    /// Whether an earlier handoff told it, and whether it was older than the latest edits even then.
    told: Option<Age>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Age {
    Current,
    Outdated,
}

impl Runs {
    /// Whether it judges the work: it counts what passed, or it failed and was run again.
    fn is_check(&self) -> bool {
        self.told.is_some() || (self.has_failed && self.times > 1) || self.counts
    }
}

/// What was done to a file.
#[derive(Default)]
struct FileRecord {
    reads: u32,
    edits: u32,
    writes: u32,
    last: usize,
}

impl Record {
    /// Takes note of a line that an earlier handoff told of the state: it holds until something newer is seen.
    pub(super) fn remember(&mut self, message: usize, line: &str, root: Option<&str>) {
        let line = line.trim_start_matches("- ");
        if let Some(commit) = line.strip_prefix("latest commit ").or_else(|| line.strip_prefix("commit ")) {
            self.commits.push((message, commit.to_owned()));
        } else if let Some(files) = line.strip_prefix(CHANGED) {
            // They are told newest first.
            let files: Vec<&str> = files.split(" and ").next().unwrap_or_default().split(", ").collect();
            self.changed.extend(files.into_iter().rev().map(|path| super::previous::rooted(root, path)));
        } else if let Some((command, result)) = line.strip_prefix('`').and_then(|rest| rest.split_once("` ")) {
            self.remember_run(message, command, result);
        } else {
            for place in line.split(", ") {
                if let Some(directory) = place.strip_prefix("working directory ") {
                    self.place.directory = Some(directory.to_owned());
                } else if let Some(branch) = place.strip_prefix("branch ") {
                    self.place.branch = Some(branch.to_owned());
                }
            }
        }
    }

    fn remember_run(&mut self, message: usize, command: &str, result: &str) {
        let Some((times, said)) = result.split_once("→ ") else {
            return;
        };
        let times = times.trim().trim_start_matches("(run ").split('×').next().and_then(|count| count.parse().ok());
        let (said, told) = match said.strip_suffix(OUTDATED) {
            Some(said) => (said, Age::Outdated),
            None => (said, Age::Current),
        };
        let failed = said.starts_with(FAILED);
        self.runs.insert(
            command.to_owned(),
            Runs {
                times: times.unwrap_or(1),
                message,
                failed,
                has_failed: failed,
                counts: false,
                said: said.trim_start_matches(FAILED).to_owned(),
                told: Some(told),
            },
        );
    }

    /// Takes note of an item of a todo list that an earlier handoff told. False when it is none.
    pub(super) fn remember_todo(&mut self, message: usize, line: &str) -> bool {
        if self.tasks.remember(line) {
            return true;
        }
        let is_item =
            line.strip_prefix("- [").is_some_and(|rest| rest.get(1..).is_some_and(|rest| rest.starts_with("] ")));
        if is_item {
            self.todo.get_or_insert_with(|| (message, Vec::new())).1.push(line.to_owned());
        }
        is_item
    }

    /// The latest call did not go through.
    pub(super) fn forget_place(&mut self) {
        self.place = self.before.clone();
    }
}

impl Gathering<'_, '_> {
    /// A call is about a file.
    pub(super) fn note_file(&mut self, index: usize, path: &str, act: Act) {
        let group = self.file(index, path);
        let record = self.record.files.entry(group).or_default();
        match act {
            Act::Read => record.reads += 1,
            Act::Edit => record.edits += 1,
            Act::Write => record.writes += 1,
            _ => {}
        }
        record.last = index;
        if matches!(act, Act::Edit | Act::Write) {
            self.record.last_change = index;
            self.record.changed.retain(|known| known != path);
            self.record.changed.push(path.to_owned());
        }
    }

    /// A change of a file did not go through.
    pub(super) fn forget_change(&mut self, path: &str) {
        if let Some(record) = self.files.get(path).and_then(|group| self.record.files.get_mut(group)) {
            // Which of the two it was is not known any more; the other count is zero most of the time.
            let count = if record.edits > 0 { &mut record.edits } else { &mut record.writes };
            *count = count.saturating_sub(1);
            if record.edits + record.writes == 0 {
                self.record.changed.retain(|known| known != path);
            }
        }
    }

    /// Where a command goes.
    pub(super) fn note_place(&mut self, command: &str) {
        self.record.before = self.record.place.clone();
        if let Some(rest) = command.trim_start().strip_prefix("cd ") {
            let end = rest.find(['&', ';', '\n', '|']).unwrap_or(rest.len());
            let directory = rest.get(..end).unwrap_or_default().trim().trim_matches(['"', '\'']);
            // Many shells forget where one command went; a folder that is gone to again is where the work is.
            let stays = end == rest.len() || self.record.gone_to.as_deref() == Some(directory);
            if directory.starts_with('/') && (stays || self.record.place.directory.is_none()) {
                self.record.place.directory = Some(directory.to_owned());
            }
            self.record.gone_to = Some(directory.to_owned());
        }
        for mark in ["git checkout -b ", "git switch -c ", "git checkout ", "git switch "] {
            if let Some((_, rest)) = command.split_once(mark) {
                let branch = rest.split_whitespace().next().unwrap_or_default();
                if !branch.is_empty() && !branch.starts_with('-') && !branch.contains('.') {
                    self.record.place.branch = Some(branch.to_owned());
                }
                break;
            }
        }
    }

    /// How a command went.
    pub(super) fn note_run(&mut self, index: usize, command: &str, output: &str, failed: bool) {
        if failed {
            self.record.forget_place();
        }
        let mut is_committed = false;
        for line in output.lines().take(40) {
            if let Some(directory) = line.strip_prefix(exits::PLACE) {
                self.record.place.directory = Some(directory.trim().to_owned());
            }
            if line.starts_with("nothing to commit, working tree clean") {
                self.record.changed.clear();
            }
            if let Some(branch) = line.strip_prefix("On branch ") {
                self.record.place.branch = Some(branch.trim().to_owned());
            }
            if let Some(commit) = commit_line(line) {
                let commit = match output.lines().find_map(size_of_commit) {
                    Some(size) => format!("{commit} ({size})"),
                    None => commit,
                };
                if let Some((branch, _)) = line.trim_start_matches('[').split_once(' ') {
                    self.record.place.branch = Some(branch.to_owned());
                }
                self.note_commit(index, command, commit);
                is_committed = true;
            }
        }
        if !failed && !is_committed && shell::invocations(command).any(|part| part.starts_with("git commit")) {
            output
                .lines()
                .find_map(logged_commit)
                .into_iter()
                .for_each(|commit| self.note_commit(index, command, commit));
        }
        let lines = || output.lines().map(str::trim).filter(|line| !line.is_empty());
        let last = lines().next_back().unwrap_or_default();
        // A few lines say more than the last of them.
        let is_short = output.len() <= LONGEST_RESULT;
        let says_something = |line: &&str| line.chars().filter(|c| c.is_alphanumeric()).nth(2).is_some();
        let short = || lines().filter(says_something).map(exits::result).collect::<Vec<_>>().join(" · ");
        let whole = if is_short { short() } else { String::new() };
        let packages = exits::packages(output);
        let counted = exits::test_summary(output);
        let summary = match is_short {
            true => whole.as_str(),
            false => packages.as_deref().or(counted.map(exits::result)).unwrap_or(last),
        };
        // Tests can pass in a command line that fails by what follows them.
        let trouble = exits::trouble(output, 1)
            .into_iter()
            .next()
            .filter(|trouble| failed && !is_short && !summary.contains(trouble.trim()));
        let summary = match trouble {
            Some(trouble) => format!("{} · {summary}", trouble.trim()),
            None => summary.to_owned(),
        };
        let key = first_line(shell::untrimmed(command), LONGEST_KEY);
        let runs = self.record.runs.entry(key).or_insert(Runs {
            times: 0,
            message: index,
            failed,
            has_failed: false,
            counts: false,
            said: String::new(),
            told: None,
        });
        runs.times += 1;
        runs.message = index;
        runs.failed = failed;
        runs.has_failed |= failed;
        runs.counts = counted.is_some();
        runs.told = runs.told.map(|_| Age::Current);
        runs.said = first_line(&summary, LONGEST_RESULT + 40);
    }

    fn note_commit(&mut self, index: usize, command: &str, commit: String) {
        let hash = |commit: &str| commit.split(' ').next().map(str::to_owned);
        self.record.commits.retain(|(_, known)| hash(known) != hash(&commit));
        // An amended commit takes the place of the one before it.
        if command.contains("--amend") {
            self.record.commits.pop();
        }
        self.record.commits.push((index, commit));
        self.record.last_commit = index;
        self.record.changed.clear();
    }

    /// Tells how things stand, and what stands in the way.
    pub(super) fn close_state(&mut self) {
        let last = self.ledger.newest as usize;
        let Checkout { directory, branch } = std::mem::take(&mut self.record.place);
        let place: Vec<String> = [
            directory.map(|directory| format!("working directory {directory}")),
            branch.map(|branch| format!("branch {branch}")),
        ]
        .into_iter()
        .flatten()
        .collect();
        if !place.is_empty() {
            self.fact(last, Section::ActiveState, &format!("- {}", place.join(", ")), STATE_WORTH);
        }
        let commits = std::mem::take(&mut self.record.commits);
        let (from, latest) = (commits.len().saturating_sub(MOST_COMMITS), commits.len().saturating_sub(1));
        for (at, (message, commit)) in commits.into_iter().enumerate().skip(from) {
            let which = if at == latest && at > 0 { "latest commit" } else { "commit" };
            self.fact(message, Section::ActiveState, &format!("- {which} {commit}"), STATE_WORTH / 2.0);
        }
        let changed = std::mem::take(&mut self.record.changed);
        if !changed.is_empty() {
            let shown: Vec<&str> = changed.iter().rev().take(20).map(String::as_str).collect();
            let more = changed.len().saturating_sub(shown.len());
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let text = format!("- {CHANGED}{}{more}", shown.join(", "));
            self.fact(last, Section::ActiveState, &text, STATE_WORTH / 2.0);
        }
        self.close_checks();
        self.tell_work_under_way();
        self.close_blockers();
        let tasks = std::mem::take(&mut self.record.tasks).list();
        if let Some((message, items)) = self.record.todo.take().or(tasks)
            && items.iter().any(|item| !item.starts_with("- [x]"))
        {
            if message < self.record.last_commit {
                self.fact(message, Section::RemainingWork, OLDER_LIST, TODO_WORTH + 1.0);
            }
            self.fact(message, Section::RemainingWork, &items.join("\n"), TODO_WORTH);
        }
    }

    /// A request whose work goes on in the live messages: what was done for it so far.
    fn tell_work_under_way(&mut self) {
        let Some(number) = self.request_under_way() else { return };
        let last = self.ledger.newest as usize;
        let episode = self.current_episode();
        let own = || self.work.steps.iter().rev().filter(|step| step.episode == episode);
        let mut changed: Vec<&str> = Vec::new();
        for step in own().filter(|step| matches!(step.act, Act::Edit | Act::Write) && !step.failed) {
            if !changed.contains(&step.target.as_str()) {
                changed.push(&step.target);
            }
        }
        let more = changed.len().saturating_sub(MOST_CHANGED);
        changed.truncate(MOST_CHANGED);
        let changed = match (changed.is_empty(), more) {
            (true, _) => String::new(),
            (false, 0) => format!(" Changed for it so far: {}.", changed.join(", ")),
            (false, more) => format!(" Changed for it so far: {} and {more} more.", changed.join(", ")),
        };
        let failing = own().find(|step| step.act == Act::Run && (step.failed || step.summary.is_some()));
        let failing =
            failing.filter(|step| step.failed).map(|step| first_line(shell::untrimmed(&step.target), LONGEST_KEY));
        let failing = failing.map(|command| format!(" `{command}` failed last.")).unwrap_or_default();
        let text = format!("- Request {number} is not answered yet.{changed}{failing}");
        self.fact(last, Section::InProgress, &text, STATE_WORTH);
    }

    /// The number of the request whose work begins in the folded messages and goes on behind them.
    fn request_under_way(&mut self) -> Option<u32> {
        let last = *self.stretches.folded.last()?;
        let end = self.transcript.messages.len();
        // Whoever speaks behind the folded messages asks for something new, and an answer ends the work.
        let asks_anew = (last + 1..end).any(|index| self.is_request(index));
        let is_work = |part: &Part| matches!(part.kind, PartKind::ToolCall | PartKind::ToolResult);
        let goes_on = self.transcript.parts_at(end - 1).iter().any(is_work);
        let episode = self.current_episode();
        let is_under_way = !self.is_chat && !asks_anew && goes_on && self.is_served(episode);
        self.ledger.episodes.last().filter(|_| is_under_way).map(|episode| episode.number)
    }

    /// Commands that were run more than once, or that sum themselves up, are checks: their latest result is the state.
    fn close_checks(&mut self) {
        let runs = std::mem::take(&mut self.record.runs);
        let mut newer = self.live_commands();
        let mut checks: Vec<(String, Runs)> = runs.into_iter().collect();
        checks.sort_by(|(one, a), (other, b)| b.message.cmp(&a.message).then_with(|| one.cmp(other)));
        let mut told = Vec::new();
        let mut is_outdated = false;
        for (command, runs) in checks {
            let is_repeated = !shell::invocations(&command).any(|part| !newer.contains(part));
            newer.extend(shell::invocations(&command).map(str::to_owned));
            // What was looked at before the latest change or commit may be different now.
            let newest_look = self.record.last_change.max(self.record.last_commit);
            let holds = runs.is_check() || (runs.times > 1 && runs.message >= newest_look);
            if is_repeated || !holds || (runs.said.is_empty() && !runs.failed) || told.len() >= MOST_CHECKS {
                continue;
            }
            let times = if runs.times > 1 { format!(" (run {}×, latest)", runs.times) } else { String::new() };
            let how = if runs.failed { FAILED } else { "" };
            let is_older = runs.message < self.record.last_change || runs.told == Some(Age::Outdated);
            is_outdated |= is_older;
            let since = if is_older { OUTDATED } else { "" };
            told.push((runs.message, format!("- `{command}`{times} → {how}{}{since}", runs.said)));
        }
        for (message, text) in told.into_iter().rev() {
            self.fact(message, Section::ActiveState, &text, STATE_WORTH / 2.0);
        }
        if is_outdated {
            self.fact(self.record.last_change, Section::RemainingWork, RUN_AGAIN, STATE_WORTH / 2.0);
        }
    }

    /// The commands that are run in messages beside the handoff.
    fn live_commands(&self) -> FxHashSet<String> {
        let after = self.stretches.folded.last().copied().unwrap_or_default();
        let live = self.stretches.live.iter().copied().filter(|&index| index > after);
        let parts = live.flat_map(|index| self.transcript.parts_at(index));
        parts
            .filter(|part| part.kind == PartKind::ToolCall)
            .map(|part| understand(self.transcript, part))
            .filter(|call| call.act == Act::Run)
            .flat_map(|call| shell::invocations(&call.target).map(str::to_owned).collect::<Vec<_>>())
            .collect()
    }

    /// Errors of the latest episodes that no later run of the same thing solved.
    fn close_blockers(&mut self) {
        let steps = std::mem::take(&mut self.work.steps);
        self.drop_settled_blockers(&steps);
        let mut tries: FxHashMap<&str, u32> = FxHashMap::default();
        steps.iter().filter(|step| step.act == Act::Run).for_each(|step| *tries.entry(&step.target).or_default() += 1);
        // What was tried again later, and the programs and files that worked later.
        let mut tried: FxHashSet<(Act, &str)> = FxHashSet::default();
        let mut worked: FxHashSet<(Act, &str)> = FxHashSet::default();
        let mut programs: FxHashSet<[&str; 2]> = FxHashSet::default();
        let mut blockers: Vec<(usize, String)> = Vec::new();
        for step in steps.iter().rev() {
            if blockers.len() >= MOST_BLOCKERS {
                break;
            }
            let is_settled = programs.contains(&step.program())
                || tried.contains(&(step.act, &step.target))
                || step.parts().last().is_some_and(|last| worked.contains(&(step.act, last)));
            // Who looks for something that is not there looks elsewhere.
            let is_lookup = matches!(step.act, Act::Read | Act::List | Act::Search | Act::Fetch);
            if step.failed && !is_lookup && !step.trouble.is_empty() && !is_settled {
                // Older errors count when somebody cared to run the same thing again.
                let is_recent = self.work_since(step.episode) < BLOCKING_EPISODES
                    || tries.get(step.target.as_str()).is_some_and(|&tries| tries > 1)
                    || step.summary.is_some();
                if is_recent {
                    blockers.push((step.message, format!("{}{}", step.blocker(), step.trouble.join("\n  "))));
                }
            }
            tried.insert((step.act, &step.target));
            if !step.failed {
                worked.extend(step.parts().into_iter().map(|part| (step.act, part)));
            }
            if !step.failed && step.act == Act::Run {
                programs.insert(step.program());
            }
        }
        for (message, text) in blockers.into_iter().rev() {
            self.fact(message, Section::Blocked, &text, BLOCKER_WORTH);
        }
    }

    /// Blockers of an earlier handoff leave when the same thing was tried again.
    fn drop_settled_blockers(&mut self, steps: &[Step]) {
        if !self.ledger.entries.iter().any(|entry| entry.section == Section::Blocked) {
            return;
        }
        let tried: Vec<String> = steps.iter().map(Step::blocker).collect();
        let super::Ledger { entries, words, .. } = &mut self.ledger;
        entries.retain(|entry| {
            let text = words.get(entry.text.range()).unwrap_or_default();
            entry.section != Section::Blocked || !tried.iter().any(|tried| text.starts_with(tried.as_str()))
        });
    }

    /// Gives each file a heading that says what was done to it.
    pub(super) fn close_files(&mut self) {
        let mut files: Vec<(u32, FileRecord)> = self.record.files.drain().collect();
        files.sort_by_key(|(group, _)| *group);
        for (group, record) in files {
            let done: Vec<String> = [(record.writes, "written"), (record.edits, "edited"), (record.reads, "read")]
                .iter()
                .filter(|(count, _)| *count > 0)
                .map(|(count, word)| if *count > 1 { format!("{word} {count}×") } else { (*word).to_owned() })
                .collect();
            let Some(slot) = self.ledger.groups.get_mut(group as usize) else {
                continue;
            };
            if !done.is_empty() {
                let path = slot.title.split(" — ").next().unwrap_or_default().to_owned();
                slot.title = format!("{path} — {}", done.join(", "));
            }
            let is_changed = record.edits + record.writes > 0;
            if is_changed {
                self.heading(record.last, group, super::Source::Read, FILE_WORTH);
            }
        }
    }
}

impl Step {
    /// How a line begins that tells that this step failed.
    fn blocker(&self) -> String {
        match self.act {
            Act::Run => format!("- `{}`: ", first_line(&self.target, 160)),
            _ => format!("- {} {}: ", self.tool, first_line(&self.target, 160)),
        }
    }

    /// What it does that can be done again in another way: the programs of a command line, the last of which is the one
    /// that failed; the name of a file, which may be written elsewhere.
    fn parts(&self) -> Vec<&str> {
        match self.act {
            Act::Run => shell::invocations(&self.target).collect(),
            Act::Write | Act::Edit => self.target.rsplit('/').next().into_iter().collect(),
            _ => Vec::new(),
        }
    }

    /// The first words of a command; nothing for other calls, which no command settles.
    fn program(&self) -> [&str; 2] {
        let mut words = self.target.split_whitespace().filter(|_| self.act == Act::Run);
        [words.next().unwrap_or_default(), words.next().unwrap_or_default()]
    }
}

/// What a commit says of itself: `[branch 1234567] subject`.
fn commit_line(line: &str) -> Option<String> {
    let (inside, subject) = line.strip_prefix('[')?.split_once("] ")?;
    let hash = inside.split_whitespace().next_back()?;
    (is_hash(hash) && inside.contains(' ')).then(|| format!("{hash} {}", first_line(subject, 120)))
}

/// How much a commit changed, off the line that sums it up: ` 8 files changed, 998 insertions(+), 4 deletions(-)`.
fn size_of_commit(line: &str) -> Option<String> {
    let mut parts = line.trim().split(", ");
    let (files, _) = parts.next()?.split_once(" changed")?;
    let (count, unit) = files.split_once(' ')?;
    let is_size = count.bytes().all(|byte| byte.is_ascii_digit()) && unit.starts_with("file");
    let changes = parts.filter_map(|part| {
        let (count, kind) = part.split_once(' ')?;
        let sign = if kind.starts_with("insertion") { '+' } else { '-' };
        Some(format!(", {sign}{count}"))
    });
    is_size.then(|| changes.fold(files.to_owned(), |size, change| size + &change))
}

/// The line of a log that shows a commit: `1234567 subject`.
fn logged_commit(line: &str) -> Option<String> {
    let (hash, subject) = line.split_once(' ')?;
    is_hash(hash).then(|| format!("{hash} {}", first_line(subject, 120)))
}

fn is_hash(word: &str) -> bool {
    (7..=40).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::commit_line;

    #[test]
    fn commits_are_read_off_their_own_words() {
        assert_eq!(commit_line("[main 1a2b3c4] Mend it"), Some("1a2b3c4 Mend it".to_owned()));
        assert_eq!(commit_line("[dev/x (root-commit) 1a2b3c4d] First"), Some("1a2b3c4d First".to_owned()));
        assert_eq!(commit_line("[lint:go] 0 issues."), None);
        assert_eq!(commit_line("[1] done"), None);
        assert_eq!(super::logged_commit("1a2b3c4 Mend it"), Some("1a2b3c4 Mend it".to_owned()));
        assert_eq!(super::logged_commit("50 passed, 1 warning"), None);
    }
}
