//! How fast secrets are found, in ordinary and in hostile text, at three sizes: linear time shows in equal speeds.

use crate::{best, generate};
use foldline_core::Format;
use foldline_redact::shapes::hostile::hostile;
use foldline_redact::{Mode, Stream, redact};
use std::fmt;

/// How much text is searched at a time.
const SIZES: [usize; 3] = [256 << 10, 1 << 20, 4 << 20];

/// Speeds in megabytes per second, by text: at each size as a whole, and the largest as a stream.
#[derive(Debug)]
pub struct Speeds(Vec<(String, [f64; 4])>);

/// Measures; the best of `runs` counts.
pub fn speeds(runs: usize) -> Speeds {
    let [.., largest] = SIZES;
    let mixed: String = (0..)
        .map(|seed| generate::transcript(Format::Anthropic, 400, seed))
        .scan(0, |total, text| {
            let enough = *total >= largest;
            *total += text.len();
            (!enough).then_some(text)
        })
        .collect();
    let mut speeds = vec![("mixed (generated sessions)".to_owned(), measure(&mixed, runs))];
    for (name, unit) in hostile() {
        speeds.push((format!("hostile: {name}"), measure(&unit.repeat(largest / unit.len() + 1), runs)));
    }
    Speeds(speeds)
}

fn measure(text: &str, runs: usize) -> [f64; 4] {
    let speed =
        |text: &str, run: fn(&str) -> usize| text.len() as f64 / 1e6 / best::of(runs, || run(text)).as_secs_f64();
    let [small, middle, large] = SIZES.map(|size| text.get(..text.floor_char_boundary(size)).unwrap_or(text));
    [speed(small, whole), speed(middle, whole), speed(large, whole), speed(large, stream)]
}

fn whole(text: &str) -> usize {
    redact(text, Mode::Text).len()
}

fn stream(text: &str) -> usize {
    /// As much as a pipe holds.
    const PIECE: usize = 64 << 10;
    let mut stream = Stream::new(Mode::Text);
    let released: usize = text.as_bytes().chunks(PIECE).map(|piece| stream.feed(piece).len()).sum();
    released + stream.finish().len()
}

impl fmt::Display for Speeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [small, middle, large] = SIZES.map(|size| format!("{} KB", size >> 10));
        writeln!(f, "{small:>8}{middle:>9}{large:>9}   stream   MB/s")?;
        let mut rows: Vec<_> = self.0.iter().collect();
        rows.sort_by(|(_, one), (_, other)| one[2].total_cmp(&other[2]));
        for (name, [small, middle, large, stream]) in rows {
            writeln!(f, "{small:>8.0}{middle:>9.0}{large:>9.0}{stream:>9.0}   {name}")?;
        }
        Ok(())
    }
}
