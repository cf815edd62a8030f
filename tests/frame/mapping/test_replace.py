# SPDX-License-Identifier: Apache-2.0
"""replace."""

import numpy as np
import pandas as pd
import pytest
from exact_numbers import KEYS, NUMBERS, as_python
from frame_examples import floats, mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error, on_device


def test_all_are_replaced_at_once():
    def swapped(f):
        return f.k.replace({1: 2, 2: 1}), f.s.replace({"a": "b", "b": "a"})

    frame = mixed_frame()[["k", "s"]]
    assert_parity(swapped, frame, ways=["jit"])
    assert_same(on_device(frame).k.replace({1: 2, 2: 1}).replace({1: 2, 2: 1}), frame["k"])


def test_lists_pair_up_or_share_one_value():
    def replaced(f):
        return (
            f.k.replace([0, 1, 2], [10, 11, 12]), f.k.replace([0, 3], 9), f.replace([1, 2], 0),
            f.s.replace(["a", "b"], "c"), f.k.replace(99, 5), f.k.replace({}),
        )  # fmt: skip

    assert_parity(replaced, mixed_frame()[["k", "s"]], ways=["eager"])


def test_missing_values_and_infinities_are_values_here():
    def replaced(s):
        return s.replace(np.nan, 0.0), s.replace([np.inf, -np.inf], np.nan), s.replace(0.0, 7.0)

    assert_parity(replaced, floats(), ways=["eager"])
    for num_rows in (0, 1):
        assert_parity(replaced, floats()[:num_rows], ways=["eager"])


def test_dicts_of_dicts_name_columns():
    frame = mixed_frame()[["k", "s", "x"]]

    def replaced(f):
        return f.replace({"k": {1: 5}, "s": {"a": "z"}}), f.replace({"k": 1, "q": 2}, 8)

    assert_parity(replaced, frame, ways=["eager"])


def test_wrong_arguments():
    frame = mixed_frame()[["k", "s"]]
    assert_same_error(lambda s: s.replace([1, 2], [3]), frame["k"])
    assert_same_error(lambda f: f.replace({"k": {1: 2}, "s": 1}), frame)
    assert_parity(lambda f: f["k"].replace(1, "a"), frame, ways=["eager"])


def test_values_of_each_kind_replaced():
    def each(f):
        return (
            f.k.replace(1, 100),
            f.k.replace([1, 2], 0),
            f.k.replace([1, 2], [2, 1]),
            f.k.replace({1: 10, 2: 20}),
            f.k.replace({1: 1.5}),
            f.x.replace(np.nan, 0.0),
            f.y.replace([np.inf, -np.inf], np.nan),
            f.s.replace({"b": "B", "a": "b"}),
            f[["k", "s"]].replace({"k": {1: 5}, "s": {"b": "x"}}),
            f[["k", "x"]].replace({"k": 1}, 7),
            f.b.replace({True: 1, False: 0}),
            f.b.replace(True, value=False),
        )

    assert_parity(each, mixed_frame())


@pytest.mark.parametrize("dtype", NUMBERS)
def test_no_number_is_rounded(dtype):
    values = NUMBERS[dtype]
    ours = on_device(pd.Series(values))
    for key in (key for key in KEYS if not isinstance(key, bool)):
        # NumPy compares a Python float in the dtype of the column.
        is_weak = values.dtype.kind == "f" and type(key) is float and key < 1e39
        exact = as_python(values.dtype.type(key) if is_weak else key)
        expected = [2 if value == exact else value for value in values.tolist()]
        for got in (ours.replace(key, 2), ours.replace([key, 0.25], 2), ours.replace({key: 2})):
            assert got.tolist() == expected, key


MISSING = [
    {None: 5}, {np.nan: 5}, {pd.NA: 5}, {pd.NaT: 5}, {1.0: 2, None: 5}, {np.nan: 0, 1.0: 2},
    {0.1: 3}, {np.float64(0.1): 3}, {np.float32(0.1): 3},
]  # fmt: skip


@pytest.mark.parametrize("pairs", MISSING, ids=map(str, MISSING))
def test_missing_keys_are_those_of_the_dtype(pairs):
    for values in ([1, 0], [1.0, np.nan, 0.1], np.array([1, np.nan, 0.1], "float32")):
        assert_parity(lambda s: s.replace(pairs), pd.Series(values), ways=["eager"])
        keys, news = list(pairs), list(pairs.values())
        assert_parity(lambda s: s.replace(keys, news), pd.Series(values), ways=["eager"])  # noqa: B023


def test_none_is_no_single_key():
    for values in ([1.0, None], ["a", None]):
        assert "fillna" in assert_same_error(lambda s: s.replace(None, 5), pd.Series(values))


def test_values_of_the_unsigned_dtype_alone_widen_a_signed_one():
    # pandas fails for these if a row is replaced.
    for dtype, value, wider in (("int8", 255, "int16"), ("int16", 40_000, "int32")):
        x = pd.Series(np.array([1, 2], dtype))
        assert_same(on_device(x).replace(1, value), x.astype(wider).replace(1, value))
        assert_same(on_device(x).where(x > 1, value), x.astype(wider).where(x > 1, value))
        assert_same(on_device(x).replace(7, value), x.replace(7, value))
        assert_same(on_device(x.head(0)).replace(1, value), x.head(0))
    far = pd.Series([1, 2])
    assert_same(on_device(far).replace(7, 2**63), far)
    assert_same(on_device(far).replace(1, 2**63), pd.Series([2**63, 2], dtype=object))


def test_values_past_64_bits_are_needed_or_not():
    for values in ([1, 2], np.array([1, 2], "uint64"), np.array([1, 2], "int8")):
        ours = on_device(pd.Series(values))
        for value in (2**64, -(2**63) - 1, 10**30):
            assert ours.replace(5, value).tolist() == [1, 2]
            replaced = ours.replace(1, value)
            assert (replaced.dtype, replaced.tolist()) == (object, [value, 2])


def test_none_beside_values_is_an_object():
    def replaced(f):
        return (
            f.i.replace(1, None),
            f.x.replace({1.5: None}),
            f.x.replace([np.nan, 2.5], [None, 3]),
            f.n.replace(pd.NA, None),
            f.s.replace({"a": None}),
            f.c.replace({"a": None}),
            f.i.replace(99, None),
        )

    frame = pd.DataFrame({"i": [1, 2, 3], "x": [1.5, 2.5, np.nan], "s": ["a", "b", None]})
    frame = frame.assign(n=frame.i.astype("Int64").mask(frame.i == 2), c=frame.s.astype("category"))
    assert_parity(replaced, frame, ways=["eager"])


@pytest.mark.parametrize("value", [pd.NA, pd.NaT], ids=str)
@pytest.mark.parametrize("dtype", ["int64", "float64", "Int64"])
def test_numbers_beside_na_are_objects(dtype, value):
    if value is pd.NaT and dtype == "Int64":
        return  # No value of the dtype.
    column = pd.Series([1, 2, 3], dtype=dtype)
    for calls in (lambda s: s.replace(1, value), lambda s: s.replace({1: value, 2: 5})):
        assert_same(calls(on_device(column)), calls(column))


def test_na_is_a_key_of_nullable_numbers():
    column = pd.Series([1, None, 2], dtype="Int64")
    assert_same(on_device(column).replace(pd.NA, 7), column.replace(pd.NA, 7))


def test_series_and_dicts_by_column():
    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0], "b": [2, 0, 1]})
    old = pd.Series({"a": 0.0, "b": 2})

    def replaced(f, old):
        return (
            f.replace(0, {"a": 0.5, "b": 1}),
            f.replace(0, f.mean()),
            f.replace(old, {"a": 0.5}),
            f.replace(old),
            f.a.replace(old.a, old.b),
        )

    assert_parity(replaced, frame, old, ways=["eager"])
    assert_same_error(lambda f: f.a.replace(0.0, {"a": 1.0}), frame)


def test_patterns_as_regex():
    frame = pd.DataFrame({"a": [1, 2, 3], "b": ["a", ".", " . "], "c": ["a", None, "."]})
    dot = r"\s*\.\s*"
    assert_parity(
        lambda f: (
            f.replace(regex=dot, value="x"), f.replace(regex={dot: "x"}),
            f.replace(regex={"b": {dot: np.nan}}), f.replace({"b": {dot: "x"}}, regex=True),
            f.replace(regex={"b": dot}, value={"b": "y"}), f.b.replace(regex=[dot, "a"], value="z"),
        ),
        frame,
        ways=["eager"],
    )  # fmt: skip
    assert_same_error(lambda f: f.replace("a", "b", regex=dot), frame)


def test_dicts_of_both_old_and_new_values():
    series = pd.Series([1, 2, 3])
    for old, new in (({1: 2}, {2: 3}), (pd.Series([1]), pd.Series([75])), ({1: 2}, 3)):
        assert_same_error(lambda s, old=old, new=new: s.replace(old, new), series)
