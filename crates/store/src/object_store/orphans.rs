//! Objects that no row names.

use super::objects::Objects;
use super::rows::ObjectRows;
use crate::error::Fault;
use crate::limits::millis;
use crate::object_name::ObjectName;
use std::time::Duration;

/// How old an object has to be before one without a row counts as lost. Between an object and its row there is one
/// transaction, which takes seconds; a long import, minutes.
const GRACE: Duration = Duration::from_secs(60 * 60);

/// Objects that are deleted at once.
const AT_ONCE: u32 = 1_000;

/// Deletes objects whose rows are gone, until none is left or so many are done.
pub(crate) fn delete_unlinked(objects: &Objects, rows: &dyn ObjectRows, most: u64) -> Result<u64, Fault> {
    let mut done = 0;
    while done < most {
        let gone = rows.unlinked(AT_ONCE)?;
        if gone.is_empty() {
            break;
        }
        objects.delete(&gone)?;
        // Afterwards: who is killed before it begins anew, and to delete an object twice is no fault.
        rows.deleted(&gone)?;
        done += gone.len() as u64;
    }
    Ok(done)
}

/// Deletes objects whose rows never came: whoever wrote them was killed, or lost the database. Says how many.
pub(crate) fn sweep(objects: &Objects, rows: &dyn ObjectRows) -> Result<u64, Fault> {
    let store = rows.store_id()?;
    // The times of objects are those of this clock.
    let before = objects.clock(&store)?.saturating_sub(millis(GRACE));
    let mut swept = 0;
    for first in 0..=u8::MAX {
        let listed = objects.list(&store, first)?;
        let old: Vec<ObjectName> =
            listed.iter().filter(|listed| listed.written_at < before).map(|listed| listed.name).collect();
        // Asked after the list was made, so that a row that was committed meanwhile is seen.
        let named = rows.named(&old)?;
        let lost: Vec<ObjectName> = old.into_iter().filter(|name| !named.contains(name)).collect();
        objects.delete(&lost)?;
        swept += lost.len() as u64;
    }
    Ok(swept)
}
