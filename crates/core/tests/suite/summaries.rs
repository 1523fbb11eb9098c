//! Summaries that clients make themselves: they are the conversation's state, and their facts outlive our folds.

use crate::common::kit::observe_usage;
use crate::common::kit::{appended, log, manual, policy, run_with};
use crate::common::reading::{said, section};
use crate::common::writer::{Call, Writer};
use foldline_core::Outcome;
use foldline_core::handoff::record;
use foldline_core::{Format, SessionState};
use foldline_transcript::validate::validate;
use foldline_transcript::wire;

/// What every summary below says, in one form or another.
const FACTS: [&str; 6] =
    ["MAX_PARCELS = 4171", "port 7319", "PARC-812", "src/label/print.rs", "zstd over gzip", "E0417"];

const CLAUDE_CODE: &str = "This session is being continued from a previous conversation that ran out of context. The summary below \
covers the earlier portion of the conversation.

Summary:
1. Primary Request and Intent:
   The user wants the parcel importer rebuilt so that no cent is lost. The importer reads parcels from a queue and writes ledgers.

2. Key Technical Concepts:
   - Amounts are integers of cents
   - The limit is `MAX_PARCELS = 4171`, measured on the staging queue

3. Files and Code Sections:
   - src/label/print.rs
      - Prints the labels; was changed to take a reference
   - src/import/parse.rs
      - Reads a parcel:
      ```rust
      pub fn parse_parcel(line: &str) -> Option<Parcel>
      ```

4. Errors and fixes:
   - The queue refused connections until port 7319 was opened
   - error E0417 in the label printer is not understood yet

5. Problem Solving:
   Decided for zstd over gzip because the archive is read more often than written.

6. All user messages:
   - \"Rebuild the parcel importer.\"
   - \"From now on answer in German.\"

7. Pending Tasks:
   - Port the label printer (PARC-812)

8. Current Work:
   The parser is done; its tests pass.

If you need specific details from before compaction, read the full transcript at: /home/dev/.claude/projects/app/ab12.jsonl
Please continue the conversation from where we left it off without asking the user any further questions.";

const CODEX: &str = "Another language model started to solve this problem and produced a summary of its thinking process. You also have \
access to the state of the tools that were used by that language model. Use this to build on the work that has already been done and avoid \
duplicating work. Here is the summary produced by the other language model, use the information in this summary to assist with your own analysis:
The importer is rebuilt up to the parser. The limit is MAX_PARCELS = 4171, measured on the staging queue, which listens on port 7319. \
We chose zstd over gzip because the archive is read more often than written.

src/label/print.rs still fails with E0417. What remains: port the label printer (PARC-812).";

const PI: &str = "The conversation history before this point was compacted into the following summary:

<summary>
## Goal
Rebuild the parcel importer so that no cent is lost.

## Constraints & Preferences
- From now on answer in German.

## Progress
### Done
- [x] Parser; the limit is `MAX_PARCELS = 4171`
### In Progress
- [ ] The label printer
### Blocked
- error E0417 in src/label/print.rs

## Key Decisions
- **Archive**: zstd over gzip, because it is read more often than written

## Next Steps
1. Port the label printer (PARC-812)

## Critical Context
- The staging queue listens on port 7319

<modified-files>
src/label/print.rs
</modified-files>
</summary>";

const HERMES: &str = "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted into the summary below.

## Active Task
User asked: 'Rebuild the parcel importer'

## Goal
Rebuild the parcel importer so that no cent is lost.

## Completed Actions
1. EDIT src/label/print.rs — takes a reference now [tool: patch]
2. RUN cargo test — limit MAX_PARCELS = 4171 holds [tool: terminal]

## Active State
The staging queue listens on port 7319.

## Blocked
error E0417 in the label printer

## Key Decisions
zstd over gzip because the archive is read more often than written.

## Remaining Work
- Port the label printer (PARC-812)

--- END OF CONTEXT SUMMARY — respond to the message below, not the summary above ---";

const OPENCODE: &str = "## Objective
Rebuild the parcel importer so that no cent is lost.

## Important Details
- The limit is `MAX_PARCELS = 4171`; the staging queue listens on port 7319.
- zstd over gzip because the archive is read more often than written.

## Work State
The parser is done. error E0417 is open.

## Next Move
Port the label printer (PARC-812).

## Relevant Files
- src/label/print.rs: the label printer";

const GEMINI: &str = "<state_snapshot>
    <overall_goal>
        Rebuild the parcel importer so that no cent is lost.
    </overall_goal>
    <key_knowledge>
        - The limit is `MAX_PARCELS = 4171`.
        - The staging queue listens on port 7319.
        - zstd over gzip because the archive is read more often than written.
    </key_knowledge>
    <file_system_state>
        - MODIFIED: `src/label/print.rs` (error E0417 is open)
    </file_system_state>
    <task_state>
        1. [DONE] Parser
        2. [TODO] Port the label printer (PARC-812)
    </task_state>
</state_snapshot>";

/// Who made a summary, and how their conversation goes on with it.
fn clients() -> Vec<(&'static str, Writer)> {
    let begun = |format: Format| {
        let mut writer = Writer::new(format);
        writer.system = Some("You are a careful engineer.".to_owned());
        writer
    };
    let with = |format: Format, summary: &str| {
        let mut writer = begun(format);
        writer.user(summary).assistant("I go on.");
        writer
    };
    let mut opencode = begun(Format::OpenAiChat);
    opencode.user("What did we do so far?").assistant(OPENCODE);
    opencode
        .user("Continue if you have next steps, or stop and ask for clarification if you are unsure how to proceed.");
    opencode.assistant("I go on.");
    let mut codex = begun(Format::OpenAiResponses);
    codex.user("Rebuild the parcel importer.").user(CODEX).assistant("I go on.");
    let mut gemini = begun(Format::OpenAiChat);
    gemini.user(GEMINI).assistant("Got it. Thanks for the additional context!");
    let merged = HERMES.replace(
        "[CONTEXT COMPACTION",
        "[PRIOR CONTEXT — for reference only; not a new message]\nKeep the tests green.\n\n[END OF PRIOR CONTEXT — COMPACTION \
         SUMMARY BELOW]\n\n[CONTEXT COMPACTION",
    );
    vec![
        ("claude code", with(Format::Anthropic, CLAUDE_CODE)),
        ("codex", codex),
        ("pi", with(Format::Anthropic, PI)),
        ("hermes", with(Format::OpenAiChat, HERMES)),
        ("hermes, merged", with(Format::OpenAiChat, &merged)),
        ("opencode", opencode),
        ("gemini", gemini),
    ]
}

fn handoff_of(format: Format, body: &str) -> String {
    let texts = said(format, body).into_iter().flat_map(|said| said.texts);
    let mut ours = texts.filter(|text| record(text).is_some_and(|found| found.text.starts_with("[FOLDLINE")));
    ours.next().expect("a handoff")
}

#[test]
fn facts_of_the_clients_own_summary_outlive_three_folds() {
    for (client, writer) in clients() {
        let format = writer.format;
        let mut body = writer.document();
        let mut state = SessionState::default();
        for fold in 0..3_u32 {
            for turn in 0..3 {
                let seed = fold * 10 + turn;
                body = appended(&body, format, &format!("call_{seed}"), |writer| {
                    writer.user(&format!("Step {seed}: convert module_{seed}.py, please."));
                    (0..3).for_each(|round| {
                        let number = seed * 10 + round;
                        writer.call(Call::run(&format!("make part-{number}"), log(40, number)));
                    });
                    writer.assistant(&format!("Step {seed} is done."));
                });
            }
            let done = run_with(&body, &policy(60_000), &state, &manual(format));
            assert_eq!(done.plan.outcome, Outcome::Folded, "{client}: {}", done.plan.reason);
            state = done.state.clone();
            let after = done.plan.tokens.after;
            observe_usage(&mut state, &done.budgets, after, done.messages.1, after);
            state.usage = None;
            body = done.body.to_string();
            let sound = wire::read(&body, Some(format)).unwrap();
            assert_eq!(validate(&sound), vec![], "{client}");
            let handoff = handoff_of(format, &body);
            for fact in FACTS {
                assert!(handoff.contains(fact), "{client}, fold {fold}: {fact} is forgotten\n{handoff}");
            }
            let goal = section(&handoff, "Goal");
            assert!(goal.contains("parcel importer"), "{client}, fold {fold}: {goal}");
            for words in
                ["What did we do so far?", "Please continue the conversation", "produced a summary", "state_snapshot"]
            {
                assert!(!body.contains(words), "{client}, fold {fold}: {words}\n{handoff}");
            }
            assert!(done.plan.fold.as_ref().unwrap().iterative, "{client}: it updates the client's summary");
        }
    }
}

/// Hermes keeps the first request before its summary and counts what later ones added among the goal.
#[test]
fn what_a_summary_adds_to_the_first_request_stays() {
    let summary = HERMES
        .replace("so that no cent is lost.", "so that no\ncent is lost. The release notes must name ticket NOTE-5512.");
    let mut writer = Writer::new(Format::OpenAiChat);
    writer.user("Rebuild the parcel importer so that no cent is lost.").assistant("I begin.");
    writer.user(&summary).assistant("I go on.");
    let mut body = writer.document();
    let mut state = SessionState::default();
    for fold in 0..3_u32 {
        body = appended(&body, Format::OpenAiChat, &format!("call_{fold}"), |writer| {
            writer.user(&format!("Step {fold}, please."));
            (0..6).for_each(|round| {
                writer.call(Call::run(&format!("make part-{round}"), log(40, fold * 10 + round)));
            });
        });
        let mut policy = policy(60_000);
        policy.compression.protect_first_n = 0;
        let done = run_with(&body, &policy, &state, &manual(Format::OpenAiChat));
        state = SessionState { usage: None, ..done.state.clone() };
        body = done.body.to_string();
        let handoff = handoff_of(Format::OpenAiChat, &body);
        assert_eq!(handoff.matches("NOTE-5512").count(), 1, "fold {fold}: {handoff}");
        assert!(section(&handoff, "Goal").contains("parcel importer"), "{handoff}");
    }
}

#[test]
fn headings_of_clients_are_read_as_ours() {
    for (client, summary, title, words) in [
        ("claude code", CLAUDE_CODE, "Remaining Work", "PARC-812"),
        ("pi", PI, "Constraints & Preferences", "answer in German"),
        ("pi", PI, "Key Decisions", "zstd over gzip"),
        ("pi", PI, "Remaining Work", "PARC-812"),
        ("gemini", GEMINI, "Remaining Work", "PARC-812"),
        ("hermes", HERMES, "Key Decisions", "zstd over gzip"),
        // The user's own words in a summary lay down rules as they do anywhere.
        ("claude code", CLAUDE_CODE, "Constraints & Preferences", "answer in German"),
    ] {
        let mut writer = Writer::new(Format::OpenAiChat);
        writer.user(summary).assistant("I go on.");
        for round in 0..20 {
            writer.user(&format!("Step {round}, please.")).call(Call::run("make", log(40, round)));
            writer.assistant("Done.");
        }
        let done = run_with(&writer.document(), &policy(60_000), &SessionState::default(), &manual(Format::OpenAiChat));
        let handoff = handoff_of(Format::OpenAiChat, &done.body);
        assert!(section(&handoff, title).contains(words), "{client}: {title}\n{handoff}");
    }
}

#[test]
fn an_encrypted_compaction_item_stays() {
    let format = Format::OpenAiResponses;
    let item = r#"{"type":"compaction","id":"cmp_1","encrypted_content":"AAAA"}"#;
    let mut writer = Writer::new(format);
    writer.user("Rebuild the parcel importer.").raw(item);
    for round in 0..20 {
        writer.user(&format!("Step {round}, please.")).call(Call::run("make", log(40, round)));
        writer.assistant("Done.");
    }
    let mut body = writer.document();
    for fold in 0..2 {
        body = appended(&body, format, &format!("more_{fold}"), |writer| {
            for round in 0..10 {
                writer.user(&format!("Then {round}, please.")).call(Call::run("make", log(40, round)));
                writer.assistant("Done.");
            }
        });
        let done = run_with(&body, &policy(60_000), &SessionState::default(), &manual(format));
        assert_eq!(done.plan.outcome, Outcome::Folded);
        body = done.body.to_string();
        assert!(body.contains(item), "fold {fold}: the state that only the provider can read is gone");
    }
}

#[test]
fn somebody_who_asks_what_was_done_is_a_person() {
    let format = Format::OpenAiChat;
    let mut writer = Writer::new(format);
    for round in 0..20 {
        writer.user(&format!("Step {round}, please.")).call(Call::run("make", log(40, round)));
        writer.assistant("Done.");
    }
    writer.user("What did we do so far?");
    let done = run_with(&writer.document(), &policy(60_000), &SessionState::default(), &manual(format));
    let handoff = handoff_of(format, &done.body);
    assert!(section(&handoff, "Active Task").contains("What did we do so far?"), "{handoff}");
}
