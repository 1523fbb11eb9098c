//! Any bytes as the output of a tool; what must hold is in `foldline_lab::fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| foldline_lab::fuzz::redact(bytes));
