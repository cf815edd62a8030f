# SPDX-License-Identifier: Apache-2.0
"""sample."""

import jax
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error, on_device
from jaxframes.frame import JaxSeries
from jaxframes.shardings import make_mesh, row_sharded

WAYS = (
    {"n": 5},
    {"frac": 0.3},
    {"n": 50, "replace": True},
    {"n": 4, "weights": "k"},
    {"n": 60, "replace": True, "weights": "k"},
)


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_equal_seeds_draw_equal_rows_of_the_frame_everywhere(how):
    frame = mixed_frame()[["k", "x", "s"]]
    drawn = on_device(frame).sample(random_state=3, **how).to_pandas()
    assert len(drawn) == how.get("n", 11)
    assert_same(drawn, frame.loc[drawn.index])
    assert drawn.index.is_unique or "replace" in how
    assert "weights" not in how or (drawn.k > 0).all()
    inside = jax.jit(lambda f: f.sample(random_state=3, **how))(on_device(frame))
    assert_same(inside, drawn)
    assert_same(on_device(frame, row_sharded(make_mesh(3))).sample(random_state=3, **how), drawn)


def test_all_rows_are_permuted():
    series = on_device(mixed_frame().k)
    drawn = series.sample(frac=1, random_state=jax.random.key(0)).to_pandas()
    assert not drawn.index.is_monotonic_increasing
    assert_same(drawn.sort_index(), series.to_pandas())
    again = series.sample(frac=1, random_state=jax.random.key(0), ignore_index=True)
    assert again.tolist() == drawn.tolist()
    assert again.index.tolist() == list(range(len(drawn)))


def test_wrong_seeds():
    message = assert_same_error(lambda f: f.sample(random_state="a seed"), mixed_frame())
    assert message == (
        "random_state must be an integer, array-like, a BitGenerator, Generator, a numpy "
        "RandomState, or None: sample got 'a seed'. Give an integer, a generator of NumPy, or a "
        "key of jax.random."
    )
    assert_same_error(lambda f: f.groupby("k").sample(random_state=1.5), mixed_frame())


def test_seeds():
    series = on_device(mixed_frame().i)
    seeds = [0, 1, np.random.default_rng(0), np.random.RandomState(0), None]
    drawn = [tuple(series.sample(20, random_state=seed).tolist()) for seed in seeds]
    assert len(set(drawn)) == len(seeds)


def test_rows_are_drawn_in_proportion_to_their_weights():
    series = JaxSeries([0, 1, 2, 3])
    weights = np.array([0.0, 1.0, np.nan, 3.0])
    many = series.sample(4000, replace=True, weights=weights, random_state=0)
    counts = many.value_counts().to_pandas()
    assert set(counts.index) == {1, 3}
    # Five standard deviations of a binomial count.
    assert abs(counts[3] - 3000) < 5 * np.sqrt(4000 * 0.25 * 0.75)
    first = [int(series.sample(weights=weights, random_state=n).item()) for n in range(40)]
    assert set(first) == {1, 3}
    assert first.count(3) > first.count(1)


def test_no_more_rows_than_there_are_inside_jit():
    drawn = jax.jit(lambda f: f[f.k > 3].sample(30, random_state=0))(on_device(mixed_frame()))
    expected = mixed_frame().query("k > 3")
    assert_same(drawn.sort_index(), expected)


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()[["k", "x"]]
    for options in (
        {"n": 1, "frac": 0.5},
        {"n": 100},
        {"n": -1},
        {"n": 1.5},
        {"frac": 2.0},
        {"frac": -0.1},
        {"weights": "none"},
        {"weights": [1.0]},
        {"weights": [-1.0] * 37},
        {"weights": [np.inf] * 37},
        {"weights": [0.0] * 37},
        {"n": 2, "weights": [1.0] + [0.0] * 36},
    ):
        assert_same_error(lambda f, o=options: f.sample(**o), frame)
    assert_same_error(lambda f: f.x.sample(weights="k"), frame)
    assert_same_error(lambda f: f[:0].sample(), frame)
    assert len(on_device(frame)[:0].sample(0)) == 0
    with pytest.raises(NotImplementedError, match="axis"):
        on_device(frame).sample(axis=1)
    with pytest.raises(TypeError, match="real numbers"):
        on_device(pd.DataFrame({"s": ["a"]})).sample(weights="s")


@pytest.mark.parametrize("kind", [np.random.RandomState, np.random.default_rng])
@pytest.mark.parametrize(
    "options",
    [
        {}, {"n": 5}, {"frac": 0.3}, {"frac": 1}, {"n": 90, "replace": True},
        {"n": 3, "weights": "w"}, {"frac": 2.0, "replace": True, "weights": "w"},
        {"n": 4, "ignore_index": True}, {"n": 0},
    ],
    ids=str,
)  # fmt: skip
def test_generators_of_numpy_draw_the_rows_of_pandas(kind, options):
    frame = pd.DataFrame({"x": range(40), "w": [1.0, 2.0, np.nan, 0.5] * 10})

    def drawn(f):
        generator = kind(3)
        plain = {name: one for name, one in options.items() if name != "weights"}
        return (
            f.sample(random_state=generator, **options),
            f.x.sample(random_state=generator, **plain),
        )

    assert_parity(drawn, frame, ways=["eager", "mesh"])
