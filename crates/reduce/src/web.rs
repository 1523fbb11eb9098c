//! Decides what stays of a web page: its title, headings and first sentences, and how many links it has.

use crate::wording::counted;
use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};

use super::lines::prefix;
use super::{Body, Output, prose};

/// Pages are read up to this size; what follows is rarely text.
const MOST_READ: usize = 2 << 20;
/// Elements whose content nobody reads.
const SILENT: &[&[u8]] = &[b"script", b"style", b"noscript", b"svg", b"template", b"nav", b"footer"];
/// Elements that end a line.
const BLOCKS: &[&[u8]] = &[
    b"p",
    b"div",
    b"li",
    b"tr",
    b"br",
    b"section",
    b"article",
    b"ul",
    b"ol",
    b"table",
    b"pre",
    b"blockquote",
    b"header",
    b"main",
    b"dt",
    b"dd",
    b"title",
    b"h1",
    b"h2",
    b"h3",
    b"h4",
    b"h5",
    b"h6",
];

/// True when a text starts like a page, or is full of tags.
pub(super) fn looks_like(text: &str) -> bool {
    let start = prefix(text.trim_start(), 2_000).to_ascii_lowercase();
    start.starts_with("<!doctype html")
        || start.starts_with("<html")
        || (start.starts_with('<') && start.contains("<head") || start.contains("<body"))
}

pub(super) fn reduce(output: &Output<'_>) -> Option<Body> {
    if !looks_like(output.text) {
        return prose::reduce(output);
    }
    let page = Page::of(prefix(output.text, MOST_READ));
    let inner = Output { text: &page.text, ..*output };
    let body = prose::reduce(&inner)?;
    let note = match body.note.as_str() {
        "" => counted(page.links, "link"),
        note => format!("{note}, {}", counted(page.links, "link")),
    };
    Some(Body { note, text: body.text })
}

/// The readable text of a page, headings marked as in Markdown.
struct Page {
    text: String,
    links: usize,
}

/// The element whose content is skipped, and how often it is open.
#[derive(Default)]
struct Silent {
    name: Vec<u8>,
    depth: usize,
}

impl Silent {
    /// Notes an opened element; true when it is skipped.
    fn opens(&mut self, name: &[u8]) -> bool {
        if self.depth > 0 {
            self.depth += usize::from(self.name == name);
        } else if SILENT.contains(&name) {
            self.name = name.to_vec();
            self.depth = 1;
        }
        self.depth > 0
    }

    /// Notes a closed element; true when it was skipped.
    fn closes(&mut self, name: &[u8]) -> bool {
        let inside = self.depth > 0;
        self.depth -= usize::from(inside && self.name == name);
        inside
    }
}

impl Page {
    fn of(html: &str) -> Page {
        let mut page = Page { text: String::new(), links: 0 };
        let mut silent = Silent::default();
        let emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| -> Option<()> {
            match event {
                CallbackEvent::OpenStartTag { name } if !silent.opens(name) => {
                    page.links += usize::from(name == b"a");
                    page.block(name);
                    page.open(name);
                }
                CallbackEvent::EndTag { name } if !silent.closes(name) => {
                    page.block(name);
                }
                CallbackEvent::String { value } if silent.depth == 0 => page.words(&String::from_utf8_lossy(value)),
                _ => {}
            }
            None
        });
        for token in Tokenizer::new_with_emitter(html, emitter) {
            let Ok(()) = token;
        }
        page
    }

    fn block(&mut self, name: &[u8]) {
        if BLOCKS.contains(&name) && !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
            if name == b"p" {
                self.text.push('\n');
            }
        }
    }

    fn open(&mut self, name: &[u8]) {
        match name {
            b"title" | b"h1" => self.text.push_str("# "),
            b"h2" => self.text.push_str("## "),
            b"h3" | b"h4" | b"h5" | b"h6" => self.text.push_str("### "),
            b"li" => self.text.push_str("- "),
            _ => {}
        }
    }

    fn words(&mut self, text: &str) {
        for word in text.split_ascii_whitespace() {
            if !self.text.is_empty() && !self.text.ends_with(['\n', ' ']) {
                self.text.push(' ');
            }
            self.text.push_str(word);
        }
    }
}
