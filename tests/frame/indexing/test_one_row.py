# SPDX-License-Identifier: Apache-2.0
"""iloc of one row: dtypes, labels and the number of calls of Python."""

import cProfile
import decimal
import pstats

import jax
import numpy as np
import pandas as pd
import pytest
from frame_parity import on_device
from jaxframes.shardings import make_mesh, row_sharded

COLUMNS = {
    "i": np.arange(5) - 2,
    "j": np.arange(5, dtype=np.int8),
    "u": np.arange(5, dtype=np.uint64),
    "x": [0.5, np.nan, -0.0, np.inf, 2.0],
    "y": np.arange(5, dtype=np.float32),
    "b": [True, False, True, True, False],
    "z": np.arange(5) * 1j,
    "s": ["a", "b", None, "", "a"],
    "o": pd.Series([1, "a", None, 2.5, (1, 2)], dtype=object),
    "l": [[1, 2], [], [3], None, [4, 5]],
    "d": [decimal.Decimal(n) for n in range(5)],
    "t": pd.date_range("2024-01-01", periods=5, tz="Europe/Paris"),
    "n": pd.array([1, None, 3, 4, 5], dtype="Int64"),
    "c": pd.Categorical(["a", "b", "a", "b", "a"]),
}
LABELS = {
    "range": pd.RangeIndex(3, 18, 3, name="r"),
    "numbers": pd.Index([5, 3, 3, 1, 0]),
    "strings": pd.Index(["a", "b", "c", None, "a"], name="s"),
    "times": pd.date_range("2024-01-01", periods=5, freq="D"),
    "levels": pd.MultiIndex.from_arrays([range(5), list("abcde")], names=["p", "q"]),
}


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize(
    "columns",
    ["i", "ij", "iu", "ix", "jy", "ib", "bb", "xs", "ss", "iz", "io", "ol", "xd", "xt", "tt", "xn",
     "nn", "xc", "ixbsol"],
)  # fmt: skip
def test_rows_are_those_of_pandas(columns, labels):
    theirs = pd.DataFrame(
        {f"{name}{place}": COLUMNS[name] for place, name in enumerate(columns)}
    ).set_axis(LABELS[labels])
    ours = on_device(theirs)
    for position in range(-5, 5):
        pd.testing.assert_series_equal(ours.iloc[position], theirs.iloc[position])
        for name in theirs:
            found, expected = ours[name].iloc[position], theirs[name].iloc[position]
            assert type(found) is type(expected)
            assert found is expected or repr(found) == repr(expected)


def test_rows_that_moved_keep_their_labels():
    theirs = pd.DataFrame({"i": COLUMNS["i"], "s": COLUMNS["s"]})
    ours = on_device(theirs)
    for moved in (
        lambda f: f[f.i > -1], lambda f: f.iloc[::-2], lambda f: f.sort_values("i"),
        lambda f: f.groupby("i").first(), lambda f: f[["i"]],
    ):  # fmt: skip
        expected = moved(theirs).iloc[1]
        pd.testing.assert_series_equal(moved(ours).iloc[1], expected)


def test_rows_of_a_mesh_and_of_deferred_columns():
    theirs = pd.DataFrame({"i": np.arange(100_000), "x": np.arange(100_000) / 4})
    for sharding in (None, row_sharded(make_mesh(4))):
        pd.testing.assert_series_equal(on_device(theirs, sharding).iloc[-2], theirs.iloc[-2])
    ours, expected = (f[f.i % 2 == 1].assign(y=f.x * 2) for f in (on_device(theirs), theirs))
    pd.testing.assert_series_equal(ours.iloc[-3], expected.iloc[-3])


def test_a_row_takes_few_calls():
    frame = on_device(pd.DataFrame({name: COLUMNS[name] for name in "ixs"}))
    jax.block_until_ready(frame)
    for one, most in ((frame, 400), (frame.x, 120)):
        _ = one.iloc[3]
        profile = cProfile.Profile()
        profile.runcall(lambda one=one: one.iloc[3])
        assert pstats.Stats(profile).total_calls < most
