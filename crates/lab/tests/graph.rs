//! The sources use each other as the map in ARCHITECTURE.md shows.
#![allow(missing_docs, clippy::unwrap_used)]

use foldline_lab::graph::Graph;
use std::path::Path;

/// Reading needs messages and spans, and a message knows how it is written: the only modules that use each other.
const READING: [&str; 3] = ["transcript/rewrite", "transcript/transcript", "transcript/wire"];

#[test]
fn crates_and_modules_use_each_other_as_the_map_shows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let map = Graph::of_map(&std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap()).unwrap();
    let sources = Graph::of_sources(&root, &map).unwrap();
    let differences = sources.against(&map);
    assert!(differences.is_empty(), "{}\n`lab graph` prints the map", differences.join("\n"));
    assert_eq!(sources.cycles(), [READING]);
    assert!(sources.edges.len() > 40 && sources.len() > 100, "so few cannot be all: {}", sources.len());
}

/// Readers of notations are called by the scan and report to it; the command line is declared by its commands.
const MUTUAL: [&str; 3] = ["cli/args", "redact/scan", "transcript/wire"];

#[test]
fn what_the_map_leaves_out_has_no_other_cycles() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let everything = Graph::of_everything(&root).unwrap();
    for cycle in everything.cycles() {
        assert!(cycle.iter().any(|module| MUTUAL.contains(module)), "{cycle:?}");
    }
}
