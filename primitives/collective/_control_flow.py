# SPDX-License-Identifier: Apache-2.0
"""Loops and branches that communicate.

The devices of a program must run its collectives in one order. XLA's CPU backend runs independent
instructions concurrently. It keeps the collectives of the outermost computation in order. A loop or
conditional that contains collectives is one instruction to it, and once that has started, a later
collective may start too. So two devices may run the two in different orders, and wait for each
other forever.

On CPU these functions therefore unroll loops and run both branches. Other backends run one
instruction after the other, and keep the loop and the branch.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..contract._typing import Array


def repeat(num_rounds: int, step: Callable[[Array, Any], Any], carry: Any) -> Any:
    """`fori_loop` from zero with a `step` that communicates.

    Args:
        num_rounds: the number of rounds. Static and small.
        step: computes the carry of the next round from the round, an int32, and the carry.
        carry: the first carry.
    """
    # Compiled once, and called in each round.
    step = jax.jit(step)

    def unrolled(carry: Any) -> Any:
        for i in range(num_rounds):
            carry = step(np.int32(i), carry)
        return carry

    def looped(carry: Any) -> Any:
        return jax.lax.fori_loop(np.int32(0), np.int32(num_rounds), step, carry)

    return jax.lax.platform_dependent(carry, cpu=unrolled, default=looped)


def choose(
    is_first: Array, first: Callable[..., Any], second: Callable[..., Any], *operands: Any
) -> Any:
    """`cond` with branches that communicate.

    On CPU both run, so the one that is not chosen should get no rows to move. On TPU matrices enter
    and leave a branch transposed, because there a row of few words is padded to 128 lanes.
    """

    def both(*operands: Any) -> Any:
        def chosen(one: Array, other: Array) -> Array:
            return jnp.where(is_first, one, other)

        return jax.tree.map(chosen, first(*operands), second(*operands))

    def branch(*operands: Any) -> Any:
        return jax.lax.cond(is_first, first, second, *operands)

    def branch_on_tpu(*operands: Any) -> Any:
        def of_transposed(of_matrices: Callable[..., Any]) -> Callable[..., Any]:
            return lambda operands: _transposed(of_matrices(*_transposed(operands)))

        chosen = jax.lax.cond(
            is_first, of_transposed(first), of_transposed(second), _transposed(operands)
        )
        return _transposed(chosen)

    return jax.lax.platform_dependent(*operands, cpu=both, tpu=branch_on_tpu, default=branch)


def _transposed(tree: Any) -> Any:
    """Transposes every matrix of a pytree."""
    return jax.tree.map(lambda leaf: leaf.T if leaf.ndim == 2 else leaf, tree)
