//! Server-sent events as bytes: where one ends, and what it carries. Nothing is decoded that nobody asks for.

use bytes::{Bytes, BytesMut};

/// Bytes of a stream, handed out event by event, each with the blank line that ends it.
#[derive(Default)]
pub struct Events {
    buffer: BytesMut,
    /// Up to here no event ends.
    searched: usize,
}

impl Events {
    /// Takes in a piece of the stream.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole event.
    pub fn next(&mut self) -> Option<Bytes> {
        let end = self.end()?;
        self.searched = 0;
        Some(self.buffer.split_to(end).freeze())
    }

    /// Bytes that belong to an event whose end is not there yet.
    pub fn pending(&self) -> usize {
        self.buffer.len()
    }

    /// All that is left, whole or not.
    pub fn rest(&mut self) -> Bytes {
        self.searched = 0;
        self.buffer.split().freeze()
    }

    /// Where the first event ends: after a line end that follows a line end.
    fn end(&mut self) -> Option<usize> {
        let bytes = self.buffer.as_ref();
        let mut at = self.searched;
        while let Some(&byte) = bytes.get(at) {
            let next = match byte {
                b'\n' => line_end(bytes, at + 1),
                b'\r' if bytes.get(at + 1) == Some(&b'\n') => line_end(bytes, at + 2),
                // What follows decides whether this is half of a line end.
                b'\r' if at + 1 == bytes.len() => break,
                b'\r' => line_end(bytes, at + 1),
                _ => None,
            };
            if next.is_some() {
                return next;
            }
            at += 1;
        }
        // A line end at the very end of the buffer is looked at again with what follows it.
        self.searched = bytes.len().saturating_sub(3);
        None
    }
}

/// The end of the line end that begins at `at`.
fn line_end(bytes: &[u8], at: usize) -> Option<usize> {
    match (bytes.get(at), bytes.get(at + 1)) {
        (Some(b'\n'), _) => Some(at + 1),
        (Some(b'\r'), Some(b'\n')) => Some(at + 2),
        _ => None,
    }
}

/// The name of an event; empty when it has none.
pub fn name(event: &[u8]) -> &[u8] {
    field(event, b"event:").next().unwrap_or_default()
}

/// What an event carries, its lines joined. Empty for comments.
pub fn payload(event: &[u8]) -> Vec<u8> {
    let lines: Vec<&[u8]> = field(event, b"data:").collect();
    lines.join(&b'\n')
}

fn field<'a>(event: &'a [u8], name: &'static [u8]) -> impl Iterator<Item = &'a [u8]> {
    let lines = event.split(|&byte| byte == b'\n' || byte == b'\r');
    lines.filter_map(move |line| line.strip_prefix(name)).map(|value| value.strip_prefix(b" ").unwrap_or(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(stream: &[u8], piece: usize) -> Vec<Bytes> {
        let mut events = Events::default();
        let mut out = Vec::new();
        for bytes in stream.chunks(piece) {
            events.feed(bytes);
            out.extend(std::iter::from_fn(|| events.next()));
        }
        out.push(events.rest());
        out
    }

    #[test]
    fn events_end_at_blank_lines_however_the_bytes_arrive() {
        for stream in [
            &b"event: a\ndata: 1\n\ndata: 2\n\n: c\n\nrest"[..],
            b"event: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n: c\r\n\r\nrest",
        ] {
            for piece in 1..stream.len() {
                let events = split(stream, piece);
                assert_eq!(events.concat(), stream, "{piece}");
                assert_eq!(events.len(), 4, "{piece}");
                assert_eq!((name(&events[0]), payload(&events[1]).as_slice()), (&b"a"[..], &b"2"[..]));
                assert!(payload(&events[2]).is_empty());
            }
        }
    }
}
