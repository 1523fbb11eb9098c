//! Server-sent events, taken apart as their bytes come in.

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// Its name; empty when it has none.
    pub name: String,
    /// Its data, lines joined.
    pub data: String,
}

/// Takes bytes, gives events. Lines may end in any of the three ways, and bytes may come in any portions.
#[derive(Debug, Default)]
pub struct Events {
    line: Vec<u8>,
    event: Event,
    has_data: bool,
    skips_newline: bool,
}

/// A line longer than this is no event of a language model.
const LONGEST_LINE: usize = 16 << 20;

impl Events {
    /// The events that are complete with these bytes.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut complete = Vec::new();
        for &byte in bytes {
            let after_return = std::mem::take(&mut self.skips_newline);
            match byte {
                b'\n' if after_return => {}
                b'\n' | b'\r' => {
                    self.skips_newline = byte == b'\r';
                    complete.extend(self.end_line());
                }
                _ if self.line.len() < LONGEST_LINE => self.line.push(byte),
                _ => {}
            }
        }
        complete
    }

    /// The event that the end of the stream completes. Some servers forget the last blank line.
    pub fn finish(mut self) -> Option<Event> {
        let last = self.end_line();
        last.or_else(|| self.has_data.then_some(self.event))
    }

    fn end_line(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            return std::mem::take(&mut self.has_data).then_some(event);
        }
        let line = String::from_utf8_lossy(&line);
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event.name),
            "data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
            }
            // Comments keep a connection alive; ids and waiting times are for reconnecting.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(portions: &[&str]) -> Vec<(String, String)> {
        let mut events = Events::default();
        let mut all: Vec<Event> = portions.iter().flat_map(|portion| events.feed(portion.as_bytes())).collect();
        all.extend(events.finish());
        all.into_iter().map(|event| (event.name, event.data)).collect()
    }

    #[test]
    fn events_come_out_whatever_the_portions_and_line_ends() {
        let text = ": hello\nevent: a\ndata: {\"x\":1}\n\ndata: one\ndata: two\nid: 7\n\n";
        let expected = vec![("a".into(), "{\"x\":1}".into()), (String::new(), "one\ntwo".into())];
        for text in [text.to_owned(), text.replace('\n', "\r\n"), text.replace('\n', "\r")] {
            assert_eq!(read(&[&text]), expected, "{text:?}");
            let single: Vec<String> = text.chars().map(String::from).collect();
            assert_eq!(read(&single.iter().map(String::as_str).collect::<Vec<_>>()), expected);
        }
    }

    #[test]
    fn an_event_without_its_blank_line_is_complete_at_the_end() {
        assert_eq!(read(&["data: [DONE]"]), vec![(String::new(), "[DONE]".into())]);
        assert_eq!(read(&["data: [DONE]\n"]), vec![(String::new(), "[DONE]".into())]);
        assert_eq!(read(&["event: ping\n"]), vec![]);
    }
}
