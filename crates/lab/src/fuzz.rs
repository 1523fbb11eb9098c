//! The bodies of the fuzz targets. They panic if a property does not hold.

use foldline_core::policy::AutoOr;
use foldline_core::tokens::measure;
use foldline_core::{Compaction, EngineError, Format, Job, Policy, Request, SessionState, Trigger, compact};
use foldline_redact::{self as redact, Mode, Stream};
use foldline_reduce::{ConversationNames, Source, reduce_in_context};
use foldline_transcript::validate::validate;
use foldline_transcript::wire;
use foldline_transcript::wire::json::{self, Scanner};
use foldline_transcript::{Part, Shape, Transcript};
use serde_json::value::RawValue;

mod marks;
#[cfg(feature = "serving")]
mod serving;

pub use marks::marks;
#[cfg(feature = "serving")]
pub use serving::{http, reload};

/// What a target does with bytes.
pub type Body = fn(&[u8]);

/// The targets that any bytes are fed to; seeds of all targets are in `fuzz/corpus/<name>`.
pub const TARGETS: [(&str, Body); 7] = [
    ("read_anthropic", read_anthropic),
    ("read_chat", read_chat),
    ("read_gemini", read_gemini),
    ("read_responses", read_responses),
    ("compress", compress),
    ("reduce", reduce),
    ("redact", redact),
];

/// Targets that take longer, or want bytes of another kind: they are fed with seeds of their own.
#[cfg(feature = "serving")]
pub const SLOWER: [(&str, Body); 3] = [("marks", marks), ("http", http), ("reload", reload)];

/// Small enough that a few lines reach every budget.
const WINDOW: u32 = 1_000;
/// A target that some inputs can meet and others cannot.
const TARGET: u64 = 700;
/// Deeper nesting than this may be refused by us and taken by others.
const DEEP: usize = 64;

/// Any bytes as an Anthropic request.
pub fn read_anthropic(bytes: &[u8]) {
    read(bytes, Format::Anthropic);
}

/// Any bytes as a Chat Completions request.
pub fn read_chat(bytes: &[u8]) {
    read(bytes, Format::OpenAiChat);
}

/// Any bytes as a Gemini request.
pub fn read_gemini(bytes: &[u8]) {
    read(bytes, Format::Gemini);
}

/// Any bytes as a Responses request.
pub fn read_responses(bytes: &[u8]) {
    read(bytes, Format::OpenAiResponses);
}

/// Reading never panics, says the same again, and takes as JSON what is JSON.
fn read(bytes: &[u8], format: Format) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    scan(text);
    for wanted in [None, Some(format)] {
        let Ok(transcript) = wire::read(text, wanted) else {
            continue;
        };
        assert!(is_json(text, transcript.shape), "read as {}, but it is no JSON", transcript.format);
        assert_sound(&transcript);
        let again = wire::read(text, Some(transcript.format)).map(|again| format!("{again:?}"));
        assert_eq!(again.as_deref(), Ok(format!("{transcript:?}").as_str()), "a second reading differs");
        // Checks and repairs walk every path through the spans.
        let findings = validate(&transcript);
        match foldline_transcript::repair::repair(&transcript) {
            None => assert!(findings.is_empty() || !transcript.has_begun(), "findings and no repair: {findings:?}"),
            Some(repaired) => {
                let sound = wire::read(&repaired.text, Some(transcript.format));
                let left = sound.as_ref().map(validate);
                assert_eq!(left.as_deref(), Ok(&[][..]), "repaired and still wrong: {}", repaired.text);
            }
        }
    }
}

/// Calls whose outputs are of every kind by their name, and of any kind by their look.
const CALLS: [(&str, &str); 10] = [
    ("bash", "run"),
    ("bash", "cat src/a.go"),
    ("read", "src/a.rs"),
    ("read", "a.csv"),
    ("read", "b.json"),
    ("read", "c.toml"),
    ("grep", "name"),
    ("ls", ""),
    ("web_fetch", "https://example.test"),
    ("task", "look"),
];

/// Any output of any tool reduces without panic: shorter by a fifth, the same every time, and not reduced again. The
/// first byte says which call it is the output of.
pub fn reduce(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else {
        return;
    };
    let Ok(text) = std::str::from_utf8(rest) else {
        return;
    };
    let (tool, argument) = CALLS[usize::from(*first) % CALLS.len()];
    let source = Source { tool, argument, ..Source::default() };
    let conversation = ConversationNames::of_words(["some_name it_broke parseOrder"]);
    let reduced = reduce_in_context(&source, &conversation, text);
    assert_eq!(reduced, reduce_in_context(&source, &conversation, text), "a second time differs");
    let Some(reduced) = reduced else { return };
    assert!(reduced.text.len() * 5 <= text.len() * 4, "{} of {} bytes", reduced.text.len(), text.len());
    assert_eq!(reduce_in_context(&source, &conversation, &reduced.text), None, "reduced again: {}", reduced.text);
}

/// Any text is redacted without panic: nothing is left to find, findings are in order and split no character, JSON stays
/// JSON, and pieces give what the whole gives.
pub fn redact(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    for mode in [Mode::Text, Mode::Code] {
        let mut reached = 0;
        for finding in redact::find(text, mode) {
            assert!(reached <= finding.start && finding.start < finding.end, "findings overlap");
            assert!(text.get(finding.start..finding.end).is_some(), "a finding splits a character");
            reached = finding.end;
        }
        let once = redact::redact(text, mode);
        assert_eq!(redact::redact(&once, mode), once, "something is left to find in {once:?}");
        let mut stream = Stream::new(mode);
        let mut streamed: Vec<u8> = bytes.chunks(7).flat_map(|piece| stream.feed(piece)).collect();
        streamed.extend(stream.finish());
        assert_eq!(std::str::from_utf8(&streamed), Ok(&*once), "a stream gives something else");
        if is_json(text, Shape::Body) {
            assert!(is_json(&once, Shape::Body), "no JSON any more: {once}");
        }
    }
}

/// Whatever reads can be compacted: valid, never larger, the same every time.
pub fn compress(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let mut policy = Policy::default();
    policy.model.window = AutoOr::Fixed(WINDOW);
    let requests = [
        Request::default(),
        Request { target: Some(TARGET), ..Request::default() },
        Request { trigger: Trigger::Manual, keeps_originals: true, ..Request::default() },
    ];
    for request in requests {
        let job = Job { request, ..Job::default() };
        let state = SessionState::default();
        match compact(text, &policy, &state, &job) {
            Ok(done) => assert_good(text, &done, &policy, &job),
            Err(EngineError::CannotFit(why)) => {
                assert!(why.smallest > why.target || why.target < u64::from(WINDOW), "could fit: {why}");
            }
            Err(_) => assert!(wire::read(text, None).is_err(), "reads, but cannot be compacted"),
        }
    }
}

fn assert_good(text: &str, done: &Compaction<'_>, policy: &Policy, job: &Job) {
    let state = SessionState::default();
    let after = match wire::read(&done.body, Some(done.format)) {
        Ok(after) => after,
        Err(error) => panic!("the output does not read: {error}\n{}", done.body),
    };
    let findings = validate(&after);
    assert!(findings.is_empty() || !after.has_begun(), "the output is not valid: {findings:?}\n{}", done.body);
    assert_sound(&after);
    let Ok(before) = wire::read(&done.source, Some(done.format)) else {
        panic!("the source of a compaction does not read");
    };
    let setting = job.setting(&before, policy, &state);
    let tokens = |transcript: &Transcript<'_>| measure(transcript, &setting.measure).total();
    assert!(tokens(&after) <= tokens(&before), "{} tokens became {}", tokens(&before), tokens(&after));
    if let (Some(target), true) = (job.request.target, job.request.trigger != Trigger::Manual) {
        assert!(tokens(&after) <= target, "{} tokens, and {target} were asked for", tokens(&after));
    }
    let again = compact(text, policy, &state, job).map(|again| again.body.into_owned());
    assert_eq!(again.as_deref(), Ok(&*done.body), "not the same twice");
}

/// Every part lies in its message, every message in the list, in order.
fn assert_sound(transcript: &Transcript<'_>) {
    let mut reached = transcript.list.start;
    for message in &transcript.messages {
        assert!(message.span.start >= reached && transcript.list.contains(message.span), "messages overlap");
        reached = message.span.end;
        for part in transcript.parts_of(message) {
            // A result that was left out has no place.
            assert!(part.span.is_empty() || message.span.contains(part.span), "a part lies outside of its message");
            assert_inside(part);
            transcript.words(part);
            for inner in transcript.inner_of(part) {
                assert!(message.span.contains(inner.span), "a block lies outside of its message");
            }
        }
    }
}

fn assert_inside(part: &Part) {
    for span in [part.content.span(), part.id, part.name] {
        assert!(span.end >= span.start, "a span ends before it starts");
    }
}

/// Our scanner and serde_json take the same texts and decode the same words.
fn scan(text: &str) {
    let mut scanner = Scanner::new(text, 0);
    let scanned = scanner.skip();
    let whole = scanned.is_ok() && scanner.next_byte().is_none();
    let theirs: Result<&RawValue, _> = serde_json::from_str(text);
    if whole != theirs.is_ok() && depth(text) <= DEEP {
        panic!("our scanner says {scanned:?}, serde_json says {:?}", theirs.err());
    }
    if let (true, Ok(span)) = (whole, scanned)
        && text.trim_start().starts_with('"')
        // Half a surrogate pair is an error there and a replacement character here.
        && let Ok(words) = serde_json::from_str::<String>(text)
    {
        assert_eq!(json::decode(span.inner().of(text)), words, "decoded differently");
        let encoded = json::encode(&words);
        assert_eq!(serde_json::from_str::<String>(&encoded).ok(), Some(words), "encoded differently");
    }
}

fn depth(text: &str) -> usize {
    text.bytes().filter(|byte| matches!(byte, b'[' | b'{')).count()
}

fn is_json(text: &str, shape: Shape) -> bool {
    match shape {
        Shape::Lines => serde_json::Deserializer::from_str(text).into_iter::<&RawValue>().all(|value| value.is_ok()),
        Shape::Body | Shape::List => serde_json::from_str::<&RawValue>(text).is_ok(),
    }
}
