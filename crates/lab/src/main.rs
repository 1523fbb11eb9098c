//! `lab`: measurements of Foldline from the command line.
#![forbid(unsafe_code)]

use clap::{Parser, Subcommand};
use foldline_core::Format;
use foldline_lab::{
    Failure, cache, chats, damage, docs, fit, fuzz, generate, graph, load, matrix, nodes, odds, redact, reduce, scale,
    speed, statements, tokens, versus,
};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Parser)]
#[command(name = "lab", about = "Measurements of Foldline that need real sessions or time.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Check every session in all formats, at all windows, with all presets.
    Matrix {
        /// Directory with Anthropic sessions.
        directory: PathBuf,
        /// Sessions at a time.
        #[arg(long, default_value_t = 2)]
        threads: usize,
    },
    /// Print which crates and modules use which, and what differs from the map in ARCHITECTURE.md.
    Graph {
        /// Folder of the project.
        #[arg(default_value = ".")]
        root: PathBuf,
    },
    /// Hold the cache simulator against the usage that sessions recorded.
    Cache {
        /// Directory with Anthropic sessions.
        directory: PathBuf,
    },
    /// Fold chats several times in a row and count the rules and facts that are left.
    Chats {
        /// Directory with chats and notes on them.
        #[arg(default_value = "examples/chats")]
        chats: PathBuf,
        /// Share of the text that a fold may keep.
        #[arg(long, default_value_t = 0.2)]
        share: f64,
        /// Folds in a row.
        #[arg(long, default_value_t = 5)]
        folds: usize,
        /// Write what is left into this folder, for reading.
        #[arg(long)]
        into: Option<PathBuf>,
    },
    /// Write the references under `docs/`: settings, metrics, report, command line.
    Docs {
        /// Folder of the project.
        #[arg(default_value = ".")]
        root: PathBuf,
        /// The binary whose help is written down.
        #[arg(long, default_value = "target/debug/foldline")]
        binary: PathBuf,
    },
    /// Derive fitted numbers again.
    Fit {
        #[command(subcommand)]
        what: Fitting,
    },
    /// Hold the token estimate against exact counts.
    Tokens {
        /// Directory with Anthropic sessions.
        directory: PathBuf,
    },
    /// Time generated transcripts, in parts and as a process.
    Speed {
        /// Sizes in messages.
        #[arg(long, value_delimiter = ',', default_values_t = [100, 1_000, 10_000])]
        messages: Vec<usize>,
        /// Formats; all three wire formats when left out.
        #[arg(long, value_parser = format_named)]
        format: Vec<Format>,
        /// The binary to time as a process; without one only the library is timed.
        #[arg(long)]
        binary: Option<PathBuf>,
        /// Repetitions, of which the best counts.
        #[arg(long, default_value_t = 7)]
        runs: usize,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Measure what the gateway adds: the same requests directly and through it.
    Load {
        /// The binary; build it with --release.
        #[arg(long, default_value = "target/release/foldline")]
        binary: PathBuf,
        /// Requests of each size for the comparison.
        #[arg(long, default_value_t = 400)]
        requests: usize,
        /// Requests after which memory is read.
        #[arg(long, default_value_t = 10_000)]
        many: usize,
        /// Hold the gateway to this processor.
        #[arg(long)]
        pin: Option<usize>,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// A proxy that only passes on, for `load`: prints where it listens.
    #[command(hide = true)]
    PassThrough {
        /// Where requests go.
        upstream: std::net::SocketAddr,
    },
    /// Measure whether 32 clients notice thousands of silent and slow connections beside them.
    ConnectionFlood {
        /// The binary; build it with --release.
        #[arg(long, default_value = "target/release/foldline")]
        binary: PathBuf,
        /// Connections that say nothing.
        #[arg(long, default_value_t = 4_096)]
        silent: usize,
        /// Connections whose bodies come a byte at a time.
        #[arg(long, default_value_t = 2_000)]
        slow: usize,
        /// Hold the gateway to this processor.
        #[arg(long)]
        pin: Option<usize>,
    },
    /// Fill SQLite and PostgreSQL with many checkpoints and small originals, and time look-ups and searches.
    Scale {
        /// Checkpoints, and as many originals.
        #[arg(long, default_value_t = 1_000_000)]
        count: usize,
        /// Calls of each kind.
        #[arg(long, default_value_t = 2_000)]
        tries: usize,
        /// Keep the filled stores in this folder; where they are there already, they are only timed.
        #[arg(long)]
        keep: Option<PathBuf>,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Run several gateways on one PostgreSQL, each turn on the next, and compare every byte with one gateway; then the same
    /// while gateways are killed and the database restarts.
    Nodes {
        /// The binary; build it with --release.
        #[arg(long, default_value = "target/release/foldline")]
        binary: PathBuf,
        /// The binary of another release, which every second gateway runs, as during an upgrade.
        #[arg(long)]
        beside: Option<PathBuf>,
        /// Conversations.
        #[arg(long, default_value_t = 100)]
        conversations: usize,
        /// Turns of each.
        #[arg(long, default_value_t = 60)]
        turns: usize,
        /// The most gateways at once.
        #[arg(long, default_value_t = 3)]
        nodes: usize,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Measure redaction.
    #[command(after_help = "Examples:
  lab redact figures ~/.cargo/registry/src /usr/lib/python3.11 /usr/share/doc
  lab redact shapes                              what leaks, by set and group, with the texts that do
  lab redact folders --without tests ~/src       what is masked in vain, by rule, with examples
  lab redact speed --runs 10                     ordinary and hostile text, slowest first
  lab redact sessions recorded/                  what is found in real sessions")]
    Redact {
        #[command(subcommand)]
        what: RedactMeasure,
    },
    /// Time reducers on inputs of 50 MB that are made to hurt; with sessions, on their outputs.
    Reduce {
        /// Directory with sessions.
        directory: Option<PathBuf>,
        /// Repetitions, of which the best counts.
        #[arg(long, default_value_t = 3)]
        runs: usize,
    },
    /// Write a generated transcript to standard output.
    Generate {
        /// Size in messages.
        messages: usize,
        /// Format.
        #[arg(long, value_parser = format_named, default_value = "anthropic")]
        format: Format,
        /// Seed.
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Compact damaged transcripts and judge the results with a validator that shares nothing with the engine.
    Fuzz {
        /// Transcripts.
        #[arg(long, default_value_t = 100_000)]
        count: u64,
        /// The first seed.
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Feed files to a fuzz target; ends with a panic where something does not hold.
    Replay {
        /// The target.
        target: String,
        /// What to feed.
        files: Vec<PathBuf>,
    },
    /// Compare Foldline with its peers: installs them and runs all on the same sessions.
    #[command(after_help = "Examples:
  lab versus                                     on examples/ and the questions there, with all peers
  lab versus sessions/ questions/ --limit 10     on your own sessions; questions as for `foldline eval --questions`
  lab versus --peer foldline --peer hermes       only these
  lab versus --from target/versus/results.json   the tables again, from an earlier run")]
    Versus {
        /// Folders or files with sessions and questions.
        #[arg(default_values = ["examples", "examples/questions"])]
        folders: Vec<PathBuf>,
        /// The binary; build it with --release.
        #[arg(long, default_value = "target/release/foldline")]
        binary: PathBuf,
        /// Folder for peers, logs and results.
        #[arg(long, default_value = "target/versus")]
        into: PathBuf,
        /// Size of the results, as a share of the tokens.
        #[arg(long, default_value_t = 0.1)]
        share: f64,
        /// The context window that peers are told.
        #[arg(long, default_value_t = 200_000)]
        window: u64,
        /// The longest sessions grow request by request: how many of them.
        #[arg(long, default_value_t = 1)]
        growing: usize,
        /// At most so many sessions, those with questions first.
        #[arg(long, default_value_t = 50)]
        limit: usize,
        /// Only this peer (foldline, hermes, headroom-proxy, …); repeatable.
        #[arg(long)]
        peer: Vec<String>,
        /// What each peer may take, beside its installation.
        #[arg(long, default_value_t = 900)]
        seconds: u64,
        /// Measure nothing; show these results.
        #[arg(long)]
        from: Option<PathBuf>,
        /// Print the results as JSON instead of tables.
        #[arg(long)]
        json: bool,
    },
    /// Write a session in another format to standard output.
    Convert {
        /// An Anthropic session.
        file: PathBuf,
        /// Format.
        #[arg(long, value_parser = format_named)]
        format: Format,
    },
}

/// What `lab fit` derives.
#[derive(Debug, Subcommand)]
enum Fitting {
    /// Fit the weights by which a handoff chooses its passages.
    Passages {
        /// Directory with Anthropic sessions.
        sessions: PathBuf,
        /// Directories with questions on some of them.
        #[arg(long)]
        questions: Vec<PathBuf>,
        /// How often all weights are tried; 0 only measures.
        #[arg(long, default_value_t = 2)]
        rounds: usize,
        /// How much names count beside questions.
        #[arg(long, default_value_t = 0.5)]
        names: f64,
        /// Directory with chats whose rules and facts count too.
        #[arg(long)]
        chats: Option<PathBuf>,
    },
    /// Fit how sentences of users are judged: a rule, a fact, a request for now, or talk.
    Statements {
        /// Directory with labelled sentences.
        #[arg(default_value = "examples/sentences")]
        sentences: PathBuf,
        /// Directory with chats and notes on them.
        #[arg(long, default_value = "examples/chats")]
        chats: PathBuf,
        /// Leave the table of letters as it is; fit only how much each sign counts.
        #[arg(long)]
        signs: bool,
        /// Fit nothing; say how the lines of this file are judged.
        #[arg(long)]
        judge: Option<PathBuf>,
        /// Write the fitted numbers to this file (crates/core/src/ledger/statement.bin).
        #[arg(long)]
        into: Option<PathBuf>,
    },
    /// Count how often names are needed again, by their weight, and how fast conversations grow and cool down.
    Odds {
        /// Directory with sessions.
        directory: PathBuf,
    },
    /// Fit the weights of the token estimate on any texts: sessions, sources, documentation.
    Tokens {
        /// Files and folders.
        #[arg(required = true)]
        texts: Vec<PathBuf>,
        /// Megabytes that are taken of each.
        #[arg(long, default_value_t = 20)]
        megabytes: usize,
        /// Write the fitted numbers to this file (crates/core/src/tokens/weights.rs).
        #[arg(long)]
        into: Option<PathBuf>,
    },
}

/// What `lab redact` measures.
#[derive(Debug, Subcommand)]
enum RedactMeasure {
    /// All figures beside their limits: leaks, false alarms in folders, speed.
    Figures {
        /// Folders with sources or documentation.
        folders: Vec<PathBuf>,
        /// Names of folders to leave out.
        #[arg(long)]
        without: Vec<String>,
        /// Repetitions, of which the best counts.
        #[arg(long, default_value_t = 5)]
        runs: usize,
    },
    /// Made-up secrets in made-up surroundings: how much leaks, by group.
    Shapes,
    /// Files without secrets: how much is masked in vain.
    Folders {
        /// Folders with sources or documentation.
        folders: Vec<PathBuf>,
        /// Names of folders to leave out.
        #[arg(long)]
        without: Vec<String>,
    },
    /// Speed in ordinary and hostile text, at three sizes and as a stream.
    Speed {
        /// Repetitions, of which the best counts.
        #[arg(long, default_value_t = 5)]
        runs: usize,
    },
    /// Real sessions: what is found in them.
    Sessions {
        /// Directory with sessions.
        directory: PathBuf,
    },
}

fn format_named(name: &str) -> Result<Format, String> {
    let wire = matrix::FORMATS.iter().find(|format| format.name() == name);
    wire.copied().ok_or_else(|| "expected anthropic, openai-chat, openai-responses or gemini".to_owned())
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(code) => code,
        Err(error) => {
            tell(&format!("lab: {error}"));
            ExitCode::from(2)
        }
    }
}

fn derive(what: Fitting) -> Result<(), Failure> {
    match what {
        Fitting::Passages { sessions, questions, rounds, names, chats } => {
            fit::run(&fit::Options { sessions, questions, rounds, names, chats }, &mut std::io::stdout().lock())
        }
        Fitting::Statements { judge: Some(file), .. } => print(&statements::judge(&file)?),
        Fitting::Statements { sentences, chats, into, signs, judge: None } => {
            let sentences = (!signs).then_some(sentences);
            print(&statements::run(&statements::Options { sentences, chats, into })?)
        }
        Fitting::Odds { directory } => print(&odds::count(&matrix::sessions(&directory)?)?.to_string()),
        Fitting::Tokens { texts, megabytes, into } => {
            print(&tokens::fit::run(&tokens::fit::Options { texts, megabytes, into })?)
        }
    }
}

fn run(command: Command) -> Result<ExitCode, Failure> {
    match command {
        Command::Matrix { directory, threads } => {
            let files = matrix::sessions(&directory)?;
            let summary = matrix::run(&files, threads, |done, file| {
                tell(&format!("{done}/{} {}", files.len(), file.display()));
            })?;
            print(&summary.to_string())?;
            return Ok(ExitCode::from(u8::from(!summary.violations.is_empty())));
        }
        Command::Graph { root } => {
            let map = graph::Graph::of_map(&std::fs::read_to_string(root.join("ARCHITECTURE.md"))?)?;
            let sources = graph::Graph::of_sources(&root, &map)?;
            print(&sources.to_string())?;
            let everything = graph::Graph::of_everything(&root)?;
            let cycles: Vec<String> = everything.cycles().iter().map(|cycle| cycle.join(" ")).collect();
            let differences = sources.against(&map);
            print(&format!("\nedges: {}\ncycles: {}\n", sources.len(), cycles.join("; ")))?;
            differences.iter().for_each(|line| tell(line));
            return Ok(ExitCode::from(u8::from(!differences.is_empty())));
        }
        Command::Cache { directory } => print(&cache::measure_all(&matrix::sessions(&directory)?)?.to_string())?,
        Command::Chats { chats, share, folds, into } => {
            print(&chats::run(&chats::Options { chats, share, folds, into })?.to_string())?;
        }
        Command::Docs { root, binary } => {
            for page in docs::write(&root, &binary)? {
                print(&format!("docs/{page}\n"))?;
            }
        }
        Command::Fit { what } => derive(what)?,
        Command::Tokens { directory } => print(&tokens::measure(&matrix::sessions(&directory)?)?.to_string())?,
        Command::Speed { messages, format, binary, runs, json } => {
            let formats = if format.is_empty() { matrix::FORMATS.to_vec() } else { format };
            let times = speed::measure(&messages, &formats, binary.as_deref(), runs, tell)?;
            print(&if json { format!("{:#}\n", times.to_json()) } else { times.to_string() })?;
        }
        Command::Load { binary, requests, many, pin, json } => {
            let figures = load::measure(&load::LoadTest { binary, requests, many, pin }, tell)?;
            print(&if json { format!("{:#}\n", figures.to_json()) } else { figures.to_string() })?;
        }
        Command::PassThrough { upstream } => {
            load::pass_through(upstream, |address| print(&format!("http://{address}\n")))?;
        }
        Command::ConnectionFlood { binary, silent, slow, pin } => {
            let plan = load::LoadTest { binary, requests: 0, many: 0, pin };
            print(&format!("{}\n", load::crowded(&plan, load::ConnectionFlood { silent, slow }, tell)?))?;
        }
        Command::Nodes { binary, beside, conversations, turns, nodes: most, json } => {
            let plan = nodes::NodesTest { binary, beside, conversations, turns, nodes: most };
            if let Some(figures) = nodes::measure(&plan, tell)? {
                print(&if json { format!("{:#}\n", figures.to_json()) } else { figures.to_string() })?;
                return Ok(ExitCode::from(u8::from(!figures.wrong.is_empty())));
            }
        }
        Command::Scale { count, tries, keep, json } => {
            let figures = scale::measure(&scale::ScaleTest { count, tries, keep }, tell)?;
            print(&if json { format!("{:#}\n", figures.to_json()) } else { figures.to_string() })?;
            return Ok(ExitCode::from(u8::from(!figures.is_fast())));
        }
        Command::Redact { what } => match what {
            RedactMeasure::Figures { folders, without, runs } => {
                let alarms = folders.into_iter().map(|folder| Ok((folder.clone(), redact::alarms(&folder, &without)?)));
                let alarms = alarms.collect::<Result<_, Failure>>()?;
                print(&redact::Figures::new(alarms, redact::speeds(runs)).to_string())?;
            }
            RedactMeasure::Shapes => print(&redact::leaks())?,
            RedactMeasure::Folders { folders, without } => {
                for folder in folders {
                    print(&format!("{}\n{}\n", folder.display(), redact::alarms(&folder, &without)?))?;
                }
            }
            RedactMeasure::Speed { runs } => print(&redact::speeds(runs).to_string())?,
            RedactMeasure::Sessions { directory } => {
                print(&redact::census(&matrix::sessions(&directory)?)?.to_string())?
            }
        },
        Command::Reduce { directory, runs } => match directory {
            Some(directory) => print(&reduce::on_sessions(&matrix::sessions(&directory)?, runs)?.to_string())?,
            None => print(&reduce::on_hostile(runs).to_string())?,
        },
        Command::Generate { messages, format, seed } => print(&generate::transcript(format, messages, seed))?,
        Command::Fuzz { count, seed } => {
            let figures = damage::run(seed, count);
            print(&figures.to_string())?;
            return Ok(ExitCode::from(u8::from(figures.invalid > 0)));
        }
        Command::Replay { target, files } => {
            let known = fuzz::TARGETS.iter().find(|(name, _)| *name == target);
            let (_, body) = known.ok_or_else(|| format!("no fuzz target is called {target}"))?;
            for file in files {
                tell(&file.display().to_string());
                body(&std::fs::read(file)?);
            }
        }
        Command::Versus { folders, binary, into, share, window, growing, limit, peer, seconds, from, json } => {
            let results = match from {
                Some(file) => serde_json::from_str(&std::fs::read_to_string(file)?)?,
                None => {
                    let patience = std::time::Duration::from_secs(seconds);
                    let only = peer;
                    versus::run(
                        &versus::Options {
                            folders,
                            binary,
                            into: into.clone(),
                            share,
                            window,
                            growing,
                            limit,
                            only,
                            patience,
                        },
                        tell,
                    )?
                }
            };
            for file in versus::write(&results, &into)? {
                tell(&file.display().to_string());
            }
            print(&if json {
                serde_json::to_string_pretty(&results)? + "\n"
            } else {
                versus::table::markdown(&results)
            })?;
        }
        Command::Convert { file, format } => {
            let session = serde_json::from_str(&std::fs::read_to_string(file)?)?;
            print(&foldline_lab::convert::to(format, &session).to_string())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

/// Progress and errors; where nobody listens, nothing is lost.
fn tell(line: &str) {
    _ = writeln!(std::io::stderr(), "{line}");
}
