//! Every rule finds its examples and leaves its counterexamples alone.

use crate::fixtures::expand;
use crate::{Finding, Mode, RULES, Rule, find};

/// What `rule` and the others find; a random string that is no token of some vendor may still be a token.
fn found(rule: &Rule, text: &str) -> Vec<Finding> {
    let mut findings = find(text, Mode::Text);
    findings.retain(|finding| finding.rule != "random-token" || rule.name == "random-token");
    findings
}

/// A text before and after an example must not change what is found in it.
const SURROUNDINGS: [(&str, &str); 3] = [
    ("", ""),
    ("see https://example.org/a?b=c for more\n", "\nsee http://localhost:8080/\n"),
    ("log line one\n\n", "\n\nlast line"),
];

#[test]
fn every_example_of_a_rule_is_found_once_and_by_that_rule() {
    let mut wrong = Vec::new();
    for rule in RULES.iter() {
        assert!(!rule.hits.is_empty(), "{} has no example", rule.name);
        for (index, template) in rule.hits.iter().enumerate() {
            for (before, after) in SURROUNDINGS {
                let text = format!("{before}{}{after}", expand(template, index as u64));
                let findings = found(rule, &text);
                if findings.len() != 1 || findings[0].rule != rule.name {
                    wrong.push(format!("{}: {template}\n   {text:?}\n   {findings:?}", rule.name));
                    break;
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn no_counterexample_of_a_rule_is_found() {
    let mut wrong = Vec::new();
    for rule in RULES.iter() {
        for (index, template) in rule.misses.iter().enumerate() {
            for (before, after) in SURROUNDINGS {
                let text = format!("{before}{}{after}", expand(template, index as u64));
                let findings = found(rule, &text);
                if !findings.is_empty() {
                    wrong.push(format!("{}: {template}\n   {text:?}\n   {findings:?}", rule.name));
                    break;
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn patterns_compile_and_names_are_unique() {
    let mut names: Vec<_> = RULES.iter().map(|rule| rule.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), RULES.len());
    for rule in RULES.iter() {
        assert!(rule.pattern().is_none() || rule.compile().is_some(), "{}", rule.name);
    }
}
