# SPDX-License-Identifier: Apache-2.0
"""Results computed from rows that did not fit their capacity raise, too."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxframes.frame import JaxFrame, concat
from jaxframes.primitives import CapacityError

FRAME = JaxFrame({"k": np.zeros(20, int), "x": np.arange(20.0)})

TABLES = {
    "rows": lambda f: f,
    "filter": lambda f: f[f["x_x"] > 1],
    "sort_values": lambda f: f.sort_values("x_x"),
    "groupby": lambda f: f.groupby("k")["x_x"].sum(),
    "groupby size": lambda f: f.groupby("k").size(),
    "groupby of a filter": lambda f: f[f["x_x"] > 5].groupby("k").mean(),
    "sum": lambda f: f.sum(),
    "quantile": lambda f: f[["x_x"]].quantile(0.5),
    "quantiles": lambda f: f[["x_x"]].quantile([0.1, 0.5]),
    "corr": lambda f: f[["x_x", "x_y"]].corr(),
    "nunique": lambda f: f.nunique(),
    "value_counts": lambda f: f["k"].value_counts(),
    "agg": lambda f: f[["x_x", "x_y"]].agg("sum"),
    "agg of a series": lambda f: f["x_x"].agg(["sum", "max"]),
    "concat": lambda f: concat([f["x_x"], f["x_y"]], axis=1),
}
SCALARS = {
    "sum": lambda f: f["x_x"].sum(),
    "std": lambda f: f["x_x"].std(),
    "max": lambda f: f["x_x"].max(),
    "median": lambda f: f["x_x"].median(),
    "corr": lambda f: f["x_x"].corr(f["x_y"]),
}


@jax.jit
def too_small(frame):
    return frame.merge(frame, on="k", capacity=64)


def test_tables_raise_when_they_are_read():
    lost = too_small(FRAME)
    traced = jax.jit(lambda f: {name: table(f) for name, table in TABLES.items()})(lost)
    for name, table in TABLES.items():
        with pytest.raises(CapacityError, match="400 rows do not fit"):
            print(name, table(lost).to_pandas())
        with pytest.raises(CapacityError, match="400 rows do not fit"):
            print(name, traced[name].to_pandas())


def test_scalars_raise_eagerly_and_are_nan_inside_jit():
    def scalars(frame):
        return jnp.stack([scalar(frame) for scalar in SCALARS.values()])

    for name, scalar in SCALARS.items():
        with pytest.raises(CapacityError, match="400 rows do not fit"):
            print(name, scalar(too_small(FRAME)))
    assert np.isnan(jax.jit(lambda f: scalars(too_small(f)))(FRAME)).all()
    assert np.isfinite(jax.jit(lambda f: scalars(too_small(f.head(8))))(FRAME)).all()


def test_values_that_the_host_reads_raise():
    for label in ("k", "x_x"):
        with pytest.raises(CapacityError, match="400 rows do not fit"):
            too_small(FRAME)[label].unique()


def test_what_is_brought_together_with_such_rows_says_so_too():
    @jax.jit
    def combined(frame):
        lost = frame.merge(frame, on="k", capacity=64)
        # Range indexes of one capacity are aligned by position.
        return frame["x"] + lost["x_x"], lost["x_x"] + frame["x"]

    for result in combined(FRAME):
        with pytest.raises(CapacityError, match="400 rows do not fit"):
            result.to_pandas()


def test_a_column_set_to_such_rows_says_so_too():
    @jax.jit
    def assigned(frame):
        lost = frame.merge(frame, on="k", capacity=64)
        lost["twice"] = lost["x_x"] * 2.0
        return lost[["twice"]]

    with pytest.raises(CapacityError, match="400 rows do not fit"):
        assigned(FRAME).to_pandas()
