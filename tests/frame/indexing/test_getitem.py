# SPDX-License-Identifier: Apache-2.0
"""`frame[...]` and `series[...]`: a label, labels, a mask or a slice."""

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import EVERYWHERE, assert_parity, assert_same, assert_same_error, on_device

FRAME = mixed_frame()[["k", "x", "s"]]
STRINGS = pd.Index([f"r{place:02}" for place in range(37)], name="row")
DAYS = pd.date_range("2020-01-01", periods=37, name="day")


def test_columns_by_label():
    def picked(f):
        return (
            f["x"], f[["s", "k"]], f[[]], f[["x", "x"]], f[pd.Index(["s"])], f[np.array(["k"])],
            f[pd.Series(["s", "x"])], f[lambda g: g.columns[0]],
        )  # fmt: skip

    assert_parity(picked, FRAME)
    for num_rows in (0, 1):
        assert_parity(picked, FRAME[:num_rows], ways=["eager"])
    twice = FRAME.set_axis(["a", "b", "a"], axis=1)
    assert_parity(lambda f: (f["a"], f[["b", "a"]]), twice, ways=["eager"])


def test_rows_by_mask():
    def picked(f):
        return f[f.k > 1], f[(f.k > 1) & f.x.notna()], f.x[f.k > 1], f[lambda g: g.s == "b"]

    assert_parity(picked, FRAME, ways=EVERYWHERE)
    assert_parity(picked, FRAME[:0], ways=["eager"])
    flags = [True, False, True] * 12 + [False]
    assert_parity(
        lambda f: (f[flags], f[np.array(flags)], f[pd.Series(flags)], f.s[flags]),
        FRAME,
        ways=["eager"],
    )


@pytest.mark.filterwarnings("ignore:Boolean Series key will be reindexed")
def test_a_mask_is_brought_to_the_labels_of_the_rows():
    assert_parity(lambda f: (f[(f.k > 1)[::-1]], f.x[(f.k > 1)[::-1]]), FRAME, ways=["eager"])
    message = assert_same_error(lambda f: f[f.k[:5] > 0], FRAME)
    assert "Unalignable" in message
    assert_same_error(lambda f: f.x[f.k[5:] > 0], FRAME)


def test_values_by_a_frame_of_flags():
    numbers = FRAME[["k", "x"]]
    assert_parity(lambda f: f[f > 1], numbers, ways=["eager"])


def test_rows_between_places():
    def picked(f):
        return f[2:5], f[::3], f[:0], f[30:99], f.x[3:], f.s[1:9:2]

    assert_parity(picked, FRAME)
    assert_parity(lambda f: (f[-3:], f[::-1], f.x[:-30], f.x[::-5]), FRAME, ways=["eager"])
    # Slices are positional, whatever the labels.
    for labels in (STRINGS, DAYS, np.arange(37)[::-1] * 2, np.arange(37) / 2):
        assert_parity(lambda f: (f[1:3], f.x[1:3]), FRAME.set_axis(labels), ways=["eager"])


@pytest.mark.parametrize(
    ("labels", "start", "stop"),
    [
        (STRINGS, "r03", "r07"),
        (STRINGS, "r03x", None),
        (DAYS, "2020-01-03", "2020-01-05"),
        (DAYS, None, pd.Timestamp("2020-01-07 12:00")),
        (np.arange(37) / 2, 0.5, 2.25),
    ],
)
def test_rows_between_labels_the_last_included(labels, start, stop):
    frame = FRAME.set_axis(labels)
    assert_parity(lambda f: (f[start:stop], f.x[start:stop]), frame, ways=["eager"])
    assert_parity(lambda f: f[start:stop], frame[:0], ways=["eager"])
    assert_parity(lambda f: f[start:stop:2], frame, ways=["eager"])


def test_one_value_and_some_by_label():
    assert_parity(lambda f: (f.k[4], f.s[[1, 5]], f.x[[]]), FRAME, ways=["eager"])
    named = FRAME.set_axis(STRINGS)
    assert_parity(lambda f: (f.k["r04"], f.x[["r09", "r01"]]), named, ways=["eager"])


@pytest.mark.parametrize(
    "wrong",
    [
        lambda f: f["no"],
        lambda f: f[["k", "no"]],
        lambda f: f[0],
        lambda f: f[None],
        lambda f: f["k", "x"],
        lambda f: f[{"k"}],
        lambda f: f[{"k": 1}],
        lambda f: f[f.x],
        lambda f: f[(f.k > 1).shift()],
        lambda f: f[[True, False]],
        lambda f: f.x[[True, False]],
        lambda f: f.x[99],
        lambda f: f.x[-1],
        lambda f: f.x["no"],
        lambda f: f["a":"b"],
        lambda f: f.x[1.0:3.0],
    ],
)
def test_wrong_keys_are_pandas_errors(wrong):
    assert_same_error(wrong, FRAME)


def test_labels_have_no_values_inside_jit():
    ours = on_device(FRAME.set_axis(STRINGS))
    with pytest.raises(NotImplementedError, match="inside jit"):
        jax.jit(lambda f: f["r03":"r07"])(ours)


def test_slices_by_integers_of_jax():
    frame = mixed_frame()[["k"]]
    assert_same(on_device(frame)[jnp.int32(1) : jnp.int32(3)], frame[1:3])


def test_labels_of_fewer_levels():
    labels = [("a", "", ""), ("b", "c", ""), ("b", "d", "x"), ("b", "d", "y"), ("e", "f", "g")]
    levels = pd.MultiIndex.from_tuples([*labels, ("h", "", "i")], names=["p", "q", "r"])
    frame = pd.DataFrame([range(6)], columns=levels)
    for key in ("a", "b", "e", "h", ("a", ""), ("b", "c"), ("b", "d"), ("e", "f"), ("h", "")):
        assert_parity(lambda f, key=key: f[key], frame, ways=["eager"])
    twice = pd.DataFrame([range(3)], columns=[["a", "a", "b"], ["x", "x", ""]])
    for key in ("a", ("a", "x"), "b"):
        assert_parity(lambda f, key=key: f[key], twice, ways=["eager"])


@pytest.mark.parametrize("dtype", ["boolean", "bool[pyarrow]"])
def test_masks_of_a_nullable_dtype(dtype):
    frame = pd.DataFrame({"v": [1, 2, 3]}, index=pd.Index([3, None, 4], dtype="Int64"))
    mask = pd.array([True, None, False], dtype=dtype)
    assert_parity(
        lambda f: (f[mask], f.v[mask], f.loc[mask], f.iloc[mask], f[pd.Series(mask, f.index)]),
        frame,
        ways=["eager"],
    )
    assert_parity(lambda f: (f[f.index == 3], f[f.index.isin([4])]), frame, ways=["eager"])


def test_labels_of_rows_are_attributes_of_a_series():
    for labels in (["a", "b", "sum"], pd.Categorical(["a", "b", "c"])):
        series = pd.Series([1.5, 2.5, 4.0], index=labels)
        assert_parity(lambda s: (s.a, s.b, s.sum()), series, ways=["eager"])
        assert not hasattr(on_device(series), "z")
    with pytest.raises(AttributeError):
        _ = on_device(pd.Series([1, 2])).a
