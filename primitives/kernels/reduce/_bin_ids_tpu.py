# SPDX-License-Identifier: Apache-2.0
"""The bin of each number, on TPU: a binary search in registers.

Edges lie in lines of 128 lanes. A number is compared with the first edge of each line, then with
the lanes of its line, which a core looks up within a register.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

from ...contract._scan_operators import identity_of
from ...contract._typing import Array
from ..base._pallas import LANES, SUBLANES, as_lines, as_scalar_argument, call_on_tpu, of_lines

# A block of 128 KiB of 32-bit words, which leaves memory for the next one.
BLOCK_LINES = 256


def bin_ids_tpu(x: Array, edges: Array, num_valid: Array, interpret: Any = False) -> Array:
    """`bin_ids` for numbers and ascending edges of float32 or int32."""
    num_bins = edges.shape[0] - 1
    # The search is for the first edge of a bin; a number past the last edge has none.
    most = np.asarray(identity_of("min", edges.dtype))
    starts = jnp.pad(edges[:-1], (0, -num_bins % (LANES * SUBLANES)), constant_values=most)
    lines, table_lines = as_lines(x), starts.reshape(-1, LANES)
    block_lines = min(BLOCK_LINES, lines.shape[0])
    block = pl.BlockSpec((block_lines, LANES), lambda i: (i, 0))
    (ids,) = call_on_tpu(
        functools.partial(_kernel, num_bins=num_bins),
        (
            as_scalar_argument(num_valid),
            lines,
            table_lines,
            jnp.broadcast_to(edges[-1:], (SUBLANES, LANES)),
        ),
        [(lines.shape, np.int32)],
        grid=(pl.cdiv(lines.shape[0], block_lines),),
        in_specs=[
            pl.BlockSpec((1, 1), lambda i: (0, 0), memory_space=pltpu.SMEM),
            block,
            pl.BlockSpec(table_lines.shape, lambda i: (0, 0)),
            pl.BlockSpec((SUBLANES, LANES), lambda i: (0, 0)),
        ],
        out_specs=[block],
        name="bin_ids",
        interpret=interpret,
    )
    return of_lines(ids, x.shape[0])


def _kernel(
    num_valid_ref: Any, x_ref: Any, table_ref: Any, last_ref: Any, ids_ref: Any, *, num_bins: int
) -> None:
    x = x_ref[...]
    num_lines = pl.cdiv(num_bins, LANES)
    lines = [jnp.broadcast_to(table_ref[i : i + 1, :], x.shape) for i in range(num_lines)]
    # The last line whose first edge is passed.
    in_line = functools.reduce(
        jnp.add,
        ((line[:, :1] <= x).astype(np.int32) for line in lines[1:]),
        jnp.zeros_like(ids_ref),
    )

    def edges_at(lanes: Array) -> Array:
        found = jnp.take_along_axis(lines[0], lanes, axis=1, mode="promise_in_bounds")
        for i in range(1, num_lines):
            others = jnp.take_along_axis(lines[i], lanes, axis=1, mode="promise_in_bounds")
            found = jnp.where(in_line == i, others, found)
        return found

    lane = jnp.zeros_like(in_line)
    distance = LANES // 2
    while distance:
        is_passed = edges_at(lane + distance) <= x
        lane += jnp.where(is_passed, distance, 0)
        distance //= 2
    bins = jnp.minimum(in_line * LANES + lane, num_bins - 1)
    line_ids = jax.lax.broadcasted_iota(jnp.int32, x.shape, 0)
    lane_ids = jax.lax.broadcasted_iota(jnp.int32, x.shape, 1)
    row_ids = (pl.program_id(0) * x.shape[0] + line_ids) * LANES + lane_ids
    is_inside = (lines[0][:, :1] <= x) & (x <= last_ref[:1, :1])
    is_inside &= row_ids < num_valid_ref[0, 0]
    ids_ref[...] = jnp.where(is_inside, bins, -1)
