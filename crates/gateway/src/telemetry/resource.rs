//! Who reports: resource, scope, and attributes, which both signals share.

use super::protobuf::Message;

/// A value of an attribute. Never content of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Text.
    Text(String),
    /// A number.
    Number(u64),
    /// Yes or no.
    Flag(bool),
    /// A measure.
    Measure(f64),
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Value {
        Value::Number(number)
    }
}

impl From<u16> for Value {
    fn from(number: u16) -> Value {
        Value::Number(number.into())
    }
}

impl From<u8> for Value {
    fn from(number: u8) -> Value {
        Value::Number(number.into())
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Value {
        Value::Flag(flag)
    }
}

impl From<f64> for Value {
    fn from(measure: f64) -> Value {
        Value::Measure(measure)
    }
}

/// `KeyValue` of `common.proto`.
pub(super) fn attribute(key: &str, value: &Value) -> Message {
    let any = Message::default();
    let any = match value {
        Value::Text(text) => any.set_bytes(1, text.as_bytes()),
        Value::Flag(flag) => any.set_number(2, u64::from(*flag)),
        Value::Number(number) => any.set_number(3, *number),
        Value::Measure(measure) => any.set_double(4, *measure),
    };
    Message::default().text(1, key).message(2, any)
}

/// `Resource` of `resource.proto`.
pub(super) fn resource(attributes: &[(String, String)]) -> Message {
    Message::default().messages(1, attributes.iter().map(|(key, value)| attribute(key, &value.as_str().into())))
}

/// `InstrumentationScope` of `common.proto`.
pub(super) fn scope() -> Message {
    Message::default().text(1, env!("CARGO_PKG_NAME")).text(2, env!("CARGO_PKG_VERSION"))
}
