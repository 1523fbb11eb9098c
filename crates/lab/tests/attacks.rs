//! The attacks that `docs/attacks.md` lists are carried out by tests that exist.

use std::path::Path;

#[test]
fn every_attack_that_is_listed_has_its_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/attacks.md")).unwrap();
    let mut attacks = 0;
    for line in page.lines().filter(|line| line.starts_with("| ")) {
        let Some((_, cell)) = line.trim_end_matches(['|', ' ']).rsplit_once(" | ") else { continue };
        // Names of tests, then the file that has them.
        let mut tests: Vec<&str> = Vec::new();
        for word in cell.split('`').skip(1).step_by(2) {
            if !word.ends_with(".rs") {
                tests.push(word);
                continue;
            }
            let source = std::fs::read_to_string(root.join(word)).unwrap_or_else(|error| panic!("{word}: {error}"));
            assert!(!tests.is_empty(), "{line}");
            for test in tests.drain(..) {
                assert!(source.contains(&format!("fn {test}()")), "{word} has no test {test}");
                attacks += 1;
            }
        }
        assert!(tests.is_empty(), "no file for {tests:?}");
    }
    assert!(attacks >= 40, "{attacks} attacks");
}
