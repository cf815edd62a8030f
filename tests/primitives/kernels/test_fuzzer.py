# SPDX-License-Identifier: Apache-2.0
"""The fuzzer knows every FFI target, and has a seed for each; `make fuzz` runs it."""

import importlib.util
import re
from pathlib import Path

from jaxframes.primitives.kernels.base._library import TARGETS

FOLDER = Path(__file__).parent / "fuzz"


def test_every_target_is_called():
    source = (FOLDER / "fuzz_kernels.cc").read_text()
    assert re.findall(r"^  X\((\w+), \w+\)", source, re.MULTILINE) == list(TARGETS)


def test_every_target_has_seeds(tmp_path):
    spec = importlib.util.spec_from_file_location("seeds", FOLDER / "seeds.py")
    seeds = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(seeds)
    seeds.main(tmp_path)
    first_bytes = [path.read_bytes()[0] for path in tmp_path.iterdir()]
    assert set(first_bytes) == set(range(len(TARGETS)))
