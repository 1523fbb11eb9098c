//! Our `compaction` item: what Codex keeps in place of a conversation and sends back with every later request.
//!
//! The item holds the folded conversation itself, packed, so that any gateway can put it back, after any restart. It is opened
//! for whoever sends it: there is nothing in it that its sender could not have sent as messages. So what it unpacks to has the
//! limits of a body.

use super::super::answer::Refusal;
use super::super::budget::{AccountedBytes, MemoryBudget, MemoryLease};
use super::super::decode::{Coding, DecodeError, decode_within};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::io::Read as _;
use std::sync::Arc;

/// How our items begin. The number is that of the form.
const PREFIX: &str = "foldline.1.";
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
    ///
    /// It has at most `limit` bytes, and all memory that it takes is of the budget.
    pub fn expanded(&self, limit: u64, budget: &Arc<MemoryBudget>) -> Result<Option<AccountedBytes>, Refusal> {
        let mut room = usize::try_from(limit).unwrap_or(usize::MAX).saturating_sub(self.body.len());
        let mut leases = Vec::new();
        let mut items = Vec::with_capacity(self.items.len());
        for item in &self.items {
            items.push(match opened(item, room, budget) {
                Ok((opened, lease)) => {
                    room = room.saturating_sub(opened.len());
                    leases.push(lease);
                    Cow::Owned(opened)
                }
                Err(DecodeError::Garbled) => Cow::Borrowed(*item),
                Err(DecodeError::TooLarge) => return Err(Refusal::TooLarge { limit }),
                Err(DecodeError::OutOfMemory(refusal)) => return Err(refusal),
            });
        }
        if leases.is_empty() {
            return Ok(None);
        }
        let mut lease = budget.lease();
        let length = items.iter().map(|item| item.len() + 1).sum::<usize>();
        // The items once more, joined, and then the request around them.
        lease.grow_to(2 * length + self.body.len())?;
        let expanded = self.with(&items.join(","));
        lease.shrink_to(expanded.len());
        Ok(Some(lease.holds(expanded)))
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

/// What an item of ours stands for; `Garbled` for everything else. One that is damaged stays as it is: its provider will
/// say so.
fn opened(item: &str, limit: usize, budget: &Arc<MemoryBudget>) -> Result<(String, MemoryLease), DecodeError> {
    let packed = packed_in(item).ok_or(DecodeError::Garbled)?;
    let (items, lease) = decode_within(Coding::Zstd, &packed, limit, budget.lease())?;
    let items = String::from_utf8(items).map_err(|_| DecodeError::Garbled)?;
    let list = b"[".chain(items.as_bytes()).chain(&b"]"[..]);
    match serde_json::from_reader::<_, Vec<IgnoredAny>>(list) {
        Ok(_) => Ok((items, lease)),
        Err(_) => Err(DecodeError::Garbled),
    }
}

/// The packed content of an item of ours.
fn packed_in(item: &str) -> Option<Vec<u8>> {
    // Most items are long and none of ours.
    memchr::memmem::find(item.as_bytes(), PREFIX.as_bytes())?;
    let item: Item<'_> = serde_json::from_str(item).ok()?;
    let packed = item.encrypted_content.filter(|_| item.kind.as_deref() == Some("compaction"))?;
    BASE64.decode(packed.strip_prefix(PREFIX)?).ok()
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

    fn budget(limit: u64) -> Arc<MemoryBudget> {
        MemoryBudget::new(limit, prometheus_client::metrics::gauge::Gauge::default())
    }

    fn expanded(body: &str) -> Option<String> {
        let expanded = Items::of(body).unwrap().expanded(1 << 20, &budget(8 << 20)).unwrap()?;
        Some(String::from_utf8(expanded.to_vec()).unwrap())
    }

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
        let put_back = expanded(&body).unwrap();
        let wanted = format!(
            r#"{{"model":"m", "input":[ {{"role":"developer","content":"x"}},{items},{{"role":"user","content":"Go on."}}], "n":1.0}}"#
        );
        assert_eq!(put_back, wanted);
        assert_eq!(expanded(&put_back), None);
    }

    #[test]
    fn items_of_others_and_damaged_ones_stay() {
        let damaged = packed("{}").unwrap();
        for content in ["gAAAAABo", "foldline.1.", "foldline.1.!!", &damaged[..damaged.len() - 4]] {
            let body = format!(r#"{{"input":[{}]}}"#, item(content));
            assert_eq!(expanded(&body), None, "{content}");
        }
        let quoted = json!({ "input": [{ "role": "user", "content": item(&damaged) }] }).to_string();
        assert_eq!(expanded(&quoted), None, "words are no items");
    }

    #[test]
    fn what_is_packed_has_the_limits_of_a_body() {
        let bomb = packed(&format!("\"{}\"", "a".repeat(300_000))).unwrap();
        let body = json!({ "input": [{ "type": "compaction", "encrypted_content": bomb }] }).to_string();
        let opened = |body: &str, limit, memory| {
            Items::of(body).unwrap().expanded(limit, &budget(memory)).map(|opened| opened.map(|opened| opened.len()))
        };
        assert_eq!(opened(&body, 299_000, 8 << 20), Err(Refusal::TooLarge { limit: 299_000 }));
        assert_eq!(opened(&body, 1 << 20, 400_000), Err(Refusal::BodyMemory { limit: 400_000 }));
        assert!(opened(&body, 1 << 20, 8 << 20).unwrap().is_some_and(|length| length > 300_000));
        let item = json!({ "type": "compaction", "encrypted_content": bomb });
        let many = json!({ "input": vec![item; 4] }).to_string();
        assert_eq!(opened(&many, 1 << 20, 8 << 20), Err(Refusal::TooLarge { limit: 1 << 20 }), "all of them together");
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
