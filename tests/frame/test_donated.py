# SPDX-License-Identifier: Apache-2.0
"""A frame whose arrays were donated or deleted names itself and the call."""

import re

import jax
import numpy as np
import pandas as pd
import pytest
from frame_parity import on_device
from jaxframes.frame import JaxFrame, JaxSeries, concat, merge
from jaxframes.shardings import make_mesh, row_sharded

FRAME = pd.DataFrame({"k": [1, 2, 1, 3], "x": [1.0, 2.0, 3.0, 4.0]})
CALLS = {
    "JaxFrame.sum": lambda f: f.sum(),
    "JaxFrame.to_pandas": lambda f: f.to_pandas(),
    "JaxFrame.__add__": lambda f: f + 1,
    "JaxFrame.__rsub__": lambda f: 1 - f,
    "JaxFrame.radd": lambda f: f.radd(1),
    "JaxFrame.__getitem__": lambda f: f["x"],
    "JaxFrame.__setitem__": lambda f: f.__setitem__("x", 1.0),
    "JaxFrame.__repr__": repr,
    "JaxFrame.sort_values": lambda f: f.sort_values("x"),
    "merge": lambda f: merge(f, f, on="k"),
    "concat": lambda f: concat([f, f]),
    "JaxFrame.to_parquet": lambda f: f.to_parquet("never written"),
    "JaxFrame.rolling": lambda f: f.rolling(2).sum(),
}


def message(call, kind, gone):
    return (
        f"{call}: the {kind} has lost its arrays: {gone} was deleted, or donated to a compiled "
        "function. Use the result of that function, or leave out its donate_argnums."
    )


def raises(text):
    return pytest.raises(RuntimeError, match=f"^{re.escape(text)}$")


@pytest.mark.parametrize("sharding", [None, "mesh"])
@pytest.mark.parametrize("call", CALLS)
def test_a_donated_frame_names_itself_and_the_call(call, sharding):
    sharding = sharding and row_sharded(make_mesh(4))
    ours = jax.jit(lambda f: f.assign(x=f["x"] + 1))(on_device(FRAME, sharding))
    jax.jit(lambda f: f + 1, donate_argnums=0)(ours)
    with raises(message(call, "frame", "column 'k', column 'x'")):
        CALLS[call](ours)
    assert ours.columns.tolist() == ["k", "x"]


def test_a_grouping_made_before():
    ours = JaxFrame({"k": [1, 2, 1], "x": [1.0, 2.0, 3.0], "y": [1, 2, 3], "z": [1, 2, 3]})
    jax.jit(lambda f: f * 2, donate_argnums=0)(ours)
    shown = "column 'k', column 'x', column 'y' and 1 more"
    with raises(message("JaxFrame.groupby", "frame", shown)):
        ours.groupby("k").sum()


def test_one_deleted_array():
    ours = JaxFrame({"a": np.arange(3), "b": np.arange(3.0)}, index=[5, 6, 7])
    ours._table.columns[1].data.delete()
    assert len(ours) == 3
    with raises(message("JaxFrame.mean", "frame", "column 'b'")):
        ours.mean()
    ours = JaxSeries(np.arange(3.0), index=[5, 6, 7], name="s")
    ours.index  # noqa: B018
    for leaf in jax.tree.leaves(ours):
        if isinstance(leaf, jax.Array):
            leaf.delete()
    with raises(message("JaxSeries.max", "series", "column 's', the index")):
        ours.max()


def test_a_frame_in_a_plan():
    ours = JaxFrame({"a": np.arange(3.0)})
    plan = ours.lazy()
    jax.jit(lambda f: f * 2, donate_argnums=0)(ours)
    with pytest.raises(RuntimeError, match=r"has lost its arrays: column 'a' was deleted"):
        plan.collect()
