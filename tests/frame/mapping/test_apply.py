# SPDX-License-Identifier: Apache-2.0
import math

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device
from jaxframes.frame import JaxFrame
from jaxframes.frame.table import _exact_trace


def test_functions_of_rows():
    def each(f):
        numbers = f[["k", "i", "x"]]
        return (
            f.apply(lambda row: row.k * 2 + row["i"], axis=1),
            numbers.apply(lambda row: row.k + 1, axis=1),
            f[["k", "i"]].apply(lambda row: row.k % 3, axis=1),
            f[["f", "k"]].apply(lambda row: row.f * 2, axis=1),
            f.apply(lambda row: (row.k, row.x / 2.0), axis=1, result_type="expand"),
            f.apply(lambda row: {"a": row.k > 1, "b": row.f}, axis=1, result_type="expand"),
        )

    assert_parity(each, mixed_frame())
    assert_parity(
        lambda f: f.apply(lambda row: row.k + row.x, axis=1), mixed_frame(), ways=["mesh"]
    )


def test_functions_of_columns():
    assert_parity(
        lambda f: f[["k", "x"]].apply(lambda column: column * 2), mixed_frame(), ways=["eager"]
    )


def test_a_function_is_confirmed_by_a_second_trace(monkeypatch):
    # It counts its calls, which would keep it from being traced.
    monkeypatch.setattr(_exact_trace, "calls_differ", lambda function: False)
    traces = []

    def note():
        traces.append(None)

    def product(row):
        note()
        return row.x * row.y

    for seed in range(3):
        data = np.random.default_rng(seed).normal(size=(20 + seed, 2))
        frame = pd.DataFrame(data, columns=["x", "y"])
        result = on_device(frame).apply(product, axis=1)
        pd.testing.assert_series_equal(result.to_pandas(), frame.x * frame.y)
    # Each call traces it, and the first one twice: it may compute something else each time.
    assert len(traces) == 4


def _untraceable(f):
    return (
        f.apply(lambda row: 1 if row.k > 1 else 2, axis=1),
        f.apply(lambda row: row.s, axis=1),
        f.apply(lambda row: (row.k, row.k), axis=1),
        f.apply(lambda row: "text", axis=1),
        f.apply(lambda row: f"{row.k}-{row.s}", axis=1),
        f[["k", "i"]].apply(lambda row: len(str(row.k)) + row.i, axis=1),
        f.apply(lambda row: len(row), axis=1),
        f[["k", "x"]].apply(lambda row: row.name, axis=1),
        f[["k", "x"]].apply(lambda row: row * 2, axis=1),
        f[["k", "x"]].apply(lambda row: [row.k, "a"], axis=1, result_type="expand"),
        f[["k", "x"]].apply(lambda row, n: math.floor(row.x) + n, axis=1, args=(2,)),
        f[["k", "x"]].apply(lambda row: row.k, axis=1, result_type="broadcast"),
        f[["k", "x"]].apply(lambda row: None, axis=1),
    )


def test_functions_that_jax_cannot_trace_run_on_the_host():
    frame = mixed_frame().dropna(subset=["x"])
    frame = frame[np.isfinite(frame.x)]
    assert_parity(_untraceable, frame, ways=["eager", "mesh"])
    frame.index = frame.index * 2 + 1
    assert_parity(lambda f: _untraceable(f)[5:9], frame, ways=["eager"])
    assert_parity(lambda f: _untraceable(f)[:2], frame[:1], ways=["eager"])


def test_the_engine_of_a_function():
    ours = on_device(mixed_frame()[["k", "i"]])
    branch = lambda row: 1 if row.k > 1 else 2  # noqa: E731
    for call in (
        lambda: ours.apply(branch, axis=1, engine="jax"),
        lambda: jax.jit(lambda f: f.apply(branch, axis=1))(ours),
    ):
        with pytest.raises(NotImplementedError, match="trace"):
            call()
    with pytest.raises(NotImplementedError, match="outside jit"):
        jax.jit(lambda f: f.apply(branch, axis=1, engine="python"))(ours)
    with pytest.raises(ValueError, match="engine must be None, 'jax' or 'python', got 'numba'"):
        ours.apply(branch, axis=1, engine="numba")
    seen = []
    ours.apply(lambda row: seen.append(row.k) or row.k, axis=1, engine="python")
    assert seen == ours.k.tolist()


def test_what_a_function_cannot_do():
    ours = on_device(mixed_frame())
    with pytest.raises(TypeError, match="column 's'"):
        ours.apply(lambda row: row.s, axis=1, engine="jax")
    with pytest.raises(NotImplementedError, match="expand"):
        ours.apply(lambda row: (row.k, row.k), axis=1, engine="jax")
    with pytest.raises(NotImplementedError, match="number"):
        ours.apply(lambda row: "text", axis=1, engine="jax")
    frame = pd.DataFrame({"x": [1, 2]})
    assert_same_error(lambda f: f.apply(lambda row: row.bogus, axis=1), frame)
    assert "bogus" in assert_same_error(lambda f: f.apply(lambda row: row["bogus"], axis=1), frame)
    assert_same_error(lambda f: f.apply(lambda row: row.x, axis=1, result_type="bogus"), frame)
    assert_same_error(lambda f: f.apply(lambda row: row.x, axis=2), frame)


def test_padding_has_no_part_in_the_gradient_of_what_a_function_closes_over():
    frame = JaxFrame({"x": [1.0, 2.0, 4.0]})
    for total in (
        lambda w: frame.x.map(lambda x: w / x).sum(),
        lambda w: frame.apply(lambda row: w / row.x, axis=1).sum(),
    ):
        assert jax.grad(total)(2.0) == 1.75


def test_gradient_flows_through_rows():
    frame = on_device(pd.DataFrame({"x": [1.0, 2.0], "y": [3.0, 4.0]}))
    gradient = jax.grad(
        lambda f: jnp.sum(f.apply(lambda row: row.x**2 * row.y, axis=1)._only.data[:2]),
        allow_int=True,
    )(frame)
    np.testing.assert_allclose(gradient._table.columns[0].data[:2], [6.0, 16.0])
    np.testing.assert_allclose(gradient._table.columns[1].data[:2], [1.0, 4.0])


PRODUCT = {"of": 2}


def test_a_function_sees_what_its_names_hold_now():
    frame = pd.DataFrame({"x": [1, 2]})
    for factor in (2, 3):
        PRODUCT["of"] = factor
        for each in (lambda f: f.x.map(_product), lambda f: f.apply(lambda r: _product(r.x), 1)):
            assert_parity(each, frame, ways=["eager"])


def _product(value):
    return value * PRODUCT["of"]


@pytest.mark.parametrize("dtype", ["Int64", "boolean", "Float64", "int64[pyarrow]"])
def test_missing_values_of_rows_are_not_zeros(dtype):
    for values in ([1, None, 0], [1, 1, 0]):
        frame = pd.DataFrame({"a": pd.array(values, dtype=dtype)})
        for each in (lambda r: r.a, lambda r: r.a + 1, lambda r: r.a + r.a):
            expected = frame.apply(each, axis=1)
            got = on_device(frame).apply(each, axis=1).to_pandas()
            assert got.astype(object).fillna(-9).tolist() == expected.fillna(-9).tolist()


ROWS = {
    "quotient": lambda r: r.b // r.a,
    "remainder": lambda r: r.b % r.a,
    "true quotient": lambda r: r.b / r.a,
    "power": lambda r: 2**r.a,
    "powers": lambda r: r.b**r.a,
    "wrapping": lambda r: r.a * 2**62,
    "shift": lambda r: r.b << r.a,
    "dict": lambda r: {"z": r.a, "b": r.a + 1},
    "constant": lambda r: 7,
    "outside": lambda r: r.iloc[5],
}


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.filterwarnings("ignore:divide by zero|overflow|invalid:RuntimeWarning")
def test_numbers_of_rows_are_those_of_numpy_or_python(name):
    for frame in (
        pd.DataFrame({"a": [1, 2, 3], "b": [5, 6, 7]}),
        pd.DataFrame({"a": [1, 0, 2], "b": [5, 6, 7]}),
        pd.DataFrame({"a": [1, -2, 2], "b": [5, 6, 7]}),
        pd.DataFrame({"a": [1, 70, 2], "b": [5, 6, 7]}),
        pd.DataFrame({"a": [1, 2], "b": [5, 6], "s": ["x", "y"]}),
        pd.DataFrame({"a": [0, 2], "b": [5, 6], "s": ["x", "y"]}),
        pd.DataFrame({"a": [True, False], "b": [5, 6]}),
    ):
        _same_or_error(lambda f: f.apply(ROWS[name], axis=1, result_type="expand"), frame)


def _same_or_error(operation, frame):
    try:
        operation(frame)
    except Exception:
        assert_same_error(operation, frame)
    else:
        assert_parity(operation, frame, ways=["eager"])


def test_rows_that_one_trace_does_not_stand_for():
    narrow = pd.DataFrame({"a": np.array([1, 100], np.int8)})
    assert "1000" in assert_same_error(lambda f: f.apply(lambda r: r.a + 1000, axis=1), narrow)
    twice = pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"])
    assert_parity(lambda f: f.apply(lambda r: r.sum(), axis=1), twice, ways=["eager"])
    assert_same_error(lambda f: f.apply(lambda r: r[5], axis=1, raw=True), twice)
    bools = pd.DataFrame({"a": [True, False], "b": [True, True]})
    assert_parity(lambda f: f.apply(lambda r: r.a + r.b, axis=1), bools, ways=["eager"])


COLUMNS = {
    "counts": lambda c: c.value_counts(),
    "dropped": lambda c: c.dropna(),
    "sorted series": lambda c: c.sort_values(),
    "masked": lambda c: c[c > 1],
    "largest": lambda c: c.nlargest(2),
    "group sizes": lambda c: c.groupby(c).size(),
    "reversed": lambda c: c.iloc[::-1],
    "head": lambda c: c.head(2),
    "described": lambda c: c.describe(),
    "relabelled": lambda c: c.reset_index(drop=True),
    "list": lambda c: c.tolist(),
    "sorted list": sorted,
    "unique": lambda c: c.unique(),
    "array": lambda c: c.values,
    "doubled": lambda c: c * 2,
    "sum": lambda c: c.sum(),
    "name": lambda c: c.name,
    "length": len,
    "dict": lambda c: {"q": 1},
}


@pytest.mark.parametrize("name", COLUMNS)
def test_results_of_columns_are_aligned_by_label(name):
    function = COLUMNS[name]
    for frame in (
        pd.DataFrame({"a": [3, 1, 2, 1], "b": [1.0, np.nan, 5.0, 1.0]}, index=[10, 11, 12, 13]),
        pd.DataFrame({"a": [3, 1, 2], "b": [4, 5, 6]}),
    ):
        for each in (
            lambda f: f.apply(function),
            lambda f: f.apply(function, result_type="broadcast"),
            lambda f: f.apply(function, raw=True),
            lambda f: f.a.apply(function, by_row=False),
            lambda f: f.transform(function),
            lambda f: f.b.transform(function),
        ):
            _same_or_error(each, frame)
        if name not in ("sum", "name", "length", "dict"):
            assert_parity(lambda f: f.agg(function), frame, ways=["eager"])


def test_results_of_columns_of_strings_are_aligned_by_label():
    texts = pd.DataFrame({"a": ["x", "y", "x"], "b": ["x", "x", "z"]})
    assert_parity(lambda f: f.apply(lambda c: c.value_counts()), texts, ways=["eager"])
    assert_parity(lambda f: f.apply(type(f.a).value_counts), texts, ways=["eager"])


def test_several_functions_of_columns_reduce_them():
    frame = pd.DataFrame({"a": [3, 1, 2], "b": [4.0, 5.0, np.nan]})
    for functions in (["sum", "max"], {"a": "sum", "b": "max"}, [np.sum, "max"]):
        assert_parity(lambda f, one=functions: f.apply(one), frame, ways=["eager"])
    assert_parity(lambda f: f.apply(np.sum, raw=True), frame, ways=["eager"])


def test_attrs_stay_on_every_way():
    frame = on_device(pd.DataFrame({"a": [1, 2], "b": [3, 4]}))
    frame.attrs["unit"] = "m"
    for found in (
        frame.apply(lambda row: row.a * row.b, axis=1),
        frame.apply(lambda row: row.a if row.a > 1 else 0, axis=1),
        frame.apply(lambda column: column.sum()),
        frame.a.apply(lambda x: x if x > 1 else 0),
    ):
        assert found.attrs == {"unit": "m"}
