//! A rewriter that panics: requests go out as they came, that is counted, and nothing of what they say is printed.
//!
//! The hook that panics are logged with belongs to a whole process, so the work is done in a child of this one.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use foldline_core::Policy;
use foldline_core::policy::{AutoOr, Preset};
use foldline_core::summary::Summary;
use foldline_gateway::conversation::{
    Conversations, FoldTask, IncomingTurn, Planned, PrepareError, Prepared, ReportedUsage, Rewriter, SizeRefusal,
    Timestamp, Turn,
};
use foldline_gateway::serve::{self, Gateway, GatewayConfig};
use foldline_gateway::settings::GatewaySettings;
use foldline_script::{Act, Provider};
use std::net::SocketAddr;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const PATHS: [&str; 3] = ["/v1/chat/completions", "/v1/responses", "/v1/messages"];
/// Stands in every request, and in the words of every panic.
const MARK: &str = "mark-of-a-conversation";

/// Panics where it is told to, after the real one has done its work, so that locks and counts are touched.
struct Clumsy {
    conversations: Conversations,
    trips: AtomicUsize,
    falls: Falls,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Falls {
    Preparing,
    Observing,
    Planning,
}

impl Clumsy {
    fn trip(&self, at: Falls, words: &str) {
        if self.falls == at {
            self.trips.fetch_add(1, Ordering::Relaxed);
            panic!("no character boundary in `{words}`");
        }
    }
}

impl Rewriter for Clumsy {
    fn prepare<'a>(&self, ask: &IncomingTurn<'a>) -> Result<Prepared<'a>, PrepareError> {
        let prepared = self.conversations.prepare(ask);
        self.trip(Falls::Preparing, ask.body);
        prepared
    }

    fn overflow<'a>(
        &self,
        ask: &IncomingTurn<'a>,
        turn: &Turn,
        refusal: &SizeRefusal,
        attempt: u8,
    ) -> Result<Option<Prepared<'a>>, PrepareError> {
        self.conversations.overflow(ask, turn, refusal, attempt)
    }

    fn reject(&self, turn: &Turn) {
        self.conversations.reject(turn);
    }

    fn observe(&self, turn: &Turn, usage: ReportedUsage, now: Timestamp) {
        self.conversations.observe(turn, usage, now);
        self.trip(Falls::Observing, MARK);
    }

    fn plan(&self, task: &mut FoldTask) -> Result<Planned, PrepareError> {
        self.trip(Falls::Planning, MARK);
        self.conversations.plan(task)
    }

    fn run(&self, task: FoldTask, summary: Option<Summary>, now: Timestamp) -> Result<(), PrepareError> {
        self.conversations.run(task, summary, now)
    }
}

fn body(path: &str) -> String {
    let words = |n: usize| format!("{MARK} {n}: {}", "the importer reads orders and writes the rest. ".repeat(40));
    let messages: Vec<_> = (0..41_usize)
        .map(|n| serde_json::json!({"role": if n.is_multiple_of(2) { "user" } else { "assistant" }, "content": words(n)}))
        .collect();
    let list = if path.ends_with("responses") { "input" } else { "messages" };
    serde_json::json!({"model": "m", "max_tokens": 9, list: messages}).to_string()
}

async fn exchange(address: SocketAddr, request: String) -> String {
    let exchange = async {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).await.unwrap();
        reply
    };
    tokio::time::timeout(Duration::from_secs(20), exchange).await.unwrap()
}

async fn works_with(falls: Falls) {
    let provider = Provider::start([Act::say("Done.")]).await.unwrap();
    let mut policy = Policy::of(Preset::Hermes);
    let settings = GatewaySettings {
        upstream_openai: Some(provider.url()),
        upstream_anthropic: Some(provider.url()),
        ..GatewaySettings::default()
    };
    policy.model.window = AutoOr::Fixed(32_000);
    if falls == Falls::Planning {
        policy.summarizer.url = Some("http://127.0.0.1:9/v1".to_owned());
    }
    let plan = GatewayConfig { policy, gateway: settings, ..GatewayConfig::default() };
    let gateway = Gateway::open_with(&plan, |conversations| {
        Arc::new(Clumsy { conversations, trips: AtomicUsize::new(0), falls })
    })
    .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let served = tokio::spawn(serve::serve(gateway, listener, std::future::pending()));
    for path in PATHS {
        let body = body(path);
        let length = body.len();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
        );
        let reply = exchange(address, head + &body).await;
        assert!(reply.starts_with("HTTP/1.1 200"), "{path}");
        let sent = provider.requests().pop().unwrap();
        assert_eq!(falls == Falls::Preparing, reply.contains("x-foldline-outcome: failed-open"), "{path}");
        assert!(falls != Falls::Preparing || sent.text() == body, "{path}: as it came");
    }
    let kind = if falls == Falls::Planning { "background" } else { "panic" };
    let counted = format!("foldline_fallbacks_total{{kind=\"{kind}\"}} 3");
    let mut page = String::new();
    for _ in 0..200 {
        page = exchange(
            address,
            "GET /foldline/metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n".to_owned(),
        )
        .await;
        if page.contains(&counted) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(page.contains(&counted), "{page}");
    assert!(page.contains("foldline_background_folds 0"), "no conversation waits for a fold that never comes");
    served.abort();
}

/// Set in the process in which requests fall, whose words are read from outside.
const INSIDE: &str = "FOLDLINE_TEST_INSIDE";

async fn the_work() {
    serve::log_places_of_panics();
    for falls in [Falls::Preparing, Falls::Observing, Falls::Planning] {
        works_with(falls).await;
    }
}

#[test]
fn a_panic_costs_a_fold_and_neither_a_request_nor_a_secret() {
    if std::env::var_os(INSIDE).is_some() {
        return tokio::runtime::Runtime::new().unwrap().block_on(the_work());
    }
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_panic_costs_a_fold_and_neither_a_request_nor_a_secret", "--nocapture"])
        .env(INSIDE, "1")
        .output()
        .unwrap();
    let said = [child.stdout, child.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(said.contains("1 passed"), "{}", said.get(..2_000).unwrap_or(&said));
    assert!(!said.contains(MARK), "words of a panic are printed");
}
