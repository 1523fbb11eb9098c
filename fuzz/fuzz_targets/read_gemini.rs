//! Any bytes, read as a transcript of this format; what must hold is in `foldline_lab::fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| foldline_lab::fuzz::read_gemini(bytes));
