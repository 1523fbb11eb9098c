//! How a checked value gets into a typed field of the policy, and out again.

use serde_json::Value;

/// A number that the user fixes, or leaves to be derived from the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AutoOr<T> {
    /// Derived, usually from the window.
    Auto,
    /// What the user said.
    Fixed(T),
}

impl<T> AutoOr<T> {
    /// The fixed value, or what `derive` makes.
    pub fn or_else(self, derive: impl FnOnce() -> T) -> T {
        match self {
            Self::Auto => derive(),
            Self::Fixed(value) => value,
        }
    }

    /// The fixed value, if there is one.
    pub fn fixed(self) -> Option<T> {
        match self {
            Self::Auto => None,
            Self::Fixed(value) => Some(value),
        }
    }
}

/// A type that a knob can have. `take` refuses a value of another shape, so that a table row whose kind
/// and field disagree is found by the tests and not by a user.
pub trait Field {
    /// A placeholder that the defaults of the table overwrite.
    fn blank() -> Self;
    /// Stores the value; false when the shape does not fit.
    fn take(&mut self, value: &Value) -> bool;
    /// The value as it would be written in a file.
    fn give(&self) -> Value;
}

/// Stores `read`, if there is something to store.
fn put<T>(slot: &mut T, read: Option<T>) -> bool {
    match read {
        Some(value) => {
            *slot = value;
            true
        }
        None => false,
    }
}

impl Field for bool {
    fn blank() -> Self {
        false
    }
    fn take(&mut self, value: &Value) -> bool {
        put(self, value.as_bool())
    }
    fn give(&self) -> Value {
        Value::from(*self)
    }
}

impl Field for u32 {
    fn blank() -> Self {
        0
    }
    fn take(&mut self, value: &Value) -> bool {
        put(self, value.as_u64().and_then(|n| u32::try_from(n).ok()))
    }
    fn give(&self) -> Value {
        Value::from(*self)
    }
}

impl Field for u64 {
    fn blank() -> Self {
        0
    }
    fn take(&mut self, value: &Value) -> bool {
        put(self, value.as_u64())
    }
    fn give(&self) -> Value {
        Value::from(*self)
    }
}

impl Field for f64 {
    fn blank() -> Self {
        0.0
    }
    fn take(&mut self, value: &Value) -> bool {
        put(self, value.as_f64())
    }
    fn give(&self) -> Value {
        Value::from(*self)
    }
}

impl Field for Option<String> {
    fn blank() -> Self {
        None
    }
    fn take(&mut self, value: &Value) -> bool {
        match value {
            Value::Null => put(self, Some(None)),
            Value::String(text) => put(self, Some(Some(text.clone()))),
            _ => false,
        }
    }
    fn give(&self) -> Value {
        Value::from(self.clone())
    }
}

impl Field for Vec<String> {
    fn blank() -> Self {
        Vec::new()
    }
    fn take(&mut self, value: &Value) -> bool {
        let names = value
            .as_array()
            .and_then(|items| items.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>());
        put(self, names)
    }
    fn give(&self) -> Value {
        Value::from(self.clone())
    }
}

/// The word for a derived value.
const AUTO: &str = "auto";

impl<T: Field> Field for AutoOr<T> {
    fn blank() -> Self {
        Self::Auto
    }
    fn take(&mut self, value: &Value) -> bool {
        if value.as_str() == Some(AUTO) {
            return put(self, Some(Self::Auto));
        }
        let mut inner = T::blank();
        let fits = inner.take(value);
        fits && put(self, Some(Self::Fixed(inner)))
    }
    fn give(&self) -> Value {
        match self {
            Self::Auto => Value::from(AUTO),
            Self::Fixed(value) => value.give(),
        }
    }
}
