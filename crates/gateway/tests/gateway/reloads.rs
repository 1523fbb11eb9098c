//! Settings that change while the gateway runs never let anybody in who was kept out.

use foldline_gateway::serve::{self, Gateway, GatewayConfig};
use foldline_gateway::settings::GatewaySettings;
use foldline_script::{Act, Provider};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

struct Served {
    gateway: std::sync::Arc<Gateway>,
    config: GatewayConfig,
    port: u16,
    _folder: tempfile::TempDir,
    _provider: Provider,
}

/// A gateway that listens at `address`, with the keys of clients.
async fn served(address: &str) -> Served {
    let provider = Provider::start([Act::say("x")]).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys");
    std::fs::write(&file, "one\n").unwrap();
    let listener = TcpListener::bind(address).await.unwrap();
    let gateway = GatewaySettings {
        upstream_openai: Some(provider.url()),
        upstream_anthropic: Some(provider.url()),
        listen: Some(listener.local_addr().unwrap().to_string()),
        client_keys: Some(file.display().to_string()),
        ..GatewaySettings::default()
    };
    let config = GatewayConfig { gateway, store: Some(folder.path().join("store.db")), ..GatewayConfig::default() };
    let gateway = Gateway::open(&config).unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(serve::serve(gateway.clone(), listener, std::future::pending()));
    Served { gateway, config, port, _folder: folder, _provider: provider }
}

async fn sessions(served: &Served) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", served.port)).await.unwrap();
    let head = "GET /foldline/sessions HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).await.unwrap();
    reply[9..12].to_owned()
}

#[tokio::test]
async fn reload_cannot_remove_keys_on_a_public_address() {
    let served = served("0.0.0.0:0").await;
    assert_eq!(sessions(&served).await, "401");
    let mut config = served.config.clone();
    config.gateway.listen = Some("127.0.0.1:8787".to_owned());
    config.gateway.client_keys = None;
    let error = served.gateway.reload(&config).unwrap_err().to_string();
    assert!(error.contains("gateway.listen") && error.contains("restart"), "{error}");
    assert_eq!(sessions(&served).await, "401");
    // The same with an address that says nothing about the socket.
    config.gateway.listen = served.config.gateway.listen.clone();
    let error = served.gateway.reload(&config).unwrap_err().to_string();
    assert!(error.contains("client_keys"), "{error}");
    assert_eq!(sessions(&served).await, "401");
}

#[tokio::test]
async fn reload_rejects_another_address_but_not_another_spelling() {
    let served = served("127.0.0.1:0").await;
    let mut config = served.config.clone();
    config.gateway.listen = Some(format!("127.0.0.1:{}", served.port.wrapping_add(1).max(1024)));
    let error = served.gateway.reload(&config).unwrap_err().to_string();
    assert!(error.contains(&format!("127.0.0.1:{}", served.port)) && error.contains("restart"), "{error}");
    config.gateway.listen = Some(format!("[::ffff:127.0.0.1]:{}", served.port));
    assert!(served.gateway.reload(&config).is_err(), "another kind of address is another address");
    config.gateway.listen = served.config.gateway.listen.clone();
    config.gateway.max_body_bytes = 1_000;
    served.gateway.reload(&config).unwrap();
}

#[tokio::test]
async fn reload_cannot_remove_client_keys() {
    let served = served("127.0.0.1:0").await;
    let mut config = served.config.clone();
    config.gateway.client_keys = None;
    let error = served.gateway.reload(&config).unwrap_err().to_string();
    assert!(error.contains("client_keys") && error.contains("restart"), "{error}");
    assert_eq!(sessions(&served).await, "401");
}
