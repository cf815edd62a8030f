#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Calls every FFI target with inputs that libFuzzer finds, under ASan and UBSan. Needs clang and its
# runtime, which some packages leave out: ends with 69 where a program cannot be linked to it.
# Usage: run_fuzzer.sh BUILD [SECONDS [RUNS [OPTION...]]]
#   BUILD     a folder for the program and the corpus, which the next run continues
#   SECONDS   how long it lasts, 60 by default; 0 for no limit
#   RUNS      ends it after so many executions
#   OPTION    of libFuzzer, such as -seed=1
set -eu

here=$(cd "$(dirname "$0")" && pwd)
kernels=$here/../../../primitives/kernels
mkdir -p "$1/corpus"
build=$(cd "$1" && pwd)
sanitizer=address,undefined
echo 'extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }' |
  clang++ -x c++ -fsanitize="fuzzer,$sanitizer" -o "$build/nothing" - 2>"$build/clang.log" || {
    echo "The fuzzer needs clang++ and its runtime ('apt-get install clang libclang-rt-dev'):" >&2
    head -3 "$build/clang.log" >&2
    exit 69
  }
folder=$build/clang++-$sanitizer
python3 "$here/fuzz/seeds.py" "$build/seeds"

cmake -S "$kernels" -B "$folder" -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_BUILD_TYPE=None \
  -DCMAKE_CXX_FLAGS="-O1 -DNDEBUG" -DJAXFRAMES_KERNEL_FUZZER=ON \
  -DJAXFRAMES_SANITIZER="$sanitizer" >"$build/configure.log" ||
  { cat "$build/configure.log"; exit 1; }
cmake --build "$folder" --parallel 2 >"$build/build.log" 2>&1 ||
  { cat "$build/build.log"; exit 1; }
# An input that fails is written to the build folder as crash-*; found/ keeps those of the past.
cd "$build"
seconds=${2:-60} runs=${3:--1}
shift $(($# < 3 ? $# : 3))
"$folder/fuzz_kernels" -dict="$here/fuzz/kernels.dict" -max_len=256 -verbosity=0 \
  -max_total_time="$seconds" -runs="$runs" -timeout=60 -rss_limit_mb=4096 \
  -print_final_stats=1 "$@" corpus seeds "$here/fuzz/found"
