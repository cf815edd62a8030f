# SPDX-License-Identifier: Apache-2.0
"""The functions of pandas that have the work of a method."""

import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_operations import functions_for
from frame_parity import assert_parity
from jaxframes import frame as jf

FRAME = mixed_frame(30)[["k", "x", "s"]]


def test_they_give_what_methods_give():
    assert_parity(
        lambda f: (
            functions_for(f).melt(f[["k", "x"]], "k"),
            functions_for(f).pivot_table(f, "x", index="k", aggfunc="max"),
            functions_for(f).pivot(f[:3].assign(i=[0, 1, 2]), index="i", columns="s", values="x"),
            functions_for(f).isna(f),
            functions_for(f).notnull(f.x),
            functions_for(f).isnull(f.s),
            functions_for(f).notna(f),
        ),
        FRAME,
        ways=["eager"],
    )


def test_distinct_values():
    ours = jf.from_pandas(FRAME)
    assert jf.unique(ours.k).tolist() == pd.unique(FRAME.k).tolist()
    codes, values = jf.factorize(ours.k, sort=True)
    expected_codes, expected_values = pd.factorize(FRAME.k, sort=True)
    assert codes.tolist() == expected_codes.tolist()
    assert values.tolist() == expected_values.tolist()


@pytest.mark.parametrize("name", ["melt", "pivot_table", "isna", "notna", "unique", "factorize"])
def test_other_objects_are_refused(name):
    with pytest.raises(TypeError, match=rf"{name}: .*got DataFrame.*from_pandas"):
        getattr(jf, name)(FRAME)
