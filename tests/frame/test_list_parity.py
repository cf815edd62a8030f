# SPDX-License-Identifier: Apache-2.0
"""Frames with any lists: rows that move, and methods of lists, against pandas, in all modes."""

import jax
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from frame_parity import on_device
from hypothesis import given, settings
from hypothesis import strategies as st
from jaxframes.frame import JaxFrame, concat
from jaxframes.shardings import make_mesh, row_sharded

NUMBERS = st.lists(st.integers(-9, 9), max_size=4)
WORDS = st.lists(st.one_of(st.none(), st.sampled_from(["a", "b", "zz", ""])), max_size=4)
KINDS = {
    "numbers": (NUMBERS, pa.list_(pa.int64())),
    "words": (WORDS, pa.list_(pa.string())),
    "nested": (st.lists(NUMBERS, max_size=3), pa.list_(pa.list_(pa.int64()))),
}


def rows(members):
    return st.lists(st.tuples(st.integers(0, 4), st.none() | members), min_size=1, max_size=9)


def concatenated(f, *others):
    return (concat if isinstance(f, JaxFrame) else pd.concat)([f, *others])


# What moves rows or asks for what lists hold, in the words of both.
STEPS = {
    "filter": lambda f: f[f.k > 1],
    "sort": lambda f: f.sort_values("k", kind="stable"),
    "backwards": lambda f: f.sort_values("i", ascending=False).l.list[1:],
    "twice": lambda f: concatenated(f, f.assign(l=f.l.list[::2])),
    "join": lambda f: f.merge(f.drop_duplicates("k"), on="k", how="left", suffixes=("", "_r")),
    "lengths": lambda f: f.assign(n=f.l.list.len()),
    "first": lambda f: f.groupby("k").l.first(),
    "shifted": lambda f: f.assign(s=f.l.shift(1)),
}
NOT_IN_JIT = ("join",)


def normal(value):
    """Lists of Python, and None for missing values."""
    if isinstance(value, (list, np.ndarray)):
        return [normal(one) for one in value]
    return None if value is None or value is pd.NA or value != value else value


def shown(result):
    result = result.to_pandas() if hasattr(result, "to_pandas") else result
    result = result.to_frame() if isinstance(result, pd.Series) else result
    values = [[normal(value) for value in result.iloc[:, at]] for at in range(result.shape[1])]
    return values, list(map(str, result.dtypes)), list(result.index)


def in_modes(step, frame, name):
    """The result of a step in each mode."""
    yield "eager", step(on_device(frame))
    yield "mesh", step(on_device(frame, row_sharded(make_mesh(4))))
    if name not in NOT_IN_JIT:
        yield "jit", jax.jit(step)(on_device(frame))


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=4, deadline=None)
@given(data=st.data())
def test_steps_match_pandas(kind, data):
    members, dtype = KINDS[kind]
    drawn = data.draw(rows(members))
    frame = pd.DataFrame(
        {
            "i": range(len(drawn)),
            "k": [key for key, _ in drawn],
            "l": pd.Series([value for _, value in drawn], dtype=pd.ArrowDtype(dtype)),
        }
    )
    name = data.draw(st.sampled_from(sorted(STEPS)))
    expected = shown(STEPS[name](frame))
    for mode, result in in_modes(STEPS[name], frame, name):
        assert shown(result) == expected, (name, mode)


@settings(max_examples=4, deadline=None)
@given(data=st.data())
def test_explode_and_back(data):
    drawn = data.draw(rows(NUMBERS))
    frame = JaxFrame({"k": [key for key, _ in drawn]}).assign(
        l=pd.Series([value for _, value in drawn], dtype=pd.ArrowDtype(pa.list_(pa.int64())))
    )
    exploded = frame.reset_index().explode("l").dropna()
    back = exploded.groupby("index").l.agg(list)
    expected = {row: value for row, (_, value) in enumerate(drawn) if value}
    assert {key: normal(value) for key, value in back.to_pandas().items()} == expected
    lazy = frame.lazy().l.explode().collect()
    assert normal(lazy.tolist()) == normal(frame.l.explode().tolist())
    assert frame.l.list.flatten().tolist() == [one for _, value in drawn for one in value or []]
