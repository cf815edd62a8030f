# SPDX-License-Identifier: Apache-2.0
"""Looks up words in a table that vector memory holds, on TPU.

A core looks up lanes within a register. Each line of 128 words of the table is looked up by the
lowest bits of all ids of a block, and an id keeps what it finds in its own line. So the work is the
product of both lengths, but a line takes one cycle for 1,024 ids.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl

from ...contract._typing import Array
from ..base._pallas import LANES, SUBLANES, as_lines, call_on_tpu, of_lines

# Ids that stay in registers while all lines of the table pass.
BLOCK_LINES = 8 * SUBLANES
# Fewer lines at a time wait for the lookups: on v5e a lookup of a register takes 8 static cycles.
_UNROLLED = 8
_LANE_BITS = 7  # of `LANES`


def take_words_tpu(table: Array, ids: Array, interpret: Any = False) -> Array:
    """Takes words of a table by id.

    Args:
        table: int32 or uint32, of shape `(entries,)`.
        ids: int32, in range.
        interpret: how Pallas interprets the kernel in place of compiling it.
    """
    words = jax.lax.bitcast_convert_type(table, np.int32)
    missing = -words.shape[0] % (_UNROLLED * LANES)
    table_lines = (jnp.pad(words, (0, missing)) if missing else words).reshape(-1, LANES)
    lines = as_lines(ids)
    block_lines = min(BLOCK_LINES, lines.shape[0])
    block = pl.BlockSpec((block_lines, LANES), lambda i: (i, 0))
    (found,) = call_on_tpu(
        _kernel,
        (lines, table_lines),
        [(lines.shape, np.int32)],
        grid=(pl.cdiv(lines.shape[0], block_lines),),
        in_specs=[block, pl.BlockSpec(table_lines.shape, lambda i: (0, 0))],
        out_specs=[block],
        name="take_words",
        interpret=interpret,
    )
    return jax.lax.bitcast_convert_type(of_lines(found, ids.shape[0]), table.dtype)


def _kernel(ids_ref: Any, table_ref: Any, found_ref: Any) -> None:
    ids = ids_ref[...]
    lanes, in_line = ids & (LANES - 1), ids >> _LANE_BITS

    def several(i: Any, found: Array) -> Array:
        for j in range(_UNROLLED):
            number = i * _UNROLLED + j
            line = jnp.broadcast_to(table_ref[pl.ds(number, 1), :], ids.shape)
            others = jnp.take_along_axis(line, lanes, axis=1, mode="promise_in_bounds")
            found = jnp.where(in_line == number, others, found)
        return found

    num_rounds = table_ref.shape[0] // _UNROLLED
    found_ref[...] = jax.lax.fori_loop(0, num_rounds, several, jnp.zeros_like(ids))
