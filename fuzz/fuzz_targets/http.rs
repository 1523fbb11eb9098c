//! Any bytes as what a client sends to the gateway; what must hold is in `foldline_lab::fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| foldline_lab::fuzz::http(bytes));
