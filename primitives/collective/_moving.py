# SPDX-License-Identifier: Apache-2.0
"""Moves rows of a pytree over the shards: all columns in one matrix, with derivatives."""

import functools
from typing import Any

import jax

from ..contract._moved import Route, with_tangents
from ..contract._typing import Array
from ._axis import AxisName
from ._exchange import Transport, exchange
from ._exchange_runs import Runs
from ._packing import pack_rows, unpack_rows


def move_rows(rows: Any, plan: Any, route: Route) -> Any:
    """Moves rows by a route, as words of one matrix. Tangents take the same route."""
    words = route(pack_rows(jax.lax.stop_gradient(rows)), plan)
    return with_tangents(route, unpack_rows(words, rows), rows, plan)


def send_runs(
    rows: Any, runs: Runs, capacity: int, axis_name: AxisName, transport: Transport
) -> Any:
    """Sends the runs of this shard's rows; returns the rows that arrive, then zeros."""
    route = functools.partial(
        _exchange_runs, capacity=capacity, axis_name=axis_name, transport=transport
    )
    return move_rows(rows, runs, route)


def _exchange_runs(
    matrix: Array, runs: Runs, *, capacity: int, axis_name: AxisName, transport: Transport
) -> Array:
    return exchange(matrix, runs, capacity, axis_name, transport)
