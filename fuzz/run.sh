#!/bin/sh
# Runs a fuzz target for some seconds with the toolchain at hand: no nightly, no cargo-fuzz.
# Coverage comes from LLVM's own pass; the code under test forbids unsafe, so no sanitizer is needed.
set -eu
cd "$(dirname "$0")"
target=${1:?usage: run.sh TARGET [SECONDS]}
seconds=${2:-120}
host=$(rustc -vV | sed -n 's/^host: //p')
flags="--cfg fuzzing -Cpasses=sancov-module -Ccodegen-units=1 -Cllvm-args=-sanitizer-coverage-level=4"
flags="$flags -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table"
flags="$flags -Cllvm-args=-sanitizer-coverage-trace-compares"
# With an explicit target the flags stay away from build scripts and macros.
RUSTFLAGS="$flags" cargo build --release --target "$host" --bin "$target"
built=${CARGO_TARGET_DIR:-target}/$host/release/$target
mkdir -p "artifacts/$target" "found/$target"
"$built" -max_total_time="$seconds" -max_len=8192 -timeout=10 -rss_limit_mb=1024 \
    -artifact_prefix="artifacts/$target/" "found/$target" "corpus/$target"
