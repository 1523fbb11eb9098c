//! What each message holds, seen alone: its role, its content, its blocks, the arguments of its calls.

use super::pairs::is_at_home;
use super::{Finding, Rule, Subject};
use crate::edit::Span;
use crate::transcript::{Content, Format, Message, Part, PartKind, Place, Role, Transcript};
use crate::wire::compose::Pairing;
use crate::wire::json::{Scanner, decode};
use crate::wire::{field, gemini};

/// Adds what is wrong to `findings`. Calls `in_flight` are not looked at.
pub(super) fn check(transcript: &Transcript<'_>, in_flight: &[usize], findings: &mut Vec<Finding>) {
    let last = transcript.messages.iter().rposition(|message| message.role != Role::Meta);
    for (index, message) in transcript.messages.iter().enumerate() {
        if message.role == Role::Meta {
            continue;
        }
        let standing = if last == Some(index) { Standing::Last } else { Standing::Inside };
        let mut check = Check { transcript, index, message, standing, in_flight, findings };
        check.role();
        check.whole();
        check.parts();
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    Inside,
    Last,
}

struct Check<'c, 'a> {
    transcript: &'c Transcript<'a>,
    index: usize,
    message: &'c Message,
    standing: Standing,
    in_flight: &'c [usize],
    findings: &'c mut Vec<Finding>,
}

impl Check<'_, '_> {
    fn add(&mut self, rule: Rule, subject: Subject, detail: impl Into<String>) {
        self.findings.push(Finding { message: self.index, rule, subject, detail: detail.into() });
    }

    fn role(&mut self) {
        let is_known = match self.transcript.format {
            Format::OpenAiChat | Format::ShareGpt => self.message.role != Role::Other,
            Format::Anthropic | Format::ClaudeCode => {
                matches!(self.message.role, Role::User | Role::Assistant | Role::System)
            }
            Format::Gemini => matches!(self.message.role, Role::User | Role::Assistant),
            Format::OpenAiResponses => self.is_item() || !matches!(self.message.role, Role::Other | Role::Tool),
        };
        if !is_known {
            let name = self.message.role.name();
            self.add(Rule::UnknownRole, Subject::Message, format!("unknown role `{name}`"));
        }
    }

    /// The content as a whole.
    fn whole(&mut self) {
        if self.is_item() {
            return;
        }
        match (&self.message.content, self.transcript.format) {
            (Content::Json(span), _) => {
                let raw = self.transcript.raw(*span);
                let shown: String = raw.chars().take(40).collect();
                self.add(Rule::ContentShape, Subject::Message, format!("the content is `{shown}`"));
            }
            (Content::Blocks { .. }, Format::ShareGpt) => {
                self.add(Rule::ContentShape, Subject::Message, "the content is an array");
            }
            (Content::Blocks { .. }, Format::OpenAiChat)
                if self.message.role == Role::Tool && self.has_calls_inside() =>
            {
                self.add(Rule::ContentShape, Subject::Message, "a tool call or result inside a tool result");
            }
            (Content::Blocks { .. }, _) if self.message.role == Role::Tool => {}
            (Content::Blocks { .. }, format) => {
                let has_blocks = self.own_parts().any(|part| part.place == Place::Block);
                if !(has_blocks || self.may_be_empty() || self.says_otherwise(format)) {
                    self.add(Rule::EmptyMessage, Subject::Message, "the content is an empty array");
                } else if format == Format::OpenAiChat && self.is_silent() {
                    self.add(
                        Rule::EmptyMessage,
                        Subject::Message,
                        "all texts are blank and there is no tool call or \
                     refusal",
                    );
                }
            }
            // Of the final assistant message an empty array is taken, an empty text is not.
            (Content::Text(literal), Format::Anthropic | Format::ClaudeCode)
                if decode(self.transcript.raw(literal.inner())).trim().is_empty() =>
            {
                self.add(Rule::EmptyMessage, Subject::Message, "the content is empty or white space");
            }
            (Content::Absent, Format::OpenAiChat) if self.says_otherwise(Format::OpenAiChat) => {}
            (Content::Absent, Format::OpenAiChat) if self.message.role == Role::Assistant => {
                self.add(Rule::EmptyMessage, Subject::Message, "there is no content, tool call or refusal");
            }
            (Content::Text(_), Format::OpenAiChat) if self.is_silent() => {
                self.add(
                    Rule::EmptyMessage,
                    Subject::Message,
                    "the text is blank and there is no tool call or refusal",
                );
            }
            (Content::Absent, _) => self.add(Rule::NullContent, Subject::Message, "the content is missing or null"),
            _ => {}
        }
        if self.transcript.format == Format::OpenAiChat
            && self.message.role == Role::Assistant
            && !self.own_parts().any(|part| part.place == Place::Call)
            && let Some(value) = field::value(self.transcript.text, self.message.span, "tool_calls")
            && self.transcript.raw(value) != "null"
        {
            self.add(Rule::EmptyToolCalls, Subject::Message, "`tool_calls` is empty");
        }
    }

    fn parts(&mut self) {
        for part_index in self.message.parts.start as usize..self.message.parts.end as usize {
            let Some(part) = self.transcript.parts.get(part_index) else {
                continue;
            };
            match part.kind {
                PartKind::ToolCall if self.in_flight.binary_search(&part_index).is_ok() => {}
                PartKind::ToolCall | PartKind::ToolResult if self.is_foreign(part) => {
                    let kind = if part.kind == PartKind::ToolCall { "call" } else { "result" };
                    let detail = format!("a {kind} part is not allowed here");
                    self.add(Rule::ForeignCall, Subject::Part(part_index), detail);
                }
                PartKind::ToolCall => {
                    if let Some(fault) = arguments_fault(self.transcript, part) {
                        self.add(Rule::BadArguments, Subject::Part(part_index), fault);
                    }
                }
                PartKind::ToolResult => self.result(part_index, part),
                PartKind::Text if self.is_blank_block(part) => {
                    self.add(Rule::BlankText, Subject::Part(part_index), "a text block has no text");
                }
                PartKind::Opaque if part.place == Place::Block => self.opaque(part_index, part),
                PartKind::Opaque
                    if part.place == Place::Item && Pairing::of_call(self.transcript.raw(part.name)).is_some() =>
                {
                    let subject = Subject::Pair { call: part_index, result: None };
                    self.add(Rule::EmptyCallId, subject, "a tool call has no `call_id`");
                }
                _ => {}
            }
        }
    }

    /// A text block that the provider would not take. Gemini minds no blanks, and no empty text that is signed.
    fn is_blank_block(&self, part: &Part) -> bool {
        let is_blank = match self.transcript.format {
            Format::Anthropic | Format::ClaudeCode => self.transcript.is_blank(part),
            Format::Gemini => part.content.span().inner().is_empty(),
            _ => false,
        };
        is_blank && part.place == Place::Block
    }

    fn result(&mut self, part_index: usize, part: &Part) {
        if self.transcript.format == Format::Gemini {
            let is_object = match &part.content {
                Content::Absent => false,
                Content::Json(span) => self.transcript.raw(*span).starts_with('{'),
                _ => true,
            };
            if !is_object {
                self.add(Rule::ContentShape, Subject::Part(part_index), "the response is not an object");
            } else if part.name.is_empty() && !part.id.is_empty() {
                self.add(Rule::ContentShape, Subject::Part(part_index), "a function response has no name");
            }
            return;
        }
        match &part.content {
            // A tool message's own content is looked at as the message's.
            Content::Json(_) if part.place != Place::Whole => {
                self.add(
                    Rule::ContentShape,
                    Subject::Part(part_index),
                    "the tool result is neither a string nor an \
                 array of blocks",
                );
            }
            Content::Blocks { inner, .. } if self.is_anthropic() => {
                for inner_index in inner.start as usize..inner.end as usize {
                    let blank = self.transcript.inner.get(inner_index).is_some_and(|block| match block.kind {
                        PartKind::Text => self.transcript.is_blank(block),
                        PartKind::Opaque => is_text_without_text(self.transcript, block.span),
                        _ => false,
                    });
                    if blank {
                        self.add(
                            Rule::BlankText,
                            Subject::Inner(inner_index),
                            "a text block in a tool result has no text",
                        );
                    }
                }
            }
            _ => {}
        }
    }

    /// A block that the reader could not make sense of.
    fn opaque(&mut self, part_index: usize, part: &Part) {
        if self.transcript.format == Format::Gemini {
            if !gemini::has_data(self.transcript.text, part.span) {
                self.add(Rule::ContentShape, Subject::Part(part_index), "a part has no known field");
            }
        } else if is_text_without_text(self.transcript, part.span) {
            self.add(Rule::BlankText, Subject::Part(part_index), "a text block has no text");
        } else if !self.transcript.raw(part.span).starts_with('{')
            || field::word(self.transcript.text, part.span, "type").is_empty()
        {
            self.add(Rule::ContentShape, Subject::Part(part_index), "a block has no `type`");
        }
    }

    /// A call or result that hangs where another format hangs it, or in the wrong role.
    fn is_foreign(&self, part: &Part) -> bool {
        let format = self.transcript.format;
        match format {
            Format::ShareGpt => false,
            // An unknown role is corrected first; then this is no result any more.
            _ if part.place == Place::Whole && format != Format::OpenAiChat => false,
            _ if !is_at_home(format, part) => true,
            Format::OpenAiResponses => false,
            _ if part.kind == PartKind::ToolCall => self.message.role != Role::Assistant || self.has_no_function(part),
            _ => false,
        }
    }

    /// A Chat call that says neither `function` nor `custom`.
    fn has_no_function(&self, part: &Part) -> bool {
        part.place == Place::Call
            && part.content == Content::Absent
            && part.name.is_empty()
            && function_of(self.transcript.text, part.span).is_none()
    }

    /// Whether a result has blocks in it that are calls or results themselves.
    fn has_calls_inside(&self) -> bool {
        let is_foreign =
            |block: &Part| matches!(field::word(self.transcript.text, block.span, "type"), "tool_use" | "tool_result");
        self.own_parts().any(|part| match &part.content {
            Content::Blocks { inner, .. } => {
                let blocks = self.transcript.inner.get(inner.start as usize..inner.end as usize);
                blocks.unwrap_or_default().iter().any(is_foreign)
            }
            _ => false,
        })
    }

    /// Whether a message may have no content: the last one of an assistant, and one that only carries settings for what
    /// follows, as Claude Code sends after it has compacted.
    fn may_be_empty(&self) -> bool {
        let is_setting = self.message.role == Role::System
            && field::value(self.transcript.text, self.message.span, "output_config").is_some();
        let is_last = self.message.role == Role::Assistant && self.standing == Standing::Last;
        self.is_anthropic() && (is_last || is_setting)
    }

    /// Whether a Chat assistant message says something outside its content.
    fn says_otherwise(&self, format: Format) -> bool {
        let says = |key: &str| {
            field::value(self.transcript.text, self.message.span, key)
                .is_some_and(|value| !matches!(self.transcript.raw(value), "null" | "\"\""))
        };
        format == Format::OpenAiChat
            && self.message.role == Role::Assistant
            && (self.own_parts().any(|part| part.kind == PartKind::ToolCall) || says("refusal") || says("audio"))
    }

    /// Whether a Chat assistant message has texts, none of which says anything, and nothing beside them.
    fn is_silent(&self) -> bool {
        let is_blank = |part: &Part| part.kind == PartKind::Text && self.transcript.is_blank(part);
        self.message.role == Role::Assistant
            && !self.says_otherwise(Format::OpenAiChat)
            && self.own_parts().filter(|part| matches!(part.place, Place::Whole | Place::Block)).all(is_blank)
    }

    fn is_anthropic(&self) -> bool {
        matches!(self.transcript.format, Format::Anthropic | Format::ClaudeCode)
    }

    /// A Responses item that is no message.
    fn is_item(&self) -> bool {
        self.own_parts().any(|part| part.place == Place::Item)
    }

    fn own_parts(&self) -> impl Iterator<Item = &Part> {
        self.transcript.parts_of(self.message).iter()
    }
}

/// `{"type":"text"}` with a text that is no string.
fn is_text_without_text(transcript: &Transcript<'_>, block: Span) -> bool {
    transcript.raw(block).starts_with('{')
        && matches!(field::word(transcript.text, block, "type"), "text" | "input_text" | "output_text")
}

/// The `function` or `custom` object of a Chat call, and which of the two it is.
pub(crate) fn function_of(text: &str, call: Span) -> Option<(&'static str, Span)> {
    ["function", "custom"].into_iter().find_map(|key| {
        field::value(text, call, key).filter(|value| value.of(text).starts_with('{')).map(|value| (key, value))
    })
}

/// What is wrong with the arguments of a call, if anything.
fn arguments_fault(transcript: &Transcript<'_>, call: &Part) -> Option<&'static str> {
    let text = transcript.text;
    match transcript.format {
        Format::ShareGpt => None,
        Format::Gemini => match &call.content {
            Content::Absent => None,
            content => (!transcript.raw(content.span()).starts_with('{')).then_some("`args` is not an object"),
        },
        Format::Anthropic | Format::ClaudeCode => {
            let is_object = transcript.raw(call.content.span()).starts_with('{');
            (!is_object).then_some("`input` is not an object")
        }
        Format::OpenAiChat | Format::OpenAiResponses => {
            let fault = match &call.content {
                Content::Text(literal) if is_json(&decode(transcript.raw(literal.inner()))) => return None,
                Content::Text(_) => "`arguments` is not valid JSON",
                Content::Absent => "`arguments` is missing",
                _ => "`arguments` is not a string",
            };
            // Freely worded input is what other kinds of calls are for.
            let is_function = match call.place {
                Place::Call => function_of(text, call.span).is_some_and(|(key, _)| key == "function"),
                Place::Item => field::word(text, call.span, "type") == "function_call",
                _ => true,
            };
            is_function.then_some(fault)
        }
    }
}

/// Whether a text is one JSON value, or nothing at all.
fn is_json(text: &str) -> bool {
    let mut scanner = Scanner::new(text, 0);
    scanner.next_byte().is_none() || (scanner.skip().is_ok() && scanner.next_byte().is_none())
}
