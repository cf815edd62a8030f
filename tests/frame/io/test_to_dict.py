# SPDX-License-Identifier: Apache-2.0
"""to_dict."""

import jax
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_same_error, on_device

FRAME = mixed_frame()[["k", "s", "b", "t"]]


@pytest.mark.parametrize("orient", ["dict", "list", "records", "index", "split", "tight"])
def test_every_orient(orient):
    for frame in (FRAME[:4], FRAME[:1], FRAME[:0]):
        assert str(on_device(frame).to_dict(orient)) == str(frame.to_dict(orient))


def test_of_a_series_labels_are_the_keys():
    series = mixed_frame().set_index("i").x.dropna()
    assert on_device(series).to_dict() == series.to_dict()
    assert on_device(series[:0]).to_dict() == {}
    nested = mixed_frame().set_index(["k", "b"]).i[:3]
    assert on_device(nested).to_dict() == nested.to_dict()


def test_values_are_those_of_python():
    values = on_device(FRAME[:2]).to_dict("list")
    assert [type(values[label][0]) for label in ("k", "s", "b")] == [int, str, bool]


def test_wrong_uses():
    assert_same_error(lambda f: f.to_dict("bogus"), FRAME)
    with pytest.raises(NotImplementedError, match="jit"):
        jax.jit(lambda f: f.to_dict())(on_device(FRAME))
