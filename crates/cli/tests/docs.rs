//! The references under `docs/` say what the program does.
#![allow(clippy::unwrap_used)]

use std::path::Path;

#[test]
fn the_references_are_what_the_program_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let stale = foldline_lab::docs::stale(&root, Path::new(env!("CARGO_BIN_EXE_foldline"))).unwrap();
    let names: Vec<&str> = stale.iter().map(|(name, _)| *name).collect();
    assert!(names.is_empty(), "{names:?}: run `cargo run -p foldline-lab -- docs` and look at what changed");
}
