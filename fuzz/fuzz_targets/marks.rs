//! Any text that tries to pass for a part of a handoff; what must hold is in `foldline_lab::fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| foldline_lab::fuzz::marks(bytes));
