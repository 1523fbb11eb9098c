//! `foldline compress`: compacts a transcript.

use super::feedback::{StartedBy, feedback};
use super::settings;
use super::summarise;
use crate::args::Compress;
use crate::failure::{Failure, Verdict};
use crate::input::{self, Document};
use crate::keep;
use crate::output::{self, Paint};
use crate::progress::{self, ProgressDisplay};
use crate::settings::{Flag, Settings, Surroundings, model_table};
use foldline_core::Outcome;
use foldline_core::cache::marks;
use foldline_core::handoff::latest;
use foldline_core::planning::{Inputs, assess, count, finish, plan, read, resume};
use foldline_core::{
    Compaction, EngineError, Job, Plan, Policy, Report, Request, SessionState, Sound, Trigger, explain,
};
use std::borrow::Cow;
use std::io::IsTerminal;
use std::path::Path;
use std::time::Instant;

/// Runs the command.
pub fn run(args: &Compress) -> Result<Verdict, Failure> {
    let started = Instant::now();
    let mut flags = summariser_flags(args);
    if args.handoff {
        // What is kept as it is would have to stand beside the handoff.
        flags.push(Flag { flag: "--handoff", key: "compression.protect_first_n", value: "0".to_owned() });
    }
    let settings = settings(&args.tuning, flags)?;
    let delivery = match Delivery::of(args.output.as_deref()) {
        // A handoff is a text to be read.
        Delivery::Nowhere if args.handoff => Delivery::Stdout,
        delivery => delivery,
    };
    let is_trial = args.dry_run || delivery == Delivery::Nowhere;
    let report = args.report.as_deref().map(Path::new);
    for path in [args.output.as_deref(), report, args.state.as_deref()].into_iter().flatten() {
        if path != Path::new("-") && !args.dry_run {
            output::check_writable(path)?;
        }
    }
    let document = input::read(&args.source)?;
    let read = started.elapsed();
    let state = load_state(args.state.as_deref())?;
    let mut warnings = Vec::new();
    // A plan or a result that goes nowhere makes no file, but shows the handles that a run would give.
    let opened = if is_trial { Ok(None) } else { keep::open(&settings.store) };
    let store = opened.unwrap_or_else(|error| {
        warnings.push(format!("originals are not stored: {error}"));
        None
    });
    let mut job = job(args, &settings)?;
    job.request.keeps_originals = store.is_some() || is_trial && keep::path_of(&settings.store).is_some();
    let progress = if args.quiet { ProgressDisplay::Hidden } else { ProgressDisplay::Shown };
    let bar = progress::on_document(progress, document.text.len(), "compacting");
    let engine = Engine { document: &document, policy: settings.policy(), state: &state };
    let (sound, mut plan) = engine.plan(&job)?;
    bar.finish_and_clear();
    if args.dry_run {
        return print_plan(&sound, plan, &state).map(|()| Verdict::Fine);
    }
    let mut summary = None;
    let wanted = plan.writing.job.take();
    // A model is not paid for what nobody gets.
    let is_unasked = wanted.is_some() && is_trial;
    if let Some(wanted) = wanted.filter(|_| !is_trial) {
        let written = summary.insert(summarise::run(settings.policy(), &wanted, progress)?);
        plan = resume(&sound, plan, written, &engine.inputs(&job)).map_err(Failure::target)?;
    }
    let mut done = engine.finish(sound, plan, &job)?;
    let compacted = started.elapsed();
    let bar = progress::on_document(progress, document.text.len(), "keeping originals of");
    // A handle leaves only when its original is stored: without it, the work is done again without handles.
    if let Some(store) = &store
        && let Err(error) = keep::keep(store, &done)
    {
        warnings.push(format!("originals are not stored: {error}"));
        job.request.keeps_originals = false;
        job.request.summary = summary;
        let (sound, plan) = engine.plan(&job)?;
        done = engine.finish(sound, plan, &job)?;
    }
    bar.finish_and_clear();
    let kept = started.elapsed();
    let mut report = Report::of(&done);
    report.warnings.extend(warnings);
    match args.handoff {
        true => delivery.write(&handoff(&done)?)?,
        false => delivery.write(&marked(args, &done, settings.policy()))?,
    }
    if let Some(path) = args.state.as_ref().filter(|_| !is_trial) {
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
        let asked = if job.request.trigger == Trigger::Manual { StartedBy::Person } else { StartedBy::Script };
        output::tell(&feedback(&report, asked, Paint::of_stderr()));
    }
    if delivery == Delivery::Nowhere {
        let unasked = if is_unasked { "; the summariser was not asked" } else { "" };
        output::tell(&format!(
            "nothing was written or stored: standard output is a terminal{unasked}\n  \
             next: add -o FILE to write the result, or -o - to print it here\n"
        ));
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
            trigger: if args.force || args.handoff || args.focus.is_some() { Trigger::Manual } else { Trigger::Engine },
            focus: args.focus.clone(),
            pins: args.pins.clone(),
            target: args.target_tokens,
            reach: args.recall.reach(),
            now_ms: Some(keep::now_ms()),
            today: Some(keep::today()),
            memory: args.memory.as_deref().map(read_memory).transpose()?,
            ..Request::default()
        },
        ..Job::default()
    })
}

fn read_memory(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|error| Failure::input(format!("cannot read {}: {error}", path.display())))
}

/// What the engine works on.
struct Engine<'e> {
    document: &'e Document,
    policy: &'e Policy,
    state: &'e SessionState,
}

impl<'e> Engine<'e> {
    fn inputs<'j>(&self, job: &'j Job) -> Inputs<'j>
    where
        'e: 'j,
    {
        Inputs { policy: self.policy, state: self.state, job }
    }

    fn plan(&self, job: &Job) -> Result<(Sound<'e>, Plan), Failure> {
        let inputs = self.inputs(job);
        let sound = read(&self.document.text, &inputs).map_err(|error| self.failure(error.into()))?;
        let verdict = assess(&sound, &inputs);
        let plan = plan(&sound, verdict, &inputs).map_err(Failure::target)?;
        Ok((sound, plan))
    }

    fn finish(&self, sound: Sound<'e>, plan: Plan, job: &Job) -> Result<Compaction<'e>, Failure> {
        finish(sound, plan, &self.inputs(job)).map_err(|error| self.failure(error))
    }

    fn failure(&self, error: EngineError) -> Failure {
        match error {
            EngineError::CannotFit(error) => Failure::target(error),
            error => Failure::input(format!("{}: {error}", self.document.name)),
        }
    }
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

/// The handoff of the result and what followed it.
fn handoff(done: &Compaction<'_>) -> Result<String, Failure> {
    let told =
        latest(&done.transcript()).ok_or_else(|| Failure::input("there is no handoff: nothing could be folded"))?;
    Ok(format!("{told}\n"))
}

/// The result with the cache marks that were asked for.
fn marked<'d>(args: &Compress, done: &'d Compaction<'_>, policy: &foldline_core::Policy) -> Cow<'d, str> {
    let Some(layout) = args.cache_marks.layout() else { return Cow::Borrowed(&done.body) };
    let transcript = done.transcript();
    let carrier = marks::Carrier::of(done.format);
    let edits = marks::edits(&transcript, layout, policy.model.cache_ttl, carrier);
    if edits.is_empty() { Cow::Borrowed(&done.body) } else { Cow::Owned(edits.splice(&done.body)) }
}

/// Where the result goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Delivery<'a> {
    File(&'a Path),
    Stdout,
    /// Standard output is a terminal, where hundreds of kilobytes of JSON help nobody.
    Nowhere,
}

impl Delivery<'_> {
    fn of(output: Option<&Path>) -> Delivery<'_> {
        match output {
            Some(path) if path != Path::new("-") => Delivery::File(path),
            None if std::io::stdout().is_terminal() => Delivery::Nowhere,
            _ => Delivery::Stdout,
        }
    }

    fn write(self, body: &str) -> Result<(), Failure> {
        match self {
            Delivery::File(path) => output::write_file(path, body),
            Delivery::Stdout => output::print(body),
            Delivery::Nowhere => Ok(()),
        }
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
fn print_plan(sound: &Sound<'_>, plan: Plan, state: &SessionState) -> Result<(), Failure> {
    let plan = plan.of_input(sound.repairs());
    let input = sound.input().transcript();
    // Of a damaged transcript the messages are shown that came in; what was counted are the repaired ones.
    let recounted = sound.repairs().map(|_| count(&input, &sound.setting, state));
    let mut out = explain::shape(&input, recounted.as_ref().unwrap_or(&sound.counts), &plan);
    out.push('\n');
    out.push_str(&explain::summary(&plan));
    if let Some(fold) = &plan.fold {
        out.push('\n');
        out.push_str(&fold.handoff.text);
        out.push('\n');
    }
    output::print(&out)
}
