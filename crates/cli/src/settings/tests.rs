use std::path::{Path, PathBuf};

use foldline_core::models::{ApiFamily, ModelTable};
use foldline_core::policy::{AutoOr, CacheTtl, Policy, Preset, Tail};

use super::env::variable;
use super::*;
use crate::command::config;
use crate::output::Paint;

/// A stand-in for the process: some files, some variables.
fn with<T>(files: &[(&str, &str)], vars: &[(&str, &str)], run: impl FnOnce(&Surroundings<'_>) -> T) -> T {
    let read = |path: &Path| {
        let found = files.iter().find(|(name, _)| Path::new(name) == path);
        match found {
            Some((_, "<forbidden>")) => Err(io::Error::from(io::ErrorKind::PermissionDenied)),
            Some((_, text)) => Ok((*text).to_owned()),
            None => Err(io::Error::from(io::ErrorKind::NotFound)),
        }
    };
    let vars = vars.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    run(&Surroundings { vars, read: &read })
}

fn sets(texts: &[&str]) -> SettingsArgs {
    SettingsArgs { sets: texts.iter().map(|text| (*text).to_owned()).collect(), ..SettingsArgs::default() }
}

fn messages(result: Result<Settings, Vec<SettingsError>>) -> Vec<String> {
    result.err().unwrap_or_default().iter().map(ToString::to_string).collect()
}

/// The messages about one file with this text.
fn complaints(text: &str) -> Vec<String> {
    with(&[("foldline.yaml", text)], &[], |around| messages(load(&SettingsArgs::default(), around)))
}

const FILE: &str = "\
# what we like
compression:
  preset: runway
  threshold: 0.6   # a little later
  tail: 20k
  never_prune: [todo, memory]
  summary_model: ~

model:
  cache_ttl: \"1h\"
summarizer:
";

#[test]
fn a_file_is_read_with_types_and_lines() {
    with(&[("foldline.yaml", FILE)], &[], |around| {
        let settings = load(&SettingsArgs::default(), around).unwrap();
        assert_eq!(settings.file, Some(PathBuf::from("foldline.yaml")));
        let policy = settings.policy();
        assert_eq!((policy.compression.preset, policy.compression.threshold), (Preset::Runway, 0.6));
        assert_eq!(policy.compression.tail, Tail::Tokens(20_000));
        assert_eq!(policy.compression.never_prune, ["todo", "memory"]);
        assert_eq!((policy.compression.summary_model.as_deref(), policy.model.cache_ttl), (None, CacheTtl::OneHour));
        let from = |key: &str| settings.resolved.origin(key).map(ToString::to_string);
        assert_eq!(from("compression.threshold").as_deref(), Some("foldline.yaml:4"));
        assert_eq!(from("model.cache_ttl").as_deref(), Some("foldline.yaml:10"));
        assert_eq!(from("compression.protect_tool_tokens").as_deref(), Some("preset runway"));
    });
}

#[test]
fn nothing_set_is_the_default_policy() {
    with(&[], &[], |around| {
        let settings = load(&SettingsArgs::default(), around).unwrap();
        assert_eq!((settings.policy(), settings.file.as_ref()), (&Policy::default(), None));
    });
    for text in ["", "\n\n", "# only a comment\n", "compression:\n", "{}\n", "---\n"] {
        assert!(complaints(text).is_empty(), "{text:?}: {:?}", complaints(text));
    }
}

#[test]
fn the_first_place_that_has_a_file_counts() {
    let file = |threshold: &str| format!("compression:\n  threshold: {threshold}\n");
    let (given, var, here, xdg, home) = (file("0.1"), file("0.2"), file("0.3"), file("0.4"), file("0.5"));
    let all = [
        ("given.yaml", given.as_str()),
        ("/var.yaml", &var),
        ("foldline.yaml", &here),
        ("/xdg/foldline/config.yaml", &xdg),
        ("/home/u/.config/foldline/config.yaml", &home),
    ];
    let vars = [("FOLDLINE_CONFIG", "/var.yaml"), ("XDG_CONFIG_HOME", "/xdg"), ("HOME", "/home/u")];
    let threshold = |files: &[(&str, &str)], vars: &[(&str, &str)], asked: &SettingsArgs| {
        with(files, vars, |around| load(asked, around).unwrap().policy().compression.threshold)
    };
    let named = SettingsArgs { config: Some(PathBuf::from("given.yaml")), ..SettingsArgs::default() };
    let open = SettingsArgs::default();
    assert_eq!(threshold(&all, &vars, &named), 0.1);
    assert_eq!(threshold(&all, &vars, &open), 0.2);
    assert_eq!(threshold(&all, &vars[1..], &open), 0.3);
    assert_eq!(threshold(&all[3..], &vars[1..], &open), 0.4);
    assert_eq!(threshold(&all[3..], &vars[2..], &open), 0.5);
    assert_eq!(threshold(&all[3..], &[("XDG_CONFIG_HOME", ""), vars[2]], &open), 0.5, "empty is not set");
}

#[test]
fn a_named_file_must_be_there_and_a_usual_one_must_be_readable() {
    let named = SettingsArgs { config: Some(PathBuf::from("gone.yaml")), ..SettingsArgs::default() };
    with(&[], &[], |around| {
        let found = messages(load(&named, around));
        assert!(found.len() == 1 && found[0].starts_with("gone.yaml: cannot be read: "), "{found:?}");
    });
    with(&[], &[("FOLDLINE_CONFIG", "gone.yaml")], |around| {
        assert_eq!(messages(load(&SettingsArgs::default(), around)).len(), 1);
    });
    assert_eq!(complaints("<forbidden>").len(), 1);
}

#[test]
fn environment_beats_file_and_set_beats_environment_and_flag_beats_set() {
    let vars = [("FOLDLINE_COMPRESSION_THRESHOLD", "0.7"), ("FOLDLINE_MODEL_WINDOW", "64k"), ("HOME", "/")];
    with(&[("foldline.yaml", FILE)], &vars, |around| {
        let settings = load(&SettingsArgs::default(), around).unwrap();
        assert_eq!(settings.policy().compression.threshold, 0.7);
        assert_eq!(settings.policy().model.window, AutoOr::Fixed(64_000));
        let settings = load(&sets(&["threshold=0.8", "model.cache_ttl=5m"]), around).unwrap();
        assert_eq!(settings.policy().compression.threshold, 0.8);
        assert_eq!(settings.policy().model.cache_ttl, CacheTtl::FiveMinutes);
        let preset = Flag { flag: "--preset", key: "compression.preset", value: "frugal".to_owned() };
        let asked = SettingsArgs { flags: vec![preset], ..sets(&["preset=skill"]) };
        let settings = load(&asked, around).unwrap();
        assert_eq!(settings.policy().compression.preset, Preset::Frugal);
        let origin = settings.resolved.origin("compression.preset").map(ToString::to_string);
        assert_eq!(origin.as_deref(), Some("--preset frugal"));
    });
}

#[test]
fn every_key_has_a_variable_of_its_own() {
    for knob in sections().knobs() {
        let name = variable(knob);
        // Text knobs take anything; for the rest the default is a fine value to set.
        let value = if knob.default.is_empty() { "x" } else { knob.default };
        with(&[], &[(&name, value)], |around| {
            let settings = load(&SettingsArgs::default(), around).unwrap();
            let origin = settings.resolved.origin(knob.key).map(ToString::to_string);
            assert_eq!(origin.as_deref(), Some(name.as_str()));
        });
    }
}

#[test]
fn variables_that_are_not_ours_or_secret_or_empty_are_left_alone() {
    let vars = [
        ("FOLDLINE_LOG", "debug"),
        ("FOLDLINE_SUMMARIZER_KEY", "not shown"),
        ("FOLDLINE_COMPRESSION_THRESHOLD", ""),
        ("COMPRESSION_THRESHOLD", "9"),
    ];
    with(&[], &vars, |around| {
        assert_eq!(load(&SettingsArgs::default(), around).unwrap().policy(), &Policy::default());
    });
}

#[test]
fn variables_may_leave_out_the_section_as_flags_do() {
    let vars = [
        ("FOLDLINE_PRESET", "runway"),
        ("FOLDLINE_THRESHOLD", "0.6"),
        ("FOLDLINE_STORE", "none"),
        ("FOLDLINE_WINDOW", "64k"),
        ("FOLDLINE_MODEL", "gpt-5"),
    ];
    with(&[], &vars, |around| {
        let settings = load(&SettingsArgs::default(), around).unwrap();
        let policy = settings.policy();
        assert_eq!((policy.compression.preset, policy.compression.threshold), (Preset::Runway, 0.6));
        assert_eq!((policy.model.name.as_deref(), policy.model.window), (Some("gpt-5"), AutoOr::Fixed(64_000)));
        assert_eq!(settings.store.path.as_deref(), Some("none"));
        let origin = settings.resolved.origin("compression.preset").map(ToString::to_string);
        assert_eq!(origin.as_deref(), Some("FOLDLINE_PRESET"));
    });
    with(&[], &[("FOLDLINE_PRESETS", "runway"), ("FOLDLINE_HOME", "/x")], |around| {
        let message = "FOLDLINE_PRESETS: presets: unknown key, did you mean compression.preset?";
        assert_eq!(messages(load(&SettingsArgs::default(), around)), [message]);
    });
}

#[test]
fn errors_name_file_line_key_value_and_what_was_expected() {
    for (text, message) in [
        (
            "compression:\n  threshold: 1.4\n",
            "foldline.yaml:2: compression.threshold: 1.4 is out of range, expected a number from 0.05 to 0.95",
        ),
        (
            "compression:\n  enabled: on\n",
            "foldline.yaml:2: compression.enabled: \"on\" has the wrong type, expected true or false",
        ),
        (
            "compression:\n  treshold: 0.5\n",
            "foldline.yaml:2: compression.treshold: unknown key, did you mean compression.threshold?",
        ),
        (
            "compression:\n  outlines: parser\n",
            "foldline.yaml:2: compression.outlines: there is no such setting any more: definitions are found by the look of lines; remove it",
        ),
        ("\nthreshold: 0.5\n", "foldline.yaml:2: threshold: unknown key, did you mean compression.threshold?"),
        (
            "compression: [1]\n",
            "foldline.yaml:1: compression: [1] has the wrong type, expected a section with keys of its own",
        ),
        (
            "compression:\n  tail: {a: 1}\n",
            "foldline.yaml:2: compression.tail: {\"a\":1} has the wrong type, expected a number of tokens from 500 to 10000000, or ratio or auto",
        ),
        ("- a\n- b\n", "foldline.yaml:1:1: expected sections such as `compression:` that contain keys"),
    ] {
        assert_eq!(complaints(text), [message], "{text}");
    }
}

#[test]
fn a_file_that_is_no_yaml_is_refused_with_its_place() {
    for (text, place) in [
        ("compression:\n  threshold: [0.5\n", "foldline.yaml:"),
        ("compression:\n  threshold: 0.5\n  threshold: 0.6\n", "foldline.yaml:3:3: "),
        ("a: b: c\n", "foldline.yaml:1:"),
        ("compression:\n  threshold: .inf\n", "foldline.yaml:2:"),
        ("compression: {}\n---\nmodel: {}\n", "foldline.yaml:"),
    ] {
        let found = complaints(text);
        assert!(found.len() == 1 && found[0].starts_with(place), "{text:?}: {found:?}");
        assert!(!found[0].contains('\n'), "one problem is one line: {found:?}");
    }
}

#[test]
fn a_set_needs_an_assignment_and_a_known_key() {
    with(&[], &[("FOLDLINE_COMPRESSION_TRESHOLD", "0.4")], |around| {
        assert_eq!(
            messages(load(&sets(&["threshold", "tails=auto"]), around)),
            [
                "--set threshold: expected key=value, as in --set threshold=0.6",
                "FOLDLINE_COMPRESSION_TRESHOLD: compression.treshold: unknown key, did you mean compression.threshold?",
                "--set tails=auto: tails: unknown key, did you mean compression.tail?",
            ]
        );
    });
}

#[test]
fn a_file_is_checked_alone() {
    let files = [("mine.yaml", "compression:\n  threshold: 7\nmodel:\n  windw: 3\n"), ("fine.yaml", FILE)];
    with(&files, &[("FOLDLINE_COMPRESSION_THRESHOLD", "nonsense")], |around| {
        assert!(check_file(Path::new("fine.yaml"), around).is_empty());
        let problems = check_file(Path::new("mine.yaml"), around);
        assert_eq!(
            config::check("mine.yaml", &problems, Paint::Plain),
            "mine.yaml:2: compression.threshold: 7 is out of range, expected a number from 0.05 to 0.95\n\
             mine.yaml:4: model.windw: unknown key, did you mean model.window?\n\
             mine.yaml: 2 problems\n"
        );
        assert_eq!(check_file(Path::new("gone.yaml"), around).len(), 1);
    });
    assert_eq!(config::check("a.yaml", &[], Paint::Plain), "a.yaml: no problems\n");
}

#[test]
fn show_lists_every_key_with_value_and_origin() {
    with(&[("foldline.yaml", FILE)], &[], |around| {
        let settings = load(&sets(&["prune_above=99"]), around).unwrap();
        let text = config::show(&settings, Paint::Plain);
        let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows.len(), sections().knobs().len() + 1);
        assert!(rows.contains(&vec!["compression.threshold", "0.6", "foldline.yaml:4"]), "{text}");
        assert!(rows.contains(&vec!["compression.never_prune", "todo,", "memory", "foldline.yaml:6"]));
        assert!(rows.contains(&vec!["compression.prune_above", "99", "--set", "prune_above=99"]));
        assert!(rows.contains(&vec!["compression.runway", "0.15", "default"]));
        assert!(!text.contains('\u{1b}'));
        let coloured = config::show(&settings, Paint::Colour);
        assert!(coloured.contains('\u{1b}'));
        assert_eq!(coloured.lines().count(), text.lines().count());
    });
}

#[test]
fn show_has_a_form_for_programs() {
    with(&[("foldline.yaml", FILE)], &[], |around| {
        let settings = load(&SettingsArgs::default(), around).unwrap();
        let value: serde_json::Value = serde_json::from_str(&config::show_json(&settings)).unwrap();
        assert_eq!(value["file"], "foldline.yaml");
        let entry = value["settings"].as_array().unwrap().iter().find(|e| e["key"] == "compression.threshold");
        assert_eq!(
            entry.unwrap(),
            &serde_json::json!({
                "key": "compression.threshold",
                "value": 0.6,
                "origin": { "kind": "file", "path": "foldline.yaml", "line": 4 },
            })
        );
    });
}

#[test]
fn the_schema_is_printed_as_json() {
    let value: serde_json::Value = serde_json::from_str(&config::schema()).unwrap();
    assert_eq!(value["properties"]["compression"]["properties"]["threshold"]["maximum"], 0.95);
}

#[test]
fn a_hostile_file_is_refused_and_does_no_harm() {
    let deep = format!("compression: {}", "[".repeat(100_000));
    let nested: String = (0..5_000).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    let bomb = "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n\
                d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\n\
                g: &g [*f,*f,*f,*f,*f,*f,*f,*f,*f]\nh: &h [*g,*g,*g,*g,*g,*g,*g,*g,*g]\n";
    for text in [deep.as_str(), &nested, bomb, "compression: \u{0}", "\u{feff}compression: *x"] {
        assert!(!complaints(text).is_empty());
    }
}

#[test]
fn a_file_of_models_is_laid_over_the_table_that_ships() {
    let files = [
        ("mine.yaml", "- match: [house]\n  window: 64000\n- match: [gpt-4o]\n  window: 99000\n"),
        ("mine.json", r#"[{"match": ["house"], "window": 32000, "price": {"input": 1, "output": 2}}]"#),
        ("typo.yaml", "- match: [house]\n  windw: 64000\n"),
    ];
    with(&files, &[], |around| {
        let table = |path: &str| {
            let settings = load(&sets(&[&format!("model.table={path}")]), around).unwrap();
            model_table(settings.policy(), around)
        };
        let window = |path: &str, name: &str| table(path).unwrap().profile(name, ApiFamily::OpenAi).window;
        assert_eq!((window("mine.yaml", "house-7"), window("mine.yaml", "gpt-4o")), (64_000, 99_000));
        assert_eq!((window("mine.json", "house-7"), window("mine.json", "gpt-4o")), (32_000, 128_000));
        let typo = table("typo.yaml").unwrap_err().to_string();
        assert!(typo.starts_with("typo.yaml:2:") && typo.contains("windw"), "{typo}");
        assert!(table("gone.json").unwrap_err().to_string().starts_with("gone.json: cannot be read"));
        assert_eq!(&model_table(&Policy::default(), around).unwrap(), ModelTable::embedded());
    });
}
