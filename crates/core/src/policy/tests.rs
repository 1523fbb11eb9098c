use serde_json::{Value, json};

use super::*;
use crate::settings::{Given, Knob, Layer, Origin, PolicyError, Resolved, Section, Setting};

mod budgets;
mod schema;

fn flag(key: &str, text: &str) -> Setting {
    let origin = Origin::Flag(format!("--set {key}={text}"));
    Setting { key: key.to_owned(), given: Given::Text(text.to_owned()), origin }
}

fn line(key: &str, value: Value, line: u32) -> Setting {
    let origin = Origin::File { path: "foldline.yaml".to_owned(), line };
    Setting { key: key.to_owned(), given: Given::Value(value), origin }
}

fn layer(settings: impl IntoIterator<Item = Setting>) -> Layer {
    Layer { settings: settings.into_iter().collect() }
}

fn knobs() -> Vec<&'static Knob> {
    Policy::sections().knobs()
}

fn resolve(layers: &[Layer]) -> Result<Resolved, Vec<PolicyError>> {
    Policy::sections().resolve(layers)
}

/// The messages of all problems of one layer.
fn complaints(settings: impl IntoIterator<Item = Setting>) -> Vec<String> {
    match resolve(&[layer(settings)]) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.iter().map(ToString::to_string).collect(),
    }
}

#[test]
fn every_row_fits_its_field() {
    assert_eq!(CompressionPolicy::misfits(), Vec::<String>::new());
    assert_eq!(ModelPolicy::misfits(), Vec::<String>::new());
    assert_eq!(SummarizerPolicy::misfits(), Vec::<String>::new());
}

#[test]
fn keys_are_unique_documented_and_have_a_section() {
    let mut keys: Vec<&str> = knobs().iter().map(|knob| knob.key).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), knobs().len());
    for knob in knobs() {
        assert!(!knob.section().is_empty() && !knob.name().contains('.'), "{}", knob.key);
        assert!(knob.doc.trim().ends_with('.') && knob.doc.len() < 120, "{}: {}", knob.key, knob.doc);
    }
}

#[test]
fn presets_say_what_their_documents_say() {
    let hermes = Policy::of(Preset::Hermes).compression;
    assert_eq!((hermes.preset, hermes.threshold, hermes.target_ratio), (Preset::Hermes, 0.50, 0.20));
    assert_eq!((hermes.protect_first_n, hermes.protect_last_n, hermes.prune_above), (3, 20, 50));
    assert_eq!((hermes.tail, hermes.admission, hermes.abort_on_failure), (Tail::Ratio, false, false));

    let sacred = Policy::of(Preset::SacredZone).compression;
    assert_eq!((sacred.threshold, sacred.low_water), (0.75, AutoOr::Fixed(0.50)));
    assert_eq!((sacred.tail, sacred.protect_first_n), (Tail::Tokens(20_000), 2));
    assert_eq!((sacred.prune_order, sacred.prune_above), (PruneOrder::Largest, 500));

    let skill = Policy::of(Preset::Skill).compression;
    assert_eq!((skill.threshold, skill.tail, skill.min_saving), (0.75, Tail::Tokens(20_000), 0.10));
    assert!(!skill.abort_on_failure);

    let runway = Policy::of(Preset::Runway).compression;
    assert_eq!((runway.threshold, runway.runway), (0.50, 0.15));
    assert_eq!((runway.prune_minimum, runway.protect_tool_tokens), (AutoOr::Auto, AutoOr::Auto));
    assert_eq!(runway.never_prune, ["clarify", "memory", "skill_view", "todo", "read_file"]);

    let frugal = Policy::of(Preset::Frugal).compression;
    assert!(frugal.economy && frugal.admission && !runway.economy);
    assert_eq!((frugal.target_ratio, frugal.summary_ratio, frugal.summary_max), (0.1, 0.35, 24_000));
    assert_eq!((frugal.threshold, frugal.never_prune), (runway.threshold, runway.never_prune));

    let steady = Policy::of(Preset::Steady).compression;
    assert_eq!((steady.threshold, steady.cold_threshold, steady.basis), (0.86, 0.5, Basis::Room));
    assert_eq!((steady.target_ratio, steady.min_growth, steady.min_freed), (0.1, AutoOr::Fixed(0.3), 0.3));
    assert_eq!((steady.small_window_extra, steady.summary_max), (0.048, 15_000));
    assert_eq!(Policy::default().compression, steady, "the default");
}

#[test]
fn higher_layers_win_and_each_value_knows_where_it_is_from() {
    let file = layer([
        line("compression.preset", json!("skill"), 2),
        line("compression.threshold", json!(0.6), 3),
        line("compression.protect_last_n", json!(12), 4),
    ]);
    let env = layer([Setting {
        key: "compression.threshold".to_owned(),
        given: Given::Text("0.65".to_owned()),
        origin: Origin::Env("FOLDLINE_COMPRESSION_THRESHOLD".to_owned()),
    }]);
    let flags = layer([flag("compression.preset", "sacred-zone")]);
    let resolved = resolve(&[file, env, flags]).unwrap();
    let knobs = Policy::resolved(&resolved).compression;
    assert_eq!((knobs.preset, knobs.threshold, knobs.protect_last_n), (Preset::SacredZone, 0.65, 12));
    assert_eq!(knobs.low_water, AutoOr::Fixed(0.5), "the preset of the highest layer, below all layers");
    let from = |key: &str| resolved.origin(key).map(ToString::to_string).unwrap_or_default();
    assert_eq!(from("compression.threshold"), "FOLDLINE_COMPRESSION_THRESHOLD");
    assert_eq!(from("compression.protect_last_n"), "foldline.yaml:4");
    assert_eq!(from("compression.preset"), "--set compression.preset=sacred-zone");
    assert_eq!(from("compression.low_water"), "preset sacred-zone");
    assert_eq!(from("compression.target_ratio"), "default");
    assert_eq!(resolved.entries().count(), Policy::sections().knobs().len());
}

#[test]
fn no_layers_give_the_default_policy() {
    assert_eq!(Policy::resolved(&resolve(&[]).unwrap()), Policy::default());
}

#[test]
fn a_complaint_names_place_key_value_and_range() {
    for (setting, message) in [
        (
            line("compression.threshold", json!(1.4), 3),
            "foldline.yaml:3: compression.threshold: 1.4 is out of range, expected a number from 0.05 to 0.95",
        ),
        (
            line("compression.threshold", json!("half"), 3),
            "foldline.yaml:3: compression.threshold: \"half\" has the wrong type, expected a number from 0.05 to 0.95",
        ),
        (
            flag("compression.protect_last_n", "0"),
            "--set compression.protect_last_n=0: compression.protect_last_n: 0 is out of range, expected a whole number from 1 to 500",
        ),
        (
            flag("compression.protect_last_n", "-1"),
            "--set compression.protect_last_n=-1: compression.protect_last_n: -1 is out of range, expected a whole number from 1 to 500",
        ),
        (
            line("compression.protect_last_n", json!(2.5), 9),
            "foldline.yaml:9: compression.protect_last_n: 2.5 has the wrong type, expected a whole number from 1 to 500",
        ),
        (
            line("compression.tail", json!("most"), 1),
            "foldline.yaml:1: compression.tail: \"most\" is not known, expected a number of tokens from 500 to 10000000, or ratio or auto",
        ),
        (
            flag("compression.preset", "hermit"),
            "--set compression.preset=hermit: compression.preset: hermit is not known, expected one of hermes, sacred-zone, skill, runway, frugal, steady",
        ),
        (
            line("compression.enabled", json!("yes"), 1),
            "foldline.yaml:1: compression.enabled: \"yes\" has the wrong type, expected true or false",
        ),
        (
            line("compression.never_prune", json!("todo"), 1),
            "foldline.yaml:1: compression.never_prune: \"todo\" has the wrong type, expected a list of names",
        ),
        (
            line("summarizer.url", json!({"a": 1}), 1),
            "foldline.yaml:1: summarizer.url: {\"a\":1} has the wrong type, expected text or null",
        ),
        (
            line("compression.treshold", json!(0.5), 7),
            "foldline.yaml:7: compression.treshold: unknown key, did you mean compression.threshold?",
        ),
        (
            line("compression", json!(5), 2),
            "foldline.yaml:2: compression: 5 has the wrong type, expected a section with keys of its own",
        ),
        (flag("zzz.qqq", "1"), "--set zzz.qqq=1: zzz.qqq: unknown key"),
    ] {
        assert_eq!(complaints([setting]), [message]);
    }
}

#[test]
fn all_problems_are_reported_at_once() {
    let found = complaints([
        line("compression.threshold", json!(2), 1),
        line("compression.nonsense", json!(2), 2),
        line("model.cache_ttl", json!("2h"), 3),
    ]);
    assert_eq!(found.len(), 3, "{found:?}");
}

#[test]
fn a_key_twice_in_a_file_is_an_error_and_a_flag_twice_is_not() {
    let twice = [line("compression.threshold", json!(0.4), 2), line("compression.threshold", json!(0.5), 8)];
    assert_eq!(
        complaints(twice),
        ["foldline.yaml:8: compression.threshold: set twice in the same place, first at foldline.yaml:2"]
    );
    let flags = layer([flag("compression.threshold", "0.4"), flag("compression.threshold", "0.6")]);
    assert_eq!(Policy::resolved(&resolve(&[flags]).unwrap()).compression.threshold, 0.6);
}

#[test]
fn settings_that_contradict_each_other_are_reported_on_the_one_that_was_chosen() {
    assert_eq!(
        complaints([flag("compression.low_water", "0.9")]),
        ["--set compression.low_water=0.9: compression.low_water: 0.9 contradicts compression.threshold (0.86), \
             expected a number below compression.threshold"]
    );
    let preset = [flag("compression.preset", "sacred-zone"), flag("compression.threshold", "0.4")];
    assert!(complaints(preset).is_empty(), "a preset gives way");
    let crossed = [flag("compression.summary_min", "9000"), flag("compression.summary_max", "8000")];
    assert_eq!(complaints(crossed).len(), 1);
}

#[test]
fn slips_of_the_key_find_the_right_one() {
    for (typed, meant) in [
        ("compression.treshold", Some("compression.threshold")),
        ("threshold", Some("compression.threshold")),
        ("compresion.threshold", Some("compression.threshold")),
        ("compression.protect_last", Some("compression.protect_last_n")),
        ("model.tail", Some("compression.tail")),
        ("cache_ttl", Some("model.cache_ttl")),
        ("model.ttl", None),
        ("completely.different", None),
        ("", None),
    ] {
        assert_eq!(Policy::sections().nearest_key(typed), meant, "{typed}");
    }
}

#[test]
fn text_is_read_as_people_type_it() {
    for (key, text, value) in [
        ("model.window", "200k", json!(200_000)),
        ("model.window", "1.05M", json!(1_050_000)),
        ("model.window", " auto ", json!("auto")),
        ("model.window", "2e5", json!(200_000)),
        ("compression.threshold", ".5", json!(0.5)),
        ("compression.threshold", "+0.5", json!(0.5)),
        ("compression.enabled", "off", json!(false)),
        ("compression.enabled", "1", json!(true)),
        ("compression.never_prune", "todo, memory,", json!(["todo", "memory"])),
        ("compression.never_prune", "", json!([])),
        ("summarizer.url", "null", json!(null)),
        ("summarizer.url", "none", json!("none")),
        ("compression.signed_reasoning", "prefix_bound", json!("prefix_bound")),
    ] {
        let resolved = resolve(&[layer([flag(key, text)])]).unwrap();
        assert_eq!(resolved.value(key), Some(&value), "{key}={text}");
        assert_eq!(Policy::resolved(&resolved).value(key), Some(value), "{key}={text}");
    }
}

#[test]
fn odd_numbers_are_refused_and_never_wrap() {
    for text in ["NaN", "inf", "-0.5", "1e400", "99999999999999999999", "k", ".k", "1..2k", "0x10", "1 000"] {
        for key in ["compression.threshold", "model.window", "compression.protect_first_n"] {
            assert_eq!(complaints([flag(key, text)]).len(), 1, "{key}={text}");
        }
    }
}

#[test]
fn the_documentation_has_a_row_for_every_knob() {
    let text = Policy::sections().markdown();
    for knob in knobs() {
        assert!(text.contains(&format!("| `{}` |", knob.name())), "{}", knob.key);
    }
    assert!(text.contains("sacred-zone: `0.75`"));
}
