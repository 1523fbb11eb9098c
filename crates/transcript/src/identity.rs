//! Identity: what makes two messages the same although clients write them differently from turn to turn.
//!
//! Cache marks move, a single text block becomes a plain string, a tool message loses its `name`: none of
//! that changes what was said. Everything else counts, byte for byte, in the order it stands.

use crate::edit::Span;
use crate::transcript::{Format, Role, Transcript};
use crate::wire::gemini::SIGNATURE;
use crate::wire::json::{self, JsonKind, Scanner};
use blake3::Hasher;

/// The digest of a message, or of all messages up to one.
pub type Digest = [u8; 32];

/// How the line begins that Claude Code puts first into its system prompt. It holds a digest of the first
/// user message, so that it changes when the client compacts.
const VOLATILE: &str = "x-anthropic-billing-header:";

/// The digests of a chain: entry `i` stands for the first `i` of the messages `from..`. `seed` keeps
/// conversations of different owners apart.
pub fn chain(transcript: &Transcript<'_>, from: usize, seed: &Digest) -> Vec<Digest> {
    let messages = transcript.messages.get(from..).unwrap_or_default();
    let mut chain = Vec::with_capacity(messages.len() + 1);
    let mut last = *seed;
    chain.push(last);
    for message in messages {
        let mut hasher = Hasher::new();
        hasher.update(&last);
        take_message(&mut hasher, transcript.text, message.span, message.role);
        last = *hasher.finalize().as_bytes();
        chain.push(last);
    }
    chain
}

/// Messages at the start that carry standing instructions. They are no part of a chain: clients change
/// them while the conversation goes on.
pub fn leading_instructions(transcript: &Transcript<'_>) -> usize {
    transcript.messages.iter().take_while(|message| message.role.is_instruction()).count()
}

/// The digest of how a conversation begins: its standing instructions and its first user message.
pub fn opening(transcript: &Transcript<'_>, seed: &Digest) -> Digest {
    let mut hasher = Hasher::new();
    hasher.update(seed);
    if let Some(system) = transcript.system {
        // What the reader accepted it accepts again.
        let _ = take_system(&mut hasher, &mut Scanner::again(transcript.text, system.start as usize));
    }
    let lead = leading_instructions(transcript);
    let rest = || transcript.messages.iter().skip(lead).skip_while(|message| message.role != Role::User);
    // What a client of Gemini says about itself comes before what its user says, in a message of its own.
    let first = match transcript.format {
        Format::Gemini => rest().take_while(|message| message.role == Role::User).count(),
        _ => 1,
    };
    for message in transcript.messages.iter().take(lead).chain(rest().take(first)) {
        take_message(&mut hasher, transcript.text, message.span, message.role);
    }
    *hasher.finalize().as_bytes()
}

/// Pieces are told apart by a tag and their length, so that no two sequences of pieces look alike.
fn piece(hasher: &mut Hasher, tag: u8, text: &str) {
    let mut head = [tag; 9];
    if let Some(length) = head.get_mut(1..) {
        length.copy_from_slice(&(text.len() as u64).to_le_bytes());
    }
    hasher.update(&head);
    hasher.update(text.as_bytes());
}

fn take_message(hasher: &mut Hasher, text: &str, span: Span, role: Role) {
    hasher.update(b"{");
    let mut scanner = Scanner::again(text, span.start as usize);
    // What the reader accepted it accepts again.
    let _ = match scanner.peek() {
        Ok(JsonKind::Object) => scanner
            .object(|scanner, key| match key {
                "cache_control" => scanner.skip().map(drop),
                "name" if role == Role::Tool => scanner.skip().map(drop),
                "parts" if scanner.peek()? == JsonKind::Array => {
                    piece(hasher, b'k', key);
                    hasher.update(b"[");
                    scanner.array(|scanner| take_block(hasher, scanner, Depth::Block))?;
                    hasher.update(b"]");
                    Ok(())
                }
                "content" | "output" => {
                    piece(hasher, b'k', key);
                    take_content(hasher, scanner, Depth::Message)
                }
                _ => {
                    piece(hasher, b'k', key);
                    take_raw(hasher, scanner)
                }
            })
            .map(drop),
        // A prompt that is a bare string.
        _ => take_raw(hasher, &mut scanner),
    };
    hasher.update(b"}");
}

/// How deep blocks are nested: a tool result holds blocks of its own, and those hold none that matter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Message,
    Block,
}

/// A string, or blocks; a single block that is nothing but text counts as its string.
fn take_content(hasher: &mut Hasher, scanner: &mut Scanner<'_>, depth: Depth) -> json::Result<()> {
    match scanner.peek()? {
        JsonKind::String => {
            let literal = scanner.string()?;
            piece(hasher, b't', literal.inner().of(scanner.text()));
            Ok(())
        }
        JsonKind::Array => {
            if let Some(literal) = only_text(&mut scanner.clone()) {
                piece(hasher, b't', literal.inner().of(scanner.text()));
                return scanner.skip().map(drop);
            }
            hasher.update(b"[");
            scanner.array(|scanner| take_block(hasher, scanner, depth))?;
            hasher.update(b"]");
            Ok(())
        }
        _ => take_raw(hasher, scanner),
    }
}

fn take_block(hasher: &mut Hasher, scanner: &mut Scanner<'_>, depth: Depth) -> json::Result<()> {
    if scanner.peek()? != JsonKind::Object {
        return take_raw(hasher, scanner);
    }
    hasher.update(b"{");
    scanner.object(|scanner, key| match key {
        "cache_control" => scanner.skip().map(drop),
        // Clients of Gemini may leave signatures of earlier turns out.
        _ if SIGNATURE.contains(&key) => scanner.skip().map(drop),
        "content" if depth == Depth::Message => {
            piece(hasher, b'k', key);
            take_content(hasher, scanner, Depth::Block)
        }
        _ => {
            piece(hasher, b'k', key);
            take_raw(hasher, scanner)
        }
    })?;
    hasher.update(b"}");
    Ok(())
}

fn take_raw(hasher: &mut Hasher, scanner: &mut Scanner<'_>) -> json::Result<()> {
    let value = scanner.skip()?;
    piece(hasher, b'v', value.of(scanner.text()));
    Ok(())
}

fn take_system(hasher: &mut Hasher, scanner: &mut Scanner<'_>) -> json::Result<()> {
    if scanner.peek()? != JsonKind::Array {
        return take_content(hasher, scanner, Depth::Block);
    }
    scanner
        .array(|scanner| {
            let start = scanner.offset();
            let block = scanner.skip()?.of(scanner.text());
            match block.contains(VOLATILE) {
                true => Ok(()),
                false => take_block(hasher, &mut Scanner::again(scanner.text(), start), Depth::Block),
            }
        })
        .map(drop)
}

/// The literal of an array's only element if that is a text block with nothing but its text.
fn only_text(scanner: &mut Scanner<'_>) -> Option<Span> {
    let mut literal = None;
    let mut is_plain = true;
    let mut blocks = 0;
    scanner
        .array(|scanner| {
            blocks += 1;
            // The second block settles it; an error ends the walk.
            if blocks > 1 || scanner.peek()? != JsonKind::Object {
                return Err(scanner.error(""));
            }
            scanner
                .object(|scanner, key| {
                    match key {
                        "type" => {
                            let kind = scanner.skip()?.of(scanner.text());
                            is_plain &= matches!(kind, "\"text\"" | "\"input_text\"" | "\"output_text\"");
                        }
                        "text" if scanner.peek()? == JsonKind::String => literal = Some(scanner.string()?),
                        "cache_control" => drop(scanner.skip()?),
                        _ => is_plain = false,
                    }
                    if is_plain { Ok(()) } else { Err(scanner.error("")) }
                })
                .map(drop)
        })
        .ok()?;
    literal.filter(|_| is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::Format;
    use crate::wire;

    fn chain_of(format: Format, messages: &str) -> Vec<Digest> {
        let field = if format == Format::OpenAiResponses { "input" } else { "messages" };
        let body = format!(r#"{{"{field}":[{messages}]}}"#);
        let transcript = wire::read(&body, Some(format)).unwrap();
        chain(&transcript, leading_instructions(&transcript), &[0; 32])
    }

    fn same(format: Format, one: &str, two: &str) -> bool {
        chain_of(format, one) == chain_of(format, two)
    }

    #[test]
    fn what_clients_change_from_turn_to_turn_does_not_count() {
        let block = r#"{"role":"user","content":[{"type":"text","text":"a \" b"}]}"#;
        let marked =
            r#"{"role":"user","content":[{"type":"text","text":"a \" b","cache_control":{"type":"ephemeral"}}]}"#;
        let marked_first =
            r#"{"role":"user","content":[{"cache_control":{"type":"ephemeral"},"type":"text","text":"a \" b"}]}"#;
        let string = r#"{"role":"user","content":"a \" b"}"#;
        for other in [marked, marked_first, string] {
            assert!(same(Format::Anthropic, block, other), "{other}");
        }
        assert!(same(
            Format::OpenAiChat,
            r#"{"role":"tool","tool_call_id":"c","name":"bash","content":"x"}"#,
            r#"{"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"x"}]}"#
        ));
        assert!(same(
            Format::Anthropic,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x","cache_control":{}},{"type":"text","text":"y"}]}"#,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"x"}]},{"type":"text","text":"y"}]}"#
        ));
        assert!(same(
            Format::OpenAiResponses,
            r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"x"}]}"#,
            r#"{"type":"message","role":"user","content":"x"}"#
        ));
    }

    #[test]
    fn everything_else_counts() {
        let base = r#"{"role":"user","content":"a"}"#;
        for other in [
            r#"{"role":"assistant","content":"a"}"#,
            r#"{"role":"user","content":"b"}"#,
            r#"{"role":"user","content":["a"]}"#,
            r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"a"}]}"#,
            r#"{"role":"user","content":[{"type":"text","text":"a","citations":[]}]}"#,
            r#"{"role":"user","name":"x","content":"a"}"#,
            r#"{"role":"user","content":"a","unknown":1}"#,
        ] {
            assert!(!same(Format::Anthropic, base, other), "{other}");
        }
        let call = |id: &str| {
            format!(
                r#"{{"role":"assistant","tool_calls":[{{"id":"{id}","function":{{"name":"f","arguments":"{{}}"}}}}]}}"#
            )
        };
        assert!(!same(Format::OpenAiChat, &call("1"), &call("2")));
    }

    #[test]
    fn a_chain_names_every_beginning() {
        let (a, b) = (r#"{"role":"user","content":"a"}"#, r#"{"role":"assistant","content":"b"}"#);
        let long = chain_of(Format::OpenAiChat, &format!("{a},{b},{a}"));
        let short = chain_of(Format::OpenAiChat, &format!("{a},{b}"));
        assert_eq!(long.get(..3), Some(short.as_slice()));
        assert_eq!(long.len(), 4);
        let other = chain_of(Format::OpenAiChat, &format!("{b},{a}"));
        assert!(long.iter().skip(1).all(|digest| !other.contains(digest)));
    }

    #[test]
    fn standing_instructions_are_no_part_of_a_chain() {
        let user = r#"{"role":"user","content":"a"}"#;
        let one = chain_of(Format::OpenAiChat, &format!(r#"{{"role":"system","content":"x"}},{user}"#));
        let two = chain_of(Format::OpenAiChat, &format!(r#"{{"role":"system","content":"y"}},{user}"#));
        assert_eq!(one, two);
    }

    #[test]
    fn an_opening_ignores_the_line_that_changes() {
        let opening_of = |line: &str, prompt: &str, ask: &str| {
            let body = format!(
                r#"{{"system":[{{"type":"text","text":"x-anthropic-billing-header: {line}"}},{{"type":"text","text":"{prompt}","cache_control":{{"type":"ephemeral"}}}}],"messages":[{{"role":"user","content":"{ask}"}}]}}"#
            );
            opening(&wire::read(&body, Some(Format::Anthropic)).unwrap(), &[0; 32])
        };
        assert_eq!(opening_of("v=1", "p", "a"), opening_of("v=2", "p", "a"));
        assert_ne!(opening_of("v=1", "p", "a"), opening_of("v=1", "q", "a"));
        assert_ne!(opening_of("v=1", "p", "a"), opening_of("v=1", "p", "b"));
    }
}
