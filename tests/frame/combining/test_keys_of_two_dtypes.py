# SPDX-License-Identifier: Apache-2.0
"""Merges on columns of two dtypes: what pandas coerces, and what it refuses."""

import datetime

import jax
import pandas as pd
import pytest
from frame_parity import assert_parity, assert_same, assert_same_error, on_device
from jaxframes.frame import JaxFrame

KEYS = {
    "bools": [True, False, True],
    "integers": [1, 0, 2],
    "floats": [1.0, 0.0, 2.5],
    "strings": ["a", "b", "1"],
    "objects of strings": pd.Series(["a", "b", "1"], dtype=object),
    "mixed objects": pd.Series(["a", 1, True], dtype=object),
    "objects of integers": pd.Series([1, 0, 2], dtype=object),
    "bools with a hole": pd.Series([True, None, False], dtype=object),
    "categories of strings": pd.Categorical(["a", "b", "1"]),
    "categories of integers": pd.Categorical([1, 0, 2], categories=[2, 1, 0]),
    "times": pd.date_range("2020-01-01", periods=3),
    "durations": pd.to_timedelta([1, 0, 2], unit="s"),
    "zoned times": pd.date_range("2020-01-01", periods=3, tz="UTC"),
    "nullable integers": pd.array([1, None, 0], dtype="Int64"),
    "nullable floats": pd.array([1.0, None, 0.0], dtype="Float64"),
    "nullable bools": pd.array([True, None, False], dtype="boolean"),
    "nullable strings": pd.array(["a", None, "1"], dtype="string"),
    "dates": [datetime.date(2020, 1, day) for day in (1, 2, 3)],
}
# Where pandas fills a column of objects from such a column of the right, NA becomes NaN, and the
# integers of categories floats.
CAST_ON_THE_RIGHT = ("nullable integers", "nullable floats", "categories of integers")
pytestmark = pytest.mark.filterwarnings("ignore:You are merging on int and float columns")


def frame_of(name, label):
    return pd.DataFrame({"k": KEYS[name], label: [1, 2, 3]})


def check(operation, left, right):
    try:
        operation(left, right)
    except (ValueError, TypeError):
        assert_same_error(operation, left, right)
    else:
        assert_parity(operation, left, right, ways=["eager"])


@pytest.mark.parametrize("how", ["inner", "left", "right", "outer"])
@pytest.mark.parametrize("left", KEYS)
def test_keys_of_two_dtypes(left, how):
    for right in KEYS:
        if right in CAST_ON_THE_RIGHT and how in ("right", "outer"):
            continue
        check(lambda a, b: a.merge(b, on="k", how=how), frame_of(left, "x"), frame_of(right, "y"))


@pytest.mark.parametrize("left", ["bools", "strings", "categories of integers", "nullable bools"])
def test_keys_of_two_names_labels_and_several_columns(left):
    for right in KEYS:
        a, b = frame_of(left, "x"), frame_of(right, "y")
        check(lambda a, b: a.merge(b, left_on="k", right_on="j"), a, b.rename(columns={"k": "j"}))
        check(lambda a, b: a.join(b.set_index("k"), on="k"), a, b)
        check(lambda a, b: a.assign(j=[1, 1, 2]).merge(b.assign(j=[1, 1, 2]), on=["j", "k"]), a, b)


def test_categories_of_two_dtypes_on_many_rows():
    left = pd.DataFrame({"k": pd.Categorical(list("abcab" * 40)), "x": range(200)})
    right = pd.DataFrame({"k": list("bcd") * 20, "y": range(60)})
    assert_parity(
        lambda a, b: (a.merge(b, on="k"), a.merge(b, on="k", how="outer")), left, right,
        ways=["eager", "mesh"],
    )  # fmt: skip


def test_bools_beside_numbers_inside_jit():
    left = pd.DataFrame({"k": [True, False, True], "x": [1, 2, 3]})
    right = pd.DataFrame({"k": [0.0, 1.0, 2.5], "y": [4, 5, 6]})
    merged = jax.jit(lambda a, b: a.merge(b, on="k", capacity=8))
    assert_same(merged(JaxFrame(left), JaxFrame(right)), left.merge(right, on="k"))
    with pytest.raises(NotImplementedError, match=r"cannot become objects.*astype\(object\)"):
        merged(on_device(right), on_device(left))
