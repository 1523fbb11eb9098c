//! One tool output by itself: made shorter before a conversation has it.
//!
//! Hooks of agents and gateways see outputs one by one. What an output becomes here is a function of the output, its call
//! and the words for the way back, so that it is the same text each time.

use crate::ledger::{Arguments, understand_with};
use crate::prune::{Header, is_reduced_text};
use crate::reading::{Choice, Reach, Way};
use crate::tokens::estimate;
use foldline_reduce::{self as reduce, Kind};
use foldline_transcript::recall::Handle;
use std::borrow::Cow;

/// A tool output and the call that it answers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Output<'a> {
    /// The tool's name; empty where nobody knows it.
    pub tool: &'a str,
    /// The arguments of the call as a JSON object; empty where nobody knows them.
    pub arguments: &'a str,
    /// What the tool printed.
    pub text: &'a str,
}

/// A shorter form of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shorter {
    /// What stands for it: a line that says what it was, then what is kept.
    pub text: String,
    /// What the output was taken for.
    pub kind: Kind,
    /// The address of the original.
    pub handle: Handle,
    /// Estimated tokens, before and after.
    pub tokens: (u32, u32),
}

/// Makes an output shorter; `None` when that would save nothing, or when it was done already. `way` says how the reader
/// gets the original, in a few words.
pub fn shorten(output: &Output<'_>, way: impl FnOnce(Handle) -> String) -> Option<Shorter> {
    if is_reduced_text(output.text) {
        return None;
    }
    let arguments = Arguments::read(Cow::Borrowed(output.arguments));
    let call = (!output.tool.is_empty()).then(|| understand_with(output.tool, &arguments));
    let argument = call.as_ref().map_or("", |call| call.target.as_ref());
    let reduced = reduce::reduce(&reduce::Source { tool: output.tool, argument, focus: &[] }, output.text)?;
    let handle = Handle::of(output.text);
    let note = format!("reduced as {}{}", reduced.kind, way(handle));
    let text = format!("{}\n{}", Header::of(call.as_ref(), output.text, 0).line(&note), reduced.text);
    let tokens = (estimate(output.text), estimate(&text));
    (tokens.1 < tokens.0).then_some(Shorter { text, kind: reduced.kind, handle, tokens })
}

/// The words for a reader who has a way of their own.
pub fn whole_by(reach: &Reach, handle: Handle) -> String {
    match reach {
        Reach::Nothing => format!(", {handle}"),
        reach => format!("; all of it: {}", Way::of(reach.clone()).recall(&handle.to_string(), &Choice::default())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log() -> String {
        let mut log = String::from("$ make all\n");
        (0..400).for_each(|part| log.push_str(&format!("cc -O2 -c src/part_{part}.c -o build/part_{part}.o\n")));
        log + "src/last.c:17:5: error: unknown type name 'size'\nmake: *** [build/last.o] Error 1\n"
    }

    #[test]
    fn an_output_names_its_call_its_size_and_the_way_to_all_of_it() {
        let text = log();
        let output = Output { tool: "Bash", arguments: r#"{"command":"make all"}"#, text: &text };
        let short = shorten(&output, |handle| whole_by(&Reach::Command, handle)).unwrap();
        let first = short.text.lines().next().unwrap();
        assert!(
            first.starts_with("[was Bash `make all` · 403 lines, 17 KB · reduced as build; all of it: "),
            "{first}"
        );
        assert!(first.ends_with(&format!("foldline recall {}]", Handle::of(&text))), "{first}");
        assert!(short.text.contains("unknown type name") && short.tokens.1 * 4 < short.tokens.0);
        let by_tool = shorten(&output, |handle| whole_by(&Reach::Tool("foldline_recall".into()), handle)).unwrap();
        assert!(by_tool.text.contains("all of it: foldline_recall handle=fl-"), "{}", by_tool.text);
    }

    #[test]
    fn it_is_made_shorter_once_and_only_where_that_saves_something() {
        let text = log();
        let short = shorten(&Output { text: &text, ..Output::default() }, |_| String::new()).unwrap();
        assert!(short.text.starts_with("[was tool output · "), "{}", short.text);
        assert_eq!(shorten(&Output { text: &short.text, ..Output::default() }, |_| String::new()), None);
        for small in ["", "ok\n", "{\"a\":1}", "one\ntwo\nthree\n"] {
            assert_eq!(shorten(&Output { text: small, ..Output::default() }, |_| String::new()), None, "{small}");
        }
    }
}
