# SPDX-License-Identifier: Apache-2.0
"""Gathers of single words on TPU without XLA's gather: when there is a way, and the calls."""

from collections.abc import Sequence

import numpy as np

from ...contract._bit_fields import pack_leaves, unpack_leaves
from ...contract._typing import Array
from ..base._foreign import is_words

# A lookup takes one static cycle a row on v5e for 2^14 entries, and the sorts take 2.2.
MOST_LOOKED_UP = 2**15
# XLA's gather of fewer rows takes less time than it takes to compile a sort.
_LEAST_SORTED = 4096
# The sorts read all rows, and XLA's gather those that are named: eight cycles each.
_MOST_ROWS_PER_ID = 8
# XLA's gather of fewer rows than a register has lanes takes less than the kernel to start.
_LEAST_LOOKED_UP = 1024


def can_take_on_tpu(columns: Sequence[Array], row_ids: Array) -> bool:
    """Whether there is a way to take rows of columns of these dtypes and lengths."""
    num_rows, num_ids = columns[0].shape[0], row_ids.shape[0]
    if row_ids.ndim != 1 or num_rows == 0 or not all(map(_is_packed, columns)):
        return False
    if num_rows <= MOST_LOOKED_UP:
        return num_ids >= _LEAST_LOOKED_UP
    return num_ids >= _LEAST_SORTED and num_rows <= _MOST_ROWS_PER_ID * num_ids


def _is_packed(column: Array) -> bool:
    # A TPU has no bits of float64.
    return is_words(column) and column.dtype != np.float64


def take_on_tpu(columns: Sequence[Array], row_ids: Array) -> tuple[Array, ...]:
    """Takes rows of columns by ids in range, int32."""
    words = pack_leaves(columns)
    if columns[0].shape[0] <= MOST_LOOKED_UP:
        # Pallas takes a while to import, and programs for other platforms do without.
        from ._take_tpu import take_words_tpu

        taken = tuple(take_words_tpu(word, row_ids) for word in words)
    else:
        from ._gather_by_sorts import gather_by_sorts

        taken = gather_by_sorts(words, row_ids)
    return unpack_leaves(taken, columns)
