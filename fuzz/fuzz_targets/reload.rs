//! Any settings that are read again while gateways serve; what must hold is in `foldline_lab::fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| foldline_lab::fuzz::reload(bytes));
