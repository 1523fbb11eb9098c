//! How fast reducers are on inputs made to hurt: time must grow with size and no faster.

use crate::best;
use foldline_core::reduce::{Source, Talk, reduce_amid};
use std::fmt;

/// Bytes of a full-size input.
const FULL: usize = 50_000_000;
/// The smaller input that growth is held against.
const SHARE: usize = 8;

/// An input and how it is made.
struct Shape {
    name: &'static str,
    source: Source<'static>,
    make: fn(usize) -> String,
}

const SHELL: Source<'static> = Source { tool: "bash", argument: "run", focus: &[] };
const FETCH: Source<'static> = Source { tool: "web_fetch", argument: "https://example.test", focus: &[] };

const SHAPES: &[Shape] = &[
    Shape { name: "one line", source: SHELL, make: |size| "x".repeat(size) },
    Shape { name: "one line of names", source: SHELL, make: |size| "some_name ".repeat(size / 10) },
    Shape { name: "empty lines", source: SHELL, make: |size| "\n".repeat(size / 5) },
    Shape { name: "nested JSON", source: SHELL, make: nested },
    Shape { name: "open JSON", source: SHELL, make: |size| "{\"a\":".repeat(size / 5) },
    Shape { name: "invalid UTF-8", source: SHELL, make: invalid },
    Shape { name: "errors", source: SHELL, make: |size| "error: it broke\n".repeat(size / 16) },
    Shape { name: "open tags", source: FETCH, make: |size| "<a ".repeat(size / 3) },
];

fn nested(size: usize) -> String {
    "[".repeat(size / 2) + &"]".repeat(size / 2)
}

/// What programs make of bytes that are no text.
fn invalid(size: usize) -> String {
    let bytes: Vec<u8> = (0..size / 3).map(|at| (at % 251) as u8 | 0x80).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Speed on one shape.
#[derive(Clone, Debug)]
pub struct Pace {
    /// What it is.
    pub name: &'static str,
    /// Bytes.
    pub bytes: usize,
    /// Millions of bytes per second at full size.
    pub mb_per_s: f64,
    /// Time per byte at full size over time per byte at an eighth: one is linear.
    pub growth: f64,
}

/// All shapes.
#[derive(Clone, Debug)]
pub struct Paces(pub Vec<Pace>);

/// Times every shape.
pub fn measure(runs: usize) -> Paces {
    let talk = Talk::of_words(["some_name it_broke"]);
    let pace = |shape: &Shape| {
        let (small, full) = ((shape.make)(FULL / SHARE), (shape.make)(FULL));
        let timed = |text: &str| best::of(runs, || reduce_amid(&shape.source, &talk, text)).as_secs_f64();
        let (short, long) = (timed(&small) / small.len() as f64, timed(&full) / full.len() as f64);
        Pace { name: shape.name, bytes: full.len(), mb_per_s: 1e-6 / long.max(1e-15), growth: long / short.max(1e-15) }
    };
    Paces(SHAPES.iter().map(pace).collect())
}

impl fmt::Display for Paces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<20} {:>10} {:>8} {:>8}", "input", "bytes", "MB/s", "growth")?;
        for Pace { name, bytes, mb_per_s, growth } in &self.0 {
            writeln!(f, "{name:<20} {bytes:>10} {mb_per_s:>8.0} {growth:>8.2}")?;
        }
        Ok(())
    }
}
