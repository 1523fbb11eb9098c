//! Sections of settings, each declared where it is used and composed by the program: what users may write, which value
//! wins, and where it came from.

use super::choice::Preset;
use super::error::{PolicyError, Problem};
use super::knob::Knob;
use super::layer::{Layer, Origin, Setting};
use super::{docs, nearest, schema};
use serde_json::Value;
use std::collections::BTreeMap;

/// One section as data.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    /// Its name in a settings file.
    pub name: &'static str,
    /// Its knobs, in the order of the documentation.
    pub knobs: &'static [Knob],
    /// Pairs of knobs that are checked after all layers are in place.
    pub relations: &'static [Relation],
    /// Keys of earlier releases, and what to do instead.
    pub retired: &'static [(&'static str, &'static str)],
}

/// Two knobs that must agree.
#[derive(Debug)]
pub struct Relation {
    /// The knob that is blamed.
    pub key: &'static str,
    /// How it stands to the other.
    pub order: Order,
    /// The knob it is measured against.
    pub other: &'static str,
}

/// How one number stands to another.
#[derive(Debug, Clone, Copy)]
pub enum Order {
    /// Strictly less.
    Below,
    /// Less or equal.
    AtMost,
}

impl Order {
    fn holds(&self, left: f64, right: f64) -> bool {
        match self {
            Self::Below => left < right,
            Self::AtMost => left <= right,
        }
    }

    fn words(&self) -> &'static str {
        match self {
            Self::Below => "a number below",
            Self::AtMost => "a number of at most",
        }
    }
}

/// A section with a type of its own; [`section!`](crate::section) declares one.
pub trait Section: Sized {
    /// The section as data.
    const TABLE: Table;

    /// Placeholders in all fields; the defaults of the table overwrite each of them.
    fn blank() -> Self;
    /// Stores a checked value; false when there is no such field or the shape does not fit.
    fn put(&mut self, name: &str, value: &Value) -> bool;
    /// The value of a field, as it would be written in a file.
    fn value(&self, name: &str) -> Option<Value>;

    /// The values of a preset, with nothing laid over them.
    fn of(preset: Preset) -> Self {
        let mut section = Self::blank();
        for knob in Self::TABLE.knobs {
            section.put(knob.name(), &knob.canonical_in(preset));
        }
        section
    }

    /// Rows whose texts, words or bounds do not fit their field: none, as a test of each section shows.
    fn misfits() -> Vec<String> {
        let mut found = Vec::new();
        for knob in Self::TABLE.knobs {
            let texts = knob.presets.iter().map(|(_, text)| *text).chain([knob.default]);
            let read =
                texts.map(|text| knob.kind.read(text).map_err(|fault| format!("{}: {text}: {fault:?}", knob.key)));
            let words = knob.kind.words().iter().map(|word| Ok(Value::from(*word)));
            for value in read.chain(words).chain(knob.kind.bounds().into_iter().map(Ok)) {
                let mut section = Self::blank();
                match value {
                    Err(fault) => found.push(fault),
                    Ok(value) if !section.put(knob.name(), &value) => {
                        found.push(format!("{}: {value} does not fit", knob.key));
                    }
                    Ok(value) if section.value(knob.name()) != Some(value.clone()) => {
                        found.push(format!("{}: {value} comes back as another", knob.key));
                    }
                    Ok(value) if knob.kind.check(&value) != Ok(value.clone()) => {
                        found.push(format!("{}: {value} comes back and is refused", knob.key));
                    }
                    Ok(_) => {}
                }
            }
        }
        found
    }
}

/// The setting that names a preset.
const PRESET: &str = "compression.preset";

/// The sections that a program reads from its settings.
#[derive(Debug, Clone)]
pub struct Sections {
    tables: Vec<Table>,
}

/// All settings in effect, and where each came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    /// Key, value and origin, in the order of the documentation.
    entries: Vec<(&'static str, Value, Origin)>,
    preset: Preset,
}

impl Resolved {
    /// Key, value and origin, in the order of the documentation.
    pub fn entries(&self) -> impl Iterator<Item = (&'static str, &Value, &Origin)> {
        self.entries.iter().map(|(key, value, origin)| (*key, value, origin))
    }

    /// The value of a key.
    pub fn value(&self, key: &str) -> Option<&Value> {
        self.entries().find(|(entry, ..)| *entry == key).map(|(_, value, _)| value)
    }

    /// Where the value of a key came from.
    pub fn origin(&self, key: &str) -> Option<&Origin> {
        self.entries().find(|(entry, ..)| *entry == key).map(|(.., origin)| origin)
    }

    /// One of the sections, typed.
    pub fn section<S: Section>(&self) -> S {
        let mut section = S::of(self.preset);
        for knob in S::TABLE.knobs {
            if let Some(value) = self.value(knob.key) {
                section.put(knob.name(), value);
            }
        }
        section
    }
}

impl Sections {
    /// These sections, in this order.
    pub fn new(tables: impl IntoIterator<Item = Table>) -> Sections {
        Sections { tables: tables.into_iter().collect() }
    }

    /// All knobs, in the order of the documentation.
    pub fn knobs(&self) -> Vec<&'static Knob> {
        self.tables.iter().flat_map(|table| table.knobs).collect()
    }

    /// The knob with this exact key.
    pub fn knob(&self, key: &str) -> Option<&'static Knob> {
        self.tables.iter().flat_map(|table| table.knobs).find(|knob| knob.key == key)
    }

    /// Whether there is a section of this name.
    pub fn has(&self, section: &str) -> bool {
        self.tables.iter().any(|table| table.name == section)
    }

    /// The key a user most likely meant, if one is close enough to be worth naming.
    pub fn nearest_key(&self, typed: &str) -> Option<&'static str> {
        nearest::nearest_key(&self.knobs(), typed)
    }

    /// The JSON Schema of a settings file.
    pub fn json_schema(&self) -> Value {
        schema::json_schema(&self.knobs())
    }

    /// The documentation: a Markdown table per section with key, default, range, meaning, and what presets change.
    pub fn markdown(&self) -> String {
        docs::markdown(&self.knobs())
    }

    /// Lays `layers` over the defaults; later ones win. The preset that the highest layer names sits right
    /// above the defaults, wherever it was named. All problems are reported, not only the first.
    pub fn resolve(&self, layers: &[Layer]) -> Result<Resolved, Vec<PolicyError>> {
        let mut errors = Vec::new();
        let mut chosen: BTreeMap<&'static str, (Value, Origin)> = BTreeMap::new();
        for layer in layers {
            let mut seen: BTreeMap<&'static str, &Origin> = BTreeMap::new();
            for setting in &layer.settings {
                match self.checked(setting, &seen) {
                    Ok((key, value)) => {
                        seen.insert(key, &setting.origin);
                        chosen.insert(key, (value, setting.origin.clone()));
                    }
                    Err(problem) => {
                        errors.push(PolicyError { key: setting.key.clone(), origin: setting.origin.clone(), problem })
                    }
                }
            }
        }
        let preset = chosen.get(PRESET).and_then(|(value, _)| Preset::named(value.as_str()?));
        let preset = preset.unwrap_or(Preset::DEFAULT);
        let mut entries = Vec::new();
        for knob in self.knobs() {
            let (value, origin) = chosen.remove(knob.key).unwrap_or_else(|| {
                let origin = knob.preset(preset).map_or(Origin::Default, |_| Origin::Preset(preset));
                (knob.canonical_in(preset), origin)
            });
            entries.push((knob.key, value, origin));
        }
        let resolved = Resolved { entries, preset };
        errors.extend(self.contradictions(&resolved));
        if errors.is_empty() { Ok(resolved) } else { Err(errors) }
    }

    /// The table's key and the canonical value of a setting.
    fn checked(
        &self,
        setting: &Setting,
        seen: &BTreeMap<&'static str, &Origin>,
    ) -> Result<(&'static str, Value), Problem> {
        let Some(knob) = self.knob(&setting.key) else {
            let mut retired = self.tables.iter().flat_map(|table| table.retired);
            if let Some((_, instead)) =
                retired.find(|(key, _)| *key == setting.key || key.ends_with(&format!(".{}", setting.key)))
            {
                return Err(Problem::Retired { instead });
            }
            return Err(if self.has(&setting.key) {
                let expected = "a section with keys of its own".to_owned();
                Problem::WrongType { value: setting.given.to_string(), expected }
            } else {
                Problem::UnknownKey { nearest: self.nearest_key(&setting.key) }
            });
        };
        // A flag given twice is how shells override aliases; a line given twice in a file is a mistake.
        if let (Origin::File { .. }, Some(first)) = (&setting.origin, seen.get(knob.key)) {
            return Err(Problem::Twice { first: format!("at {first}") });
        }
        knob.check(&setting.given).map(|value| (knob.key, value))
    }

    /// Pairs of knobs that disagree. Only a value that somebody chose is blamed: where a preset's low-water
    /// mark meets a lower trigger, the budgets give way by themselves.
    fn contradictions(&self, resolved: &Resolved) -> Vec<PolicyError> {
        let mut errors = Vec::new();
        for relation in self.tables.iter().flat_map(|table| table.relations) {
            let (Some(value), Some(other_value)) = (resolved.value(relation.key), resolved.value(relation.other))
            else {
                continue;
            };
            let (Some(left), Some(right)) = (value.as_f64(), other_value.as_f64()) else { continue };
            let Some(origin) = resolved.origin(relation.key).filter(|origin| origin.is_chosen()) else {
                continue;
            };
            if !relation.order.holds(left, right) {
                errors.push(PolicyError {
                    key: relation.key.to_owned(),
                    origin: origin.clone(),
                    problem: Problem::Contradiction {
                        value: value.to_string(),
                        other: relation.other,
                        other_value: other_value.to_string(),
                        expected: format!("{} {}", relation.order.words(), relation.other),
                    },
                });
            }
        }
        errors
    }
}
