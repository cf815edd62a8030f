#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the standalone tests of the kernels with clang, and for aarch64, where NEON serves, and runs
# them: those for aarch64 in an emulator. Warnings are errors.
# Usage: run_compilers.sh BUILD [TARGET]; a target of CMake, such as test_pairwise_sum, in place of all
set -eu

for command in clang++ aarch64-linux-gnu-g++ qemu-aarch64; do
  command -v "$command" >/dev/null || {
    echo "run_compilers: $command must be installed. Run" \
      "'apt-get install clang g++-aarch64-linux-gnu qemu-user'." >&2
    exit 1
  }
done
kernels=$(cd "$(dirname "$0")/../../../primitives/kernels" && pwd)
mkdir -p "$1"
build=$(cd "$1" && pwd)
target=${2:-all}
only=${2:+^${2#test_}\$}

# Arguments: the folder, options of CMake.
run() {
  folder=$build/$1
  shift
  echo "== $*"
  cmake -S "$kernels" -B "$folder" -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS="-O1 -DNDEBUG" \
    -DJAXFRAMES_KERNEL_TESTS=ON "$@" >"$build/configure.log" ||
    { cat "$build/configure.log"; exit 1; }
  cmake --build "$folder" --parallel 2 --target "$target" >"$build/build.log" 2>&1 ||
    { cat "$build/build.log"; exit 1; }
  (cd "$folder" && ctest --parallel 2 --output-on-failure ${only:+--tests-regex "$only"})
}

run clang -DCMAKE_CXX_COMPILER=clang++
run aarch64 -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ -DCMAKE_SYSTEM_NAME=Linux \
  -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
  -DCMAKE_CROSSCOMPILING_EMULATOR="qemu-aarch64;-L;/usr/aarch64-linux-gnu"
