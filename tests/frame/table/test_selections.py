# SPDX-License-Identifier: Apache-2.0
"""Selected rows that are moved when an operation reads them; pandas is the oracle."""

import copy
import gc
import pickle
import subprocess
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from jaxframes import frame as jf
from jaxframes.frame import JaxFrame
from jaxframes.frame.table import _array_owners, _defer, _dictionary, _selections
from jaxframes.frame.table._deferred import DeferredColumn
from jaxframes.frame.table._tracing import is_traced

NUM_ROWS = 90

pytestmark = pytest.mark.usefixtures("selections_are_deferred")


def example(seed=0):
    frame = mixed_frame(NUM_ROWS, seed)
    return frame.assign(i=np.arange(NUM_ROWS) * 3 % 17, b=frame["x"] > 0)


def right():
    keys = pd.Series([1, 3, 2, 9])
    return pd.DataFrame({"k": keys, "n": keys * 7, "g": keys / 2, "w": keys.map("w{}".format)})


def deferred(frame):
    """The labels of the deferred columns."""
    columns = zip(frame._labels, frame._stored.columns, strict=True)
    return [label for label, column in columns if column.stored.node is not None]


SELECTIONS = {
    "filter": lambda f, r: f[f["i"] > 4],
    "two filters": lambda f, r: f[f["i"] > 4].pipe(lambda g: g[g["i"] < 12]),
    "no rows": lambda f, r: f[f["i"] > 99],
    "no rows twice": lambda f, r: f[f["i"] > 99].pipe(lambda g: g[g["i"] > 4]),
    "labels": lambda f, r: f.set_index("i").pipe(lambda g: g[g["x"] > 0]),
    "a slice of a filter": lambda f, r: f[f["i"] > 4].iloc[3:20],
    "positions of a filter": lambda f, r: f[f["i"] > 4].take([5, 2, 2, -1]),
    "reversed": lambda f, r: f[f["i"] > 4].iloc[::-1],
    "inner merge": lambda f, r: f.merge(r, on="k"),
    "left merge": lambda f, r: f.merge(r, on="k", how="left"),
    "outer merge": lambda f, r: f.merge(r, on="k", how="outer"),
    "right merge": lambda f, r: f.merge(r, on="k", how="right"),
    "merges": lambda f, r: (
        f[f["i"] > 4].merge(r, on="k", how="left").merge(r, on="k", suffixes=("", "_2"))
    ),
    "a filter of a left merge": lambda f, r: f.merge(r, on="k", how="left").pipe(
        lambda g: g[g["i"] < 9]
    ),
    "left merges": lambda f, r: r.merge(f, on="k", how="left").merge(
        r, left_on="i", right_on="k", how="left"
    ),
    "merge on labels": lambda f, r: f[f["i"] > 4].join(r.set_index("k"), on="k"),
    "reindex": lambda f, r: f[f["i"] > 4].reindex([5, 99, 7, 2]),
    "sorted": lambda f, r: f[f["i"] > 4].sort_values(["k", "i"], kind="stable"),
    "without duplicates": lambda f, r: f[f["i"] > 4].drop_duplicates("k"),
    "assigned": lambda f, r: f[f["i"] > 4].assign(y=lambda g: g["i"] * 2, x=1.0),
    "concatenated": lambda f, r: pd_or_jf(f).concat([f[f["i"] > 9], f[f["i"] < 3], f]),
    "shifted": lambda f, r: f[f["i"] > 4][["s", "x", "i"]].shift(2),
    "grouped": lambda f, r: f[f["i"] > 4].groupby("k")[["i", "x", "b"]].agg(["sum", "count"]),
    "last of groups": lambda f, r: f[f["i"] > 4].groupby("k").tail(2),
    "without missing": lambda f, r: f.merge(r, on="k", how="left").dropna(subset=["w", "s"]),
    "isin": lambda f, r: f[f["i"] > 4].pipe(lambda g: g[g["k"].isin(r["k"])]),
    "exploded labels": lambda f, r: f[f["i"] > 4].reset_index(),
}


def pd_or_jf(frame):
    return pd if isinstance(frame, pd.DataFrame) else jf


@pytest.mark.parametrize("name", SELECTIONS)
def test_the_rows_are_those_of_pandas(name):
    select, frame, other = SELECTIONS[name], example(), right()
    expected = select(frame, other)
    pd.testing.assert_frame_equal(
        select(JaxFrame(frame), JaxFrame(other)).to_pandas(), expected, check_freq=False
    )
    result = select(JaxFrame(frame), JaxFrame(other))
    assert result.shape == expected.shape
    for label in expected:
        pd.testing.assert_series_equal(result[label].to_pandas(), expected[label], check_freq=False)
    # As a pytree the rows are in place.
    assert not deferred(jax.tree.map(lambda leaf: leaf, result))


def test_only_what_is_read_is_moved():
    frame = JaxFrame(example())
    selected = frame[frame["i"] > 4]
    others = [label for label in frame.columns if label not in ("k", "i")]
    assert set(others) <= set(deferred(selected))
    sums = selected.groupby("k")["i"].sum()
    assert set(others) <= set(deferred(selected))
    later = selected[selected["k"] > 1].merge(JaxFrame(right()), on="k")
    assert {*others, "i", "n", "g", "w"} <= set(deferred(later))
    assert len(later) > 0
    assert sums.sum() > 0
    assert {*others, "i", "n", "g", "w"} <= set(deferred(later))
    jax.block_until_ready(later)
    assert deferred(later) == []


def test_integers_with_holes_wait_as_floats():
    frame, other = example().drop(columns="b"), right()
    other["flag"] = other["n"] > 10
    select = SELECTIONS["left merge"]
    expected = select(frame, other).pipe(lambda f: f[f["i"] > 9]).merge(other, on="k", how="left")
    merged = select(JaxFrame(frame), JaxFrame(other))
    later = merged[merged["i"] > 9].merge(JaxFrame(other), on="k", how="left")
    assert {"n", "flag"} <= set(deferred(merged))
    assert {"n_x", "n_y", "flag_x", "flag_y"} <= set(deferred(later))
    assert list(map(str, later.dtypes)) == list(map(str, expected.dtypes))
    pd.testing.assert_frame_equal(later.to_pandas(), expected)


def test_a_composed_selection_does_not_move_the_rows_between():
    frame = JaxFrame(example())
    between = frame[frame["i"] > 4]
    last = between[between["i"] < 9]
    assert last["t"].to_pandas().equals(example().query("4 < i < 9")["t"])
    assert "t" in deferred(between)


def test_selections_in_place_are_one_pytree():
    frame = JaxFrame(example())
    one, other = frame[frame["i"] > 4], frame[frame["i"] > 4]
    assert one["x"].sum() == other["x"].sum()
    assert jax.tree.structure(one) == jax.tree.structure(other)
    leaves = jax.tree.leaves(one)
    assert all(a is b for a, b in zip(leaves, jax.tree.leaves(one), strict=True))
    assert jax.jit(lambda f: f["i"].max())(frame[frame["i"] > 4]) == 16


def test_deferred_columns_are_leaves_that_are_not_traced():
    frame = JaxFrame(example())
    selected = frame[frame["i"] > 4]
    column = selected._stored.columns[0]
    assert jax.tree.leaves(column) == [column]
    assert not is_traced(selected._stored)
    assert set(frame.columns) - {"i"} <= set(deferred(selected))


def test_arrays_that_are_read_first_inside_jit():
    frame = JaxFrame(example())
    selected = frame[frame["i"] > 4].merge(JaxFrame(right()), on="k")
    total = jax.jit(lambda y: y * selected["i"].sum() + selected["n"].max())(2)
    expected = example().query("i > 4").merge(right(), on="k")
    assert total == 2 * expected["i"].sum() + expected["n"].max()
    pd.testing.assert_frame_equal(selected.to_pandas(), expected)


def test_a_selection_of_traced_rows_does_not_wait():
    def inside(f):
        selected = f[f["i"] > 4]
        assert not deferred(selected)
        return selected

    frame = example()
    result = jax.jit(inside)(JaxFrame(frame))
    pd.testing.assert_frame_equal(result.to_pandas(), frame[frame["i"] > 4])


@pytest.mark.parametrize("given", ["before", "after", "by the caller"])
def test_an_array_that_a_caller_holds_may_be_donated(given):
    values = jnp.arange(64.0)
    frame = JaxFrame({"x": values if given == "by the caller" else np.arange(64.0)})
    frame["k"] = np.arange(64) % 7
    held = frame["x"].to_jax() if given == "before" else values
    selected = frame[frame["k"] > 2]
    held = frame["x"].to_jax() if given == "after" else held
    jax.block_until_ready(jax.jit(lambda x: x + 1, donate_argnums=0)(held))
    assert selected["x"].sum() == sum(row for row in range(64) if row % 7 > 2)


@pytest.mark.parametrize("donated", ["frame", "mask", "array", "other"])
def test_rows_are_moved_before_their_source_is_donated(donated):
    frame, other = example()[["x", "i", "k"]], right()[["k", "n"]]
    ours, mine = JaxFrame(frame), JaxFrame(other)
    copied = jax.jit(lambda tree: jax.tree.map(jnp.copy, tree))
    ours, mine = copied(ours), copied(mine)
    mask = ours["i"] > 4
    filtered = ours[mask]
    kept = filtered.merge(mine, on="k", how="left")
    assert "x" in deferred(kept)
    one = {
        "frame": lambda: ours,
        "mask": lambda: mask,
        "array": lambda: ours["x"].to_jax(),
        "other": lambda: mine,
    }[donated]()
    copied_in_place = jax.jit(lambda tree: jax.tree.map(jnp.copy, tree), donate_argnums=0)
    jax.block_until_ready(copied_in_place(one))
    expected = frame[frame["i"] > 4]
    pd.testing.assert_frame_equal(kept.to_pandas(), expected.merge(other, on="k", how="left"))
    pd.testing.assert_frame_equal(filtered.to_pandas(), expected)


def test_copies_and_pickles():
    frame = example()
    expected = frame[frame["i"] > 4]
    for copied in (copy.copy, copy.deepcopy, lambda f: pickle.loads(pickle.dumps(f))):
        ours = JaxFrame(frame)
        pd.testing.assert_frame_equal(copied(ours[ours["i"] > 4]).to_pandas(), expected)


def test_near_unique_strings_wait_for_rows_and_codes(monkeypatch):
    monkeypatch.setattr(_dictionary, "num_repeats", lambda strings: 0 if len(strings) > 1 else 2)
    frame = example()
    frame["u"] = pd.Series(range(NUM_ROWS)).map("u{:03}".format).where(frame["i"] != 5)
    ours = JaxFrame(frame)
    selected = ours[ours["i"] > 4].merge(JaxFrame(right()), on="k", how="left")
    expected = frame[frame["i"] > 4].merge(right(), on="k", how="left")
    assert "u" in deferred(selected)
    assert selected.groupby("u")["i"].sum().to_pandas().equals(expected.groupby("u")["i"].sum())
    pd.testing.assert_frame_equal(selected.sort_values("u").to_pandas(), expected.sort_values("u"))
    assert selected["u"].str.upper().to_pandas().equals(expected["u"].str.upper())


def test_few_rows_are_moved_at_once(monkeypatch):
    frame = JaxFrame(example())
    monkeypatch.setattr(_defer, "LEAST_SELECTED", 100)
    few = frame[frame["i"] > 15]
    assert deferred(few) == []
    assert not isinstance(few._stored.index.stored[0], DeferredColumn)
    monkeypatch.setattr(_defer, "LEAST_SELECTED", 0)
    assert "x" in deferred(frame[frame["i"] > 4])


LONG_SOURCES = {
    "filter": lambda f: f[f["i"] > 15],
    "filters": lambda f: f[f["i"] > 4].pipe(lambda g: g[g["i"] > 15]),
    "positions": lambda f: f.take([5, 2, 70]),
    "merge": lambda f: f.merge(JaxFrame({"i": np.array([16, 15])}), on="i"),
}


@pytest.mark.parametrize("name", LONG_SOURCES)
@pytest.mark.parametrize("then", ["read", "select"])
def test_rows_do_not_keep_a_long_source_in_memory(monkeypatch, name, then):
    monkeypatch.setattr(_array_owners, "LONGEST_SOURCE", 0)
    select, frame = LONG_SOURCES[name], example()
    other = JaxFrame(frame)
    held = other[other["i"] > 4]
    ours = JaxFrame(frame)
    copied = ours.copy()
    source = weakref.ref(ours._stored.columns[ours._labels.position("x")].data)
    few = select(ours)
    assert "x" in deferred(few)
    del ours
    gc.collect()
    # The copy has the same arrays.
    assert held["k"].sum() > 0
    assert "x" in deferred(few)
    del copied
    gc.collect()
    if then == "read":
        assert held["i"].sum() > 0
    else:
        other[other["i"] > 9]
    assert deferred(few) == []
    assert source() is None
    # Its own source is there.
    assert "x" in deferred(held)
    mine = JaxFrame(frame)
    expected = select(mine).to_pandas()
    pd.testing.assert_frame_equal(few.to_pandas(), expected)


def test_threads_may_read_the_rows_that_lost_their_source(monkeypatch):
    monkeypatch.setattr(_array_owners, "LONGEST_SOURCE", 0)
    frame = example()
    expected = frame[frame["i"] > 4]

    def run(_):
        for _ in range(20):
            few = JaxFrame(frame).pipe(lambda f: f[f["i"] > 4])
            assert few["i"].sum() == expected["i"].sum()
            assert few["k"].max() == expected["k"].max()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(run, range(4)))


@pytest.mark.parametrize("rounds", [1, 2])
def test_donated_index_holds_the_positions_of_a_selection(rounds):
    frame = example()[["x", "i"]]
    ours = JaxFrame(frame)
    for _ in range(rounds):
        ours, frame = ours[ours["i"] > 4], frame[frame["i"] > 4]
    later = ours[ours["i"] > 8]
    assert "x" in deferred(later)
    jax.jit(lambda f: f * 2, donate_argnums=0)(ours)
    pd.testing.assert_frame_equal(later.to_pandas(), frame[frame["i"] > 8])


def test_long_chains_of_selections():
    ours = JaxFrame({"i": np.arange(8), "x": np.arange(8) * 0.5})
    mask = ours["i"] > -1
    for _ in range(1200):
        ours = ours[mask]
        column = ours._stored.columns[1].stored
        assert column.node.selection.depth <= _selections.MOST_COMPOSED
    np.testing.assert_array_equal(ours["x"].to_numpy(), np.arange(8) * 0.5)


def test_threads_read_columns_of_one_selection():
    frame = example()
    expected = frame[frame["i"] > 4].iloc[::-1]
    ours = JaxFrame(frame)
    errors = []
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def read(selected, barrier):
        try:
            barrier.wait()
            pd.testing.assert_frame_equal(selected.to_pandas(), expected, check_freq=False)
        except Exception as error:
            errors.append(error)

    try:
        for _ in range(5):
            selected = ours[ours["i"] > 4].iloc[::-1]
            barrier = threading.Barrier(4)
            threads = [threading.Thread(target=read, args=(selected, barrier)) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert errors == []


def test_frames_that_outlive_the_module_end_silently():
    # A module that holds rows that wait in a cycle is taken down after its names.
    program = """
import numpy as np
from jaxframes.frame import JaxFrame
from jaxframes.frame.table import _array_owners, _defer, _filter
_filter.MOST_PADDED = _defer.LEAST_SELECTED = _defer.LEAST_MAPPED = 0
class Holder: pass
frame = JaxFrame({"x": np.arange(64, dtype=np.float32)})
holder = _array_owners.holder = Holder()
holder.module, holder.frame = _array_owners, frame[frame["x"] > 3]
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")
