# SPDX-License-Identifier: Apache-2.0
import jax
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from frame_examples import integers, mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error, on_device
from jaxframes.frame import JaxFrame, JaxSeries, from_arrow


@pytest.mark.parametrize("label", ["k", "y", "b", "s", "c", "t"])
def test_values_of_each_kind(label):
    def counts(s):
        return (s.value_counts(), s.value_counts(dropna=False, ascending=True))

    assert_parity(counts, mixed_frame()[label], ways=["eager"])


def test_shares_and_order_of_coming():
    def counts(s):
        return s.value_counts(normalize=True), s.value_counts(sort=False)

    assert_parity(counts, mixed_frame()["s"])
    assert_parity(counts, mixed_frame()["c"])
    assert_parity(lambda s: s.value_counts(), mixed_frame()["x"].round(0), ways=["mesh"])


def test_rows_of_frames():
    frame = mixed_frame()[["k", "s"]]

    def counts(f):
        return f.value_counts(), f.value_counts("s", dropna=False), f.value_counts(sort=False)

    assert_parity(counts, frame, ways=["eager"])
    assert_parity(lambda f: f.value_counts("k", normalize=True), frame, ways=["eager"])


def test_columns_of_unstacked_counts_are_in_the_order_of_the_rows():
    frame = pd.DataFrame({"k": list("baabcb"), "j": [3, 1, 2, 3, 1, 3]})
    assert_parity(
        lambda f: (
            f.value_counts().unstack(fill_value=0),
            f.value_counts(["j", "k"], sort=False).unstack("j"),
            f.value_counts(["k", "j"], normalize=True).sort_index().unstack(),
        ),
        frame,
        ways=["eager", "mesh"],
    )


@pytest.mark.parametrize("num_rows", [0, 1])
def test_few_rows(num_rows):
    frame = mixed_frame()[["k", "s", "c"]][:num_rows]
    assert_parity(lambda f: (f.k.value_counts(), f.s.value_counts()), frame, ways=["eager"])
    assert_parity(lambda f: f.c.value_counts(), frame, ways=["eager"])


@pytest.mark.parametrize(
    "options", [{"bins": 3}, {"bins": [0, 2, 9], "sort": False}, {"bins": 2, "normalize": True}]
)
def test_bins(options):
    """The labels are categories that are intervals, and not intervals."""
    values = pd.Series([1, 2, 2, 7, 9], name="v")
    with pytest.warns(pd.errors.PerformanceWarning, match="bins="):
        counts = JaxSeries(values).value_counts(**options).to_pandas()
    expected = values.value_counts(**options)
    assert counts.index.tolist() == expected.index.tolist()
    assert_same(counts.reset_index(drop=True), expected.reset_index(drop=True))


def test_wrong_arguments():
    frame = mixed_frame()
    assert_same_error(lambda f: f.value_counts("bogus"), frame)
    with pytest.raises(NotImplementedError, match="bins"):
        jax.jit(lambda s: s.value_counts(bins=3))(JaxSeries([1]))
    with pytest.raises(NotImplementedError, match="'c'"):
        JaxFrame(frame[["c", "k"]]).value_counts()
    frame = mixed_frame()[["k", "b"]]
    assert_same_error(lambda f: f.value_counts(["k", "no"]), frame)
    assert_same_error(lambda s: s.value_counts(bogus=1), frame["k"])


def test_counts_add_up_to_the_rows_and_shares_to_one():
    series = mixed_frame()["s"]
    ours = on_device(series)
    assert ours.value_counts(dropna=False).to_pandas().sum() == 37
    assert ours.value_counts().to_pandas().sum() == series.notna().sum()
    assert abs(ours.value_counts(normalize=True).to_pandas().sum() - 1) < 1e-12


def test_values_of_one_count_stand_in_the_order_of_coming():
    series = pd.Series([3, 1, 2, 1, 3, 9], name="n")
    assert on_device(series).value_counts().to_pandas().index.tolist() == [3, 1, 2, 9]
    assert_parity(lambda s: (s.value_counts(ascending=True), s.value_counts(sort=False)), series,
                  ways=["eager"])  # fmt: skip


def test_extremes_of_integers_and_shares_of_the_missing():
    assert_parity(lambda s: s.value_counts(), integers("uint64"), ways=["jit"])
    assert_parity(lambda s: s.value_counts(normalize=True, dropna=False), mixed_frame()["c"],
                  ways=["eager"])  # fmt: skip


def test_of_frames_rows_are_counted():
    frame = mixed_frame()[["k", "b"]]
    assert_parity(lambda f: f.value_counts(normalize=True, ascending=True), frame, ways=["eager"])
    assert_parity(lambda f: f.value_counts(["b", "k"]), frame[:1], ways=["eager"])


def test_bools_with_missing_values_are_objects_in_batches_too():
    table = pa.table({"b": [None, True, False, True], "k": [1, 1, 2, 1]})
    for count in (
        lambda f: f["b"].value_counts(),
        lambda f: f["b"].value_counts(normalize=True),
        lambda f: f[["b", "k"]].value_counts(),
        lambda f: f[f["k"] > 5]["b"].value_counts(),
    ):
        expected = count(table.to_pandas())
        assert_same(count(from_arrow(table)), expected)
        for batch_rows in (1, 3):
            plan = count(from_arrow(table).lazy())
            assert_same(plan.collect(batch_rows=batch_rows), expected)


@pytest.mark.parametrize("dtype", ["Int8", "boolean", "string"])
def test_the_missing_value_of_a_mask_follows_equal_counts(dtype):
    values = ["b", None, "a", "b"] if dtype == "string" else [1, None, 0, 1]

    def counts(s):
        return tuple(
            s.value_counts(dropna=False, **how)
            for how in ({}, {"sort": False}, {"ascending": True, "normalize": True})
        )

    rows = pd.Series(values, dtype=dtype, name="x")
    expected = counts(rows)
    assert_same(counts(on_device(rows)), expected)
    assert_same(jax.jit(counts)(on_device(rows)), expected)
    plans = counts(on_device(rows.to_frame()).lazy()["x"])
    for plan, one in zip(plans, expected, strict=True):
        assert_same(plan.collect(batch_rows=2), one)


@pytest.mark.parametrize(
    "values", [[None] * 3, [None, "a", None], [pd.NaT, None, np.nan], [None, "b", "a"]], ids=str
)
def test_missing_objects_of_frames_are_one_label(values):
    frame = pd.DataFrame({"o": pd.Series(values, dtype=object), "x": [1, 2, 1]})

    def counts(f):
        return f.value_counts(dropna=False), f[["x", "o"]].value_counts(dropna=False, sort=False)

    assert_parity(counts, frame, ways=["eager"])
    # pandas has an index of several levels of one column, too.
    plan = on_device(frame).lazy()[["o"]].value_counts(dropna=False)
    assert_same(
        plan.collect(batch_rows=2), on_device(frame[["o"]]).value_counts(dropna=False).to_pandas()
    )
