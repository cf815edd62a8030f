# SPDX-License-Identifier: Apache-2.0
"""The k first rows in the order of one column of words."""

import jax.numpy as jnp

from ...contract._key_bits import OrderedWord
from ...contract._platform import by_platform
from ...contract._typing import Array
from ..base._foreign import call, word_attribute
from ..base._library import is_native
from ._radix_sort import _argsort_xla


def top_k_words(column: OrderedWord, k: int, num_valid: Array) -> Array:
    """Row ids of the `k` smallest words, smallest first, ties by row id; int32."""

    def xla(word: Array, num_valid: Array) -> Array:
        return _argsort_xla(column._replace(word=word), num_valid)[:k]

    def native(word: Array, num_valid: Array) -> Array:
        (row_ids,) = call(
            "jaxframes_top_k_v1",
            (word[None], num_valid[None]),
            (((k,), jnp.int32),),
            flip=word_attribute(column.flip),
        )
        return row_ids

    if k == 0 or not is_native():
        return xla(column.word, num_valid)
    return by_platform(column.word, num_valid, cpu=native, default=xla)
