# SPDX-License-Identifier: Apache-2.0
"""Four pipelines of frames whose programs are compiled for one device."""

from typing import Any

import jax
from jaxframes.frame import JaxFrame

from .cases import FEW_ROWS, FLOAT, INT, Case


def sort(k: jax.Array, x: jax.Array) -> Any:
    return JaxFrame({"k": k, "x": x}).sort_values("k")


def groupby(k: jax.Array, x: jax.Array) -> Any:
    return JaxFrame({"k": k, "x": x}).groupby("k")["x"].sum()


def merge(k: jax.Array, x: jax.Array, j: jax.Array, y: jax.Array) -> Any:
    left, right = JaxFrame({"k": k, "x": x}), JaxFrame({"k": j, "y": y})
    return left.merge(right, on="k", capacity=len(k))


def filter_rows(k: jax.Array, x: jax.Array) -> Any:
    frame = JaxFrame({"k": k, "x": x})
    return frame[frame["x"] > 0]


PIPELINES: dict[str, Case] = {
    "frame groupby": Case((INT, FLOAT), groupby, rows=FEW_ROWS),
    "frame sort": Case((INT, FLOAT), sort, rows=FEW_ROWS),
    "frame merge": Case((INT, FLOAT, INT, FLOAT), merge, rows=FEW_ROWS),
    "frame filter": Case((INT, FLOAT), filter_rows, rows=FEW_ROWS),
}
