//! The dashboard as an attacker sees it: injected content, forms of other pages, keys of other clients.

use crate::harness::{MESSAGES, TestGateway, TestReply, Tuned};
use foldline_core::policy::AutoOr;
use foldline_script::{Act, Provider};
use serde_json::json;
use std::path::PathBuf;
use std::time::Duration;

/// What would run in a browser if it were not escaped.
const INJECTED: &str = r#"</pre></title><script>alert(1)</script><img src=x onerror="alert(2)"> &lt;b&gt; "'"#;

const SAME_ORIGIN: (&str, &str) = ("sec-fetch-site", "same-origin");
const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

/// A session that folds, with injected text wherever a client can put some.
fn body() -> String {
    let mut messages = vec![json!({"role": "user", "content": format!("Repair it. {INJECTED}")})];
    for n in 0..30 {
        let words: String = (0..45).map(|line| format!("line {line} of {n}: {INJECTED}\n")).collect();
        messages.push(json!({"role": "assistant", "content": [
            // Most of the tokens are the assistant's own words, which no prune shortens.
            {"type": "text", "text": words},
            {"type": "tool_use", "id": format!("c{n}"), "name": format!("read{INJECTED}"), "input": {"path": INJECTED}},
        ]}));
        messages.push(json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": format!("c{n}"), "content": format!("needle{n} {INJECTED}\n")},
        ]}));
        // Rules in the middle, which a fold has to keep.
        let said = match n {
            3 => "Never push to main. Always run the tests first. Go on with the writers.",
            8 => "Now repair the reports.",
            _ => continue,
        };
        messages.push(json!({"role": "assistant", "content": "That part is repaired."}));
        messages.push(json!({"role": "user", "content": said}));
    }
    json!({"model": format!("m{INJECTED}"), "max_tokens": 9, "messages": messages}).to_string()
}

/// A gateway with a folded session of the key `a`.
struct Folded {
    test: TestGateway,
    session: String,
    handle: String,
    _keys: tempfile::TempDir,
}

/// Whether the gateway has client keys.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sharing {
    OneUser,
    ClientKeys,
}

impl Folded {
    async fn new(sharing: Sharing) -> Folded {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("store.db");
        Folded::storing(sharing, folder, store).await
    }

    /// With this store.
    async fn storing(sharing: Sharing, folder: tempfile::TempDir, store: PathBuf) -> Folded {
        let file = folder.path().join("keys");
        std::fs::write(&file, "a\nb\nops operator\n").unwrap();
        let provider = Provider::start([Act::say("Done.")]).await.unwrap();
        let test = TestGateway::storing(provider, tempfile::tempdir().unwrap(), store, |tuned: &mut Tuned| {
            tuned.model.window = AutoOr::Fixed(64_000);
            if sharing == Sharing::ClientKeys {
                tuned.gateway.client_keys = Some(file.display().to_string());
            }
        })
        .await;
        let headers = [("x-foldline-key", "a"), ("x-foldline-session", INJECTED)];
        let seen = test.post_with(MESSAGES, &headers, body().as_bytes()).await;
        assert_eq!(seen.header("x-foldline-outcome"), Some("folded"), "{}", seen.text());
        let session = seen.header("x-foldline-session").unwrap().to_owned();
        let sent = test.forwarded().text();
        let at = sent.find("fl-").expect("a handle in what was forwarded");
        let handle = sent[at..at + 15].to_owned();
        Folded { test, session, handle, _keys: folder }
    }

    async fn get(&self, path: &str, key: &str) -> TestReply {
        self.test.send("GET", path, &[("x-foldline-key", key)], b"").await
    }

    /// Whether its owner finds the fold at this path, within the time that the index of words may take.
    async fn finds(&self, path: &str) -> bool {
        for _ in 0..100 {
            if self.get(path, "a").await.text().contains(&self.handle) {
                return true;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        false
    }

    /// The path of the latest fold's page.
    async fn fold(&self) -> String {
        let page = self.get(&format!("/foldline/view/{}", self.session), "a").await.text();
        let start = page.find(&format!("/foldline/view/{}/fold/", self.session)).expect("a link to the fold");
        page[start..].split('"').next().unwrap().to_owned()
    }

    /// Signs a browser in; its cookie.
    async fn sign_in(&self, key: &str) -> String {
        let seen = self.test.post_with("/foldline/login", &[FORM, SAME_ORIGIN], format!("key={key}").as_bytes()).await;
        assert_eq!((seen.status, seen.header("location")), (303, Some("/foldline/")), "{}", seen.text());
        let cookie = seen.header("set-cookie").unwrap();
        assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && cookie.contains("Path=/foldline"));
        cookie.split(';').next().unwrap().to_owned()
    }

    async fn with_cookie(&self, method: &str, path: &str, cookie: &str) -> TestReply {
        self.test.send(method, path, &[FORM, SAME_ORIGIN, ("cookie", cookie)], b"").await
    }

    /// Every page with content of the session.
    async fn pages(&self) -> Vec<String> {
        let fold = self.fold().await;
        vec![
            "/foldline/".to_owned(),
            format!("/foldline/view/{}", self.session),
            format!("/foldline/original/{}", self.handle),
            "/foldline/find?q=needle3".to_owned(),
            fold,
        ]
    }
}

#[tokio::test]
async fn injected_content_is_escaped_and_no_page_has_inline_script_or_style() {
    let folded = Folded::new(Sharing::OneUser).await;
    let mut pages = folded.pages().await;
    let escaped = "&lt;script&gt;alert(1)&lt;/script&gt;";
    for path in &pages {
        let page = folded.get(path, "a").await;
        assert_eq!(page.status, 200, "{path}");
        // A session's name is in every page; the search shows the line that was found.
        assert!(page.text().contains(escaped) || path.contains("find"), "{path}: {}", page.text());
    }
    for words in ["%3Cscript%3Ealert(1)%3C%2Fscript%3E", "%22%20onfocus%3D%22alert(3)", "nothing"] {
        pages.push(format!("/foldline/find?q={words}&session={}", folded.session));
    }
    let others =
        ["settings", "health", "login", "view/<script>", "view/fs-0000000000000000", "original/<script>", "find"];
    pages.extend(others.map(|path| format!("/foldline/{}", path.replace('<', "%3C").replace('>', "%3E"))));
    for path in &pages {
        let page = folded.get(path, "a").await;
        let policy = page.header("content-security-policy").unwrap_or_default();
        assert!(policy.contains("default-src 'none'") && policy.contains("script-src 'self'"), "{path}: {policy}");
        assert!(!policy.contains("unsafe") && policy.contains("frame-ancestors 'none'"), "{path}: {policy}");
        assert_eq!(page.header("x-content-type-options"), Some("nosniff"), "{path}");
        let text = page.text();
        assert_eq!(text.matches("<script").count(), 1, "only our own script: {path}");
        assert!(text.contains(r#"<script src="/foldline/script.js" defer></script>"#), "{path}");
        for raw in
            ["<img", "<style", " style=", " onerror=\"", " onfocus=\"", " onclick=", "javascript:", "</pre></title>"]
        {
            assert!(!text.contains(raw), "{raw} in {path}: {text}");
        }
    }
}

#[tokio::test]
async fn downloads_are_attachments_of_plain_text() {
    let folded = Folded::new(Sharing::OneUser).await;
    for path in [format!("{}/download", folded.fold().await), format!("/foldline/original/{}/download", folded.handle)]
    {
        let file = folded.get(&path, "a").await;
        assert_eq!((file.status, file.header("content-type")), (200, Some("text/plain; charset=utf-8")), "{path}");
        assert!(
            file.header("content-disposition").is_some_and(|d| d.starts_with("attachment; filename=\"f")),
            "{path}"
        );
        assert!(file.text().contains("alert"), "bytes as they are: {path}");
        assert_eq!(folded.get(&path, "b").await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn forms_are_accepted_from_the_dashboard_only() {
    let folded = Folded::new(Sharing::OneUser).await;
    let cookie = folded.sign_in("a").await;
    let undo = format!("/foldline/view/{}/undo", folded.session);
    let port = folded.test.address.port();
    let own = format!("http://localhost:{port}");
    for path in [undo.as_str(), "/foldline/login", "/foldline/logout"] {
        let refused: [&[(&str, &str)]; 8] = [
            &[],
            &[("sec-fetch-site", "none")],
            &[("sec-fetch-site", "same-site"), ("origin", "http://localhost:3000")],
            &[("sec-fetch-site", "cross-site"), ("origin", "https://evil.example")],
            &[("origin", "https://evil.example")],
            &[("origin", "null")],
            &[("origin", "http://localhost:3000")],
            &[("sec-fetch-site", "cross-site")],
        ];
        for headers in refused {
            let headers = [headers, &[FORM, ("cookie", cookie.as_str())]].concat();
            let seen = folded.test.post_with(path, &headers, b"key=a").await;
            assert!(matches!(seen.status, 403 | 415), "{path} {headers:?}: {} {}", seen.status, seen.text());
        }
    }
    assert_eq!(folded.with_cookie("GET", "/foldline/", &cookie).await.status, 200, "still signed in");
    // A browser that does not send sec-fetch-site, on a page of this very port.
    let head = format!(
        "POST {undo} HTTP/1.1\r\nhost: localhost:{port}\r\norigin: {own}\r\ncookie: {cookie}\r\nconnection: close\r\n\
         content-type: application/x-www-form-urlencoded\r\ncontent-length: 0\r\n\r\n"
    );
    let seen = folded.test.raw(head.as_bytes()).await;
    assert_eq!(seen.status, 303, "the fold is still there, and undone now: {}", seen.text());
    assert_eq!(folded.with_cookie("POST", &undo, &cookie).await.status, 409, "nothing is left to undo");
    assert_eq!(folded.with_cookie("GET", &undo, &cookie).await.status, 404, "reading a page changes nothing");
}

#[tokio::test]
async fn a_cookie_ends_with_the_sign_out_and_with_the_key() {
    let folded = Folded::new(Sharing::ClientKeys).await;
    let wrong = folded.test.post_with("/foldline/login", &[FORM, SAME_ORIGIN], b"key=guessed").await;
    assert_eq!((wrong.status, wrong.header("set-cookie")), (401, None));
    let original = format!("/foldline/original/{}", folded.handle);
    let (one, two) = (folded.sign_in("a").await, folded.sign_in("a").await);
    assert_ne!(one, two);
    for cookie in [&one, &two] {
        assert_eq!(folded.with_cookie("GET", &original, cookie).await.status, 200);
    }
    assert_eq!(folded.with_cookie("POST", "/foldline/logout", &one).await.status, 303);
    assert_eq!(folded.with_cookie("GET", &original, &one).await.status, 303, "to the login form");
    // A cookie is for pages; endpoints for programs do not know it.
    assert_eq!(folded.with_cookie("GET", "/foldline/sessions", &two).await.status, 401);
    std::fs::write(folded._keys.path().join("keys"), "b\nops operator\n").unwrap();
    folded.test.gateway.reload(&folded.test.config).unwrap();
    assert_eq!(folded.with_cookie("GET", &original, &two).await.status, 303, "the key is revoked");
}

#[tokio::test]
async fn another_key_sees_nothing_and_an_operator_sees_figures_without_content() {
    keys_are_kept_apart(&Folded::new(Sharing::ClientKeys).await).await;
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn so_it_is_with_a_database() {
    use foldline_script::postgres::Postgres;
    let Some(server) = Postgres::shared().unwrap() else { return };
    let url = server.url(&server.database().unwrap());
    keys_are_kept_apart(&Folded::storing(Sharing::ClientKeys, tempfile::tempdir().unwrap(), url).await).await;
}

/// Tries everything that the page and the endpoints behind it offer with the key of somebody else.
async fn keys_are_kept_apart(folded: &Folded) {
    let (session, handle) = (folded.session.as_str(), folded.handle.as_str());
    let fold = folded.fold().await;
    let content = ["needle", "Repair", "push to main", "alert(1)"];
    // Without a key: the login form, and nothing else.
    for path in folded.pages().await.iter().chain(["/foldline/settings", "/foldline/events"].map(str::to_owned).iter())
    {
        let seen = folded.test.get(path).await;
        assert_eq!((seen.status, seen.header("location")), (303, Some("/foldline/login")), "{path}");
    }
    let mine = [
        format!("/foldline/view/{session}"),
        fold.clone(),
        format!("{fold}/download"),
        format!("/foldline/original/{handle}"),
        format!("/foldline/original/{handle}/download"),
        format!("/foldline/sessions/{session}"),
        format!("/foldline/recall/{handle}"),
        format!("/v1/retrieve/{handle}"),
    ];
    for path in &mine {
        let seen = folded.get(path, "b").await;
        assert!(matches!(seen.status, 400 | 404), "{path}: {} {}", seen.status, seen.text());
        assert!(content.iter().all(|words| !seen.text().contains(words)), "{path}: {}", seen.text());
    }
    for path in ["/foldline/find?q=needle3".to_owned(), format!("/foldline/find?q=needle3&session={session}")] {
        assert!(folded.finds(&path).await, "one's own is found: {path}");
        for key in ["b", "ops"] {
            let page = folded.get(&path, key).await.text();
            assert!(page.contains("No results") && !page.contains(handle), "{key} {path}: {page}");
        }
    }
    let list = folded.get("/foldline/", "b").await.text();
    assert!(list.contains("No requests with your key yet") && !list.contains(session), "{list}");
    assert_eq!(folded.get("/foldline/settings", "b").await.status, 403);
    let health = folded.get("/foldline/health", "b").await.text();
    assert!(!health.contains("Open requests") && !health.contains("127.0.0.1"), "{health}");
    // Undo, by both ways.
    let cookie = folded.sign_in("b").await;
    assert_eq!(folded.with_cookie("POST", &format!("/foldline/view/{session}/undo"), &cookie).await.status, 404);
    let undo = format!("/foldline/sessions/{session}/undo");
    assert_eq!(folded.test.post_with(&undo, &[("x-foldline-key", "b")], b"").await.status, 404);
    // An operator sees that there is a session and what it cost, not what was said in it.
    assert!(folded.get("/foldline/", "ops").await.text().contains(session));
    let page = folded.get(&format!("/foldline/view/{session}"), "ops").await;
    assert!(page.status == 200 && !page.text().contains("push to main"), "{}", page.text());
    for path in [fold.as_str(), &format!("{fold}/download"), &format!("/foldline/original/{handle}")] {
        assert_eq!(folded.get(path, "ops").await.status, 404, "{path}");
    }
    // The owner still has it all.
    assert!(folded.get(&format!("/foldline/view/{session}"), "a").await.text().contains("push to main"));
    assert_eq!(folded.test.post_with(&undo, &[("x-foldline-key", "a")], b"").await.status, 202);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn live_updates_tell_of_ones_own_sessions_only() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let folded = Folded::new(Sharing::ClientKeys).await;
    let listen = async |key: &str| {
        let mut stream = tokio::net::TcpStream::connect(folded.test.address).await.unwrap();
        let head = format!("GET /foldline/events HTTP/1.1\r\nhost: localhost\r\nx-foldline-key: {key}\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        stream
    };
    // Reads until a text comes, or for two seconds.
    let hears = async |stream: &mut tokio::net::TcpStream, wanted: &str| {
        let mut heard = String::new();
        let reading = async {
            let mut bytes = [0; 1_024];
            while !heard.contains(wanted) {
                match stream.read(&mut bytes).await {
                    Ok(0) | Err(_) => return,
                    Ok(count) => heard.push_str(&String::from_utf8_lossy(&bytes[..count])),
                }
            }
        };
        let _ = tokio::time::timeout(std::time::Duration::from_secs(3), reading).await;
        heard.contains(wanted)
    };
    let (mut one, mut two) = (listen("a").await, listen("b").await);
    assert!(hears(&mut one, "event: ready").await && hears(&mut two, "event: ready").await);
    folded.test.post_with(MESSAGES, &[("x-foldline-key", "a")], body().as_bytes()).await;
    let (mine, others) = tokio::join!(hears(&mut one, "event: changed"), hears(&mut two, "event: changed"));
    assert!(mine && !others, "one's own {mine}, others' {others}");
}
