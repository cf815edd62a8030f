# SPDX-License-Identifier: Apache-2.0
"""rename and drop of columns with labels that are strings ask pandas nothing."""

import cProfile
import pstats

import numpy as np
import pandas as pd
import pytest
from frame_parity import assert_parity, assert_same_error, on_device

FRAME = pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5], "c": ["x", "y"], "": [True, False]})
NAMED = FRAME.rename_axis(columns="n")
TWICE = FRAME.set_axis(["a", "b", "a", "c"], axis=1)
OBJECTS = FRAME.set_axis(pd.Index(list("abcd"), dtype=object), axis=1)
NUMBERED = FRAME.set_axis(["a", 1, "c", None], axis=1)
FRAMES = [FRAME, NAMED, TWICE, OBJECTS, NUMBERED, FRAME[[]], FRAME[:0]]


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize(
    "mapper",
    [{"a": "z"}, {"a": "b"}, {}, {"q": "z"}, {"a": 1}, {"a": None, "b": 2.5}, {"a": ("p", "q")},
     {"a": "z", "b": "y", "c": "x"}, {"a": np.str_("z")}, pd.Series({"a": "z"})],
)  # fmt: skip
def test_rename_by_a_dict(frame, mapper):
    assert_parity(lambda f: f.rename(columns=mapper), frame, ways=["eager"])
    assert_parity(lambda f: f.rename(mapper, axis=1).rename(columns=mapper), frame, ways=["eager"])


def test_rename_by_a_function():
    for change in (str.upper, len, lambda label: (label, 1), lambda label: "same", str):
        for frame in (FRAME, NAMED, TWICE, OBJECTS):
            assert_parity(
                lambda f, change=change: f.rename(columns=change), frame, ways=["eager", "jit"]
            )
    assert_same_error(lambda f: f.rename(columns={"q": "z"}, errors="raise"), FRAME)


@pytest.mark.parametrize("frame", FRAMES[:4])
@pytest.mark.parametrize("columns", ["a", ["a"], ["b", "a"], ["a", "a"], [], ["a", "b", "c"]])
def test_drop(frame, columns):
    assert_parity(lambda f: f.drop(columns=columns), frame, ways=["eager"])
    assert_parity(lambda f: f.drop(columns, axis=1, errors="ignore"), frame, ways=["eager"])


def test_labels_that_are_absent():
    for columns in ("q", ["a", "q"], ["q", 1], [None]):
        assert_same_error(lambda f, columns=columns: f.drop(columns=columns), FRAME)
    assert_parity(lambda f: f.drop(columns=["a", "q"], errors="ignore"), FRAME, ways=["eager"])


def test_names_that_a_user_changes():
    def renamed(f):
        f = f[["a", "b"]]
        f.columns.name = "later"
        return f.rename(columns={"a": "z"}), f.drop(columns="a")

    assert_parity(renamed, NAMED, ways=["eager"])


def test_calls_of_python():
    ours = on_device(FRAME)
    for change in (lambda f: f.rename(columns={"a": "z"}), lambda f: f.drop(columns=["a"])):
        profile = cProfile.Profile()
        profile.runcall(change, ours)
        assert pstats.Stats(profile).total_calls < 60
