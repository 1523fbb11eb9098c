//! The first minutes with the program: alone, on a terminal, without a settings file, with agents that are installed.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Desk, code, errors, text};
use std::process::{Output, Stdio};

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/two-hour-session.anthropic.json");

fn at_home(desk: &Desk, args: &[&str]) -> Output {
    let mut command = desk.command(args);
    command.env("HOME", desk.path("home")).env_remove("XDG_CONFIG_HOME").env("PATH", "");
    command.stdin(Stdio::null()).output().unwrap()
}

#[test]
fn alone_it_says_what_to_do_next() {
    let desk = Desk::new();
    insta::assert_snapshot!("start", text(&at_home(&desk, &[])));
    desk.write("home/.codex/config.toml", "");
    desk.write("home/.claude/projects/-a/old.jsonl", "{}");
    let long_ago = std::time::SystemTime::UNIX_EPOCH;
    let old = std::fs::File::options().write(true).open(desk.path("home/.claude/projects/-a/old.jsonl")).unwrap();
    old.set_modified(long_ago).unwrap();
    desk.write("home/.claude/projects/-a b/new.jsonl", "{}");
    let told = at_home(&desk, &[]);
    assert_eq!(code(&told), 0);
    let session = desk.path("home/.claude/projects/-a b/new.jsonl").display().to_string();
    assert!(text(&told).contains(&format!("\n  foldline inspect '{session}'\n")), "{}", text(&told));
    let _ = at_home(&desk, &["setup", "codex", "--gateway", "http://127.0.0.1:9"]);
    let told = text(&at_home(&desk, &[]));
    assert!(told.contains("codex is set up for the gateway") && told.contains("foldline wrap codex"), "{told}");
}

#[test]
fn help_has_commands_and_topics() {
    let desk = Desk::new();
    let whole = text(&desk.run(&["help"]));
    assert_eq!(whole, text(&desk.run(&["--help"])));
    let command = text(&desk.run(&["help", "store", "key"]));
    assert!(command.contains("Usage: foldline store key"), "{command}");
    let mut topics = text(&desk.run(&["help", "topics"]));
    for topic in ["presets", "formats", "recall", "privacy"] {
        topics.push_str(&format!("\n## {topic}\n{}", text(&desk.run(&["help", topic]))));
    }
    insta::assert_snapshot!("topics", topics);
    let unknown = desk.run(&["help", "nonsense"]);
    assert_eq!(code(&unknown), 2);
    assert!(errors(&unknown).contains("unrecognized subcommand 'nonsense'"), "{}", errors(&unknown));
}

#[test]
fn completions_and_manual_pages_know_every_command() {
    let desk = Desk::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let done = desk.run(&["completions", shell]);
        assert_eq!(code(&done), 0, "{}", errors(&done));
        let script = text(&done);
        for word in ["compress", "target-tokens", "rekey", "cache-marks"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    assert_eq!(code(&desk.run(&["man", "pages/man1"])), 0);
    let mut pages: Vec<String> = std::fs::read_dir(desk.path("pages/man1"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    pages.sort();
    insta::assert_snapshot!("manual_pages", pages.join("\n"));
    assert!(desk.read("pages/man1/foldline-store-key.1").contains("foldline store key"));
}

#[test]
fn a_settings_file_to_start_from_changes_nothing_until_it_is_edited() {
    let desk = Desk::new();
    let values = |desk: &Desk| -> Vec<(String, serde_json::Value)> {
        let shown: serde_json::Value = serde_json::from_str(&text(&desk.run(&["config", "show", "--json"]))).unwrap();
        let entries = shown["settings"].as_array().unwrap();
        entries.iter().map(|entry| (entry["key"].to_string(), entry["value"].clone())).collect()
    };
    let defaults = values(&desk);
    let made = desk.run(&["config", "init"]);
    assert_eq!(code(&made), 0, "{}", errors(&made));
    assert_eq!(values(&desk), defaults);
    let written = desk.read("foldline.yaml");
    assert_eq!(text(&desk.run(&["config", "init", "-"])), written);
    let again = desk.run(&["config", "init"]);
    assert_eq!(code(&again), 2);
    assert!(errors(&again).contains("foldline.yaml exists and is left as it is"), "{}", errors(&again));
    assert_eq!(desk.read("foldline.yaml"), written);
    // Every key of it is one, with its default.
    let keys = written.matches("\n  #").count() - written.matches("\n  # ").count();
    assert_eq!(keys, defaults.len());
    desk.write("foldline.yaml", &written.lines().map(uncommented).collect::<Vec<_>>().join("\n"));
    let checked = desk.run(&["config", "check", "foldline.yaml"]);
    assert_eq!(code(&checked), 0, "{}", text(&checked));
    assert_eq!(values(&desk), defaults);
    // The file of the user, in a folder that does not exist yet.
    assert_eq!(code(&desk.run(&["config", "init", "--user"])), 0);
    assert_eq!(desk.read("config/foldline/config.yaml"), written);
}

fn uncommented(line: &str) -> String {
    match line.strip_prefix("  #") {
        Some(key) if !key.starts_with(' ') => format!("  {key}"),
        _ => line.to_owned(),
    }
}

#[test]
fn doctor_knows_which_agents_are_here_and_set_up() {
    let desk = Desk::new();
    let told = |desk: &Desk| text(&at_home(desk, &["doctor", "--store", "none"]));
    assert!(told(&desk).contains("none of those that `foldline setup` knows is installed"), "{}", told(&desk));
    desk.write("home/.codex/config.toml", "model = \"x\"\n");
    desk.write("home/.pi/agent/models.json", "{");
    let before = told(&desk);
    assert!(before.contains("note   codex              installed, not set up"), "{before}");
    assert!(before.contains("wrong  pi                 its settings cannot be read: "), "{before}");
    assert_eq!(code(&at_home(&desk, &["setup", "codex", "--only", "mcp", "--command", "/opt/foldline"])), 0);
    assert!(
        told(&desk).contains("ok     codex              has the tools; its requests do not pass"),
        "{}",
        told(&desk)
    );
    // Nothing listens on this port.
    assert_eq!(code(&at_home(&desk, &["setup", "codex", "--gateway", "http://127.0.0.1:9"])), 1);
    let after = told(&desk);
    assert!(
        after.contains("wrong  codex              uses the gateway at http://127.0.0.1:9, which does not answer"),
        "{after}"
    );
    assert!(after.contains("run `foldline setup codex --undo`"), "{after}");
}

#[cfg(unix)]
mod on_a_terminal {
    use super::*;
    use common::terminal::{Streams, on_terminal};

    #[test]
    fn compress_shows_the_summary_and_asks_where_the_result_goes() {
        let desk = Desk::new();
        let args = ["compress", EXAMPLE, "--force", "--state", "state.json"];
        let (seen, code) = on_terminal(&desk, &args, Streams::Output);
        assert_eq!(code, 0, "{seen}");
        assert!(seen.contains("folded: ") && !seen.contains("\"messages\"") && seen.len() < 4_000, "{seen}");
        assert!(seen.ends_with("next: add -o FILE to write the result, or -o - to print it here\n"), "{seen}");
        assert!(!desk.path("state.json").exists() && !desk.path("data").exists(), "nothing is written or stored");
        // The same summary as with a file.
        let (with_file, _) = on_terminal(&desk, &["compress", EXAMPLE, "--force", "-o", "out.json"], Streams::Output);
        let figures = |text: &str| text.lines().find(|line| line.contains("tokens")).unwrap().to_owned();
        assert_eq!(figures(&seen), figures(&with_file));
        let (printed, _) = on_terminal(&desk, &["compress", EXAMPLE, "--force", "-o", "-"], Streams::Output);
        assert!(printed.contains("\"messages\""), "-o - prints");
    }

    #[test]
    fn commands_that_wait_for_input_say_so() {
        let desk = Desk::new();
        for command in ["compress", "inspect", "validate", "redact"] {
            let (seen, code) = on_terminal(&desk, &[command], Streams::All);
            assert_eq!(code, 2, "{command}: {seen}");
            assert!(
                seen.starts_with("error: no FILE is given and standard input is a terminal; name a file"),
                "{seen}"
            );
        }
        let (seen, code) = on_terminal(&desk, &["reduce"], Streams::All);
        assert_eq!(code, 2, "{seen}");
        assert!(seen.starts_with("error: standard input is a terminal; pipe a tool output in"), "{seen}");
    }
}
