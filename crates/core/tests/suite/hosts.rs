//! What hosts write into the user's turn: standing context outlives every fold, verbatim and once.

use crate::common::kit::observe_usage;
use crate::common::kit::{appended, log, manual, policy, run_with, within};
use crate::common::reading::{said, section};
use crate::common::writer::{Call, Writer, quoted};
use foldline_core::Outcome;
use foldline_core::handoff::record;
use foldline_core::{Compaction, Format, Report, SessionState};
use foldline_transcript::validate::validate;
use foldline_transcript::wire;

/// A conversation that a host began.
struct Hosted {
    format: Format,
    body: String,
    state: SessionState,
    turn: u32,
}

const SKILLS: &str = "<system-reminder>\nThe following skills are available for use with the Skill tool:\n\n- tidy: tidies imports\n- release: cuts a release\n</system-reminder>";
const TOOLS: &str = "<system-reminder>\nThe following deferred tools are now available via ToolSearch:\nWebFetch\nNotebookEdit\n</system-reminder>";
const REQUEST: &str = "Rebuild the parcel importer step by step.";

fn memory(version: u32) -> String {
    format!(
        "<system-reminder>\nAs you answer the user's questions, you can use the following context:\n# claudeMd\nCodebase and \
         user instructions are shown below.\n\nContents of /srv/app/CLAUDE.md:\n\n# Rules {version}\n- Money is counted in cents.\n\
         - Reminders look like `<system-reminder>x</system-reminder>`.\n</system-reminder>"
    )
}

fn environment(folder: &str) -> String {
    format!("<environment_context>\n  <cwd>{folder}</cwd>\n  <shell>bash</shell>\n</environment_context>")
}

const AGENTS: &str =
    "# AGENTS.md instructions for /srv/app\n\n<INSTRUCTIONS>\nMoney is counted in cents.\n</INSTRUCTIONS>";

fn blocks(kind: &str, texts: &[&str]) -> String {
    let blocks: Vec<String> =
        texts.iter().map(|text| format!(r#"{{"type":"{kind}","text":{}}}"#, quoted(text))).collect();
    format!("[{}]", blocks.join(","))
}

impl Hosted {
    fn start(format: Format, begin: impl Fn(&mut Writer)) -> Hosted {
        let mut writer = Writer::new(format);
        writer.system = Some("You are a careful engineer.".to_owned());
        begin(&mut writer);
        Hosted { format, body: writer.document(), state: SessionState::default(), turn: 0 }
    }

    fn claude_code(memory: &str) -> Hosted {
        let first = blocks("text", &[SKILLS, TOOLS, memory, REQUEST]);
        Hosted::start(Format::Anthropic, |writer| {
            writer.raw(format!(r#"{{"role":"user","content":{first}}}"#));
            writer.assistant("I look at it.");
        })
    }

    fn codex() -> Hosted {
        let context = blocks("input_text", &[AGENTS, &environment("/srv/app")]);
        Hosted::start(Format::OpenAiResponses, |writer| {
            writer.raw(r#"{"type":"message","role":"developer","content":[{"type":"input_text","text":"<permissions instructions>ask</permissions instructions>"}]}"#);
            writer.raw(format!(r#"{{"type":"message","role":"user","content":{context}}}"#));
            writer.user(REQUEST);
            writer.assistant("I look at it.");
        })
    }

    fn append(&mut self, add: impl Fn(&mut Writer)) {
        self.body = appended(&self.body, self.format, &format!("call_{}", self.turn), add);
        self.turn += 1;
    }

    /// A turn of the user, with what the host puts before their words.
    fn work(&mut self, before: &str) {
        let turn = self.turn;
        self.append(|writer| {
            writer.user(&format!("{before}Step {turn}: convert module_{turn}.py, please."));
            for round in 0..3 {
                let seed = turn * 10 + round;
                writer.call(Call::run(&format!("make part-{seed}"), log(40, seed)));
            }
            writer.assistant(&format!("Step {turn} is done."));
        });
    }

    fn fold(&mut self) -> Compaction<'static> {
        let done = run_with(&self.body, &policy(60_000), &self.state, &manual(self.format));
        assert_eq!(done.plan.outcome, Outcome::Folded, "{}", done.plan.reason);
        self.state = done.state.clone();
        let after = done.plan.tokens.after;
        observe_usage(&mut self.state, &done.budgets, after, done.messages.1, after);
        self.state.usage = None;
        self.body = done.body.to_string();
        let sound = wire::read(&self.body, Some(self.format)).unwrap();
        assert_eq!(validate(&sound), vec![], "{}", self.body);
        done
    }

    fn turns_and_fold(&mut self) -> Compaction<'static> {
        (0..3).for_each(|_| self.work(""));
        self.fold()
    }

    /// Everything that messages say, as one text.
    fn words(&self) -> String {
        said(self.format, &self.body).into_iter().flat_map(|said| said.texts).collect::<Vec<_>>().join("\n\u{0}\n")
    }

    fn handoff(&self) -> String {
        let texts = said(self.format, &self.body).into_iter().flat_map(|said| said.texts);
        texts.filter_map(|text| record(&text).map(|found| found.text.to_owned())).next().expect("a handoff")
    }

    fn assert_holds(&self, pieces: &[&str], when: &str) {
        let words = self.words();
        for piece in pieces {
            assert_eq!(words.matches(piece).count(), 1, "{}, {when}: {piece}\n{words}", self.format);
        }
        let handoff = self.handoff();
        for (title, words) in [("Goal", "system-reminder"), ("Goal", "AGENTS.md"), ("Active Task", "claudeMd")] {
            assert!(!section(&handoff, title).contains(words), "{}, {when}: {handoff}", self.format);
        }
        assert!(!handoff.contains("Money is counted in cents"), "{}, {when}: {handoff}", self.format);
    }
}

#[test]
fn memory_files_skills_and_tools_outlive_every_fold() {
    let memory = memory(1);
    let mut hosted = Hosted::claude_code(&memory);
    for fold in 0..5 {
        let done = hosted.turns_and_fold();
        hosted.assert_holds(&[&memory, SKILLS, TOOLS], &format!("fold {fold}"));
        let report = Report::of(&done).handoff.unwrap();
        assert_eq!(report.context > 0, fold > 0, "the first fold leaves them in the head, fold {fold}");
    }
    assert!(section(&hosted.handoff(), "Goal").contains("Rebuild the parcel importer"));
}

#[test]
fn instructions_and_environment_of_codex_outlive_every_fold() {
    let mut hosted = Hosted::codex();
    for fold in 0..5 {
        hosted.turns_and_fold();
        hosted.assert_holds(&[AGENTS, &environment("/srv/app")], &format!("fold {fold}"));
    }
    assert!(section(&hosted.handoff(), "Goal").contains("Rebuild the parcel importer"));
}

#[test]
fn a_newer_version_replaces_the_older_wherever_it_comes() {
    let mut hosted = Hosted::codex();
    hosted.turns_and_fold();
    hosted.turns_and_fold();
    // In the middle of the next fold.
    let moved = environment("/srv/other");
    hosted.append(|writer| {
        _ = writer.raw(format!(r#"{{"type":"message","role":"user","content":{}}}"#, blocks("input_text", &[&moved])))
    });
    hosted.turns_and_fold();
    hosted.assert_holds(&[AGENTS, &moved], "after a move");
    assert!(!hosted.words().contains("<cwd>/srv/app</cwd>"));

    // In the tail: what stays there is not carried.
    let mut hosted = Hosted::claude_code(&memory(1));
    hosted.turns_and_fold();
    hosted.turns_and_fold();
    (0..3).for_each(|_| hosted.work(""));
    hosted.work(&format!("{}\n", memory(2)));
    hosted.fold();
    hosted.assert_holds(&[&memory(2), SKILLS], "newer in the tail");
    assert!(!hosted.words().contains("# Rules 1"));
    hosted.turns_and_fold();
    hosted.assert_holds(&[&memory(2), SKILLS], "newer folded");
    assert!(!hosted.words().contains("# Rules 1"));
}

/// Claude Code sends the memory file of a folder when the agent first reads there.
#[test]
fn memory_files_of_folders_that_come_later_outlive_every_fold() {
    let of = |folder: &str, rule: &str| {
        format!("<system-reminder>\nContents of /srv/app/{folder}/CLAUDE.md:\n\n# Rules\n- {rule}\n</system-reminder>")
    };
    let [one, two, newer] = [
        of("part1", "Invoices never change."),
        of("part2", "Parcels are weighed in grams."),
        of("part1", "Invoices may be cancelled."),
    ];
    let mut hosted = Hosted::claude_code(&memory(1));
    hosted.turns_and_fold();
    hosted.work(&format!("{one}\n"));
    hosted.work(&format!("{two}\n"));
    for fold in 0..3 {
        hosted.turns_and_fold();
        hosted.assert_holds(&[&memory(1), &one, &two], &format!("fold {fold}"));
    }
    hosted.work(&format!("{newer}\n"));
    hosted.turns_and_fold();
    hosted.turns_and_fold();
    hosted.assert_holds(&[&memory(1), &newer, &two], "a newer version of one");
    assert!(!hosted.words().contains("never change"));
}

/// Claude Code tells of a memory file that changes in the middle by its new lines.
#[test]
fn what_changed_in_a_memory_file_outlives_every_fold_and_other_changes_pass() {
    let note = |path: &str, line: &str| {
        format!(
            "<system-reminder>\nNote: {path} changed on disk since you last read it. That's usually deliberate, so take it as the current \
             state. Here are the relevant changes (shown with line numbers):\n5\t- {line}\n</system-reminder>"
        )
    };
    let mut hosted = Hosted::claude_code(&memory(1));
    hosted.turns_and_fold();
    let first = note("/srv/app/CLAUDE.md", "Tag releases on Fridays.");
    hosted.work(&format!("{first}\n"));
    hosted.work(&format!("{}\n", note("/srv/app/src/a.rs", "let x = 1;")));
    for fold in 0..2 {
        hosted.turns_and_fold();
        hosted.assert_holds(&[&memory(1), &first], &format!("fold {fold}"));
        assert!(!hosted.words().contains("src/a.rs changed"), "{}", hosted.words());
    }
    let second = note("/srv/app/CLAUDE.md", "Tag releases on Mondays.");
    hosted.work(&format!("{second}\n"));
    hosted.turns_and_fold();
    hosted.turns_and_fold();
    hosted.assert_holds(&[&memory(1), &second], "a newer note");
    assert!(!hosted.words().contains("Fridays"));
}

#[test]
fn a_list_that_only_tells_what_was_added_stands_beside_the_first() {
    let mut hosted = Hosted::claude_code(&memory(1));
    hosted.turns_and_fold();
    let added = TOOLS.replace("WebFetch\nNotebookEdit", "mcp__tickets__search");
    hosted.work(&format!("{added}\n"));
    hosted.turns_and_fold();
    hosted.turns_and_fold();
    hosted.assert_holds(&[TOOLS, &added], "an addition");
    let all = TOOLS.replace("WebFetch\n", "WebFetch\nmcp__tickets__search\n");
    hosted.work(&format!("{all}\n"));
    hosted.turns_and_fold();
    hosted.turns_and_fold();
    hosted.assert_holds(&[&all], "the whole list again");
    assert!(!hosted.words().contains(TOOLS));
}

#[test]
fn hosts_that_nobody_knows_are_recognised_by_their_place_and_form() {
    let notes = "<project-notes>\nMoney is counted in cents.\n</project-notes>";
    for format in [Format::OpenAiChat, Format::Anthropic, Format::OpenAiResponses, Format::ShareGpt] {
        let mut hosted = Hosted::start(format, |writer| {
            writer.user(&format!("{notes}\n\n{REQUEST}"));
            writer.assistant("I look at it.");
        });
        for fold in 0..4 {
            hosted.turns_and_fold();
            hosted.assert_holds(&[notes], &format!("fold {fold}"));
        }
        assert!(section(&hosted.handoff(), "Goal").contains("Rebuild the parcel importer"), "{}", hosted.handoff());
    }
    // A wrapper with nothing beside it is what the user has to say.
    let mut hosted = Hosted::start(Format::OpenAiChat, |writer| {
        writer.user("<issue-text>\nThe importer loses cents when a parcel is split.\n</issue-text>");
        writer.assistant("I look at it.");
    });
    (0..3).for_each(|_| _ = hosted.turns_and_fold());
    assert!(section(&hosted.handoff(), "Goal").contains("loses cents"), "{}", hosted.handoff());
}

#[test]
fn a_set_up_message_of_its_own_is_no_request() {
    let set_up = "This is the Gemini CLI. We are setting up the context for our chat.\nToday's date is Monday.\nMoney is counted in cents.";
    let mut hosted = Hosted::start(Format::OpenAiChat, |writer| {
        writer.user(set_up).assistant("Got it. Thanks for the context!").user(REQUEST).assistant("I look at it.");
    });
    for fold in 0..4 {
        hosted.turns_and_fold();
        hosted.assert_holds(&[set_up], &format!("fold {fold}"));
    }
    assert!(section(&hosted.handoff(), "Goal").contains("Rebuild the parcel importer"), "{}", hosted.handoff());
}

#[test]
fn notes_of_the_moment_pass() {
    let todo = "<system-reminder>\nThis is a reminder that your todo list is currently empty.\n</system-reminder>";
    let mut hosted = Hosted::start(Format::Anthropic, |writer| {
        writer.raw(format!(r#"{{"role":"user","content":{}}}"#, blocks("text", &[todo, REQUEST])));
        writer.assistant("I look at it.");
    });
    hosted.turns_and_fold();
    hosted.work(
        "<system-reminder>\nNote: src/a.rs was modified, either by the user or by a linter.\n</system-reminder>\n",
    );
    hosted.turns_and_fold();
    hosted.turns_and_fold();
    let words = hosted.words();
    assert!(!words.contains("todo list") && !words.contains("by a linter"), "{words}");
}

#[test]
fn what_has_no_room_is_left_out_with_a_word() {
    let huge = memory(1).replace("cents.\n", &format!("cents.\n{}", log(400, 7)));
    let mut hosted = Hosted::claude_code(&huge);
    (0..4).for_each(|_| hosted.work(""));
    let all = crate::common::kit::tokens(&hosted.body, hosted.format);
    let size = crate::common::kit::tokens(&Hosted::claude_code(&huge).body, hosted.format);
    let roomy =
        run_with(&hosted.body, &policy(200_000), &SessionState::default(), &within(hosted.format, size + 2_000));
    assert!(said(hosted.format, &roomy.body).iter().any(|said| said.texts.iter().any(|text| text.contains(&huge))));
    assert!(size + 2_000 < all && roomy.plan.warnings.is_empty(), "{:?}", roomy.plan.warnings);
    let tight = run_with(&hosted.body, &policy(200_000), &SessionState::default(), &within(hosted.format, size / 2));
    assert!(!tight.body.contains("Money is counted"));
    assert!(
        tight.plan.warnings.iter().any(|warning| warning.contains("standing context")),
        "{:?}",
        tight.plan.warnings
    );
}

#[test]
fn a_request_that_is_carried_keeps_what_its_host_wrote_and_no_second_copy() {
    // One request, and work for hours.
    let memory = memory(1);
    for merged in [false, true] {
        let mut hosted = Hosted::claude_code(&memory);
        if merged {
            hosted.body = hosted.body.replace(r#",{"role":"assistant","content":"I look at it."}"#, "");
        }
        for fold in 0..4 {
            hosted.append(|writer| {
                for round in 0..8 {
                    writer.call(Call::run(&format!("make part-{fold}-{round}"), log(40, fold * 10 + round)));
                }
            });
            hosted.fold();
            hosted.assert_holds(&[&memory, SKILLS], &format!("fold {fold}"));
        }
        hosted.append(|writer| _ = writer.assistant("The importer is rebuilt."));
        hosted.turns_and_fold();
        hosted.turns_and_fold();
        hosted.assert_holds(&[&memory, SKILLS], "after the next requests");
    }
}
