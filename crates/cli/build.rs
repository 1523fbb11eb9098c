//! Packs the relocations of the static program, which is a position-independent executable: over a megabyte becomes a few
//! kilobytes. musl's start code unpacks them since 1.2.4; glibc would need 2.36, so other targets stay as they are.

#![allow(clippy::print_stdout, reason = "this is how a build script talks to cargo")]

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is_musl = env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|env| env == "musl");
    if is_musl {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}
