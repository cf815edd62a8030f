# SPDX-License-Identifier: Apache-2.0
import datetime

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error, on_device
from on_shards import noting


def _chosen(f):
    few = f.k > 1
    return (
        f.where(few),
        f.mask(few),
        f.x.where(few, 0.0),
        f.i.where(few, 0),
        f.i.where(few),
        f.i.mask(few, 1.5),
        f.f.where(few, 0.5),
        f.f.where(few, f.x),
        f.s.where(few, "b"),
        f.s.mask(few, "new"),
        f.c.where(few, "w"),
        f.t.where(few, pd.Timestamp("2020-01-01")),
        f.d.where(few, f.d),
        f.i.where(few, f.k),
        f.i.where(few, f.x),
        f.x.mask(lambda s: s > 0, lambda s: s * 2.0),
        f[["k", "i", "x"]].where(f[["i", "x"]] > 0, 0),
        f[["k", "i"]].where(few, f[["i", "k"]]),
        f[["x", "f"]].where(few, f.x, axis=0),
    )


def test_matches_pandas():
    assert_parity(_chosen, mixed_frame())


def test_matches_pandas_on_a_mesh():
    assert_parity(
        lambda f: (f.where(f.k > 1), f.s.mask(f.k > 1, "new")), mixed_frame(), ways=["mesh"]
    )


@pytest.mark.parametrize("num_rows", [0, 1])
def test_few_rows(num_rows):
    assert_parity(_chosen, mixed_frame()[:num_rows], ways=["eager"])


def test_dtypes_that_depend_on_values():
    frame = pd.DataFrame(
        {"i": [1, 2, 3], "n": np.array([1, 2, 3], "int8"), "b": [True, False, True]}
    )

    def each(f):
        everywhere = f.i > 0
        last = f.i > 2
        return (
            f.i.where(everywhere, 1.5),
            f.i.where(everywhere),
            f.b.where(everywhere, 1),
            f.b.where(last),
            f.i.where(last, f.i / 1.0),
            f.i.where(last, f.i / 2.0),
            f.n.where(last, f.i),
            f.n.where(last, f.i * 1000),
            f.n.where(last, 1000),
            f.n.astype("uint8").where(last, f.i),
            f.n.astype("float32").where(last, f.i),
            f.n.where(last, 5.0),
        )

    assert_parity(each, frame, ways=["eager"])


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "int8", "uint8"])
def test_floats_that_a_narrower_dtype_holds(dtype):
    # One number a case, since a number that does not fit makes the column float64. XLA on CPU
    # flushes float32 subnormals to zero.
    least = float(np.finfo(dtype).smallest_subnormal) if dtype == "float16" else 1.0
    greatest = float(np.finfo(dtype).max if dtype.startswith("float") else np.iinfo(dtype).max)
    for number in (
        0.1, 0.5, -0.0, np.nan, np.inf, -np.inf, least, 3 * least, 1.5 * least, greatest,
        -greatest, greatest + 1, 2 * greatest, 2.0**62, 2.0**63, -(2.0**63),
    ):  # fmt: skip
        frame = pd.DataFrame({"x": np.zeros(3, dtype), "y": [0.0, number, 1.0]})
        with np.errstate(all="ignore"), noting((dtype, number)):
            assert_parity(lambda f: f.x.where(f.y == 1.0, f.y), frame, ways=["eager"])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64"])
@pytest.mark.parametrize("narrow", ["float16", "float32"])
def test_integers_that_floats_hold(dtype, narrow):
    # The limits of a dtype survive a cast and its inverse even if they are rounded.
    info = np.iinfo(dtype)
    for number in {info.min, info.min + 1, 1, info.max // 2 + 1, info.max - 1, info.max}:
        frame = pd.DataFrame({"x": np.zeros(3, narrow), "y": np.array([0, number, 1], dtype)})
        with np.errstate(all="ignore"), noting((dtype, narrow, number)):
            assert_parity(lambda f: f.x.where(f.y == 1, f.y), frame, ways=["eager"])


@pytest.mark.parametrize("dtype", ["uint16", "int32", "int64", "uint64"])
def test_float16_in_a_column_of_larger_integers(dtype):
    # pandas rejects float16 values outside these integer dtypes.
    for number in (3.0, 65504.0):
        frame = pd.DataFrame({"x": np.zeros(3, dtype), "y": np.array([0, number, 1], "float16")})
        with noting((dtype, number)):
            assert_parity(lambda f: f.x.where(f.y == 1.0, f.y), frame, ways=["eager"])


def test_conditions_are_aligned():
    frame = pd.DataFrame({"x": [1, 2, 3]})
    cond, other = pd.Series([True, False], index=[2, 1]), pd.Series([7.0, 8.0], index=[0, 1])
    assert_parity(
        lambda f, c, o: (f.x.where(c), f.x.mask(c), f.x.where(f.x > 2, o)),
        frame, cond, other, ways=["eager"],
    )  # fmt: skip
    flags = np.array([True, False, True])
    assert_parity(lambda f: (f.x.where(flags), f.where(flags[:, None], 0)), frame, ways=["eager"])


def test_labels_of_columns_may_repeat():
    frame = pd.DataFrame([[1, 2.5, 3], [4, 5, 6]], columns=["q", "a", "q"])
    assert_parity(
        lambda f: (f.where(f > 2), f.mask(f > 2, -f), f[f > 2], f.compare(f * 2 - 3)), frame,
        ways=["eager", "mesh"],
    )  # fmt: skip


def test_wrong_arguments_are_pandas_errors():
    frame = pd.DataFrame({"x": [1, 2], "c": pd.Categorical(["a", "b"]), "s": ["a", "b"]})
    assert "bool" in assert_same_error(lambda f: f.x.where(f.x, 1), frame).lower()
    assert "same shape" in assert_same_error(lambda f: f.x.where([True]), frame)
    assert "same shape" in assert_same_error(lambda f: f.where(np.array([True, False])), frame)
    assert "category" in assert_same_error(lambda f: f.c.where(f.x > 1, "q"), frame)
    assert_same_error(lambda f: f[["x"]].where(f.x > 1, f.x), frame)


def test_gradient_flows_to_both_sides():
    frame = on_device(pd.DataFrame({"x": [1.0, -2.0], "y": [3.0, 4.0]}))
    weights = jnp.array([2.0, 5.0])
    gradient = jax.grad(
        lambda f: jnp.sum(f.x.where(f.x > 0, f.y)._only.data[:2] * weights), allow_int=True
    )(frame)
    np.testing.assert_array_equal(gradient._table.columns[0].data[:2], [2.0, 0.0])
    np.testing.assert_array_equal(gradient._table.columns[1].data[:2], [0.0, 5.0])


def test_numbers_past_the_range_of_a_dtype():
    floats = pd.Series([1.0, np.nan])
    assert_parity(lambda s: (s.where(s > 1, 2**64), s.fillna(2**64)), floats, ways=["eager"])
    empty = pd.Series([], dtype="int64")
    assert_parity(lambda s: (s.where(s > 1, 1e300), s.mask(s > 1, 1e300)), empty, ways=["eager"])


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "boolean"])
@pytest.mark.parametrize("value", [pd.NaT, "a"])
def test_a_value_that_no_nullable_dtype_holds_is_an_error_only_if_it_is_needed(dtype, value):
    series = pd.Series([1, 0, None], dtype=dtype)
    for call in (
        lambda s: s.where([True] * 3, value),
        lambda s: s.mask([False, True, False], value),
        lambda s: s.fillna(value),
        lambda s: s[:2].fillna(value),
        lambda s: s.replace(1, value),
        lambda s: s.replace(5, value),
    ):
        try:
            call(series)
        except TypeError:
            with pytest.raises(TypeError, match="Invalid value"):
                call(on_device(series))
        else:
            assert_parity(call, series, ways=["eager"])


ARROW = {
    "decimal": (["1.50", None, "2.50"], pd.ArrowDtype(pa.decimal128(10, 2))),
    "date": (["2020-01-01", None, "2020-01-03"], pd.ArrowDtype(pa.date32())),
    "string": (["a", None, "q"], pd.ArrowDtype(pa.string())),
}


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("decimal", pd.Series([3, 4, 7], dtype="int16")),
        ("decimal", pd.Series([0.25, 4, np.nan])),
        ("decimal", pd.Series([1, 2, None], dtype="UInt8")),
        ("date", pd.Series(pd.to_datetime(["2021-05-05", "2021-05-06", "2021-05-07"]))),
        ("date", pd.Series([datetime.date(2021, 5, 5), datetime.date(2021, 5, 6), None])),
        ("string", pd.Series([1, 2, 3])),
        ("string", pd.Series([True, False, True])),
    ],
)
def test_a_column_of_an_arrow_dtype_keeps_it(kind, values):
    texts, dtype = ARROW[kind]
    column = pd.Series(texts, dtype="string[pyarrow]").astype(dtype)
    flags = pd.Series([False, False, True])

    def chosen(s, values, flags):
        made = s.copy()
        made[flags] = values
        few = s.copy()
        few.iloc[1:] = values.iloc[:2].to_list()
        return s.where(flags, values), s.mask(flags, values), s.fillna(values), made, few

    expected = chosen(column, values, flags)
    assert_same(chosen(*map(on_device, (column, values, flags))), expected)
    assert {one.dtype for one in expected} == {dtype}


def test_values_that_arrow_does_not_cast_are_refused():
    dates = pd.Series(["2020-01-01", None], dtype="string[pyarrow]").astype(ARROW["date"][1])
    ours = on_device(dates)
    with pytest.raises(TypeError, match=r"Invalid values of dtype int64 for dtype 'date32.*astype"):
        ours.fillna(on_device(pd.Series([1, 2])))
    hours = pd.Series([datetime.time(1), None], dtype=pd.ArrowDtype(pa.time64("us")))
    with pytest.raises(TypeError, match="Invalid values of dtype str"):
        on_device(hours).fillna(on_device(pd.Series(["x", "oops"])))
    # No row needs them.
    assert_same(ours.where(ours.notna() | ours.isna(), on_device(pd.Series([1, 2]))), dates)
