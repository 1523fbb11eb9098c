//! Fuzzing of HTTP input to the gateway, and of settings reloads.

use foldline_core::Policy;
use foldline_core::settings::{Given, Layer, Origin, Section, Sections, Setting};
use foldline_gateway::serve::{Gateway, GatewayConfig, serve};
use foldline_gateway::settings::GatewaySettings;
use foldline_store::StoreSettings;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

/// The key of a provider, which no stranger may cause to be told.
const LENT: &str = "a-key-that-never-leaves";
/// The only client.
const CLIENT: &str = "client-of-the-fuzzer";
/// An answer takes as long as nobody listens at the provider's: no time. So a gateway that says nothing hangs.
const PATIENCE: Duration = Duration::from_secs(20);
/// No answer to a stranger is longer.
const LONGEST_REPLY: u64 = 1 << 20;

/// Gateways that serve for as long as the process lives.
struct TestServer {
    runtime: Runtime,
    /// For everybody on this machine.
    open: Arc<Gateway>,
    /// For one client, as on an address that others reach.
    shut: Arc<Gateway>,
    address: SocketAddr,
}

static PANICS: AtomicUsize = AtomicUsize::new(0);

fn house() -> &'static TestServer {
    static HOUSE: OnceLock<TestServer> = OnceLock::new();
    HOUSE.get_or_init(|| match build() {
        Ok(house) => house,
        Err(error) => panic!("no gateway to try: {error}"),
    })
}

fn build() -> Result<TestServer, crate::Failure> {
    // A panic in a task of the gateway ends a connection and nothing else; here it must be seen.
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        PANICS.fetch_add(1, Ordering::SeqCst);
        before(panic);
    }));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let keys = std::env::temp_dir().join(format!("foldline-fuzz-{}", std::process::id()));
    std::fs::write(&keys, format!("{CLIENT} openai={LENT} anthropic={LENT}\n"))?;
    let nobody = "http://127.0.0.1:1".to_owned();
    let mut settings = GatewaySettings {
        upstream_openai: Some(nobody.clone()),
        upstream_anthropic: Some(nobody),
        header_secs: 2,
        body_secs: 2,
        ..GatewaySettings::default()
    };
    let config = |gateway: GatewaySettings| GatewayConfig { gateway, ..GatewayConfig::default() };
    let (open, shut, address) = runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let open = Gateway::open(&config(settings.clone()))?;
        tokio::spawn(serve(open.clone(), listener, std::future::pending()));
        settings.client_keys = Some(keys.display().to_string());
        settings.listen = Some("0.0.0.0:8787".to_owned());
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let shut = Gateway::open(&config(settings))?;
        tokio::spawn(serve(shut.clone(), listener, std::future::pending()));
        Ok::<_, crate::Failure>((open, shut, address))
    })?;
    Ok(TestServer { runtime, open, shut, address })
}

/// Any bytes as what a client sends: the gateway answers or hangs up, in time, without panic, in HTTP, and tells no key.
pub fn http(bytes: &[u8]) {
    let house = house();
    let before = PANICS.load(Ordering::SeqCst);
    let exchange = async {
        let mut stream = TcpStream::connect(house.address).await?;
        // A gateway that has heard enough may answer and close before all is sent.
        let _ = stream.write_all(bytes).await;
        let _ = stream.shutdown().await;
        let mut reply = Vec::new();
        let _ = stream.take(LONGEST_REPLY).read_to_end(&mut reply).await;
        Ok::<_, std::io::Error>(reply)
    };
    let reply = house.runtime.block_on(async { tokio::time::timeout(PATIENCE, exchange).await });
    let Ok(reply) = reply else { panic!("neither an answer nor an end") };
    // A machine without sockets tells nothing about the gateway.
    let Ok(reply) = reply else { return };
    assert_eq!(PANICS.load(Ordering::SeqCst), before, "a panic in the gateway");
    assert!(is_http(&reply), "no HTTP: {}", String::from_utf8_lossy(&reply));
    let told = String::from_utf8_lossy(&reply);
    assert!(!told.contains(LENT), "a key was told: {told}");
}

/// Nothing, a reply of HTTP/1, or a frame of HTTP/2 on the connection itself.
fn is_http(reply: &[u8]) -> bool {
    let is_frame = matches!(reply, [_, _, _, 4 | 6 | 7, ..]);
    reply.is_empty() || reply.starts_with(b"HTTP/1.1 ") || reply.starts_with(b"HTTP/1.0 ") || is_frame
}

/// Any settings, one `key=value` a line, read again while gateways serve: whatever they say, one that is for known clients
/// stays so, and one that is for everybody stays where only this machine reaches it.
pub fn reload(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let settings = text.lines().filter_map(|line| line.split_once('=')).map(|(key, value)| Setting {
        key: key.trim().to_owned(),
        given: Given::Text(value.trim().to_owned()),
        origin: Origin::Flag("--set".to_owned()),
    });
    let layer = Layer { settings: settings.collect() };
    let tables = Policy::TABLES.into_iter().chain([StoreSettings::TABLE, GatewaySettings::TABLE]);
    let Ok(resolved) = Sections::new(tables).resolve(&[layer]) else { return };
    let house = house();
    let _guard = house.runtime.enter();
    let config =
        GatewayConfig { policy: Policy::resolved(&resolved), gateway: resolved.section(), ..GatewayConfig::default() };
    for gateway in [&house.open, &house.shut] {
        // Refused or not: what counts is what holds afterwards.
        let _taken = gateway.reload(&config);
    }
    let outside = SocketAddr::from(([192, 0, 2, 1], 8787));
    assert!(house.shut.setup().may_serve(outside).is_ok(), "everybody is let in from outside: {text}");
    let inside = SocketAddr::from(([127, 0, 0, 1], 8787));
    assert!(house.open.setup().may_serve(inside).is_ok(), "this machine is shut out: {text}");
}
