//! The `store` section of the settings.

use crate::Limits;
use foldline_core::section;
use foldline_core::settings::{AutoOr, Kind, bytes, count};

section! {
    /// Where originals and checkpoints are kept.
    StoreSettings = "store" {
        /// File or URL of the store; `none` keeps nothing, null is the default place of the user.
        path: Option<String> = Kind::Text, "null";
        /// Bytes that all that is kept may take, packed; the least recently used of whoever takes most go first.
        max_bytes: u64 = bytes(1_000_000, 10_000_000_000_000), "1000M";
        /// Bytes that those of one client may take; `auto` is as much as there is room for.
        max_bytes_per_client: AutoOr<u64> = bytes(1_000_000, 10_000_000_000_000).or(&["auto"]), "auto";
        /// File with the keys that what is kept is encrypted with, the one for new content first; for its owner only.
        key_file: Option<String> = Kind::Text, "null";
        /// Command that prints these keys, such as one that asks the keyring of the system.
        key_command: Option<String> = Kind::Text, "null";
        /// Days that an original is kept after its last use.
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
