# SPDX-License-Identifier: Apache-2.0
"""isin."""

import jax
import numpy as np
import pandas as pd
import pytest
from exact_numbers import KEYS, NUMBERS, are_listed
from frame_examples import floats, integers, mixed_frame
from frame_parity import EVERYWHERE, assert_parity, assert_same, assert_same_error, on_device
from jaxframes.primitives import CapacityError


def test_takes_anything_that_lists_values():
    numbers = pd.Series([1, 2, 3, 4])
    assert_parity(
        lambda s: (
            s.isin((1, 9)),
            s.isin({2}),
            s.isin(np.array([3.0, np.nan])),
            s.isin(pd.Index([4])),
            s.isin(range(2)),
            s[:0].isin([1]),
        ),
        numbers,
        ways=["eager"],
    )


def test_a_missing_value_is_found_if_it_is_listed():
    frame = pd.DataFrame({"x": [np.nan, 0.0, -0.0], "s": ["", None, "a"]})
    assert_parity(
        lambda f: (f.isin([np.nan]), f.isin([0.0, ""]), f.isin({"x": [0], "other": [1]})), frame
    )


def test_rows_are_listed_or_not():
    ours = on_device(mixed_frame())
    assert bool(ours.k.isin(ours.k.tolist()).all())
    low, high = ours.k.isin([0, 1]), ours.k.isin([2, 3, 4])
    assert bool((low != high).all())
    assert low.equals((ours.k == 0) | (ours.k == 1))


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()[["k", "s"]]
    assert_same_error(lambda f: f.isin("b"), frame)
    assert_same_error(lambda f: f.k.isin(None), frame)
    assert_same_error(lambda f: f.k.isin(), frame)


def test_values_of_each_kind_among_others():
    def each(f):
        return (
            f.k.isin([1, 3]),
            f.k.isin([1.0, 2.5, 1000]),
            f.k.isin(["1", "b"]),
            f.k.isin([]),
            f.y.isin([np.nan, 0.0]),
            f.f.isin([0.1]),
            f.s.isin(["b", "nowhere", ""]),
            f.s.isin([None, "b"]),
            f.c.isin(["u"]),
            f.b.isin([True]),
            f.b.isin([1]),
            f.t.isin([f_time, pd.NaT]),
            f.t.isin(["b"]),
            f[["k", "s"]].isin([1, "b"]),
            f.isin({"k": [1], "s": ["b"]}),
        )

    f_time = mixed_frame().t.dropna().iloc[0]
    assert_parity(each, mixed_frame())
    assert_parity(lambda f: (f.k.isin([1]), f.s.isin(["b"])), mixed_frame(), ways=["mesh"])
    for dtype in ("int8", "uint64", "int64"):
        # pandas rounds integers beside floats, but finds them among objects.
        listed = np.array([-1, 2.0, 2**63 - 1, 127, np.nan], object)
        assert_parity(lambda s: s.isin(listed), integers(dtype), ways=["eager"])  # noqa: B023
    assert_parity(lambda s: s.isin({1.5, np.inf}), floats("float32"), ways=["eager"])


def test_values_of_another_column():
    rng = np.random.default_rng(3)
    numbers = pd.Series(rng.integers(0, 30, 41))
    others = pd.Series(rng.integers(20, 90, 17))
    times = pd.Series(pd.to_datetime(["2020-01-01", None, "2021-05-06", "2020-01-02"]))
    reals = pd.Series([3.0, np.nan, -0.0, 29.0])
    either = [
        (lambda s, o: (s.isin(o), s.isin(o[o > 60]), s[s > 4].isin(o), o.isin(s)), numbers, others),
        (lambda s, o: s.isin(o), numbers.astype("int8"), others.astype("int32")),
        (lambda s, o: s.isin(o), numbers.astype("uint16"), others.astype("int64")),
        (lambda s, o: (s.isin(o), o.isin(s)), numbers.astype("float32"), reals),
        (lambda s, o: (s.isin(o), s.isin(o.dropna())), times, times[1:3]),
    ]
    for operation, *sides in either:
        assert_parity(operation, *sides, ways=EVERYWHERE)


def test_values_of_a_column_of_another_kind():
    numbers = pd.Series([1, 2, 2**62, -1])
    for others in (
        pd.Series([2.0, 2.0**62, 1.5]),
        pd.Series([2**64 - 1, 2], dtype="uint64"),
        pd.Series([True, False]),
        pd.Series(["1", "a"]),
        pd.Series([], dtype="int64"),
    ):
        assert_parity(lambda s, o: s.isin(o), numbers, others, ways=["eager"])
    words = pd.Series(["a", None, "b"]), pd.Series(["b", None])
    assert_parity(lambda s, o: s.isin(o), *words, ways=["eager"])


def test_rows_that_the_other_column_lost_are_reported():
    left, right = pd.DataFrame({"k": np.arange(8)}), pd.DataFrame({"k": np.arange(8) % 3})

    def found(f, o):
        return f.k.isin(f.merge(o, on="k", capacity=4).k)

    got = jax.jit(found)(on_device(left), on_device(right))
    with pytest.raises(CapacityError, match="8"):
        got.to_pandas()


def test_rows_of_the_same_labels_are_compared():
    frame = mixed_frame()[["k", "s"]]
    for run in (
        lambda f: f.isin(f[["s"]]),
        lambda f: f.isin(f.k),
        lambda f: f.isin({"k": f.k}),
        lambda f: f.isin({"k": frame.k}),
    ):
        assert_parity(run, frame, ways=["eager"])


@pytest.mark.parametrize("dtype", NUMBERS)
def test_no_number_is_rounded(dtype):
    values = NUMBERS[dtype]
    ours = on_device(pd.Series(values))
    for listed in (
        KEYS,
        [*KEYS, None, "a"],
        *([key, None] for key in KEYS),
        *([k, 0.25] for k in KEYS),
    ):
        assert ours.isin(listed).tolist() == are_listed(values, listed), listed
    for keys in NUMBERS.values():
        expected = are_listed(values, keys)
        assert ours.isin(keys).tolist() == expected
        assert ours.isin(set(keys.tolist())).tolist() == expected
        assert ours.isin(pd.array(keys)).tolist() == expected
        assert ours.isin(on_device(pd.Series(keys))).tolist() == expected


def test_no_number_of_another_column_is_rounded():
    for left, right in (("int64", "uint64"), ("uint64", "float64"), ("float32", "int64")):
        values, keys = NUMBERS[left], NUMBERS[right]
        pair = on_device(pd.Series(values)), on_device(pd.Series(keys))
        found = jax.jit(lambda s, o: s.isin(o))(*pair)
        assert found.tolist() == are_listed(values, keys)


def test_a_missing_key_rounds_no_other_key():
    def found(f):
        return (
            f.i.isin([2**53 + 1, None]),
            f.u.isin([2**64 - 1, None]),
            f[["i", "u"]].isin([2**53 + 1, 2**64 - 1, None]),
            f.isin({"i": [2**53 + 1, None], "u": [2**64 - 1, None]}),
        )

    unsigned = np.array([2**64 - 1, 5], "uint64")
    frame = pd.DataFrame({"i": [2**53, 2**53 + 1], "u": unsigned})
    assert_parity(found, frame, ways=EVERYWHERE)
    plan = on_device(frame).lazy()
    for kept, expected in (
        (plan[plan.i.isin([2**53 + 1, None])], [5]),
        (plan[plan.u.isin([2**64 - 1, None])], [2**64 - 1]),
    ):
        assert kept.collect().u.tolist() == expected
        assert kept.collect(batch_rows=1).u.tolist() == expected


MISSING = [
    [None], [np.nan], [pd.NA], [pd.NaT], [None, np.nan], [1.0, None], [1, None], [1, np.nan],
    ["a", None], ["a", np.nan], ["a", pd.NA], ["a", pd.NaT], [True, None], [2**62, None],
    [pd.Timestamp("2020-01-01"), None], [pd.Timestamp("2020-01-01"), np.nan],
    [pd.Timedelta(1), None], np.array([1, None], object), pd.array([1, None], "Int64"),
]  # fmt: skip


@pytest.mark.parametrize("listed", MISSING, ids=map(str, MISSING))
def test_missing_keys_are_those_of_the_dtype(listed):
    columns = {
        "i": [1, 0], "u": np.array([1, 0], "uint64"), "b": [True, False], "f": [1.0, np.nan],
        "g": np.array([1, np.nan], "float32"), "s": ["a", None],
        "o": pd.Series([1, None], dtype=object), "c": pd.Categorical(["a", None]),
        "t": pd.to_datetime(["2020-01-01", None]), "d": pd.to_timedelta([1, None]),
    }  # fmt: skip
    assert_parity(lambda f: f.isin(listed), pd.DataFrame(columns), ways=["eager"])


@pytest.mark.parametrize("dtype", ["int64", "float64", "Int64", "boolean", "str"])
def test_categories_and_bools_with_na_are_listed_by_their_values(dtype):
    of_rows = {"boolean": [True, None], "str": ["a", "b"], "Int64": [1, None]}.get(dtype, [1, 2])
    rows = pd.Series(of_rows, dtype=dtype)
    lists = [
        pd.Series(pd.Categorical([of_rows[0], None])),
        pd.Series([True, None], dtype="boolean"),
        pd.Series([1, None], dtype="Int64"),
        pd.Series([1, pd.NA], dtype=object),
    ]
    for listed in lists:
        expected = rows.isin(listed)
        assert_same(on_device(rows).isin(on_device(listed)), expected)
        assert_same(on_device(rows).isin(listed), expected)


def test_values_that_are_read_once():
    frame = pd.DataFrame({"x": [1.5, 2.5, 3.0], "b": [True, False, True], "s": ["a", "b", "c"]})
    for label, values in (("x", [1.5, 3.0]), ("b", [True]), ("s", ["a", "c"])):
        assert_parity(lambda f, c=label, v=values: f[c].isin(iter(v)), frame, ways=["eager"])


@pytest.mark.parametrize("dtype", ["datetime64[s]", "datetime64[ns, UTC]", "timedelta64[us]"])
@pytest.mark.parametrize("listed", [[None, pd.NaT], [pd.NaT, np.nan], [pd.NA, pd.NaT], [None]])
def test_missing_values_of_a_list_beside_times(dtype, listed):
    times = pd.Series([1, None]).astype(dtype)
    for given in (listed, tuple(listed), np.array(listed, object)):
        assert_same(on_device(times).isin(given), times.isin(given))
