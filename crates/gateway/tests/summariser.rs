//! The summariser's client against a scripted provider: every dialect, every failure.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use foldline_core::Outcome;
use foldline_core::policy::Dialect;
use foldline_core::summary::{Failure, FailureClass, PrefixCall};
use foldline_core::{Compaction, Job, Policy, Report, Request, SessionState, Trigger, compact};
use foldline_gateway::outbound::{Outbound, OutboundSettings, Proxies};
use foldline_gateway::summariser::{Endpoint, Key, Limits, Progress, Summariser, Summary, SummaryJob};
use foldline_script::{Act, Provider};
use std::time::{Duration, Instant};

const GOOD: &str = "## Goal\n- Mend the importer before Friday.\n\n## Key Decisions\n- Keep the old column, because reports read it.\n";

/// A conversation that a fold is wanted for.
fn conversation() -> String {
    let mut messages = vec![serde_json::json!({"role": "system", "content": "You are careful."})];
    for n in 0..40 {
        let ask = format!("Request {n}: mend part {n} of services/import/part_{n}.py, please.");
        let answer = format!("Part {n} is mended; {}", "the tests of it pass again. ".repeat(20));
        messages.push(serde_json::json!({"role": "user", "content": ask}));
        messages.push(serde_json::json!({"role": "assistant", "content": answer}));
    }
    messages.push(serde_json::json!({"role": "user", "content": "Go on."}));
    serde_json::json!({"model": "gpt-5", "messages": messages}).to_string()
}

fn policy(url: &str) -> Policy {
    let mut policy = Policy::default();
    policy.summarizer.url = Some(url.to_owned());
    policy.summarizer.model = Some("small".to_owned());
    policy
}

fn job(trigger: Trigger) -> Job {
    let request = Request { trigger, now_ms: Some(1_000_000), ..Request::default() };
    Job { request, ..Job::default() }
}

fn summary_job(policy: &Policy) -> SummaryJob {
    compact(&conversation(), policy, &SessionState::default(), &job(Trigger::Manual)).unwrap().summary_job.unwrap()
}

fn summariser(url: &str, dialect: Dialect) -> Summariser {
    let key: Key = format!("{}{}", "test-", "key").into();
    let settings = OutboundSettings { proxies: Proxies::None, ..OutboundSettings::default() };
    Summariser {
        outbound: Outbound::new(settings).unwrap(),
        first: Endpoint::at(url, dialect, "small", Some(key)).unwrap(),
        fallback: None,
        limits: Limits { first_word: Duration::from_millis(800), idle: Duration::from_millis(600), retries: 0 },
    }
}

fn with_fallback(mut summariser: Summariser) -> Summariser {
    summariser.fallback = Some(Endpoint { model: "main".to_owned(), ..summariser.first.clone() });
    summariser
}

async fn outcome(summariser: &Summariser, job: &SummaryJob) -> (Summary, Vec<Progress>) {
    let mut seen = Vec::new();
    let started = Instant::now();
    let summary = summariser.write(job, &mut |progress| seen.push(progress)).await;
    assert!(started.elapsed() < Duration::from_secs(20));
    (summary, seen)
}

async fn failure_of(act: Act) -> Failure {
    let provider = Provider::start([act]).await.unwrap();
    let job = summary_job(&policy(&provider.url()));
    match outcome(&summariser(&provider.url(), Dialect::Auto), &job).await.0 {
        Summary::Failed(failure) => failure,
        Summary::Written(written) => panic!("{}", written.text()),
    }
}

fn finish<'a>(text: &'a str, policy: &Policy, trigger: Trigger, summary: Summary) -> Compaction<'a> {
    let mut job = job(trigger);
    job.request.summary = Some(summary);
    compact(text, policy, &SessionState::default(), &job).unwrap()
}

#[tokio::test]
async fn all_dialects_are_spoken_streaming_and_with_their_credentials() {
    for (dialect, path, header, value) in [
        (Dialect::OpenAiChat, "/v1/chat/completions", "authorization", "Bearer test-key"),
        (Dialect::OpenAiResponses, "/v1/responses", "authorization", "Bearer test-key"),
        (Dialect::Anthropic, "/v1/messages", "x-api-key", "test-key"),
        (Dialect::Gemini, "/v1beta/models/small:streamGenerateContent", "x-goog-api-key", "test-key"),
    ] {
        let provider = Provider::start([Act::say(GOOD)]).await.unwrap();
        let job = summary_job(&policy(&provider.url()));
        let (summary, progress) = outcome(&summariser(&provider.url(), dialect), &job).await;
        let Summary::Written(written) = summary else { panic!("{summary:?}") };
        assert!(written.text().contains("before Friday"), "{}", written.text());
        assert_eq!((written.effort.calls, written.effort.model.as_deref()), (1, Some("small")));
        assert!(progress.iter().any(|step| matches!(step, Progress::Hearing { characters } if *characters > 10)));
        let seen = provider.requests().remove(0);
        assert_eq!((seen.uri.path(), seen.headers[header].to_str().unwrap()), (path, value));
        if dialect == Dialect::Gemini {
            assert_eq!(seen.uri.query(), Some("alt=sse"));
        } else {
            assert_eq!((seen.json()["stream"].as_bool(), seen.json()["model"].as_str()), (Some(true), Some("small")));
        }
        assert!(seen.text().contains("services/import/part_3.py"), "the turns are in it");
    }
}

#[tokio::test]
async fn servers_that_do_not_stream_are_understood() {
    let whole =
        serde_json::json!({"choices": [{"message": {"role": "assistant", "content": GOOD}, "finish_reason": "stop"}]});
    let act =
        Act::Raw { status: 200, headers: vec![], content_type: "application/json".into(), body: whole.to_string() };
    let provider = Provider::start([act]).await.unwrap();
    let job = summary_job(&policy(&provider.url()));
    let (summary, _) = outcome(&summariser(&provider.url(), Dialect::Auto), &job).await;
    assert!(matches!(summary, Summary::Written(_)), "{summary:?}");
}

#[tokio::test]
async fn every_failure_gets_its_class_and_words() {
    use FailureClass::{Access, BadReply, Network, NotFound, Quota, Rate, Refused, Server, Timeout};
    let raw = |content_type: &str, body: &str| Act::Raw {
        status: 200,
        headers: vec![],
        content_type: content_type.into(),
        body: body.into(),
    };
    let text = GOOD.to_owned();
    for (act, class, words) in [
        (Act::error(401, "invalid_api_key", "Incorrect API key"), Access, "HTTP 401"),
        (Act::error(429, "insufficient_quota", "You exceeded your current quota"), Quota, "quota"),
        (Act::status(429, "Rate limit reached"), Rate, "Rate limit"),
        (Act::status(404, "The model `small` does not exist"), NotFound, "does not exist"),
        (Act::status(400, "unsupported value"), Refused, "unsupported value"),
        (Act::status(500, "oops"), Server, "oops"),
        (Act::status(503, "overloaded"), Server, "overloaded"),
        (Act::HangUp, Network, "connection broke"),
        (Act::Stall, Timeout, "no first token within 0.8 s"),
        (Act::StallAfter { text: text.clone(), pieces: 0 }, Timeout, "no first token"),
        (Act::StallAfter { text: text.clone(), pieces: 3 }, Timeout, "no further token within 0.6 s"),
        (Act::CutAfter { text: text.clone(), pieces: 3 }, BadReply, "stream broke"),
        (Act::EndAfter { text: text.clone(), pieces: 3 }, BadReply, "ended before"),
        (Act::FailAfter { text: text.clone(), kind: "overloaded_error".into() }, Server, "overloaded_error"),
        (Act::FailAfter { text, kind: "rate_limit_error".into() }, Rate, "rate_limit_error"),
        (Act::say(""), BadReply, "empty"),
        (Act::say("<think>for ever"), BadReply, "says nothing that can be used"),
        (raw("text/html", "<html>Sign in to the Wi-Fi</html>"), BadReply, "text/html"),
        (raw("application/json", "{not json"), BadReply, "not valid JSON"),
        (raw("text/event-stream", "data: {broken\n\n"), BadReply, "not valid JSON"),
        (raw("application/json", r#"{"error":{"message":"boom","type":"server_error"}}"#), Server, "boom"),
    ] {
        let failure = failure_of(act.clone()).await;
        assert_eq!(failure.class, class, "{act:?}: {failure}");
        assert!(failure.message.contains(words), "{act:?}: {failure}");
        assert_eq!(failure.calls, 1, "{act:?}");
        // The outcome of the fold, its memory and its report.
        let (text, policy) = (conversation(), policy("http://127.0.0.1:1"));
        let done = finish(&text, &policy, Trigger::Manual, Summary::Failed(failure.clone()));
        let report = Report::of(&done);
        assert_eq!(done.state.summariser.until_ms, 1_000_000 + 1000 * i64::from(class.cooldown(1)));
        assert!(report.summariser.error.unwrap().contains(&failure.message));
        let held = matches!(class, Access | Quota | Network);
        assert_eq!(done.plan.outcome, if held { Outcome::Unchanged } else { Outcome::Folded }, "{class}");
        if held {
            assert_eq!(done.body, text);
        }
        let mut strict = policy.clone();
        strict.compression.abort_on_failure = true;
        let done = finish(&text, &strict, Trigger::Manual, Summary::Failed(failure));
        assert_eq!((done.plan.outcome, done.body.as_ref()), (Outcome::Aborted, text.as_str()));
    }
}

#[tokio::test]
async fn nobody_listening_is_a_network_failure() {
    let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let url = format!("http://{closed}");
    let (summary, _) = outcome(&summariser(&url, Dialect::Auto), &summary_job(&policy(&url))).await;
    let Summary::Failed(failure) = summary else { panic!() };
    assert_eq!(failure.class, FailureClass::Network, "{failure}");
}

#[tokio::test]
async fn failures_that_may_pass_are_tried_again_as_the_server_asks() {
    let busy = Act::status(429, "slow down").with_header("retry-after-ms", "20");
    let scripts = [
        vec![busy.clone(), busy, Act::say(GOOD)],
        vec![Act::HangUp, Act::say(GOOD)],
        vec![Act::say(""), Act::say(GOOD)],
    ];
    for acts in scripts {
        let tries = acts.len();
        let provider = Provider::start(acts).await.unwrap();
        let mut summariser = summariser(&provider.url(), Dialect::Auto);
        summariser.limits.retries = 2;
        let (summary, progress) = outcome(&summariser, &summary_job(&policy(&provider.url()))).await;
        let Summary::Written(written) = summary else { panic!("{summary:?}") };
        assert_eq!(written.effort.calls as usize, tries);
        assert_eq!(progress.iter().filter(|step| matches!(step, Progress::Waiting { .. })).count(), tries - 1);
    }
    // What will not pass is not tried again, and a server that wants a long pause is left alone.
    let long = Act::status(429, "later").with_header("retry-after", "3600");
    for act in [Act::error(401, "invalid_api_key", "no"), long] {
        let provider = Provider::start([act]).await.unwrap();
        let mut summariser = summariser(&provider.url(), Dialect::Auto);
        summariser.limits.retries = 3;
        outcome(&summariser, &summary_job(&policy(&provider.url()))).await;
        assert_eq!(provider.requests().len(), 1);
    }
}

#[tokio::test]
async fn any_question_is_put_to_the_same_endpoint_masked_and_again_where_that_helps() {
    let busy = Act::status(429, "slow down").with_header("retry-after-ms", "20");
    for dialect in [Dialect::OpenAiChat, Dialect::OpenAiResponses, Dialect::Anthropic, Dialect::Gemini] {
        let provider = Provider::start([busy.clone(), Act::say("Yes.")]).await.unwrap();
        let mut summariser = summariser(&provider.url(), dialect);
        summariser.limits.retries = 1;
        let mut waits = 0;
        let mut progress = |step| waits += usize::from(matches!(step, Progress::Waiting { .. }));
        let secret = format!("{}{}", "ghp_", "R4nd0mR4nd0mR4nd0mR4nd0mR4nd0mR4nd0m");
        let user = format!("Is {secret} a secret?");
        let answer = summariser.ask("You are brief.", &user, 500, &mut progress).await;
        assert_eq!((answer.as_deref(), waits), (Ok("Yes."), 1));
        let sent = provider.requests().remove(1).text();
        assert!(sent.contains("You are brief.") && sent.contains("a secret?") && !sent.contains(&secret), "{sent}");
    }
    let provider = Provider::start([Act::error(401, "invalid_api_key", "no")]).await.unwrap();
    let failure = summariser(&provider.url(), Dialect::Auto).ask("", "Well?", 500, &mut |_| ()).await.unwrap_err();
    assert_eq!((failure.class, failure.calls), (FailureClass::Access, 1));
}

#[tokio::test]
async fn the_main_model_is_asked_once_when_the_first_fails() {
    let provider = Provider::choosing(|request, _| match request.json()["model"].as_str() {
        Some("main") => Act::say(GOOD),
        _ => Act::status(404, "no such model"),
    })
    .await
    .unwrap();
    let first = with_fallback(summariser(&provider.url(), Dialect::Auto));
    let job = summary_job(&policy(&provider.url()));
    let (summary, progress) = outcome(&first, &job).await;
    let Summary::Written(written) = summary else { panic!("{summary:?}") };
    assert_eq!(written.effort.model.as_deref(), Some("main"));
    assert_eq!(written.effort.rescued.as_ref().unwrap().class, FailureClass::NotFound);
    assert!(progress.iter().any(|step| matches!(step, Progress::Switching { model, .. } if model == "main")));
    let text = conversation();
    let report = Report::of(&finish(&text, &policy(&provider.url()), Trigger::Manual, Summary::Written(written)));
    assert_eq!(report.summariser.fallback.as_deref(), Some("main model"));
    assert!(report.summariser.error.unwrap().contains("no such model"), "told, though it was rescued");

    let provider = Provider::start([Act::status(503, "down")]).await.unwrap();
    let second = with_fallback(summariser(&provider.url(), Dialect::Auto));
    let (summary, _) = outcome(&second, &job).await;
    assert!(matches!(summary, Summary::Failed(Failure { calls: 2, class: FailureClass::Server, .. })), "{summary:?}");
    assert_eq!(provider.requests().len(), 2, "once each");
}

#[tokio::test]
async fn a_prompt_that_is_too_long_is_split_until_it_fits() {
    let provider = Provider::choosing(|request, _| match request.body.len() > 14_000 {
        true => Act::error(400, "context_length_exceeded", "maximum context length is 3000 tokens"),
        false => Act::say(GOOD),
    })
    .await
    .unwrap();
    let job = summary_job(&policy(&provider.url()));
    let (summary, _) = outcome(&summariser(&provider.url(), Dialect::Auto), &job).await;
    let Summary::Written(written) = summary else { panic!("{summary:?}") };
    assert!(written.effort.calls > 2, "{}", written.effort.calls);
}

#[tokio::test]
async fn a_window_that_no_piece_fits_is_a_failure_of_its_own_and_the_ledger_writes() {
    let provider =
        Provider::choosing(|_, _| Act::error(400, "context_length_exceeded", "maximum context length is 10 tokens"))
            .await
            .unwrap();
    let policy = policy(&provider.url());
    let (summary, _) = outcome(&summariser(&provider.url(), Dialect::Auto), &summary_job(&policy)).await;
    let Summary::Failed(failure) = &summary else { panic!("{summary:?}") };
    assert_eq!(failure.class, FailureClass::ContextLength, "{failure}");
    assert!(failure.message.contains("maximum context length") && failure.calls < 20, "{failure:?}");
    let text = conversation();
    let done = finish(&text, &policy, Trigger::Manual, summary);
    assert_eq!(done.plan.outcome, Outcome::Folded);
    let cooldown = FailureClass::ContextLength.cooldown(1);
    assert_eq!(done.state.summariser.until_ms, 1_000_000 + 1000 * i64::from(cooldown));
    assert!(done.plan.fold.unwrap().handoff.text.contains("Note: the model that should have written"));
}

#[tokio::test]
async fn a_reply_without_end_is_hung_up_on() {
    let provider = Provider::start([Act::Babble]).await.unwrap();
    let started = Instant::now();
    let policy = policy(&provider.url());
    let (summary, _) = outcome(&summariser(&provider.url(), Dialect::Auto), &summary_job(&policy)).await;
    assert!(started.elapsed() < Duration::from_secs(10));
    let text = conversation();
    let done = finish(&text, &policy, Trigger::Manual, summary);
    assert!(done.plan.tokens.after < done.plan.tokens.before, "whatever it said, the result is smaller");
}

#[tokio::test]
async fn a_slow_reply_that_keeps_coming_is_waited_for() {
    let act = Act::Say { text: GOOD.to_owned(), pace: Duration::from_millis(60) };
    let provider = Provider::start([act]).await.unwrap();
    let started = Instant::now();
    let job = summary_job(&policy(&provider.url()));
    let (summary, _) = outcome(&summariser(&provider.url(), Dialect::Auto), &job).await;
    assert!(matches!(summary, Summary::Written(_)), "{summary:?}");
    assert!(started.elapsed() > Duration::from_millis(900), "longer than any single limit: {:?}", started.elapsed());
}

#[tokio::test]
async fn the_conversation_itself_goes_to_its_own_model_and_falls_back_to_turns_written_out() {
    let text = conversation();
    for refuses in [false, true] {
        let provider = Provider::choosing(move |request, _| match request.text().contains("use no tools") && refuses {
            true => Act::status(400, "cannot take this"),
            false => Act::say(GOOD),
        })
        .await
        .unwrap();
        let mut policy = policy(&provider.url());
        policy.summarizer.model = Some("gpt-5".to_owned());
        let mut job = job(Trigger::Manual);
        job.request.prefix_call = PrefixCall::Warm;
        let wanted = compact(&text, &policy, &SessionState::default(), &job).unwrap().summary_job.unwrap();
        let (summary, _) = outcome(&summariser(&provider.url(), Dialect::Auto), &wanted).await;
        assert!(matches!(summary, Summary::Written(_)), "{summary:?}");
        let sent = provider.requests();
        assert_eq!(sent.len(), if refuses { 2 } else { 1 });
        let messages = sent[0].json()["messages"].as_array().unwrap().len();
        assert_eq!(messages, 82, "the conversation, with the question in its last message");
        assert!(sent[0].text().contains("Request 39"));
    }
}

#[test]
fn keys_come_from_the_environment_or_a_file_and_go_to_their_own_vendor_only() {
    let environment = |name: &str| (name == "OPENAI_API_KEY" || name == "MINE").then(|| format!("key-of-{name}"));
    let key = |policy: &Policy| {
        let summariser = Summariser::of_policy(policy, &environment).map_err(|error| error.to_string())?;
        let key = summariser.unwrap().first.key;
        Ok::<_, String>(key.map(|key| secrecy::ExposeSecret::expose_secret(&key).to_owned()))
    };
    assert_eq!(key(&policy("https://api.openai.com/v1")).unwrap().as_deref(), Some("key-of-OPENAI_API_KEY"));
    assert_eq!(key(&policy("http://127.0.0.1:8080")).unwrap(), None, "a stranger does not get the vendor's key");
    let mut named = policy("http://127.0.0.1:8080");
    named.summarizer.key_env = Some("MINE".to_owned());
    assert_eq!(key(&named).unwrap().as_deref(), Some("key-of-MINE"));
    named.summarizer.key_env = Some("NOT_THERE".to_owned());
    assert!(key(&named).unwrap_err().contains("NOT_THERE"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    std::fs::write(&path, "from-a-file\n").unwrap();
    named.summarizer.key_file = Some(path.display().to_string());
    assert_eq!(key(&named).unwrap().as_deref(), Some("from-a-file"));
    std::fs::write(&path, "two\nlines").unwrap();
    let error = key(&named).unwrap_err();
    assert!(error.contains("no usable key") && !error.contains("two"), "{error}");
}

#[tokio::test]
async fn every_call_is_paid_for_in_both_directions_also_in_vain() {
    for dialect in [Dialect::OpenAiChat, Dialect::OpenAiResponses, Dialect::Anthropic, Dialect::Gemini] {
        let provider = Provider::start([Act::say("<think>hm</think>"), Act::say(GOOD)]).await.unwrap();
        let mut summariser = summariser(&provider.url(), dialect);
        summariser.limits.retries = 1;
        let mut spent = Vec::new();
        let job = summary_job(&policy(&provider.url()));
        let summary = summariser.write_at_cost(&job, &mut |_| {}, &mut spent).await;
        assert!(matches!(summary, Summary::Written(_)), "{summary:?}");
        assert_eq!(spent.len(), 2, "{dialect:?}");
        for (call, request) in spent.iter().zip(provider.requests()) {
            // The provider counts four bytes a token; chat streams do not say, and are estimated.
            let said = request.body.len() as u64 / 4;
            assert!((said / 2..=said * 2).contains(&call.usage.input), "{dialect:?}: {call:?} of {said}");
            assert_eq!(call.model, "small");
        }
        assert!(spent[1].usage.output >= 20, "{dialect:?}: {spent:?}");
    }
    let refused = Provider::start([Act::status(400, "no")]).await.unwrap();
    let mut spent = Vec::new();
    let job = summary_job(&policy(&refused.url()));
    summariser(&refused.url(), Dialect::Auto).write_at_cost(&job, &mut |_| {}, &mut spent).await;
    assert_eq!(spent, [], "what is refused costs nothing");
}
