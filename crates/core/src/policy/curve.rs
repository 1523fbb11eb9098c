//! Continuous curves over the window: straight lines between given points, flat after the last.

/// A point: at this window, that many tokens.
pub(crate) type Point = (u32, u32);

/// Recent tool output that a prune spares. The points are the steps 10/20/40/100 K at windows of
/// 32/64/128/500 K; lines between them take the cliffs away. From nothing at an empty window, because a
/// small window that spares a fixed amount has nothing left to prune.
pub(crate) const TOOL_PROTECTION: &[Point] =
    &[(0, 0), (32_000, 10_000), (64_000, 20_000), (128_000, 40_000), (500_000, 100_000)];

/// The height of the curve at `window`.
pub(crate) fn at(curve: &[Point], window: u32) -> u32 {
    for pair in curve.windows(2) {
        if let [(x0, y0), (x1, y1)] = pair
            && window <= *x1
        {
            let run = u64::from(x1.saturating_sub(*x0)).max(1);
            let along = u64::from(window.saturating_sub(*x0));
            let rise = u64::from(y1.saturating_sub(*y0)) * along / run;
            return y0.saturating_add(u32::try_from(rise).unwrap_or(u32::MAX));
        }
    }
    curve.last().map_or(0, |(_, y)| *y)
}
