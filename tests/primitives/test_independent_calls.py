# SPDX-License-Identifier: Apache-2.0
"""Independent calls in one program: no device may wait for a collective that another reaches later.

A device that waits forever ends its process, so the program runs in one of its own.
"""

import subprocess
import sys

import pytest

PROGRAM = """
import sys

import jax
import numpy as np

num_devices = int(sys.argv[1])
jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_num_cpu_devices", num_devices)
jax.config.update("jax_enable_x64", True)

from jaxframes import primitives, shardings

NUM_RUNS = 50
NUM_SEGMENTS = 5
# Enough for two transports in the program.
num_rows = 1100 * num_devices
mesh = shardings.make_mesh(num_devices)
rng = np.random.default_rng(0)
uniform = rng.integers(0, 2**60, num_rows)
skewed = np.sort(uniform)[::-1].copy()
x = rng.random(num_rows)
segment_ids = rng.integers(0, NUM_SEGMENTS, num_rows)


@jax.jit
def calls(uniform, skewed, x, segment_ids):
    return (
        primitives.radix_sort(uniform, mesh),
        primitives.radix_sort(skewed, mesh),
        primitives.radix_argsort(uniform, mesh),
        primitives.radix_argsort(x, mesh, descending=True),
        primitives.segment_quantile(x, segment_ids, NUM_SEGMENTS, mesh=mesh),
        primitives.gather_rows(skewed, uniform % num_rows, mesh),
    )


expected = (
    np.sort(uniform),
    np.sort(uniform),
    np.argsort(uniform),
    np.argsort(-x),
    np.array([np.median(x[segment_ids == segment]) for segment in range(NUM_SEGMENTS)]),
    skewed[uniform % num_rows],
)
for _ in range(NUM_RUNS):
    for result, wanted in zip(calls(uniform, skewed, x, segment_ids), expected, strict=True):
        np.testing.assert_array_equal(result, wanted)
"""


@pytest.mark.parametrize("num_devices", [4, 8])
def test_a_program_of_independent_calls_ends(num_devices):
    # XLA ends a process whose devices have waited for 40 seconds.
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(num_devices)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-4000:]
