//! Our `compaction` item: what Codex keeps in place of a conversation and sends back with every later request.
//!
//! The item holds the folded conversation itself, packed, so that any gateway can put it back, after any restart. It is opened
//! for whoever sends it: there is nothing in it that its sender could not have sent as messages.

use super::super::decode::{Coding, decode};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// How our items begin. The number is that of the form.
const PREFIX: &str = "foldline.1.";
/// Bytes that an item may unpack to.
const MOST: usize = 64 << 20;
/// How hard it is packed: it travels with every request.
const LEVEL: i32 = 9;

/// The items of a request, as they stand in it.
pub struct Items<'a> {
    body: &'a str,
    items: Vec<&'a str>,
}

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    input: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct Item<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    encrypted_content: Option<Cow<'a, str>>,
}

impl<'a> Items<'a> {
    /// Reads a request; `None` for one that has no list of items.
    pub fn of(body: &'a str) -> Option<Items<'a>> {
        let request: Request<'a> = serde_json::from_str(body).ok()?;
        (!request.input.is_empty())
            .then(|| Items { body, items: request.input.iter().map(|item| item.get()).collect() })
    }

    /// The request without the item that asks for a compaction; `None` when none does.
    pub fn without_trigger(&self) -> Option<String> {
        let is_trigger = |item: &&&str| kind_of(item).is_some_and(|kind| kind == "compaction_trigger");
        self.items.iter().rev().take(3).find(is_trigger)?;
        let rest: Vec<&str> = self.items.iter().filter(|item| !is_trigger(item)).copied().collect();
        Some(self.with(&rest.join(",")))
    }

    /// The request with what our own items stand for in their place; `None` when there are none.
    pub fn expanded(&self) -> Option<String> {
        let opened: Vec<Cow<'_, str>> =
            self.items.iter().map(|item| opened(item).map_or(Cow::Borrowed(*item), Cow::Owned)).collect();
        let is_changed = opened.iter().any(|item| matches!(item, Cow::Owned(_)));
        is_changed.then(|| self.with(&opened.join(",")))
    }

    fn with(&self, items: &str) -> String {
        let at = |text: &str| text.as_ptr() as usize - self.body.as_ptr() as usize;
        let start = self.items.first().map_or(0, |first| at(first));
        let end = self.items.last().map_or(0, |last| at(last) + last.len());
        let (before, after) = (self.body.get(..start).unwrap_or_default(), self.body.get(end..).unwrap_or_default());
        format!("{before}{items}{after}")
    }
}

fn kind_of(item: &str) -> Option<String> {
    serde_json::from_str::<Item<'_>>(item).ok()?.kind.map(Cow::into_owned)
}

/// What an item of ours stands for. One that is damaged stays as it is: its provider will say so.
fn opened(item: &str) -> Option<String> {
    // Most items are long and none of ours.
    memchr::memmem::find(item.as_bytes(), PREFIX.as_bytes())?;
    let item: Item<'_> = serde_json::from_str(item).ok()?;
    let packed = item.encrypted_content.filter(|_| item.kind.as_deref() == Some("compaction"))?;
    let packed = BASE64.decode(packed.strip_prefix(PREFIX)?).ok()?;
    let items = String::from_utf8(decode(Coding::Zstd, &packed, MOST).ok()?).ok()?;
    serde_json::from_str::<Vec<&RawValue>>(&format!("[{items}]")).ok()?;
    Some(items)
}

/// The content of an item that stands for these.
pub fn packed(items: &str) -> Option<String> {
    let packed = zstd::bulk::compress(items.as_bytes(), LEVEL).ok()?;
    Some(format!("{PREFIX}{}", BASE64.encode(packed)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn item(content: &str) -> String {
        json!({ "type": "compaction", "id": "cmp_1", "encrypted_content": content }).to_string()
    }

    #[test]
    fn what_was_packed_is_put_back_byte_for_byte() {
        let items = r#"{"type":"message","role":"user","content":"é \n 1.50"},{"type":"reasoning","summary":[ ]}"#;
        let body = format!(
            r#"{{"model":"m", "input":[ {{"role":"developer","content":"x"}}, {} ,{{"role":"user","content":"Go on."}}], "n":1.0}}"#,
            item(&packed(items).unwrap())
        );
        let expanded = Items::of(&body).unwrap().expanded().unwrap();
        let wanted = format!(
            r#"{{"model":"m", "input":[ {{"role":"developer","content":"x"}},{items},{{"role":"user","content":"Go on."}}], "n":1.0}}"#
        );
        assert_eq!(expanded, wanted);
        assert_eq!(Items::of(&expanded).unwrap().expanded(), None);
    }

    #[test]
    fn items_of_others_and_damaged_ones_stay() {
        let damaged = packed("{}").unwrap();
        for content in ["gAAAAABo", "foldline.1.", "foldline.1.!!", &damaged[..damaged.len() - 4]] {
            let body = format!(r#"{{"input":[{}]}}"#, item(content));
            assert_eq!(Items::of(&body).unwrap().expanded(), None, "{content}");
        }
        let quoted = json!({ "input": [{ "role": "user", "content": item(&damaged) }] }).to_string();
        assert_eq!(Items::of(&quoted).unwrap().expanded(), None, "words are no items");
    }

    #[test]
    fn a_trigger_is_taken_out() {
        let body = r#"{"input":[{"role":"user","content":"a"},{"type":"compaction_trigger"}],"stream":true}"#;
        assert_eq!(
            Items::of(body).unwrap().without_trigger().unwrap(),
            r#"{"input":[{"role":"user","content":"a"}],"stream":true}"#
        );
        assert_eq!(
            Items::of(r#"{"input":[{"role":"user","content":"compaction_trigger"}]}"#).unwrap().without_trigger(),
            None
        );
        assert!(Items::of(r#"{"input":"text"}"#).is_none() && Items::of("{}").is_none());
    }
}
