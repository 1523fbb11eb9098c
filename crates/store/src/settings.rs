//! The `store` section of the settings.

use crate::{Limits, ObjectPlace};
use foldline_core::section;
use foldline_core::settings::{AutoOr, ValueKind, bytes, count};
use std::time::Duration;

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
        /// Object store for large originals: `file:///FOLDER` or `s3://BUCKET/PREFIX` with the usual `AWS_…` variables; null keeps them in the store itself.
        originals: Option<String> = ValueKind::Text, "null";
        /// Bytes, compressed, from which on an original is kept there; smaller ones are not worth a request.
        originals_min_bytes: u64 = bytes(0, 1_000_000_000), "16K";
        /// Days to keep an original after its last use.
        max_age_days: u32 = count(1, 36_500), "30";
        /// Seconds that requests wait for PostgreSQL while it is busy or does not answer, as during a restart; beyond that they are forwarded without it.
        restart_secs: u32 = count(0, 60), "5";
    }
}

impl StoreSettings {
    /// The limits that they set.
    pub fn limits(&self) -> Limits {
        Limits {
            max_bytes_per_namespace: self.max_bytes_per_client.fixed(),
            restart: Duration::from_secs(self.restart_secs.into()),
            ..Limits::of(self.max_bytes, self.max_age_days)
        }
    }

    /// The object store that they name.
    pub fn objects(&self) -> Option<ObjectPlace> {
        let url = self.originals.clone()?;
        Some(ObjectPlace { url, min_bytes: self.originals_min_bytes })
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
