#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the source distribution and the wheel of this platform, installs each in a fresh
# environment and calls each floor there.
# Usage: make_dist.sh TARGET WORK; PATH has the tools of the extra `dist`.
#   TARGET   receives jaxframes-*.tar.gz and jaxframes-*-manylinux_*.whl
#   WORK     holds the environments meanwhile
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
mkdir -p "$1" "$2"
target=$(cd "$1" && pwd)
work=$(cd "$2" && pwd)
rm -rf "$target"/jaxframes-* "$work"/*

# The wheel is built from the source distribution, so neither depends on files that it leaves out.
python -m build --outdir "$work/built" "$root"
# auditwheel chooses the oldest tag that the symbols of the kernels allow.
auditwheel repair --wheel-dir "$target" "$work"/built/*.whl
cp "$work"/built/*.tar.gz "$target"

# Arguments: a name, the distribution, the kernels that it must bring, options of pip.
check() {
  local name=$1 distribution=$2 kernels=$3
  shift 3
  python -m venv "$work/$name"
  "$work/$name/bin/python" -m pip install --quiet --disable-pip-version-check "$@" \
    "${distribution}[frame]"
  (cd "$work/$name" && bin/python -W error -P "$here/smoke.py" "$kernels")
}

echo '== the source distribution'
# Its kernels are compiled for the second time here; without the optimiser that takes half as long.
SKBUILD_CMAKE_BUILD_TYPE=None CXXFLAGS=-O0 check sdist "$target"/*.tar.gz native

echo '== the wheel, without a compiler'
python=$(command -v python)
(
  mkdir "$work/path"
  ln -s "$(command -v bash)" "$(command -v dirname)" "$work/path"
  python() { "$python" "$@"; }
  export PATH=$work/path
  if command -v cc c++ gcc g++ clang; then
    echo 'A compiler is on the PATH.' >&2
    exit 1
  fi
  check wheel "$target"/*.whl native --only-binary :all:
)
rm -rf "${work:?}"/*
ls -l "$target"
