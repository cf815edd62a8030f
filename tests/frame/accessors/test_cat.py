# SPDX-License-Identifier: Apache-2.0
"""`series.cat`: renames, adds, removes and reorders categories."""

import jax
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import EVERYWHERE, assert_parity, assert_same_error
from jaxframes.frame import JaxSeries


def changed(f):
    words, numbers = f.c.cat, f.e.cat
    return (
        words.rename_categories(["x", "y", "z"]),
        words.rename_categories({"u": "x", "bogus": "y"}),
        words.rename_categories(str.upper),
        numbers.rename_categories(lambda n: n / 2),
        words.reorder_categories(["u", "v", "w"]),
        words.reorder_categories(["u", "v", "w"], ordered=False),
        words.add_categories("q"),
        words.add_categories(["q", "a"]),
        words.remove_categories(["v"]),
        numbers.remove_categories(5),
        words.set_categories(["u", "q"]),
        words.set_categories(["v", "u"], ordered=False),
        words.set_categories(["q", "r"], rename=True),
        numbers.set_categories([7, 9, 5, 3]),
        numbers.as_ordered(),
        words.as_unordered(),
        words.rename_categories([2.5, 1.5, 0.5]).cat.reorder_categories([0.5, 1.5, 2.5]),
    )


def frame():
    f = mixed_frame()[["c", "k"]]
    return f.assign(e=pd.Categorical(f.k * 2 + 1, categories=[5, 1, 3, 11, 7, 9]))[["c", "e"]]


def test_other_categories():
    assert_parity(changed, frame())
    assert_parity(changed, frame()[:0], ways=["eager"])
    assert_parity(lambda f: f.e.cat.remove_categories([1, 3]), frame(), ways=EVERYWHERE)


def test_categories_that_rows_have():
    assert_parity(
        lambda f: (
            f.c.cat.remove_unused_categories(),
            f.e.cat.remove_unused_categories(),
            f.c[:0].cat.remove_unused_categories(),
        ),
        frame(),
        ways=["eager"],
    )
    assert_parity(lambda f: f.c.cat.remove_unused_categories(), frame(), ways=["mesh"])
    with pytest.raises(NotImplementedError, match="inside jit"):
        jax.jit(lambda s: s.cat.remove_unused_categories())(JaxSeries(frame().c))


WRONG = {
    "too few names": lambda s: s.cat.rename_categories(["x"]),
    "names twice": lambda s: s.cat.rename_categories(["x", "x", "y"]),
    "not the same categories": lambda s: s.cat.reorder_categories(["u", "v"]),
    "one that is there": lambda s: s.cat.add_categories("u"),
    "one that is not there": lambda s: s.cat.remove_categories("bogus"),
    "a string for a list": lambda s: s.cat.set_categories("u"),
}


@pytest.mark.parametrize("use", WRONG)
def test_wrong_categories_are_pandas_errors(use):
    assert_same_error(WRONG[use], frame().c)


def test_accessors_take_no_attributes():
    series = {
        "str": pd.Series(["a"]),
        "cat": pd.Series(["a"], dtype="category"),
        "dt": pd.Series(pd.date_range("2024", periods=1)),
    }
    for accessor, one in series.items():
        for name in ("xlabel", "name"):
            message = assert_same_error(
                lambda s, a=accessor, n=name: setattr(getattr(s, a), n, 1), one
            )
            assert message.startswith(f"You cannot add any new attribute '{name}'")
