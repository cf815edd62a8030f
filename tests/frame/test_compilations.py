# SPDX-License-Identifier: Apache-2.0
"""Counts compilations: frames of many lengths share few programs."""

import logging
from collections import Counter

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from jaxframes.frame import JaxFrame
from jaxframes.primitives.kernels.base._library import load
from jaxframes.primitives.tiers import _tiered

MOST_ROWS = 200_000
OPERATIONS = {
    "sort_values": lambda frame, right: frame.sort_values("k"),
    "filter": lambda frame, right: frame[frame["x"] > np.float32(0)],
    "groupby sum": lambda frame, right: frame.groupby("k")["x"].sum(),
    "merge": lambda frame, right: frame.merge(right, on="k"),
    "arithmetic": lambda frame, right: frame["x"] * frame["x"],
    "head": lambda frame, right: frame.head(1000),
}


class Compilations(logging.Handler):
    """Records the name of each program that XLA compiles while it is entered."""

    def __init__(self):
        super().__init__()
        self.programs = Counter()
        self._log = logging.getLogger("jax")

    def emit(self, record):
        message = record.getMessage()
        if message.startswith("Finished XLA compilation of"):
            self.programs[message.split()[4]] += 1

    def __enter__(self):
        self._log.addHandler(self)
        self._was = self._log.propagate
        self._log.propagate = False
        self._logging = jax.log_compiles(True)
        self._logging.__enter__()
        return self

    def __exit__(self, *error):
        self._logging.__exit__(*error)
        self._log.propagate = self._was
        self._log.removeHandler(self)


@pytest.fixture(autouse=True)
def only_compiled_programs(monkeypatch):
    """A first call is compiled, not interpreted."""
    monkeypatch.setattr(_tiered, "mode", lambda: "compiled")


@pytest.fixture(scope="module")
def frames():
    rng = np.random.default_rng(0)
    columns = {
        "k": rng.integers(0, 500, MOST_ROWS, dtype=np.int32),
        "x": rng.normal(size=MOST_ROWS).astype(np.float32),
    }
    rows = pd.DataFrame(columns)
    lengths = rng.integers(MOST_ROWS // 2, MOST_ROWS + 1, 100)
    return [JaxFrame(rows[:length]) for length in lengths]


@pytest.fixture(scope="module")
def right():
    return JaxFrame({"k": np.arange(500, dtype=np.int32), "z": np.ones(500, np.float32)})


def test_compilations_are_counted():
    with Compilations() as seen:
        jax.jit(lambda x: x * 3 - 1)(jnp.arange(17, dtype=jnp.int32))
    assert seen.programs["jit(<lambda>)"] == 1


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_hundred_lengths_compile_ten_times_at_most(operation, frames, right):
    calls_that_compile, programs = 0, Counter()
    for frame in frames:
        with Compilations() as seen:
            jax.block_until_ready(OPERATIONS[operation](frame, right))
        calls_that_compile += bool(seen.programs)
        programs += seen.programs
    assert 0 < calls_that_compile <= 10
    assert max(programs.values()) <= 10, programs
    # By now every capacity has occurred, including those of results.
    with Compilations() as seen:
        for frame in frames[::10]:
            jax.block_until_ready(OPERATIONS[operation](frame, right))
    assert not seen.programs


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_second_call_of_the_same_capacity_traces_nothing(operation, right):
    rng = np.random.default_rng(1)
    traced = []

    def note(event, duration, **details):
        if "trace" in event:
            traced.append(event)

    jax.monitoring.register_event_duration_secs_listener(note)
    try:
        for length in (7000, 7001, 7100):
            columns = {
                "k": rng.permutation(length).astype(np.int32) % 500,
                "x": np.where(np.arange(length) % 2, np.float32(1), np.float32(-1)),
            }
            frame = JaxFrame(columns)
            del traced[:]
            jax.block_until_ready(OPERATIONS[operation](frame, right))
            # Rows that only move need no program.
            assert bool(traced) == (length == 7000 and operation != "head")
    finally:
        jax.monitoring.unregister_event_duration_listener(note)


@pytest.mark.skipif(load()[0] is None, reason="programs are interpreted by the kernels' means")
def test_a_first_description_compiles_only_its_interpolation(monkeypatch):
    monkeypatch.setattr(_tiered, "mode", lambda: "auto")
    rng = np.random.default_rng(2)
    columns = {"i": rng.integers(0, 9, 5_123), "x": rng.normal(size=5_123)}
    with Compilations() as seen:
        described = JaxFrame(columns).describe().to_pandas()
    # Another test of this process may have compiled it.
    assert set(seen.programs) <= {"jit(_interpolated)"}
    expected = pd.DataFrame(columns).describe()
    pd.testing.assert_frame_equal(described, expected, rtol=1e-12)


@pytest.mark.skipif(load()[0] is None, reason="programs are interpreted by the kernels' means")
@pytest.mark.parametrize("method", ["sum", "mean", "min"])
def test_a_first_rolling_reduction_compiles_nothing(method, monkeypatch):
    monkeypatch.setattr(_tiered, "mode", lambda: "auto")
    x = pd.Series(np.random.default_rng(3).normal(size=6_211))
    with Compilations() as seen:
        reduced = getattr(JaxFrame({"x": x})["x"].rolling(50), method)().to_pandas()
    assert not seen.programs
    expected = getattr(x.rolling(50), method)().rename("x")
    pd.testing.assert_series_equal(reduced, expected, rtol=1e-12)
