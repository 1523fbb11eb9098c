//! Made-up secrets in made-up surroundings, to measure what leaks and what is masked in vain.
//!
//! A shape is written with its secret between `«` and `»`; a secret that is cut in several pieces has several such marks.
//! [`foldline_redact::fixtures::expand`] fills in the secret when the program runs, so that nothing in the source looks like one.

pub mod eighth;
mod eleventh;
pub mod fifth;
pub mod first;
pub mod fourth;
pub mod ninth;
pub mod second;
pub mod seventh;
pub mod sixth;
pub mod tenth;
pub mod third;
mod twelfth;

use foldline_redact::{Mode, fixtures, redact};
use std::collections::BTreeMap;
use std::fmt;

/// A name and the shapes of a set.
pub type Set = (&'static str, fn() -> Vec<Shape>);

/// All sets. All but the first were written after the rules and measured before they were changed for them.
pub const SETS: [Set; 12] = [
    ("first", first::shapes),
    ("second", second::shapes),
    ("third", third::shapes),
    ("fourth", fourth::shapes),
    ("fifth", fifth::shapes),
    ("sixth", sixth::shapes),
    ("seventh", seventh::shapes),
    ("eighth", eighth::shapes),
    ("ninth", ninth::shapes),
    ("tenth", tenth::shapes),
    ("eleventh", eleventh::shapes),
    ("twelfth", twelfth::shapes),
];

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
        let marked = fixtures::expand(template, seed);
        let pieces = marked.split('«').skip(1);
        let secrets = pieces.filter_map(|piece| piece.split_once('»')).map(|(secret, _)| secret.to_owned()).collect();
        Self { group, text: marked.replace(['«', '»'], ""), secrets }
    }

    /// The shapes of groups of templates, each filled from a seed of its own.
    fn of_templates(groups: &[(&'static str, &[&str])], seed: u64, step: u64) -> Vec<Shape> {
        let templates = groups.iter().flat_map(|(group, all)| all.iter().map(move |template| (*group, *template)));
        let numbered = templates.zip(0..);
        numbered.map(|((group, template), at)| Shape::new(group, template, seed + step * at)).collect()
    }

    /// What remains of its secrets after masking, if anything can be read.
    pub fn leak(&self) -> Option<String> {
        let masked = redact(&self.text, Mode::Text);
        self.secrets.iter().any(|secret| shows(&masked, secret)).then(|| masked.into_owned())
    }
}

/// Whether a text shows more of a secret than a mask may.
pub(crate) fn shows(text: &str, secret: &str) -> bool {
    /// A mask keeps six characters and four; of a short secret nothing.
    const LONG: usize = 18;
    let characters: Vec<char> = secret.chars().collect();
    let window = if characters.len() >= LONG { 8 } else { characters.len().min(5) };
    characters.windows(window.max(1)).any(|window| text.contains(&window.iter().collect::<String>()))
}

/// Groups of which at most 3 % may leak: they were promised first. Of the others at most 15 %.
#[rustfmt::skip]
pub const NAMED: [&str; 14] = [
    "clouds", "cookies", "database-urls", "environment", "headers", "json", "jwt", "parameters", "phones", "private-keys", "settings", "telegram", "userinfo", "vendors",
];

/// How many shapes of each group leak.
#[derive(Debug, Default)]
pub struct Leaks {
    groups: BTreeMap<&'static str, Group>,
}

/// The shapes of one group.
#[derive(Debug, Default)]
struct Group {
    shapes: usize,
    /// Texts that leak, before and after masking.
    leaked: Vec<(String, String)>,
}

impl Leaks {
    /// Masks all shapes and looks what remains.
    pub fn of(shapes: &[Shape]) -> Self {
        let mut leaks = Self::default();
        for shape in shapes {
            let group = leaks.groups.entry(shape.group).or_default();
            group.shapes += 1;
            group.leaked.extend(shape.leak().map(|masked| (shape.text.clone(), masked)));
        }
        leaks
    }

    /// Texts that leak, before and after masking, with their group.
    pub fn texts(&self) -> impl Iterator<Item = (&'static str, &str, &str)> {
        self.groups
            .iter()
            .flat_map(|(name, group)| group.leaked.iter().map(|(text, masked)| (*name, text.as_str(), masked.as_str())))
    }

    /// Shapes and leaks of the groups that a test asks for.
    pub fn count(&self, wanted: impl Fn(&str) -> bool) -> (usize, usize) {
        let groups = self.groups.iter().filter(|(name, _)| wanted(name));
        groups.fold((0, 0), |(shapes, leaks), (_, group)| (shapes + group.shapes, leaks + group.leaked.len()))
    }

    /// Shapes and leaks of the groups that were promised first, then of the others.
    pub fn named_and_others(&self) -> [(usize, usize); 2] {
        [self.count(|name| NAMED.contains(&name)), self.count(|name| !NAMED.contains(&name))]
    }
}

impl fmt::Display for Leaks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = |leaked: usize, shapes: usize, name: &str| {
            let share = 100.0 * leaked as f64 / shapes.max(1) as f64;
            writeln!(f, "{leaked:>5} of {shapes:>5} leak ({share:>5.1} %)  {name}")
        };
        for (name, group) in &self.groups {
            line(group.leaked.len(), group.shapes, name)?;
        }
        let [named, others] = self.named_and_others();
        line(named.1, named.0, "all groups that X2 names")?;
        line(others.1, others.0, "all other groups")
    }
}
