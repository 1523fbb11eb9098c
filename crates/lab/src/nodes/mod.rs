//! Several gateways on one PostgreSQL, each turn on the next of them: the same bytes as from one gateway on its own, one
//! fold per prefix, nothing lost or mixed up, also while gateways are killed and the database restarts.

mod drive;
mod fleet;
mod outages;

use crate::Failure;
use drive::{Driven, TURN, Turn, drive, mark};
use fleet::Fleet;
use foldline_script::postgres::{Postgres, Stop};
use foldline_script::{Act, Prompt, Provider, RULE, Received, Strict};
use foldline_store::StoreSettings;
use outages::{Outages, Phase};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What is tried.
#[derive(Clone, Debug)]
pub struct NodesTest {
    /// The binary.
    pub binary: PathBuf,
    /// That of another release, which every second gateway runs.
    pub beside: Option<PathBuf>,
    /// Conversations.
    pub conversations: usize,
    /// Turns of each.
    pub turns: usize,
    /// The most gateways at once.
    pub nodes: usize,
}

/// The window of the model: small enough for several folds in sixty turns.
const WINDOW: usize = 12_000;
/// Pauses between kills, and between restarts of the database.
const BETWEEN: Duration = Duration::from_millis(1_200);
/// How long the database is away.
const AWAY: Duration = Duration::from_millis(800);

/// What goes wrong during a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trouble {
    None,
    /// Gateways are killed and started again, one after the other.
    Kills,
    /// The same, and the database is stopped or crashes.
    Restarts,
}

/// One run.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// What it shows.
    pub name: String,
    /// Turns that were answered.
    pub turns: usize,
    /// Turns per second.
    pub rate: f64,
    /// Turns whose request reached the provider with the same bytes as from one gateway.
    pub same: usize,
    /// Turns whose request went out as it came although one gateway had rewritten it.
    pub as_it_came: usize,
    /// Turns whose request was rewritten otherwise.
    pub other: usize,
    /// Turns that no outage of the database can have touched, and those of them with other bytes than from one gateway.
    pub clear: (usize, usize),
    /// Turns while the database was away or had just come back, and those of them with other bytes.
    pub during: (usize, usize),
    /// Later turns of the same conversations, and those of them with other bytes.
    pub after: (usize, usize),
    /// Of the later turns, those whose request was neither folded nor went on with the request before it: nodes disagree.
    pub disagreed: usize,
    /// Checkpoints in the store.
    pub checkpoints: usize,
    /// Checkpoints that replace as many messages of the same conversation as another.
    pub repeated: usize,
    /// Requests that spoke of another conversation.
    pub mixed: usize,
    /// Requests without what the model must know.
    pub lost: usize,
    /// Requests that the provider refused.
    pub refused: usize,
    /// Turns that were sent again.
    pub retries: usize,
    /// Gateways killed, and restarts of the database.
    pub troubles: (usize, usize),
    /// How long the database was away at most.
    pub away: Duration,
    /// What the store says about itself afterwards.
    pub check: String,
}

/// All runs.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// The first is one gateway with SQLite.
    pub runs: Vec<Run>,
    /// What must hold and does not.
    pub wrong: Vec<String>,
}

/// Runs everything; `None` where PostgreSQL is not installed.
pub fn measure(plan: &NodesTest, tell: impl Fn(&str)) -> Result<Option<Figures>, Failure> {
    let Some(postgres) = Postgres::start()? else { return Ok(None) };
    let folder = std::env::temp_dir().join(format!("foldline-nodes-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let done = all(plan, &postgres, &folder, tell);
    let _left = std::fs::remove_dir_all(&folder);
    done.map(Some)
}

fn all(
    plan: &NodesTest,
    postgres: &Postgres,
    folder: &std::path::Path,
    tell: impl Fn(&str),
) -> Result<Figures, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let mut figures = Figures::default();
    tell("one gateway with SQLite");
    let store = folder.join("store.db");
    let (alone, seen) = one(plan, &runtime, &Place { url: store, postgres, database: None }, 1, Trouble::None)?;
    let expected: BTreeMap<Turn, Received> = seen.into_iter().map(|(turn, mut all)| (turn, all.remove(0))).collect();
    let folds = alone.driven.outcomes.values().filter(|outcome| is_fold(outcome)).count();
    figures.runs.push(Run { name: "1 with SQLite".into(), same: expected.len(), checkpoints: folds, ..alone.run });
    if folds < plan.conversations {
        figures
            .wrong
            .push(format!("only {folds} folds in {} conversations: the test shows nothing", plan.conversations));
    }
    let steady = (1..=plan.nodes).map(|nodes| (nodes, Trouble::None));
    let all = steady.chain([(plan.nodes, Trouble::Kills), (plan.nodes, Trouble::Restarts)]);
    // Of two releases, each may wait for the database in its own way.
    for (nodes, trouble) in all.filter(|(_, trouble)| plan.beside.is_none() || *trouble != Trouble::Restarts) {
        let name = match trouble {
            Trouble::None => format!("{nodes} with PostgreSQL"),
            Trouble::Kills => format!("{nodes}, nodes killed"),
            Trouble::Restarts => format!("{nodes}, also PostgreSQL restarted"),
        };
        tell(&name);
        let database = postgres.database()?;
        let place = Place { url: postgres.url(&database), postgres, database: Some(&database) };
        let (done, seen) = one(plan, &runtime, &place, nodes, trouble)?;
        let run = compared(done, &seen, &expected, name);
        figures.wrong.extend(run.wrong(trouble, plan, folds));
        figures.runs.push(run);
    }
    Ok(figures)
}

/// The store of a run.
struct Place<'p> {
    url: PathBuf,
    postgres: &'p Postgres,
    database: Option<&'p str>,
}

struct Done {
    run: Run,
    driven: Driven,
    outages: Outages,
}

/// Requests that reached the provider, by turn.
type Seen = BTreeMap<Turn, Vec<Received>>;

fn one(
    plan: &NodesTest,
    runtime: &tokio::runtime::Runtime,
    place: &Place<'_>,
    nodes: usize,
    trouble: Trouble,
) -> Result<(Done, Seen), Failure> {
    let strict = Strict::new(WINDOW);
    let judge = strict.clone();
    let provider = runtime.block_on(Provider::choosing(move |request, _| match trouble {
        // Judging takes longer than what is measured.
        Trouble::None => Act::say("Go on."),
        Trouble::Kills | Trouble::Restarts => judge.judge(request, "Go on."),
    }))?;
    let binaries = (plan.binary.as_path(), plan.beside.as_deref());
    let fleet = Fleet::start(binaries, &place.url, provider.address(), WINDOW, nodes)?;
    let over = AtomicBool::new(false);
    let outages = Outages::default();
    let (driven, troubles) = std::thread::scope(|scope| {
        let troubles = scope.spawn(|| make_trouble(&fleet, place.postgres, trouble, &over, &outages));
        let driven = drive(&fleet, plan.conversations, plan.turns);
        over.store(true, Ordering::Relaxed);
        let troubles = troubles.join().map_err(|_| Failure::from("the troublemaker panicked")).flatten();
        (driven, troubles)
    });
    let (driven, troubles) = (driven?, troubles?);
    drop(fleet);
    let mut seen = Seen::new();
    for request in provider.requests() {
        let header = request.headers.get(TURN).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let turn = header.split_once('/').and_then(|(c, t)| Some((c.parse().ok()?, t.parse().ok()?)));
        seen.entry(turn.ok_or("a request came without its number")?).or_default().push(request);
    }
    let mut run = Run {
        turns: driven.outcomes.len(),
        rate: driven.outcomes.len() as f64 / driven.took.as_secs_f64(),
        refused: strict.refused(),
        retries: driven.retries,
        troubles,
        ..Run::default()
    };
    if let Some(database) = place.database {
        let number = |sql: &str| -> Result<usize, Failure> { Ok(place.postgres.answer(database, sql)?.parse()?) };
        run.checkpoints = number("SELECT count(*) FROM foldline.checkpoints")?;
        let distinct = number("SELECT count(DISTINCT (namespace, root, position)) FROM foldline.checkpoints")?;
        run.repeated = run.checkpoints - distinct;
        let check =
            std::process::Command::new(&plan.binary).args(["store", "check", "--store"]).arg(&place.url).output()?;
        if !check.status.success() {
            let said = [check.stdout, check.stderr].concat();
            run.check = String::from_utf8_lossy(&said).trim().to_owned();
        }
    }
    Ok((Done { run, driven, outages }, seen))
}

/// Kills and restarts until it is over; how often.
fn make_trouble(
    fleet: &Fleet,
    postgres: &Postgres,
    trouble: Trouble,
    over: &AtomicBool,
    outages: &Outages,
) -> Result<(usize, usize), Failure> {
    let (mut kills, mut restarts) = (0, 0);
    while trouble != Trouble::None && !over.load(Ordering::Relaxed) {
        fleet.kill(kills % fleet.len())?;
        std::thread::sleep(BETWEEN / 4);
        fleet.begin(kills % fleet.len())?;
        kills += 1;
        std::thread::sleep(BETWEEN / 2);
        if trouble == Trouble::Restarts && kills % 2 == 0 {
            outages.during(|| {
                postgres.stop(if restarts % 2 == 0 { Stop::Fast } else { Stop::Crash });
                std::thread::sleep(AWAY);
                postgres.go()
            })?;
            restarts += 1;
        }
        std::thread::sleep(BETWEEN / 2);
    }
    Ok((kills, restarts))
}

fn is_fold(outcome: &str) -> bool {
    matches!(outcome, "folded" | "pruned")
}

/// Holds what reached the provider against what one gateway sent there.
fn compared(done: Done, seen: &Seen, expected: &BTreeMap<Turn, Received>, name: String) -> Run {
    let Done { mut run, driven, outages } = done;
    run.name = name;
    run.away = outages.longest();
    for (turn, wanted) in expected {
        let requests = seen.get(turn).map(Vec::as_slice).unwrap_or_default();
        let came = driven.sent.get(turn).map(Vec::as_slice).unwrap_or_default();
        let (mut is_same, mut is_as_it_came) = (!requests.is_empty(), true);
        for request in requests {
            is_same &= request.body == wanted.body;
            is_as_it_came &= request.body == wanted.body || request.body == came;
            let text = request.text();
            run.mixed += usize::from(speaks_of_others(&text, turn.0));
            run.lost += usize::from(!text.contains(RULE));
        }
        let counts = match outages.phase(&driven, *turn) {
            Phase::Clear => &mut run.clear,
            Phase::During => &mut run.during,
            Phase::After => &mut run.after,
        };
        counts.0 += 1;
        counts.1 += usize::from(!is_same);
        run.disagreed += usize::from(disagrees(&outages, &driven, seen, *turn));
        match (is_same, is_as_it_came) {
            (true, _) => run.same += 1,
            (false, true) => run.as_it_came += 1,
            (false, false) => run.other += 1,
        }
    }
    run
}

/// Whether a turn after an outage neither went on with the one before it nor was folded.
fn disagrees(outages: &Outages, driven: &Driven, seen: &Seen, turn: Turn) -> bool {
    let Some(before) = turn.1.checked_sub(1).map(|number| (turn.0, number)) else { return false };
    let is_after = |turn: Turn| outages.phase(driven, turn) == Phase::After;
    if !is_after(turn) || !is_after(before) || driven.outcomes.get(&turn).is_some_and(|outcome| is_fold(outcome)) {
        return false;
    }
    let last = |turn: Turn| seen.get(&turn).and_then(|requests| requests.last()).map(Prompt::of);
    last(turn).zip(last(before)).is_some_and(|(prompt, before)| !prompt.extends(&before))
}

/// Whether a request has outputs of another conversation.
fn speaks_of_others(text: &str, conversation: usize) -> bool {
    let own = mark(conversation);
    let stem = own.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let is_own = |(at, _): (usize, &str)| text.get(at + 2..).is_some_and(|rest| rest.starts_with(&own));
    !text.match_indices(&format!("::{stem}")).all(is_own)
}

impl Run {
    fn wrong(&self, trouble: Trouble, plan: &NodesTest, folds: usize) -> Vec<String> {
        let all = plan.conversations * plan.turns;
        let mut wrong = Vec::new();
        let mut must = |holds: bool, what: String| {
            if !holds {
                wrong.push(format!("{}: {what}", self.name));
            }
        };
        must(self.turns == all, format!("{} of {all} turns were answered", self.turns));
        // Beyond that nodes go on without the database, and cannot know what the others send.
        if trouble != Trouble::Restarts || self.away < StoreSettings::default().limits().restart {
            must(self.same == all, format!("{} of {all} turns had the same bytes", self.same));
            must(self.checkpoints == folds, format!("{} checkpoints, expected {folds}", self.checkpoints));
        }
        let (turns, others) = self.clear;
        must(others == 0, format!("{others} of {turns} turns that no outage touched had other bytes"));
        must(self.disagreed == 0, format!("nodes disagreed in {} turns after an outage", self.disagreed));
        must(self.repeated == 0, format!("{} prefixes were folded again", self.repeated));
        must(self.mixed == 0, format!("{} requests spoke of another conversation", self.mixed));
        must(self.lost == 0, format!("{} requests were without what the user said", self.lost));
        must(self.check.is_empty(), format!("the store is not sound: {}", self.check));
        wrong
    }
}

impl Figures {
    /// For programs.
    pub fn to_json(&self) -> Value {
        let runs: Vec<Value> = self
            .runs
            .iter()
            .map(|run| {
                json!({ "name": run.name, "turns": run.turns, "turns_per_second": run.rate, "same": run.same,
                        "as_it_came": run.as_it_came, "other": run.other, "checkpoints": run.checkpoints,
                        "repeated": run.repeated, "mixed": run.mixed, "lost": run.lost, "refused": run.refused,
                        "clear": run.clear, "during": run.during, "after": run.after, "disagreed": run.disagreed,
                        "retries": run.retries, "kills": run.troubles.0, "restarts": run.troubles.1,
                        "away_seconds": run.away.as_secs_f64() })
            })
            .collect();
        json!({ "runs": runs, "wrong": self.wrong })
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<32}{:>8}{:>10}{:>8}{:>12}{:>8}{:>13}{:>10}{:>8}{:>7}{:>10}",
            "gateways",
            "turns",
            "turns/s",
            "same",
            "as it came",
            "other",
            "checkpoints",
            "refused",
            "again",
            "kills",
            "restarts"
        )?;
        for run in &self.runs {
            writeln!(
                f,
                "{:<32}{:>8}{:>10.0}{:>8}{:>12}{:>8}{:>13}{:>10}{:>8}{:>7}{:>10}",
                run.name,
                run.turns,
                run.rate,
                run.same,
                run.as_it_came,
                run.other,
                run.checkpoints,
                run.refused,
                run.retries,
                run.troubles.0,
                run.troubles.1
            )?;
        }
        for run in self.runs.iter().filter(|run| run.troubles.1 > 0) {
            writeln!(
                f,
                "{}: with other bytes {} of {} turns before any outage, {} of {} during one, {} of {} after one; nodes \
                 disagreed in {}; PostgreSQL was away for at most {:.1} s",
                run.name,
                run.clear.1,
                run.clear.0,
                run.during.1,
                run.during.0,
                run.after.1,
                run.after.0,
                run.disagreed,
                run.away.as_secs_f64()
            )?;
        }
        self.wrong.iter().try_for_each(|line| writeln!(f, "WRONG: {line}"))
    }
}
