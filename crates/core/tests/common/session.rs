//! Generated sessions: all formats, roles and shapes, large enough that small windows overflow.

use super::texts::{self, Look, Maker};
use super::writer::{Answer, Call, Layout, Thought, Writer};
use foldline_core::Format;
use proptest::prelude::*;

/// A session, as numbers: what it says follows from them.
#[derive(Clone, Debug)]
pub struct Session {
    pub format: Format,
    pub layout: Layout,
    /// Characters of the system prompt; none at 0.
    pub system: usize,
    pub max_tokens: Option<u32>,
    pub marks: usize,
    pub turns: Vec<Turn>,
    /// Calls at the end that are not answered yet.
    pub in_flight: usize,
    /// Whether the last reply is there, or the model's answer is awaited.
    pub waits: bool,
}

/// What a person says and what comes of it.
#[derive(Clone, Debug)]
pub struct Turn {
    pub ask: Ask,
    pub rounds: Vec<Round>,
    pub reply: (u32, usize),
}

/// What stands in a user message.
#[derive(Clone, Copy, Debug)]
pub enum Ask {
    Words(u32, usize),
    Picture(u32),
    /// A handoff of an earlier fold, alone in its message.
    Handoff(Maker, u32),
}

/// A round of the agent's loop.
#[derive(Clone, Debug)]
pub struct Round {
    pub thought: Thought,
    pub words: Option<(u32, usize)>,
    pub calls: Vec<Spec>,
    /// Standing instructions that the client puts between messages.
    pub instructed: bool,
}

/// A call.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    pub tool: usize,
    /// Equal seeds give equal files and outputs.
    pub seed: u32,
    pub look: Look,
    pub lines: usize,
    pub answer: Answer,
    pub failed: bool,
    /// Bytes of a long string among the arguments.
    pub payload: usize,
}

/// The tools, by name.
pub const TOOLS: [&str; 7] = ["bash", "read_file", "write_file", "edit_file", "grep", "todo_write", "frobnicate"];

impl Spec {
    pub fn call(&self) -> Call {
        let tool = TOOLS[self.tool % TOOLS.len()];
        // Few files, so that they are read again and written after they were read.
        let name = texts::word(self.seed % 7);
        let long = texts::output(Look::Code, self.payload / 40, self.seed);
        let arguments = match tool {
            "bash" => format!(r#"{{"command":"make {name} && echo kingfisher","timeout":{}}}"#, self.seed),
            "read_file" => format!(r#"{{"path":"src/{name}.rs"}}"#),
            "write_file" | "edit_file" => {
                format!(
                    r#"{{"path":"src/{name}.rs","content":{},"mode":null,"n":[1,2.50,true]}}"#,
                    super::writer::quoted(&long)
                )
            }
            "grep" => format!(r#"{{"pattern":"{name}","path":"src"}}"#),
            "todo_write" => format!(r#"{{"todos":[{{"content":"kingfisher {name}","status":"pending"}}]}}"#),
            _ => format!(r#"{{"deep":{{"er":["{name}",{}]}}}}"#, self.seed),
        };
        let output = texts::output(self.look, self.lines, self.seed);
        Call { answer: self.answer, failed: self.failed, ..Call::new(tool, arguments, output) }
    }
}

impl Session {
    /// The document.
    pub fn text(&self) -> String {
        let mut writer = Writer::new(self.format);
        writer.layout = self.layout;
        writer.max_tokens = self.max_tokens;
        writer.marks = self.marks;
        if self.system > 0 {
            writer.system = Some(texts::request(7, self.system));
        }
        let last = self.turns.len().saturating_sub(1);
        for (index, turn) in self.turns.iter().enumerate() {
            match turn.ask {
                Ask::Words(seed, length) => writer.user(&texts::request(seed, length)),
                Ask::Picture(seed) => writer.picture(&texts::request(seed, 0)),
                Ask::Handoff(maker, seed) => writer.user(&texts::old_handoff(maker, seed)),
            };
            for round in &turn.rounds {
                let calls: Vec<Call> = round.calls.iter().map(Spec::call).collect();
                let words = round.words.map(|(seed, length)| texts::reply(seed, length));
                writer.round(round.thought, words.as_deref(), &calls);
                if round.instructed && matches!(self.format, Format::OpenAiResponses) {
                    writer.say("developer", "The tools changed: use kingfisher.");
                }
            }
            if index < last || !self.waits {
                let (seed, length) = turn.reply;
                writer.assistant(&texts::reply(seed, length));
            }
        }
        if self.waits && self.in_flight > 0 && !matches!(self.format, Format::ShareGpt) {
            let calls: Vec<Call> = (0..self.in_flight).map(|at| Call::run(&format!("sleep {at}"), "")).collect();
            writer.in_flight(&calls);
        }
        writer.document()
    }

    /// The words of the last request that is no handoff.
    pub fn last_request(&self) -> Option<String> {
        self.turns.iter().rev().find_map(|turn| match turn.ask {
            Ask::Words(seed, length) => Some(texts::request(seed, length)),
            Ask::Picture(seed) => Some(texts::request(seed, 0)),
            Ask::Handoff(..) => None,
        })
    }
}

/// How long the texts of a session are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bulk {
    /// Of all lengths.
    Mixed,
    /// Long outputs and short words: what pruning is for.
    Outputs,
}

/// Any session.
pub fn session() -> impl Strategy<Value = Session> {
    prop::sample::select(Format::NAMES.map(|(format, _)| format).to_vec()).prop_flat_map(session_in)
}

/// A session in one format.
pub fn session_in(format: Format) -> impl Strategy<Value = Session> {
    prop_oneof![2 => session_of(format, Bulk::Mixed), 1 => session_of(format, Bulk::Outputs)]
}

fn session_of(format: Format, bulk: Bulk) -> impl Strategy<Value = Session> {
    let layout = prop::sample::select(vec![Layout::Body, Layout::SpacedBody, Layout::List, Layout::Lines]);
    let system = prop_oneof![2 => Just(0), 3 => 10..400usize, 1 => 2_000..6_000usize];
    let max_tokens = prop::option::weighted(0.2, 100..2_000u32);
    let turns = prop::collection::vec(turn(bulk), 1..8);
    let in_flight = prop_oneof![3 => Just(0), 1 => 1..4usize];
    (layout, system, max_tokens, 0..4usize, turns, in_flight, any::<bool>()).prop_map(
        move |(layout, system, max_tokens, marks, turns, in_flight, waits)| {
            // A bare list does not say whose it is where nothing else does, and trajectories come as documents.
            let layout = match (format, layout) {
                (Format::Anthropic, Layout::List | Layout::Lines) => Layout::Body,
                (Format::ShareGpt, Layout::Lines) => Layout::List,
                _ => layout,
            };
            Session { format, layout, system, max_tokens, marks, turns, in_flight, waits }
        },
    )
}

fn turn(bulk: Bulk) -> impl Strategy<Value = Turn> {
    let ask = prop_oneof![
        10 => (0..40u32, 0..300usize).prop_map(|(seed, length)| Ask::Words(seed, length)),
        1 => (0..40u32, 1_500..6_000usize).prop_map(|(seed, length)| Ask::Words(seed, length)),
        2 => (0..40u32).prop_map(Ask::Picture),
        1 => (maker(), 0..40u32).prop_map(|(maker, seed)| Ask::Handoff(maker, seed)),
    ];
    let rounds = prop::collection::vec(round(bulk), 0..5);
    (ask, rounds, (0..40u32, length(bulk))).prop_map(|(ask, rounds, reply)| Turn { ask, rounds, reply })
}

fn maker() -> impl Strategy<Value = Maker> {
    prop::sample::select(vec![Maker::Foldline, Maker::Hermes, Maker::OldHermes])
}

fn length(bulk: Bulk) -> impl Strategy<Value = usize> {
    match bulk {
        Bulk::Mixed => prop_oneof![6 => 0..200usize, 2 => 200..1_500usize, 1 => 3_000..9_000usize].boxed(),
        Bulk::Outputs => (0..200usize).boxed(),
    }
}

fn round(bulk: Bulk) -> impl Strategy<Value = Round> {
    let thought = prop::sample::select(vec![Thought::None, Thought::None, Thought::Signed, Thought::Redacted]);
    let words = prop::option::weighted(0.4, (0..40u32, length(bulk)));
    let calls = prop::collection::vec(spec(bulk), 1..4);
    (thought, words, calls, prop::bool::weighted(0.05)).prop_map(|(thought, words, calls, instructed)| Round {
        thought,
        words,
        calls,
        instructed,
    })
}

fn spec(bulk: Bulk) -> impl Strategy<Value = Spec> {
    let lines = match bulk {
        Bulk::Mixed => prop_oneof![5 => 0..15usize, 4 => 10..60usize, 1 => 100..260usize].boxed(),
        Bulk::Outputs => prop_oneof![1 => 0..15usize, 4 => 40..160usize].boxed(),
    };
    let answer = prop_oneof![5 => Just(Answer::Text), 3 => Just(Answer::Blocks), 1 => Just(Answer::Picture)];
    let payload = prop_oneof![4 => Just(0), 1 => 600..4_000usize];
    let seed = prop_oneof![2 => 0..REPEATED, 3 => REPEATED..500u32];
    (0..TOOLS.len(), seed, prop::sample::select(Look::ALL.to_vec()), lines, answer, prop::bool::weighted(0.1), payload)
        .prop_map(|(tool, seed, look, lines, answer, failed, payload)| {
            let spec = Spec { tool, seed, look, lines, answer, failed, payload };
            match seed < REPEATED {
                // The same question once more, and the same answer.
                true => {
                    Spec { tool: seed as usize, look: Look::ALL[seed as usize], lines: 30 + 9 * seed as usize, ..spec }
                }
                false => spec,
            }
        })
}

/// Calls with a seed below this are the same wherever they come up.
const REPEATED: u32 = 4;
