//! Server-sent events as bytes: where one ends, and what it carries. Nothing is decoded that nobody asks for.

use memchr::memchr2_iter;

/// Bytes of a stream, handed out event by event, each with the blank line that ends it.
#[derive(Clone, Debug, Default)]
pub struct Events {
    buffer: Vec<u8>,
    /// Up to here the buffer was handed out.
    start: usize,
    /// Up to here no event ends.
    searched: usize,
}

impl Events {
    /// Takes in a piece of the stream.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.keep_last(self.pending());
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole event.
    pub fn next_event(&mut self) -> Option<&[u8]> {
        let end = self.end()?;
        let start = std::mem::replace(&mut self.start, end);
        self.searched = end;
        self.buffer.get(start..end)
    }

    /// Bytes that belong to an event whose end is not there yet.
    pub fn pending(&self) -> usize {
        self.buffer.len() - self.start
    }

    /// All that is left, whole or not.
    pub fn rest(&mut self) -> Vec<u8> {
        self.keep_last(self.pending());
        self.searched = 0;
        std::mem::take(&mut self.buffer)
    }

    /// What is left, without taking it.
    pub(super) fn unfinished(&self) -> &[u8] {
        self.buffer.get(self.start..).unwrap_or_default()
    }

    /// Lets all but the last of the pending bytes go.
    pub(super) fn keep_last(&mut self, bytes: usize) {
        let gone = self.buffer.len() - bytes.min(self.pending());
        self.buffer.drain(..gone);
        self.start = 0;
        self.searched = self.searched.saturating_sub(gone);
    }

    /// Where the first event ends: after a line end that follows a line end.
    fn end(&mut self) -> Option<usize> {
        let from = self.searched.max(self.start);
        let bytes = self.buffer.as_slice();
        for at in memchr2_iter(b'\n', b'\r', bytes.get(from..).unwrap_or_default()) {
            if let Some(end) = line_end(bytes, from + at).and_then(|next| line_end(bytes, next)) {
                return Some(end);
            }
        }
        // Line ends at the very end of the buffer are looked at again with what follows them.
        self.searched = bytes.len().saturating_sub(3);
        None
    }
}

/// The end of the line end at `at`. A return at the end of the bytes may be half of one.
fn line_end(bytes: &[u8], at: usize) -> Option<usize> {
    match (bytes.get(at), bytes.get(at + 1)) {
        (Some(b'\n'), _) => Some(at + 1),
        (Some(b'\r'), Some(b'\n')) => Some(at + 2),
        (Some(b'\r'), Some(_)) => Some(at + 1),
        _ => None,
    }
}

/// The name of an event; empty when it has none.
pub fn name(event: &[u8]) -> &[u8] {
    field(event, b"event:").next().unwrap_or_default()
}

/// What an event carries, its lines joined. Empty for comments.
pub fn payload(event: &[u8]) -> Vec<u8> {
    let lines: Vec<&[u8]> = data(event).collect();
    lines.join(&b'\n')
}

/// The lines that an event carries.
pub(super) fn data(event: &[u8]) -> impl Iterator<Item = &[u8]> {
    field(event, b"data:")
}

fn field<'a>(event: &'a [u8], name: &'static [u8]) -> impl Iterator<Item = &'a [u8]> {
    let lines = event.split(|&byte| byte == b'\n' || byte == b'\r');
    lines.filter_map(move |line| line.strip_prefix(name)).map(|value| value.strip_prefix(b" ").unwrap_or(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(stream: &[u8], piece: usize) -> Vec<Vec<u8>> {
        let mut events = Events::default();
        let mut out = Vec::new();
        for bytes in stream.chunks(piece) {
            events.feed(bytes);
            while let Some(event) = events.next_event() {
                out.push(event.to_vec());
            }
        }
        out.push(events.rest());
        out
    }

    #[test]
    fn events_end_at_blank_lines_however_the_bytes_arrive() {
        let text = "event: a\ndata: 1\n\ndata: 2\ndata: 3\nid: 7\n\n: c\n\nrest";
        for stream in [text.to_owned(), text.replace('\n', "\r\n"), text.replace('\n', "\r")] {
            for piece in 1..stream.len() {
                let events = split(stream.as_bytes(), piece);
                assert_eq!(events.concat(), stream.as_bytes(), "{piece}");
                assert_eq!(events.len(), 4, "{piece}: {stream:?}");
                assert_eq!((name(&events[0]), payload(&events[1]).as_slice()), (&b"a"[..], &b"2\n3"[..]));
                assert!(payload(&events[2]).is_empty());
                assert_eq!(events[3], b"rest");
            }
        }
    }

    #[test]
    fn what_is_too_long_to_wait_for_can_be_let_go() {
        let mut events = Events::default();
        events.feed(b"data: one\n\ndata: a long one");
        assert_eq!(events.next_event(), Some(&b"data: one\n\n"[..]));
        events.keep_last(3);
        events.feed(b"\n\ndata: two\n\n");
        assert_eq!(events.next_event(), Some(&b"one\n\n"[..]));
        assert_eq!(events.next_event(), Some(&b"data: two\n\n"[..]));
        assert_eq!(events.next_event(), None);
        assert_eq!(events.pending(), 0);
    }
}
