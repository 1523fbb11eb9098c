//! Continuous curves over the window: straight lines between given points, flat after the last.

/// A point: at this window, that many tokens, or that share.
pub(crate) type Point = (f64, f64);

/// Recent tool output that a prune spares. The points are the steps 10/20/40/100 K at windows of
/// 32/64/128/500 K; lines between them take the cliffs away. From nothing at an empty window, because a
/// small window that spares a fixed amount has nothing left to prune.
pub(crate) const TOOL_PROTECTION: &[Point] = &[(0.0, 0.0), (32e3, 10e3), (64e3, 20e3), (128e3, 40e3), (500e3, 100e3)];

/// How much of `small_window_extra` counts. In a small window a share for growth is few tokens, and clients that compact
/// themselves use more of it.
pub(crate) const SMALL_WINDOW: &[Point] = &[(0.0, 1.0), (32e3, 1.0), (128e3, 0.0)];

/// The height of the curve at `window`.
pub(crate) fn at(curve: &[Point], window: f64) -> f64 {
    for pair in curve.windows(2) {
        if let [(x0, y0), (x1, y1)] = pair
            && window <= *x1
        {
            return y0 + (y1 - y0) * (window - x0) / (x1 - x0);
        }
    }
    curve.last().map_or(0.0, |(_, height)| *height)
}
