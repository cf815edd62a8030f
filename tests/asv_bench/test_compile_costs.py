# SPDX-License-Identifier: Apache-2.0
"""The costs of compilation that a benchmark records."""

import time

import jax
import jax.numpy as jnp
import pytest
from benchmarks.compile_costs import PHASES, CompileCosts, compile_costs


def test_a_new_program_is_counted_once():
    @jax.jit
    def program(x):
        return jnp.sin(x) * 2.0

    x = jnp.ones(7)
    with compile_costs() as first:
        program(x)
    with compile_costs() as second:
        program(x)
    record = first.as_record()
    assert record["programs"] == 1
    assert record["traces"] >= 1
    assert all(record[f"{phase}_seconds"] > 0 for phase in PHASES.values())
    assert set(second.as_record().values()) == {0}


def test_a_phase_inside_another_is_not_counted_twice():
    trace, _, compilation = PHASES
    costs = CompileCosts()
    start = time.perf_counter()
    time.sleep(0.05)
    costs.record(compilation, 0.01)
    elapsed = time.perf_counter() - start
    costs.record(trace, elapsed)
    assert costs.seconds["compile"] == 0.01
    assert costs.seconds["trace"] == pytest.approx(elapsed - 0.01)
    assert costs.as_record()["programs"] == 1
