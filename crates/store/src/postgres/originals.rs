//! Originals: stored in one transaction, recalled by digits and checked against their digest.

use super::expire::{excesses, sweep};
use super::object_rows::object;
use super::seals::{lacks_key, use_key};
use super::sql::{all, bytes, change, digest, first, int, maybe_int, text, values};
use crate::address::{Address, Digest};
use crate::error::Fault;
use crate::limits::{CLEARED_PER_PUT, Expiry, Limits, ROW_BYTES, USE_GRAIN, millis};
use crate::object_store::{Elsewhere, Looked, Placed};
use crate::original::{NewOriginal, Original, Recall, Stored};
use crate::pack::pack;
use crate::rows::{Found, MOST_CANDIDATES, Packed, State, candidates, label, number, read_label, unpacked, whole};
use crate::seal::{Scope, Seal, Vault, What};
use crate::shares::What as Share;
use std::collections::BTreeMap;
use tokio_postgres::{GenericClient, Transaction};

/// Rows of one put and what they take: an original of this put is never let go by it.
pub(super) type Batch = BTreeMap<i64, u64>;

/// Stores texts inside a transaction. Says which rows they have.
pub(super) async fn put(
    transaction: &Transaction<'_>,
    (vault, limits, now): (&Vault, &Limits, i64),
    namespace: &str,
    (originals, digests): (&[NewOriginal<'_>], &[Digest]),
    placed: &Placed,
) -> Result<(Stored, Batch), Fault> {
    let mut stored = Stored::default();
    let mut batch = Batch::new();
    use_key(transaction, vault).await?;
    let seals = vault.all(Scope::Namespace(namespace));
    let mut known = find_known(transaction, &seals, now, namespace, digests).await?;
    for (original, digest) in originals.iter().zip(digests) {
        let (row, footprint) = match known.get(digest) {
            Some(known) => {
                stored.known += 1;
                *known
            }
            None => {
                let added = add(transaction, (&seals, placed), now, namespace, original, digest).await?;
                stored.added += 1;
                stored.added_bytes += added.1;
                known.insert(*digest, added);
                added
            }
        };
        batch.insert(row, footprint);
    }
    // What is put is never let go by the same put, and must not take others' room.
    let needed = batch.values().sum();
    let excesses = excesses(transaction, limits, Share::All).await?;
    let mine = excesses.iter().find(|excess| excess.namespace == namespace);
    let level = mine.map_or(limits.max_bytes, |excess| excess.level);
    if needed > level {
        return Err(Fault::TooLarge { needed, limit: level });
    }
    let swept = sweep(transaction, limits, now, &batch, CLEARED_PER_PUT).await?;
    stored.expired = swept.aged + swept.oversized;
    Ok((stored, batch))
}

/// The texts that are there, with their rows and what they take. Notes that they were used.
async fn find_known(
    transaction: &Transaction<'_>,
    seals: &[Seal],
    now: i64,
    namespace: &str,
    digests: &[Digest],
) -> Result<BTreeMap<Digest, (i64, u64)>, Fault> {
    let mut known = BTreeMap::new();
    let mut unused = Vec::new();
    for seal in seals {
        let places: BTreeMap<[u8; 32], Digest> =
            digests.iter().map(|digest| (seal.digest(digest).into_array(), *digest)).collect();
        let wanted: Vec<&[u8]> = places.keys().map(<[u8; 32]>::as_slice).collect();
        // In the order of rows, so that no two puts wait for each other.
        let sql = "SELECT id, footprint, used_at, digest FROM foldline.originals
                    WHERE namespace = $1 AND digest = ANY($2) ORDER BY id FOR NO KEY UPDATE";
        let rows = all(transaction, sql, values![namespace.as_bytes() => BYTEA, wanted => BYTEA_ARRAY]).await?;
        for row in rows {
            let (id, footprint, used_at) = (int(&row, 0)?, int(&row, 1)?, int(&row, 2)?);
            if let Some(digest) = places.get(&digest(&row, 3)?) {
                known.entry(*digest).or_insert((id, whole(footprint)));
            }
            if used_at < now.saturating_sub(millis(USE_GRAIN)) {
                unused.push(id);
            }
        }
    }
    if !unused.is_empty() {
        let sql = "UPDATE foldline.originals SET used_at = $1 WHERE id = ANY($2)";
        change(transaction, sql, values![now => INT8, unused => INT8_ARRAY]).await?;
    }
    Ok(known)
}

async fn add(
    transaction: &Transaction<'_>,
    (seals, placed): (&[Seal], &Placed),
    now: i64,
    namespace: &str,
    original: &NewOriginal<'_>,
    digest: &Digest,
) -> Result<(i64, u64), Fault> {
    let Some(writing) = seals.first() else { return Err(Fault::Other("there is no way to write".into())) };
    let place = writing.digest(digest);
    let label = label(writing, digest, &place, original.tool)?;
    let placed = placed.get(&place);
    let mut pieces = Vec::new();
    if placed.is_none() {
        pack(original.text, |piece| {
            pieces.push(writing.bytes(What::Piece(&place, number(pieces.len() as u64)), piece)?.into_owned());
            Ok::<_, Fault>(())
        })?;
    }
    let packed = || ROW_BYTES + pieces.iter().map(|piece| piece.len() as u64).sum::<u64>();
    let footprint = placed.map_or_else(packed, |object| object.footprint);
    let object = placed.map(|object| object.name.0.to_vec());
    let row = first(
        transaction,
        "WITH original AS (
             INSERT INTO foldline.originals
                 (namespace, digest, label, created_at, used_at, size, footprint, sealed, object)
             VALUES ($1, $2, $3, $4, $4, $5, $6, $7, $9) RETURNING id),
         pieces AS (
             INSERT INTO foldline.chunks (original, part, bytes)
             SELECT original.id, place - 1, piece
               FROM original, unnest($8::bytea[]) WITH ORDINALITY AS given (piece, place))
         SELECT id FROM original",
        values![
            namespace.as_bytes() => BYTEA,
            place.as_bytes() => BYTEA,
            label.as_bytes() => BYTEA,
            now => INT8,
            number(original.text.len() as u64) => INT8,
            number(footprint) => INT8,
            writing.number() => INT8,
            pieces => BYTEA_ARRAY,
            object => BYTEA,
        ],
    )
    .await?;
    let places: Vec<Vec<u8>> = seals.iter().map(|seal| seal.digest(digest).as_bytes().to_vec()).collect();
    let sql = "DELETE FROM foldline.tombstones WHERE namespace = $1 AND digest = ANY($2)";
    change(transaction, sql, values![namespace.as_bytes() => BYTEA, places => BYTEA_ARRAY]).await?;
    let row = row.ok_or_else(|| Fault::Other("a row was written and is not there".into()))?;
    Ok((int(&row, 0)?, footprint))
}

/// Looks an address up in a namespace.
pub(super) async fn get(
    snapshot: &Transaction<'_>,
    vault: &Vault,
    namespace: &str,
    address: &Address,
) -> Result<Looked, Fault> {
    let mut found = Vec::new();
    for seal in vault.all(Scope::Namespace(namespace)) {
        let here = find(snapshot, &seal, namespace, address).await?;
        found.extend(here.into_iter().map(|found| (found, seal.number())));
    }
    found.sort_by_key(|(found, _)| found.digest);
    let recall = match (found.pop(), found.is_empty()) {
        (None, _) if lacks_key(snapshot, vault).await? => return Err(Fault::Sealed(*address)),
        (None, _) => Recall::Unknown,
        (Some((Found { state: State::Gone { at, why }, .. }, _)), true) => Recall::Expired { at, why },
        (Some((only, number)), true) => {
            return match vault.of_row(number, Scope::Namespace(namespace)) {
                Some(seal) => load(snapshot, seal, address, only).await,
                None => Err(Fault::Sealed(*address)),
            };
        }
        (Some(last), false) => {
            found.push(last);
            Recall::Ambiguous(candidates(found.into_iter().map(|(found, _)| found).collect()))
        }
    };
    Ok(Looked::Here(recall))
}

/// The namespaces that know an address, in order.
pub(super) async fn namespaces(
    client: &impl GenericClient,
    vault: &Vault,
    address: &Address,
) -> Result<Vec<String>, Fault> {
    let rows = all(client, "SELECT namespace FROM foldline.tenants ORDER BY 1", values![]).await?;
    let mut knowing = Vec::new();
    for row in rows {
        let namespace = text(&row, 0)?;
        for seal in vault.all(Scope::Namespace(&namespace)) {
            if !find(client, &seal, &namespace, address).await?.is_empty() {
                knowing.push(namespace);
                break;
            }
        }
    }
    Ok(knowing)
}

/// The digests of a namespace that have an address.
pub(super) async fn alike(
    client: &impl GenericClient,
    vault: &Vault,
    namespace: &str,
    address: &Address,
) -> Result<Vec<Digest>, Fault> {
    let mut digests = Vec::new();
    for seal in vault.all(Scope::Namespace(namespace)) {
        let found = find(client, &seal, namespace, address).await?;
        let kept = found.iter().filter(|found| matches!(found.state, State::Kept { .. }));
        digests.extend(kept.map(|found| found.digest));
    }
    Ok(digests)
}

/// Notes that an original was used.
pub(super) async fn note_use(
    client: &impl GenericClient,
    vault: &Vault,
    now: i64,
    namespace: &str,
    digest: &Digest,
) -> Result<(), Fault> {
    let seals = vault.all(Scope::Namespace(namespace));
    let places: Vec<Vec<u8>> = seals.iter().map(|seal| seal.digest(digest).as_bytes().to_vec()).collect();
    let sql = "UPDATE foldline.originals SET used_at = greatest(used_at, $1) WHERE namespace = $2 AND digest = ANY($3)";
    change(client, sql, values![now => INT8, namespace.as_bytes() => BYTEA, places => BYTEA_ARRAY]).await.map(drop)
}

/// Kept and gone texts alike: with both under one short handle, nobody can say which one was meant.
async fn find(
    client: &impl GenericClient,
    seal: &Seal,
    namespace: &str,
    address: &Address,
) -> Result<Vec<Found>, Fault> {
    let (low, high) = seal.range(address);
    let rows = all(
        client,
        "SELECT digest, label, id, created_at, used_at, size, NULL::int8, NULL, object FROM foldline.originals
          WHERE namespace = $1 AND digest BETWEEN $2 AND $3 AND sealed = $4
         UNION ALL
         SELECT digest, label, NULL, NULL, NULL, NULL, expired_at, why, NULL FROM foldline.tombstones
          WHERE namespace = $1 AND digest BETWEEN $2 AND $3 AND sealed = $4
         ORDER BY 1",
        values![
            namespace.as_bytes() => BYTEA,
            low.as_bytes() => BYTEA,
            high.as_bytes() => BYTEA,
            seal.number() => INT8,
        ],
    )
    .await?;
    let mut found = Vec::new();
    for row in rows {
        let damaged = || Fault::Corrupt("an original does not match its digest".into());
        let place = Digest::from_array(digest(&row, 0)?);
        let (digest, tool) = read_label(seal, &place, text(&row, 1)?).ok_or_else(damaged)?;
        let state = match maybe_int(&row, 2)? {
            Some(id) => State::Kept {
                text: Packed { row: id, place, size: int(&row, 5)?, object: object(&row, 8)? },
                tool,
                created_at: int(&row, 3)?,
                used_at: int(&row, 4)?,
            },
            None => {
                let name: String = row.try_get(7)?;
                let why = Expiry::ALL.into_iter().find(|why| why.name() == name).unwrap_or(Expiry::Size);
                State::Gone { at: int(&row, 6)?, why }
            }
        };
        // More texts can stand in the range than have the digits asked for.
        if found.len() < MOST_CANDIDATES && address.covers(&digest) {
            found.push(Found { digest, state });
        }
    }
    Ok(found)
}

async fn load(snapshot: &Transaction<'_>, seal: Seal, address: &Address, found: Found) -> Result<Looked, Fault> {
    let digest = found.digest;
    let State::Kept { text, tool, created_at, used_at } = found.state else {
        return Ok(Looked::Here(Recall::Unknown));
    };
    if let Some(object) = text.object {
        return Ok(Looked::Elsewhere(Elsewhere { seal, digest, text, object, tool, created_at, used_at }));
    }
    let mut pieces = pieces(snapshot, &[text.row]).await?;
    let text = unpacked(&seal, &text, address, pieces.remove(&text.row).unwrap_or_default())?;
    // What is not byte for byte the text is not given out.
    if Digest::of(&text) != digest {
        return Err(Fault::Damaged(*address));
    }
    Ok(Looked::Here(Recall::Found(Original { digest, text, tool, created_at, used_at })))
}

/// The packed pieces of an original, with their numbers, in order.
pub(super) type Pieces = Vec<(i64, Vec<u8>)>;

/// The packed pieces of originals, by row.
pub(super) async fn pieces(client: &impl GenericClient, rows: &[i64]) -> Result<BTreeMap<i64, Pieces>, Fault> {
    let sql =
        "SELECT original, part::int8, bytes FROM foldline.chunks WHERE original = ANY($1) ORDER BY original, part";
    let mut pieces: BTreeMap<i64, Pieces> = BTreeMap::new();
    for row in all(client, sql, values![rows => INT8_ARRAY]).await? {
        pieces.entry(int(&row, 0)?).or_default().push((int(&row, 1)?, bytes(&row, 2)?));
    }
    Ok(pieces)
}
