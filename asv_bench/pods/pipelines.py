# SPDX-License-Identifier: Apache-2.0
"""Four pipelines of frames that are compiled for slices of TPU."""

from typing import Any

import jax
from jax.sharding import Mesh
from jaxframes.frame import JaxFrame
from jaxframes.shardings import row_sharded

from .cases import Case

COLUMNS = ("int32", "float32")


def frame_of(mesh: Mesh, k: jax.Array, x: jax.Array) -> Any:
    return JaxFrame({"k": k, "x": x}, sharding=row_sharded(mesh))


def sort(mesh: Mesh, k: jax.Array, x: jax.Array) -> Any:
    return frame_of(mesh, k, x).sort_values("k")


def groupby(mesh: Mesh, k: jax.Array, x: jax.Array) -> Any:
    return frame_of(mesh, k, x).groupby("k")["x"].sum()


def merge(mesh: Mesh, k: jax.Array, x: jax.Array, j: jax.Array, y: jax.Array) -> Any:
    right = JaxFrame({"k": j, "y": y}, sharding=row_sharded(mesh))
    return frame_of(mesh, k, x).merge(right, on="k", capacity=len(k))


def filter_join_groupby(mesh: Mesh, k: jax.Array, x: jax.Array, j: jax.Array, y: jax.Array) -> Any:
    left = frame_of(mesh, k, x)
    right = JaxFrame({"k": j, "y": y}, sharding=row_sharded(mesh))
    joined = left[left["x"] > 0].merge(right, on="k", capacity=len(k))
    return joined.groupby("k")["y"].sum()


PIPELINES = {
    "frame sort": Case(COLUMNS, sort, moved=2),
    "frame groupby": Case(COLUMNS, groupby, moved=2),
    "frame merge": Case(2 * COLUMNS, merge, moved=4),
    "frame filter-join-groupby": Case(2 * COLUMNS, filter_join_groupby, moved=4),
}
