//! Snapshots of what users read: errors, results and checks of the main commands.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Desk, code};
use std::path::Path;

/// What a command prints, with its exit code. Paths of this run are replaced.
fn printed(desk: &Desk, args: &[&str], input: &str) -> String {
    let done = desk.feed(args, input.as_bytes());
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    let folder = desk.path("").display().to_string();
    let command = args.iter().map(|arg| arg.rsplit('/').next().unwrap_or(arg)).collect::<Vec<_>>().join(" ");
    format!("$ foldline {command}  [exit code {}]\n{out}{err}\n", code(&done))
        .replace(&folder, "FOLDER/")
        .replace(&example(""), "")
}

fn example(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name).display().to_string()
}

#[test]
fn errors_say_what_happened_and_what_was_expected() {
    let desk = Desk::new();
    let mut all = String::new();
    for (args, input) in [
        (&["validate"][..], "\"text\""),
        (&["validate"], "7"),
        (&["validate"], ""),
        (&["validate"], "{\"messages\": 1}"),
        (&["validate", "nowhere.json"], ""),
        (&["compress", "--target-tokens", "many"], ""),
        (&["compress", "--set", "threshold=2"], "{\"messages\":[]}"),
        (&["compress", "--set", "treshold=0.5"], "{\"messages\":[]}"),
        (&["recall", "xyz"], ""),
        (&["forget", "--before", "yesterday"], ""),
        (&["store", "rekey"], ""),
    ] {
        all.push_str(&printed(&desk, args, input));
    }
    insta::assert_snapshot!("errors", all);
}

#[test]
fn results_are_readable() {
    let desk = Desk::new();
    let small = example("small.anthropic.json");
    let damaged = example("damaged.anthropic.json");
    let mut all = String::new();
    for args in [
        &["validate", &small][..],
        &["validate", &damaged],
        &["inspect", &small, "--window", "8000"],
        &["compress", &small, "-o", "out.json", "--store", "none"],
        &["compress", &small, "--force", "-o", "out.json", "--store", "none"],
        &["compress", &damaged, "-o", "out.json", "--store", "none"],
    ] {
        all.push_str(&printed(&desk, args, ""));
    }
    insta::assert_snapshot!("results", all);
}
