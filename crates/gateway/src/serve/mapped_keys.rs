//! Restrictions for provider keys that several clients share. The provider sees them as one client, so each could
//! read, change and delete the objects of the others: only requests that create nothing are allowed, and objects that
//! the client created itself.

use super::answer::Refusal;
use super::gateway::{Gateway, now};
use super::reply_observer::ReplyObserver;
use super::route::{ModelCall, operation};
use crate::conversation::CredentialId;
use foldline_core::Format;
use foldline_store::Key;
use http::{HeaderMap, Method, request::Parts};
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Objects whose owners are held in memory.
const MOST_HELD: usize = 16_384;

/// The owners of objects that providers keep.
#[derive(Default)]
pub struct ObjectOwners {
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    of: HashMap<Key, CredentialId>,
    order: VecDeque<Key>,
}

impl ObjectOwners {
    fn insert(&self, key: Key, credential: CredentialId) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.of.contains_key(&key) {
            return;
        }
        held.of.insert(key, credential);
        held.order.push_back(key);
        if held.order.len() > MOST_HELD
            && let Some(oldest) = held.order.pop_front()
        {
            held.of.remove(&oldest);
        }
    }

    fn of(&self, key: &Key) -> Option<CredentialId> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).of.get(key).copied()
    }
}

/// The digest of an object's name.
fn key(id: &str) -> Key {
    Key(blake3::derive_key("foldline 2026 object of a provider", id.as_bytes()))
}

/// Takes note that a client made an object.
pub fn claim(gateway: &Arc<Gateway>, credential: CredentialId, id: &str) {
    let key = key(id);
    gateway.owners.insert(key, credential);
    let gateway = gateway.clone();
    // In memory it is known already; without a store it is for as long as the process lives.
    tokio::task::spawn_blocking(move || {
        if gateway.conversations.claim(&credential, &key, now()).is_err() {
            gateway.metrics.fallback("store");
        }
    });
}

/// Whether a client made an object.
async fn owns(gateway: &Arc<Gateway>, credential: CredentialId, id: &str) -> bool {
    let key = key(id);
    if let Some(owner) = gateway.owners.of(&key) {
        return owner == credential;
    }
    let asked = gateway.clone();
    let found = tokio::task::spawn_blocking(move || asked.conversations.is_owner(&credential, &key));
    matches!(found.await, Ok(Ok(true)))
}

/// What a request that is passed on leaves at the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trace {
    /// Nothing that anybody could ask for.
    Nothing,
    /// Objects that belong to whoever made them: the reply names them.
    Objects,
}

/// Collections of objects that providers keep.
const COLLECTIONS: [&str; 14] = [
    "/responses",
    "/files",
    "/batches",
    "/messages/batches",
    "/uploads",
    "/vector_stores",
    "/conversations",
    "/containers",
    "/assistants",
    "/threads",
    "/fine_tuning/jobs",
    "/evals",
    "/videos",
    "/skills",
];

/// What a path names.
#[derive(Debug, PartialEq, Eq)]
enum Named<'p> {
    /// All objects of a kind.
    Collection,
    /// One of them.
    Object(&'p str),
    /// Something else.
    Other,
}

/// Checks a request that is passed on.
pub async fn check_passed(gateway: &Arc<Gateway>, credential: CredentialId, parts: &Parts) -> Result<Trace, Refusal> {
    let (path, _) = operation(parts.uri.path());
    let path = path.trim_end_matches('/');
    if leaves_nothing(&parts.method, path) {
        return Ok(Trace::Nothing);
    }
    // Responses are made by turns, which pass in any case.
    let uses_mapped_key = path.starts_with("/responses/") || is_listed(&gateway.setup().gateway.mapped_paths, path);
    if !uses_mapped_key {
        return Err(Refusal::PathNotMapped(path.chars().take(100).collect()));
    }
    match named(path) {
        Named::Other => Ok(Trace::Nothing),
        Named::Collection if parts.method == Method::POST => Ok(Trace::Objects),
        Named::Collection => Err(Refusal::ListNotAllowed),
        Named::Object(id) if owns(gateway, credential, id).await => Ok(Trace::Objects),
        Named::Object(_) => Err(Refusal::NotOwned),
    }
}

fn named(path: &str) -> Named<'_> {
    let rest = COLLECTIONS.iter().find_map(|name| path.strip_prefix(name).filter(|rest| !starts_name(rest)));
    match rest.map(|rest| rest.split('/').find(|part| !part.is_empty())) {
        None => Named::Other,
        Some(None) => Named::Collection,
        Some(Some(id)) => Named::Object(id),
    }
}

/// Whether a name goes on here: `/files` is no beginning of `/filesystems`.
fn starts_name(rest: &str) -> bool {
    !rest.is_empty() && !rest.starts_with('/')
}

/// Reads along with the reply to a request that leaves objects, and notes whose they are.
pub fn watch(gateway: &Arc<Gateway>, credential: CredentialId, headers: &HeaderMap) -> ReplyObserver {
    let gateway = gateway.clone();
    let ignored = Box::new(|_, _| None);
    ReplyObserver::new(Format::OpenAiChat, headers, ignored).naming(Box::new(move |id| claim(&gateway, credential, id)))
}

/// Versions under which Google lists its models.
const GOOGLES_VERSIONS: [&str; 2] = ["/v1beta", "/v1alpha"];

/// Counting and listing of models; turns are no business of this.
fn leaves_nothing(method: &Method, path: &str) -> bool {
    match *method {
        Method::POST => {
            matches!(path, "/messages/count_tokens" | "/responses/input_tokens" | "/completions")
                || ModelCall::of(path).is_some_and(|call| call.verb == "countTokens")
        }
        Method::GET | Method::HEAD => {
            let path = GOOGLES_VERSIONS.iter().find_map(|version| path.strip_prefix(version)).unwrap_or(path);
            path == "/models" || path.starts_with("/models/")
        }
        Method::OPTIONS => true,
        _ => false,
    }
}

fn is_listed(paths: &[String], path: &str) -> bool {
    paths.iter().any(|listed| {
        let (listed, _) = operation(listed);
        match listed.strip_suffix('*') {
            Some(start) => path.starts_with(start),
            None => listed.trim_end_matches('/') == path,
        }
    })
}

/// Checks a body: what it goes on from must be the client's own.
pub async fn check_references(gateway: &Arc<Gateway>, credential: CredentialId, body: &[u8]) -> Result<(), Refusal> {
    let Ok(References(references)) = serde_json::from_slice(body) else { return Err(Refusal::NotJson) };
    for id in references {
        if !owns(gateway, credential, &id).await {
            return Err(Refusal::NotOwned);
        }
    }
    Ok(())
}

/// The objects that a request goes on from, however often and in whatever spelling it names them.
struct References(Vec<String>);

impl<'de> serde::Deserialize<'de> for References {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<References, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = References;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a request")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<References, A::Error> {
                let mut found = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    match name.as_str() {
                        "previous_response_id" | "conversation" | "cachedContent" | "cached_content" => match map
                            .next_value::<Value>(
                        )? {
                            Value::Null => {}
                            Value::String(id) => found.push(id),
                            other => found.push(other.get("id").and_then(Value::as_str).unwrap_or_default().to_owned()),
                        },
                        "input_file_id" | "file_id" | "training_file" | "validation_file" => {
                            found.extend(map.next_value::<Value>()?.as_str().map(str::to_owned));
                        }
                        "file_ids" => {
                            let list = map.next_value::<Value>()?;
                            let ids = list.as_array().into_iter().flatten();
                            found.extend(ids.map(|id| id.as_str().unwrap_or_default().to_owned()));
                        }
                        _ => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(References(found))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

/// The names of the objects that a reply speaks of: a whole one, or an event of a stream. A batch names the files that its
/// results are in.
pub fn made(reply: &[u8]) -> Vec<String> {
    let Ok(reply) = serde_json::from_slice::<Value>(reply) else { return Vec::new() };
    let object = reply.get("response").filter(|object| object.is_object()).unwrap_or(&reply);
    let fields = ["id", "output_file_id", "error_file_id"].map(|field| object.get(field).and_then(Value::as_str));
    fields.into_iter().flatten().filter(|id| !id.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn references(body: &str) -> Vec<String> {
        serde_json::from_str::<References>(body).unwrap().0
    }

    #[test]
    fn all_that_a_request_goes_on_from_is_found() {
        assert_eq!(references(r#"{"input":[{"previous_response_id":"x"}],"previous_response_id":null}"#), [""; 0]);
        let twice = r#"{"previous_response_id":"a","previous\u005fresponse_id":"b","conversation":{"id":"c"}}"#;
        assert_eq!(references(twice), ["a", "b", "c"]);
        assert_eq!(references(r#"{"conversation":7}"#), [""]);
        let files = r#"{"input_file_id":"a","training_file":"b","file_ids":["c",7],"note":"d"}"#;
        assert_eq!(references(files), ["a", "b", "c", ""]);
    }

    #[test]
    fn a_reply_names_what_it_made_and_not_what_it_repeats() {
        let event = br#"{"type":"response.created","metadata":{"id":"resp_b"},"response":{"metadata":{"id":"resp_c"},"id":"resp_a"}}"#;
        assert_eq!(made(event), ["resp_a"]);
        assert_eq!(made(br#"{"object":"response","id":"resp_d"}"#), ["resp_d"]);
        assert_eq!(made(br#"{"id":"batch_a","output_file_id":"file-b","error_file_id":null}"#), ["batch_a", "file-b"]);
        assert_eq!(made(b"{}"), [""; 0]);
    }

    #[test]
    fn a_path_names_a_collection_or_one_of_its_objects() {
        assert_eq!(named("/files"), Named::Collection);
        assert_eq!(named("/files/file-1/content"), Named::Object("file-1"));
        assert_eq!(named("/files//file-1"), Named::Object("file-1"));
        assert_eq!(named("/messages/batches/b/results"), Named::Object("b"));
        assert_eq!(named("/filesystems"), Named::Other);
        assert_eq!(named("/embeddings"), Named::Other);
    }

    #[test]
    fn what_leaves_nothing_behind_passes_and_more_where_it_is_listed() {
        assert!(leaves_nothing(&Method::GET, "/models/m") && leaves_nothing(&Method::POST, "/messages/count_tokens"));
        assert!(!leaves_nothing(&Method::DELETE, "/models/m") && !leaves_nothing(&Method::GET, "/files"));
        let listed = ["/v1/embeddings".to_owned(), "/audio/*".to_owned()];
        assert!(is_listed(&listed, "/embeddings") && is_listed(&listed, "/audio/speech"));
        assert!(!is_listed(&listed, "/embeddings/x") && !is_listed(&listed, "/files"));
    }
}
