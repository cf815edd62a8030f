# SPDX-License-Identifier: Apache-2.0
"""The stable order of rows by bucket on CUDA, for few buckets."""

import jax.numpy as jnp

from ...contract._typing import Array
from ..base._cuda import call_on_cuda

MOST_BUCKETS = 511  # kMostBuckets in cuda_bucket_order.h


def bucket_order_on_cuda(
    bucket_ids: Array, num_buckets: int, num_valid: Array, *, with_inverse: bool
) -> tuple[Array, Array, Array]:
    """Returns the order of the rows, its inverse, and where each bucket starts; int32.

    Args:
        bucket_ids: integers of 32 bits; those outside `[0, num_buckets)` come last.
        num_buckets: at most `MOST_BUCKETS`.
        num_valid: number of valid rows, at the front.
        with_inverse: otherwise the inverse is empty.
    """
    num_rows = bucket_ids.shape[0]
    order, inverse, offsets = call_on_cuda(
        "bucket_order",
        (bucket_ids[None], num_valid[None]),
        (
            ((num_rows,), jnp.int32),
            ((num_rows if with_inverse else 0,), jnp.int32),
            ((num_buckets + 1,), jnp.int32),
        ),
        (num_rows, num_buckets),
    )
    return order, inverse, offsets
