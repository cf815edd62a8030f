# SPDX-License-Identifier: Apache-2.0
"""items and keys."""

from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same, on_device

FRAME = mixed_frame()[["s", "k", "x"]]


def test_pairs_are_the_keys_with_their_columns():
    ours = on_device(FRAME)
    assert_same(ours.keys(), FRAME.keys())
    for (label, column), key in zip(ours.items(), ours.keys(), strict=True):
        assert label == key == column.name
        assert_same(column, FRAME[label])


def test_a_label_that_stands_twice_comes_twice():
    twice = FRAME[["k", "x"]].set_axis(["a", "a"], axis=1)
    assert [label for label, _ in on_device(twice).items()] == ["a", "a"]
    assert_parity(lambda f: tuple(column for _, column in f.items()), twice, ways=["eager"])


def test_columns_inside_jit_and_of_no_rows():
    assert_parity(lambda f: tuple(s.isna() for _, s in f.items()), FRAME, ways=["jit"])
    assert_parity(lambda f: dict(f.items())["k"], FRAME[:0], ways=["eager"])
    assert list(on_device(FRAME[[]]).items()) == []


def test_rows_of_a_series():
    series = FRAME.set_index("s")["x"]
    ours = on_device(series)
    assert_same(ours.keys(), series.keys())
    assert_same(ours.axes[0], series.axes[0])
    for (label, value), (expected_label, expected) in zip(
        ours.items(), series.items(), strict=True
    ):
        assert_same(label, expected_label)
        assert_same(value, expected)
