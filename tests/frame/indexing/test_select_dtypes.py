# SPDX-License-Identifier: Apache-2.0
"""select_dtypes."""

import numpy as np
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error, on_device

FRAME = mixed_frame()


@pytest.mark.parametrize(
    "kinds", ["number", "float64", "bool", "category", "datetime", "timedelta", np.floating, "str"]
)
def test_what_is_included_and_what_is_excluded_make_up_the_frame(kinds):
    ours = on_device(FRAME[:3])
    included, excluded = ours.select_dtypes(kinds), ours.select_dtypes(exclude=kinds)
    assert_same(included, FRAME[:3].select_dtypes(kinds))
    assert_same(excluded, FRAME[:3].select_dtypes(exclude=kinds))
    assert sorted([*included.columns, *excluded.columns]) == sorted(FRAME)


def test_both_together_and_inside_jit():
    def selected(f):
        return (
            f.select_dtypes(["number", "bool"], exclude="float32"),
            f.select_dtypes(["int64", np.float32]),
            f.select_dtypes("complex"),
        )

    assert_parity(selected, FRAME, ways=["jit"])
    assert_parity(selected, FRAME[:0], ways=["eager"])


def test_wrong_arguments():
    assert_same_error(lambda f: f.select_dtypes(), FRAME)
    assert_same_error(lambda f: f.select_dtypes("number", "number"), FRAME)
    assert_same_error(lambda f: f.select_dtypes("bogus"), FRAME)
