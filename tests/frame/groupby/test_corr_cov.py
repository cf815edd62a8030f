# SPDX-License-Identifier: Apache-2.0
"""groupby.corr and groupby.cov."""

import jax
import numpy as np
import pandas as pd
import pytest
from frame_parity import (
    EVERYWHERE,
    Bound,
    assert_parity,
    assert_same,
    assert_same_error,
    on_device,
)
from jaxframes import shardings
from jaxframes.frame import JaxFrame, from_pandas
from pandas.errors import PerformanceWarning

OPS = ["corr", "cov"]
BYS = {
    "name": lambda f: f.groupby("k"),
    "several": lambda f: f.groupby(["k", "j"]),
    "unsorted": lambda f: f.groupby("k", sort=False),
    "missing key": lambda f: f.groupby("k", dropna=False),
    "as columns": lambda f: f.groupby("k", as_index=False),
    "one row": lambda f: f[:1].groupby("j"),
}
COLUMNS = {
    "integers": ["i", "u", "b"],
    "missing": ["x", "y", "i"],
    "infinite": ["z", "i", "x"],
    "infinite, nothing missing": ["z", "i"],
    "float32": ["f", "x"],
    "one": ["x"],
}
# pandas warns where NumPy divides by zero.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
BOUND = Bound(2**10, 1.0)


def table():
    rng = np.random.default_rng(9)
    frame = pd.DataFrame(
        {
            "k": rng.choice(np.array(["b", "a", "d", None], object), 48),
            "j": rng.integers(-2, 2, 48),
            "x": np.where(rng.random(48) < 0.2, np.nan, rng.integers(0, 99, 48) / 4),
            "y": np.where(rng.random(48) < 0.2, np.nan, rng.integers(0, 99, 48) / 4),
            "z": rng.integers(0, 99, 48) / 4,
            "i": rng.integers(-9, 9, 48).astype("int8"),
            "u": rng.integers(0, 2**40, 48).astype("uint64"),
            "b": rng.random(48) < 0.3,
            "s": rng.choice(np.array(["u", "v", None], object), 48),
        }
    )
    frame["f"] = frame.y.astype("float32")
    frame.loc[frame.k == "d", "x"] = 3.0
    frame.loc[[4, 9], "z"] = [np.inf, -np.inf]
    return frame


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("by", BYS)
@pytest.mark.parametrize("columns", COLUMNS)
def test_of_a_frame(op, by, columns):
    def matrices(f):
        return getattr(BYS[by](f)[COLUMNS[columns]], op)()

    bound = Bound(2**10, 2.0**80) if columns == "integers" and op == "cov" else BOUND
    assert_same(matrices(on_device(table())), matrices(table()), bound)


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("options", [{"min_periods": 5}, {"min_periods": 1}, {"ddof": 0}])
def test_options(op, options):
    if op == "corr" and "ddof" in options:
        options = {"min_periods": 12}

    def matrices(f):
        columns = ["x", "y", "i"]
        return (
            getattr(f.groupby(["k", "j"])[columns], op)(**options),
            getattr(f.groupby("k")[["i", "j"]], op)(**options),
            getattr(f.groupby("k").x, op)(f.y, **options),
        )

    assert_same(matrices(on_device(table())), matrices(table()), BOUND)


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("by", BYS)
@pytest.mark.parametrize("columns", ["x y", "x i", "z i", "i j"])
def test_of_a_series_with_another(op, by, columns):
    first, second = columns.split()

    def statistics(f):
        return getattr(BYS[by](f)[first], op)(f[second])

    assert_same(statistics(on_device(table())), statistics(table()), BOUND)


@pytest.mark.parametrize("op", OPS)
def test_numeric_only_and_errors(op):
    frame = table().drop(columns=["u", "z"])
    got = getattr(on_device(frame).groupby("k"), op)(numeric_only=True)
    assert_same(got, getattr(frame.groupby("k"), op)(numeric_only=True), BOUND)
    assert_same_error(lambda f: getattr(f.groupby("k"), op)(), frame)
    with pytest.raises(TypeError, match="unsupported type"):
        getattr(JaxFrame(frame).groupby("k").x, op)(3)


def test_methods():
    frame = table()
    for method in ("spearman", "kendall"):
        with pytest.warns(PerformanceWarning, match=r"rank\(\) first"):
            found = JaxFrame(frame).groupby("k")[["x", "y"]].corr(method)
        assert_same(found, frame.groupby("k")[["x", "y"]].corr(method), BOUND)
    with pytest.warns(PerformanceWarning, match=r"rank\(\) first"):
        found = JaxFrame(frame).groupby("k").x.corr(JaxFrame(frame).y, "spearman")
    assert_same(found, frame.groupby("k").x.corr(frame.y, "spearman"), BOUND)
    assert_same_error(lambda f: f.groupby("k")[["x", "y"]].corr("bogus"), table())


@pytest.mark.parametrize("op", OPS)
def test_inside_jit_and_on_a_mesh(op):
    def matrices(f):
        return (
            getattr(f.groupby("k")[["x", "y", "i"]], op)(),
            getattr(f.groupby("k").x, op)(f.y),
        )

    frame = table()[["k", "x", "y", "i"]]
    assert_same(jax.jit(matrices)(on_device(frame)), matrices(frame), BOUND)
    sharding = shardings.row_sharded(shardings.make_mesh(3))
    assert_same(matrices(from_pandas(frame, sharding=sharding)), matrices(frame), BOUND)


@pytest.mark.parametrize("op", OPS)
def test_labels_of_columns(op):
    frame = table()[["k", "z", "i"]].set_axis([7, 0, 3], axis=1).rename_axis(columns="n")
    assert_same(getattr(on_device(frame).groupby(7), op)(), getattr(frame.groupby(7), op)(), BOUND)


@pytest.mark.parametrize("op", OPS)
def test_without_rows_or_columns(op):
    frame = table()[:0]
    got = getattr(on_device(frame).groupby("k")[["x", "y"]], op)().to_pandas()
    expected = getattr(frame.groupby("k")[["x", "y"]], op)()
    pd.testing.assert_frame_equal(got.reset_index(drop=True), expected.reset_index(drop=True))
    assert got.index.names == ["k", None]
    assert getattr(on_device(table()).groupby("k")[[]], op)().shape == (0, 0)


@pytest.mark.parametrize("op", OPS)
def test_a_mean_far_from_zero_costs_no_digits(op):
    frame = table()[["j", "i", "z"]].replace([np.inf, -np.inf], 0.0)
    far = frame.assign(z=frame.z + 2.0**40)
    got = getattr(JaxFrame(far).groupby("j"), op)().to_pandas()
    pd.testing.assert_frame_equal(got, getattr(frame.groupby("j"), op)(), rtol=1e-12)


@pytest.mark.filterwarnings("ignore:DataFrameGroupBy.corrwith is deprecated")
def test_with_another_series_or_frame():
    frame = table().drop(columns="s")
    other = frame[["x", "i", "y"]].assign(y=lambda f: f.y * f.i, w=1.0).sample(40, random_state=0)
    names = ["x", "y", "i", "b"]

    def found(f, other):
        grouped = f.groupby("k")
        return (
            grouped[names].corrwith(f.i), grouped.corrwith(f.y, numeric_only=True),
            grouped[names].corrwith(other), grouped[["y", "x"]].corrwith(other, drop=True),
            f.groupby(["k", "j"])[names].corrwith(f.z), f[names].groupby(f.j).corrwith(other.x),
            f.groupby("j", as_index=False)[names].corrwith(f.u),
        )  # fmt: skip

    ours = found(on_device(frame), on_device(other))
    assert_same(ours, found(frame, other), BOUND)
    mesh = shardings.row_sharded(shardings.make_mesh(3))
    got = on_device(frame, mesh).groupby("k")[names].corrwith(on_device(other, mesh))
    assert_same(got, frame.groupby("k")[names].corrwith(other), BOUND)
    got = jax.jit(lambda f: f.groupby("k")[names].corrwith(f.i))(on_device(frame))
    assert_same(got, frame.groupby("k")[names].corrwith(frame.i), BOUND)


@pytest.mark.filterwarnings("ignore:DataFrameGroupBy.corrwith is deprecated")
def test_wrong_uses_with_another():
    for wrong in (
        lambda f: f.groupby("j").corrwith(3),
        lambda f: f.groupby("j")[["s"]].corrwith(f.i),
        lambda f: f.groupby("j")[["x"]].corrwith(f.i, method="none"),
    ):
        assert_same_error(wrong, table())


FEW = pd.DataFrame({"k": [1, 1, 1, 2, 2, 2], "x": [1, 2, 4, 3, 1, 2], "y": [1, 5, 3, 2, 3, 7]})


@pytest.mark.filterwarnings("ignore:DataFrameGroupBy.corrwith")
def test_objects_that_are_numbers():
    objects = FEW.astype({"x": object, "y": object})
    for call in (
        lambda f: f.groupby("k").corr(),
        lambda f: f.groupby("k").cov(),
        lambda f: f.groupby("k").corrwith(f.y),
        lambda f: f.groupby("k").x.corr(f.y),
    ):
        assert_same(call(on_device(objects)), call(objects), ulps=8)


@pytest.mark.filterwarnings("ignore:DataFrameGroupBy.corrwith")
@pytest.mark.parametrize("method", ["spearman", "kendall"])
def test_corrwith_by_rank(method):
    with pytest.warns(PerformanceWarning, match="corrwith: method="):
        found = on_device(FEW).groupby("k").corrwith(on_device(FEW.y), method=method)
    assert_same(found, FEW.groupby("k").corrwith(FEW.y, method=method))


# NumPy's covariance of no rows.
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.filterwarnings("ignore:DataFrameGroupBy.corrwith")
def test_categories_without_rows():
    letters = pd.Categorical(list("acaacc"), list("abcd"))
    frame = FEW.assign(c=letters, x=FEW.x.where(FEW.x > 1))
    assert_parity(
        lambda f: (
            f.groupby("c", observed=False)[["x", "y"]].corr(),
            f.groupby("c", observed=False)[["x", "y"]].cov(),
            f.groupby(["c", "k"], observed=False)[["x", "y"]].corr(),
            f.groupby("c", observed=False)[["x"]].corrwith(f.y),
            f.groupby(["k", "c"], observed=False).x.corr(f.y),
            f.groupby("c", observed=False).x.cov(f.y),
        ),
        frame,
        ways=EVERYWHERE,
        ulps=64,
    )
