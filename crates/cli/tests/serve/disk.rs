//! A disk that is full: a process whose files may not grow, and a disk of its own that somebody fills.
#![cfg(target_os = "linux")]

use crate::process::{MESSAGES, Served, TURNS, WINDOW, between, conversation, serve, start};
use foldline_script::{Act, Agent, Provider, Strict, breaks};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use tokio::runtime::Runtime;

/// Sets how long the files of a running process may become; writes beyond that fail, as on a full disk.
fn limit_files(served: &Served, limit: &str) {
    let pid = served.process.id().to_string();
    // Only the soft limit: the hard one could not be lifted again.
    let status = Command::new("prlimit").args(["--pid", &pid, &format!("--fsize={limit}:")]).status();
    assert!(status.unwrap().success(), "prlimit (of util-linux) sets a limit");
}

fn outcome(reply: &str) -> &str {
    assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
    reply.lines().find_map(|line| line.strip_prefix("x-foldline-outcome: ")).unwrap()
}

#[test]
fn a_full_disk_costs_folds_and_no_request() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = Runtime::new().unwrap();
    let provider = runtime.block_on(Provider::start([Act::say("Done.")])).unwrap();
    let start = || serve(folder.path(), &provider.url(), &["--window", "20000", "--preset", "hermes"]);
    let forwarded = || provider.requests().pop().unwrap();
    let mut served = start();
    assert_eq!(outcome(&served.post(MESSAGES, &conversation(4, false))), "unchanged");
    limit_files(&served, "1");
    // From the trigger on: as it came, and counted.
    let mut failed = 0;
    for turns in (24..54).step_by(3) {
        let request = conversation(turns, false);
        let reply = served.post(MESSAGES, &request);
        if outcome(&reply) == "failed-open" {
            assert_eq!(forwarded().json(), request, "as it came");
            failed += 1;
        }
    }
    assert!(failed >= 2, "{failed}");
    assert!(served.metric("foldline_fallbacks_total{kind=\"store\"}") >= f64::from(failed));
    // Beyond the window: folded, although it cannot be kept.
    let long = conversation(90, false);
    assert_eq!(outcome(&served.post(MESSAGES, &long)), "folded");
    assert!(forwarded().body.len() < long.to_string().len() / 2);
    assert_eq!(outcome(&served.post(MESSAGES, &conversation(91, true))), "checkpoint");
    assert!(served.get("/foldline/healthz").starts_with("HTTP/1.1 200"), "it lives");
    served.wait_until("sums that cannot be written are counted", "/foldline/metrics", |page| {
        page.contains("foldline_fallbacks_total{kind=\"statistics\"}")
    });
    assert_eq!(served.metric("foldline_fallbacks_total{kind=\"panic\"}"), 0.0);

    limit_files(&served, "unlimited");
    std::thread::sleep(Duration::from_millis(1_100));
    served.wait_until("books are written again", "/foldline/readyz", |page| page.starts_with("HTTP/1.1 200"));
    let mut last = None;
    for turns in 92..160 {
        let request = conversation(turns, false);
        if outcome(&served.post(MESSAGES, &request)) == "folded" {
            last = Some((request, forwarded().text()));
            break;
        }
    }
    let (request, before) = last.expect("folds are made again");
    // And kept: a crash changes no byte.
    served.signal("KILL");
    served.ended();
    let served = start();
    assert_eq!(outcome(&served.post(MESSAGES, &request)), "checkpoint");
    assert!(forwarded().text() == before);
}

/// Turns for which there is no room on the disk.
const FULL: std::ops::Range<usize> = 40..220;

/// Mounts a small disk where the store is to be, in a view of the file system that only this process has.
const ON_A_DISK_OF_ITS_OWN: &str = r#"mount -t tmpfs -o size=4m tmpfs data && exec "$@""#;

fn unshare(folder: &Path, program: &Command) -> Command {
    let mut command = Command::new("unshare");
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", ON_A_DISK_OF_ITS_OWN, "sh"]);
    command.arg(program.get_program()).args(program.get_args()).current_dir(folder);
    for (name, value) in program.get_envs() {
        value.map(|value| command.env(name, value));
    }
    command
}

/// A disk as the gateway sees it.
enum Disk {
    /// Its own: it is full when this file has taken the rest of it.
    Own(PathBuf),
    /// Where nobody may mount one: files that cannot grow.
    Limit,
}

impl Disk {
    fn fill(&self, served: &Served) {
        match self {
            Disk::Own(ballast) => {
                let full = std::fs::write(ballast, vec![0; 8 << 20]).unwrap_err();
                assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);
            }
            Disk::Limit => limit_files(served, "1"),
        }
    }

    fn free(&self, served: &Served) {
        match self {
            Disk::Own(ballast) => std::fs::remove_file(ballast).unwrap(),
            Disk::Limit => limit_files(served, "unlimited"),
        }
    }
}

#[expect(clippy::print_stderr, reason = "whoever runs this learns what was tested")]
fn agent_survives(path: &'static str) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("data")).unwrap();
    let runtime = Runtime::new().unwrap();
    let strict = Strict::new(WINDOW);
    let judge = strict.clone();
    let provider = runtime.block_on(Provider::choosing(move |request, _| judge.judge(request, "Go on."))).unwrap();
    let plain = between(folder.path(), &provider.url(), &["--window", &WINDOW.to_string()]);
    let may_mount = unshare(folder.path(), &Command::new("true")).stderr(Stdio::null()).status();
    let (served, disk) = match may_mount.is_ok_and(|status| status.success()) {
        true => {
            let served = start(folder.path(), unshare(folder.path(), &plain));
            let seen = PathBuf::from(format!("/proc/{}/root", served.process.id()));
            let ballast = seen.join(folder.path().join("data/ballast").strip_prefix("/").unwrap());
            (served, Disk::Own(ballast))
        }
        false => {
            eprintln!("no disk may be mounted here; the files of the gateway may not grow instead");
            (start(folder.path(), plain), Disk::Limit)
        }
    };
    let mut agent = Agent::new(path, "Run all tests and mend what fails.");
    for turn in 0..=TURNS {
        if turn == FULL.start {
            disk.fill(&served);
        }
        if turn == FULL.end {
            disk.free(&served);
        }
        let reply = served.post(path, &serde_json::from_str(&agent.body()).unwrap());
        assert!(reply.starts_with("HTTP/1.1 200"), "{path}, turn {turn}: {reply}");
        if turn < TURNS {
            agent.act(turn);
        }
    }
    assert_eq!(strict.refused(), 0, "{path}: no request is refused");
    let requests = provider.requests();
    let lost = agent.lost_in(&requests.last().unwrap().text());
    assert!(lost.is_empty(), "{path}: {lost:?}");
    assert!(served.metric("foldline_fallbacks_total{kind=\"store\"}") >= 1.0, "{path}: it is counted");
    assert_eq!(served.metric("foldline_fallbacks_total{kind=\"panic\"}"), 0.0);
    let breaks = breaks(&requests);
    assert!((3..=30).contains(&breaks), "{path}: {breaks} rewrites in {} requests", requests.len());
}

#[test]
fn an_agent_on_chat_completions_survives_a_full_disk() {
    agent_survives("/v1/chat/completions");
}

#[test]
fn an_agent_on_responses_survives_a_full_disk() {
    agent_survives("/v1/responses");
}

#[test]
fn an_agent_on_messages_survives_a_full_disk() {
    agent_survives(MESSAGES);
}
