# SPDX-License-Identifier: Apache-2.0
"""to_pandas."""

import jax
import pandas as pd
import pytest
from frame_examples import complexes, mixed_frame
from frame_parity import assert_same, on_device
from jaxframes.frame import JaxFrame, JaxSeries


@pytest.mark.parametrize("num_rows", [0, 1, 37])
def test_a_frame_comes_back_as_it_was(num_rows):
    for frame in (mixed_frame(num_rows), mixed_frame(num_rows).set_index(["s", "t"])):
        assert_same(JaxFrame(frame), frame)
        assert_same(JaxFrame(JaxFrame(frame).to_pandas()), frame)


def test_every_column_comes_back_alone():
    frame = pd.concat([mixed_frame(), complexes()[["z", "w"]]], axis=1)
    for label in frame:
        assert_same(JaxSeries(frame[label]), frame[label])


def test_names_of_axes_and_dead_categories_come_back():
    frame = mixed_frame().rename_axis("rows").rename_axis(columns="all")
    back = JaxFrame(frame).to_pandas()
    assert (back.index.name, back.columns.name) == ("rows", "all")
    assert list(back["c"].cat.categories) == ["w", "v", "u"]
    assert back["c"].cat.ordered


def test_what_pandas_is_given_is_its_own():
    ours = on_device(mixed_frame()[["k"]])
    given = ours.to_pandas()
    given.loc[:, "k"] = -1
    assert_same(ours, mixed_frame()[["k"]])
    with pytest.raises(NotImplementedError, match="jit"):
        jax.jit(lambda f: f.to_pandas())(ours)
