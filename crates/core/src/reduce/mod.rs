//! placeholder reducer
use std::fmt;
/// source
pub struct Source<'a> {
    /// tool
    pub tool: &'a str,
    /// arg
    pub argument: &'a str,
    /// focus
    pub focus: &'a [&'a str],
}
/// kind
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// command
    Command,
}
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("command")
    }
}
/// reduced
pub struct Reduced {
    /// kind
    pub kind: Kind,
    /// text
    pub text: String,
}
/// reduce
pub fn reduce(_source: &Source<'_>, text: &str) -> Option<Reduced> {
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() < 30 {
        return None;
    }
    let mut out = lines[..10].join("\n");
    out.push_str(&format!("\n[… {} lines omitted]\n", lines.len() - 15));
    out.push_str(&lines[lines.len() - 5..].join("\n"));
    Some(Reduced { kind: Kind::Command, text: out })
}
