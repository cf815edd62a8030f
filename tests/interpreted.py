# SPDX-License-Identifier: Apache-2.0
"""Pallas kernels for TPU, interpreted on CPU.

Most tests pass `interpret=True`, which runs a kernel as a program of XLA. The interpreter of the
TPU's memories is slower. It finds races, and runs inside `shard_map`.
"""

import pytest
from covering import RUNS_ALL
from jax.experimental.pallas import tpu as pltpu

ON_MESH = pltpu.InterpretParams(out_of_bounds_reads="uninitialized")
WITH_RACES = pltpu.InterpretParams(detect_races=True, out_of_bounds_reads="uninitialized")

needs_long_profile = pytest.mark.skipif(not RUNS_ALL, reason="JAXFRAMES_TESTS=all runs it.")
