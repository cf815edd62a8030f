# SPDX-License-Identifier: Apache-2.0
"""Functions of few rows are interpreted on the host, with the bits of the compiled programs."""

import jax
import numpy as np
import pandas as pd
import pytest
from frame_parity import assert_same
from jaxframes.frame import JaxFrame
from jaxframes.frame.table import _host_column
from jaxframes.frame.table._host_column import HostColumn
from jaxframes.primitives import backend
from jaxframes.primitives.tiers import _tiered

pytestmark = pytest.mark.skipif(backend().cpu != "native", reason="interpreted with the kernels")

FLOATS = [np.nan, -0.0, 0.0, np.inf, -np.inf, 1.5, -2.5, 0.05, 1e30, 1e-310, 3.0, -7.0]


def _edges(dtype):
    info = np.iinfo(dtype)
    some = [info.min, info.max, 0, 1, 2, 3, info.max - 1, info.max // 2 + 1, 7, 5, 4, info.min + 1]
    return np.array(some, dtype)


FRAME = pd.DataFrame(
    {name: _edges(name) for name in ("int8", "int16", "int32", "int64", "uint8", "uint64")}
    | {name: np.array(FLOATS).astype(name) for name in ("float32", "float64")}
    | {"bool": np.arange(12) % 3 == 0}
)
NUMBERS = FRAME.drop(columns="bool")
WIDE = {"int64", "uint64", "float64"}
CALLS = {
    "sum": lambda f: f + f,
    "difference of rows": lambda f: f.sub(f["int8"], axis=0),
    "product": lambda f: f * 3,
    "quotient": lambda f: f / 7,
    "square": lambda f: f[["int32", "int64", "float64"]] ** 2,
    "comparison": lambda f: f > 1,
    "of two columns": lambda f: f["uint64"] >= f["int64"],
    "logic": lambda f: (f["int8"] > 1) & (f["float64"] < 2) | (f["uint8"] == 5),
    "complement": lambda f: ~(f["int8"] > 1),
    "negative": lambda f: -f,
    "magnitude": lambda f: abs(f),
    "round": lambda f: f.round(1),
    "floats": lambda f: f.drop(columns="float32").astype("float64"),
    "narrow integers": lambda f: f[["int64", "uint64", "int8"]].astype("int16"),
    "bools": lambda f: f.astype("bool"),
    "shift": lambda f: f.shift(),
    "shift up": lambda f: f.shift(-20, fill_value=1),
    "where": lambda f: f[["float64", "int32"]].where(f["int8"] > 1, 5),
    "where of one": lambda f: f["int64"].where(f["int8"] > 1),
    "mask": lambda f: f["float32"].mask(f["float32"] > 1),
    "clip": lambda f: f[["float64", "int32"]].clip(1, 4),
}


def _bits(result):
    """The bytes of each column, with one NaN."""
    shown = result.to_pandas()
    columns = [shown] if isinstance(shown, pd.Series) else [shown[name] for name in shown]
    arrays = [column.to_numpy(copy=True) for column in columns]
    for array in arrays:
        if array.dtype.kind == "f":
            array[np.isnan(array)] = np.nan
    return [(array.dtype, array.tobytes()) for array in arrays]


@pytest.mark.parametrize("x64", [True, False])
@pytest.mark.parametrize("name", CALLS)
def test_results_have_the_bits_of_programs(monkeypatch, name, x64):
    call, data = CALLS[name], NUMBERS if x64 else NUMBERS.drop(columns=list(WIDE))
    if not x64 and any(name in repr(call.__code__.co_consts) for name in WIDE):
        pytest.skip("without x64 mode there are no such columns")
    with jax.enable_x64(x64):
        got = _bits(call(JaxFrame(data)))
        monkeypatch.setattr(_host_column, "MOST_ROWS", 0)
        monkeypatch.setattr(_tiered, "mode", lambda: "compiled")
        assert got == _bits(call(JaxFrame(data)))


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("rows", [slice(None), slice(0)], ids=["rows", "no rows"])
def test_results_are_those_of_pandas(name, rows):
    call, data = CALLS[name], NUMBERS.iloc[rows].reset_index(drop=True)
    if data.empty and name == "shift":
        pytest.skip("integers without rows are floats")
    # XLA, and so the interpreter, takes subnormal numbers for zero.
    data = data.replace({"float64": {1e-310: 0.0}})
    with np.errstate(all="ignore"):
        expected = call(data)
    assert_same(call(JaxFrame(data)), expected)


def test_results_stay_on_the_host():
    frame = JaxFrame(FRAME)
    for name in ("sum", "comparison", "negative", "where", "clip"):
        result = CALLS[name](frame[["int8", "int32", "float64"]])
        assert all(type(column) is HostColumn for column in result._stored.columns), name


def test_what_a_result_shares_is_not_written():
    frame = JaxFrame(FRAME)
    kept = frame["float64"].astype("float64")
    assert_same(kept, FRAME["float64"])
    jax.jit(lambda f: f, donate_argnums=0)(frame)
    assert_same(kept, FRAME["float64"])


def test_programs_that_round_otherwise_are_compiled():
    frame = JaxFrame(FRAME[["float64"]])
    result = np.exp(frame)
    assert type(result._stored.columns[0]) is not HostColumn
    with np.errstate(all="ignore"):
        assert_same(result, np.exp(FRAME[["float64"]]))
