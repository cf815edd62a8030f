# SPDX-License-Identifier: Apache-2.0
"""Row labels of two dtypes: their dtype in joins, in concat and after alignment."""

import itertools

import numpy as np
import pandas as pd
import pytest
from frame_parity import assert_parity, assert_same, on_device
from jaxframes.frame import concat

LARGE = 2**63 + 2**11
SIGNED = [[1, 2], [-1, 2], [2, 1], [2, 2, 1], [2, 3], [1, 2, 3], []]
UNSIGNED = [[2, 3], [2, LARGE], [3, 2], [2**60 + 1], []]


def frame_of(label, values, dtype):
    index = pd.Index(np.array(values, dtype), name="k")
    return pd.DataFrame({label: np.arange(len(values))}, index=index)


def pairs_of_two_signs(dtype="int64"):
    for signed, unsigned in itertools.product(SIGNED, UNSIGNED):
        if not signed and not unsigned:
            continue
        a, b = frame_of("x", signed, dtype), frame_of("y", unsigned, "uint64")
        yield a, b
        yield b.rename(columns={"y": "x"}), a.rename(columns={"x": "y"})


def test_outer_join_of_two_signs():
    for a, b in pairs_of_two_signs():
        ours = on_device(a).join(on_device(b), how="outer")
        assert_same(ours, a.join(b, how="outer"))


@pytest.mark.parametrize("how", ["inner", "left", "right"])
def test_joins_of_two_signs(how):
    for a, b in pairs_of_two_signs("int32"):
        assert_same(on_device(a).join(on_device(b), how=how), a.join(b, how=how))


@pytest.mark.parametrize("how", ["inner", "outer", "left", "right"])
def test_joins_of_labels_of_two_number_dtypes(how):
    for left, right in itertools.permutations(["int8", "int64", "float32", "float64"], 2):
        for values in ([1, 2, 3], [2, 2, 7], [7, 8]):
            a, b = frame_of("x", [3, 1, 2], left), frame_of("y", values, right)
            assert_same(on_device(a).join(on_device(b), how=how), a.join(b, how=how))


@pytest.mark.parametrize("how", ["inner", "outer", "left", "right"])
def test_columns_and_labels_of_two_number_dtypes(how):
    for left, right in itertools.permutations(["int8", "int64", "float64"], 2):
        for values in ([1, 2, 3], [2, 2, 7], [7, 8]):
            a, b = frame_of("x", [3, 1, 2], left), frame_of("y", values, right).reset_index()
            assert_parity(
                lambda a, b: a.merge(b, left_index=True, right_on="k", how=how), a, b,
                ways=["eager"],
            )  # fmt: skip


def test_alignment_of_two_signs():
    for a, b in pairs_of_two_signs():
        assert_same(on_device(a).x + on_device(b).y, a.x + b.y)


def test_equal_labels_of_two_dtypes_are_those_of_the_left():
    a = pd.Series([1.5, 2.5], index=np.array([2, 1]))
    others = [a.set_axis(a.index.astype(dtype)) for dtype in ("uint64", "float32", "int8", object)]
    for b in others:
        assert_parity(lambda a, b: (a + b, b + a), a, b, ways=["eager", "mesh"])


LABELS = {
    "range": pd.RangeIndex(3),
    "int64": pd.Index([1, 2]),
    "uint64": pd.Index(np.array([2, 3], "uint64")),
    "float64": pd.Index([1.0, 2.5]),
    "str": pd.Index(["a", "b"]),
    "integers": pd.Index([2, 3], dtype=object),
    "floats": pd.Index([2.0, 3.5], dtype=object),
    "strings": pd.Index(["a", "c"], dtype=object),
    "mixed": pd.Index([1, "a"], dtype=object),
    "category": pd.CategoricalIndex([2, 1]),
    "other category": pd.CategoricalIndex([3, 2]),
    "category of strings": pd.CategoricalIndex(["b", "a"]),
    "times": pd.to_datetime(["2020-01-01", "2021-01-01"]),
    "none": pd.RangeIndex(0),
    "no objects": pd.Index([], dtype=object),
    "no integers": pd.Index([], dtype="int64"),
}


@pytest.mark.parametrize("left", LABELS)
def test_concat_of_two_dtypes(left):
    for right in LABELS:
        a, b = (
            pd.DataFrame({label: np.arange(len(LABELS[key])) + 0.5}, index=LABELS[key])
            for label, key in (("x", left), ("y", right))
        )
        ours = [on_device(a), on_device(b)]
        if len(a) or len(b):
            assert_same(concat(ours, axis=1), pd.concat([a, b], axis=1))
        if len(a) and len(b):
            both = pd.concat([a, b], axis=1, join="inner")
            assert_same(concat(ours, axis=1, join="inner"), both)
        b = b.rename(columns={"y": "x"})
        assert_same(concat([ours[0], on_device(b)]), pd.concat([a, b]))


@pytest.mark.parametrize("left", LABELS)
def test_inner_joins_without_a_common_label(left):
    others = {
        "strings": pd.Index(["p", "q"], name="r"),
        "nullable strings": pd.Index(["p", "q"], dtype="string"),
        "categories": pd.CategoricalIndex(["u", "v"]),
        "categories of integers": pd.CategoricalIndex([70, 80]),
        "nullable integers": pd.Index([31, 32], dtype="Int64"),
        "integers": pd.Index([70, 80], name="r"),
        "hours": pd.date_range("2022", periods=2, freq="h"),
        "zoned": pd.date_range("2022", periods=2, tz="UTC"),
        "durations": pd.to_timedelta([1, 2], unit="s"),
        "periods": pd.period_range("2020-01", periods=2, freq="M"),
    }
    if not len(LABELS[left]):
        return
    a = pd.DataFrame({"x": np.arange(len(LABELS[left]))}, index=LABELS[left])
    for name, labels in others.items():
        if left == "uint64" and "integers" in name:
            continue
        if left == "times" and name == "zoned":
            # pandas refuses times with and without a zone.
            continue
        b = pd.DataFrame({"y": [1, 2]}, index=labels)
        assert_parity(
            lambda a, b: (a.join(b, how="inner"), b.join(a, how="inner")), a, b, ways=["eager"]
        )


def test_inner_joins_of_two_frequencies():
    a = pd.DataFrame({"x": range(3)}, index=pd.date_range("2020", periods=3))
    for freq in ("D", "12h", "2D"):
        b = pd.DataFrame({"y": range(3)}, index=pd.date_range("2020-01-02", periods=3, freq=freq))
        assert_parity(
            lambda a, b: (a.join(b, how="inner"), b.join(a, how="inner")), a, b, ways=["eager"]
        )


def test_labels_of_rows_under_keys():
    a = pd.DataFrame({"x": [1, 2]}, index=pd.Index([1, 2], dtype=object))
    b = pd.DataFrame({"x": [3]}, index=pd.Index([5], dtype=object))
    for parts in ([a, b], [a, a]):
        ours = concat([on_device(part) for part in parts], keys=["p", "q"])
        assert_same(ours, pd.concat(parts, keys=["p", "q"]))


@pytest.mark.parametrize("values", [[1, 2], [0, 5], [1, 0], [1.0, 2.0], ["a", "b"]], ids=str)
def test_bools_beside_other_labels(values):
    a = pd.Series([1, 2], index=[True, False])
    b = pd.Series([1, 2], index=values, name="b")
    both = [on_device(a), on_device(b)]
    assert_parity(lambda a, b: (a + b, b + a), a, b, ways=["eager", "mesh"])
    assert_same(both[0].reindex(values), a.reindex(values))
    assert_same(both[1].reindex([True, False]), b.reindex([True, False]))
    for how in ("outer", "left", "right"):
        ours = both[0].to_frame("a").join(both[1], how=how)
        assert_same(ours, a.to_frame("a").join(b, how=how))
    assert_same(concat(both), pd.concat([a, b]))
    if values in ([1, 2], [0, 5], [1.0, 2.0]):
        with pytest.raises(NotImplementedError, match="labels must not be bools in one part"):
            concat(both, axis=1)
    else:
        assert_same(concat(both, axis=1), pd.concat([a, b], axis=1))


def test_nullable_labels_of_which_one_side_misses_some():
    whole = pd.Series([1, 2], index=pd.array([1, 2], dtype="Int64"), name="a")
    missing = pd.Series([3, 4], index=pd.array([1, None], dtype="Int64"), name="b")
    assert_same(on_device(whole) + on_device(missing), whole + missing)
    made = concat([on_device(whole), on_device(missing)], axis=1)
    assert_same(made, pd.concat([whole, missing], axis=1))
