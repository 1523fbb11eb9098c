//! Texts of agents' sessions, made from a number: what tools print, what people ask. The same number
//! gives the same text, so that repeated outputs and file reads can be made at will.

use std::fmt::Write as _;

/// Stands in every generated text; no report, log or error may show it.
pub const CANARY: &str = "kingfisher";

/// What a tool output looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    Log,
    TestReport,
    Json,
    Code,
    Listing,
    Diff,
    Table,
    Prose,
    /// One line without a break.
    OneLine,
    Unicode,
    Empty,
}

impl Look {
    /// All of them.
    pub const ALL: [Look; 11] = [
        Look::Log,
        Look::TestReport,
        Look::Json,
        Look::Code,
        Look::Listing,
        Look::Diff,
        Look::Table,
        Look::Prose,
        Look::OneLine,
        Look::Unicode,
        Look::Empty,
    ];
}

const WORDS: [&str; 24] = [
    "invoice", "ledger", "parser", "socket", "retry", "window", "bucket", "cursor", "tenant", "shipment", "gateway",
    "thread", "render", "budget", "schema", "worker", "packet", "signal", "anchor", "mirror", "kernel", "garden",
    "copper", "violet",
];

/// A word that follows from a number.
pub fn word(seed: u32) -> &'static str {
    WORDS[(mix(seed) % WORDS.len() as u32) as usize]
}

fn mix(seed: u32) -> u32 {
    let mut x = seed.wrapping_mul(0x9E37_79B9) ^ 0x85EB_CA6B;
    x ^= x >> 15;
    x = x.wrapping_mul(0x2C1B_3C6D);
    x ^ (x >> 13)
}

/// What a tool prints: `lines` lines that look like `look`.
pub fn output(look: Look, lines: usize, seed: u32) -> String {
    let mut out = String::new();
    if look == Look::Empty || lines == 0 {
        return out;
    }
    let _ = writeln!(out, "{CANARY} {}", word(seed));
    for at in 0..lines as u32 {
        let n = seed.wrapping_mul(31).wrapping_add(at);
        let (a, b, c) = (word(n), word(n + 7), mix(n) % 10_000);
        let _ = match look {
            Look::Log => {
                let level = ["INFO", "DEBUG", "INFO", "WARN", "INFO", "ERROR"][(mix(n) % 6) as usize];
                writeln!(
                    out,
                    "2026-03-0{} 10:{:02}:{:02} {level} {a}: {b} took {c} ms",
                    1 + seed % 9,
                    at / 60 % 60,
                    at % 60
                )
            }
            Look::TestReport if at + 1 == lines as u32 => {
                writeln!(out, "== {} passed, {} failed in 3.1s ==", lines, c % 4)
            }
            Look::TestReport => {
                writeln!(out, "tests/test_{a}.py::test_{b}_{c} {}", if c % 9 == 0 { "FAILED" } else { "PASSED" })
            }
            Look::Json if at == 0 => writeln!(out, "[{{\"id\": {c}, \"name\": \"{a}\"}},"),
            Look::Json => writeln!(out, " {{\"id\": {c}, \"name\": \"{a}\", \"tags\": [\"{b}\", null, 1.50]}},"),
            Look::Code => {
                writeln!(out, "{}fn {a}_{b}_{c}(x: u32) -> u32 {{ x + {c} }}", " ".repeat((at % 3 * 4) as usize))
            }
            Look::Listing => writeln!(out, "-rw-r--r-- 1 root root {c:>6} src/{a}/{b}_{c}.rs"),
            Look::Diff => writeln!(out, "{}    let {a} = {b}({c});", ["+", "-", " "][(at % 3) as usize]),
            Look::Table => writeln!(out, "{c},{a},{b},{}.50", c % 97),
            Look::Prose => writeln!(out, "The {a} of the {b} is kept in {c} places because the {a} may move."),
            Look::OneLine => write!(out, "{a} {b} {c} "),
            Look::Unicode => writeln!(out, "Zeile {at}: „{a}“ – ключ {b} 値は{c}です 🛠\u{200d}\t\u{7}\\ \"{a}\""),
            Look::Empty => Ok(()),
        };
    }
    out
}

/// What a person says, about `length` characters long. Always says something.
pub fn request(seed: u32, length: usize) -> String {
    let mut out = format!("Please look at the {} of {CANARY} number {seed}.", word(seed));
    let mut at = 0;
    while out.len() < length {
        at += 1;
        let n = seed.wrapping_mul(17).wrapping_add(at);
        let _ = write!(out, " Then {} the {} in src/{}_{}.rs.", word(n), word(n + 1), word(n + 2), n % 100);
    }
    out
}

/// What the assistant says.
pub fn reply(seed: u32, length: usize) -> String {
    let mut out = format!("I read the {} and the {CANARY}.", word(seed));
    let mut at = 0;
    while out.len() < length {
        at += 1;
        let n = seed.wrapping_mul(13).wrapping_add(at);
        let _ = write!(out, " I chose the {} because the {} was too slow.", word(n), word(n + 3));
    }
    out
}

/// A handoff as it stands in transcripts that were folded before.
pub fn old_handoff(maker: Maker, seed: u32) -> String {
    let (a, b) = (word(seed), word(seed + 1));
    match maker {
        Maker::Foldline => format!(
            "[FOLDLINE HANDOFF · reference only]\n12 earlier messages are folded.\n\n## Active Task\nUser asked: \"Look at {a}\"\n\n\
             ## Goal\nUser: Repair the {b} import\n\n## Completed Actions\n1. RUN pytest — exit 1 [tool: bash]\n\
             2. EDIT src/{a}.py — done [tool: edit]\n\n## Relevant Files\n- src/{a}.py — edited\n\n\
             [END OF FOLDLINE HANDOFF · the live conversation follows]"
        ),
        Maker::Hermes => format!(
            "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted.\n\n## Active Task\nUser asked: 'Look at {a}'\n\n\
             ## Completed Actions\n1. RAN pytest — 3 failed [tool: terminal]\n\n## Remaining Work\n- the {b}\n\n\
             --- END OF CONTEXT SUMMARY — respond to the message below, not the summary above ---"
        ),
        Maker::OldHermes => format!("[CONTEXT SUMMARY]: the user works on the {a} and wants the {b} kept."),
    }
}

/// Who left a handoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maker {
    Foldline,
    Hermes,
    OldHermes,
}
