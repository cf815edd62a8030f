# SPDX-License-Identifier: Apache-2.0
"""groupby.rank."""

import numpy as np
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error
from jaxframes.frame import JaxFrame


def test_first_ranks_of_a_group_are_one_to_its_size():
    frame = JaxFrame(mixed_frame()[["k", "i"]])
    ranks = frame.groupby("k").i.rank(method="first").to_pandas()
    for _, group in ranks.groupby(mixed_frame().k):
        assert sorted(group) == list(range(1, len(group) + 1))


def test_least_and_greatest_ranks_enclose_the_average():
    grouped = JaxFrame(mixed_frame()[["k", "y"]]).groupby("k").y
    least, average, most = (np.array(grouped.rank(m).tolist()) for m in ("min", "average", "max"))
    np.testing.assert_array_equal((least + most) / 2, average)


def test_arguments_by_place_of_timedeltas_and_ordered_categories():
    def ranks(f):
        return f.groupby("k").rank("dense", False, "bottom", True)

    frame = mixed_frame()[["k", "d", "c"]]
    assert_parity(ranks, frame, ways=["jit"], ulps=2)
    for num_rows in (0, 1):
        assert_parity(ranks, frame[:num_rows], ways=["eager"])


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()[["k", "x", "c"]].assign(c=lambda f: f.c.cat.as_unordered())
    assert "'c'" in assert_same_error(lambda f: f.groupby("k").c.rank(), frame)
    assert_same_error(lambda f: f.groupby("k").x.rank("MIN"), frame)
    assert_same_error(lambda f: f.groupby("k").x.rank(na_option=None), frame)
