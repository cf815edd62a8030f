# SPDX-License-Identifier: Apache-2.0
"""groupby with observed=False: which groups there are, and their order."""

import numpy as np
import pandas as pd
import pytest
from frame_parity import assert_parity, on_device

HOWS = [{"sort": sort, "dropna": dropna} for sort in (True, False) for dropna in (True, False)]


def categories(num_rows=29, seed=0):
    """Categories in no order, some without rows, some missing; keys of other kinds."""
    rng = np.random.default_rng(seed)

    def drawn(values, missing):
        codes = rng.integers(0, max(len(values) - 1, 1), num_rows)
        codes = np.where(rng.random(num_rows) < missing, -1, codes)
        return pd.Categorical.from_codes(codes, values)

    return pd.DataFrame(
        {
            "c": drawn(["z", "b", "q", "a"], 0.2),
            "e": drawn([30, 10, 20], 0.1),
            "o": drawn(["hi", "lo", "mid"], 0.0).as_ordered(),
            "k": rng.choice([5, -1, 3], num_rows),
            "s": pd.array(rng.choice(np.array(["v", "u", None], object), num_rows), dtype="str"),
            "f": rng.choice([2.5, -0.0, np.nan, 0.0], num_rows),
            "t": pd.to_datetime(rng.integers(0, 3, num_rows), unit="D").as_unit("us"),
            "b": rng.random(num_rows) < 0.5,
            "x": rng.integers(-9, 9, num_rows),
        }
    )


BY = [
    ["c"], ["c", "e"], ["e", "o", "c"], ["c", "k"], ["k", "c"], ["k", "c", "s"], ["s", "e", "c"],
    ["f", "c"], ["c", "t", "f"], ["b", "o"],
]  # fmt: skip


@pytest.mark.parametrize("how", HOWS, ids=str)
@pytest.mark.parametrize("by", BY, ids=",".join)
def test_groups_and_their_order(by, how):
    for seed, num_rows in ((0, 29), (1, 5), (2, 1)):
        frame = categories(num_rows, seed)[[*by, "x"]]

        def sums(f):
            grouped = f.groupby(by, observed=False, **how)
            return grouped.x.sum(), grouped.size()

        assert_parity(sums, frame, ways=["eager"])


@pytest.mark.parametrize("how", HOWS, ids=str)
def test_inside_jit_and_on_meshes(how):
    frame = categories()
    for by in (["c", "e"], ["k", "c"]):
        assert_parity(
            lambda f, by=by: f.groupby(by, observed=False, **how).x.sum(), frame, ways=["jit"]
        )
    for by in (["c", "e"], ["s", "c"], ["c", "f"]):
        assert_parity(
            lambda f, by=by: f.groupby(by, observed=False, **how).x.sum(),
            frame,
            ways=["mesh"],
            num_devices=3 + (by == ["s", "c"]),
        )


def test_other_methods_of_such_groups():
    def found(f):
        grouped = f.groupby(["k", "c"], observed=False, sort=False)
        return (
            grouped.x.agg(["min", "count", "first"]), grouped.x.cumsum(), grouped.ngroup(),
            f.groupby(["c", "e"], observed=False, sort=False, as_index=False).x.max(),
            f.groupby(["e", "k"], observed=False, sort=False).x.transform("sum"),
            grouped.head(1), grouped.x.mean(),
        )  # fmt: skip

    assert_parity(found, categories(), ways=["eager"], ulps=2)


def test_combinations_of_other_keys_are_those_of_rows():
    frame = pd.DataFrame(
        {
            "i": [1, 2, 1],
            "k": [7, 8, 9],
            # The only row of 2 and 8 has no category.
            "c": pd.Categorical(["a", None, "b"], ["b", "a"]),
            "x": [1, 2, 3],
        }
    )
    for sort in (True, False):
        assert_parity(
            lambda f, sort=sort: f.groupby(["i", "c", "k"], observed=False, sort=sort).x.sum(),
            frame,
            ways=["eager"],
        )


def test_few_rows_and_no_categories():
    frame = categories()
    for some in (frame[:0], frame.assign(c=pd.Categorical([None] * len(frame), []))):
        assert_parity(
            lambda f: tuple(
                f.groupby(by, observed=False, sort=False).x.sum() for by in (["c", "e"], ["e", "o"])
            ),
            some,
            ways=["eager"],
        )


def test_many_combinations_over_a_mesh():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "c": pd.Categorical.from_codes(rng.integers(-1, 160, 600), np.arange(170)[::-1]),
            "e": pd.Categorical.from_codes(rng.integers(0, 50, 600), np.arange(60)),
            "x": rng.integers(0, 9, 600),
        }
    )
    assert_parity(
        lambda f: f.groupby(["c", "e"], observed=False, sort=False).x.sum(),
        frame,
        ways=["eager", "mesh"],
    )


def test_too_many_combinations():
    wide = pd.Categorical.from_codes([0, 1], np.arange(2000))
    frame = pd.DataFrame({"c": wide, "e": wide, "x": [1, 2]})
    with pytest.raises(NotImplementedError, match="observed=True"):
        on_device(frame).groupby(["c", "e"], observed=False).x.sum()
