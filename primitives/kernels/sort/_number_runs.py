# SPDX-License-Identifier: Apache-2.0
"""The run of each row."""

import jax
import jax.numpy as jnp
import numpy as np

from ...contract._platform import by_platform
from ...contract._typing import Array
from ..base._cuda import on_cuda
from ..scan._reduce_by_key_cuda import reduce_by_key_on_cuda
from ..scan._running import running_count
from ._put_back import put_back


def number_runs(is_head: Array, num_valid: Array, row_ids: Array | None = None) -> Array:
    """The run of each row, int32, -1 before the first head and in padding.

    Args:
        is_head: flags the first row of each run.
        num_valid: number of valid rows, at the front.
        row_ids: a permutation, int32; the run of row `i` is returned at position `row_ids[i]`.
    """

    def by_cumsum(is_head: Array, num_valid: Array, row_ids: Array | None) -> Array:
        is_valid = jax.lax.iota(jnp.int32, is_head.shape[0]) < num_valid
        run_ids = jnp.where(is_valid, running_count(is_head) - 1, np.int32(-1))
        return run_ids if row_ids is None else put_back(row_ids, (run_ids,))[0]

    def by_kernel(is_head: Array, num_valid: Array, row_ids: Array | None) -> Array:
        found = reduce_by_key_on_cuda((), is_head, num_valid, 0, with_run_ids=True, row_ids=row_ids)
        assert found.run_ids is not None
        return found.run_ids

    kernel = on_cuda(by_kernel) if is_head.shape[0] else {}
    return by_platform(is_head, num_valid, row_ids, default=by_cumsum, **kernel)
