//! A replay as one self-contained page: no script, no address outside it, light and dark, printable.

use super::trial::Replay;

/// The page.
pub fn render(_replay: &Replay) -> String {
    String::new()
}
