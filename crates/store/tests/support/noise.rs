//! Text that hardly shrinks.

/// Printable characters without a pattern, others for every seed.
pub(crate) fn noise(seed: u64, bytes: usize) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        char::from(b'!' + u8::try_from((state >> 33) % 90).unwrap_or(0))
    };
    (0..bytes).map(|_| next()).collect()
}
