//! Parses a model's reply: a JSON object with an entry for each question.

use super::answer::{Answer, Grade};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Entries by the number of their question, and why some are missing.
#[derive(Debug, PartialEq)]
pub struct Entries<T> {
    /// Those that can be used.
    pub found: BTreeMap<u32, T>,
    /// What is wrong with the others; `None` when all are there.
    pub wrong: Option<String>,
}

/// Reads the entries for questions out of a reply.
pub fn read<T>(reply: &str, ids: &[u32], entry: fn(&Value) -> Result<T, String>) -> Entries<T> {
    let mut found = BTreeMap::new();
    let object = match object_in(reply) {
        Ok(object) => object,
        Err(why) => return Entries { found, wrong: Some(why) },
    };
    let mut wrong = Vec::new();
    for &id in ids {
        match object.get(&id.to_string()).map(entry) {
            Some(Ok(value)) => _ = found.insert(id, value),
            Some(Err(why)) => wrong.push(format!("question {id}: {why}")),
            None => wrong.push(format!("question {id} has no entry")),
        }
    }
    Entries { found, wrong: (!wrong.is_empty()).then(|| wrong.join(", ")) }
}

/// The object of a reply, also where words or a fence are around it.
fn object_in(reply: &str) -> Result<Map<String, Value>, String> {
    let start = reply.find('{').ok_or("the reply has no JSON object")?;
    let end = reply.rfind('}').map_or(reply.len(), |at| at + 1);
    let object = reply.get(start..end).unwrap_or_else(|| reply.get(start..).unwrap_or_default());
    serde_json::from_str(object).map_err(|error| format!("the reply is not a JSON object ({error})"))
}

/// An entry as an answer.
pub fn answer(value: &Value) -> Result<Answer, String> {
    match value {
        Value::String(words) => Ok(Answer::of(words)),
        Value::Null => Ok(Answer::NotInContext),
        other => Ok(Answer::of(&other.to_string())),
    }
}

/// An entry as a grade.
pub fn grade(value: &Value) -> Result<Grade, String> {
    let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
    number.and_then(Grade::of).ok_or_else(|| format!("invalid grade {value}; expected 0, 0.25, 0.5, 0.75 or 1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_found_in_fences_and_words() {
        for reply in ["{\"1\": \"a\"}", "```json\n{\"1\": \"a\"}\n```", "Here it is: {\"1\": \"a\", \"9\": 3} – done."]
        {
            let entries = read(reply, &[1], answer);
            assert_eq!((entries.found.get(&1), entries.wrong), (Some(&Answer::Told("a".into())), None), "{reply}");
        }
    }

    #[test]
    fn what_is_missing_or_wrong_is_told_by_its_question() {
        let entries = read(r#"{"1": 0.75, "2": 0.6, "3": "0.5"}"#, &[1, 2, 3, 4], grade);
        assert_eq!(entries.found.keys().copied().collect::<Vec<_>>(), [1, 3]);
        let why = "question 2: invalid grade 0.6; expected 0, 0.25, 0.5, 0.75 or 1, question 4 has no entry";
        assert_eq!(entries.wrong.as_deref(), Some(why));
        assert_eq!(read("I cannot say.", &[1], grade).wrong.as_deref(), Some("the reply has no JSON object"));
        let cut = read("{\"1\": \"a", &[1], answer).wrong.unwrap();
        assert!(cut.starts_with("the reply is not a JSON object (EOF"), "{cut}");
        assert!(read("} {", &[1], answer).wrong.is_some());
    }
}
