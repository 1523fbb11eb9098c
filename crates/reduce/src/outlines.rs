//! How source code becomes an outline.

/// How the definitions in source code are found when an output or a written file becomes an outline.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outlines {
    /// By the look of lines: any language, and any part of a file.
    #[default]
    Lines,
    /// By a parser for Rust, Python, Go, TypeScript, JavaScript, Java, C and C++: finds what the look of a line does
    /// not tell, at a twentieth of the speed. Other languages, and builds without the parser, by their lines.
    Parser,
}

impl Outlines {
    /// The names users type.
    pub const NAMES: &'static [&'static str] = &["lines", "parser"];

    /// The name as it is written in settings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lines => "lines",
            Self::Parser => "parser",
        }
    }

    /// The variant with this exact name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "lines" => Some(Self::Lines),
            "parser" => Some(Self::Parser),
            _ => None,
        }
    }
}
