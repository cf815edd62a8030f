# SPDX-License-Identifier: Apache-2.0
"""tolist and its alias to_list."""

import jax
import pandas as pd
import pytest
from frame_examples import complexes, mixed_frame
from frame_parity import on_device

FRAME = pd.concat([mixed_frame(), complexes()[["z", "w"]]], axis=1).assign(
    o=pd.Series([[1], None, "a"] * 12 + [2], dtype=object)
)


@pytest.mark.parametrize("label", FRAME.columns)
def test_values_are_those_of_python(label):
    for series in (FRAME[label], FRAME[label][:1], FRAME[label][:0]):
        ours, expected = on_device(series), series.tolist()
        for got in (ours.tolist(), ours.to_list()):
            assert [type(value) for value in got] == [type(value) for value in expected]
            pd.testing.assert_series_equal(pd.Series(got, dtype=object),
                                           pd.Series(expected, dtype=object))  # fmt: skip


def test_they_make_the_series_again():
    for label in ("k", "x", "s", "t"):
        again = pd.Series(on_device(FRAME[label]).tolist(), dtype=FRAME[label].dtype, name=label)
        pd.testing.assert_series_equal(again, FRAME[label])


def test_values_are_not_known_inside_jit():
    with pytest.raises(NotImplementedError, match="jit"):
        jax.jit(lambda s: s.tolist())(on_device(FRAME["k"]))
