//! One value in a JSON file with comments, set without touching anything else.
//!
//! Clients read JSON with comments and trailing commas; a parser that writes it again would lose them, and the order and look
//! of everything. So places are found in the text, and one stretch of it is replaced.

use serde_json::Value;

/// Sets the value at a path of keys; objects on the way are made where they are missing.
pub fn set(text: &str, path: &[&str], value: &Value) -> Result<String, String> {
    if text.trim().is_empty() {
        return Ok(format!("{}\n", pretty(&nested(path, value), 0)));
    }
    let mut reader = Reader { text, at: 0 };
    reader.skip();
    let mut depth = 1;
    let mut rest = path;
    loop {
        let Some((key, deeper)) = rest.split_first() else { return Ok(text.to_owned()) };
        let object = reader.object(key)?;
        match object.found {
            None => return Ok(inserted(text, &object, key, &nested(deeper, value), depth)),
            Some((start, end)) if deeper.is_empty() => {
                return Ok(format!("{}{}{}", &text[..start], pretty(value, depth), &text[end..]));
            }
            Some((start, _)) => {
                reader.at = start;
                (rest, depth) = (deeper, depth + 1);
            }
        }
    }
}

/// An object in the text.
struct Object {
    /// Behind its opening brace.
    open: usize,
    /// Its closing brace.
    close: usize,
    /// The end of its last value, if it has one.
    last: Option<usize>,
    /// Whether a comma follows the last value.
    has_comma: bool,
    /// The value that was looked for.
    found: Option<(usize, usize)>,
}

fn inserted(text: &str, object: &Object, key: &str, value: &Value, depth: usize) -> String {
    let indent = "  ".repeat(depth);
    let entry = format!("\n{indent}{}: {}", Value::from(key), pretty(value, depth));
    let (at, comma) = match object.last {
        Some(last) if object.has_comma => (behind_comma(text, last), ""),
        Some(last) => (last, ","),
        None => (object.open, ""),
    };
    let before = &text[..at];
    let after = &text[at..];
    // An object on one line, or an empty one, gets its brace on a line of its own.
    let ending = match text[at..object.close].contains('\n') {
        true => String::new(),
        false => format!("\n{}", "  ".repeat(depth - 1)),
    };
    let after = if ending.is_empty() { after } else { after.trim_start_matches([' ', '\t']) };
    format!("{before}{comma}{entry}{ending}{after}")
}

/// The place behind the comma that follows a value.
fn behind_comma(text: &str, last: usize) -> usize {
    let mut reader = Reader { text, at: last };
    reader.skip();
    reader.at + 1
}

fn nested(path: &[&str], value: &Value) -> Value {
    path.iter()
        .rev()
        .fold(value.clone(), |inner, key| Value::Object([((*key).to_owned(), inner)].into_iter().collect()))
}

/// A value over several lines, as it stands at a depth.
fn pretty(value: &Value, depth: usize) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.replace('\n', &format!("\n{}", "  ".repeat(depth)))
}

#[derive(Clone, Copy)]
struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn next(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Passes over white space and comments.
    fn skip(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
            self.at += rest.len() - trimmed.len();
            let comment = if trimmed.starts_with("//") {
                trimmed.find('\n').unwrap_or(trimmed.len())
            } else if trimmed.starts_with("/*") {
                trimmed.find("*/").map_or(trimmed.len(), |end| end + 2)
            } else {
                return;
            };
            self.at += comment;
        }
    }

    fn wrong(&self, expected: &str) -> String {
        let line = self.text.get(..self.at).unwrap_or_default().matches('\n').count() + 1;
        format!("line {line}: expected {expected}")
    }

    /// Reads the object that begins here, and looks for a key in it.
    fn object(&mut self, wanted: &str) -> Result<Object, String> {
        if self.next() != Some('{') {
            return Err(self.wrong("an object"));
        }
        self.at += 1;
        let mut object = Object { open: self.at, close: 0, last: None, has_comma: false, found: None };
        loop {
            self.skip();
            match self.next() {
                Some('}') => {
                    object.close = self.at;
                    return Ok(object);
                }
                Some(',') => {
                    object.has_comma = true;
                    self.at += 1;
                }
                Some('"') => {
                    let key = self.string()?;
                    self.skip();
                    if self.next() != Some(':') {
                        return Err(self.wrong("a colon"));
                    }
                    self.at += 1;
                    self.skip();
                    let start = self.at;
                    self.value()?;
                    if key == wanted {
                        object.found = Some((start, self.at));
                    }
                    (object.last, object.has_comma) = (Some(self.at), false);
                }
                _ => return Err(self.wrong("a key or the end of the object")),
            }
        }
    }

    fn value(&mut self) -> Result<(), String> {
        match self.next() {
            Some('"') => self.string().map(drop),
            Some('{') => {
                self.object("")?;
                self.at += 1;
                Ok(())
            }
            Some('[') => {
                self.at += 1;
                loop {
                    self.skip();
                    match self.next() {
                        Some(']') => break,
                        Some(',') => self.at += 1,
                        Some(_) => self.value()?,
                        None => return Err(self.wrong("the end of the list")),
                    }
                }
                self.at += 1;
                Ok(())
            }
            _ => {
                let rest = self.rest();
                let length =
                    rest.find(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c))).unwrap_or(rest.len());
                if length == 0 {
                    return Err(self.wrong("a value"));
                }
                self.at += length;
                Ok(())
            }
        }
    }

    fn string(&mut self) -> Result<String, String> {
        let start = self.at;
        let mut is_escaped = false;
        for (offset, c) in self.rest().char_indices().skip(1) {
            match c {
                _ if is_escaped => is_escaped = false,
                '\\' => is_escaped = true,
                '"' => {
                    self.at = start + offset + 1;
                    let literal = self.text.get(start..self.at).unwrap_or_default();
                    return serde_json::from_str(literal).map_err(|_| self.wrong("a string"));
                }
                _ => {}
            }
        }
        Err(self.wrong("the end of the string"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn comments_order_and_look_stay() {
        let text = "{\n  // the model\n  \"model\": \"opus\", /* keep */\n  \"env\": {\n    \"A\": \"1\", // last\n  },\n  \"odd\":[1,\n 2,],\n}\n";
        let wanted = "{\n  // the model\n  \"model\": \"opus\", /* keep */\n  \"env\": {\n    \"A\": \"1\",\n    \"B\": \"2\" // last\n  },\n  \"odd\":[1,\n 2,],\n}\n";
        assert_eq!(set(text, &["env", "B"], &json!("2")).unwrap(), wanted);
        let replaced = set(text, &["model"], &json!("x")).unwrap();
        assert_eq!(replaced, text.replace("\"opus\"", "\"x\""));
        assert_eq!(set(&replaced, &["model"], &json!("opus")).unwrap(), text);
    }

    #[test]
    fn objects_are_made_where_they_are_missing() {
        assert_eq!(set("", &["a", "b"], &json!(1)).unwrap(), "{\n  \"a\": {\n    \"b\": 1\n  }\n}\n");
        assert_eq!(set("{}", &["a"], &json!(1)).unwrap(), "{\n  \"a\": 1\n}");
        assert_eq!(set("{\"x\": true}", &["a"], &json!(1)).unwrap(), "{\"x\": true,\n  \"a\": 1\n}");
        assert_eq!(
            set("{\"x\": {}}\n", &["x", "y"], &json!([1])).unwrap(),
            "{\"x\": {\n    \"y\": [\n      1\n    ]\n  }}\n"
        );
    }

    #[test]
    fn what_is_no_object_is_refused_with_its_line() {
        assert_eq!(set("[]", &["a"], &json!(1)).unwrap_err(), "line 1: expected an object");
        assert_eq!(set("{\n\"a\": 5}", &["a", "b"], &json!(1)).unwrap_err(), "line 2: expected an object");
        for broken in ["{", "{\"a\"", "{\"a\":", "{\"a\":\"", "{a:1}", "{\"a\":[1"] {
            assert!(set(broken, &["b"], &json!(1)).is_err(), "{broken}");
        }
    }
}
