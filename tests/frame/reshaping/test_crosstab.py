# SPDX-License-Identifier: Apache-2.0
"""crosstab."""

import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_operations import functions_for
from frame_parity import assert_parity, assert_same_error, on_device
from jaxframes.frame import crosstab


def table_of(f, *args, **options):
    return functions_for(f).crosstab(*args, **options)


def test_counts():
    assert_parity(
        lambda f: (
            table_of(f, f.k, f.c),
            table_of(f, [f.k, f.b], f.s),
            table_of(f, f.k, [f.c, f.b], rownames=["p"], colnames=["q", "r"]),
            table_of(f, f.k, f.k),
            table_of(f, f.k[:1], f.c[:1]),
        ),
        mixed_frame()[["k", "c", "b", "s"]],
        ways=["eager"],
    )


def test_values_and_fractions():
    assert_parity(
        lambda f: (
            table_of(f, f.k, f.c, values=f.i, aggfunc="sum"),
            *(table_of(f, f.k, f.c, normalize=how) for how in (True, "all", "index", 1)),
        ),
        mixed_frame()[["k", "c", "i"]],
        ways=["eager"],
    )


def test_margins():
    assert_parity(
        lambda f: (
            table_of(f, f.k, f.b, margins=True),
            table_of(f, f.k, [f.b, f.s], margins=True, margins_name="T"),
        ),
        mixed_frame()[["k", "b", "s"]],
        ways=["eager"],
    )
    empty = on_device(mixed_frame()[:0])
    assert crosstab(empty.k, empty.b, margins=True).shape == (0, 0)
    assert_same_error(
        lambda f: table_of(f, f.k, f.b, margins=True, normalize=True), mixed_frame()[:0]
    )


@pytest.mark.parametrize("how", [True, "all", "index", 1, "columns", 0])
def test_fractions_with_margins(how):
    assert_parity(
        lambda f: (
            table_of(f, f.k, f.b, margins=True, normalize=how),
            table_of(f, [f.s, f.c], [f.b, f.s], margins=True, margins_name="T", normalize=how),
            table_of(f, f.k, f.b, f.i, aggfunc="max", margins=True, normalize=how),
        ),
        mixed_frame()[["k", "b", "s", "c", "i"]],
        ways=["eager"],
        ulps=4,
    )


def test_all_pairs_of_keys():
    frame = mixed_frame()[["k", "b", "s", "c"]]
    assert_parity(
        lambda f: (
            table_of(f, f.k, f.s, dropna=False),
            table_of(f, [f.k, f.b], f.s, dropna=False),
            table_of(f, f.k, [f.s, f.b], dropna=False, margins=True),
            table_of(f.dropna(), f.dropna().k, f.dropna().c, dropna=False),
        ),
        frame,
        ways=["eager"],
    )


def test_arrays_of_the_host():
    words = np.array(["b", "a", "b"], object)
    assert_parity(lambda f: table_of(f, words, f.k), mixed_frame(3)[["k"]], ways=["eager"])


@pytest.mark.parametrize("dropna", [True, False])
def test_series_of_other_labels_have_their_common_rows(dropna):
    frame = pd.DataFrame({"k": [1, 2, 3], "y": [1.5, 2.5, 3.5]})
    next_rows, other_rows = (frame.set_axis(frame.index + shift) for shift in (1, 3))
    assert_parity(
        lambda f, g, h: (
            table_of(f, f.k, g.k, dropna=dropna),
            table_of(f, f.k, g.k, values=g.y, aggfunc="sum", dropna=dropna),
            table_of(f, f.k, h.k, dropna=dropna),
        ),
        frame,
        next_rows,
        other_rows,
        ways=["eager"],
    )


def test_margins_of_categories_without_rows_are_zeros():
    kinds = pd.Categorical(["p", "r", "p"], categories=["p", "q", "r"])
    frame = pd.DataFrame({"a": kinds, "b": [1, 1, 2]})
    assert_parity(
        lambda f: (
            table_of(f, f.a, f.b, dropna=False, margins=True),
            table_of(f, f.b, f.a, dropna=False, margins=True),
            table_of(f, f.a, f.b, margins=True),
        ),
        frame,
        ways=["eager"],
    )


def test_wrong_uses():
    frame = mixed_frame()[["k", "b"]]
    assert_same_error(lambda f: table_of(f, f.k, f.b, values=f.k), frame)
    assert_same_error(lambda f: table_of(f, f.k, f.b, aggfunc="sum"), frame)
    assert_same_error(lambda f: table_of(f, f.k, f.b, normalize="none"), frame)
    assert_same_error(lambda f: table_of(f, f.k, f.b, rownames=["p", "q"]), frame)
    assert_same_error(lambda f: table_of(f, f.k, f.b, margins=True, normalize="none"), frame)


def test_margins_are_a_bool():
    frame = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
    message = assert_same_error(
        lambda f: functions_for(f).crosstab(f.a, f.b, normalize="all", margins=42), frame
    )
    assert message.startswith("Not a valid margins argument, got 42")
