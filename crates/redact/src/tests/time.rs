//! Time is linear in the length of the text, for every text that is made to be slow, whole and as a stream.
#![allow(clippy::disallowed_methods, reason = "a test of time reads the clock")]

use crate::hostile::hostile;
use crate::{Mode, Stream, redact};
use std::time::{Duration, Instant};

const SMALL: usize = 32 * 1024;
/// Three sizes, each four times the last.
const SIZES: [usize; 3] = [SMALL, SMALL * 4, SMALL * 16];

#[test]
fn hostile_texts_take_time_in_proportion_to_their_length() {
    for (name, unit) in hostile() {
        for (way, run) in [("whole", whole as fn(&str)), ("stream", stream)] {
            let texts = SIZES.map(|size| unit.repeat(size / unit.len() + 1));
            // A machine that does other things, too, may hold up one measurement, hardly five.
            let linear = (0..5).any(|_| is_linear(&texts, run));
            assert!(linear, "{name}, {way}");
        }
    }
}

/// Whether sixteen times the text takes no more than four times that time.
fn is_linear(texts: &[String; 3], run: fn(&str)) -> bool {
    let [small, middle, large] = texts.each_ref().map(|text| shortest(text, run));
    let enough = |times: u32| small * times * 4 + Duration::from_millis(40);
    middle <= enough(4) && large <= enough(16)
}

fn whole(text: &str) {
    assert!(!redact(text, Mode::Text).is_empty());
}

fn stream(text: &str) {
    let mut stream = Stream::new(Mode::Text);
    let length: usize = text.as_bytes().chunks(4096).map(|piece| stream.feed(piece).len()).sum();
    assert!(length + stream.finish().len() > 0);
}

/// The shortest of three runs is the least disturbed one.
fn shortest(text: &str, run: fn(&str)) -> Duration {
    let time = |_| {
        let start = Instant::now();
        run(text);
        start.elapsed()
    };
    (0..3).map(time).min().unwrap_or_default()
}
