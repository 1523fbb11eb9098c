//! A gateway, a scripted provider, and a client that sees every byte.

use foldline_core::Policy;
use foldline_core::policy::Preset;
use foldline_gateway::serve::{self, Gateway, GatewayConfig, Stopped};
use foldline_gateway::settings::GatewaySettings;
use foldline_script::{Act, Provider, Received};
use foldline_store::StoreSettings;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// No test waits longer for a reply.
pub const PATIENCE: Duration = Duration::from_secs(20);

pub struct TestGateway {
    pub provider: Provider,
    pub gateway: Arc<Gateway>,
    pub address: SocketAddr,
    pub folder: tempfile::TempDir,
    pub config: GatewayConfig,
    stop: Option<oneshot::Sender<()>>,
    served: JoinHandle<Stopped>,
}

/// What a test changes about its gateway: the policy and, beside it, how it serves and what it keeps.
pub struct Tuned {
    policy: Policy,
    pub gateway: GatewaySettings,
    pub store: StoreSettings,
}

impl std::ops::Deref for Tuned {
    type Target = Policy;

    fn deref(&self) -> &Policy {
        &self.policy
    }
}

impl std::ops::DerefMut for Tuned {
    fn deref_mut(&mut self) -> &mut Policy {
        &mut self.policy
    }
}

impl TestGateway {
    pub async fn with(script: impl IntoIterator<Item = Act>) -> TestGateway {
        TestGateway::of(Provider::start(script).await.unwrap(), |_| {}).await
    }

    pub async fn tuned(script: impl IntoIterator<Item = Act>, tune: impl FnOnce(&mut Tuned)) -> TestGateway {
        TestGateway::of(Provider::start(script).await.unwrap(), tune).await
    }

    pub async fn choosing(
        choose: impl Fn(&Received, usize) -> Act + Send + Sync + 'static,
        tune: impl FnOnce(&mut Tuned),
    ) -> TestGateway {
        TestGateway::of(Provider::choosing(choose).await.unwrap(), tune).await
    }

    pub async fn of(provider: Provider, tune: impl FnOnce(&mut Tuned)) -> TestGateway {
        TestGateway::at(provider, tempfile::tempdir().unwrap(), tune).await
    }

    /// With its store in a folder that may hold something already.
    pub async fn at(provider: Provider, folder: tempfile::TempDir, tune: impl FnOnce(&mut Tuned)) -> TestGateway {
        let store = folder.path().join("store.db");
        TestGateway::storing(provider, folder, store, tune).await
    }

    /// With this store.
    pub async fn storing(
        provider: Provider,
        folder: tempfile::TempDir,
        store: PathBuf,
        tune: impl FnOnce(&mut Tuned),
    ) -> TestGateway {
        let mut tuned = Tuned {
            policy: Policy::of(Preset::Hermes),
            gateway: GatewaySettings::default(),
            store: StoreSettings::default(),
        };
        tuned.gateway.upstream_openai = Some(provider.url());
        tuned.gateway.upstream_anthropic = Some(provider.url());
        tuned.gateway.upstream_gemini = Some(provider.url());
        tune(&mut tuned);
        let Tuned { policy, gateway: settings, store: stored } = tuned;
        let (limits, originals, store) = (stored.limits(), stored.objects(), Some(store));
        let config = GatewayConfig { policy, gateway: settings, limits, originals, store, ..GatewayConfig::default() };
        let gateway = Gateway::open(&config).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let served = tokio::spawn(serve::serve(gateway.clone(), listener, async {
            let _ = stopped.await;
        }));
        TestGateway { provider, gateway, address, folder, config, stop: Some(stop), served }
    }

    pub async fn post(&self, path: &str, body: &str) -> TestReply {
        self.post_with(path, &[], body.as_bytes()).await
    }

    pub async fn post_with(&self, path: &str, headers: &[(&str, &str)], body: &[u8]) -> TestReply {
        self.send("POST", path, headers, body).await
    }

    pub async fn get(&self, path: &str) -> TestReply {
        self.send("GET", path, &[], b"").await
    }

    pub async fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> TestReply {
        let mut head = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n");
        if method == "POST" && !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
            head += "content-type: application/json\r\n";
        }
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        if !body.is_empty() {
            head += &format!("content-length: {}\r\n", body.len());
        }
        self.raw(&[head.as_bytes(), b"\r\n", body].concat()).await
    }

    /// Sends these bytes and reads to the end of the connection.
    pub async fn raw(&self, bytes: &[u8]) -> TestReply {
        let exchange = async {
            let mut stream = TcpStream::connect(self.address).await.unwrap();
            // A gateway that has heard enough may answer and close before all is sent.
            let _ = stream.write_all(bytes).await;
            let mut reply = Vec::new();
            let _ = stream.read_to_end(&mut reply).await;
            TestReply::read(&reply)
        };
        tokio::time::timeout(PATIENCE, exchange).await.expect("a reply in time")
    }

    /// The only request that the provider got.
    pub fn forwarded(&self) -> Received {
        let mut requests = self.provider.requests();
        assert_eq!(requests.len(), 1, "requests at the provider");
        requests.remove(0)
    }

    pub async fn metric(&self, name: &str) -> f64 {
        let page = self.get("/foldline/metrics").await.text();
        let line = page.lines().find(|line| line.starts_with(name));
        line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).unwrap_or(0.0)
    }

    /// Waits until a figure is as it should be.
    pub async fn until(&self, name: &str, holds: impl Fn(f64) -> bool) {
        let reached = async {
            while !holds(self.metric(name).await) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(PATIENCE, reached).await.unwrap_or_else(|_| panic!("{name} never holds"));
    }

    /// Another gateway on the same store, after this one has stopped.
    pub async fn restarted(mut self, tune: impl FnOnce(&mut Tuned)) -> TestGateway {
        self.ask_to_stop();
        let TestGateway { provider, gateway, folder, served, .. } = self;
        tokio::time::timeout(PATIENCE, served).await.expect("an end in time").unwrap();
        drop(gateway);
        TestGateway::at(provider, folder, tune).await
    }

    pub fn ask_to_stop(&mut self) {
        drop(self.stop.take());
    }

    pub async fn stopped(self) -> Stopped {
        tokio::time::timeout(PATIENCE, self.served).await.expect("an end in time").unwrap()
    }
}

/// A reply as it came over the wire.
#[derive(Debug)]
pub struct TestReply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub end: End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// As the headers promised.
    Proper,
    /// The connection ended before the body did.
    Cut,
}

impl TestReply {
    fn read(bytes: &[u8]) -> TestReply {
        let at = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or_else(|| {
            panic!("no head in {:?}", String::from_utf8_lossy(bytes));
        });
        let head = String::from_utf8_lossy(&bytes[..at]).into_owned();
        let rest = &bytes[at + 4..];
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers: Vec<(String, String)> =
            lines.map(|line| line.split_once(": ").map(|(n, v)| (n.to_lowercase(), v.to_owned())).unwrap()).collect();
        let of = |name: &str| headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str());
        let (body, end) = if of("transfer-encoding") == Some("chunked") {
            unchunk(rest)
        } else {
            let proper = of("content-length").is_none_or(|length| length.parse() == Ok(rest.len()));
            (rest.to_vec(), if proper { End::Proper } else { End::Cut })
        };
        TestReply { status, headers, body, end }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {}", self.text()))
    }
}

fn unchunk(mut rest: &[u8]) -> (Vec<u8>, End) {
    let mut body = Vec::new();
    loop {
        let Some(at) = rest.windows(2).position(|two| two == b"\r\n") else { return (body, End::Cut) };
        let length = usize::from_str_radix(std::str::from_utf8(&rest[..at]).unwrap(), 16).unwrap();
        rest = &rest[at + 2..];
        if length == 0 {
            return (body, End::Proper);
        }
        let Some(piece) = rest.get(..length) else {
            body.extend_from_slice(rest);
            return (body, End::Cut);
        };
        body.extend_from_slice(piece);
        rest = rest.get(length + 2..).unwrap_or_default();
    }
}

pub const CHAT: &str = "/v1/chat/completions";
pub const RESPONSES: &str = "/v1/responses";
pub const MESSAGES: &str = "/v1/messages";
pub const GEMINI: &str = "/v1beta/models/m:generateContent";
pub const GEMINI_EVENTS: &str = "/v1beta/models/m:streamGenerateContent?alt=sse";
pub const GEMINI_LIST: &str = "/v1beta/models/m:streamGenerateContent";

/// A request of each dialect.
pub const PATHS: [&str; 4] = [CHAT, RESPONSES, MESSAGES, GEMINI];

/// Messages as each dialect has them, in a request.
pub fn request(path: &str, stream: bool, messages: Vec<Value>) -> Value {
    match path {
        RESPONSES => json!({"model": "m", "stream": stream, "input": messages}),
        MESSAGES => json!({"model": "m", "stream": stream, "max_tokens": 9, "messages": messages}),
        CHAT => json!({"model": "m", "stream": stream, "messages": messages}),
        _ => json!({"contents": messages}),
    }
}

/// Words of a role as each dialect has them.
pub fn message(path: &str, role: &str, words: &str) -> Value {
    match path {
        CHAT | RESPONSES | MESSAGES => json!({"role": role, "content": words}),
        _ => json!({"role": if role == "assistant" { "model" } else { role }, "parts": [{"text": words}]}),
    }
}

/// The path that asks for a stream, where that is not in the body.
pub fn streaming(path: &str, stream: bool) -> &str {
    if path == GEMINI && stream { GEMINI_EVENTS } else { path }
}

/// A short request of each dialect.
pub fn short(path: &str, stream: bool) -> String {
    match path {
        GEMINI | GEMINI_EVENTS | GEMINI_LIST => r#"{"contents":[{"role":"user","parts":[{"text":"Hi"}]}]}"#.to_owned(),
        RESPONSES => format!(r#"{{"model":"m","stream":{stream},"input":[{{"role":"user","content":"Hi"}}]}}"#),
        MESSAGES => {
            format!(r#"{{"model":"m","max_tokens":9,"stream":{stream},"messages":[{{"role":"user","content":"Hi"}}]}}"#)
        }
        _ => format!(r#"{{"model":"m","stream":{stream},"messages":[{{"role":"user","content":"Hi"}}]}}"#),
    }
}
