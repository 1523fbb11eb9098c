//! Providers and summarisers behind TLS: reached with their authority's certificate, refused without.

use crate::process::{Served, command, conversation, start};
use std::io::Read;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// An HTTPS server that answers every request in the words of Chat Completions, streamed or not.
const SERVER: &str = r###"
import http.server, json, ssl, sys
class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        text = self.rfile.read(int(self.headers["content-length"]))
        asked = json.loads(text)
        words = "## Goal\n- Run the tests behind TLS.\n"
        usage = {"prompt_tokens": len(text) // 4, "completion_tokens": 9}
        if asked.get("stream"):
            chunk = {"choices": [{"index": 0, "delta": {"content": words}, "finish_reason": "stop"}], "usage": usage}
            body, kind = "data: %s\n\ndata: [DONE]\n\n" % json.dumps(chunk), "text/event-stream"
        else:
            message = {"role": "assistant", "content": words}
            body, kind = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage}), "application/json"
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())
    def log_message(self, *args):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Answer)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[2], sys.argv[3])
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
"###;

/// A server with a certificate of an authority that nobody knows.
struct Provider {
    process: Child,
    port: u16,
    authority: PathBuf,
}

impl Drop for Provider {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Runs a tool; `None` when this machine does not have it.
fn run(folder: &Path, tool: &str, args: &[&str]) -> Option<()> {
    let output = Command::new(tool).args(args).current_dir(folder).output().ok()?;
    assert!(output.status.success(), "{tool}: {}", String::from_utf8_lossy(&output.stderr));
    Some(())
}

/// Makes the certificates and starts the server; `None` where openssl or Python is missing.
fn provider(folder: &Path) -> Option<Provider> {
    std::fs::write(folder.join("ext"), "subjectAltName=IP:127.0.0.1,DNS:localhost\nbasicConstraints=CA:FALSE\n")
        .unwrap();
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    let ca = ["req", "-x509", "-subj", "/CN=An authority", "-days", "2", "-keyout", "ca.key", "-out", "ca.pem"];
    run(folder, "openssl", &[&ca[..], &key].concat())?;
    run(
        folder,
        "openssl",
        &[&["req", "-subj", "/CN=localhost", "-keyout", "key.pem", "-out", "csr.pem"][..], &key].concat(),
    )?;
    let sign = "x509 -req -in csr.pem -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile ext -out cert.pem";
    run(folder, "openssl", &sign.split(' ').collect::<Vec<_>>())?;
    std::fs::write(folder.join("server.py"), SERVER).unwrap();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let process = Command::new("python3")
        .args(["server.py", &port.to_string(), "cert.pem", "key.pem"])
        .current_dir(folder)
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let provider = Provider { process, port, authority: folder.join("ca.pem") };
    let end = Instant::now() + crate::process::PATIENCE;
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(Instant::now() < end, "the server does not start");
        std::thread::sleep(Duration::from_millis(20));
    }
    Some(provider)
}

fn gateway(folder: &Path, args: &[&str], environment: &[(&str, &Path)]) -> Served {
    let mut command = command(folder, &[&["--listen", "127.0.0.1:0", "--window", "16000"], args].concat());
    command.envs(environment.iter().copied());
    start(folder, command)
}

const CHAT: &str = "/v1/chat/completions";

fn chat(turns: usize) -> serde_json::Value {
    let mut messages = vec![serde_json::json!({"role": "user", "content": "Run all tests."})];
    let whole = conversation(turns, false).to_string();
    for n in 0..turns {
        messages.push(serde_json::json!({"role": "assistant", "content": format!("{n}: {}", &whole[..800])}));
        messages.push(serde_json::json!({"role": "user", "content": format!("Go on with {n}.")}));
    }
    serde_json::json!({"model": "m", "messages": messages})
}

#[test]
fn a_provider_behind_tls_is_reached_with_its_authority_and_refused_without() {
    let folder = tempfile::tempdir().unwrap();
    let Some(provider) = provider(folder.path()) else {
        eprintln!("openssl or python3 is missing: nothing was tried");
        return;
    };
    let upstream = format!("https://127.0.0.1:{}/v1", provider.port);
    let args = ["--upstream-openai", &upstream];
    let trusting = gateway(folder.path(), &args, &[("SSL_CERT_FILE", &provider.authority)]);
    let reply = trusting.post(CHAT, &chat(2));
    assert!(reply.starts_with("HTTP/1.1 200") && reply.contains("behind TLS"), "{reply}");
    // With other authorities than the one that counts.
    let strange = tempfile::tempdir().unwrap();
    let key = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -keyout k -out other.pem -subj /CN=Another";
    run(strange.path(), "openssl", &key.split(' ').collect::<Vec<_>>()).unwrap();
    let wary = gateway(folder.path(), &args, &[("SSL_CERT_FILE", &strange.path().join("other.pem"))]);
    let mut reply = String::new();
    wary.open(CHAT, &chat(2)).read_to_string(&mut reply).unwrap();
    assert!(reply.starts_with("HTTP/1.1 502") && reply.contains("unreachable"), "{reply}");
    assert!(reply.contains("certificate"), "it says why: {reply}");
}

#[test]
fn a_summariser_behind_tls_is_reached_with_its_authority_and_refused_without() {
    let folder = tempfile::tempdir().unwrap();
    let Some(provider) = provider(folder.path()) else {
        eprintln!("openssl or python3 is missing: nothing was tried");
        return;
    };
    let url = format!("https://127.0.0.1:{}/v1", provider.port);
    let summariser = format!("summarizer.url={url}");
    let ca = format!("summarizer.ca_file={}", provider.authority.display());
    let common = ["--upstream-openai", &url, "--set", &summariser, "--set", "summarizer.retries=0"];
    let written = |served: &Served, kind: &str| {
        for turns in (10..90).step_by(4) {
            served.post(CHAT, &chat(turns));
            served
                .wait_until("folds are done", "/foldline/metrics", |page| page.contains("foldline_background_folds 0"));
        }
        served.metric(&format!("foldline_summaries_total{{kind=\"{kind}\"}}"))
    };
    let trusting =
        gateway(folder.path(), &[&common[..], &["--set", &ca]].concat(), &[("SSL_CERT_FILE", &provider.authority)]);
    assert!(written(&trusting, "written") >= 1.0);
    assert_eq!(trusting.metric("foldline_summaries_total{kind=\"failed\"}"), 0.0);
    let empty = folder.path().join("nobody.pem");
    std::fs::write(&empty, "").unwrap();
    let other = tempfile::tempdir().unwrap();
    let store = format!("{}", other.path().join("store.db").display());
    let wary = gateway(folder.path(), &[&common[..], &["--store", &store]].concat(), &[("SSL_CERT_FILE", &empty)]);
    assert!(written(&wary, "failed") >= 1.0);
    assert_eq!(wary.metric("foldline_summaries_total{kind=\"written\"}"), 0.0);
    // The file of its own is enough.
    let own = gateway(
        folder.path(),
        &[&common[..], &["--set", &ca, "--store", &format!("{store}2")]].concat(),
        &[("SSL_CERT_FILE", &empty)],
    );
    assert!(written(&own, "written") >= 1.0);
}
