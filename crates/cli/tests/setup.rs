//! `foldline setup` and `foldline wrap` as users meet them.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Desk, code, errors, text};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Command, Stdio};

/// Files of four clients with comments, odd spacing and keys that nobody here knows.
const FILES: [(&str, &str, &str); 5] = [
    (
        "claude",
        ".claude/settings.json",
        "{\n    \"permissions\": {\"allow\": [\"Bash\"]},\n    \"env\": { \"FOO\": \"1\" },\n    \"odd\": 1.50\n}",
    ),
    ("claude", ".claude.json", "{\"numStartups\":3,\"mcpServers\":{\"other\":{\"command\":\"x\"}},\"projects\":{}}\n"),
    (
        "codex",
        ".codex/config.toml",
        "# mine\nmodel = \"gpt-5.1-codex\"   # the model\nunknown_key = [1,\n  2]\n\n[mcp_servers.other]\ncommand = \"x\"\n",
    ),
    (
        "opencode",
        ".config/opencode/opencode.jsonc",
        "{\n  // theme of mine\n  \"theme\": \"dark\",\n  \"provider\": { \"anthropic\": { \"options\": { \"timeout\": 5 /* s */ } } },\n}\n",
    ),
    (
        "hermes",
        ".hermes/config.yaml",
        "# hermes\nmodel:\n  default: x   # keep\nmcp_servers:\n  other:\n    command: y\nagent: {max_turns: 4}\n",
    ),
];

fn setup(desk: &Desk, args: &[&str]) -> std::process::Output {
    let mut command = desk.command(args);
    command.env("HOME", desk.path("home")).env_remove("XDG_CONFIG_HOME");
    command.stdin(Stdio::null()).output().unwrap()
}

/// A gateway that says that it is there, once.
fn gateway() -> (String, std::thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let served = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = [0; 1024];
        let length = stream.read(&mut head).unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\nconnection: close\r\n\r\nok\n").unwrap();
        String::from_utf8_lossy(&head[..length]).into_owned()
    });
    (address, served)
}

#[test]
fn clients_are_set_up_and_put_back_byte_for_byte_twice() {
    let desk = Desk::new();
    for (_, file, content) in FILES {
        desk.write(&format!("home/{file}"), content);
    }
    let unchanged = |of: &str| {
        let mut files = FILES.iter().filter(|(client, _, _)| of.is_empty() || *client == of);
        files.all(|(_, file, content)| desk.read(&format!("home/{file}")) == *content)
    };
    for _round in 0..2 {
        for client in ["claude", "codex", "opencode", "hermes"] {
            let shown = setup(&desk, &["setup", client, "--dry-run"]);
            assert_eq!(code(&shown), 0, "{}", errors(&shown));
            assert!(text(&shown).contains("+") && text(&shown).ends_with("nothing was changed (--dry-run)\n"));
            assert!(unchanged(client), "{client}: --dry-run changes nothing");
            let (address, served) = gateway();
            let done = setup(&desk, &["setup", client, "--gateway", &address]);
            assert_eq!(code(&done), 0, "{}{}", text(&done), errors(&done));
            assert!(text(&done).contains(&format!("the gateway at {address} answers")), "{}", text(&done));
            assert!(served.join().unwrap().starts_with("GET /foldline/healthz "));
            for (of, file, content) in FILES.iter().filter(|(of, _, _)| *of == client) {
                let now = desk.read(&format!("home/{file}"));
                assert!(now != *content && (now.contains("foldline") || now.contains(&address)), "{of}: {now}");
                // Every line that was there still is.
                let gone = similar_lines_gone(content, &now);
                assert!(gone.len() <= 1, "{of} {file}: {gone:?}\n{now}");
            }
            let again = setup(&desk, &["setup", client, "--gateway", &address, "--only", "mcp"]);
            assert!(text(&again).contains("is set up already"), "{}", text(&again));
        }
        for client in ["claude", "codex", "opencode", "hermes"] {
            let undone = setup(&desk, &["setup", client, "--undo"]);
            assert_eq!(code(&undone), 0, "{}", errors(&undone));
        }
        assert!(unchanged(""), "put back");
        assert!(!desk.path("home/.hermes/.env").exists(), "what was not there goes");
    }
}

/// Words of the first text that the second has no longer.
fn similar_lines_gone<'t>(before: &'t str, after: &str) -> Vec<&'t str> {
    before
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !after.contains(line.trim_end_matches(['}', ' '])))
        .collect()
}

#[test]
fn a_file_that_was_changed_since_is_not_overwritten() {
    let desk = Desk::new();
    desk.write("home/.codex/config.toml", "model = \"a\"\n");
    assert_eq!(
        code(&setup(&desk, &["setup", "codex", "--gateway", "http://127.0.0.1:1"])),
        1,
        "no gateway answers there"
    );
    let changed = desk.read("home/.codex/config.toml") + "new = true\n";
    desk.write("home/.codex/config.toml", &changed);
    let refused = setup(&desk, &["setup", "codex", "--undo"]);
    assert_eq!(code(&refused), 2);
    assert!(errors(&refused).contains("was changed since"), "{}", errors(&refused));
    assert_eq!(desk.read("home/.codex/config.toml"), changed);
    assert_eq!(code(&setup(&desk, &["setup", "codex", "--undo", "--force"])), 0);
    assert_eq!(desk.read("home/.codex/config.toml"), "model = \"a\"\n");
    assert_eq!(code(&setup(&desk, &["setup", "codex", "--undo"])), 2, "nothing is left to undo");
    desk.write("home/.codex/config.toml", "model = ");
    assert_eq!(code(&setup(&desk, &["setup", "codex"])), 2, "what cannot be read is not changed");
}

#[test]
fn a_wrapped_agent_finds_the_gateway_and_keeps_its_exit_code() {
    let desk = Desk::new();
    let script = "read -r line; echo \"$line $ANTHROPIC_BASE_URL $OPENAI_BASE_URL\"; echo trouble >&2; exit 7";
    let mut command = desk.command(&["wrap", "sh", "-c", script]);
    command.env("PATH", std::env::var("PATH").unwrap());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"typed\n").unwrap();
    let done = child.wait_with_output().unwrap();
    assert_eq!(code(&done), 7, "{}", errors(&done));
    let words: Vec<String> = text(&done).split_whitespace().map(str::to_owned).collect();
    assert!(words[0] == "typed" && words[1].starts_with("http://127.0.0.1:"), "{words:?}");
    assert_eq!(words[2], format!("{}/v1", words[1]));
    assert_eq!(errors(&done), "trouble\nfoldline: no request of the agent came through the gateway\n");
    assert_eq!(code(&desk.run(&["wrap", "/nowhere/agent"])), 2);
}

#[test]
fn a_signal_to_the_wrapper_reaches_the_agent() {
    let desk = Desk::new();
    let script = "trap 'echo stopped; exit 3' TERM; echo ready; while :; do sleep 0.05; done";
    let mut command = desk.command(&["wrap", "--quiet", "sh", "-c", script]);
    command.env("PATH", std::env::var("PATH").unwrap());
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    let mut ready = [0; 6];
    out.read_exact(&mut ready).unwrap();
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!((rest.as_str(), child.wait().unwrap().code()), ("stopped\n", Some(3)));
}
