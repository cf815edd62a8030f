# SPDX-License-Identifier: Apache-2.0
import operator

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error, on_device
from jaxframes.frame import JaxFrame, JaxSeries
from jaxframes.shardings import make_mesh, row_sharded


def numbers(seed=0):
    return mixed_frame(seed=seed)[["k", "i", "x", "y", "f"]]


def test_frames_series_and_scalars():
    def everything(f):
        flags = f.x > 0
        return (
            f.i + f.x, f.x * 2 - f.y, 1 / f.k, f.f / 3, f.f + f.i, -f, abs(f.i), ~f.k, +f.x,
            f.i % 7, f.x // 0.5, f.k**2, 2**f.k, f >= 1, f.x == f.x, f.y != f.y,
            flags & (f.k > 1), flags | True, flags ^ ~flags, (f * 2 + 1).round(1), f.f.round(2),
            f.i.round(-2), f.round({"x": 1, "i": -1}), f.y.abs(),
        )  # fmt: skip

    assert_parity(everything, numbers())
    assert_parity(lambda f: (f * 2 + f, f.f / 3, -f), numbers(), ways=["mesh"])
    assert_parity(lambda f: (f.x**3, f.x**f.k), numbers(), ulps=4)
    flags = pd.DataFrame({"b": [True, False]})
    assert_parity(lambda f: (f.b**2, f.b**3, f.b**2.0), flags, ways=["eager"])


def test_named_methods():
    def everything(f):
        holes = f[["x", "y"]]
        return (
            f.add(1), f.rsub(1), f.x.sub(f.y), f.x.rtruediv(2), f.div(f.k + 1, axis=0),
            f.x.add(f.y, fill_value=1), f.x.mul(3, fill_value=2), holes.sub(holes.x, axis=0),
            holes.add(holes * 2, fill_value=-1.0), f.i.eq(f.k), f.gt(0.5),
            f.i.rfloordiv(1000.0), f.x.mod(0.7),
        )  # fmt: skip

    assert_parity(everything, numbers())
    # XLA on GPU has its own rounding of powers.
    ulps = 0 if jax.default_backend() == "cpu" else 4
    assert_parity(lambda f: f.x.rpow(2), numbers(), ulps=ulps)


def test_different_labels_are_brought_together():
    left = numbers().set_index(np.random.default_rng(0).permutation(37))
    right = numbers(1).iloc[5:].set_index(np.random.default_rng(1).permutation(40)[:32])
    right = right[["x", "f", "k"]].rename(columns={"f": "new"})

    def everything(a, b):
        return (
            a.x + b.x, a + b, a.add(b, fill_value=0), b.k - a.k, a.x.lt(b.x), (a.x > 0) & (b.k > 1),
            a.mul(b), a.eq(b),
        )  # fmt: skip

    assert_parity(everything, left, right, ways=["eager"])
    assert_parity(lambda a, b: (a + b, a.sub(b.x, axis=0)), left, right, ways=["eager", "mesh"])
    names = np.array(["b", "a", "c", "b", "z"])
    left, right = numbers()[:5].set_index(names), numbers(1)[:4].set_index(names[[0, 1, 3, 4]])
    assert_parity(lambda a, b: (a.x + b.x, a + b), left, right, ways=["eager"])
    assert_same_error(lambda a, b: a.sub(b.x, axis=0), left, right)


def test_flags_of_columns_that_only_one_side_has():
    flags = pd.DataFrame({"t": [True, False, True], "k": [0, 1, 2]})
    others = pd.DataFrame({"a": [True, True, False]})
    assert_parity(lambda f, g: (f | g, g | f, f & g, f ^ g), flags, others)
    assert_parity(lambda f, g: f ^ g, flags[["t"]], others.set_axis([1, 2, 3]), ways=["eager"])
    assert_parity(lambda f, g: f ^ g, flags, others.astype(float), ways=["eager"])
    assert_same_error(lambda f, g: g | f, flags, others.astype(float))
    assert_same_error(lambda f, g: f | g, flags, others.astype("str"))


def test_ranges_inside_jit_are_brought_together_by_place():
    def both(a, b):
        return a.x + b.x, a + b, a.x.add(b.x, fill_value=1)

    assert_parity(both, numbers()[["x", "y"]], numbers(1)[["x", "y"]].iloc[:30], ways=["jit"])
    assert_parity(both, numbers()[["x", "y"]], numbers(1)[["x", "y"]], ways=["jit"])
    with pytest.raises(NotImplementedError, match="labels"):
        jax.jit(both)(on_device(numbers().set_index("k")), on_device(numbers(1)))


def test_frame_with_a_row():
    frame = numbers()
    row = pd.Series({"x": 2.0, "k": 1.0, "new": 3.0})

    def everything(f):
        return f.add([1, 2, 3, 4, 5]), f - np.arange(5.0), f[["x", "y"]] * np.ones((37, 2))

    assert_parity(everything, frame, ways=["eager"])
    assert_parity(lambda f, r: (f + r, f.sub(r, fill_value=0)), frame, row, ways=["eager"])
    assert_parity(lambda f, r: f[["k", "x"]] >= r, frame, row[["k", "x"]], ways=["eager"])


def test_frame_with_its_own_reductions():
    def everything(f):
        return f - f.mean(), f / f.max(), f.sub(f.min(), axis=1) * 2

    assert_parity(everything, numbers()[["k", "i", "x"]].fillna(1.0), ulps=64)


def test_an_index_on_either_side_gives_a_series():
    days = pd.date_range("2024-01-01", periods=4)
    assert_parity(
        lambda f: (
            f.index + f.a, f.index * f.x, f.index < f.a, f.index == f.a, f.a - f.index,
            days - f.t, days > f.t, f.t - days, days.day - f.a, f.a.add(f.index),
            f.a + pd.Index([1, 2, 3, 4], name="a"), pd.Index([1, 2, 3, 4], name="b") + f.a,
        ),
        pd.DataFrame({"a": [1, 5, 7, 1], "x": [0.5, 1.5, None, 2.0], "t": days[::-1]}),
        ways=["eager", "mesh"],
    )  # fmt: skip


def test_functions_of_numpy():
    def everything(f):
        return (
            np.sqrt(f.abs()), np.floor(f.x), np.isnan(f.x), np.sign(f.i), np.maximum(f.x, 0.5),
            np.hypot(f.x, f.f), np.float64(2) * f.x, np.abs(f), np.add(f.k, f.i), np.less(1, f.k),
        )  # fmt: skip

    assert_parity(everything, numbers(), ulps=2)
    assert_parity(lambda f: (np.log1p(f.abs()), np.exp(f.f)), numbers(), ulps=2**31)


@pytest.mark.parametrize("dtype", ["Int8", "UInt8", "boolean"])
def test_functions_of_nullable_numbers_of_few_bits(dtype):
    assert_parity(
        lambda f: (np.sqrt(f.x), np.floor(f.dropna()), np.isnan(f.x), f.transform(["sqrt"])),
        pd.DataFrame({"x": pd.array([1, None, 1], dtype)}),
        ulps=2**14,
    )
    if dtype == "Int8":
        assert_parity(
            lambda f: (np.hypot(f.x, f.x), np.arctan2(f.x, 1)),
            pd.DataFrame({"x": pd.array([1, None, 1], dtype)}),
            ulps=2**14,
        )


def test_holes_inside_jit():
    frame = numbers()
    frame["b"] = frame.x > 0

    def with_holes(f):
        part = f.iloc[:30]
        ints, flags = f.k + part.k, f.b & part.b
        return (
            ints,
            ints * 2 - f.i,
            ints == 4,
            ints != 4,
            flags,
            ints / 2,
            ints.add(1, fill_value=5),
        )

    assert_parity(with_holes, frame, ways=["eager"])


@pytest.mark.parametrize("num_rows", [0, 1])
def test_few_rows(num_rows):
    assert_parity(
        lambda f: (f + f, f.x // f.y, f.i // f.k, f == 1, -f),
        numbers()[:num_rows],
        ways=["eager"],
    )


def test_wrong_uses_are_pandas_errors():
    frame = numbers()
    flags = pd.Series([True, False])
    assert_same_error(lambda f: f.x == f.x.iloc[1:], frame)
    assert_same_error(lambda f: f == f[["x"]], frame)
    assert_same_error(lambda f: f.add([1, 2]), frame)
    assert_same_error(lambda f: f.k**-1, frame)
    assert_same_error(lambda f: f.k ** (f.k - 3), frame)
    assert_same_error(lambda f: ~f.x, frame)
    assert_same_error(lambda f: f.x & f.y, frame)
    assert_same_error(lambda s: s - s, flags)
    assert_same_error(lambda s: s / s, flags)
    assert_same_error(lambda f: bool(f), frame)
    assert_same_error(lambda f: f.round("1"), frame)
    assert_same_error(lambda f: f.add(1, axis=2), frame)


def test_gradient():
    frame = on_device(pd.DataFrame({"x": [1.0, 2.0, 4.0], "y": [0.5, -1.0, 3.0]}))

    def total(frame):
        result = frame.x * 2 / frame.y + frame.x**2 - np.sqrt(frame.x).mul(frame.y, fill_value=0)
        return jnp.sum(jnp.where(result._table.is_row(), result._only.data, 0.0))

    slope = jax.grad(total, allow_int=True)(frame)
    x, y = np.array([1.0, 2.0, 4.0]), np.array([0.5, -1.0, 3.0])
    by_x = 2 / y + 2 * x - y / (2 * np.sqrt(x))
    np.testing.assert_allclose(slope._table.columns[0].data[:3], by_x, rtol=1e-14)
    np.testing.assert_allclose(
        slope._table.columns[1].data[:3], -2 * x / y**2 - np.sqrt(x), rtol=1e-14
    )


def test_nothing_is_communicated_and_rows_stay_where_they_are():
    frame = JaxFrame(numbers(), sharding=row_sharded(make_mesh(4)))
    chain = jax.jit(lambda f: (f * 2 + f.x.iloc[0:0]._table.capacity - f, f.x > 0, -f.i // 3))
    program = chain.lower(frame).compile().as_text() or ""
    for word in ("all-reduce", "all-gather", "all-to-all", "collective-permute"):
        assert word not in program
    for result in (frame * 2 - frame, frame.x / frame.y, *jax.tree.leaves(chain(frame))[:1]):
        arrays = [c.data for c in result._table.columns] if hasattr(result, "_table") else [result]
        for array in arrays:
            assert array.sharding.is_equivalent_to(frame._table.columns[0].data.sharding, 1)


def test_a_chain_is_one_program_traced_once():
    num_traces = 0

    def chain(f):
        nonlocal num_traces
        num_traces += 1
        return f.x * 2 + f.y - f.i

    compiled = jax.jit(chain)
    for num_rows in (37, 20, 5):
        compiled(on_device(numbers()[:num_rows]))
    assert num_traces == 1


@pytest.mark.parametrize("name", ["and_", "or_", "xor"])
@pytest.mark.parametrize("sides", ["ab", "ba", "bc"])
def test_a_missing_bool_on_the_right_is_false(name, sides):
    table = pa.table(
        {
            "a": [True, False] * 3,
            "b": pa.array([True, True, False, False, None, None]),
            "c": pa.array([None, True, None, False, None, True]),
        }
    )

    def combined(f):
        return getattr(operator, name)(f[sides[0]], f[sides[1]])

    expected = combined(table.to_pandas())
    frame = JaxFrame.from_arrow(table)
    assert_same(combined(frame), expected)
    assert_same(jax.jit(combined)(frame), expected)
    plan = frame.lazy()
    assert_same(plan.assign(z=combined(plan)).z.collect(batch_rows=2), expected.rename("z"))


def rows_of_levels(*names):
    labels = pd.MultiIndex.from_tuples([(1, 4, 3), (1, 2, 3)])
    return pd.Series([2, 5], labels.droplevel(list(range(len(names), 3))).set_names(list(names)))


def test_levels_of_labels_are_matched_by_name():
    one, other = rows_of_levels("a", "b"), rows_of_levels("b", "a")
    assert_parity(lambda s, t: s + t, one, other, ways=["eager"])
    assert_parity(lambda s, t: s + t, one, other.reorder_levels([1, 0]), ways=["eager"])
    assert_same_error(lambda s, t: s + t, one, rows_of_levels("c", "d")[::-1])
    assert_same_error(lambda s, t: s + t, one, rows_of_levels(None, None)[::-1])


def test_one_level_is_matched_with_several_by_name():
    index = pd.MultiIndex.from_tuples([("x", 1), ("y", 1), ("x", 2), ("z", 1)], names=["k", "n"])
    frame = pd.DataFrame({"v": [1.0, 2.0, 3.0, 4.0], "w": [5, 6, 7, 8]}, index)
    one = pd.Series([10, 20, 30], pd.Index(["y", "x", "q"], name="k"), name="v")

    def results(f, s):
        return (
            f.v / s, s - f.v, f.w * s, f.div(s, axis=0), f + s.to_frame(), f.v.add(s, fill_value=1),
            f.v.gt(s), (f.v / s).unstack(), *f.v.align(s), *s.align(f.v, level="k"),
            *f.align(s.to_frame(), axis=0), f.groupby("k").v.sum() / f.groupby(["k", "n"]).v.sum(),
        )  # fmt: skip

    assert_parity(results, frame, one, ways=["eager", "mesh"])
    for wrong in (one.rename_axis("other"), pd.concat([one, one])):
        assert_same_error(lambda f, s: f.v + s, frame, wrong)
        assert_same_error(lambda f, s: s + f.v, frame, wrong)
    assert_same_error(lambda f, s: f.v.align(s, level="none"), frame, one)
    with pytest.raises(NotImplementedError, match="join='outer'"):
        on_device(frame).v.align(on_device(one), join="left", level="k")


@pytest.mark.parametrize("names", [("a", "c"), ("a", "b", "c")])
def test_other_levels_of_labels_are_refused(names):
    one, other = JaxSeries(rows_of_levels("a", "b")), JaxSeries(rows_of_levels(*names)[::-1])
    for left, right in ((one, other), (other, one)):
        with pytest.raises(NotImplementedError, match="the same levels"):
            operator.add(left, right)
        with pytest.raises(NotImplementedError, match="the same levels"):
            left.align(right)


def test_bools_with_holes_are_inverted_as_objects():
    table = pa.table({"b": [True, None, False], "x": [1, 2, 3]})
    ours, pandas = JaxFrame.from_arrow(table), table.to_pandas()
    for rows in (slice(0, 0), slice(0, 1), slice(2, 3)):
        assert_same(~ours.iloc[rows].b, ~pandas.iloc[rows].b)
    assert_same(~ours[ours.x != 2].b, ~pandas[pandas.x != 2].b)
    for frame in (ours, pandas):
        with pytest.raises(TypeError, match="bad operand type for unary ~"):
            _ = ~frame.b
