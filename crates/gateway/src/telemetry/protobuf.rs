//! Writes Protocol Buffers: the few kinds of fields that OTLP has (<https://protobuf.dev/programming-guides/encoding/>).
//! Fields with default values are left out.

/// A message that is being written.
#[derive(Clone, Debug, Default)]
pub struct Message(Vec<u8>);

const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const BYTES: u64 = 2;
const FIXED32: u64 = 5;

impl Message {
    /// The bytes of what was written.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn key(&mut self, field: u64, kind: u64) {
        self.varint(field << 3 | kind);
    }

    /// An integer or a value of an enumeration.
    pub fn number(mut self, field: u64, value: u64) -> Message {
        if value != 0 {
            self = self.set_number(field, value);
        }
        self
    }

    /// The same in a field that tells 0 from nothing: one of several kinds of value.
    pub fn set_number(mut self, field: u64, value: u64) -> Message {
        self.key(field, VARINT);
        self.varint(value);
        self
    }

    /// Eight bytes.
    pub fn fixed64(mut self, field: u64, value: u64) -> Message {
        if value != 0 {
            self.key(field, FIXED64);
            self.0.extend_from_slice(&value.to_le_bytes());
        }
        self
    }

    /// Four bytes.
    pub fn fixed32(mut self, field: u64, value: u32) -> Message {
        if value != 0 {
            self.key(field, FIXED32);
            self.0.extend_from_slice(&value.to_le_bytes());
        }
        self
    }

    /// A double in a field that tells 0 from nothing.
    pub fn set_double(mut self, field: u64, value: f64) -> Message {
        self.key(field, FIXED64);
        self.0.extend_from_slice(&value.to_bits().to_le_bytes());
        self
    }

    /// Text.
    pub fn text(self, field: u64, text: &str) -> Message {
        self.bytes(field, text.as_bytes())
    }

    /// Bytes.
    pub fn bytes(mut self, field: u64, bytes: &[u8]) -> Message {
        if !bytes.is_empty() {
            self = self.set_bytes(field, bytes);
        }
        self
    }

    /// The same in a field that tells the empty one from nothing.
    pub fn set_bytes(mut self, field: u64, bytes: &[u8]) -> Message {
        self.key(field, BYTES);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    /// A message within this one.
    pub fn message(self, field: u64, inner: Message) -> Message {
        self.set_bytes(field, &inner.0)
    }

    /// Several of them.
    pub fn messages(self, field: u64, all: impl IntoIterator<Item = Message>) -> Message {
        all.into_iter().fold(self, |outer, inner| outer.message(field, inner))
    }

    /// Numbers of eight bytes, without a key for each.
    pub fn packed(self, field: u64, values: impl IntoIterator<Item = u64>) -> Message {
        let bytes: Vec<u8> = values.into_iter().flat_map(u64::to_le_bytes).collect();
        self.bytes(field, &bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_specification() {
        assert_eq!(Message::default().number(1, 150).into_bytes(), [0x08, 0x96, 0x01]);
        assert_eq!(Message::default().text(2, "testing").into_bytes(), b"\x12\x07testing");
        let inner = Message::default().number(1, 150);
        assert_eq!(Message::default().message(3, inner).into_bytes(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
        assert!(Message::default().number(1, 0).text(2, "").fixed64(3, 0).into_bytes().is_empty());
        assert_eq!(Message::default().set_number(3, 0).into_bytes(), [0x18, 0x00]);
        assert_eq!(Message::default().fixed64(1, 1).into_bytes(), [0x09, 1, 0, 0, 0, 0, 0, 0, 0]);
    }
}
