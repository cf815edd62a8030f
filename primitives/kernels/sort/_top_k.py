# SPDX-License-Identifier: Apache-2.0
"""The k first rows in the order of one column of words."""

import jax.numpy as jnp

from ...contract._key_bits import OrderedWord
from ...contract._platform import by_platform
from ...contract._typing import Array
from ..base._cuda import call_on_cuda, on_cuda
from ..base._foreign import call, word_attribute
from ..base._library import is_native
from ..base._pallas import on_tpu
from ._portable_sort import argsort_portable
from ._radix_sort import argsort_words

# A row of the result takes the kernel 700 static cycles on v5e, and a row of a sort about one.
_ROWS_FOR_EACH = 1024
# The results of the kernel stay in its memory.
_MOST_ON_TPU = 1024


def top_k_words(column: OrderedWord, k: int, num_valid: Array) -> Array:
    """Row ids of the `k` smallest words, smallest first, ties by row id; int32."""

    def xla(word: Array, num_valid: Array) -> Array:
        return argsort_portable(column._replace(word=word), num_valid)[:k]

    def native(word: Array, num_valid: Array) -> Array:
        (row_ids,) = call(
            "jaxframes_top_k_v1",
            (word[None], num_valid[None]),
            (((k,), jnp.int32),),
            flip=word_attribute(column.flip),
        )
        return row_ids

    def cuda(word: Array, num_valid: Array) -> Array:
        num_rows = word.shape[0]
        # The kernel selects words of 32 bits; many of them are sorted as fast.
        if word.dtype.itemsize != 4 or k > num_rows // 8:
            return argsort_words(column._replace(word=word), num_valid)[:k]
        (row_ids,) = call_on_cuda(
            "top_k",
            (word[None], num_valid[None]),
            (((k,), jnp.int32),),
            (num_rows, k),
            flip=word_attribute(column.flip),
        )
        return row_ids

    def pallas(word: Array, num_valid: Array) -> Array:
        # Pallas takes a while to import, and programs for other platforms do without.
        from ._top_k_tpu import top_k_tpu

        return top_k_tpu(column._replace(word=word).ordered(), k, num_valid)

    if k == 0:
        return xla(column.word, num_valid)
    kernels = ({"cpu": native} if is_native() else {}) | on_cuda(cuda)
    is_read = column.word.dtype.itemsize == 4
    if is_read and k <= _MOST_ON_TPU and k * _ROWS_FOR_EACH <= column.word.shape[0]:
        kernels |= on_tpu(pallas)
    return by_platform(column.word, num_valid, default=xla, **kernels)
