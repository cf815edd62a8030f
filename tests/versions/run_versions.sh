#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs tests on the lowest versions that pyproject.toml allows, or on the newest that pip finds, in
# an environment of its own.
# Usage: run_versions.sh WORK lowest|newest PYTHON [arguments of pytest]
#   WORK     holds the environment, which is kept for the next run
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
mkdir -p "$1"
work=$(cd "$1" && pwd)
versions=$2 python=$3
shift 3

environment=$work/$versions
constraint=() deselected=()
if [ "$versions" = lowest ]; then
  constraint=(--constraint "$here/lowest.txt")
  while read -r test; do deselected+=(--deselect "$test"); done < <(grep -v '^#' "$here/lowest_differs.txt")
fi
[ -e "$environment/bin/python" ] || "$python" -m venv "$environment"
cd "$root"
"$environment/bin/python" -m pip install --quiet --disable-pip-version-check --upgrade \
  "${constraint[@]}" --config-settings=build-dir="$work/build-$versions" --editable '.[test]'
"$environment/bin/python" - <<'END'
import importlib.metadata, sys
names = ["jax", "jaxlib", "numpy", "pandas", "pyarrow"]
found = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)
print(f"== Python {sys.version.split()[0]}, {found}", flush=True)
END
XLA_FLAGS=$("$environment/bin/python" tests/quick_compilation.py)
export XLA_FLAGS
JAX_COMPILATION_CACHE_DIR=$work/compiled JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS=0 \
  JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES=-1 "$environment/bin/python" -m pytest "${deselected[@]}" "$@"
