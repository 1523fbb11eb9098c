//! How a section is declared.

/// Declares a section of settings: a type with a field for each row, and the table that defaults, presets, ranges, error
/// messages, documentation and schema come from.
///
/// A row has a line of documentation, `name: type = kind, "default"`, and the presets that differ. `relations` and
/// `retired` may follow the rows: pairs that must agree, and keys of earlier releases with what to do instead.
///
/// ```
/// use foldline_core::settings::{Section, Sections, ValueKind, count};
///
/// foldline_core::section! {
///     /// Where ships lie.
///     Harbour = "harbour" {
///         /// Open at all.
///         open: bool = ValueKind::Flag, "true";
///         /// Ships that find room.
///         berths: u32 = count(1, 100), "12", [Frugal] "6";
///     }
/// }
///
/// let sections = Sections::new([Harbour::TABLE]);
/// let resolved = sections.resolve(&[]).unwrap();
/// assert_eq!(resolved.section::<Harbour>().berths, 12);
/// assert!(Harbour::misfits().is_empty());
/// ```
#[macro_export]
macro_rules! section {
    (
        $(#[$about:meta])*
        $Section:ident = $name:literal {
            $(
                #[doc = $doc:literal]
                $field:ident: $type:ty = $kind:expr, $default:expr
                    $(, [$($preset:ident),+] $value:literal)*;
            )+
        }
        $(relations $relations:expr;)?
        $(retired $retired:expr;)?
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $Section {
            $(#[doc = $doc] pub $field: $type,)+
        }

        impl $crate::settings::Section for $Section {
            const TABLE: $crate::settings::Table = $crate::settings::Table {
                name: $name,
                knobs: &[$(
                    $crate::settings::Knob {
                        key: concat!($name, ".", stringify!($field)),
                        kind: $kind,
                        doc: $doc,
                        default: $default,
                        presets: &[$((&[$($crate::settings::Preset::$preset),+], $value)),*],
                    },
                )+],
                relations: $crate::first!($($relations,)? &[]),
                retired: $crate::first!($($retired,)? &[]),
            };

            fn blank() -> Self {
                Self { $($field: <$type as $crate::settings::Field>::blank(),)+ }
            }

            fn put(&mut self, name: &str, value: &$crate::settings::Value) -> bool {
                match name {
                    $(stringify!($field) => $crate::settings::Field::take(&mut self.$field, value),)+
                    _ => false,
                }
            }

            fn value(&self, name: &str) -> Option<$crate::settings::Value> {
                match name {
                    $(stringify!($field) => Some($crate::settings::Field::give(&self.$field)),)+
                    _ => None,
                }
            }
        }

        impl Default for $Section {
            fn default() -> Self {
                <Self as $crate::settings::Section>::of($crate::settings::Preset::DEFAULT)
            }
        }
    };
}

/// The first of some expressions.
#[doc(hidden)]
#[macro_export]
macro_rules! first {
    ($first:expr $(, $rest:expr)*) => {
        $first
    };
}
