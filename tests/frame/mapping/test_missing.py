# SPDX-License-Identifier: Apache-2.0
import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device


def _filled(f):
    return (
        f.isna(),
        f.notnull(),
        f.x.isna(),
        f.ffill(),
        f.bfill(),
        f.ffill(limit=1),
        f.x.bfill(limit=2),
        f[["x", "f", "k", "b"]].fillna(0),
        f.fillna({"x": 1.5, "s": "new", "t": pd.Timestamp("2020-01-01"), "c": "w", "k": 7}),
        f.s.fillna("b"),
        f.x.fillna(f.i),
        f.f.fillna(f.f.ffill()),
        f.dropna(),
        f.dropna(how="all"),
        f.dropna(thresh=8),
        f.dropna(subset=["x", "s"], ignore_index=True),
        f.t.dropna(),
    )


def test_matches_pandas():
    assert_parity(_filled, mixed_frame())


def test_matches_pandas_on_a_mesh():
    assert_parity(
        lambda f: (f[["x", "s"]].ffill(limit=2), f.x.bfill(), f.fillna({"x": 0.0}), f.dropna()),
        mixed_frame()[["x", "s", "k"]],
        ways=["mesh"],
    )


@pytest.mark.parametrize("num_rows", [0, 1])
def test_few_rows(num_rows):
    assert_parity(_filled, mixed_frame()[:num_rows], ways=["eager"])


def test_columns_without_values():
    def drop_columns(f):
        return f.dropna(axis=1), f.dropna(axis=1, how="all"), f.dropna(axis=1, thresh=20)

    frame = mixed_frame().assign(none=np.nan)
    assert_parity(drop_columns, frame, ways=["eager"])
    assert_parity(lambda f: (f.none.ffill(), f.none.dropna()), frame, ways=["eager"])


def test_objects():
    frame = pd.DataFrame({"o": [[1], None, {"a": 1}, np.nan], "x": [1, 2, 3, 4]})
    assert_parity(lambda f: (f.isna(), f.o.dropna(), f.dropna()), frame, ways=["eager"])


def test_frames_and_series_fill():
    f = mixed_frame()
    fill = pd.Series({"x": 1.0, "f": 2.0, "q": 3.0})
    assert_parity(
        lambda f, s: (f.fillna(s), f[["x", "f"]].fillna(f[["x"]].ffill())), f, fill, ways=["eager"]
    )
    assert_parity(lambda f: f.x.fillna({3: 1.0, 5: 2.0}), f, ways=["eager"])


def test_means_fill_inside_jit():
    frame = mixed_frame()[["x", "i"]]
    assert_parity(lambda f: f.fillna({"x": f.x.mean(), "i": 0}), frame, ulps=4)
    assert_parity(lambda f: f.fillna(f.mean()), frame, ways=["eager"], ulps=4)
    with pytest.raises(NotImplementedError, match="dict"):
        jax.jit(lambda f: f.fillna(f.mean()))(on_device(frame))


def test_wrong_arguments_are_pandas_errors():
    frame = mixed_frame()
    assert_same_error(lambda f: f.ffill(limit=0), frame)
    assert_same_error(lambda f: f.ffill(limit=1.5), frame)
    assert_same_error(lambda f: f.x.fillna([1, 2]), frame)
    assert_same_error(lambda f: f.c.fillna("bogus"), frame)
    assert "bogus" in assert_same_error(lambda f: f.dropna(how="bogus"), frame)
    assert "bogus" in assert_same_error(lambda f: f.dropna(subset=["bogus"]), frame)
    assert_same_error(lambda f: f.dropna(how="any", thresh=1), frame)


def test_gradient_goes_to_the_row_that_filled():
    frame = on_device(pd.DataFrame({"x": [1.0, np.nan, np.nan, 4.0]}))

    def total(f):
        weights = jnp.array([1.0, 10.0, 100.0, 1000.0])
        return jnp.sum(f.x.ffill()._only.data[:4] * weights)

    gradient = jax.grad(total, allow_int=True)(frame)._table.columns[0].data[:4]
    np.testing.assert_array_equal(gradient, [111.0, 0.0, 0.0, 1000.0])
