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
