#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the standalone tests of the kernels under each sanitizer and runs them.
# Usage: run_sanitizers.sh [build folder]; without one a temporary folder serves.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
kernels=$here/../../../primitives/kernels
if [ $# -gt 0 ]; then
  build=$1
  mkdir -p "$build"
else
  build=$(mktemp -d)
  trap 'rm -rf "$build"' EXIT
fi

# Configures, builds and tests in a folder. Arguments: the folder, a sanitizer, options of CMake.
run() {
  folder=$1 sanitizer=$2
  shift 2
  # -O3 compiles for twice as long, and the tests are no quicker for it.
  cmake -S "$kernels" -B "$folder" -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS="-O1 -DNDEBUG" \
    -DJAXFRAMES_SANITIZER="$sanitizer" "$@" >"$build/configure.log" ||
    { cat "$build/configure.log"; exit 1; }
  cmake --build "$folder" --parallel 2 >"$build/build.log" 2>&1 ||
    { cat "$build/build.log"; exit 1; }
  (cd "$folder" && ctest --parallel 2 --output-on-failure)
}

for sanitizer in address,undefined thread; do
  echo "== sanitizer: $sanitizer"
  run "$build/$sanitizer" "$sanitizer" -DJAXFRAMES_KERNEL_TESTS=ON
done
echo "== the targets for GPU, on the host"
run "$build/cuda_targets" address,undefined -DJAXFRAMES_CUDA_TARGET_TESTS=ON
