//! The `foldline` command.
#![forbid(unsafe_code)]

use std::io::Read;

fn main() -> anyhow::Result<()> {
    let mut text = String::new();
    let start = std::time::Instant::now();
    match std::env::args().nth(1) {
        Some(path) => text = std::fs::read_to_string(path)?,
        None => drop(std::io::stdin().read_to_string(&mut text)?),
    }
    let read = start.elapsed();
    let transcript = foldline_core::wire::read(&text, None)?;
    eprintln!("{} {:?} {} messages {} parts, read {:?} parse {:?}", transcript.format, transcript.shape, transcript.messages.len(), transcript.parts.len(), read, start.elapsed() - read);
    Ok(())
}
