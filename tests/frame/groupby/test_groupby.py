# SPDX-License-Identifier: Apache-2.0
"""The arguments of groupby."""

import jax
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error
from jaxframes.frame import JaxFrame


def test_levels_by_place_name_and_list():
    frame = mixed_frame()[["k", "b", "i"]].set_index(["k", "b"])

    def sums(f):
        return (
            f.groupby(level=-1).sum(),
            f.groupby(level=["b", "k"]).sum(),
            f.groupby(["k", "i"]).size(),
        )

    assert_parity(sums, frame, ways=["eager"])
    assert_same_error(lambda f: f.groupby(level=2), frame)
    assert_same_error(lambda f: f.groupby(level="bogus"), frame)


def test_group_keys_change_nothing_that_is_built():
    def both(f):
        return tuple(f.groupby("k", group_keys=keys).i.cumsum() for keys in (True, False))

    assert_parity(both, mixed_frame()[["k", "i"]], ways=["eager"])


def test_unsorted_groups_stand_in_the_order_of_their_first_rows():
    frame = mixed_frame()[["s", "i"]]
    found = JaxFrame(frame).groupby("s", sort=False, dropna=False).i.sum().to_pandas()
    pd.testing.assert_index_equal(found.index, pd.Index(frame.s.unique(), name="s"))
    assert found.sum() == frame.i.sum()


def test_keys_as_columns_and_categories_that_no_row_has():
    def sums(f):
        return (
            f.groupby("c", as_index=False, observed=False, dropna=False).i.sum(),
            f.groupby(["b", "c"], as_index=False, sort=False).i.sum(),
        )

    frame = mixed_frame()[["b", "c", "i"]]
    assert_parity(sums, frame, ways=["eager"])
    assert_parity(lambda f: f.groupby(["b"], as_index=False).i.sum(), frame, ways=["jit"])


def test_keys_of_several_levels_of_labels_keep_these_as_columns():
    def reduced(f):
        grouped = f.groupby([("k", ""), ("a", "i")], as_index=False)
        return grouped.max(), grouped.agg(["max"])

    labels = pd.MultiIndex.from_tuples([("k", ""), ("a", "x"), ("a", "i")], names=["p", None])
    frame = mixed_frame()[["k", "x", "i"]].set_axis(labels, axis=1)
    assert_parity(reduced, frame, ways=["eager"])


def test_functions_and_dicts_are_no_keys_inside_jit():
    ours = JaxFrame(mixed_frame()[["k", "i"]])
    for by in (lambda label: label % 2, {0: 1}):
        with pytest.raises(NotImplementedError, match="Assign a column and group by it"):
            jax.jit(lambda f, by=by: f.groupby(by).sum())(ours)
    with pytest.raises(NotImplementedError, match="Pass one of them"):
        ours.groupby("k", level=0)
    assert_same_error(lambda f: f.groupby("k", as_index=True, bogus=1), mixed_frame()[["k"]])


def test_levels_that_labels_have_not():
    frame = pd.DataFrame({"x": [1, 2]}, index=pd.Index([1, 2], name="n"))
    for level in ([], [0, 0], [0, 1], [1], -2):
        assert_same_error(lambda f, level=level: f.groupby(level=level).sum(), frame)
