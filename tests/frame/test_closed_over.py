# SPDX-License-Identifier: Apache-2.0
"""Frames that a traced function closes over: concrete inside it, and usable after it.

    weights = frame[frame.x > 0]
    jax.jit(lambda a: weights.x.rank() * a)

A captured frame gives the same answers while a function is traced as outside.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from frame_operations import FAMILIES
from frame_parity import assert_same, on_device
from frame_strategies import special_frame
from jax.sharding import AxisType
from jaxframes.frame import JaxFrame
from jaxframes.shardings import make_mesh, row_sharded
from operation_parity import answer_of_pandas, is_excused


def _kept(frame: Any) -> Any:
    """Rows of a range index: their labels are computed on first use."""
    return frame[frame[frame.columns[0]].notna()]


@pytest.mark.parametrize("family", FAMILIES)
def test_operations_are_traced_and_leave_a_frame_as_it_was(family):
    inputs = [special_frame(seed=seed).reset_index(drop=True) for seed in range(2)]
    for operation in FAMILIES[family]:
        if not operation.jit:
            continue
        columns = list(operation.columns)
        given = [_kept(frame[columns]) for frame in inputs[: operation.num_frames]]
        ours = [_kept(on_device(frame[columns])) for frame in inputs[: operation.num_frames]]
        expected = answer_of_pandas(operation, given)
        if isinstance(expected, Exception):
            continue
        jax.eval_shape(lambda run=operation.run, ours=ours: run(*ours))
        got = operation.run(*ours)
        try:
            assert_same(got, expected, operation.bound(given))
        except AssertionError as error:
            found = f"{operation.name}: {error}"
            assert is_excused(operation, given, found), found


FRAME = pd.DataFrame(
    {
        "k": np.arange(10) % 3,
        "x": np.arange(10) * 0.5,
        "s": list("abcabcabca"),
    }
)


@pytest.mark.parametrize(
    "answer",
    [
        lambda f: len(f),
        lambda f: f.index,
        lambda f: f.iloc[-1].tolist(),
        lambda f: f.loc[5].tolist(),
        lambda f: f.loc[5, "x"],
        lambda f: f.set_index("s").loc["b", "x"],
        lambda f: f["s"].unique(),
        lambda f: f["k"].factorize()[0],
        lambda f: f["x"].idxmax(),
        lambda f: f["s"].min(),
        lambda f: int(f["s"].nunique()),
        lambda f: bool(f["x"].is_monotonic_increasing),
        lambda f: int(f["x"].searchsorted(2.0)),
        lambda f: f["x"].hasnans,
        lambda f: f.drop([5, 6])["x"].tolist(),
        lambda f: f["x"].quantile(0.25),
        lambda f: f.equals(f),
        lambda f: f["x"].tolist(),
    ],
)
@pytest.mark.parametrize("num_devices", [1, 4])
def test_answers_on_the_host_are_had_while_a_function_is_traced(answer, num_devices):
    sharding = None if num_devices == 1 else row_sharded(make_mesh(num_devices))
    kept, ours = _kept_above(FRAME), _kept_above(on_device(FRAME, sharding))
    found = []

    def asks(x):
        found.append(answer(ours))
        return x

    jax.eval_shape(asks, 1.0)
    assert_same(found[0], answer(kept))
    assert_same(answer(ours), answer(kept))


def _kept_above(frame: Any) -> Any:
    return frame[frame["x"] > 1]


def test_repr_is_had_while_a_function_is_traced():
    ours = _kept_above(on_device(FRAME))
    shown = []
    jax.eval_shape(lambda x: shown.append(repr(ours)) or x, 1.0)
    assert shown == [repr(ours)]


@pytest.mark.parametrize(
    "of_rows",
    [
        lambda f: f["x"].rank(),
        lambda f: f["x"].rolling(2).sum(),
        lambda f: f["k"] // f["k"],
        lambda f: f["x"] + f["x"].shift(),
        lambda f: f.sort_values("x", ascending=False)["x"],
        lambda f: f.groupby("k")["x"].sum(),
        lambda f: f.groupby("s")["x"].transform("mean"),
        lambda f: f["s"].map({"a": 1.0, "b": 2.0}),
        lambda f: f.reset_index()["index"],
        lambda f: f.set_index("k", append=True).droplevel("k")["x"] + f["x"],
        lambda f: f[["x"]].agg(["sum", "max"])["x"],
        lambda f: f.drop_duplicates("k")["x"],
    ],
)
def test_values_are_those_outside(of_rows):
    kept, ours = _kept_above(FRAME), _kept_above(on_device(FRAME))
    got = jax.jit(lambda a: of_rows(ours) * a)(2.0)
    assert_same(got, of_rows(kept) * 2.0)


def test_a_mask_that_is_known_picks_rows_of_the_capacity_they_need():
    frame = JaxFrame({"x": np.arange(10_000.0)})
    few = frame["x"] < 5
    got = jax.jit(lambda a: frame[few]["x"] * a)(2.0)
    assert got._table.capacity == frame[few]._table.capacity < frame._table.capacity
    assert got.tolist() == [0.0, 2.0, 4.0, 6.0, 8.0]


def test_rows_that_a_known_mask_picks_are_known():
    frame = on_device(FRAME)
    above = frame["x"] > 1
    got = jax.jit(lambda a: frame[above].merge(frame, on="k")["x_x"] * a)(2.0)
    assert_same(got, FRAME[FRAME["x"] > 1].merge(FRAME, on="k")["x_x"] * 2.0)


@pytest.mark.parametrize("axis_type", [AxisType.Auto, AxisType.Explicit])
def test_rows_of_a_known_frame_on_a_mesh(axis_type):
    mesh = jax.make_mesh((3,), ("rows",), axis_types=(axis_type,))
    frame = JaxFrame(FRAME, sharding=row_sharded(mesh))
    above = frame["x"] > 1
    got = jax.jit(lambda a: frame[above]["x"] * a)(2.0)
    assert_same(got, FRAME[FRAME["x"] > 1]["x"] * 2.0)


@pytest.mark.parametrize("how", ["inner", "left", "right", "outer", "cross", "left_anti"])
def test_frames_that_are_known_are_merged_without_a_capacity(how):
    def of_rows(left, right, a):
        words = {} if how == "cross" else {"on": "k", "validate": "m:m", "indicator": True}
        merged = left.merge(right, how=how, **words)
        return merged["x_x" if "x_x" in merged else "x"] * a

    right = FRAME[["k", "x"]][1:]
    left, ours = on_device(FRAME), on_device(right)
    got = jax.jit(lambda a: of_rows(left, ours, a))(2.0)
    assert_same(got, of_rows(FRAME, right, 2.0))


def test_a_capacity_gives_known_frames_the_types_of_traced_ones():
    left = on_device(pd.DataFrame({"k": [1, 2, 2]}))
    right = on_device(pd.DataFrame({"k": [2], "f": [True], "n": [7]}))

    def of_both(right, a):
        merged = left.merge(right, on="k", how="left", capacity=3)
        return (~merged["f"]).sum() * a, (merged["n"] & 1).sum() * a

    assert jax.jit(lambda a: of_both(right, a))(1) == jax.jit(of_both)(right, 1)
    # Only reading the rows reports a capacity that is too small.
    few = jax.jit(lambda a: (left.merge(left, on="k", capacity=1), a)[1])
    assert few(2.0) == 2.0


def test_a_merge_of_a_known_frame_with_a_traced_one_wants_a_capacity():
    known = on_device(FRAME[["k", "x"]])
    with pytest.raises(ValueError, match="merge: inside jit capacity must be the maximum"):
        jax.jit(lambda other: known.merge(other, on="k"))(known)
    with pytest.raises(ValueError, match="merge: inside jit capacity must be the maximum"):
        jax.jit(lambda other: other.merge(known, on="k"))(known)
    got = jax.jit(lambda other: known.merge(other, on="k", capacity=99)["x_x"])(known)
    assert got.tolist() == FRAME.merge(FRAME[["k", "x"]], on="k")["x_x"].tolist()


def test_labels_that_an_inner_function_asked_for_are_not_kept_by_the_outer_one():
    frame = on_device(FRAME[["x"]])

    def of_both(frame):
        kept = frame[frame["x"] > 1]
        total, _ = jax.lax.scan(
            lambda sum, a: (sum + (kept.reset_index()["index"] * a).sum(), None),
            np.int64(0),
            jnp.ones(2, jnp.int64),
        )
        return total + kept.reset_index()["index"].sum()

    assert jax.jit(of_both)(frame) == 3 * FRAME.index[FRAME["x"] > 1].to_numpy().sum()


def test_groups_that_an_inner_function_asked_for_are_not_kept_by_the_outer_one():
    frame = on_device(FRAME[["k", "x"]])

    def of_both(frame):
        groups = frame.groupby("k")["x"]
        total, _ = jax.lax.scan(
            lambda sum, a: (sum + groups.max().sum() * a, None), 0.0, jnp.ones(2)
        )
        return total + groups.max().sum()

    assert jax.jit(of_both)(frame) == 3 * FRAME.groupby("k")["x"].max().sum()


def test_a_groupby_that_is_known_is_of_use_in_and_after_a_function():
    groups, expected = on_device(FRAME).groupby("k")["x"], FRAME.groupby("k")["x"]
    for op in ("sum", "max", "cumsum", "nunique"):
        got = jax.jit(lambda a, op=op: getattr(groups, op)() * a)(1)
        assert_same(got, getattr(expected, op)())
        assert_same(getattr(groups, op)(), getattr(expected, op)())


def test_what_depends_on_the_platform_stays_so_beside_known_arrays():
    # Constants folded for one platform would end up in the program of another.
    weights = on_device(FRAME)["x"]

    @jax.jit
    def run(x):
        frame = JaxFrame({"x": x})
        return frame["x"].max() * weights.sum(), frame["x"].is_monotonic_increasing

    program = jax.export.export(run, platforms=["tpu"])(jax.ShapeDtypeStruct((100_000,), float))
    assert "stablehlo.while" not in program.mlir_module()


def test_labels_are_the_same_array_wherever_a_function_asks_for_them():
    @jax.jit
    def doubled(frame):
        kept = frame[frame["x"] > 1]
        return kept.reset_index().set_index("index")["x"] + kept["x"]

    expected = 2 * FRAME["x"][FRAME["x"] > 1]
    assert_same(doubled(on_device(FRAME[["x"]])), expected.rename_axis("index"))
