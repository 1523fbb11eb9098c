//! `foldline compress`: a transcript in, a smaller one out.

use super::settings;
use crate::args::Compress;
use crate::failure::{Failure, Verdict};
use crate::input::{self, Document};
use crate::keep;
use crate::output::{self, Paint};
use crate::settings::{Flag, Settings, Surroundings, model_table};
use anstyle::{AnsiColor, Style};
use foldline_core::cache::marks;
use foldline_core::plan::Outcome;
use foldline_core::{Compaction, EngineError, Job, Report, Request, SessionState, Trigger, compact, explain, wire};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

/// Runs the command.
pub fn run(args: &Compress) -> Result<Verdict, Failure> {
    let started = Instant::now();
    let settings = settings(&args.tuning, summariser_flags(args))?;
    let document = input::read(&args.source)?;
    let read = started.elapsed();
    let state = load_state(args.state.as_deref())?;
    let mut warnings = Vec::new();
    let store = match keep::open(settings.policy()) {
        Ok(store) if !args.dry_run => store,
        Ok(_) => None,
        Err(error) => {
            warnings.push(format!("originals are not kept: {error}"));
            None
        }
    };
    let mut job = job(args, &settings)?;
    job.request.keeps_originals = store.is_some();
    let mut done = run_engine(&document, &settings, &state, &job)?;
    let compacted = started.elapsed();
    // A handle leaves only when its original is stored: without it, the work is done again without handles.
    if let Some(store) = &store
        && let Err(error) = keep::keep(store, &done)
    {
        warnings.push(format!("originals are not kept: {error}"));
        job.request.keeps_originals = false;
        done = run_engine(&document, &settings, &state, &job)?;
    }
    let kept = started.elapsed();
    if args.dry_run {
        return print_plan(&document, &done, settings.policy(), &job).map(|()| Verdict::Fine);
    }
    let mut report = Report::of(&done);
    report.warnings.extend(warnings);
    write_body(args, &marked(args, &done, settings.policy()))?;
    if let Some(path) = &args.state {
        let state = serde_json::to_string_pretty(&done.state).map_err(Failure::input)?;
        output::write_file(path, &state)?;
    }
    let milliseconds = |duration: std::time::Duration| duration.as_secs_f64() * 1000.0;
    report.timing_ms.insert("read".into(), milliseconds(read));
    report.timing_ms.insert("compact".into(), milliseconds(compacted - read));
    report.timing_ms.insert("store".into(), milliseconds(kept - compacted));
    report.timing_ms.insert("total".into(), milliseconds(started.elapsed()));
    if let Some(event) = &mut report.event {
        event.milliseconds = Some(milliseconds(compacted - read));
    }
    if let Some(place) = &args.report {
        write_report(place, &report)?;
    }
    if !args.quiet && args.report.as_deref() != Some("-") {
        output::tell(&feedback(&report, Paint::of_stderr()));
    }
    match done.plan.outcome {
        Outcome::Aborted => Err(Failure::summariser(&report.reason)),
        _ => Ok(Verdict::Fine),
    }
}

fn summariser_flags(args: &Compress) -> Vec<Flag> {
    let url = args.summarizer.clone().filter(|url| url != "none");
    let none = args.summarizer.as_deref() == Some("none");
    let url = url.or_else(|| none.then(|| "null".to_owned()));
    let url = url.map(|value| Flag { flag: "--summarizer", key: "summarizer.url", value });
    let model = args.summarizer_model.clone();
    let model = model.map(|value| Flag { flag: "--summarizer-model", key: "summarizer.model", value });
    url.into_iter().chain(model).collect()
}

fn job(args: &Compress, settings: &Settings) -> Result<Job, Failure> {
    let models = model_table(settings.policy(), &Surroundings::of_process()).map_err(Failure::input)?;
    Ok(Job {
        format: input::format_of(args.source.format),
        models: Some(models),
        request: Request {
            trigger: if args.force || args.focus.is_some() { Trigger::Manual } else { Trigger::Engine },
            focus: args.focus.clone(),
            target: args.target_tokens,
            ..Request::default()
        },
    })
}

fn run_engine<'a>(
    document: &'a Document,
    settings: &Settings,
    state: &SessionState,
    job: &Job,
) -> Result<Compaction<'a>, Failure> {
    compact(&document.text, settings.policy(), state, job).map_err(|error| match error {
        EngineError::CannotFit(error) => Failure::target(error),
        error => Failure::input(format!("{}: {error}", document.name)),
    })
}

fn load_state(path: Option<&Path>) -> Result<SessionState, Failure> {
    let Some(path) = path else {
        return Ok(SessionState::default());
    };
    match std::fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text).map_err(|error| {
            Failure::input(format!("{}: {error}; expected the state that an earlier call wrote", path.display()))
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(SessionState::default()),
        Err(error) => Err(Failure::input(format!("cannot read {}: {error}", path.display()))),
    }
}

/// The result with the cache marks that were asked for.
fn marked<'d>(args: &Compress, done: &'d Compaction<'_>, policy: &foldline_core::Policy) -> Cow<'d, str> {
    let Some(layout) = args.cache_marks.layout() else { return Cow::Borrowed(&done.body) };
    let Ok(transcript) = wire::read(&done.body, Some(done.format)) else { return Cow::Borrowed(&done.body) };
    let carrier = marks::Carrier::of(done.format);
    let edits = marks::edits(&transcript, layout, policy.model.cache_ttl, carrier);
    if edits.is_empty() { Cow::Borrowed(&done.body) } else { Cow::Owned(edits.splice(&done.body)) }
}

fn write_body(args: &Compress, body: &str) -> Result<(), Failure> {
    match args.output.as_deref().filter(|path| *path != Path::new("-")) {
        Some(path) => output::write_file(path, body),
        None => output::print(body),
    }
}

fn write_report(place: &str, report: &Report) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(report).map_err(Failure::input)?;
    match place {
        "-" => output::tell(&format!("{text}\n")),
        path => output::write_file(Path::new(path), &format!("{text}\n"))?,
    }
    Ok(())
}

/// The plan as lines, for `--dry-run`.
fn print_plan(
    document: &Document,
    done: &Compaction<'_>,
    policy: &foldline_core::Policy,
    job: &Job,
) -> Result<(), Failure> {
    let name = |error| Failure::input(format!("{}: {error}", document.name));
    let transcript = wire::read(&done.source, Some(done.format)).map_err(name)?;
    let state = SessionState::default();
    let setting = foldline_core::Setting::of(&transcript, policy, job, &state);
    let counts = foldline_core::engine::count(&transcript, &setting, &state);
    let mut out = explain::shape(&transcript, &counts, &done.plan);
    out.push('\n');
    out.push_str(&explain::summary(&done.plan));
    if let Some(fold) = &done.plan.fold {
        out.push('\n');
        out.push_str(&fold.handoff.text);
        out.push('\n');
    }
    output::print(&out)
}

/// Where the tokens went: what was done to which tool's parts, and what it freed.
fn savings(report: &Report) -> String {
    let mut groups: BTreeMap<(&str, &str), (usize, u64, u64)> = BTreeMap::new();
    for edit in report.edits.iter().filter(|edit| edit.tokens_before > 0) {
        let (count, before, after) = groups.entry((explain::name_of(edit.kind), edit.tool.as_str())).or_default();
        *count += 1;
        *before += edit.tokens_before;
        *after += edit.tokens_after;
    }
    let mut rows: Vec<_> = groups.into_iter().collect();
    rows.sort_by_key(|(_, (_, before, after))| std::cmp::Reverse(before.saturating_sub(*after)));
    let mut out = String::new();
    for ((kind, tool), (count, before, after)) in rows {
        let _ = writeln!(out, "  {kind:<10} {tool:<14} {count:>4} × {before:>8} → {after:>7} tokens");
    }
    out
}

/// What happened, in a few lines.
fn feedback(report: &Report, paint: Paint) -> String {
    let strong = Style::new().bold();
    let (word, colour) = match report.outcome {
        Outcome::Unchanged => ("unchanged", AnsiColor::Cyan),
        Outcome::Pruned => ("pruned", AnsiColor::Green),
        Outcome::Folded => ("folded", AnsiColor::Green),
        Outcome::Clamped => ("clamped", AnsiColor::Yellow),
        Outcome::Aborted => ("aborted", AnsiColor::Red),
    };
    let word = paint.paint(strong.fg_color(Some(colour.into())), word);
    let mut out = format!("{word}: {}\n", report.reason);
    if report.outcome != Outcome::Unchanged {
        let saved = 100.0 - report.tokens.after as f64 * 100.0 / report.tokens.before.max(1) as f64;
        out.push_str(&format!(
            "  messages {} → {}, tokens {} → {} ({saved:.0} % less)\n",
            report.messages.before, report.messages.after, report.tokens.before, report.tokens.after
        ));
    }
    out.push_str(&savings(report));
    for warning in &report.warnings {
        out.push_str(&format!("  {}\n", paint.paint(Style::new().fg_color(Some(AnsiColor::Yellow.into())), warning)));
    }
    out
}
