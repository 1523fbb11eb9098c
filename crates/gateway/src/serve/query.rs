//! Query parameters: known names only, each at most once, decoded.

use std::fmt::Display;
use std::str::FromStr;

/// What stands behind the question mark.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters {
    pairs: Vec<(String, String)>,
}

/// What is wrong with parameters, for the client.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParameterError {
    /// One that the page does not know.
    #[error("unknown parameter `{name}`; expected {known}")]
    Unknown {
        /// Its name.
        name: String,
        /// Those that it knows.
        known: String,
    },
    /// One that is there more than once.
    #[error("parameter `{0}` is given more than once")]
    Twice(String),
    /// Bytes that are no text.
    #[error("`{0}` is not percent-encoded UTF-8")]
    Encoding(String),
    /// A value that is none.
    #[error("{name}={value}: {problem}")]
    Value {
        /// Its name.
        name: String,
        /// Its value.
        value: String,
        /// What is wrong with it.
        problem: String,
    },
}

/// A mistaken value can be long; errors repeat this many characters of it.
const QUOTED: usize = 60;

impl Parameters {
    /// Reads the query of an address.
    pub fn read(query: Option<&str>, known: &[&str]) -> Result<Parameters, ParameterError> {
        let mut pairs: Vec<(String, String)> = Vec::new();
        for pair in query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let decode = |text| decoded(text).ok_or_else(|| ParameterError::Encoding(quoted(text)));
            let (name, value) = (decode(name)?, decode(value)?);
            if !known.contains(&name.as_str()) {
                return Err(ParameterError::Unknown { name: quoted(&name), known: known.join(", ") });
            }
            if pairs.iter().any(|(other, _)| *other == name) {
                return Err(ParameterError::Twice(name));
            }
            pairs.push((name, value));
        }
        Ok(Parameters { pairs })
    }

    /// A value that says something.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.pairs
            .iter()
            .find(|(other, _)| other == name)
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    }

    /// A value of a type.
    pub fn parse<T: FromStr<Err: Display>>(&self, name: &str) -> Result<Option<T>, ParameterError> {
        let parsed = self.get(name).map(|value| value.parse().map_err(|error: T::Err| self.wrong(name, error)));
        parsed.transpose()
    }

    /// A whole number within bounds.
    pub fn number(&self, name: &str, least: usize, most: usize) -> Result<Option<usize>, ParameterError> {
        let expected = || self.wrong(name, format!("expected a whole number from {least} to {most}"));
        let number = self.get(name).map(|value| value.parse().ok().filter(|number| (least..=most).contains(number)));
        number.map(|number| number.ok_or_else(expected)).transpose()
    }

    /// Whether a switch is on.
    pub fn switch(&self, name: &str) -> Result<bool, ParameterError> {
        match self.get(name) {
            None | Some("0" | "false") => Ok(false),
            Some("1" | "true") => Ok(true),
            Some(_) => Err(self.wrong(name, "expected 1 or 0")),
        }
    }

    /// What is wrong with a value.
    pub fn wrong(&self, name: &str, problem: impl Display) -> ParameterError {
        let value = quoted(self.get(name).unwrap_or_default());
        ParameterError::Value { name: name.to_owned(), value, problem: problem.to_string() }
    }
}

fn quoted(text: &str) -> String {
    text.chars().take(QUOTED).flat_map(char::escape_debug).collect()
}

/// A name or value as it was before it was put into an address.
pub fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit = || rest.next().and_then(|digit| char::from(digit).to_digit(16));
                u8::try_from(digit()? * 16 + digit()?).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[&str] = &["q", "page", "raw"];

    fn read(query: &str) -> Result<Parameters, String> {
        Parameters::read(Some(query), KNOWN).map_err(|error| error.to_string())
    }

    #[test]
    fn values_are_decoded() {
        let parameters = read("q=a+b%20%C3%A9%26%3D&page=7&&raw=").unwrap();
        assert_eq!(parameters.get("q"), Some("a b é&="));
        assert_eq!((parameters.number("page", 1, 9), parameters.switch("raw")), (Ok(Some(7)), Ok(false)));
        assert_eq!(Parameters::read(None, KNOWN), Ok(Parameters::default()));
    }

    #[test]
    fn mistakes_are_named() {
        assert_eq!(read("line=1").unwrap_err(), "unknown parameter `line`; expected q, page, raw");
        assert_eq!(read("q=1&q=2").unwrap_err(), "parameter `q` is given more than once");
        for wrong in ["q=%", "q=%1", "q=%zz", "q=%ff"] {
            assert!(read(wrong).unwrap_err().ends_with("is not percent-encoded UTF-8"), "{wrong}");
        }
        let page = read("page=0").unwrap().number("page", 1, 9).unwrap_err();
        assert_eq!(page.to_string(), "page=0: expected a whole number from 1 to 9");
        assert_eq!(read("raw=yes").unwrap().switch("raw").unwrap_err().to_string(), "raw=yes: expected 1 or 0");
        let long = read(&format!("page={}", "9".repeat(5_000))).unwrap().number("page", 1, 9).unwrap_err();
        assert!(long.to_string().len() < 200);
    }
}
