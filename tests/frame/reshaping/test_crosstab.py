# SPDX-License-Identifier: Apache-2.0
"""crosstab."""

import numpy as np
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
    ours = on_device(mixed_frame())
    with pytest.raises(NotImplementedError, match="normalize must be False"):
        crosstab(ours.k, ours.b, margins=True, normalize=True)


def test_arrays_of_the_host():
    words = np.array(["b", "a", "b"], object)
    assert_parity(lambda f: table_of(f, words, f.k), mixed_frame(3)[["k"]], ways=["eager"])


def test_wrong_uses():
    frame = mixed_frame()[["k", "b"]]
    assert_same_error(lambda f: table_of(f, f.k, f.b, values=f.k), frame)
    assert_same_error(lambda f: table_of(f, f.k, f.b, aggfunc="sum"), frame)
    assert_same_error(lambda f: table_of(f, f.k, f.b, normalize="none"), frame)
    assert_same_error(lambda f: table_of(f, f.k, f.b, rownames=["p", "q"]), frame)
    ours = on_device(frame)
    with pytest.raises(NotImplementedError, match="dropna must be True"):
        crosstab(ours.k, ours.b, dropna=False)
