# SPDX-License-Identifier: Apache-2.0
"""Operators on few rows: their programs are run at once, with the results of NumPy."""

import numpy as np
import pandas as pd
import pytest
from frame_parity import assert_same
from jaxframes.frame import JaxFrame, concat
from jaxframes.frame.ops import _column_ops
from jaxframes.frame.table import _host_column
from jaxframes.primitives import backend
from jaxframes.primitives.tiers import _background, _tiered

pytestmark = pytest.mark.skipif(backend().cpu != "native", reason="interpreted with the kernels")

LEAST_OPERATIONS_OF_A_THREAD = 1000
OPERATIONS = {
    "sum": lambda f: f["x"] + f["y"],
    "product": lambda f: f["x"] * 2.0,
    "difference of dtypes": lambda f: f["i"] - f["x"],
    "quotient of dtypes": lambda f: f["i"] / 3.0,
    "quotient": lambda f: 1.0 / f["y"],
    "comparison": lambda f: f["x"] > 0.5,
    "logic": lambda f: (f["x"] > 0.5) | (f["i"] == 3),
    "of several columns": lambda f: f[["x", "y"]] * f["i"].iloc[0],
}


@pytest.fixture
def compiled_entries(monkeypatch):
    """Has all operators compiled at their second call; returns their programs."""
    monkeypatch.setattr(_host_column, "MOST_ROWS", 0)
    monkeypatch.setattr(_tiered, "mode", lambda: "auto")
    monkeypatch.setattr(_tiered.Entry, "compile_seconds", 0.0)
    monkeypatch.setattr(_column_ops._combine, "_entries", {})
    return _column_ops._combine._entries


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
@pytest.mark.parametrize("num_rows", [1, 300, 1000, 4000])
def test_programs_are_run_at_once(compiled_entries, operation, num_rows):
    rng = np.random.default_rng(num_rows)
    x, y = rng.standard_normal((2, num_rows))
    x[::7], y[::11] = np.nan, -0.0
    data = pd.DataFrame({"x": x, "y": y, "i": rng.integers(-9, 9, num_rows)})
    frame = JaxFrame(data)
    for _ in range(3):
        assert_same(operation(frame), operation(data))
        _background.wait_until_compiled()
    for entry in compiled_entries.values():
        assert (entry.compile().cost_analysis().get("flops") or 0) < LEAST_OPERATIONS_OF_A_THREAD


@pytest.mark.parametrize(
    ("call", "programs"),
    [
        (lambda f: f[f["x"] > 0.5], []),
        (lambda f: f["x"] * 2.0 + f["i"], []),
        (lambda f: f * 2.0, []),
        (lambda f: f["x"].where(f["i"] > 2, 0.5).round(1).clip(-1, 1), []),
        (lambda f: f.shift(-2).astype("float32"), []),
        (lambda f: f["x"].sum(), []),
        (lambda f: f["x"].std(), ["reduce_groups"]),
        (lambda f: f.iloc[2:7], []),
        (lambda f: f.fillna(0.5), []),
        (lambda f: f.isna(), []),
        (lambda f: f.dropna(), []),
        (lambda f: f["i"].unique(), []),
        (lambda f: concat([f, f]), []),
        (lambda f: f.mean(), ["_reduce_to_rows"]),
        (lambda f: f["x"].rank(), ["_rank"]),
        (lambda f: f["i"].value_counts(), ["_count_rows"]),
    ],
    ids=[
        "filter",
        "arithmetic",
        "columns",
        "where",
        "shift",
        "sum",
        "std",
        "iloc",
        "fillna",
        "isna",
        "dropna",
        "unique",
        "concat",
        "mean",
        "rank",
        "value_counts",
    ],
)
def test_calls_take_few_programs(monkeypatch, call, programs):
    frame = JaxFrame({"x": np.linspace(0, 1, 1000), "i": np.arange(1000) % 7})
    call(frame)
    called = []

    def noted(self, *args, **kwargs):
        called.append(self.__name__)
        return run(self, *args, **kwargs)

    run = _tiered.Tiered.__call__
    monkeypatch.setattr(_tiered.Tiered, "__call__", noted)
    call(frame)
    assert called == programs
