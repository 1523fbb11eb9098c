use super::*;
use foldline_script::{Act, Provider};
use http_body_util::Full;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

fn settings(proxies: Proxies) -> OutboundSettings {
    OutboundSettings { proxies, connect_timeout: Duration::from_millis(400), ..OutboundSettings::default() }
}

fn through(proxy: &str, no: &str) -> Proxies {
    Proxies::Given { http: proxy.to_owned(), https: proxy.to_owned(), no: no.to_owned() }
}

fn post(url: &str) -> Request<Full<Bytes>> {
    Request::post(url).body(Full::from("{\"stream\":false}")).unwrap()
}

#[tokio::test]
async fn connections_are_reused_and_bodies_arrive() {
    let provider = Provider::start([Act::say("Hello.")]).await.unwrap();
    let outbound = Outbound::new(settings(Proxies::None)).unwrap();
    for _ in 0..3 {
        let response = outbound.send(post(&format!("{}/v1/messages?beta=true", provider.url()))).await.unwrap();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        assert!(String::from_utf8_lossy(&body).contains("Hello."));
    }
    let requests = provider.requests();
    assert_eq!(requests[2].uri.to_string(), "/v1/messages?beta=true");
    assert_eq!(requests[2].headers["host"], provider.address().to_string());
}

#[tokio::test]
async fn plain_requests_go_to_the_proxy_whole_with_its_password() {
    let proxy = Provider::start([Act::say("From afar.")]).await.unwrap();
    let url = format!("http://me:{}@{}", "open-sesame", proxy.address());
    let outbound = Outbound::new(settings(through(&url, "direct.test"))).unwrap();
    let response = outbound.send(post("http://provider.test/v1/messages")).await.unwrap();
    assert_eq!(response.status(), 200);
    let seen = proxy.requests().remove(0);
    assert_eq!(seen.uri.to_string(), "http://provider.test/v1/messages");
    assert_eq!(seen.headers["proxy-authorization"], "Basic bWU6b3Blbi1zZXNhbWU=");
    assert_eq!(seen.headers["host"], "provider.test");
    // Exceptions and this machine are reached directly.
    assert!(outbound.send(post("http://direct.test/")).await.is_err());
    let local = Provider::start([Act::say("From here.")]).await.unwrap();
    assert!(outbound.send(post(&local.url())).await.is_ok());
    assert_eq!(proxy.requests().len(), 1);
}

#[tokio::test]
async fn encrypted_requests_ask_the_proxy_for_a_tunnel() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let heard = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut asked = vec![0; 1024];
        let length = stream.read(&mut asked).await.unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
        let mut hello = [0; 3];
        stream.read_exact(&mut hello).await.unwrap();
        (String::from_utf8_lossy(&asked[..length]).into_owned(), hello)
    });
    let outbound = Outbound::new(settings(through(&format!("http://me:{}@{address}", "pw"), ""))).unwrap();
    if outbound.dial.check(&"https://provider.test/".parse().unwrap()).is_err() {
        // A machine without certificates refuses before it connects.
        return;
    }
    let error = outbound.send(post("https://provider.test:8443/v1")).await.unwrap_err();
    assert!(matches!(error, OutboundError::Connect(_)), "{error}");
    let (asked, hello) = heard.await.unwrap();
    assert!(asked.starts_with("CONNECT provider.test:8443 HTTP/1.1\r\n"), "{asked}");
    assert!(asked.contains("Proxy-Authorization: Basic bWU6cHc="), "{asked}");
    assert_eq!(hello[..2], [0x16, 0x03], "TLS begins inside the tunnel");
}

#[tokio::test]
async fn what_cannot_be_reached_is_said_in_time_and_without_passwords() {
    let outbound = Outbound::new(settings(Proxies::None)).unwrap();
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let error = outbound.send(post(&format!("http://{closed}/"))).await.unwrap_err();
    assert!(error.is_connect() && error.to_string().contains("refused"), "{error}");
    // A server that takes the connection and never begins TLS.
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}/", silent.local_addr().unwrap());
    let error = outbound.send(post(&url)).await.unwrap_err();
    assert!(matches!(error, OutboundError::ConnectTimeout(_) | OutboundError::Address(_)), "{error}");
    let error = outbound.send(post("ftp://host/x")).await.unwrap_err();
    assert!(error.to_string().contains("expected http or https"), "{error}");
    let secret = "swordfish";
    let socks = Outbound::new(settings(through(&format!("socks5://me:{secret}@127.0.0.1:1"), ""))).unwrap();
    let error = socks.send(post("http://provider.test/")).await.unwrap_err().to_string();
    assert!(error.contains("socks5") && !error.contains(secret), "{error}");
}

#[tokio::test]
async fn a_broken_connection_is_told_from_one_that_never_stood() {
    let provider = Provider::start([Act::HangUp]).await.unwrap();
    let outbound = Outbound::new(settings(Proxies::None)).unwrap();
    let error = outbound.send(post(&provider.url())).await.unwrap_err();
    assert!(!error.is_connect(), "{error}");
}

#[test]
fn a_certificate_file_that_is_none_is_an_error_with_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ca.pem");
    std::fs::write(&path, "no certificate").unwrap();
    for path in [path, folder.path().join("missing.pem")] {
        let settings = OutboundSettings { ca_file: Some(path.clone()), ..OutboundSettings::default() };
        let error = Outbound::new(settings).unwrap_err().to_string();
        assert!(error.contains(&path.display().to_string()), "{error}");
    }
}
