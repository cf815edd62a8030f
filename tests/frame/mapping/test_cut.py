# SPDX-License-Identifier: Apache-2.0
"""cut and qcut."""

import jax
import numpy as np
import pandas as pd
import pytest
from frame_examples import finite, mixed_frame
from frame_operations import functions_for
from frame_parity import assert_parity, assert_same, assert_same_error, on_device
from jaxframes import frame
from jaxframes.frame import JaxSeries, cut, qcut


def bins_of(series, *args, **options):
    return functions_for(series).cut(series, *args, **options)


def quantile_bins_of(series, *args, **options):
    return functions_for(series).qcut(series, *args, **options)


def test_each_end_may_be_closed():
    ages = pd.Series([0, 1, 17, 18, 65, 66, 120, 121, -1], name="age")
    assert_parity(
        lambda s: tuple(
            bins_of(s, [0, 18, 65, 120], right=right, include_lowest=lowest, labels=labels)
            for right in (True, False)
            for lowest in (True, False)
            for labels in (["child", "adult", "old"], False, None)
        ),
        ages,
        ways=["eager", "jit"],
    )


def test_bins_of_equal_width_span_the_values():
    frame = mixed_frame()[["k", "i", "b"]].assign(x=finite(), f=finite("float32"))
    for name in frame:
        assert_parity(lambda s: (bins_of(s, 4), bins_of(s, 1)), frame[name], ways=["eager"])
    for values in ([5], [2.0, 2.0], [np.nan, 1.0]):
        assert_parity(lambda s: bins_of(s, 3), pd.Series(values), ways=["eager"])


def test_unsigned_and_infinite_values():
    assert_parity(
        lambda s: bins_of(s, [0, 2**62, 2**63 - 1], labels=False),
        pd.Series(np.array([1, 2**63 + 5, 2**62], np.uint64)),
        ways=["eager"],
    )
    edges = [-np.inf, -1.0, 0.5, np.inf]
    values = pd.Series([np.nan, np.inf, -np.inf, 0.5, -0.0])
    assert_parity(lambda s: bins_of(s, edges), values, ways=["eager"])


def test_labels_may_repeat_and_edges_be_dropped():
    values = pd.Series([0.5, 1.5, 2.5, 9.0])
    assert_parity(
        lambda s: (
            bins_of(s, [0, 1, 2, 3], labels=["a", "b", "a"], ordered=False),
            bins_of(s, [0, 1, 1, 3], duplicates="drop", precision=1),
            bins_of(s, [], labels=False),
        ),
        values,
        ways=["eager"],
    )


def test_edges_are_returned():
    values = pd.Series([0.5, 1.5, 2.5, 9.0])
    for ours, theirs in (
        (cut(on_device(values), 3, retbins=True), pd.cut(values, 3, retbins=True)),
        (qcut(on_device(values), 3, retbins=True), pd.qcut(values, 3, retbins=True)),
    ):
        pd.testing.assert_series_equal(ours[0].to_pandas(), theirs[0])
        np.testing.assert_array_equal(ours[1], theirs[1])


def test_quantiles():
    frame = mixed_frame()[["i"]].assign(x=finite(), f=finite("float32"))
    for name in frame:
        assert_parity(
            lambda s: (
                quantile_bins_of(s, 3, labels=["a", "b", "c"]),
                quantile_bins_of(s, [0, 0.3, 1], labels=False),
            ),
            frame[name].dropna(),
            ways=["eager"],
        )
    assert_parity(
        lambda s: quantile_bins_of(s, 2, duplicates="drop"), pd.Series([np.nan] * 3), ways=["eager"]
    )


def test_bins_group_rows():
    frame = mixed_frame()[["k", "x"]]
    edges = [-100.0, 0.0, 100.0]

    def means(f):
        return f.groupby(bins_of(f["x"], edges, labels=["low", "high"]), observed=True)["k"].sum()

    assert_parity(means, frame, ways=["eager", "jit", "mesh"])


def test_wrong_uses_are_pandas_errors():
    values = pd.Series([0.5, 1.5])
    for options in (
        {"bins": [1, 0]},
        {"bins": [0, 1, 1]},
        {"bins": 0},
        {"bins": "a"},
        {"bins": [0, 1, 2], "labels": ["a"]},
        {"bins": [0, 1, 2], "labels": ["a", "a"]},
        {"bins": [0, 1, 2], "duplicates": "bogus"},
    ):
        assert_same_error(lambda s, options=options: bins_of(s, **options), values)
    assert_same_error(lambda s: bins_of(s, 2), values[:0])
    for values_without_ends in ([np.inf, 1.0], [np.nan, np.nan]):
        assert_same_error(lambda s: bins_of(s, 3), pd.Series(values_without_ends))
    for q in (0, "a", [0.2, 2]):
        assert_same_error(lambda s, q=q: quantile_bins_of(s, q), values)
    with pytest.raises(TypeError, match="'s'"):
        cut(JaxSeries(["a"], name="s"), 2)
    for wrong in (np.zeros((2, 2)), 5.0, [[1.0], [2.0]]):
        for of_module in (lambda f, x=wrong: f.cut(x, 2), lambda f, x=wrong: f.qcut(x, 2)):
            with pytest.raises(ValueError, match="Input array must be 1 dimensional"):
                of_module(pd)
            with pytest.raises(ValueError, match="Input array must be 1 dimensional"):
                of_module(frame)


@pytest.mark.parametrize("dtype", [np.int8, np.float32, np.float64, bool])
def test_values_of_the_host(dtype):
    values = np.array([3, 1, 0, 1, 2], dtype)
    labelled = pd.Series(values, list("abcde"), name="x")
    jax_array = jax.numpy.asarray(values)
    for given in (values, values.tolist(), tuple(values.tolist()), pd.Index(values), jax_array):
        for bins in (3, [0, 1, 2]):
            made, edges = cut(given, bins, retbins=True)
            host = np.asarray(given) if given is jax_array else given
            expected, expected_edges = pd.cut(host, bins, retbins=True)
            if given is jax_array:
                assert isinstance(made, JaxSeries)
                made = made.to_pandas().array
            pd.testing.assert_extension_array_equal(made, expected)
            assert type(edges) is type(expected_edges)
            np.testing.assert_array_equal(edges, expected_edges)
        made = qcut(given, [0, 0.5, 1], labels=False, duplicates="drop")
        made = made.to_numpy() if given is jax_array else made
        np.testing.assert_array_equal(made, pd.qcut(host, [0, 0.5, 1], False, duplicates="drop"))
    assert_same(cut(labelled, 2), pd.cut(labelled, 2))
    assert_same(qcut(labelled, 2, duplicates="drop"), pd.qcut(labelled, 2, duplicates="drop"))


def test_a_list_with_a_missing_value_and_an_empty_one():
    for given in ([], [0.5, float("nan")]):
        made = cut(given, [0, 1, 2])
        pd.testing.assert_extension_array_equal(made, pd.cut(given, [0, 1, 2]), check_dtype=True)


def test_inside_jit_edges_are_given():
    series = on_device(pd.Series([1.0, 2.0]))
    for of in (lambda s: cut(s, 2), lambda s: qcut(s, 2), lambda s: cut(s, s.to_jax())):
        with pytest.raises(NotImplementedError, match="jit"):
            jax.jit(of)(series)


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_times(zone):
    times = pd.Series(pd.date_range("2024-10-26", periods=40, freq="2h", tz=zone), name="t")
    times[3] = pd.NaT
    edges = pd.DatetimeIndex(["2024-10-26 12:00", "2024-10-27 01:30", "2024-10-29"], tz=zone)
    assert_parity(
        lambda s: (
            bins_of(s, edges, right=False),
            bins_of(s, edges.as_unit("ns"), labels=["a", "b"]),
            bins_of(s, pd.IntervalIndex.from_breaks(edges, closed="left")),
        ),
        times,
    )
    assert_parity(
        lambda s: (
            bins_of(s, 3),
            bins_of(s - s.min(), 4, labels=False),
            quantile_bins_of(s, 4),
            *quantile_bins_of(s, [0, 0.5, 1], retbins=True),
        ),
        times,
        ways=["eager", "mesh"],
    )


def test_intervals_as_bins():
    values = pd.Series([1, 5, 9, None, 3.5, 0.0], name="x")
    for closed in ("left", "right", "both", "neither"):
        bins = pd.IntervalIndex.from_tuples([(5, 9), (0, 1), (2, 4)], closed=closed)
        assert_parity(lambda s, bins=bins: bins_of(s, bins), values, ways=["eager", "jit", "mesh"])
    overlapping = pd.IntervalIndex.from_tuples([(0, 5), (1, 9)])
    assert_same_error(lambda s: bins_of(s, overlapping), values)


def test_bins_of_times_must_be_times():
    times = pd.Series(pd.to_datetime(["2024-01-01", "2024-01-03"]), name="t")
    for bins in ([0, 1], ["2023", "2025"]):
        message = assert_same_error(lambda s, bins=bins: bins_of(s, bins), times)
        assert message.startswith("bins must be of datetime64 dtype. cut: column 't' holds times")
    durations = on_device(times - times[0])
    for bins in ([0, 1], pd.interval_range(0, 9)):
        with pytest.raises(NotImplementedError, match=r"int64. Convert them with pd.to_timedelta"):
            cut(durations, bins)


def test_a_bool_is_no_number_of_quantiles():
    with pytest.raises(ValueError, match=r"^`q` should be a positive integer .* got True"):
        qcut(JaxSeries([1, 2, 3]), True)


@pytest.mark.parametrize("values", [[3, 1, 2, 5], [1.5, 2, 0.25], [2, 4, None, 8]])
def test_objects_that_are_numbers(values):
    series = pd.Series(values, dtype=object)
    # pandas compares None, which fails.
    known = series if None not in values else series.astype(float)
    ours = on_device(series)
    assert_same(
        cut(ours, [0, 2, 6], labels=["a", "b"]), pd.cut(known, [0, 2, 6], labels=["a", "b"])
    )
    assert_same(qcut(ours, 2), pd.qcut(known, 2))
    with pytest.raises(TypeError, match="must be of real numbers, got object"):
        cut(on_device(pd.Series([1, "a"], dtype=object)), 2)
