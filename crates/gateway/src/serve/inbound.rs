//! Reads request bodies within limits of size and time, and decompresses them.

use super::answer::Refusal;
use super::budget::{AccountedBytes, MemoryBudget};
use super::decode::{Coding, DecodeError, decode_within};
use bytes::{Bytes, BytesMut};
use http::{HeaderMap, header};
use http_body_util::BodyExt;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// What a body may be.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Most bytes, on the wire and unpacked.
    pub bytes: u64,
    /// Longest pause.
    pub pause: Duration,
}

/// Reads a body as it is on the wire.
pub async fn read<B>(mut body: B, bounds: Bounds, budget: &Arc<MemoryBudget>) -> Result<AccountedBytes, Refusal>
where
    B: http_body::Body<Data = Bytes> + Unpin,
    B::Error: fmt::Debug,
{
    let too_large = Refusal::TooLarge { limit: bounds.bytes };
    // The sender's own word is enough to refuse, never to reserve memory.
    if body.size_hint().lower() > bounds.bytes {
        return Err(too_large);
    }
    let mut first: Option<Bytes> = None;
    let mut rest: Option<BytesMut> = None;
    let mut length = 0u64;
    let mut lease = budget.lease();
    let too_slow = Refusal::TooSlow { seconds: bounds.pause.as_secs() };
    let began = Instant::now();
    loop {
        let frame = tokio::time::timeout(bounds.pause, body.frame()).await;
        let Some(frame) = frame.map_err(|_| too_slow.clone())? else { break };
        if is_too_slow(began.elapsed(), length, bounds.pause) {
            return Err(too_slow);
        }
        let Ok(bytes) = frame.map_err(|_| Refusal::Incomplete)?.into_data() else { continue };
        length += bytes.len() as u64;
        if length > bounds.bytes {
            return Err(too_large);
        }
        // Before the memory is there, and again when it is known how much it became.
        lease.grow_to(usize::try_from(length).unwrap_or(usize::MAX))?;
        match (&mut first, &mut rest) {
            (None, _) => first = Some(bytes),
            (Some(_), Some(rest)) => {
                rest.extend_from_slice(&bytes);
                lease.grow_to(rest.capacity())?;
            }
            (Some(start), None) => {
                let expected = usize::try_from(body.size_hint().lower()).unwrap_or(0).min(EXPECTED_MOST);
                lease.grow_to(start.len() + bytes.len() + expected)?;
                let mut all = BytesMut::with_capacity(start.len() + bytes.len() + expected);
                all.extend_from_slice(start);
                all.extend_from_slice(&bytes);
                rest = Some(all);
            }
        }
    }
    Ok(lease.holds(rest.map(BytesMut::freeze).or(first).unwrap_or_default()))
}

/// Whether a body of which so much has come in so long a time makes no progress.
pub fn is_too_slow(took: Duration, length: u64, pause: Duration) -> bool {
    let earned = 2 + u32::try_from(length / SLOWEST).unwrap_or(u32::MAX - 2);
    took > pause.saturating_mul(earned)
}

/// Bytes that must come in the time of the longest pause: one byte now and then is no progress, and holds a place.
const SLOWEST: u64 = 16 << 10;

/// Memory reserved on the sender's word alone.
const EXPECTED_MOST: usize = 1 << 20;

/// Unpacks a body as its headers say.
pub fn unpack(
    headers: &HeaderMap,
    body: AccountedBytes,
    bounds: Bounds,
    budget: &Arc<MemoryBudget>,
) -> Result<AccountedBytes, Refusal> {
    let named = headers.get_all(header::CONTENT_ENCODING).iter().map(|value| value.to_str().unwrap_or("?"));
    let named = named.collect::<Vec<_>>().join(",");
    let Some(codings) = Coding::list(&named) else {
        return Err(Refusal::UnsupportedEncoding(named.chars().take(40).collect()));
    };
    let limit = usize::try_from(bounds.bytes).unwrap_or(usize::MAX);
    let mut body = body;
    // The last one named was put on last.
    for coding in codings.into_iter().rev() {
        let (bytes, lease) = decode_within(coding, &body, limit, budget.lease()).map_err(|error| match error {
            DecodeError::TooLarge => Refusal::TooLarge { limit: bounds.bytes },
            DecodeError::Garbled => Refusal::InvalidEncoding(coding.name()),
            DecodeError::OutOfMemory(refusal) => refusal,
        })?;
        body = lease.holds(bytes);
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::Full;

    fn budget() -> Arc<MemoryBudget> {
        MemoryBudget::new(1_000, prometheus_client::metrics::gauge::Gauge::default())
    }

    const BOUNDS: Bounds = Bounds { bytes: 10, pause: Duration::from_millis(50) };

    #[tokio::test]
    async fn a_body_up_to_the_limit_is_read_and_a_larger_one_is_not() {
        assert_eq!(**read(Full::new(Bytes::from("0123456789")), BOUNDS, &budget()).await.unwrap(), *b"0123456789");
        let refused = read(Full::new(Bytes::from("0123456789a")), BOUNDS, &budget()).await.unwrap_err();
        assert_eq!(refused, Refusal::TooLarge { limit: 10 });
    }

    #[test]
    fn an_unknown_coding_is_named() {
        let headers = HeaderMap::from_iter([(header::CONTENT_ENCODING, "lzma".parse().unwrap())]);
        let refused = unpack(&headers, budget().lease().holds("x"), BOUNDS, &budget()).unwrap_err();
        assert_eq!(refused, Refusal::UnsupportedEncoding("lzma".to_owned()));
    }
}
