//! A disk that is full: here, a process whose files may not grow.
#![cfg(target_os = "linux")]

use crate::process::{MESSAGES, Served, conversation, serve};
use foldline_script::{Act, Provider};
use std::process::Command;
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
    let start = || serve(folder.path(), &provider.url(), &["--window", "20000"]);
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
        page.contains("foldline_fallbacks_total{kind=\"books\"}")
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
