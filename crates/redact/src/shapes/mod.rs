//! Made-up secrets in made-up surroundings, to measure what leaks and what is masked in vain.
//!
//! A shape is written with its secret between `«` and `»`; a secret that is cut in several pieces has several such marks.
//! [`made::expand`] fills in the secret when the program runs, so that nothing in the source looks like one.

pub mod first;
pub mod fourth;
pub mod hostile;
pub mod made;
pub mod second;
pub mod third;

use crate::{Mode, redact};
use std::collections::BTreeMap;
use std::fmt;

/// One text with secrets.
#[derive(Debug, Clone)]
pub struct Shape {
    /// The group that it is counted in.
    pub group: &'static str,
    /// The text.
    pub text: String,
    /// The secrets in it.
    pub secrets: Vec<String>,
}

impl Shape {
    /// A shape from a template with marks and holes.
    pub fn new(group: &'static str, template: &str, seed: u64) -> Self {
        let marked = made::expand(template, seed);
        let pieces = marked.split('«').skip(1);
        let secrets = pieces.filter_map(|piece| piece.split_once('»')).map(|(secret, _)| secret.to_owned()).collect();
        Self { group, text: marked.replace(['«', '»'], ""), secrets }
    }

    /// What remains of its secrets after masking, if anything can be read.
    pub fn leak(&self) -> Option<String> {
        let masked = redact(&self.text, Mode::Text);
        self.secrets.iter().any(|secret| shows(&masked, secret)).then(|| masked.into_owned())
    }
}

/// Whether a text shows more of a secret than a mask may.
fn shows(text: &str, secret: &str) -> bool {
    /// A mask keeps six characters and four; of a short secret nothing.
    const LONG: usize = 18;
    let characters: Vec<char> = secret.chars().collect();
    let window = if characters.len() >= LONG { 8 } else { characters.len().min(5) };
    characters.windows(window.max(1)).any(|window| text.contains(&window.iter().collect::<String>()))
}

/// How many shapes of each group leak.
#[derive(Debug, Default)]
pub struct Leaks {
    groups: BTreeMap<&'static str, (usize, Vec<(String, String)>)>,
}

impl Leaks {
    /// Masks all shapes and looks what remains.
    pub fn of(shapes: &[Shape]) -> Self {
        let mut leaks = Self::default();
        for shape in shapes {
            let (count, leaked) = leaks.groups.entry(shape.group).or_default();
            *count += 1;
            leaked.extend(shape.leak().map(|masked| (shape.text.clone(), masked)));
        }
        leaks
    }

    /// Groups with the number of their shapes and of those that leak.
    pub fn groups(&self) -> impl Iterator<Item = (&'static str, usize, usize)> {
        self.groups.iter().map(|(group, (count, leaked))| (*group, *count, leaked.len()))
    }

    /// Texts that leak, before and after masking.
    pub fn texts(&self) -> impl Iterator<Item = (&'static str, &str, &str)> {
        self.groups.iter().flat_map(|(group, (_, leaked))| leaked.iter().map(|(text, masked)| (*group, text.as_str(), masked.as_str())))
    }

    /// Shapes and leaks of all groups.
    pub fn total(&self) -> (usize, usize) {
        self.groups().fold((0, 0), |(shapes, leaks), (_, count, leaked)| (shapes + count, leaks + leaked))
    }
}

impl fmt::Display for Leaks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (group, count, leaked) in self.groups() {
            writeln!(f, "{leaked:>5} of {count:>5} leak ({:>5.1} %)  {group}", 100.0 * leaked as f64 / count.max(1) as f64)?;
        }
        let (shapes, leaked) = self.total();
        writeln!(f, "{leaked:>5} of {shapes:>5} leak ({:>5.1} %)  all", 100.0 * leaked as f64 / shapes.max(1) as f64)
    }
}
