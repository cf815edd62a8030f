# SPDX-License-Identifier: Apache-2.0
"""Calls each kernel on few rows, for `compute-sanitizer`: `python asv_bench/card/sanitized.py`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import jax
import numpy as np

from card.cases import CASES

for name, case in CASES.items():
    given = case.arrays(np.random.default_rng(40), 5000)
    jax.block_until_ready(jax.jit(case.call)(*given))
    print(name, flush=True)
