//! Handoffs that a model writes: what it is asked, what its words become, what happens when it fails.

use crate::common::kit::{job, manual, policy, run, run_with, session, tokens};
use crate::common::reading::section;
use crate::common::writer::{Call, Layout};
use foldline_core::Outcome;
use foldline_core::policy::Preset;
use foldline_core::report::Author;
use foldline_core::summary::{Ask, BadReply, Failure, FailureClass, PrefixCall, Route, Summary, SummaryJob, Written};
use foldline_core::tokens::Counter;
use foldline_core::{Compaction, Format, Policy, Report, SessionState, Trigger};

const CHAT: Format = Format::OpenAiChat;
const NOW: i64 = 1_800_000_000_000;

fn with_model(window: u64) -> Policy {
    let mut policy = policy(window);
    policy.summarizer.url = Some("http://127.0.0.1:1/v1".to_owned());
    policy.summarizer.model = Some("small".to_owned());
    policy
}

/// A session above its trigger, and the policy under which it is.
fn case() -> (String, Policy) {
    let text = session(CHAT, 10, 3, 30).document();
    let mut policy = with_model(tokens(&text, CHAT) * 2 - 2);
    // Nothing can be pruned, so that it is a fold that is wanted.
    policy.compression.prune_above = 1_000_000;
    (text, policy)
}

fn summary_job(text: &str, policy: &Policy, with: &foldline_core::Job) -> SummaryJob {
    run(text, policy, with).summary_job.expect("a model is wanted")
}

fn prompt(job: &SummaryJob) -> String {
    match job.start().ask() {
        Some(Ask::Prompt { user, .. }) => user,
        other => panic!("{other:?}"),
    }
}

/// What becomes of a reply to a job of one prompt.
fn written(job: &SummaryJob, reply: &str) -> Result<Written, BadReply> {
    let mut writer = job.start();
    writer.reply(reply)?;
    Ok(writer.finish().expect("one prompt is all"))
}

/// The handoff in which a reply ends up.
fn folded(reply: &str) -> (Compaction<'static>, String) {
    let (text, policy) = case();
    let words = written(&summary_job(&text, &policy, &manual(CHAT)), reply).unwrap();
    let mut answered = manual(CHAT);
    answered.request.summary = Some(Summary::Written(words));
    let done = run(&text, &policy, &answered);
    let handoff = done.plan.fold.as_ref().unwrap().handoff.text.clone();
    (done, handoff)
}

fn failed(text: &str, policy: &Policy, class: FailureClass, trigger: Trigger) -> Compaction<'static> {
    let mut job = job(CHAT);
    job.request.trigger = trigger;
    job.request.now_ms = Some(NOW);
    job.request.summary = Some(Summary::Failed(Failure::new(class, "something broke")));
    run(text, policy, &job)
}

#[test]
fn the_prompt_carries_focus_day_memory_budget_and_the_users_own_way_of_writing() {
    let (text, policy) = case();
    let mut job = manual(CHAT);
    job.request.focus = Some("the database schema".to_owned());
    job.request.today = Some("2026-11-16".to_owned());
    job.request.memory = Some("Ann signs off every release.".to_owned());
    let made = summary_job(&text, &policy, &job);
    let prompt = prompt(&made);
    for expected in [
        "the database schema",
        "65 %",
        "2026-11-16",
        "Ann signs off",
        "The user began with this request",
        "newest request",
        "## Goal",
    ] {
        assert!(prompt.contains(expected), "{expected}: {prompt}");
    }
    let words = (f64::from(made.budget) * 0.62) as u32;
    assert!(prompt.contains(&format!("at most {words} words")), "{prompt}");
    assert!(!prompt.contains("## Relevant Files"), "what is recorded without a model is not asked for");
}

#[test]
fn r8_the_summariser_reads_the_story_with_what_outputs_said() {
    let (text, policy) = case();
    let prompt = prompt(&summary_job(&text, &policy, &manual(CHAT)));
    assert!(prompt.matches("make step-").count() > 10, "{prompt}");
    assert!(prompt.contains("\n1. User: ") && prompt.contains("## Completed Actions"), "{prompt}");
    let outputs = prompt.lines().filter(|line| line.starts_with("     ")).map(str::len).sum::<usize>();
    assert!(outputs > 2_000, "{outputs} characters of outputs");
}

#[test]
fn what_a_model_says_of_a_request_stands_with_it_also_after_the_next_fold() {
    let (done, handoff) =
        folded("## Completed Actions\n- 2: Part 2 was mended by turning it round.\n- 99: Nobody asked.\n");
    let actions = section(&handoff, "Completed Actions");
    let second = actions.find("2. User").unwrap();
    let third = actions.find("3. User").unwrap();
    assert!(actions[second..third].contains("- In short: Part 2 was mended by turning it round."), "{actions}");
    let (_, policy) = case();
    let mut again = manual(CHAT);
    again.request.summary = Some(Summary::Failed(Failure::new(FailureClass::BadReply, "")));
    let longer = join(&done.body, &session(CHAT, 6, 3, 30).document());
    let next = run(&longer, &policy, &again).plan.fold.unwrap().handoff.text;
    assert!(next.contains("- In short: Part 2 was mended by turning it round."), "{next}");
}

#[test]
fn where_a_model_writes_too_much_the_outcome_of_the_newest_requests_stays() {
    let outcome = |request: usize| {
        let details: Vec<String> = (0..40).map(|detail| format!("wheel {request}{detail:02}")).collect();
        format!("- {request}: Part {request} was mended by turning {}.\n", details.join(", "))
    };
    let reply: String = (1..=10).map(outcome).collect();
    let (_, handoff) = folded(&format!("## Completed Actions\n{reply}"));
    let kept: Vec<usize> = (1..=10).filter(|n| handoff.contains(&format!("Part {n} was mended"))).collect();
    assert!(!kept.is_empty() && kept.len() < 10, "the reply is larger than its share: {kept:?}");
    assert_eq!(kept, (11 - kept.len()..=10).collect::<Vec<_>>(), "{handoff}");
}

/// The messages of one conversation behind those of another.
fn join(one: &str, other: &str) -> String {
    let mut all: serde_json::Value = serde_json::from_str(one).unwrap();
    let other: serde_json::Value = serde_json::from_str(other).unwrap();
    let more = other["messages"].as_array().unwrap().iter().filter(|message| message["role"] != "system").cloned();
    all["messages"].as_array_mut().unwrap().extend(more);
    all.to_string()
}

#[test]
fn f2_a_model_s_words_stand_beside_every_section_and_the_recorded_facts() {
    let (done, handoff) = folded(
        "## Goal\n- Mend all parts before Friday.\n## Key Decisions\n- Parts go in order, because Ann said so.\n\
         ## Active State\nNone.\n## Remaining Work\n- The last part is open.\n",
    );
    assert!(section(&handoff, "Goal").contains("before Friday"), "{handoff}");
    assert!(section(&handoff, "Key Decisions").contains("because Ann said so"));
    assert!(section(&handoff, "Remaining Work").contains("The last part is open"));
    assert!(section(&handoff, "Completed Actions").contains("make step-"), "{handoff}");
    let report = Report::of(&done);
    assert_eq!(report.handoff.as_ref().unwrap().by, Author::Model);
    assert_eq!((report.summariser.calls, report.summariser.model.as_deref()), (1, Some("small")));
    for title in ["Goal", "Completed Actions", "Key Decisions", "Remaining Work"] {
        assert!(handoff.contains(&format!("## {title}\n")), "{title}");
    }
}

#[test]
fn a_chatty_model_cannot_crowd_out_what_is_known_for_certain() {
    let chatter: String = (0..4_000).map(|n| format!("- Remark number {n} about nothing in particular.\n")).collect();
    let (_, handoff) = folded(&format!("## Critical Context\n{chatter}"));
    let (text, policy) = case();
    let alone = run(&text, &policy, &{
        let mut job = manual(CHAT);
        job.request.summary = Some(Summary::Failed(Failure::new(FailureClass::BadReply, "")));
        job
    });
    let alone = alone.plan.fold.unwrap().handoff.text;
    let remarks = handoff.matches("Remark number").count();
    assert!(remarks > 0 && handoff.len() * 2 > remarks * 45 * 2, "{remarks} remarks in {} characters", handoff.len());
    let actions = |text: &str| section(text, "Completed Actions").lines().count();
    assert!(actions(&handoff) >= 6.min(actions(&alone)), "{handoff}");
    assert!(section(&handoff, "Goal").contains("User: "));
}

#[test]
fn replies_are_read_however_models_wrap_them() {
    let plain = "## Goal\n- Ship part nine.\n\n## Key Decisions\n- Keep it small, because time is short.\n";
    let odd = [
        format!("<think>\nLet me see… ## Goal - wrong\n</think>\n{plain}"),
        format!("hidden reasoning without a start</think>{plain}"),
        format!("```markdown\n{plain}```"),
        format!("Sure! Here is the record:\n\n{plain}"),
        plain.replace("## ", "### "),
        plain.replace("## Goal", "**Goal:**").replace("## Key Decisions", "**Key Decisions**"),
        plain.replace("## Goal", "1. Goal:").replace("## Key Decisions", "2. Key Decisions:"),
        plain.replace("## Key Decisions", "## Important technical decisions"),
        plain.replace("- ", "* "),
        plain.replace("\n", "\r\n"),
        format!(
            "{plain}\n## Key Decisions\n- Keep it small, because time is short.\n- Keep it small, because time is short.\n"
        ),
    ];
    for reply in odd {
        let (_, handoff) = folded(&reply);
        assert!(section(&handoff, "Goal").contains("- Ship part nine."), "{reply}\n→ {handoff}");
        assert_eq!(handoff.matches("because time is short").count(), 1, "{reply}\n→ {handoff}");
        assert!(!handoff.contains("Here is the record") && !handoff.contains("Let me see"), "{reply}");
    }
}

#[test]
fn headings_in_another_language_keep_their_order() {
    let titles = ["Ziel", "Vorgaben", "Erledigtes", "Laufendes", "Entscheidungen", "Offenes", "Genaue Werte"];
    let reply: String =
        titles.iter().enumerate().map(|(n, title)| format!("## {title}\n- Punkt {n} ist gesagt.\n")).collect();
    let (_, handoff) = folded(&reply);
    assert!(
        section(&handoff, "Goal").contains("Punkt 0") && section(&handoff, "Key Decisions").contains("Punkt 4"),
        "{handoff}"
    );
}

#[test]
fn replies_without_content_are_failures() {
    let (text, policy) = case();
    let job = summary_job(&text, &policy, &manual(CHAT));
    for (reply, expected) in [
        ("", BadReply::Empty),
        (" \n\t", BadReply::Empty),
        ("<think>I wonder and wonder", BadReply::NothingUsable),
        ("## Goal\nNone.\n## Key Decisions\nNone.\n", BadReply::NothingUsable),
        ("```\n```", BadReply::NothingUsable),
        ("## Blocked\n- **Known issues**: None.\n## Key Decisions\n- **What was decided?**\n", BadReply::NothingUsable),
    ] {
        assert_eq!(written(&job, reply), Err(expected), "{reply:?}");
    }
    let copied = prompt(&job);
    let (instruction, _) = copied.split_once("\nThe user began ").unwrap();
    assert_eq!(written(&job, instruction), Err(BadReply::NothingUsable), "a copy of the prompt says nothing");
}

#[test]
fn f9_invented_names_are_marked_and_invented_quotes_go() {
    let (done, handoff) = folded(
        "## Goal\n- The user said \"please paint the harbour bridge green\".\n- Mend part 9.\n\
         ## Critical Context\n- The cause is in src/imaginary/ghost.rs.\n- See https://invented.example/page for more.\n\
         - Commit deadbeef1234 broke it; and/or something else.\n- `make step-1` was run.\n",
    );
    assert!(!handoff.contains("harbour bridge"), "{handoff}");
    assert!(handoff.contains("src/imaginary/ghost.rs. [unverified]"), "{handoff}");
    assert!(
        handoff.contains("for more. [unverified]") && handoff.contains("something else. [unverified]"),
        "{handoff}"
    );
    assert!(handoff.contains("- Mend part 9.\n") && handoff.contains("`make step-1` was run.\n"), "{handoff}");
    assert_eq!(Report::of(&done).handoff.unwrap().unverified, 4);
}

#[test]
fn x1_a_secret_reaches_neither_the_prompt_nor_the_handoff() {
    let key = format!("{}{}", "ghp_", "R4nd0mR4nd0mR4nd0mR4nd0mR4nd0mR4nd0m");
    let password = format!("{}{}", "tr0ub4dor", "-and-3-horses");
    let mut writer = session(CHAT, 10, 3, 30);
    writer.user(&format!("Use the token {key} please."));
    writer.call(Call::run("cat .env", format!("DB_PASSWORD={password}\nexit 0")));
    writer.assistant("Done with it.");
    writer.user("Now go on with the rest.");
    let text = writer.document();
    let policy = with_model(tokens(&text, CHAT) * 2 - 2);
    let mut asked = manual(CHAT);
    asked.request.focus = Some(format!("the token {key}"));
    asked.request.memory = Some(format!("password: {password}"));
    let job = summary_job(&text, &policy, &asked);
    let prompt = prompt(&job);
    assert!(!prompt.contains(&key) && !prompt.contains(&password), "{prompt}");
    let words = written(&job, &format!("## Goal\n- Use {key} with DB_PASSWORD={password} always.\n")).unwrap();
    assert!(!words.text().contains(&key) && !words.text().contains(&password), "{}", words.text());
    asked.request.summary = Some(Summary::Written(words));
    let done = run(&text, &policy, &asked);
    let handoff = &done.plan.fold.as_ref().unwrap().handoff.text;
    assert!(!handoff.contains(&key) && !handoff.contains(&password), "{handoff}");
    let report = serde_json::to_string(&Report::of(&done)).unwrap();
    assert!(!report.contains(&key) && !report.contains(&password));
}

#[test]
fn what_the_ledger_has_recorded_is_not_told_again_by_a_model() {
    let mut writer = session(CHAT, 10, 3, 30);
    writer.user("Never touch the harbour files, they belong to Ann.");
    writer.assistant("Understood.");
    writer.call(Call::run("make harbour", "ok".to_owned()));
    for n in 0..12 {
        writer.user(&format!("Go on with part {n}."));
        writer.assistant("Done.");
    }
    writer.user("Now the rest.");
    let text = writer.document();
    let policy = with_model(tokens(&text, CHAT) * 2 - 2);
    let mut asked = manual(CHAT);
    let reply = "## Constraints & Preferences\n- Never touch the harbour files; they belong to Ann.\n";
    asked.request.summary = Some(Summary::Written(written(&summary_job(&text, &policy, &asked), reply).unwrap()));
    let done = run(&text, &policy, &asked);
    let handoff = &done.plan.fold.as_ref().unwrap().handoff.text;
    assert_eq!(section(handoff, "Constraints & Preferences").matches("harbour files").count(), 1, "{handoff}");
}

#[test]
fn a_prompt_that_turns_out_too_long_is_asked_with_less() {
    let (text, policy) = case();
    let mut writer = summary_job(&text, &policy, &manual(CHAT)).start();
    let Some(Ask::Prompt { user: before, .. }) = writer.ask() else { panic!() };
    assert!(writer.shrink());
    while let Some(Ask::Prompt { user, .. }) = writer.ask() {
        assert!(user.len() <= before.len());
        writer.reply("## Goal\n- Mend part 9.\n").unwrap();
    }
    assert!(writer.finish().is_some());
    let mut hopeless = summary_job(&text, &policy, &manual(CHAT)).start();
    assert!((0..40).any(|_| !hopeless.shrink()), "it ends");
}

#[test]
fn f8_what_a_failure_does_depends_on_its_class() {
    let (text, policy) = case();
    for &class in FailureClass::ALL {
        let done = failed(&text, &policy, class, Trigger::Engine);
        let cooldown = &done.state.summariser;
        let report = Report::of(&done);
        assert_eq!(cooldown.failure.as_ref().unwrap().class, class);
        assert_eq!(cooldown.until_ms, NOW + i64::from(class.cooldown(1)) * 1000, "{class}");
        assert!(report.summariser.error.as_deref().unwrap().contains(class.name()), "{class}");
        assert!(report.warnings.iter().any(|warning| warning.contains(class.advice())), "{:?}", report.warnings);
        if matches!(class, FailureClass::Access | FailureClass::Quota | FailureClass::Network) {
            assert_eq!((done.plan.outcome, done.body.as_ref()), (Outcome::Unchanged, text.as_str()), "{class}");
            assert_eq!(report.summariser.fallback.as_deref(), Some("unchanged"));
            assert_eq!((done.state.strikes, cooldown.fallbacks), (0, 0), "waiting is no strike");
        } else {
            assert_eq!(done.plan.outcome, Outcome::Folded, "{class}");
            assert!(done.plan.fold.as_ref().unwrap().handoff.text.contains("Note: the model that should have written"));
            assert_eq!((report.summariser.fallback.as_deref(), cooldown.fallbacks), (Some("ledger"), 1));
        }
    }
}

#[test]
fn f8_the_hard_limit_forces_a_fold_whatever_failed() {
    let (text, mut policy) = case();
    for class in [FailureClass::Access, FailureClass::Quota, FailureClass::Network] {
        assert_eq!(failed(&text, &policy, class, Trigger::Overflow).plan.outcome, Outcome::Folded, "{class}");
        let mut targeted = job(CHAT);
        targeted.request.target = Some(tokens(&text, CHAT) / 2);
        targeted.request.summary = Some(Summary::Failed(Failure::new(class, "")));
        assert_eq!(run(&text, &policy, &targeted).plan.outcome, Outcome::Folded, "{class}");
    }
    policy.model.window = foldline_core::policy::AutoOr::Fixed(tokens(&text, CHAT) as u32 + 100);
    assert_eq!(failed(&text, &policy, FailureClass::Access, Trigger::Engine).plan.outcome, Outcome::Folded);
}

#[test]
fn f8_abort_on_failure_returns_the_input_byte_for_byte() {
    let (text, mut policy) = case();
    policy.compression.abort_on_failure = true;
    for &class in FailureClass::ALL {
        for trigger in [Trigger::Engine, Trigger::Manual, Trigger::Overflow] {
            let done = failed(&text, &policy, class, trigger);
            assert_eq!((done.plan.outcome, done.body.as_ref()), (Outcome::Aborted, text.as_str()), "{class}");
            assert_eq!(Report::of(&done).summariser.fallback.as_deref(), Some("aborted"));
        }
    }
}

#[test]
fn f8_a_summariser_that_failed_is_left_alone_for_a_while_unless_somebody_asks() {
    let (text, policy) = case();
    let state = failed(&text, &policy, FailureClass::Server, Trigger::Engine).state;
    let saved: SessionState = serde_json::from_str(&serde_json::to_string(&state).unwrap()).unwrap();
    assert_eq!(saved.summariser, state.summariser, "it survives a restart");
    let waiting = SessionState { summariser: saved.summariser, ..SessionState::default() };
    let at = |seconds: i64, trigger: Trigger| {
        let mut job = job(CHAT);
        job.request.trigger = trigger;
        job.request.now_ms = Some(NOW + seconds * 1000);
        run_with(&text, &policy, &waiting, &job)
    };
    let resting = at(59, Trigger::Engine);
    assert!(resting.summary_job.is_none());
    assert_eq!(resting.plan.outcome, Outcome::Folded, "the ledger writes alone meanwhile");
    assert_eq!(resting.state.summariser.until_ms, waiting.summariser.until_ms, "waiting does not prolong the wait");
    assert!(at(59, Trigger::Manual).summary_job.is_some());
    assert!(at(60, Trigger::Engine).summary_job.is_some());
}

#[test]
fn f8_timeouts_in_a_row_wait_longer_each_time_and_success_forgets_them() {
    let (text, policy) = case();
    let mut state = SessionState::default();
    let mut waits = Vec::new();
    for _ in 0..4 {
        let mut job = job(CHAT);
        job.request.now_ms = Some(NOW);
        job.request.summary = Some(Summary::Failed(Failure::new(FailureClass::Timeout, "")));
        let done =
            run_with(&text, &policy, &SessionState { summariser: state.summariser, ..SessionState::default() }, &job);
        state = done.state;
        waits.push((state.summariser.until_ms - NOW) / 1000);
    }
    assert_eq!(waits, [60, 300, 900, 900]);
    let words = written(&summary_job(&text, &policy, &manual(CHAT)), "## Goal\n- Mend part 9.\n").unwrap();
    let mut answered = manual(CHAT);
    answered.request.summary = Some(Summary::Written(words));
    let done =
        run_with(&text, &policy, &SessionState { summariser: state.summariser, ..SessionState::default() }, &answered);
    assert_eq!((done.state.summariser.failure, done.state.summariser.until_ms), (None, 0));
    assert_eq!(done.state.summariser.fallbacks, 4, "the count stays");
}

#[test]
fn a_small_summariser_lowers_the_trigger_and_says_so() {
    let (text, mut policy) = case();
    policy.summarizer.window = foldline_core::policy::AutoOr::Fixed(6_000);
    let done = run(&text, &policy, &job(CHAT));
    assert_eq!(done.budgets.trigger, 6_000);
    assert!(done.plan.warnings.iter().any(|warning| warning.contains("lowered to 6000")), "{:?}", done.plan.warnings);
    policy.summarizer.window = foldline_core::policy::AutoOr::Fixed(1_000);
    let done = run(&text, &policy, &job(CHAT));
    assert!(done.summary_job.is_none(), "no prompt fits");
    assert!(done.plan.warnings.iter().any(|warning| warning.contains("no room")), "{:?}", done.plan.warnings);
}

#[test]
fn the_cheaper_way_of_asking_is_taken() {
    for format in [Format::Anthropic, CHAT, Format::OpenAiResponses] {
        let mut writer = session(format, 20, 3, 60);
        writer.layout = Layout::Body;
        let text =
            with_name(&writer.document(), if format == Format::Anthropic { "claude-sonnet-4-5" } else { "gpt-5" });
        let mut policy = Policy::of(Preset::Hermes);
        policy.summarizer.url = Some("http://127.0.0.1:1".to_owned());
        let mut asked = manual(format);
        for (call, model, route) in [
            // Its own model reads the prefix from its cache for a tenth.
            (PrefixCall::Warm, None, Route::CachedPrefix),
            (PrefixCall::Impossible, None, Route::Serialised),
            // Cold, everything is paid in full; written out it is shorter.
            (PrefixCall::Cold, None, Route::Serialised),
            (PrefixCall::Warm, Some("no-such-model-and-no-price"), Route::Serialised),
        ] {
            policy.summarizer.model = model.map(str::to_owned);
            asked.request.prefix_call = call;
            let job = summary_job(&text, &policy, &asked);
            assert_eq!(job.route, route, "{format:?} {call:?} {:?}", job.costs);
        }
        policy.summarizer.model = None;
        asked.request.prefix_call = PrefixCall::Warm;
        let job = summary_job(&text, &policy, &asked);
        let mut writer = job.start();
        let Some(Ask::Document { body, .. }) = writer.ask() else { panic!("the conversation itself") };
        let sent = foldline_transcript::wire::read(&body, Some(format)).unwrap();
        assert_eq!(foldline_transcript::validate::validate(&sent), [], "{format:?}");
        assert!(body.contains("\"stream\":true") && body.contains("use no tools"));
        let same = text.bytes().rev().zip(body.bytes().rev()).count();
        assert!(same > 0 && serde_json::from_str::<serde_json::Value>(&body).is_ok());
        writer.reply("## Goal\n- Mend part 9.\n").unwrap();
        assert!(writer.ask().is_none(), "one call is all");
        assert!(writer.finish().is_some());
        // The way back: turns written out, when the conversation cannot be sent after all.
        let mut other = job.start();
        assert!(other.without_document());
        assert!(matches!(other.ask(), Some(Ask::Prompt { .. })));
    }
}

#[test]
fn a_conversation_with_a_secret_is_never_sent_as_it_is() {
    let mut writer = session(CHAT, 20, 3, 60);
    writer.layout = Layout::Body;
    writer.user(&format!("The token is {}{}.", "ghp_", "R4nd0mR4nd0mR4nd0mR4nd0mR4nd0mR4nd0m"));
    let text = with_name(&writer.document(), "gpt-5");
    let mut policy = Policy::of(Preset::Hermes);
    policy.summarizer.url = Some("http://127.0.0.1:1".to_owned());
    let mut asked = manual(CHAT);
    asked.request.prefix_call = PrefixCall::Warm;
    assert_eq!(summary_job(&text, &policy, &asked).route, Route::Serialised);
}

/// Tokens by a real vocabulary, not by the estimate that prompts are cut with.
fn exact(text: &str) -> u32 {
    let table = foldline_core::models::ModelTable::embedded();
    Counter::for_model(&table.profile("gpt-4o", foldline_core::models::ApiFamily::OpenAi), 0).count(text)
}

fn with_name(body: &str, model: &str) -> String {
    let mut value: serde_json::Value = serde_json::from_str(body).unwrap();
    value["model"] = model.into();
    value.to_string()
}

/// Ten million tokens, a summariser with 32 K.
#[test]
fn a_middle_of_ten_million_tokens_never_exceeds_the_summarisers_window() {
    let wanted: u64 = 10_000_000;
    let text = giant(wanted);
    let mut policy = with_model(wanted * 2);
    policy.summarizer.window = foldline_core::policy::AutoOr::Fixed(32_000);
    let job = summary_job(&text, &policy, &manual(CHAT));
    let mut writer = job.start();
    let Some(Ask::Prompt { system, user, reply }) = writer.ask() else { panic!() };
    let tokens = exact(&user) + exact(&system) + reply;
    assert!((16_000..=32_000).contains(&tokens), "{tokens} tokens");
    {
        writer.reply("## Goal\n- Mend part 9.\n## Key Decisions\n- All is well, because it was checked.\n").unwrap();
    }
    assert!(writer.ask().is_none() && writer.finish().is_some());
}

/// A session whose words cost at least so many tokens.
fn giant(tokens: u64) -> String {
    let mut writer = session(CHAT, 10, 3, 30);
    let one = foldline_core::tokens::Counter::Estimate.count(&output(0));
    for n in 0..tokens.div_ceil(u64::from(one)) as u32 {
        if n % 40 == 0 {
            writer.user(&format!("Please look at part {n} as well and tell me what is wrong with it."));
        }
        writer.call(Call::run(&format!("make step-{n}"), output(n)));
    }
    writer.user("Now finish.");
    writer.document()
}

fn output(seed: u32) -> String {
    crate::common::kit::log(300, seed)
}
