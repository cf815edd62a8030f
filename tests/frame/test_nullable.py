# SPDX-License-Identifier: Apache-2.0
"""Nullable dtypes: in and out, their rules for NA, and what raises."""

import io

import jax
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from frame_parity import assert_parity, assert_same, on_device
from jaxframes.frame import JaxFrame, JaxSeries, read_csv, read_parquet

ARROW_STRINGS = pd.ArrowDtype(pa.string())
COLUMNS = {
    "Int64": pd.Series([2**62 + 1, None, -3], dtype="Int64"),
    "UInt8": pd.Series([1, None, 255], dtype="UInt8"),
    "Float32": pd.Series([1.5, None, -0.0], dtype="Float32"),
    "Float64": pd.Series([1.5, None, np.inf], dtype="Float64"),
    "boolean": pd.Series([True, None, False], dtype="boolean"),
    "string": pd.Series(["b", None, "a"], dtype="string"),
    "int64[pyarrow]": pd.Series([2**62 + 1, None, -3], dtype="int64[pyarrow]"),
    "double[pyarrow]": pd.Series([1.5, None, 2.5], dtype="double[pyarrow]"),
    "bool[pyarrow]": pd.Series([True, None, False], dtype="bool[pyarrow]"),
    "strings of Arrow": pd.Series(["b", None, "a"], dtype=ARROW_STRINGS),
    "timestamp": pd.Series([pd.Timestamp(1), None, None], dtype="timestamp[ns][pyarrow]"),
    "duration": pd.Series([pd.Timedelta(1), None, None], dtype="duration[ns][pyarrow]"),
}
FRAME = pd.DataFrame(COLUMNS)
INTEGERS = COLUMNS["Int64"]


def test_columns_come_in_and_go_out_unchanged():
    frame = JaxFrame(FRAME)
    assert frame.dtypes.tolist() == FRAME.dtypes.tolist()
    pd.testing.assert_frame_equal(frame.to_pandas(), FRAME)
    pd.testing.assert_frame_equal(jax.jit(lambda f: f)(frame).to_pandas(), FRAME)
    pd.testing.assert_frame_equal(JaxFrame(frame.to_arrow()).to_pandas(), FRAME)
    assert str(frame) == str(FRAME)


def test_a_file_keeps_dtypes(tmp_path):
    frame = JaxFrame(FRAME.set_index("Int64"))
    frame.to_parquet(tmp_path / "x.parquet")
    back = read_parquet(tmp_path / "x.parquet").to_pandas()
    pd.testing.assert_frame_equal(back, FRAME.set_index("Int64"))


@pytest.mark.parametrize("name", COLUMNS)
def test_rows_and_elements_are_those_of_pandas(name):
    assert_parity(lambda s: (s[s.notna()], s.head(2), s.sort_values(na_position="first"),
                             s.isna()), COLUMNS[name])  # fmt: skip
    ours = JaxSeries(COLUMNS[name])
    assert ours.iloc[1] is pd.NA
    assert ours.loc[0] == COLUMNS[name].loc[0]
    assert_same(ours.iloc[2], COLUMNS[name].iloc[2])


def test_construction_takes_names_of_dtypes():
    for values, dtype in (([1, None], "Int8"), ([1.5, None], "Float64"), ([True, None], "boolean"),
                          (["a", None], "string"), ([1, None], "int64[pyarrow]")):  # fmt: skip
        expected = pd.Series(values, dtype=dtype)
        pd.testing.assert_series_equal(JaxSeries(values, dtype=dtype).to_pandas(), expected)


def test_integers_are_exact():
    assert_parity(lambda s: (s + 1, s.sum(), s.max(), s.cumsum(), s == 2**62 + 1), INTEGERS)


def test_logic_is_that_of_kleene():
    flags = pd.Series([True, False, None], dtype="boolean")
    frame = pd.DataFrame({"a": np.repeat(flags, 3).array, "b": pd.concat([flags] * 3).array})
    assert_parity(lambda f: (f.a & f.b, f.a | f.b, f.a ^ f.b, ~f.a, f.a & True, f.a | False), frame)
    assert_parity(lambda f: (f.a & pd.NA, f.a | pd.NA), frame)
    assert_parity(lambda f: f[f.a | f.b], frame)


def test_powers_of_one_and_by_zero_are_known():
    integers = pd.Series([1, 3, None], dtype="Int64")
    assert_parity(lambda s: (s**0, 1**s, s**2), integers)
    assert_parity(lambda s: (s**pd.NA, s + pd.NA, s == pd.NA), integers)


def test_dtypes_meet_in_pandas_common_dtype():
    names = ("Int8", "UInt64", "Float32", "boolean")
    frame = pd.DataFrame({name: pd.Series([1, None, 0], dtype=name) for name in names})
    frame["float64"], frame["int16"] = [1.5, np.nan, 2.0], np.int16([1, 2, 3])
    for a in names[:3]:
        for b in (*names[:3], "float64", "int16"):
            assert_parity(lambda f, a=a, b=b: (f[a] + f[b], f[b] * f[a], f[a] < f[b]), frame,
                          ways=("eager",))  # fmt: skip


def test_a_value_that_does_not_fit_raises():
    ours = JaxSeries(INTEGERS)
    for call in (lambda s: s.fillna(1.5), lambda s: s.where(s > 0, 0.5), lambda s: s.fillna("a")):
        with pytest.raises(TypeError, match=r"Invalid value .* for dtype 'Int64'"):
            call(ours)
    with pytest.raises(ValueError, match="cannot convert NA to integer"):
        ours.astype("int64")
    with pytest.raises(TypeError, match="cannot safely cast non-equivalent float64 to int64"):
        JaxSeries([1.5]).astype("Int64")
    with pytest.raises(TypeError, match="NoneType"):
        _ = ours + None


def test_what_is_not_supported_says_what_to_do():
    with pytest.raises(NotImplementedError, match="astype"):
        JaxSeries(INTEGERS).to_frame().cumsum(axis=1)
    binary = pd.Series([b"a"], dtype=pd.ArrowDtype(pa.binary()))
    with pytest.raises(NotImplementedError, match="nullable dtype must be of numbers"):
        JaxSeries(binary)


@pytest.mark.parametrize("backend", ["numpy_nullable", "pyarrow"])
def test_dtype_backends(backend):
    text = b"a,b,c,d\n1,x,1.5,True\n,y,,\n3,,2.5,False\n"
    expected = pd.read_csv(io.BytesIO(text), dtype_backend=backend)
    read = read_csv(io.BytesIO(text), dtype_backend=backend)
    pd.testing.assert_frame_equal(read.to_pandas(), expected)
    assert_parity(lambda f: f.convert_dtypes(dtype_backend=backend), pd.read_csv(io.BytesIO(text)),
                  ways=("eager",))  # fmt: skip
    with pytest.raises(ValueError, match="dtype_backend polars is invalid"):
        read.convert_dtypes(dtype_backend="polars")


@pytest.mark.parametrize("backend", ["numpy_nullable", "pyarrow"])
def test_dtype_backends_have_labels_of_rows(backend, tmp_path):
    frame = pd.DataFrame({"i": [1, 2], "x": [1.5, None], "v": [3, 4]}).set_index(["i", "x"])
    for labelled in (frame, frame.droplevel("x"), frame.reset_index(drop=True)):
        labelled.to_parquet(tmp_path / "rows.parquet")
        expected = pd.read_parquet(tmp_path / "rows.parquet", dtype_backend=backend)
        read = read_parquet(tmp_path / "rows.parquet", dtype_backend=backend)
        pd.testing.assert_frame_equal(read.to_pandas(), expected)


def test_read_csv_takes_nullable_dtypes():
    text, dtypes = b"a,b\n1,x\n,y\n", {"a": "Int64", "b": "string"}
    expected = pd.read_csv(io.BytesIO(text), dtype=dtypes)
    pd.testing.assert_frame_equal(read_csv(io.BytesIO(text), dtype=dtypes).to_pandas(), expected)


def test_groups_and_joins_over_a_mesh():
    frame = pd.DataFrame({"k": pd.Series([1, None, 1, 2] * 5, dtype="Int64"),
                          "x": pd.Series([1, 2, None, 4] * 5, dtype="Int64")})  # fmt: skip
    assert_parity(lambda f: (f.groupby("k", dropna=False).sum(), f.groupby("k").mean(),
                             f.x.value_counts(), f.sort_values("x", kind="stable")), frame,
                  ways=("eager", "mesh"), num_devices=4)  # fmt: skip


@pytest.mark.parametrize("batch_rows", [None, 2])
def test_plans_and_batches_keep_dtypes(batch_rows, tmp_path):
    frame = pd.DataFrame({"k": pd.Series([1, None, 1, 2], dtype="Int64"),
                          "s": pd.Series(["a", None, "b", "a"], dtype="string")})  # fmt: skip
    plan = on_device(frame).lazy()
    plan = plan.assign(y=plan["k"] + 1, same=plan["s"] == "a")
    expected = frame.assign(y=frame["k"] + 1, same=frame["s"] == "a")
    assert plan.dtypes.tolist() == expected.dtypes.tolist()
    options = {} if batch_rows is None else {"batch_rows": batch_rows}
    pd.testing.assert_frame_equal(plan.collect(**options).to_pandas(), expected)
    groups = plan.groupby("s")["k"].sum().collect(**options).to_pandas()
    pd.testing.assert_series_equal(groups, expected.groupby("s")["k"].sum())


def test_strings_keep_their_dtype_where_they_are_joined():
    words = pd.Series(["b", None, "a", "b"], dtype="string")
    assert_parity(lambda s: s.cumsum(), words, ways=["eager"])
    assert_parity(lambda s: s.groupby([2, 1, 2, 1]).sum(), words, ways=["eager"])


def test_bools_as_objects_miss_na():
    shown = on_device(pd.Series([True, None, False], dtype="boolean")).astype(object)
    assert list(map(repr, shown.to_pandas())) == ["True", "<NA>", "False"]


@pytest.mark.filterwarnings("ignore:The .* keyword in:DeprecationWarning")
@pytest.mark.parametrize("without", range(5))
@pytest.mark.parametrize("backend", ["numpy_nullable", "pyarrow"])
def test_convert_dtypes_of_some(without, backend):
    frame = pd.DataFrame({
        "i": [1, 2], "f": [1.5, 2], "whole": [1.0, None], "b": [True, False], "s": ["a", None],
    })  # fmt: skip
    flags = [place != without for place in range(5)]
    assert_parity(lambda f: f.convert_dtypes(*flags, dtype_backend=backend), frame, ways=["eager"])
    series = frame.whole
    assert_parity(lambda s: s.convert_dtypes(*flags, backend), series, ways=["eager"])
    objects = pd.Series([1, None], dtype=object)
    assert_parity(lambda s: s.convert_dtypes(*flags), objects, ways=["eager"])
    masked = frame[["i", "f", "b"]].convert_dtypes().reindex([0, 1, 2])
    assert_parity(lambda f: f.convert_dtypes(*flags, dtype_backend=backend), masked, ways=["eager"])


@pytest.mark.filterwarnings("ignore:The .* keyword in:DeprecationWarning")
def test_convert_dtypes_leaves_complex_numbers_and_takes_bools_for_floats():
    pairs = pd.Series([1 + 2j, np.nan])
    assert_parity(lambda s: s.convert_dtypes(), pairs, ways=["eager", "jit"])
    options = {"convert_integer": False, "convert_boolean": False}
    flags = pd.Series([True, False])
    assert_parity(lambda s: s.convert_dtypes(**options), flags, ways=["eager"])
    assert_parity(
        lambda s: s.convert_dtypes(**options, convert_floating=False), flags, ways=["eager"]
    )


def test_convert_dtypes_of_floats_at_the_ends_of_their_ranges():
    columns = {
        "f16": np.array([1.5, 65504], "f2"),
        "least": [-(2.0**63), 1.0],
        "past": [2.0**63, 1],
    }
    assert_parity(lambda f: f.convert_dtypes(), pd.DataFrame(columns), ways=["eager"])
    halves = pd.Series(columns["f16"])
    assert_parity(lambda s: s.convert_dtypes(dtype_backend="pyarrow"), halves, ways=["eager"])


def test_sums_of_arrow_float32_are_float64():
    frame = pd.DataFrame({"y": pd.array([0.1, None, 0.7, 2.0**24], "float[pyarrow]"), "k": 1})
    ours = JaxFrame(frame)
    for name in ("sum", "mean", "std"):
        expected = getattr(frame.y, name)()
        assert_same(getattr(ours.y, name)(), expected, ulps=4)
        assert_same(getattr(ours.lazy().y, name)().collect(batch_rows=3), expected, ulps=4)
    assert_same(ours[["y", "k"]].sum(), frame[["y", "k"]].sum(), ulps=4)


@pytest.mark.parametrize(
    "dtype", ["string", "string[pyarrow]", "Int64", "boolean", "int64[pyarrow]"]
)
def test_values_that_are_missing_are_compared_as_in_pandas(dtype):
    values = ["a", None, "b"] if "string" in str(dtype) else [1, None, 0]
    series = pd.Series(values, dtype=dtype)
    for missing in (None, np.nan, pd.NA):
        assert_parity(lambda s, m=missing: (s.eq(m), s.ne(m)), series, ways=["eager", "jit"])
        if missing is not None:
            assert_parity(lambda s, m=missing: (s < m, s >= m), series, ways=["eager"])


@pytest.mark.parametrize("dtype", ["string", "str", "object"])
def test_queries_look_texts_up_among_strings_that_may_be_missing(dtype):
    frame = pd.DataFrame({"s": pd.Series(["a", None, "b"], dtype=dtype), "v": [1, 2, 3]})
    text = "a"
    for query in (
        "s != 'a'", "not s == 'a'", "~(s == 'a')", "'a' != s", "s == @text", "s != @text",
        "s != 'a' and v > 1", "`s` != 'c'", "s > 'a'",
    ):  # fmt: skip
        variables = {"text": text}
        expected = frame.query(query, local_dict=variables)
        ours = JaxFrame(frame)
        assert_same(ours.query(query, local_dict=variables), expected)
        for batch_rows in (None, 2):
            plan = ours.lazy().query(query, local_dict=variables)
            assert_same(plan.collect(batch_rows=batch_rows), expected)
