# SPDX-License-Identifier: Apache-2.0
"""Rows that are reduced on the host, with the bits of programs."""

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from frame_parity import on_device
from jaxframes.frame import JaxSeries
from jaxframes.frame.reductions import _few_rows
from jaxframes.frame.table import _host_column
from jaxframes.primitives import backend
from jaxframes.primitives.tiers import _tiered

RNG = np.random.default_rng(0)
TINY = np.finfo(np.float64).tiny
VALUES = {
    "floats": RNG.standard_normal(1000) * 10.0 ** RNG.integers(-200, 200, 1000),
    "floats with NaNs": np.where(RNG.random(777) < 0.2, np.nan, RNG.standard_normal(777)),
    "NaNs": np.full(3, np.nan),
    "zeros of both signs": np.array([-0.0, 0.0, -0.0]),
    "negative zeros": np.array([-0.0, -0.0]),
    "subnormal numbers": np.array([TINY / 4, -TINY / 8, 0.0]),
    "a subnormal mean": np.array([TINY, TINY / 2, 0.0, 0.0]),
    "infinities": np.array([np.inf, 1.0, -np.inf]),
    "one infinity": np.array([np.inf, 1.0]),
    "no rows": np.array([], np.float64),
    "one row": np.array([2.5]),
    "float32": RNG.standard_normal(300).astype(np.float32),
    "float16": RNG.standard_normal(30).astype(np.float16),
    "int64": RNG.integers(-(2**62), 2**62, 500),
    "small integers": RNG.integers(-100, 100, 501),
    "int8": RNG.integers(-128, 128, 99).astype(np.int8),
    "uint64": RNG.integers(0, 2**64, 99, dtype=np.uint64),
    "bools": RNG.random(50) < 0.3,
    "complex": RNG.standard_normal(5) * 1j,
    "times": pd.to_datetime(["2024-01-01", None, "2023-01-01"]).to_numpy(),
    "strings": np.array(["b", None, "a"], object),
    "nullable": pd.array([3, None, 1], "Int64"),
    "nullable floats": pd.array([3.5, None, 1.0], "Float64"),
    # Of several blocks.
    "many integers": RNG.integers(-9, 9, 100_000),
    "many bools": RNG.random(100_000) < 0.5,
    "many floats": np.where(RNG.random(70_000) < 0.01, np.nan, RNG.standard_normal(70_000)),
    "many times": np.where(RNG.random(20_000) < 0.5, RNG.integers(0, 2**60, 20_000), -(2**63)).view(
        "M8[ns]"
    ),
}
CALLS = {
    "count": lambda s: s.count(),
    "sum": lambda s: s.sum(),
    "mean": lambda s: s.mean(),
    "min": lambda s: s.min(),
    "max": lambda s: s.max(),
    "sum of enough": lambda s: s.sum(min_count=1),
    "sum with NaNs": lambda s: s.sum(skipna=False),
    "max with NaNs": lambda s: s.max(skipna=False),
}


def outcome(call, series):
    """The type and the bits of a result; or the type of the error."""
    try:
        result = call(series)
    except (TypeError, NotImplementedError) as error:
        return type(error)
    bits = np.asarray(result).tobytes() if isinstance(result, np.generic) else repr(result)
    return type(result), bits


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_the_host_reduces_as_a_program_does(monkeypatch, call, values):
    series = on_device(pd.Series(values))
    got = outcome(call, series)
    monkeypatch.setattr(_host_column, "MOST_ROWS", 0)
    monkeypatch.setattr(_few_rows, "MOST_REDUCED", 0)
    assert got == outcome(call, series)


def test_masks_of_many_rows_are_counted_on_the_host(monkeypatch):
    values = VALUES["many integers"]
    series = on_device(pd.Series(values))
    masks = {
        "compared": lambda s: (s > 3).sum(),
        "compared twice": lambda s: ((s > 3) & (s < 7)).sum(),
        "of selected rows": lambda s: (s[s > 0] > 3).sum(),
        "missing": lambda s: s.isna().sum(),
    }
    for mask in masks.values():
        expected = mask(pd.Series(values))
        assert mask(series) == expected
        with monkeypatch.context() as patched:
            patched.setattr(_few_rows, "MOST_REDUCED", 0)
            assert mask(series) == expected


def test_many_bfloat16_numbers_are_reduced_by_a_program():
    values = jnp.arange(20_000).astype(jnp.bfloat16).at[7].set(jnp.nan)
    series = JaxSeries(values)
    assert (series.count(), series.min(), series.max()) == (19_999, 0.0, 19_968.0)


def test_an_array_that_was_reduced_can_be_donated():
    series = on_device(pd.Series(VALUES["many floats"]))
    total = series.sum()
    array = series.to_jax()
    doubled = jax.jit(lambda x: x * 2, donate_argnums=0)(array)
    assert array.is_deleted()
    np.testing.assert_allclose(np.nansum(doubled), 2 * total)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("name", ["floats with NaNs", "small integers", "bools", "int8", "uint64"])
def test_results_are_those_of_pandas(call, name):
    series = pd.Series(VALUES[name])
    if name == "floats with NaNs" or call is CALLS["mean"]:
        np.testing.assert_allclose(call(on_device(series)), call(series), rtol=1e-14)
    else:
        assert call(on_device(series)) == call(series)


@pytest.mark.skipif(backend().cpu != "native", reason="sums need the kernels")
def test_few_numbers_need_no_program(monkeypatch):
    series = [on_device(pd.Series(VALUES[name])) for name in ("floats with NaNs", "int64")]
    monkeypatch.setattr(_tiered.Tiered, "__call__", None)
    for one in series:
        for name in ("count", "sum", "min", "max"):
            CALLS[name](one)


def test_traced_rows_are_reduced_in_the_program():
    series = on_device(pd.Series([1.0, 2.5, np.nan]))
    assert float(jax.jit(lambda s: s.sum())(series)) == 3.5
    assert float(jax.jit(lambda factor: series.sum() * factor)(2.0)) == 7.0
