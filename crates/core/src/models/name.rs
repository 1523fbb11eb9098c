//! Names of models as clients spell them, brought to one form.

/// Regions and scopes that Bedrock puts before a vendor.
const SCOPES: &[&str] = &["us", "us-gov", "eu", "apac", "au", "jp", "ca", "global"];
/// Vendors that Bedrock puts before a model, with a dot.
const VENDORS: &[&str] =
    &["anthropic", "amazon", "meta", "mistral", "cohere", "deepseek", "openai", "qwen", "ai21", "google"];
/// What clients append to ask for the long window of a model.
const LONG_WINDOW_MARK: &str = "[1m]";

/// A name without provider, region, date and spelling differences: `us.anthropic.Claude-Opus-4.5-20251101-v1:0`
/// and `anthropic/claude-opus-4-5` are the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModelName {
    text: String,
    long_window: bool,
}

impl ModelName {
    /// Reads a name as it stands in a request or a setting.
    pub fn of(spelled: &str) -> Self {
        let lower = spelled.trim().to_ascii_lowercase();
        let (name, long_window) = match lower.strip_suffix(LONG_WINDOW_MARK) {
            Some(name) => (name, true),
            None => (lower.as_str(), false),
        };
        let name = name.rsplit_once('/').map_or(name, |(_, last)| last);
        let name = without_revision(without_vendor(name));
        // `.` and `_` and `-` are one separator: vendors and routers disagree on it for the same model.
        let dashed = name.replace(['.', '_', ' ', '@', ':'], "-");
        let mut parts: Vec<&str> = dashed.split('-').filter(|part| !part.is_empty()).collect();
        while parts.len() > 1 && ends_in_release(&mut parts) {}
        Self { text: parts.join("-"), long_window }
    }

    /// The canonical text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// True when the client asked for the long window of the model.
    pub fn asks_long_window(&self) -> bool {
        self.long_window
    }

    /// True when the name begins with `stem`, and `stem` ends where a part of the name ends:
    /// `gpt-4-1` fits `gpt-4-1-mini` and does not fit `gpt-4-1106`.
    pub(crate) fn starts_with(&self, stem: &ModelName) -> bool {
        match self.text.strip_prefix(stem.as_str()) {
            Some(rest) => rest.is_empty() || rest.starts_with('-'),
            None => false,
        }
    }
}

/// The name after `us.anthropic.` and the like.
fn without_vendor(name: &str) -> &str {
    let unscoped = match name.split_once('.') {
        Some((scope, rest)) if SCOPES.contains(&scope) => rest,
        _ => name,
    };
    match unscoped.split_once('.') {
        Some((vendor, rest)) if VENDORS.contains(&vendor) => rest,
        _ => unscoped,
    }
}

/// The name without Bedrock's `-v1:0`. The colon tells it from a version that belongs to the name.
fn without_revision(name: &str) -> &str {
    match name.rsplit_once(':') {
        Some((stem, minor)) if minor.bytes().all(|b| b.is_ascii_digit()) => match stem.rsplit_once("-v") {
            Some((stem, major)) if major.bytes().all(|b| b.is_ascii_digit()) => stem,
            _ => name,
        },
        _ => name,
    }
}

/// Takes one trailing date or channel off; false when there is none.
fn ends_in_release(parts: &mut Vec<&str>) -> bool {
    let digits = |part: &str, length: usize| part.len() == length && part.bytes().all(|b| b.is_ascii_digit());
    let cut = match parts.as_slice() {
        [.., y, m, d] if digits(y, 4) && y.starts_with("20") && digits(m, 2) && digits(d, 2) => 3,
        [.., date] if digits(date, 8) && date.starts_with("20") => 1,
        [.., "latest" | "free" | "beta"] => 1,
        _ => 0,
    };
    parts.truncate(parts.len().saturating_sub(cut));
    cut > 0
}
