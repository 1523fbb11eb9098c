//! Base64, signatures, ciphertext and media, shown by kind and size.

use foldline_transcript::edit::Span;
use foldline_transcript::wire::field;
use std::borrow::Cow;

/// A run of base64 from this length on is no word, path or digest: the longest of those in use, SHA-512 in
/// hexadecimal, has 128 characters.
const LONGEST_WORD: usize = 200;
/// After `;base64,` nothing else can follow.
const SHORT: usize = 40;
/// Lines of base64 as `base64`, PEM and mail wrap them.
const WRAPPED: std::ops::RangeInclusive<usize> = 60..=128;
/// So many such lines in a row are a block.
const BLOCK: usize = 4;

/// Base64 that fills whole lines at the start of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Wrapped {
    /// How many lines; 0 when there are none.
    pub(super) lines: usize,
    /// Bytes to the end of the last, its break included.
    pub(super) bytes: usize,
}

/// A line without its payloads.
pub(super) fn without(line: &str) -> Cow<'_, str> {
    if line.len() < SHORT + DATA_MARK.len() || (line.len() < LONGEST_WORD && !line.contains(DATA_MARK)) {
        return Cow::Borrowed(line);
    }
    let bytes = line.as_bytes();
    let mut out = String::new();
    let mut kept = 0;
    let mut at = 0;
    while at < bytes.len() {
        let run = bytes.get(at..).unwrap_or_default().iter().take_while(|&&byte| is_base64(byte)).count();
        let text = line.get(at..at + run).unwrap_or_default();
        let is_data = run >= SHORT && line.get(..at).is_some_and(|before| before.ends_with(DATA_MARK));
        if is_data || looks_encoded(text) {
            out.push_str(line.get(kept..at).unwrap_or_default());
            out.push_str(&format!("[base64, {}]", size(run)));
            kept = at + run;
        }
        at += run.max(1);
    }
    if kept == 0 {
        return Cow::Borrowed(line);
    }
    out.push_str(line.get(kept..).unwrap_or_default());
    Cow::Owned(out)
}

/// How data stands in an address.
const DATA_MARK: &str = ";base64,";

/// Base64 over several lines at the start of `text`.
pub(super) fn wrapped(text: &str) -> Wrapped {
    // Nearly every line is told from base64 by its first bytes.
    if !text.as_bytes().iter().take(*WRAPPED.start()).all(|&byte| is_base64(byte)) {
        return Wrapped::default();
    }
    let mut found = Wrapped::default();
    let mut sample = String::new();
    for line in text.split_inclusive('\n') {
        let inside = line.trim_end_matches(['\n', '\r']);
        let is_last = !WRAPPED.contains(&inside.len());
        if inside.is_empty() || inside.len() > *WRAPPED.end() || !inside.bytes().all(is_base64) {
            break;
        }
        if sample.len() < LONGEST_WORD {
            sample.push_str(inside);
            // Known after a few lines: a list of digests is not read to its end for each of them.
            if sample.len() >= LONGEST_WORD && !looks_encoded(&sample) {
                return Wrapped::default();
            }
        }
        found = Wrapped { lines: found.lines + 1, bytes: found.bytes + line.len() };
        // A shorter line ends a block.
        if is_last {
            break;
        }
    }
    if found.lines >= BLOCK && looks_encoded(&sample) { found } else { Wrapped::default() }
}

/// Long, and a mixture of letters of both cases and digits such as words and paths are not.
fn looks_encoded(run: &str) -> bool {
    if run.len() < LONGEST_WORD {
        return false;
    }
    let count = |is: fn(&u8) -> bool| run.as_bytes().iter().filter(|byte| is(byte)).count();
    // Of random bytes in base64, 40 % are upper case, 40 % lower case, 16 % digits. A third of that is enough.
    let share = |count: usize, percent: usize| count * 100 >= run.len() * percent;
    share(count(u8::is_ascii_uppercase), 13)
        && share(count(u8::is_ascii_lowercase), 13)
        && share(count(u8::is_ascii_digit), 5)
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-')
}

/// Whether the value of a field is for machines only, whatever it looks like.
pub(super) fn is_sealed_field(key: &str) -> bool {
    matches!(key, "signature" | "thought_signature" | "thoughtSignature" | "encrypted_content" | "encrypted_reasoning")
}

/// `[image/png, 48 KB]` for a block that carries media; `None` for any other object.
pub(super) fn media(text: &str, object: Span) -> Option<String> {
    let kind = field::word(text, object, "type");
    let is_media = foldline_transcript::wire::is_media(kind)
        || (kind == "base64" && field::find(text, object, "data").is_some())
        || (field::find(text, object, "mimeType").is_some() && field::find(text, object, "data").is_some());
    if !is_media {
        return None;
    }
    let raw = object.of(text);
    let named = |key: &str| {
        let rest = raw.split_once(key).map(|(_, rest)| rest);
        rest.and_then(|rest| rest.split('"').nth(1)).filter(|word| !word.is_empty() && word.len() < 80)
    };
    let stated = named("\"media_type\"")
        .or_else(|| named("\"mimeType\""))
        .or_else(|| raw.split_once("data:").and_then(|(_, rest)| rest.split([';', ',', '"']).next()))
        .filter(|stated| stated.len() < 80 && stated.contains('/'));
    let kind = stated.unwrap_or(if kind.is_empty() { "media" } else { kind });
    let file = named("\"filename\"").map(|name| format!(", {name}")).unwrap_or_default();
    let address = raw.find("\"http").and_then(|at| raw.get(at + 1..)).and_then(|rest| rest.split('"').next());
    Some(match address.filter(|address| address.len() < 500) {
        Some(address) => format!("[{kind}, {address}{file}]"),
        None => format!("[{kind}, {}{file}]", size(raw.len() * 3 / 4)),
    })
}

/// A number of bytes in few digits: `1,204 bytes`, `48 KB`, `12 MB`.
pub(super) fn size(bytes: usize) -> String {
    match bytes {
        1 => "1 byte".to_owned(),
        ..=9_999 => format!("{} bytes", foldline_reduce::wording::grouped(bytes)),
        10_000..=9_999_999 => format!("{} KB", foldline_reduce::wording::grouped(bytes.div_ceil(1_000))),
        _ => format!("{} MB", foldline_reduce::wording::grouped(bytes.div_ceil(1_000_000))),
    }
}
