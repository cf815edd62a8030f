# SPDX-License-Identifier: Apache-2.0
"""groupby.agg."""

import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error
from jaxframes.frame import JaxFrame


def test_arguments_are_passed_on_to_the_named_method():
    def reduced(f):
        grouped = f.groupby("k")
        return (
            grouped.agg("max", numeric_only=True),
            grouped.x.agg("min", min_count=7),
            grouped.x.aggregate("first", skipna=False),
        )

    assert_parity(reduced, mixed_frame()[["k", "x", "s"]], ways=["jit"])


def test_a_list_of_one_has_a_level_of_labels_more_than_its_name():
    def reduced(f):
        grouped = f.groupby("k")
        return grouped.agg(["max"]), grouped.x.agg(["max"]), grouped.agg({"x": ["max"]})

    frame = mixed_frame()[["k", "x"]]
    for num_rows in (37, 1, 0):
        assert_parity(reduced, frame[:num_rows], ways=["eager"])


def test_named_results_stand_in_the_order_of_their_names():
    found = JaxFrame(mixed_frame()[["k", "i"]]).groupby("k").agg(z=("i", "max"), a=("i", "min"))
    assert list(found.columns) == ["z", "a"]
    assert (found.z >= found.a).all()


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()[["k", "x"]]
    assert_same_error(lambda f: f.groupby("k").agg(a="x"), frame)
    with pytest.raises(NotImplementedError, match="takes no arguments"):
        JaxFrame(frame).groupby("k").agg(["std"], ddof=0)
