//! When to retry.

use http::HeaderMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::Duration;

/// The first pause; each further one is twice as long.
const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(20);
/// A server that wants a longer pause is left alone; the cooldown takes over.
const PATIENCE: Duration = Duration::from_secs(60);

/// The pause before try number `tries + 1`; `None` when the server does not want another, or not soon.
pub(super) fn pause(tries: u32, headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if text("x-should-retry") == Some("false") {
        return None;
    }
    let asked = text("retry-after-ms")
        .and_then(|value| value.trim().parse::<f64>().ok())
        .map(|milliseconds| milliseconds / 1000.0)
        .or_else(|| text("retry-after").and_then(|value| value.trim().parse::<f64>().ok()))
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    match asked {
        Some(asked) if asked > PATIENCE => None,
        // A little later than asked, and not all at once.
        Some(asked) => Some(asked + FIRST.mul_f64(chance())),
        None => {
            let doubled = FIRST.saturating_mul(1 << tries.min(16)).min(LONGEST);
            Some(doubled.mul_f64(0.5 + chance()))
        }
    }
}

/// A number from 0 to 1 that differs between processes and calls; it need not be hard to guess.
fn chance() -> f64 {
    f64::from(u32::try_from(RandomState::new().hash_one(0_u8) >> 32).unwrap_or_default()) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &'static str, value: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().unwrap());
        headers
    }

    #[test]
    fn pauses_grow_and_differ() {
        let none = HeaderMap::new();
        for tries in 0..40 {
            let pause = pause(tries, &none).unwrap();
            assert!(pause >= FIRST / 2 && pause <= LONGEST * 3 / 2, "{pause:?}");
        }
        let several: std::collections::BTreeSet<_> = (0..20).filter_map(|_| pause(3, &none)).collect();
        assert!(several.len() > 1);
    }

    #[test]
    fn what_the_server_asks_for_is_kept() {
        let asked = pause(0, &headers("retry-after", "7")).unwrap();
        assert!(asked >= Duration::from_secs(7) && asked < Duration::from_secs(8), "{asked:?}");
        let asked = pause(0, &headers("retry-after-ms", "250")).unwrap();
        assert!(asked >= Duration::from_millis(250) && asked < Duration::from_secs(1), "{asked:?}");
        assert_eq!(pause(0, &headers("retry-after", "3600")), None);
        assert_eq!(pause(0, &headers("x-should-retry", "false")), None);
        assert!(pause(0, &headers("retry-after", "Wed, 21 Oct 2026 07:28:00 GMT")).is_some());
    }
}
