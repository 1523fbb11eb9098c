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

        impl $crate::settings::Field for $Name {
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
