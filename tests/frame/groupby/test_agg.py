# SPDX-License-Identifier: Apache-2.0
"""groupby.agg, aggregate, transform and functions of segments."""

import functools

import jax
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error
from jaxframes import primitives
from jaxframes.frame import JaxFrame, segment_function


def test_arguments_are_passed_on_to_the_named_method():
    def reduced(f):
        grouped = f.groupby("k")
        return (
            grouped.agg("max", numeric_only=True),
            grouped.x.agg("min", min_count=7),
            grouped.x.aggregate("first", skipna=False),
        )

    assert_parity(reduced, mixed_frame()[["k", "x", "s"]], ways=["jit"])


def test_a_list_of_one_has_a_level_of_labels_more_than_its_name():
    def reduced(f):
        grouped = f.groupby("k")
        return grouped.agg(["max"]), grouped.x.agg(["max"]), grouped.agg({"x": ["max"]})

    frame = mixed_frame()[["k", "x"]]
    for num_rows in (37, 1, 0):
        assert_parity(reduced, frame[:num_rows], ways=["eager"])


def test_named_results_stand_in_the_order_of_their_names():
    found = JaxFrame(mixed_frame()[["k", "i"]]).groupby("k").agg(z=("i", "max"), a=("i", "min"))
    assert list(found.columns) == ["z", "a"]
    assert (found.z >= found.a).all()


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()[["k", "x"]]
    assert_same_error(lambda f: f.groupby("k").agg(a="x"), frame)
    with pytest.raises(NotImplementedError, match="takes no arguments"):
        JaxFrame(frame).groupby("k").agg(["std"], ddof=0)


ULPS = 256

COLUMNS = ["k", "s", "i", "x", "b"]


def test_aggregations_without_an_index():
    def aggregated(f):
        grouped = f.groupby("s", as_index=False)
        return (
            grouped[["i", "x"]].agg(["min", "max"]),
            grouped.agg({"x": "mean", "i": "max"}),
            grouped.agg(total=("x", "sum")),
            grouped.x.agg(["sum", "size"]),
            grouped.agg("size"),
        )

    assert_parity(aggregated, mixed_frame()[COLUMNS], ways=["eager"], ulps=ULPS)


def test_aggregations():
    def aggregated(f):
        grouped = f.groupby("k")
        numbers = grouped[["i", "x", "b"]]
        return (
            numbers.agg("sum"),
            numbers.agg(["min", "max"]),
            grouped.agg({"x": "mean", "i": "max"}),
            grouped.agg({"x": ["mean", "std"], "i": "max"}),
            grouped.agg(total=("x", "sum"), most=("i", "max"), where=("x", "idxmin")),
            grouped.agg(total=pd.NamedAgg("x", "sum")),
            grouped.x.agg(["sum", "size", "idxmax"]),
            grouped.x.agg(np.sum),
            numbers.agg([np.mean, np.std, len]),
            grouped.x.agg(a="sum", b="max"),
            grouped.x.agg([("a", "sum"), ("b", "max")]),
            grouped.agg("size"),
            grouped.agg({"i": "size"}),
            numbers.agg(["median", "nunique", "first"]),
        )

    assert_parity(aggregated, mixed_frame()[COLUMNS], ways=["eager"], ulps=ULPS)


def test_transformations():
    names = ("sum", "mean", "max", "first", "size", "any")

    def transformed(f):
        return (
            *(f.groupby("k")[["i", "x"]].transform(name) for name in names),
            *(f.groupby("s")[["i", "x", "b"]].transform(name) for name in ("sum", "first", "any")),
            f.groupby("k").x.transform("cumsum"),
            f.groupby("k").x.transform("rank", method="min"),
            f.groupby("k").x.transform(np.mean),
            f.groupby("k").x.transform("std", ddof=0),
        )

    assert_parity(transformed, mixed_frame()[COLUMNS], ways=["eager"], ulps=ULPS)
    assert_parity(
        lambda f: (
            f.groupby("k")[["s", "t", "d"]].transform("first"),
            f.groupby("s")[["c", "t", "d"]].transform("last"),
        ),
        mixed_frame(),
        ways=["eager"],
    )


def test_inside_jit():
    assert_parity(
        lambda f: (
            f.groupby("s").x.agg(["sum", "max"]),
            f.groupby("s").agg(total=("x", "sum"), most=("i", "max")),
        ),
        mixed_frame()[COLUMNS],
        ways=["jit"],
        ulps=ULPS,
    )


def test_functions_of_segments():
    @segment_function
    def span(values, segment_ids, num_segments):
        most = primitives.segment_max(values, segment_ids, num_segments)
        return most - primitives.segment_min(values, segment_ids, num_segments)

    frame = mixed_frame()[["k", "i", "x"]].fillna({"x": 0.5})
    ours, grouped = JaxFrame(frame), frame.groupby("k")
    expected = grouped.max() - grouped.min()
    pd.testing.assert_frame_equal(ours.groupby("k").agg(span).to_pandas(), expected)
    named = jax.jit(lambda f: f.groupby("k").agg(span=("i", span), total=("i", "sum")))(ours)
    assert named.to_pandas()["span"].tolist() == expected["i"].tolist()
    spread = ours.groupby("k").i.transform(span).to_pandas()
    assert spread.tolist() == (grouped.i.transform("max") - grouped.i.transform("min")).tolist()


def test_wrong_arguments_are_pandas_errors():
    frame = mixed_frame()[COLUMNS]
    assert "bogus" in assert_same_error(lambda f: f.groupby("k").agg("bogus"), frame)
    assert "bogus" in assert_same_error(lambda f: f.groupby("k").x.agg(["sum", "bogus"]), frame)
    assert "bogus" in assert_same_error(lambda f: f.groupby("k").agg({"bogus": "sum"}), frame)
    assert "bogus" in assert_same_error(lambda f: f.groupby("k").agg(t=("bogus", "sum")), frame)
    assert "bogus" in assert_same_error(lambda f: f.groupby("k").transform("bogus"), frame)
    assert_same_error(lambda f: f.groupby("k").agg(), frame)
    assert_same_error(lambda f: f.groupby("k").x.agg({"a": "sum"}), frame)
    assert_same_error(lambda f: f.groupby("k").agg({"x": {"a": "sum"}}), frame)
    assert_same_error(lambda f: f.groupby("k").agg(["sum", "sum"]), frame)
    ours = JaxFrame(frame).groupby("k").x
    last = lambda x: x.iloc[-1]  # noqa: E731
    for wrong in (lambda: ours.agg(last, engine="jax"), lambda: ours.apply(len, engine="jax")):
        with pytest.raises(NotImplementedError, match="segment_function"):
            wrong()


def test_functions_see_the_name_of_the_column_and_partials_have_that_of_theirs():
    frame = pd.DataFrame({"k": [1, 1, 2], "x": [1.0, 2.0, 4.0], "y": [3.0, 5.0, 9.0]})
    assert_parity(lambda f: f.groupby("k").agg(lambda g: g.name), frame, ways=["eager"])
    low, high = (functools.partial(np.percentile, q=q) for q in (10, 90))
    assert_parity(lambda f: f.groupby("k").agg({"x": [low, high]}), frame, ways=["eager"])


@pytest.mark.parametrize("labels", [object, "string", "category"])
def test_labels_keep_the_dtype_of_those_of_the_frame(labels):
    columns = pd.Index(["k", "y", "x"], dtype=labels, name="n")
    rows = np.array([[1, 5.0, 2.0], [1, 3.0, 8.0], [2, 4.0, 7.0]])
    frame = pd.DataFrame(rows, columns=columns)

    def reduced(f):
        groups, with_keys = f.groupby("k"), f.groupby("k", as_index=False)
        return (
            groups.agg(["sum", "max"]), groups.ohlc(), groups.describe(),
            with_keys.sum(), with_keys.nunique(), with_keys.agg("mean"),
        )  # fmt: skip

    assert_parity(reduced, frame)
    if labels != "category":
        assert_parity(
            lambda f: f.groupby("k", as_index=False).value_counts(), frame, ways=["eager"]
        )


def test_levels_of_labels_are_in_the_order_of_the_functions():
    frame = pd.DataFrame({"k": [1, 1, 2], "y": [5.0, 3.0, 4.0], "x": [2.0, 8.0, 7.0]})
    for reduced in (
        lambda f: f.groupby("k").agg(["sum", "max", "min"]),
        lambda f: f.groupby("k").describe(),
        lambda f: f.groupby("k").ohlc(),
        lambda f: f.groupby("k", as_index=False).agg(["sum", "max"]),
        lambda f: f.rolling(2).agg(["sum", "max"]),
    ):
        got, expected = (reduced(f).columns.levels for f in (JaxFrame(frame), frame))
        assert list(map(list, got)) == list(map(list, expected))
    # A missing label stays None.
    unnamed = frame.set_axis(pd.Index(["k", None, "x"], dtype=object), axis=1)
    assert_parity(lambda f: f.groupby("k").agg(["sum", "max"]), unnamed)


def test_keys_of_numbered_columns_keep_a_range():
    numbered = pd.DataFrame(np.arange(6).reshape(3, 2) % 4)
    for keys, dtype in ((0, None), (0, "int8"), (1, "int8")):
        frame = numbered.set_axis(pd.Index([0, 1], dtype=dtype), axis=1) if dtype else numbered
        got, expected = (
            f.groupby(keys, as_index=False).sum().columns for f in (JaxFrame(frame), frame)
        )
        pd.testing.assert_index_equal(got, expected)
        # A range that is shown is one of a class of its own.
        assert isinstance(got, pd.RangeIndex) == isinstance(expected, pd.RangeIndex)


def test_a_key_is_no_column_of_results_that_have_its_label():
    frame = pd.DataFrame({"open": [1, 1, 2], "sum": [1, 2, 2], "x": [1.0, 2.0, 3.0]})
    for reduced in (
        lambda f: f.groupby("open", as_index=False).x.ohlc(),
        lambda f: f.groupby("sum", as_index=False).x.agg(["sum", "max"]),
    ):
        assert assert_same_error(reduced, frame).startswith("cannot insert ")
