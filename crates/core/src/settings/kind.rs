//! What a knob accepts: the check of a value, the reading of untyped text, and the words for both.

use serde_json::{Number, Value};

/// The type and range of a knob.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ValueKind {
    /// `true` or `false`.
    Flag,
    /// A number in a closed range, or one of a few words.
    Fraction {
        /// Smallest accepted value.
        min: f64,
        /// Largest accepted value.
        max: f64,
        /// Words accepted in place of a number.
        words: &'static [&'static str],
    },
    /// A whole number in a closed range, or one of a few words.
    Whole {
        /// Smallest accepted value.
        min: u64,
        /// Largest accepted value.
        max: u64,
        /// What is counted.
        unit: Unit,
        /// Words accepted in place of a number.
        words: &'static [&'static str],
    },
    /// One of a list of names.
    Choice {
        /// The names.
        names: &'static [&'static str],
    },
    /// Free text, or nothing.
    Text,
    /// A list of names.
    Names,
    /// A list of texts; as plain text one in each line.
    Texts,
}

/// What a whole number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Things that have no unit of their own: messages, attempts.
    Items,
    /// Tokens of the model.
    Tokens,
    /// Bytes of the request body.
    Bytes,
}

/// Why a value is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The value has another type.
    WrongType,
    /// The type is right, the number is not.
    OutOfRange,
    /// The text is none of the accepted names.
    UnknownName,
}

/// A closed range of fractions.
pub const fn fraction(min: f64, max: f64) -> ValueKind {
    ValueKind::Fraction { min, max, words: &[] }
}

/// A count of things.
pub const fn count(min: u64, max: u64) -> ValueKind {
    ValueKind::Whole { min, max, unit: Unit::Items, words: &[] }
}

/// A number of tokens.
pub const fn tokens(min: u64, max: u64) -> ValueKind {
    ValueKind::Whole { min, max, unit: Unit::Tokens, words: &[] }
}

/// A number of bytes.
pub const fn bytes(min: u64, max: u64) -> ValueKind {
    ValueKind::Whole { min, max, unit: Unit::Bytes, words: &[] }
}

/// One of these names.
pub const fn choice(names: &'static [&'static str]) -> ValueKind {
    ValueKind::Choice { names }
}

impl ValueKind {
    /// The same numbers, or one of `words`.
    pub const fn or(self, words: &'static [&'static str]) -> ValueKind {
        match self {
            ValueKind::Fraction { min, max, .. } => ValueKind::Fraction { min, max, words },
            ValueKind::Whole { min, max, unit, .. } => ValueKind::Whole { min, max, unit, words },
            other => other,
        }
    }

    /// Checks a typed value, as a file gives it. The result is in canonical form: `200k` becomes 200000.
    pub fn check(&self, value: &Value) -> Result<Value, Fault> {
        match self {
            ValueKind::Flag => value.as_bool().map(Value::from).ok_or(Fault::WrongType),
            ValueKind::Fraction { min, max, words } => match value {
                Value::String(word) => named(word, words),
                _ => {
                    let number = value.as_f64().ok_or(Fault::WrongType)?;
                    let inside = *min <= number && number <= *max;
                    if inside { Ok(Value::from(number)) } else { Err(Fault::OutOfRange) }
                }
            },
            ValueKind::Whole { min, max, unit, words } => {
                let number = match value {
                    Value::String(word) => match shorthand(word, *unit) {
                        Some(number) => number,
                        None => return named(word, words),
                    },
                    Value::Number(number) => whole(number)?,
                    _ => return Err(Fault::WrongType),
                };
                let inside = (*min..=*max).contains(&number);
                if inside { Ok(Value::from(number)) } else { Err(Fault::OutOfRange) }
            }
            ValueKind::Choice { names } => match value {
                Value::String(name) => named(name, names),
                _ => Err(Fault::WrongType),
            },
            ValueKind::Text => match value {
                Value::Null | Value::String(_) => Ok(value.clone()),
                _ => Err(Fault::WrongType),
            },
            ValueKind::Names | ValueKind::Texts => match value {
                Value::Array(items) if items.iter().all(Value::is_string) => Ok(value.clone()),
                _ => Err(Fault::WrongType),
            },
        }
    }

    /// Reads untyped text, as the environment and flags give it, and checks it.
    pub fn read(&self, text: &str) -> Result<Value, Fault> {
        let text = text.trim();
        let value = match self {
            ValueKind::Flag => match text {
                "true" | "on" | "yes" | "1" => Value::from(true),
                "false" | "off" | "no" | "0" => Value::from(false),
                _ => return Err(Fault::WrongType),
            },
            ValueKind::Fraction { .. } | ValueKind::Whole { .. } => number(text),
            ValueKind::Choice { .. } => Value::from(text),
            ValueKind::Text => match text {
                "" | "null" => Value::Null,
                _ => Value::from(text),
            },
            ValueKind::Texts => text.lines().map(str::trim).filter(|text| !text.is_empty()).map(Value::from).collect(),
            ValueKind::Names => {
                text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(Value::from).collect()
            }
        };
        self.check(&value)
    }

    /// What would have been accepted, as the end of a sentence that starts with "expected".
    pub fn expected(&self) -> String {
        match self {
            ValueKind::Flag => "true or false".to_owned(),
            ValueKind::Fraction { min, max, words } => {
                format!("a number from {min} to {max}{}", alternatives(words))
            }
            ValueKind::Whole { min, max, unit, words } => {
                let noun = match unit {
                    Unit::Items => "a whole number",
                    Unit::Tokens => "a number of tokens",
                    Unit::Bytes => "a number of bytes",
                };
                format!("{noun} from {min} to {max}{}", alternatives(words))
            }
            ValueKind::Choice { names } => format!("one of {}", names.join(", ")),
            ValueKind::Text => "text or null".to_owned(),
            ValueKind::Names => "a list of names".to_owned(),
            ValueKind::Texts => "a list of texts".to_owned(),
        }
    }

    /// The numbers at the edges of the range.
    pub fn bounds(&self) -> Vec<Value> {
        match self {
            ValueKind::Fraction { min, max, .. } => vec![Value::from(*min), Value::from(*max)],
            ValueKind::Whole { min, max, .. } => vec![Value::from(*min), Value::from(*max)],
            _ => Vec::new(),
        }
    }

    /// The words that are accepted: the names of a choice, or those that stand in for a number.
    pub fn words(&self) -> &'static [&'static str] {
        match self {
            ValueKind::Fraction { words, .. } | ValueKind::Whole { words, .. } => words,
            ValueKind::Choice { names } => names,
            ValueKind::Flag | ValueKind::Text | ValueKind::Names | ValueKind::Texts => &[],
        }
    }
}

/// `, or auto`, for numbers that have words beside them.
fn alternatives(words: &[&str]) -> String {
    if words.is_empty() { String::new() } else { format!(", or {}", words.join(" or ")) }
}

/// Accepts `word` when it is one of `words`.
fn named(word: &str, words: &[&str]) -> Result<Value, Fault> {
    if words.contains(&word) {
        Ok(Value::from(word))
    } else if words.is_empty() {
        Err(Fault::WrongType)
    } else {
        Err(Fault::UnknownName)
    }
}

/// A JSON number when the text is one, else the text.
fn number(text: &str) -> Value {
    match serde_json::from_str::<Number>(text) {
        Ok(number) => Value::Number(number),
        // Text such as `.5` or `+3` is a number to people and to Rust, but not to JSON.
        Err(_) => match text.parse::<f64>().ok().and_then(Number::from_f64) {
            Some(number) => Value::Number(number),
            None => Value::from(text),
        },
    }
}

/// A whole number, also when it is written `20000.0` or `2e4`.
fn whole(number: &Number) -> Result<u64, Fault> {
    if let Some(n) = number.as_u64() {
        return Ok(n);
    }
    match number.as_f64() {
        Some(n) if n.fract() != 0.0 => Err(Fault::WrongType),
        // Above 2^53 a float no longer names one whole number.
        Some(n) if (0.0..9_007_199_254_740_992.0).contains(&n) => Ok(n as u64),
        _ => Err(Fault::OutOfRange),
    }
}

/// `200k` and `1.5M` for tokens and bytes: decimal, as vendors write windows.
fn shorthand(word: &str, unit: Unit) -> Option<u64> {
    if unit == Unit::Items {
        return None;
    }
    let scale = match word.as_bytes().last()? {
        b'k' | b'K' => 1_000.0,
        b'm' | b'M' => 1_000_000.0,
        _ => return None,
    };
    let digits = word.get(..word.len() - 1)?;
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let number = digits.parse::<f64>().ok().filter(|_| plain)? * scale;
    (number < 9.0e15).then(|| number.round() as u64)
}
