//! The `store` section of the settings.

use crate::Limits;
use foldline_core::section;
use foldline_core::settings::{AutoOr, ValueKind, bytes, count};

section! {
    /// Where originals and checkpoints are kept.
    StoreSettings = "store" {
        /// File of the store; `none` disables it, null is the default location of the user.
        path: Option<String> = ValueKind::Text, "null";
        /// Maximum stored bytes, compressed; the largest client's least recently used content is removed first.
        max_bytes: u64 = bytes(1_000_000, 10_000_000_000_000), "1000M";
        /// Maximum stored bytes per client; `auto` sets no limit per client.
        max_bytes_per_client: AutoOr<u64> = bytes(1_000_000, 10_000_000_000_000).or(&["auto"]), "auto";
        /// File with encryption keys, the one for new content first; accessible to its owner only.
        key_file: Option<String> = ValueKind::Text, "null";
        /// Command that prints these keys, for example from the system keyring.
        key_command: Option<String> = ValueKind::Text, "null";
        /// Days to keep an original after its last use.
        max_age_days: u32 = count(1, 36_500), "30";
    }
}

impl StoreSettings {
    /// The limits that they set.
    pub fn limits(&self) -> Limits {
        Limits {
            max_bytes_per_namespace: self.max_bytes_per_client.fixed(),
            ..Limits::of(self.max_bytes, self.max_age_days)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foldline_core::settings::Section;

    #[test]
    fn every_row_fits_its_field() {
        assert_eq!(StoreSettings::misfits(), Vec::<String>::new());
    }
}
