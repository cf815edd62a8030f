# SPDX-License-Identifier: Apache-2.0
"""`frame[...] = ...`: columns set and added."""

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import EVERYWHERE, assert_parity, assert_same, assert_same_error, on_device

FRAME = mixed_frame()[["k", "x"]]


def setting(*pairs):
    """A function that sets columns of a copy; values may be functions of the copy."""

    def run(f):
        f = f.copy()
        for label, value in pairs:
            f[label] = value(f) if callable(value) else value
        return f

    return run


def test_new_columns_stand_behind_the_others():
    run = setting(("new", lambda f: f.x * 2), ("k", 2.5), ("s", "q"), (7, lambda f: f.new + 1))
    assert_parity(run, FRAME, ways=EVERYWHERE)
    for num_rows in (0, 1):
        assert_parity(run, FRAME[:num_rows], ways=["eager"])


@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Index, pd.Series, jnp.asarray])
def test_values_by_place(kind):
    values = np.arange(37)[::-1].tolist()
    expected = setting(("new", values))(FRAME)
    assert_same(setting(("new", kind(values)))(on_device(FRAME)), expected)


def test_values_of_each_type():
    run = setting(
        ("s", [*"ab" * 18, None]),
        ("c", pd.Categorical([*"ab" * 18, "a"])),
        ("t", pd.date_range("2020", periods=37)),
        ("r", range(37)),
        ("n", None),
    )
    assert_parity(run, FRAME, ways=["eager"])
    assert_parity(setting(("new", []), ("s", "a")), FRAME[:0], ways=["eager"])


def test_a_series_and_a_dict_are_brought_to_the_labels():
    run = setting(
        ("new", lambda f: f.k[5:][::-1]),
        ("d", {3: 1.5, 0: 2.0, 99: 3.0}),
        ("p", pd.Series([1, 2], index=[36, 0])),
    )
    assert_parity(run, FRAME, ways=["eager"])


def test_a_table_of_one_column_is_that_column():
    matrix = np.arange(37.0)[:, None]
    run = setting(("a", lambda f: f[["x"]]), ("b", matrix), ("c", pd.DataFrame(matrix)))
    assert_parity(run, FRAME, ways=["eager"])
    assert_same(
        setting(("b", jnp.asarray(matrix)))(on_device(FRAME)), setting(("b", matrix))(FRAME)
    )


def test_several_columns_at_once():
    run = setting(
        (["k", "new"], lambda f: f[["x", "k"]]),
        (["p", "k"], 0),
        (["q", "r"], ["a", 2]),
        (pd.Index(["u", "v"]), np.arange(74.0).reshape(37, 2)),
        (np.array(["w"]), [[place] for place in range(37)]),
    )
    assert_parity(run, FRAME, ways=["eager"])
    swapped = setting((["k", "x"], lambda f: f[["x", "k"]]))
    assert_parity(swapped, FRAME, ways=["jit", "mesh"])


def test_another_frame_keeps_its_columns():
    ours = on_device(FRAME)
    other = ours.copy()
    other["k"] = 0
    other["new"] = 1
    assert_same(ours, FRAME)
    ours.k = ours.x
    assert_same(ours, FRAME.assign(k=FRAME.x))


@pytest.mark.parametrize(
    ("label", "value"),
    [
        ("new", [1, 2]),
        ("new", np.ones(36)),
        ("new", np.ones((37, 2))),
        ("new", lambda f: f[["k", "x"]]),
        (["p"], lambda f: f[["k", "x"]]),
        (["p", "q"], np.ones((37, 3))),
        (["p", "q"], [1, 2, 3]),
        (["p", "q"], lambda f: f.k),
    ],
)
def test_wrong_lengths_are_pandas_errors(label, value):
    assert_same_error(setting((label, value)), FRAME)


@pytest.mark.parametrize("rows", [[True] * 37, np.arange(37) > 9, slice(3), lambda f: f.k > 1])
def test_rows_of_all_columns(rows):
    def run(f):
        changed = f.copy()
        changed[rows(f) if callable(rows) else rows] = 0
        return changed

    assert_parity(run, FRAME[["k", "x"]], ways=["eager"])


def test_inside_jit_an_array_has_the_capacity():
    ours = on_device(FRAME)
    run = jax.jit(lambda f: setting(("new", jnp.arange(64)))(f))
    assert_same(run(ours), FRAME.assign(new=np.arange(37)))
    with pytest.raises(ValueError, match="capacity"):
        jax.jit(lambda f: setting(("new", jnp.arange(37)))(f))(ours)


def test_several_columns_inside_jit():
    totals = setting((["p", "q"], lambda f: [f.k.sum(), 1]))
    assert_same(jax.jit(totals)(on_device(FRAME)), totals(FRAME))
    for label, value in ((["x", "k"], lambda f: [f.x, f.k]), ("x", lambda f: {0: 1})):
        with pytest.raises(NotImplementedError, match=r"Set each|labels"):
            jax.jit(setting((label, value)))(on_device(FRAME))


def test_a_frame_without_rows_gets_those_of_the_first_column():
    empty = pd.DataFrame({"x": [1.0], "s": ["a"]}, index=pd.Index([7], name="n"))[:0]

    def filled(f):
        made = type(f)()
        made["a"] = [1, 2]
        made["b"] = "x"
        labelled = type(f)(columns=["u", "v"])
        labelled["u"] = f.assign(y=[3, 4]).y.set_axis(["p", "q"])
        inserted = type(f)()
        inserted.insert(0, "c", np.arange(3))
        return f.assign(y=[1, 2]), made, labelled, inserted, f.assign(y=5)

    assert_parity(filled, empty, ways=["eager"])


def test_ranges_and_views_of_dicts_are_lists_of_keys():
    frame = pd.DataFrame(np.arange(12.0).reshape(3, 4))

    def chosen(f):
        changed = f.copy()
        changed.loc[range(2), range(1, 3)] = -1.0
        changed["r"] = range(3)
        keys = {1: "x", 2: "y"}
        return f.loc[range(2)], f.iloc[range(2)], f[keys.keys()], f.loc[keys.keys()], changed

    assert_parity(chosen, frame, ways=["eager"])


def test_series_name_labels_and_dtypes():
    frame = pd.DataFrame({"x": [1, 2], "y": [3, 4]}, index=["a", "b"])
    texts, dtypes = pd.Series({"a": "z", "x": "w"}), pd.Series({"x": "float64"})

    def renamed(f, t, d):
        return f.rename(index=t, columns=t), f.x.rename(t), f.astype(d)

    assert_parity(renamed, frame, texts, dtypes, ways=["eager"])
