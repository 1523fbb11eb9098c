//! Clients that share a provider's key: none reaches what another left there.

use crate::harness::{GEMINI, PATHS, RESPONSES, TestGateway, TestReply, short};
use foldline_script::{Act, Received};

const A: (&str, &str) = ("authorization", "Bearer a");
const B: (&str, &str) = ("authorization", "Bearer b");

/// Answers every turn with a response of another name.
fn answered(request: &Received, number: usize) -> Act {
    let response =
        format!(r#"{{"metadata":{{"id":"resp_of_nobody"}},"id":"resp_{number}","object":"response","output":[]}}"#);
    let (content_type, body) = match request.text().contains("\"stream\":true") {
        true => {
            let event = format!(r#"{{"type":"response.created","response":{response}}}"#);
            ("text/event-stream", format!("event: response.created\ndata: {event}\n\n"))
        }
        false => ("application/json", response),
    };
    Act::Raw { status: 200, headers: Vec::new(), content_type: content_type.into(), body }
}

async fn shared(more: &[&str]) -> (TestGateway, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys");
    std::fs::write(&file, "a openai=up anthropic=up2 google=up3\nb openai=up anthropic=up2 google=up3\nown\n").unwrap();
    let test = TestGateway::choosing(answered, |p| {
        p.gateway.client_keys = Some(file.display().to_string());
        p.gateway.mapped_paths = more.iter().map(|path| (*path).to_owned()).collect();
    })
    .await;
    (test, folder)
}

/// The name of the response that a turn made.
fn made(seen: &TestReply) -> String {
    let text = seen.text();
    let at = text.find("\"resp_").unwrap();
    let names = text.match_indices("\"id\":\"resp_").map(|(at, _)| &text[at + 6..]);
    let name = names.map(|rest| &rest[..rest.find('"').unwrap()]).find(|name| *name != "resp_of_nobody");
    name.unwrap_or_else(|| panic!("no name after {at}")).to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn responses_belong_to_the_client_that_created_them() {
    let (test, _folder) = shared(&[]).await;
    for stream in [false, true] {
        let id = made(&test.post_with(RESPONSES, &[A], short(RESPONSES, stream).as_bytes()).await);
        let path = format!("/v1/responses/{id}");
        let before = test.provider.requests().len();
        for (method, path) in [("GET", path.clone()), ("DELETE", path.clone()), ("POST", format!("{path}/cancel"))] {
            let seen = test.send(method, &path, &[B], b"").await;
            assert_eq!(
                (seen.status, seen.json()["error"]["type"].as_str()),
                (404, Some("not_found_error")),
                "{method}"
            );
        }
        let next = short(RESPONSES, false).replacen('{', &format!(r#"{{"previous_response_id":"{id}","#), 1);
        assert_eq!(test.post_with(RESPONSES, &[B], next.as_bytes()).await.status, 404);
        assert_eq!(test.provider.requests().len(), before, "nothing of it reaches the provider");
        assert_eq!(test.send("GET", &path, &[A], b"").await.status, 200);
        assert_eq!(test.post_with(RESPONSES, &[A], next.as_bytes()).await.status, 200);
    }
    // What a client says itself makes nothing its own.
    assert_eq!(test.send("GET", "/v1/responses/resp_of_nobody", &[A], b"").await.status, 404);
    let odd = r#"{"model":"m","input":"x","conversation":{"id":"conv_1"}}"#;
    assert_eq!(test.post_with(RESPONSES, &[A], odd.as_bytes()).await.status, 404);
    assert_eq!(test.post_with(RESPONSES, &[A], b"{nope").await.status, 400);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn response_ownership_survives_a_restart() {
    let (mut test, _folder) = shared(&[]).await;
    let id = made(&test.post_with(RESPONSES, &[A], short(RESPONSES, false).as_bytes()).await);
    let store = test.folder.path().join("store.db");
    let count = || {
        rusqlite::Connection::open(&store)
            .and_then(|file| file.query_row("SELECT count(*) FROM objects", [], |row| row.get::<_, i64>(0)))
            .unwrap()
    };
    while count() == 0 {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let again = foldline_gateway::serve::Gateway::open(&test.config).unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    test.address = listener.local_addr().unwrap();
    tokio::spawn(foldline_gateway::serve::serve(again, listener, std::future::pending()));
    assert_eq!(test.send("GET", &format!("/v1/responses/{id}"), &[A], b"").await.status, 200);
    assert_eq!(test.send("GET", &format!("/v1/responses/{id}"), &[B], b"").await.status, 404);
}

#[tokio::test]
async fn mapped_keys_allow_only_requests_that_create_nothing() {
    let (test, _folder) = shared(&["/embeddings"]).await;
    for (method, path) in [
        ("GET", "/v1/files"),
        ("DELETE", "/v1/files/f"),
        ("GET", "/v1/responses"),
        ("GET", "/v1/chat/completions"),
        ("POST", "/v1/batches"),
        ("POST", "/v1/messages/batches"),
        ("GET", "/v1/organization/users"),
        ("DELETE", "/v1/models/ft"),
    ] {
        let seen = test.send(method, path, &[A], b"").await;
        assert_eq!(
            (seen.status, seen.json()["error"]["type"].as_str()),
            (403, Some("permission_error")),
            "{method} {path}"
        );
        assert!(seen.text().contains("gateway.mapped_paths"), "what to do: {}", seen.text());
    }
    assert!(test.provider.requests().is_empty());
    for (method, path) in [
        ("GET", "/v1/models"),
        ("GET", "/v1/models/m"),
        ("POST", "/v1/messages/count_tokens"),
        ("POST", "/v1beta/models/m:countTokens"),
        ("GET", "/v1beta/models"),
        ("POST", "/v1/embeddings"),
    ] {
        assert_eq!(test.send(method, path, &[A], b"").await.status, 200, "{method} {path}");
    }
    for path in PATHS {
        assert_eq!(test.post_with(path, &[A], short(path, false).as_bytes()).await.status, 200, "{path}");
    }
    let cached = short(GEMINI, false).replacen('{', r#"{"cachedContent":"cachedContents/c","#, 1);
    assert_eq!(test.post_with(GEMINI, &[A], cached.as_bytes()).await.status, 404);
    // A client with a key of its own does what that key may.
    let own = ("authorization", "Bearer own");
    assert_eq!(test.send("DELETE", "/v1/files/f", &[own], b"").await.status, 200);
}

/// Answers as a provider that keeps files and batches.
fn keeping(request: &Received, number: usize) -> Act {
    let body = match (request.method.as_str(), request.uri.path()) {
        ("POST", "/v1/batches") => format!(r#"{{"id":"batch_{number}","object":"batch","output_file_id":null}}"#),
        ("GET", path) if path.starts_with("/v1/batches/") => {
            format!(r#"{{"id":"{}","object":"batch","output_file_id":"file-out"}}"#, &path["/v1/batches/".len()..])
        }
        _ => format!(r#"{{"id":"file-{number}","object":"file"}}"#),
    };
    Act::Raw { status: 200, headers: Vec::new(), content_type: "application/json".into(), body }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_and_batches_belong_to_the_client_that_created_them() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys");
    std::fs::write(&file, "a openai=up\nb openai=up\n").unwrap();
    let test = TestGateway::choosing(keeping, |p| {
        p.gateway.client_keys = Some(file.display().to_string());
        p.gateway.mapped_paths = ["/files*", "/batches*", "/responses*"].map(str::to_owned).to_vec();
    })
    .await;
    let form = ("content-type", "multipart/form-data; boundary=x");
    let id = |seen: &TestReply| seen.json()["id"].as_str().unwrap().to_owned();
    let uploaded = id(&test.post_with("/v1/files", &[A, form], b"--x--").await);
    let input = format!(r#"{{"input_file_id":"{uploaded}","endpoint":"/v1/responses"}}"#);
    let batch = id(&test.post_with("/v1/batches", &[A], input.as_bytes()).await);

    let before = test.provider.requests().len();
    for (method, path) in [
        ("GET", format!("/v1/files/{uploaded}")),
        ("GET", format!("/v1/files/{uploaded}/content")),
        ("DELETE", format!("/v1/files/{uploaded}")),
        ("GET", format!("/v1/batches/{batch}")),
        ("POST", format!("/v1/batches/{batch}/cancel")),
        ("GET", "/v1/files/file-out/content".to_owned()),
    ] {
        assert_eq!(test.send(method, &path, &[B], b"").await.status, 404, "{method} {path}");
    }
    assert_eq!(test.post_with("/v1/batches", &[B], input.as_bytes()).await.status, 404, "with another's file");
    assert_eq!(test.post_with("/v1/batches", &[B], b"no JSON").await.status, 400);
    for path in ["/v1/files", "/v1/batches?limit=2", "/v1/responses"] {
        let list = test.send("GET", path, &[A], b"").await;
        assert!(list.status == 403 && list.text().contains("by its id"), "{path}: {}", list.text());
    }
    assert_eq!(test.provider.requests().len(), before, "nothing of it reaches the provider");

    // What a batch has made belongs to it.
    assert_eq!(test.send("GET", "/v1/files/file-out/content", &[A], b"").await.status, 404, "not known yet");
    assert_eq!(test.send("GET", &format!("/v1/batches/{batch}"), &[A], b"").await.status, 200);
    assert_eq!(test.send("GET", "/v1/files/file-out/content", &[A], b"").await.status, 200);
    assert_eq!(test.send("GET", "/v1/files/file-out/content", &[B], b"").await.status, 404);
    assert_eq!(test.send("DELETE", &format!("/v1/files/{uploaded}"), &[A], b"").await.status, 200);
}
