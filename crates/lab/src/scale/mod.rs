//! Both stores with a million checkpoints and small originals: how long look-ups and searches take.

mod fill;

use crate::Failure;
use fill::{Content, NOW};
use foldline_core::reading::{Reach, Way};
use foldline_script::postgres::Postgres;
use foldline_store::{Limits, Query, Recall, Search, Store, Whose};
use foldline_transcript::recall::Handle;
use serde_json::{Value, json};
use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

/// What is tried.
#[derive(Clone, Copy, Debug)]
pub struct ScaleTest {
    /// Checkpoints, and as many originals.
    pub count: usize,
    /// Look-ups and searches of each kind.
    pub tries: usize,
}

/// What a call must take at most, for 99 of 100.
const LOOK_UP_SQLITE: Duration = Duration::from_millis(1);
const LOOK_UP_POSTGRES: Duration = Duration::from_millis(5);
const SEARCH: Duration = Duration::from_millis(50);

/// How long calls of one kind took.
#[derive(Clone, Debug)]
pub struct Timed {
    /// The store.
    pub store: &'static str,
    /// What was called.
    pub what: &'static str,
    /// Half took no longer, 99 of 100, and none.
    pub times: [Duration; 3],
    /// What 99 of 100 may take.
    pub limit: Duration,
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// How long filling took, by store: rows, index.
    pub filled: Vec<(&'static str, Duration, Duration)>,
    /// Bytes on the disk, by store.
    pub sizes: Vec<(&'static str, u64)>,
    /// Calls.
    pub timed: Vec<Timed>,
}

/// Fills both stores and measures; PostgreSQL is left out, with a line that says so, where it is not installed.
pub fn measure(plan: &ScaleTest, tell: impl Fn(&str)) -> Result<Figures, Failure> {
    let folder = std::env::temp_dir().join(format!("foldline-scale-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let done = both(plan, &folder, tell);
    let _left = std::fs::remove_dir_all(&folder);
    done
}

fn both(plan: &ScaleTest, folder: &Path, tell: impl Fn(&str)) -> Result<Figures, Failure> {
    let content = Content::new(plan.count, folder)?;
    let mut figures = Figures::default();
    let file = folder.join("store.db");
    one(plan, &content, ("SQLite", &file, LOOK_UP_SQLITE), &mut figures, &tell)?;
    figures.sizes.push(("SQLite", std::fs::metadata(&file)?.len()));
    std::fs::remove_file(&file)?;
    let Some(postgres) = Postgres::start()? else { return Ok(figures) };
    let database = postgres.database()?;
    one(plan, &content, ("PostgreSQL", &postgres.url(&database), LOOK_UP_POSTGRES), &mut figures, &tell)?;
    let size = postgres.answer(&database, "SELECT pg_database_size(current_database())")?.parse()?;
    figures.sizes.push(("PostgreSQL", size));
    Ok(figures)
}

fn one(
    plan: &ScaleTest,
    content: &Content,
    (name, place, look_up): (&'static str, &Path, Duration),
    figures: &mut Figures,
    tell: &impl Fn(&str),
) -> Result<(), Failure> {
    let store = Store::open(place, Limits { max_bytes: 1 << 40, ..Limits::default() })?;
    tell(&format!("{name}: {} checkpoints and originals", plan.count));
    let rows = Instant::now();
    content.fill(&store)?;
    let rows = rows.elapsed();
    tell(&format!("{name}: filled in {:.0} s; the index of words", rows.as_secs_f64()));
    let index = Instant::now();
    while store.index(64 << 20)? > 0 {}
    figures.filled.push((name, rows, index.elapsed()));
    // As a server that has run for a while: statistics are there, and nothing is left to be written.
    store.vacuum()?;
    tell(&format!("{name}: look-ups and searches"));
    let mut timed = |what, limit, call: &mut dyn FnMut(usize) -> Result<bool, Failure>| -> Result<(), Failure> {
        let mut times = Vec::with_capacity(plan.tries);
        for number in 0..plan.tries {
            let began = Instant::now();
            let found = call(number)?;
            times.push(began.elapsed());
            if !found {
                return Err(format!("{name}: {what} number {number} found nothing").into());
            }
        }
        times.sort_unstable();
        let at = |share: f64| times.get((times.len() as f64 * share) as usize).or(times.last()).copied();
        let times = [0.5, 0.99, 1.0].map(|share| at(share).unwrap_or_default());
        figures.timed.push(Timed { store: name, what, times, limit });
        Ok(())
    };
    let pick = |number: usize| content.pick(number);
    timed("checkpoint of a conversation", look_up, &mut |number| {
        let (namespace, root) = content.conversation(pick(number));
        let known = store.checkpoints(&namespace, &root, 4_096)?;
        let Some(longest) = known.iter().max_by_key(|entry| entry.position) else { return Ok(false) };
        Ok(store.checkpoint_text(NOW, &namespace, &longest.key)?.is_some())
    })?;
    timed("session", look_up, &mut |number| Ok(store.session(&content.session(pick(number)))?.is_some()))?;
    timed("original by its handle", look_up, &mut |number| {
        let (namespace, text) = (content.namespace(pick(number)), content.text(pick(number)));
        Ok(matches!(store.get(NOW, &namespace, Handle::of(&text))?, Recall::Found(_)))
    })?;
    let search = |number: usize, words: &str, session: Option<&str>| -> Result<bool, Failure> {
        let query = Query::parse(words)?;
        let namespace = content.namespace(pick(number));
        let search = Search { query: &query, whose: Whose::Namespace(&namespace), session, limit: 10 };
        Ok(!store.search(&search, &Way::of(Reach::Command))?.hits.is_empty())
    };
    timed("search: a word of one original", SEARCH, &mut |number| {
        search(number, &content.own_word(pick(number)), None)
    })?;
    timed("search: words of one in ten to a hundred thousand", SEARCH, &mut |number| {
        search(number, &content.rare_word(pick(number)), None)
    })?;
    timed("search: two words of one in a hundred", SEARCH, &mut |number| {
        search(number, &content.two_words(pick(number)), None)
    })?;
    timed("search: a word of every original", SEARCH, &mut |number| search(number, "finished", None))?;
    timed("search: the beginning of a word", SEARCH, &mut |number| {
        let word = content.own_word(pick(number));
        search(number, &format!("{}*", word.get(..word.len() - 1).unwrap_or(&word)), None)
    })?;
    timed("search: a word of every original, in one session", SEARCH, &mut |number| {
        search(number, "finished", Some(&content.session(pick(number))))
    })?;
    timed("search: a word that nobody wrote", SEARCH, &mut |number| {
        search(number, "zirconium", None).map(|found| !found)
    })
}

impl Timed {
    /// Whether it takes longer than it may.
    fn is_slow(&self) -> bool {
        self.times[1] > self.limit
    }
}

impl Figures {
    /// Whether everything is as fast as it must be.
    pub fn is_fast(&self) -> bool {
        !self.timed.iter().any(Timed::is_slow)
    }

    /// For programs.
    pub fn to_json(&self) -> Value {
        let ms = |time: Duration| time.as_secs_f64() * 1_000.0;
        let calls: Vec<Value> = self
            .timed
            .iter()
            .map(|timed| {
                let [half, most, all] = timed.times.map(ms);
                json!({ "store": timed.store, "what": timed.what, "p50_ms": half, "p99_ms": most, "max_ms": all,
                        "limit_ms": ms(timed.limit) })
            })
            .collect();
        json!({ "calls": calls, "bytes": self.sizes })
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ((store, rows, index), (_, bytes)) in self.filled.iter().zip(&self.sizes) {
            let megabytes = bytes >> 20;
            writeln!(
                f,
                "{store}: rows in {:.0} s, index in {:.0} s, {megabytes} MB",
                rows.as_secs_f64(),
                index.as_secs_f64()
            )?;
        }
        writeln!(f, "{:<12}{:<52}{:>9}{:>9}{:>9}{:>9}", "store", "milliseconds", "p50", "p99", "most", "limit")?;
        for timed in &self.timed {
            let [half, most, all] = timed.times.map(|time| time.as_secs_f64() * 1_000.0);
            let limit = timed.limit.as_millis();
            let slow = if timed.is_slow() { "  TOO SLOW" } else { "" };
            writeln!(f, "{:<12}{:<52}{half:>9.2}{most:>9.2}{all:>9.2}{limit:>9}{slow}", timed.store, timed.what)?;
        }
        Ok(())
    }
}
