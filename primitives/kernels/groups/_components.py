# SPDX-License-Identifier: Apache-2.0
"""Connected components by union-find: the C++ kernel on CPU.

XLA spreads labels along all edges, in rounds.
"""

import jax.numpy as jnp

from ...contract._typing import Array
from ..base._foreign import call


def native_smallest_nodes(senders: Array, receivers: Array, num_nodes: int) -> Array:
    """The smallest node of each node's component, int32; edges out of range are dropped."""
    (smallest,) = call(
        "jaxframes_smallest_nodes_v1",
        (senders[None], receivers[None]),
        (((num_nodes,), jnp.int32),),
    )
    return smallest
