//! Fits the weights by which passages are chosen: one after the other is moved, and what tells more stays.
//!
//! Two things are asked of a handoff. Does it keep the names that the second part of a session needed (`retention`)? And,
//! where there are questions on a session, does it tell the places that answer them? Their mean at several sizes is what
//! is raised.

use crate::{Failure, chats, matrix};
use foldline_core::handoff;
use foldline_core::ledger::{Source, Weights};
use foldline_core::tokens::measure;
use foldline_core::{Job, Policy, Request, SessionState, Trigger, compact};
use foldline_measure::retention::{Exam, Page, Questions, SHARE, Timeline, Told, cut};
use foldline_transcript::repair::repair;
use foldline_transcript::wire;
use std::io::Write;
use std::path::PathBuf;

/// What is fitted on.
pub struct Options {
    /// Folder with sessions.
    pub sessions: PathBuf,
    /// Folders with questions on some of them.
    pub questions: Vec<PathBuf>,
    /// How often all weights are tried.
    pub rounds: usize,
    /// How much the names count beside the questions.
    pub names: f64,
    /// Folder with chats, if they count too.
    pub chats: Option<PathBuf>,
}

/// A conversation that is compacted, with what is asked of the result.
struct Task {
    body: String,
    /// Tokens of a tenth.
    tenth: u64,
    asks: Asks,
}

enum Asks {
    Names(Exam),
    Evidence(Questions),
}

/// Shares of the text at which handoffs are tried.
const SHARES: [f64; 2] = [0.05, 0.10];

/// How well weights do.
#[derive(Clone, Debug, Default)]
struct Figure {
    told: [Told; SHARES.len()],
    names: [(u64, u64); SHARES.len()],
    /// Rules and facts of chats that survive five folds, in percent.
    chats: Option<(f64, f64)>,
}

impl Figure {
    fn goal(&self, names: f64) -> f64 {
        let share = |(kept, of): (u64, u64)| if of == 0 { 0.0 } else { 100.0 * kept as f64 / of as f64 };
        let weakest = |told: &Told| told.kinds.values().map(|&pair| share(pair)).fold(100.0, f64::min);
        let evidence: f64 = self.told.iter().map(|told| share(told.total()) + 0.2 * weakest(told).min(45.0)).sum();
        let kept: f64 = self.names.iter().map(|&pair| share(pair)).sum();
        let chats = self.chats.map_or(0.0, |(rules, facts)| 0.5 * rules + 0.5 * facts);
        evidence + names * kept + chats
    }

    fn line(&self) -> String {
        let share = |(kept, of): (u64, u64)| if of == 0 { 0.0 } else { 100.0 * kept as f64 / of as f64 };
        let mut out = String::new();
        for ((at, told), names) in SHARES.iter().zip(&self.told).zip(&self.names) {
            let kinds: Vec<String> =
                told.kinds.iter().map(|(kind, &pair)| format!("{kind} {:.0}", share(pair))).collect();
            out.push_str(&format!(
                "at {:.0} %: evidence {:.1} % ({}), names {:.1} %\n",
                at * 100.0,
                share(told.total()),
                kinds.join(", "),
                share(*names)
            ));
        }
        if let Some((rules, facts)) = self.chats {
            out.push_str(&format!("chats after five folds: rules {rules:.1} %, facts {facts:.1} %\n"));
        }
        out
    }
}

/// Runs the fit.
pub fn run(options: &Options, out: &mut dyn Write) -> Result<(), Failure> {
    let tasks = tasks(options)?;
    let mut weights = Weights::default();
    let mut best = figure(&tasks, options, &weights);
    writeln!(out, "{} texts\n{}", tasks.len(), best.line())?;
    let mut steps = vec![1.6_f32, 1.25, 1.12].into_iter();
    for round in 0..options.rounds {
        let step = steps.next().unwrap_or(1.08);
        let mut moved = 0;
        for knob in 0..knobs(&mut weights).len() {
            for factor in [step, 1.0 / step] {
                let mut tried = weights.clone();
                if let Some((_, value)) = knobs(&mut tried).into_iter().nth(knob) {
                    *value *= factor;
                }
                let result = figure(&tasks, options, &tried);
                if result.goal(options.names) > best.goal(options.names) + 0.02 {
                    weights = tried;
                    best = result;
                    moved += 1;
                    break;
                }
            }
        }
        writeln!(out, "round {}: {moved} moved, goal {:.2}\n{}", round + 1, best.goal(options.names), best.line())?;
        out.flush()?;
    }
    write_weights(weights, out)
}

/// All weights with their names; those of sources come first and have none.
fn knobs(weights: &mut Weights) -> Vec<(&'static str, &mut f32)> {
    // A weight that is added to the type must be added here.
    let Weights {
        sources,
        term_user,
        term_assistant,
        term_call,
        term_tool,
        term_coined,
        term_number,
        term_once,
        again,
        recency,
        narration_fades,
        finding,
        announcement,
        announced,
        courtesy,
        first_answer,
        beside,
        heading,
        request,
        statement,
        rule,
        object,
        change,
        outcome,
        failure,
    } = weights;
    let [again, again_twice, again_thrice] = again;
    let sources = sources.iter_mut().flat_map(|source| [("", &mut source.prior), ("", &mut source.share)]);
    let named = [
        ("term_user", term_user),
        ("term_assistant", term_assistant),
        ("term_call", term_call),
        ("term_tool", term_tool),
        ("term_coined", term_coined),
        ("term_number", term_number),
        ("term_once", term_once),
        ("again", again),
        ("again twice", again_twice),
        ("again three times", again_thrice),
        ("recency", recency),
        ("narration_fades", narration_fades),
        ("finding", finding),
        ("announcement", announcement),
        ("announced", announced),
        ("courtesy", courtesy),
        ("first_answer", first_answer),
        ("beside", beside),
        ("heading", heading),
        ("request", request),
        ("statement", statement),
        ("rule", rule),
        ("object", object),
        ("change", change),
        ("outcome", outcome),
        ("failure", failure),
    ];
    sources.chain(named).collect()
}

fn write_weights(mut weights: Weights, out: &mut dyn Write) -> Result<(), Failure> {
    for (source, weight) in Source::ALL.iter().zip(&weights.sources) {
        writeln!(out, "weight({:.2}, {:.3}), // {source:?}", weight.prior, weight.share)?;
    }
    for (name, value) in knobs(&mut weights).iter().filter(|(name, _)| !name.is_empty()) {
        writeln!(out, "{name}: {value:.3},")?;
    }
    Ok(())
}

fn figure(tasks: &[Task], options: &Options, weights: &Weights) -> Figure {
    let halves = tasks.split_at(tasks.len() / 2);
    let (one, other) = std::thread::scope(|scope| {
        let first = scope.spawn(|| figure_of(halves.0, weights));
        let second = figure_of(halves.1, weights);
        (first.join().unwrap_or_default(), second)
    });
    let mut sum = one;
    sum.chats = options.chats.as_ref().and_then(|chats| {
        let options = chats::Options { chats: chats.clone(), share: 0.2, folds: 5, into: None };
        Some(chats::run_with(&options, weights).ok()?.shares())
    });
    for at in 0..SHARES.len() {
        if let (Some(told), Some(more)) = (sum.told.get_mut(at), other.told.get(at)) {
            told.add(more);
        }
        if let (Some(names), Some(more)) = (sum.names.get_mut(at), other.names.get(at)) {
            *names = (names.0 + more.0, names.1 + more.1);
        }
    }
    sum
}

fn figure_of(tasks: &[Task], weights: &Weights) -> Figure {
    let mut sum = Figure::default();
    for task in tasks {
        for (at, share) in SHARES.iter().enumerate() {
            let target = (task.tenth as f64 * 10.0 * share) as u64;
            let request = Request {
                trigger: Trigger::Manual,
                target: Some(target),
                weights: weights.clone(),
                ..Request::default()
            };
            let job = Job { request, ..Job::default() };
            let done = compact(&task.body, &Policy::default(), &SessionState::default(), &job);
            let page =
                done.as_ref().ok().and_then(|done| Some(Page::of(&wire::read(&done.body, Some(done.format)).ok()?)));
            let page = page.unwrap_or_default();
            match &task.asks {
                Asks::Evidence(questions) => {
                    if let Some(told) = sum.told.get_mut(at) {
                        told.add(&questions.told(page.lines()));
                    }
                }
                Asks::Names(exam) => {
                    let fold = done.as_ref().ok().and_then(|done| done.plan.fold.as_ref());
                    let root = fold.and_then(|fold| handoff::root(&fold.handoff.text));
                    let total = exam.clone().relative_to(root).score(page.lines()).total();
                    if let Some(names) = sum.names.get_mut(at) {
                        *names = (names.0 + total.kept, names.1 + total.of);
                    }
                }
            }
        }
    }
    sum
}

fn tasks(options: &Options) -> Result<Vec<Task>, Failure> {
    let mut tasks = Vec::new();
    for file in matrix::sessions(&options.sessions)? {
        let text = std::fs::read_to_string(&file)?;
        tasks.extend(names_task(&text));
    }
    for folder in &options.questions {
        for file in matrix::sessions(folder)? {
            let questions: Questions = serde_json::from_str(&std::fs::read_to_string(&file)?)?;
            let session = options.sessions.join(format!("{}.json", questions.session));
            let session: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(session)?)?;
            let messages = session.get("messages").and_then(|all| all.as_array()).cloned().unwrap_or_default();
            let first: Vec<_> = messages.into_iter().take(questions.cut).collect();
            let body =
                serde_json::json!({"model": "claude-sonnet-4-5", "max_tokens": 8192, "messages": first}).to_string();
            let page = Page::of(&wire::read(&body, None)?);
            let tenth = page.lines().map(|line| line.chars().count() + 1).sum::<usize>() as u64 / 40;
            tasks.push(Task { body, tenth, asks: Asks::Evidence(questions) });
        }
    }
    // Long and short ones alternate between the threads.
    let (even, odd): (Vec<_>, Vec<_>) = tasks.into_iter().enumerate().partition(|(at, _)| at % 2 == 0);
    Ok(even.into_iter().chain(odd).map(|(_, task)| task).collect())
}

fn names_task(text: &str) -> Option<Task> {
    let transcript = wire::read(text, None).ok()?;
    let repaired = repair(&transcript).map(|repaired| repaired.text);
    let text = repaired.as_deref().unwrap_or(text);
    let session = wire::read(text, Some(transcript.format)).ok()?;
    let page = Page::of(&session);
    let cut = cut(&session, &page, SHARE).ok()?;
    let exam = Exam::at(&page, &Timeline::of(&page), cut.message);
    let first = wire::read(&cut.first, Some(session.format)).ok()?;
    let setting = Job::default().setting(&first, &Policy::default(), &SessionState::default());
    let tokens = measure(&first, &setting.measure).total();
    (!exam.is_empty()).then(|| Task { tenth: tokens / 10, asks: Asks::Names(exam), body: cut.first.clone() })
}
