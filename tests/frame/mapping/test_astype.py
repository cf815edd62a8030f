# SPDX-License-Identifier: Apache-2.0
import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from frame_examples import INTEGERS, STRINGS, floats, integers, mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device
from jaxframes.frame import JaxFrame

NUMBERS = (*INTEGERS, "float16", "float32", "float64", "bool", "complex64", "complex128")

CATEGORIES = pd.CategoricalDtype(["z", *{s: 0 for s in STRINGS if s not in (None, "z")}, "q"])


def _lattice() -> pd.DataFrame:
    frame = pd.DataFrame({dtype: integers(dtype) for dtype in INTEGERS})
    whole = np.array([0.0, -0.0, 1.9, -1.9, 2.5, 126.7, 3.0, 1e4, -7.5])
    frame["f64"] = np.random.default_rng(0).choice(whole, 37)
    frame["f32"] = frame["f64"].astype("float32")
    frame["b"] = frame["int8"] > 1
    return frame


def test_number_lattice():
    def to_each(f):
        signed = f.drop(columns=["f64", "f32"])
        return (
            *(signed.astype(dtype) for dtype in NUMBERS),
            *(f.astype(dtype) for dtype in NUMBERS if not dtype.startswith("u")),
        )

    with np.errstate(over="ignore"):
        assert_parity(to_each, _lattice(), ways=["jit"])


def test_floats_with_nan_and_infinity():
    def to_each(s):
        return tuple(s.astype(d) for d in ("bool", "float16", "float32", "float64", "complex128"))

    with np.errstate(over="ignore"):
        assert_parity(to_each, floats())
        assert_parity(to_each, floats("float32"))


def test_a_bool_as_a_number_times_infinity_or_nan_is_nan():
    frame = pd.DataFrame({"x": [np.inf, np.nan, 2.0], "b": [False, False, True]})

    def products(f):
        return (
            f.x * f.b.astype("float64"),
            f.x.astype("float32") * f.b.astype("float32"),
            f.x * f.x.notna().astype(float),
            (f.x * (f.x < 3).astype(float)).sum(skipna=False),
            f.prod(axis=1),
        )

    with np.errstate(invalid="ignore"):
        assert_parity(products, frame)


def _to_strings_and_categories(f):
    return (
        f.astype("str"),
        f[["k", "x", "s", "b", "t"]].astype("category"),
        f.astype({"s": CATEGORIES, "x": "float32"}),
        f.astype({"t": "datetime64[s]", "d": "timedelta64[s]"}),
        f.t.astype("datetime64[ms]").astype("datetime64[ns]"),
        f.t.astype("int64"),
        f.k.astype("datetime64[s]"),
        f.k.astype("timedelta64[ms]"),
        f.b.astype("datetime64[s]"),
        f.s.astype("bool"),
        f.c.astype("str"),
        f.k.astype("category").astype("int64"),
        f.k.astype("category").astype("float32"),
        f.k.astype("str").astype("int64"),
        f.x.astype("str").astype("float64"),
        f.t.astype("str").astype("datetime64[us]"),
    )


def test_strings_categories_and_times():
    frame = mixed_frame()
    assert_parity(
        lambda f: _to_strings_and_categories(f), frame.drop(columns=["y"]), ways=["eager"]
    )
    assert_parity(lambda f: (f.y.astype("str"), f.y.astype("category")), frame, ways=["eager"])
    assert_parity(lambda f: f.y.astype("str"), frame, ways=["mesh"])


def test_codes_become_numbers_inside_jit():
    frame = pd.DataFrame({"s": ["10", "2", "10"], "c": pd.Categorical([3, 1, 3])})
    assert_parity(lambda f: (f.s.astype("int64"), f.c.astype("int32"), f.c.astype("str")), frame)


def test_only_the_strings_that_rows_have_must_be_numbers():
    frame = pd.DataFrame({"s": ["10", "x", "2", None]})
    assert_parity(lambda f: f[f.index != 1].s.astype("float64"), frame, ways=[])
    ours = on_device(frame)
    numbers = ours.iloc[[0, 2]].s.astype("int64")
    pd.testing.assert_series_equal(numbers.to_pandas(), frame.s.iloc[[0, 2]].astype("int64"))


@pytest.mark.parametrize("num_rows", [0, 1])
def test_few_rows(num_rows):
    frame = mixed_frame()[:num_rows]
    assert_parity(
        lambda f: (f.astype("str"), f.s.astype("category"), f.k.astype("float32")),
        frame,
        ways=["eager"],
    )


def test_what_has_no_value_in_the_dtype():
    frame = pd.DataFrame(
        {"x": [1.0, np.nan], "s": ["1", "a"], "y": [1.0, -1.0], "b": [True, False]}
    )
    assert "non-finite" in assert_same_error(lambda f: f.x.astype("int64"), frame)
    assert_same_error(lambda f: f.x.astype("uint8"), frame)
    assert "losslessly" in assert_same_error(lambda f: f.y.astype("uint8"), frame)
    assert "'a'" in assert_same_error(lambda f: f.s.astype("int64"), frame)
    assert_same_error(lambda f: f.x.astype("bogus"), frame)
    assert "bogus" in assert_same_error(lambda f: f.astype({"bogus": "int64"}), frame)
    assert_same_error(lambda f: f.x.astype({"bogus": "int64"}), frame)
    times = pd.DataFrame({"t": pd.to_datetime(["2500-01-01", "2020-01-01"])})
    assert_same_error(lambda f: f.t.astype("datetime64[ns]"), times)
    assert_same_error(lambda f: f.t.astype("int32"), times)
    assert_same_error(lambda f: f.t.astype("float64"), times)
    assert_same_error(lambda f: f.x.astype("int64", errors="bogus"), frame)
    assert_parity(lambda f: f.s.astype("int64", errors="ignore"), frame, ways=["eager"])


def test_a_float_without_an_integer_is_missing_inside_jit():
    cast = jax.jit(lambda f: f.x.astype("int32"))
    whole = on_device(pd.DataFrame({"x": [1.5, -2.0]}))
    assert cast(whole).to_pandas().tolist() == [1, -2]
    assert str(cast(whole).to_pandas().dtype) == "int32"
    holed = cast(on_device(pd.DataFrame({"x": [1.5, np.nan]}))).to_pandas()
    np.testing.assert_array_equal(holed, [1.0, np.nan])
    with pytest.raises(NotImplementedError, match="astype"):
        jax.jit(lambda f: f.x.astype("str"))(whole)


def test_a_frame_is_made_with_a_dtype():
    result = JaxFrame({"x": jnp.arange(3)}, dtype="float32")
    assert result.to_pandas().dtypes.tolist() == [np.float32]


def test_gradient_flows_through_a_float_cast():
    frame = on_device(pd.DataFrame({"x": [1.0, 2.0, 3.0]}))

    def total(f):
        return jnp.sum(f.x.astype("float32")._only.data[:3] * jnp.array([1, 2, 3], jnp.float32))

    gradient = jax.grad(total, allow_int=True)(frame)
    np.testing.assert_array_equal(gradient._table.columns[0].data[:3], [1.0, 2.0, 3.0])


def test_errors_ignore_keeps_the_columns_that_cannot_be_cast():
    frame = pd.DataFrame({"s": ["x", "y"], "x": [1.5, 2.0], "h": [1.0, np.nan]})
    dtypes = {"s": float, "x": int, "h": int}
    assert_parity(lambda f: f.astype(dtypes, errors="ignore"), frame, ways=["eager"])
    assert_parity(lambda f: f.astype(float, errors="ignore"), frame, ways=["eager"])


def test_classes_of_dtypes_are_no_dtypes():
    for dtype in (pd.CategoricalDtype, pd.Int64Dtype, pd.DatetimeTZDtype, pd.IntervalDtype):
        message = assert_same_error(lambda s, dtype=dtype: s.astype(dtype), pd.Series([1]))
        assert message.startswith(f"Expected an instance of {dtype.__name__}")
        assert_same_error(lambda f, dtype=dtype: f.astype({"x": dtype}), pd.DataFrame({"x": [1]}))
