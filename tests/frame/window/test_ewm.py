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


# Values that come and go, and one that stays.
GAPS = mixed_frame()[["x", "f", "k"]].assign(
    y=lambda f: f.x.where(f.k != f.k.iloc[0]) + 1000, inf=lambda f: f.x / (f.k > f.k.min())
)


@pytest.mark.parametrize("how", WAYS, ids=str)
@pytest.mark.parametrize("bias", [False, True])
def test_variances(how, bias):
    assert_parity(
        lambda f: (f.ewm(**how).var(bias=bias), f.x.ewm(**how).std(bias)),
        GAPS,
        ways=["eager", "jit"],
        ulps=1 << 22,
    )


@pytest.mark.parametrize("how", [how for how in WAYS if how.get("adjust", True)], ids=str)
def test_sums(how):
    assert_parity(
        lambda f: (f.ewm(**how).sum(), f.x.ewm(**how).sum()),
        GAPS.abs(),
        ways=["eager", "jit"],
        ulps=256,
    )


def test_methods_by_name():
    assert_parity(lambda f: f.ewm(span=3).agg("mean"), FRAME, ways=["eager"], ulps=256)
    with pytest.raises(NotImplementedError, match="name of a method"):
        on_device(FRAME).ewm(span=3).agg(["mean", "std"])


def test_a_sum_without_adjustment_is_pandas_error():
    assert_same_error(lambda f: f.ewm(span=2, adjust=False).sum(), FRAME)


def test_meshes_and_few_rows():
    assert_parity(
        lambda f: (f.ewm(alpha=0.2).mean(), f.ewm(alpha=0.2, adjust=False).var()),
        FRAME,
        ways=["mesh"],
        ulps=1 << 22,
    )
    assert_parity(
        lambda f: (
            f[:0].ewm(span=2).mean(),
            f[:1].ewm(span=2).mean(),
            f[:0].ewm(span=2).var(),
            f[:1].ewm(span=2).std(),
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
    with pytest.raises(NotImplementedError, match="online is not supported"):
        on_device(FRAME).ewm(span=2).online()
