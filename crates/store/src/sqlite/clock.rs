//! The time by which things grow old. A clock that leaps ahead is not believed before it has stood there for a while:
//! one that is wrong for an hour would otherwise cost everything that is kept.

use crate::error::Fault;
use crate::limits::{Limits, millis};
use rusqlite::{Connection, params};

/// How much the time must differ to be written down again.
const GRAIN: i64 = 60_000;

/// The time to count age by, given what the clock says. To be called inside a transaction.
pub(super) fn believed(connection: &Connection, limits: &Limits, now: i64) -> Result<i64, Fault> {
    let Some(leap) = limits.leap.map(millis) else { return Ok(now) };
    let sql = "SELECT seen_at, leapt_at FROM totals";
    let (seen, leapt): (Option<i64>, Option<i64>) =
        connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let note = |seen: i64, leapt: Option<i64>| {
        connection.execute("UPDATE totals SET seen_at = ?1, leapt_at = ?2", params![seen, leapt])
    };
    let Some(seen) = seen else {
        note(now, None)?;
        return Ok(now);
    };
    let is_leap = now > seen.saturating_add(leap);
    match leapt {
        // It stayed where it leapt to: time has passed, or somebody set it right.
        Some(leapt) if is_leap && now >= leapt.saturating_add(leap) => {
            note(now, None)?;
            Ok(now)
        }
        Some(leapt) if is_leap && now >= leapt => Ok(seen),
        _ if is_leap => {
            note(seen, Some(now))?;
            Ok(seen)
        }
        _ => {
            if leapt.is_some() || now > seen + GRAIN {
                note(seen.max(now), None)?;
            }
            Ok(now)
        }
    }
}
