# SPDX-License-Identifier: Apache-2.0
"""groupby.sample."""

import jax
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error, on_device
from jaxframes.shardings import make_mesh, row_sharded

FRAME = mixed_frame(60)[["k", "s", "x"]].assign(row=range(60))


def check_rows(drawn, frame, by, sizes, **options):
    """Rows of the frame, as many of each group as pandas draws, in the order of the groups."""
    assert_same(drawn, frame.loc[drawn.index])
    groups = frame.groupby(by, **options)
    order = groups.ngroup().loc[drawn.index]
    assert (np.diff(order) >= 0).all()
    assert order.value_counts().sort_index().tolist() == [size for size in sizes if size]


@pytest.mark.parametrize("by", ["k", "s", ["k", "s"]])
@pytest.mark.parametrize("dropna", [False, True])
def test_each_group_gives_rows_of_its_own(by, dropna):
    theirs = FRAME.groupby(by, dropna=dropna)
    ours = on_device(FRAME).groupby(by, dropna=dropna)
    for options in ({"n": 1}, {"frac": 0.5}, {"frac": 2.5, "replace": True}, {"n": 0}):
        drawn = ours.sample(random_state=3, **options).to_pandas()
        sizes = theirs.sample(random_state=0, **options).groupby(theirs.ngroup()).size()
        check_rows(drawn, FRAME, by, sizes, dropna=dropna)
        if not options.get("replace"):
            assert drawn.index.is_unique


def test_columns_and_order_of_groups():
    ours = on_device(FRAME)
    assert ours.groupby("k").x.sample(2, random_state=0).name == "x"
    assert list(ours.groupby("k")[["x"]].sample(2, random_state=0).columns) == ["x"]
    first = ours.groupby("k", sort=False).sample(1, random_state=0).k.tolist()
    assert first == FRAME.k.unique().tolist()
    assert ours[:0].groupby("k").sample(2).shape == (0, 4)


def test_equal_seeds_draw_equal_rows():
    mesh = on_device(FRAME, row_sharded(make_mesh(4)))
    draws = [
        lambda f: f.groupby("k").sample(2, random_state=5).row,
        lambda f: (
            f.groupby("k").sample(frac=0.3, random_state=jax.random.key(5), weights="row").row
        ),
    ]
    for draw in draws:
        rows = draw(on_device(FRAME)).tolist()
        assert draw(mesh).tolist() == rows
        assert jax.jit(draw)(on_device(FRAME)).to_pandas().tolist() == rows
    assert draws[0](on_device(FRAME)).tolist() != draws[1](on_device(FRAME)).tolist()


def test_rows_are_drawn_as_often_as_others():
    frame = pd.DataFrame({"k": np.repeat([0, 1], 4), "row": range(8)})
    ours = on_device(pd.concat([frame.assign(k=frame.k + 2 * n) for n in range(500)]))
    counts = ours.groupby("k").sample(2, random_state=0).row.value_counts().to_pandas()
    # 250 of 500, give or take five standard deviations.
    assert abs(counts - 250).max() < 5 * np.sqrt(500 * 0.25)
    counts = ours.groupby("k").sample(8, replace=True, random_state=0).row.value_counts()
    assert abs(counts.to_pandas() - 1000).max() < 5 * np.sqrt(4000 * 0.25 * 0.75)


def test_weights():
    frame = FRAME.assign(w=np.where(FRAME.row % 3 == 0, np.nan, 1.0 + 99 * (FRAME.row % 3 == 1)))
    ours = on_device(pd.concat([frame] * 20, ignore_index=True))
    rows = ours.groupby("k").sample(9, weights="w", random_state=1).row.to_numpy() % 3
    assert 0 not in rows
    assert (rows == 1).mean() > 0.9


def test_groups_with_fewer_rows_inside_jit():
    frame = pd.DataFrame({"k": [1, 0, 1, 1], "x": [1, 2, 3, 4]})
    drawn = jax.jit(lambda f: f.groupby("k").sample(2, random_state=0))(on_device(frame))
    assert drawn.to_pandas().k.tolist() == [0, 1, 1]


def test_wrong_uses():
    for wrong in (
        {"n": 99}, {"n": 1, "frac": 0.5}, {"frac": 1.5}, {"n": -1}, {"n": 1.5}, {"frac": -0.5},
        {"weights": "none"}, {"weights": np.full(60, -1.0)}, {"weights": [1.0]},
        {"weights": (FRAME.k == 1).to_numpy(float)}, {"n": 3, "weights": np.arange(60) < 12},
    ):  # fmt: skip
        assert_same_error(lambda f, w=wrong: f.groupby("k").sample(**w), FRAME)
    assert_same_error(lambda f: f.groupby("k").x.sample(weights="x"), FRAME)
    ours = on_device(FRAME)
    with pytest.raises(NotImplementedError, match=r"by sample\(\)"):
        ours.groupby("k").sample(2, replace=True, weights="row")
    with pytest.raises(NotImplementedError, match="outside jit"):
        jax.jit(lambda f: f.groupby("k").sample(2, replace=True, random_state=0))(ours)


GENERATORS = {"old": np.random.RandomState, "new": np.random.default_rng}


@pytest.mark.parametrize("kind", GENERATORS)
@pytest.mark.parametrize(
    "options",
    [
        {}, {"n": 2}, {"frac": 0.4}, {"n": 70, "replace": True}, {"frac": 1.5, "replace": True},
        {"n": 1, "weights": [1.0, 0, 2] * 20}, {"n": 4, "replace": True, "weights": [2, 1] * 30},
        {"n": 0},
    ],
    ids=str,
)  # fmt: skip
def test_generators_of_numpy_draw_the_rows_of_pandas(kind, options):
    missing = FRAME.assign(k=FRAME.k.where(FRAME.k != FRAME.k[0]))

    def drawn(f, g):
        # All of one generator, whose state goes on.
        generator = GENERATORS[kind](5)
        return tuple(
            groups.sample(random_state=generator, **options)
            for groups in (
                f.groupby("k"), f.groupby("s", sort=False), f.groupby("k").x, f.groupby("s")[["x"]],
                g.groupby("k"), g.groupby("s", sort=True).row,
            )
        )  # fmt: skip

    assert_parity(drawn, FRAME, missing, ways=["eager"])
    assert_parity(
        lambda f: f.groupby("k").sample(random_state=GENERATORS[kind](7), **options),
        FRAME,
        ways=["mesh"],
    )


def test_too_few_rows_for_a_generator():
    def draw(f, **options):
        return f.groupby("k").sample(random_state=np.random.RandomState(0), **options)

    assert_same_error(lambda f: draw(f, n=99), FRAME)
    assert_same_error(lambda f: draw(f, n=2, weights=[1] + [0] * 59), FRAME)
    assert_same_error(lambda f: draw(f, n=3, weights=[1000] * 5 + [1] * 55), FRAME)
