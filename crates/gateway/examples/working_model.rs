//! A provider for runs with real clients: a model that works through a plan, for requests that its vendor would accept.
//!
//! usage: working_model PLAN FOLDER
//! Prints its address. `PLAN` is read as `foldline_script::Plan`. Each request of the model becomes a line of
//! `FOLDER/log.jsonl`; the first and the latest step of the work are in `first.json` and `last.json`, and
//! what was refused last in `refused.json`.
#![allow(clippy::print_stdout)]

use foldline_script::{Provider, Purpose, Worker};
use std::fs;
use std::io::{Error, Write};
use std::path::PathBuf;
use std::sync::Mutex;

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [plan, folder] = arguments.as_slice() else {
        return Err(Error::other("usage: working_model PLAN FOLDER"));
    };
    let folder = PathBuf::from(folder);
    let plan = serde_json::from_str(&fs::read_to_string(plan)?)?;
    let state = Mutex::new((Worker::new(plan), fs::File::create(folder.join("log.jsonl"))?));
    let provider = Provider::choosing(move |request, _| {
        let mut state = state.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let (act, entry) = state.0.answer(request);
        if let Some(entry) = entry {
            if entry.purpose == Purpose::Step && entry.refusal.is_none() {
                let first = folder.join("first.json");
                if !first.exists() {
                    let _ = fs::write(first, &request.body);
                }
                let _ = fs::write(folder.join("last.json"), &request.body);
            }
            if entry.refusal.is_some() {
                let _ = fs::write(folder.join("refused.json"), &request.body);
            }
            let line = serde_json::to_string(&entry).unwrap_or_default();
            let _ = writeln!(state.1, "{line}");
        }
        act
    })
    .await?;
    println!("{}", provider.url());
    std::future::pending().await
}
