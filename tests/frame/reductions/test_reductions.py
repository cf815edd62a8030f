# SPDX-License-Identifier: Apache-2.0
import math

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from compiled_program import CompiledProgram
from frame_examples import INTEGERS, integers, mixed_frame
from frame_parity import EVERYWHERE, assert_parity, assert_same, assert_same_error, on_device
from jaxframes.frame import JaxFrame, JaxSeries, from_arrow
from jaxframes.frame.reductions import _reduce_columns
from jaxframes.shardings import make_mesh, row_sharded

NUMBERS = ["k", "i", "x", "f", "b"]
OPS = ["sum", "prod", "mean", "min", "max", "std", "var", "sem", "skew", "kurt", "any", "all"]
# The order of summation may differ, which changes the last digits after cancellation.
ULPS = 64
FLOAT32_ULPS = 1 << 31


def each(op, **arguments):
    return lambda frame: getattr(frame, op)(**arguments)


def all_ops(frame, **arguments):
    return tuple(getattr(frame, op)(**arguments) for op in OPS)


@pytest.mark.filterwarnings("ignore:invalid value")
def test_series_of_numbers():
    frame = mixed_frame()

    def reduced(s):
        return (*all_ops(s), s.count(), s.sum(min_count=30), s.std(ddof=0))

    assert_parity(lambda s: (s.sum(), s.mean(), s.max(), s.var()), frame["x"], ulps=ULPS)
    numbers = frame[["k", "y", "b"]]
    assert_parity(
        lambda f: tuple(
            (*reduced(s), s.sum(skipna=False), s.max(skipna=False)) for _, s in f.items()
        ),
        numbers,
        ways=["jit"],
        ulps=ULPS,
    )
    assert_parity(lambda s: (s.sum(min_count=99), s.sum(), s.min()), frame["k"], ways=["eager"])
    assert_parity(
        lambda s: (s.sum(), s.mean(), s.std()), frame["f"], ways=["jit"], ulps=FLOAT32_ULPS
    )


@pytest.mark.parametrize("num_rows", [0, 1])
def test_few_rows(num_rows):
    frame = mixed_frame()[:num_rows]
    some = frame[["k", "x"]]
    assert_parity(lambda f: (f.sum(), f.mean(), f.min(), f.std(), f.all()), some, ways=["eager"])
    assert_parity(lambda s: (s.sum(), s.min()), frame["k"], ways=["eager"])
    assert_parity(lambda f: tuple(all_ops(f[[n]]) for n in ("k", "x")), frame, ways=["jit"])


def test_integers_add_up_in_64_bits():
    def exact(f):
        return tuple((s.sum(), s.prod(), s.min(), s.max(), s.all()) for _, s in f.items())

    frame = pd.DataFrame({dtype: integers(dtype) for dtype in INTEGERS})
    assert_parity(exact, frame, ways=["jit"])
    assert_parity(lambda f: f.sum(), frame.drop(columns="uint64"), ways=["eager"])


def test_other_kinds_of_series():
    frame = mixed_frame()
    assert_parity(lambda s: (s.sum(), s.min(), s.max(), s.any(), s.all(), s.count()), frame["s"],
                  ways=["eager"])  # fmt: skip
    assert_parity(lambda s: (s.min(), s.max(), s.count()), frame["c"], ways=["eager"])
    assert_parity(lambda s: (s.min(), s.max(), s.count()), frame["t"], ways=["eager"])
    assert_parity(
        lambda s: (s.sum(), s.min(), s.max(), s.any(), s.all(), s.count()),
        frame["d"],
        ways=["eager"],
    )
    whole = pd.DataFrame({"t": frame.t.dt.floor("D"), "d": frame.d.dt.floor("s")})
    assert_parity(lambda f: (f.t.mean(), f.t.std(), f.d.mean(), f.d.std()), whole, ways=["eager"])


def test_complex_numbers():
    values = np.array([[1 + 2j, 3j], [complex(np.nan, 1), 1j], [5 - 1j, 2]], "complex64")
    frame = pd.DataFrame(values, columns=["a", "b"])

    def reduced(f):
        return (
            *(getattr(f, op)(skipna=False) for op in ("mean", "sum", "prod")),
            *(getattr(f, op)(axis=1, skipna=False) for op in ("mean", "sum")),
            f.mean(),
            f.sum(),
        )

    ours = reduced(on_device(frame))
    for got, expected in zip(ours, reduced(frame), strict=True):
        assert got.dtype == expected.dtype
        for part in (np.real, np.imag):
            np.testing.assert_array_equal(part(got.to_numpy()), part(expected.to_numpy()))
    # pandas takes sem's variance in 32 bits.
    assert_parity(lambda f: (f.a.mean(), f.sem(), f.b.sem()), frame, ulps=FLOAT32_ULPS)


def test_frame_of_numbers():
    frame = mixed_frame()[["k", "i", "x", "b"]]
    assert_parity(lambda f: (*all_ops(f[["k", "x"]]), f.count()), frame, ways=["jit"], ulps=ULPS)
    assert_parity(lambda f: f.max(skipna=False), frame, ways=["eager"])


def test_frame_of_every_kind():
    frame = mixed_frame()
    assert_parity(lambda f: (f.min(), f.max(), f.count()), frame, ways=["eager"])
    assert_parity(lambda f: f[["k", "s"]].sum(), frame, ways=["eager"])
    assert_parity(lambda f: f.sum(numeric_only=True), frame.drop(columns=["y", "f"]), ulps=ULPS)
    assert_parity(lambda f: (f[["t"]].min(), f[["s"]].max(), f[["c"]].min()), frame)


@pytest.mark.filterwarnings("ignore:invalid value")
def test_across_columns():
    frame = mixed_frame()[["k", "i", "x", "y"]]
    assert_parity(
        lambda f: (*all_ops(f, axis=1), f.count(axis=1)), frame, ways=["jit"], ulps=1 << 12
    )
    flags = mixed_frame()[["b", "k"]]
    some = ["sum", "min", "max", "any", "all", "mean"]
    assert_parity(lambda f: tuple(getattr(f, op)(axis=1) for op in some), flags, ways=["eager"])
    assert_parity(lambda f: f.min(axis=1, skipna=False), frame, ways=["eager"])


def test_whether_values_of_several_types_in_a_row_are_true():
    frame = mixed_frame()[["k", "x", "b", "s", "c", "t", "d"]]
    sides = (["k", "s", "t"], ["x", "d"], ["s", "c"], ["b", "k", "c", "t"], ["c"], ["s"])

    def truths(f):
        return tuple(
            getattr(f[side], op)(axis=1, skipna=skipna)
            for side in sides
            for op in ("any", "all")
            for skipna in (True, False)
        )

    assert_parity(truths, frame)


def test_all_values_together():
    frame = mixed_frame()[["k", "x"]]
    some = ["sum", "mean", "min", "max", "std", "any", "all"]
    together = lambda f: tuple(getattr(f, op)(axis=None) for op in some)  # noqa: E731
    assert_parity(together, frame, ways=["jit"], ulps=ULPS)
    assert_parity(lambda f: (f.max(axis=None), f.any(axis=None)), frame, ways=["eager"])


@pytest.mark.parametrize("num_rows", [0, 1, 3, 1001])
def test_on_a_mesh(num_rows):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"i": rng.integers(-9, 9, num_rows), "x": rng.normal(size=num_rows)})
    some = ["sum", "min", "std", "count"]
    assert_parity(
        lambda f: tuple(getattr(f, op)() for op in some), frame, ways=["mesh"], ulps=1 << 10
    )


def test_no_columns():
    frame = pd.DataFrame(index=range(3))
    assert_parity(lambda f: (f.sum(), f.min(), f.sum(axis=1), f.count()), frame, ways=["eager"])


def test_sums_are_exact():
    assert int(JaxSeries(np.full(3, 2**31 - 1, np.int32)).sum()) == 3 * (2**31 - 1)
    ones = JaxSeries(jnp.ones(20_000_000, jnp.float32))
    assert ones.sum() == np.float32(2e7)


def test_float32_is_infinite_where_the_sum_is():
    great = np.finfo(np.float32).max
    for values, expected in [
        ([great, great], np.inf),
        ([great, great, -great], great),
        ([great, great, -np.inf], -np.inf),
    ]:
        total = JaxSeries(jnp.asarray(values, jnp.float32)).sum()
        assert total.dtype == np.float32
        assert total == expected


def test_many_rows_in_blocks():
    rng = np.random.default_rng(4)
    x = rng.normal(size=600_000)
    x[rng.random(600_000) < 0.1] = np.nan
    series = pd.Series(x)
    assert_parity(lambda s: (s.sum(), s.std(), s.min(), s.count()), series, ulps=1 << 10)
    whole = series.fillna(1.0)
    assert_parity(
        lambda s: (s.sum(), s.mean()), whole, ways=["eager", "mesh"], num_devices=2, ulps=1 << 10
    )
    frame = pd.DataFrame({"x": x})
    assert_parity(lambda f: f.mean(), frame, ways=["mesh"], num_devices=2, ulps=1 << 10)


def test_blocks_of_rows_are_for_the_platform():
    # The kernels reduce this many rows in several blocks, the portable version in one.
    x = np.random.default_rng(7).normal(size=100_000)
    greatest = jax.jit(lambda x: JaxFrame({"x": x})["x"].max())

    def exported(*platforms):
        shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
        return jax.export.export(greatest, platforms=platforms)(shape)

    assert "stablehlo.while" in exported("cpu").mlir_module()
    assert "stablehlo.while" not in exported("tpu").mlir_module()
    assert float(exported("cpu", "tpu", "cuda").call(jnp.asarray(x))) == x.max()


@pytest.mark.parametrize("num_shards", [1, 2])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_missing_value_among_many_rows_is_found(dtype, num_shards):
    x = np.random.default_rng(6).normal(size=num_shards << 18).astype(dtype)
    sharding = None if num_shards == 1 else row_sharded(make_mesh(num_shards))
    for place in (0, 77_777, len(x) - 1):
        holed = x.copy()
        holed[place] = np.nan
        ours, theirs = JaxSeries(holed, sharding=sharding), pd.Series(holed)
        for op in ("sum", "mean", "min", "max"):
            assert np.isnan(getattr(ours, op)(skipna=False)), (op, place)
        assert (ours.min(), ours.max()) == (theirs.min(), theirs.max())
        assert ours.argmax() == theirs.argmax()


def test_one_value_of_many_rows_of_several_dtypes():
    # The first column has no missing value; another column has one.
    frame = pd.DataFrame({"k": np.arange(1 << 18) % 100, "x": np.linspace(-2.5, 7.5, 1 << 18)})
    frame.loc[5, "x"] = np.nan
    ops = ("sum", "mean", "min", "max", "std")
    assert_parity(
        lambda f: tuple(getattr(f, op)(axis=None) for op in ops), frame, ways=EVERYWHERE, ulps=64
    )


@pytest.mark.parametrize(("level", "unit"), [(1e8, 8.0), (1.0, 2.0**-23)])
def test_many_values_of_float32_a_few_units_apart_vary(level, unit):
    rng = np.random.default_rng(8)
    x = (level + unit * rng.integers(0, 2, 1 << 18)).astype(np.float32)
    assert_parity(lambda s: (s.std(), s.var(), s.mean()), pd.Series(x), ulps=4)


@pytest.mark.parametrize("op", ["max", "min"])
def test_a_missing_value_among_many_rows_has_no_gradient(op):
    x = np.random.default_rng(9).normal(size=1 << 18)
    x[7] = np.nan
    place = np.nanargmax(x) if op == "max" else np.nanargmin(x)
    gradient = jax.jit(jax.grad(lambda x: getattr(JaxSeries(x), op)()))(jnp.asarray(x))
    np.testing.assert_array_equal(np.asarray(gradient), np.arange(len(x)) == place)


@pytest.mark.parametrize("value", [0.1, 0.7])
def test_a_sum_of_many_equal_values_does_not_drift(value):
    # A sequential sum over rows or blocks would drift.
    x = np.full(10_000_000, value)
    x[123] = np.nan
    ours, total = JaxSeries(x), math.fsum(x[~np.isnan(x)])
    assert abs(float(ours.sum()) - total) <= 16 * np.spacing(total)
    assert abs(float(ours.fillna(0.0).sum()) - total) <= 16 * np.spacing(total)


def test_shards_send_a_few_numbers_and_no_rows():
    values = np.zeros(1 << 20)
    frame = JaxFrame({"x": values, "y": values}, sharding=row_sharded(make_mesh(2)))
    program = jax.jit(lambda f: (f.sum(), f.std(), f.min(), f.count()))
    compiled = CompiledProgram(program.lower(frame).compile().as_text())
    sent = compiled.results("all-reduce")
    assert sent
    assert all(elements == 1 for _, elements in sent)
    assert compiled.most_executed("all-reduce") < 20
    for opcode in ("all-gather", "all-to-all", "collective-permute", "reduce-scatter"):
        assert not compiled.results(opcode)


def test_second_call_traces_nothing(monkeypatch):
    frame = JaxFrame({"x": [1.0, 2.0]}, sharding=row_sharded(make_mesh(3)))
    frame.std()

    def fail(*arguments):
        raise AssertionError("traced again")

    monkeypatch.setattr(_reduce_columns, "_first_pass", fail)
    other = JaxFrame({"other": [3.0, 5.0, 7.0]}, sharding=row_sharded(make_mesh(3)))
    assert other.std().tolist() == [2.0]


def test_missing_rows_have_no_gradient():
    x = jnp.array([1.0, jnp.nan, 4.0, 2.0])
    for op, expected in {
        "sum": [1, 0, 1, 1],
        "mean": [1 / 3, 0, 1 / 3, 1 / 3],
        "max": [0, 0, 1, 0],
        "var": [-4 / 3, 0, 5 / 3, -1 / 3],
        "std": np.array([-4 / 3, 0, 5 / 3, -1 / 3]) / 2 / np.sqrt(7 / 3),
    }.items():
        gradient = jax.grad(lambda x, op=op: getattr(JaxFrame({"x": x}).x, op)())(x)
        np.testing.assert_allclose(gradient, expected, rtol=1e-12)
    constant = jax.grad(lambda x: JaxSeries(x).std())(jnp.ones(3))
    np.testing.assert_array_equal(constant, np.zeros(3))


def test_gradient_through_blocks():
    x = jnp.linspace(0.0, 1.0, 1 << 19)
    gradient = jax.grad(lambda x: JaxSeries(x).var())(x)
    expected = 2 * (np.asarray(x) - 0.5) / ((1 << 19) - 1)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-15)


def test_wrong_arguments_are_pandas_errors():
    frame = mixed_frame()
    for op in ("mean", "prod", "std"):
        assert "'s'" in assert_same_error(each(op), frame[["k", "s"]])
        assert_same_error(each(op), frame["s"])
        assert_same_error(each(op), frame["c"])
    assert_same_error(each("sum"), frame["t"])
    assert_same_error(each("any"), frame["t"])
    assert_same_error(each("sem"), frame["d"])
    assert_same_error(each("min"), frame["c"].cat.as_unordered())
    assert_same_error(each("sum", axis=1), frame["k"])
    assert_same_error(each("sum", axis=2), frame)
    assert_same_error(each("sum", skipna=None), frame["k"])
    assert_same_error(each("sum", bogus=1), frame["k"])
    assert_same_error(each("sum", bogus=1), frame)
    with pytest.raises(NotImplementedError, match="inside jit"):
        jax.jit(lambda s: s.min())(JaxSeries(frame["s"]))


NUMBERS_ALONE = {
    "mean": lambda f: f.mean(numeric_only=True),
    "corr": lambda f: f.corr(numeric_only=True),
    "corrwith": lambda f: f.corrwith(f, numeric_only=True),
    "cumsum": lambda f: f.cumsum(numeric_only=True),
    "rolling": lambda f: f.rolling(2).sum(numeric_only=True),
    "ewm": lambda f: f.ewm(span=2).mean(numeric_only=True),
    "groups": lambda f: f.groupby("k").sum(numeric_only=True),
    "mode": lambda f: f.mode(numeric_only=True),
    "any": lambda f: f.any(bool_only=True),
}


@pytest.mark.parametrize("name", NUMBERS_ALONE)
def test_bools_with_missing_values_are_no_numbers(name):
    table = pa.table(
        {
            "k": [1, 1, 2],
            "x": [1.0, 2.0, 4.0],
            "b": [True, None, False],
            "c": [True, False, True],
        }
    )
    expected = NUMBERS_ALONE[name](table.to_pandas())
    assert_same(NUMBERS_ALONE[name](from_arrow(table)), expected, ulps=4)
