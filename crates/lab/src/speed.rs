//! Speed of the engine and how it scales with the transcript.
//!
//! Parts are timed through the public API on one parsed transcript. What `compact` does beyond them
//! (applying the plan, reading and counting the result) is the rest: its time less theirs.

use crate::{Failure, best, generate};
use foldline_core::planning::{Inputs, apply, assess, count, finish, plan, read};
use foldline_core::policy::AutoOr;
use foldline_core::{Format, Job, Policy, SessionState, compact};
use foldline_transcript::{repair, wire};
use serde_json::{Value, json};
use std::fmt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The transcripts that everybody times.
const SEED: u64 = 1;

/// Small enough that transcripts of every size are compacted: one that is left alone takes no time to plan.
const WINDOW: u32 = 64_000;
/// Below this size what is done once hides what is done per message.
const GROWN: usize = 500;

/// Times of one transcript, in milliseconds.
#[derive(Clone, Debug)]
pub struct Times {
    /// The format.
    pub format: Format,
    /// Messages that it has.
    pub messages: usize,
    /// Bytes that it has.
    pub bytes: usize,
    /// What became of it.
    pub outcome: String,
    /// Each part with its name.
    pub parts: Vec<(&'static str, f64)>,
    /// The whole process, if there is one.
    pub process: Option<Process>,
}

/// What one run of the binary took.
#[derive(Clone, Copy, Debug)]
pub struct Process {
    /// Wall time in milliseconds.
    pub wall: f64,
    /// Processor time in milliseconds.
    pub cpu: f64,
    /// Largest resident set in megabytes.
    pub peak: f64,
}

/// All transcripts.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// In the order of formats, then sizes.
    pub rows: Vec<Times>,
}

/// Times generated transcripts of these sizes and formats.
pub fn measure(
    sizes: &[usize],
    formats: &[Format],
    binary: Option<&Path>,
    runs: usize,
    progress: impl Fn(&str),
) -> Result<Table, Failure> {
    let mut table = Table::default();
    for &format in formats {
        for &messages in sizes {
            progress(&format!("{format}, {messages} messages"));
            let body = generate::transcript(format, messages, SEED);
            let mut times = library(&body, runs)?;
            times.process = binary.map(|binary| process(binary, &body, runs)).transpose()?;
            table.rows.push(times);
        }
    }
    Ok(table)
}

fn library(body: &str, runs: usize) -> Result<Times, Failure> {
    let (mut policy, state, job) = (Policy::default(), SessionState::default(), Job::default());
    policy.model.window = AutoOr::Fixed(WINDOW);
    let inputs = Inputs { policy: &policy, state: &state, job: &job };
    let sound = read(body, &inputs)?;
    let transcript = sound.transcript();
    let verdict = assess(&sound, &inputs);
    let done = finish(sound.clone(), plan(&sound, verdict.clone(), &inputs)?, &inputs)?;
    let outcome = done.plan.outcome;
    let planned = plan(&sound, verdict.clone(), &inputs)?;
    let time = |work: &mut dyn FnMut()| best::milliseconds(best::of(runs, work));
    let mut parts = vec![
        ("parse", time(&mut || drop(std::hint::black_box(wire::read(body, None))))),
        ("check", time(&mut || drop(std::hint::black_box(repair::repair(&transcript))))),
        ("count", time(&mut || drop(std::hint::black_box(count(&transcript, &sound.setting, &state))))),
        ("plan", time(&mut || drop(std::hint::black_box(plan(&sound, verdict.clone(), &inputs))))),
        ("apply", time(&mut || drop(std::hint::black_box(apply(&sound, &planned))))),
    ];
    let whole = time(&mut || drop(std::hint::black_box(compact(body, &policy, &state, &job))));
    let known: f64 = parts.iter().map(|(_, time)| time).sum();
    // A difference of best times can fall below zero; it is then too small to be seen.
    parts.push(("rest", (whole - known).max(0.0)));
    parts.push(("compact", whole));
    Ok(Times {
        format: transcript.format,
        messages: transcript.messages.len(),
        bytes: body.len(),
        outcome: format!("{outcome:?}").to_lowercase(),
        parts,
        process: None,
    })
}

/// `BINARY compress FILE -o OUT`, best of several.
fn process(binary: &Path, body: &str, runs: usize) -> Result<Process, Failure> {
    let place = std::env::temp_dir().join(format!("foldline-lab-{}", std::process::id()));
    std::fs::create_dir_all(&place)?;
    let input = place.join("input.json");
    std::fs::write(&input, body)?;
    let mut best: Option<Process> = None;
    for _ in 0..runs.clamp(2, 7) {
        let run = one_process(binary, &input, &place.join("output.json"))?;
        best = Some(best.map_or(run, |best| Process {
            wall: best.wall.min(run.wall),
            cpu: best.cpu.min(run.cpu),
            peak: best.peak.max(run.peak),
        }));
    }
    std::fs::remove_dir_all(&place)?;
    best.ok_or_else(|| "the binary was never run".into())
}

/// Memory is asked for while the process runs: the kernel keeps its high-water mark, so the last answer
/// before the end is the peak up to then. Processor time is in the books until the process is reaped.
fn one_process(binary: &Path, input: &Path, output: &Path) -> Result<Process, Failure> {
    let started = Instant::now();
    let mut child = Command::new(binary)
        .args(["compress", "--quiet", "--store", "none", "--window", &WINDOW.to_string()])
        .arg(input)
        .arg("-o")
        .arg(output)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .map_err(|error| format!("{}: {error}", binary.display()))?;
    let task = format!("/proc/{}", child.id());
    let mut peak = 0.0_f64;
    while is_running(&task) {
        peak = peak.max(high_water(&task).unwrap_or_default());
        std::thread::sleep(Duration::from_micros(300));
    }
    let wall = best::milliseconds(started.elapsed());
    let cpu = best::on_processor(&task).map(best::milliseconds);
    let exit = child.wait()?;
    if !exit.success() {
        return Err(format!("{} ended with {exit}", binary.display()).into());
    }
    Ok(Process { wall, cpu: cpu.unwrap_or(wall), peak })
}

/// Whether a process is there and has not ended.
fn is_running(task: &str) -> bool {
    let stat = std::fs::read_to_string(format!("{task}/stat")).unwrap_or_default();
    // The name of the program may hold anything; what follows its last bracket is the state.
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
    state.is_some_and(|state| !matches!(state, 'Z' | 'X'))
}

/// `VmHWM` in megabytes.
fn high_water(task: &str) -> Option<f64> {
    let status = std::fs::read_to_string(format!("{task}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes / 1024.0)
}

impl Times {
    fn part(&self, name: &str) -> Option<f64> {
        self.parts.iter().find(|(part, _)| *part == name).map(|(_, time)| *time)
    }
}

impl Table {
    /// How much longer each part takes per byte in a transcript than in the smaller one before it.
    pub fn growth(&self) -> Vec<(Format, Vec<(&'static str, f64)>)> {
        let pairs = self.rows.windows(2).filter_map(|pair| match pair {
            [small, large] if small.format == large.format && small.messages >= GROWN => Some((small, large)),
            _ => None,
        });
        pairs
            .map(|(small, large)| {
                let size = large.bytes as f64 / small.bytes as f64;
                let parts = large.parts.iter().filter_map(|(name, time)| {
                    let before = small.part(name).filter(|before| *before > 0.0)?;
                    Some((*name, time / before / size))
                });
                (large.format, parts.collect())
            })
            .collect()
    }

    /// For programs.
    pub fn to_json(&self) -> Value {
        let rows = self.rows.iter().map(|row| {
            let parts: serde_json::Map<_, _> =
                row.parts.iter().map(|(name, time)| ((*name).into(), json!(time))).collect();
            json!({
                "format": row.format.name(),
                "messages": row.messages,
                "bytes": row.bytes,
                "outcome": row.outcome,
                "milliseconds": parts,
                "process": row.process.map(|process| {
                    json!({"wall_ms": process.wall, "cpu_ms": process.cpu, "peak_mb": process.peak})
                }),
            })
        });
        let growth = self.growth().into_iter().map(|(format, parts)| {
            let parts: serde_json::Map<_, _> =
                parts.into_iter().map(|(name, factor)| (name.into(), json!(factor))).collect();
            json!({"format": format.name(), "per_byte": parts})
        });
        json!({"rows": rows.collect::<Vec<_>>(), "growth": growth.collect::<Vec<_>>()})
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<18}{:>9}{:>8}  {:<10}", "format", "messages", "MB", "outcome")?;
        let names: Vec<_> =
            self.rows.first().map(|row| row.parts.iter().map(|(name, _)| *name).collect()).unwrap_or_default();
        for name in &names {
            write!(f, "{name:>9}")?;
        }
        writeln!(f, "{:>9}{:>9}{:>9}", "wall", "cpu", "peak MB")?;
        for row in &self.rows {
            write!(
                f,
                "{:<18}{:>9}{:>8.2}  {:<10}",
                row.format.name(),
                row.messages,
                row.bytes as f64 / 1e6,
                row.outcome
            )?;
            for (_, time) in &row.parts {
                write!(f, "{time:>9.2}")?;
            }
            match row.process {
                Some(process) => writeln!(f, "{:>9.1}{:>9.0}{:>9.1}", process.wall, process.cpu, process.peak)?,
                None => writeln!(f, "{:>9}{:>9}{:>9}", "-", "-", "-")?,
            }
        }
        writeln!(
            f,
            "\nmilliseconds of processor time, best of several (wall as it says); rest = compact less the parts before it: apply, read and count the result"
        )?;
        for (format, parts) in self.growth() {
            write!(f, "growth per byte, {:<17}", format.name())?;
            for (name, factor) in parts {
                write!(f, "  {name} ×{factor:.2}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
