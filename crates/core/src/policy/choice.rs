//! Named alternatives: enums whose spelling in files, flags, reports and the schema is one list.

/// Declares an enum together with the names users type for its variants.
macro_rules! choice {
    ($(#[$meta:meta])* $Name:ident { $($(#[$doc:meta])* $Variant:ident = $name:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
        )]
        pub enum $Name {
            $($(#[$doc])* #[serde(rename = $name)] $Variant),+
        }

        impl $Name {
            /// All variants, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$Variant),+];
            /// The names users type, in the same order.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// The name as it is written in settings and reports.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$Variant => $name),+ }
            }

            /// The variant with this exact name.
            pub fn named(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$Variant),)+ _ => None }
            }
        }

        impl std::fmt::Display for $Name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl $crate::policy::field::Field for $Name {
            fn blank() -> Self {
                Self::ALL[0]
            }
            fn take(&mut self, value: &serde_json::Value) -> bool {
                match value.as_str().and_then(Self::named) {
                    Some(variant) => { *self = variant; true }
                    None => false,
                }
            }
            fn give(&self) -> serde_json::Value {
                serde_json::Value::from(self.name())
            }
        }
    };
}

pub(crate) use choice;

choice! {
    /// A named set of values for the knobs: one engine, several temperaments.
    Preset {
        /// Trigger at half of the window, tail of a fifth of the trigger.
        Hermes = "hermes",
        /// Trigger at three quarters, cut to one half, largest output first.
        SacredZone = "sacred-zone",
        /// Trigger at three quarters, tail of 20,000 tokens.
        Skill = "skill",
        /// Prune first, and only when that buys room to run.
        Runway = "runway",
        /// As `runway`, but folds when that is cheapest: by prices, pace and the age of the cache.
        Frugal = "frugal",
        /// Few and deep folds, late by what can be compacted, earlier where the cache has gone cold anyway.
        Steady = "steady",
    }
}

impl Preset {
    /// What command line, gateway and library start from where nobody names another.
    pub const DEFAULT: Preset = Preset::Steady;
}

choice! {
    /// What marks and budgets are shares of.
    Basis {
        /// The whole effective window.
        Window = "window",
        /// What is left of it beside system prompt and tools: that part alone can be compacted.
        Room = "room",
    }
}

choice! {
    /// Which outputs a prune takes first.
    PruneOrder {
        /// The largest output first: fewest edits for the same room.
        Largest = "largest",
        /// The oldest output first.
        Oldest = "oldest",
    }
}

choice! {
    /// How the definitions in source code are found when an output or a written file becomes an outline.
    #[derive(Default)]
    Outlines {
        /// By the look of lines: any language, and any part of a file.
        #[default]
        Lines = "lines",
        /// By a parser for Rust, Python, Go, TypeScript, JavaScript, Java, C and C++: finds what the look of a line does
        /// not tell, at a twentieth of the speed. Other languages, and builds without the parser, by their lines.
        Parser = "parser",
    }
}

choice! {
    /// How much of the removed text must stay reachable, from least to most.
    Fidelity {
        /// Text may be lost.
        Lossy = "lossy",
        /// The original is stored and a handle stands in its place.
        Recoverable = "recoverable",
        /// The model reads the same information.
        Exact = "exact",
    }
}

choice! {
    /// Lifetime that is asked for cached prefixes.
    CacheTtl {
        /// Five minutes, refreshed by each use.
        FiveMinutes = "5m",
        /// One hour, at a higher price for the write.
        OneHour = "1h",
    }
}

impl CacheTtl {
    /// The lifetime in seconds.
    pub const fn seconds(self) -> u32 {
        match self {
            Self::FiveMinutes => 300,
            Self::OneHour => 3600,
        }
    }
}

choice! {
    /// What an edit does to signed reasoning that comes after it.
    SignedReasoning {
        /// Nothing is signed, or signatures are not checked against the history.
        None = "none",
        /// The latest assistant turn must come back as it was sent.
        LatestTurn = "latest_turn",
        /// Every signed block is bound to all bytes before it.
        PrefixBound = "prefix_bound",
    }
}

choice! {
    /// Whose API a summariser speaks.
    Dialect {
        /// Told by the address.
        Auto = "auto",
        /// OpenAI Chat Completions, and those who speak it.
        OpenAiChat = "openai-chat",
        /// OpenAI Responses.
        OpenAiResponses = "openai-responses",
        /// Anthropic Messages.
        Anthropic = "anthropic",
        /// Google Gemini.
        Gemini = "gemini",
    }
}
