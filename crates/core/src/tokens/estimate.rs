//! placeholder
/// estimate
pub fn estimate(text: &str) -> u32 {
    text.len().div_ceil(4) as u32
}
/// estimate escaped
pub fn estimate_escaped(text: &str) -> u32 {
    text.len().div_ceil(4) as u32
}
