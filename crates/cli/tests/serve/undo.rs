//! `foldline undo`, with a running gateway and without one.

use crate::process::{MESSAGES, Served, conversation, serve};
use foldline_script::{Act, Provider};
use std::path::Path;
use std::process::Command;
use tokio::runtime::Runtime;

/// The trigger is at about half of the window, so that an undone conversation fits.
const ARGS: [&str; 4] = ["--window", "64000", "--set", "compression.threshold=0.5"];

/// Runs the command; its exit code and what it prints.
fn undo(folder: &Path, args: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_foldline"));
    command.arg("undo").args(args).current_dir(folder);
    command.env_clear().env("XDG_DATA_HOME", folder.join("data")).env("XDG_CONFIG_HOME", folder.join("config"));
    let output = command.output().unwrap();
    let words = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&words).into_owned())
}

fn header(reply: &str, name: &str) -> String {
    let line = reply.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
    line.unwrap_or_else(|| panic!("no {name} in {reply}")).to_owned()
}

fn outcome(served: &Served, turns: usize) -> String {
    header(&served.post(MESSAGES, &conversation(turns, false)), "x-foldline-outcome")
}

/// Lets the conversation grow until it is folded or pruned; its turns.
fn grown_until_shortened(served: &Served, from: usize) -> usize {
    let is_shortened = |turns: &usize| matches!(outcome(served, *turns).as_str(), "folded" | "pruned");
    (from..from + 150).step_by(4).find(is_shortened).unwrap()
}

#[test]
fn a_fold_is_undone_in_the_store_and_in_a_running_gateway() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = Runtime::new().unwrap();
    let provider = runtime.block_on(Provider::choosing(|_, _| Act::say("Done."))).unwrap();
    let mut served = serve(folder.path(), &provider.url(), &ARGS);
    let first = served.post(MESSAGES, &conversation(2, false));
    let session = header(&first, "x-foldline-session");
    let gateway = format!("http://{}", served.address);
    let (code, words) = undo(folder.path(), &[&session, "--gateway", &gateway]);
    assert!(code == Some(1) && words.contains("nothing to undo"), "{code:?} {words}");
    let turns = grown_until_shortened(&served, 40);
    // Without a gateway, in the store.
    served.signal("TERM");
    assert_eq!(served.ended(), Some(0));
    let nobody = format!("gateway.listen={}", served.address);
    let (code, words) = undo(folder.path(), &["fs-0000000000000000", "--set", &nobody]);
    assert!(code == Some(1) && words.contains("not found"), "{code:?} {words}");
    let (code, words) = undo(folder.path(), &[&session, "--set", &nobody]);
    assert!(code == Some(0) && words.contains("undone in the store"), "{code:?} {words}");
    let (code, words) = undo(folder.path(), &[&session, "--gateway", &gateway]);
    assert!(code == Some(2) && words.contains("cannot connect"), "{code:?} {words}");
    let served = serve(folder.path(), &provider.url(), &ARGS);
    assert_eq!(outcome(&served, turns + 1), "unchanged", "the decision is remembered");
    // With one.
    let turns = grown_until_shortened(&served, turns + 2);
    let (code, words) = undo(folder.path(), &[&session, "--gateway", &format!("http://{}/", served.address)]);
    assert!(code == Some(0) && words.contains("is undone"), "{code:?} {words}");
    assert_eq!(outcome(&served, turns + 1), "unchanged");
    let (code, words) = undo(folder.path(), &["work"]);
    assert!(code == Some(2) && words.contains("invalid session id"), "{code:?} {words}");
}
