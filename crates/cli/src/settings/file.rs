//! Settings from a YAML file: sections of keys, each key with its line.

use std::fmt;
use std::path::Path;

use foldline_core::settings::{Given, Layer, Origin, Setting};
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use serde_saphyr::Spanned;

use super::SettingsError;

/// A YAML node that remembers the lines of its keys.
enum Node {
    Mapping(Vec<(Spanned<String>, Node)>),
    Sequence(Vec<Node>),
    Scalar(Value),
}

/// Reads a file into settings. What stands two levels deep is a key; what is deeper is its value.
pub fn layer(path: &Path, text: &str) -> Result<Layer, SettingsError> {
    let node = if holds_nothing(text) { Node::Scalar(Value::Null) } else { yaml(path, text)? };
    let mut settings = Vec::new();
    let mut add = |key: String, line: u64, node: Node| {
        let origin = Origin::File { path: path.display().to_string(), line: u32::try_from(line).unwrap_or(u32::MAX) };
        settings.push(Setting { key, given: Given::Value(node.into_value()), origin });
    };
    match node {
        Node::Mapping(sections) => {
            for (section, node) in sections {
                match node {
                    Node::Mapping(keys) => {
                        for (key, node) in keys {
                            add(format!("{}.{}", section.value, key.value), key.referenced.line(), node);
                        }
                    }
                    // A section with all its lines commented out.
                    Node::Scalar(Value::Null) => {}
                    other => add(section.value, section.referenced.line(), other),
                }
            }
        }
        Node::Scalar(Value::Null) => {}
        Node::Sequence(_) | Node::Scalar(_) => {
            let message = "expected sections such as `compression:` that contain keys".to_owned();
            return Err(SettingsError::Syntax { path: path.to_owned(), line: 1, column: 1, message });
        }
    }
    Ok(Layer { settings })
}

/// Reads YAML, of which JSON is a part.
pub(super) fn yaml<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, SettingsError> {
    // `on` and `no` stay text, so that a value means the same here as in the schema.
    let options = serde_saphyr::options! { strict_booleans: true, with_snippet: false };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| syntax(path, &error))
}

/// True when there are only comments and blank lines.
fn holds_nothing(text: &str) -> bool {
    text.lines().map(str::trim).all(|line| line.is_empty() || line.starts_with('#'))
}

/// The parser's complaint, with its place said once and in our form.
fn syntax(path: &Path, error: &serde_saphyr::Error) -> SettingsError {
    let place = error.location();
    let message = error.without_snippet().render_with_formatter(&serde_saphyr::UserMessageFormatter);
    SettingsError::Syntax {
        path: path.to_owned(),
        line: place.map_or(1, |place| place.line()),
        column: place.map_or(1, |place| place.column()),
        message,
    }
}

impl Node {
    fn into_value(self) -> Value {
        match self {
            Self::Scalar(value) => value,
            Self::Sequence(items) => items.into_iter().map(Self::into_value).collect(),
            Self::Mapping(entries) => {
                let pairs = entries.into_iter().map(|(key, node)| (key.value, node.into_value()));
                Value::Object(pairs.collect::<Map<_, _>>())
            }
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a setting")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Scalar(Value::from(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Scalar(Value::from(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Scalar(Value::from(value)))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Node, E> {
        match serde_json::Number::from_f64(value) {
            Some(number) => Ok(Node::Scalar(Value::Number(number))),
            None => Err(E::custom("a number must be finite")),
        }
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Scalar(Value::from(value)))
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Scalar(Value::Null))
    }

    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node::Scalar(Value::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        Node::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
        let mut nodes = Vec::new();
        while let Some(node) = items.next_element()? {
            nodes.push(node);
        }
        Ok(Node::Sequence(nodes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            let value = map.next_value::<Node>()?;
            if key.value.is_empty() {
                return Err(A::Error::custom("a key must not be empty"));
            }
            entries.push((key, value));
        }
        Ok(Node::Mapping(entries))
    }
}
