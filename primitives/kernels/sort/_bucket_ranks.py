# SPDX-License-Identifier: Apache-2.0
"""Positions of rows in bucket order without a sort, on TPU."""

import jax.numpy as jnp

from ...contract._typing import Array

# The counters of more buckets do not fit the registers.
MOST_BUCKETS = 256


def bucket_ranks_on_tpu(
    bucket_ids: Array, num_buckets: int, num_valid: Array
) -> tuple[Array, Array]:
    """The position of each row in the stable order of rows by bucket, and the bucket offsets.

    Args:
        bucket_ids: integers of 32 bits. Rows with an id outside `[0, num_buckets)` come last, and
            padding rows keep their positions.
        num_buckets: at most `MOST_BUCKETS`.
        num_valid: number of valid rows, at the front.

    Returns:
        Positions and offsets, int32.
    """
    # Pallas takes a while to import, and programs for other platforms do without.
    from ._bucket_ranks_tpu import bucket_positions_tpu, count_buckets_tpu

    is_bucket = (bucket_ids >= 0) & (bucket_ids < num_buckets)
    ids = jnp.where(is_bucket, bucket_ids, num_buckets).astype(jnp.int32)
    counts = count_buckets_tpu(ids, num_buckets, num_valid)
    offsets = jnp.pad(jnp.cumsum(counts, dtype=jnp.int32), (1, 0))
    return bucket_positions_tpu(ids, offsets, num_valid), offsets
