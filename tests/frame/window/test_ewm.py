# SPDX-License-Identifier: Apache-2.0
"""ewm."""

import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device

# Positive, so that no mean is near zero.
FRAME = mixed_frame()[["x", "f", "k"]].abs()
WAYS = (
    {"alpha": 0.3},
    {"span": 4, "adjust": False},
    {"com": 2, "ignore_na": True},
    {"halflife": 3, "adjust": False, "ignore_na": True, "min_periods": 3},
)


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_means(how):
    assert_parity(
        lambda f: (f.ewm(**how).mean(), f.x.ewm(**how).mean()),
        FRAME,
        ways=["eager", "jit"],
        ulps=256,
    )


def test_meshes_and_few_rows():
    assert_parity(lambda f: f.ewm(alpha=0.2).mean(), FRAME, ways=["mesh"], ulps=256)
    assert_parity(
        lambda f: (
            f[:0].ewm(span=2).mean(),
            f[:1].ewm(span=2).mean(),
            f.ewm(span=2)["x"].mean(),
            (f.x / 0).ewm(span=2, min_periods=None).mean(),
        ),
        FRAME,
        ways=["eager"],
        ulps=256,
    )


def test_wrong_uses_are_pandas_errors():
    for how in ({}, {"alpha": 2}, {"com": -1}, {"span": 2, "com": 1}):
        assert_same_error(lambda f, o=how: f.ewm(**o).mean(), FRAME)
    assert_same_error(lambda f: f.ewm(span=2).mean(), mixed_frame()[["s"]])
    with pytest.raises(NotImplementedError, match="std is not supported"):
        on_device(FRAME).ewm(span=2).std()
