# SPDX-License-Identifier: Apache-2.0
"""`hash`: 64 bits of each value."""

import functools
from typing import Self

import jax.numpy as jnp
import numpy as np

from ...primitives import Ragged, local
from ...primitives.staging import tiered
from ...shardings._compat import is_x64_enabled
from ..table._column import Array, Column
from ..table._ndframe import SeriesBase
from ..table._recode import has_strings, look_up, unencoded
from ..table._string_bytes import bytes_of_strings
from ..table._tracing import at_once


class SeriesHash(SeriesBase):
    """Hashes of the values of a series."""

    def hash(self, *, seed: int = 0) -> Self:
        """Hashes each value to 64 bits, by `primitives.local.hash_rows`.

        Equal values have equal hashes in every program, version and platform, on one device or a
        mesh, eagerly or inside `jit`. So hashes can be stored, name a shard, or sample by key. They
        do not resist an adversary.

        Args:
            seed: another seed is another hash function, in `[0, 2**32)`. Static.

        Strings, and categories of strings, are hashed by their UTF-8 bytes, integers by their value
        in any dtype, times by their count of the unit. A missing value has the hash 0. pandas has
        no such method; `pandas.util.hash_pandas_object` gives other hashes.

        Raises:
            NotImplementedError: lists, complex numbers, and objects that are not strings; or JAX's
                x64 mode is off.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> users = JaxSeries(["ada", "bob", "ada"])
            >>> first, second, third = users.hash().tolist()
            >>> first == third, first == second
            (True, False)
        """
        if not is_x64_enabled():
            raise NotImplementedError(
                "hash: a hash has 64 bits, which need JAX's x64 mode. Call "
                'jax.config.update("jax_enable_x64", True) first, or local.hash_rows, which gives '
                "two words of 32 bits."
            )
        column = self._only
        if column.type.dictionary is not None:
            return self._with_column(_hash_of_codes(column, seed))
        if column.kind == "list" or column.dtype.kind == "c":
            raise NotImplementedError(
                f"hash: values must be numbers, strings or times, got {column.dtype_name}."
            )
        missing = column.missing() if column.can_miss else None
        return self._with_column(Column(_hash_of_numbers(column.data, missing, seed)))


def _hash_of_codes(column: Column, seed: int) -> Column:
    """Hashes each string of the dictionary, and looks hashes up by code."""
    column = unencoded(column)
    if not has_strings(column):
        raise NotImplementedError(
            f"hash: values must be numbers, strings or times, got {column.dtype_name}. "
            "Cast them with astype first."
        )
    content, offsets = bytes_of_strings(column.dictionary.values)
    hashes = at_once(_hash_of_strings, content, np.diff(offsets).astype(np.int32), seed)
    return Column(look_up(column.data, hashes, np.uint64(0)))


def _hash_of_strings(content: np.ndarray, lengths: np.ndarray, seed: int) -> np.ndarray:
    strings = Ragged.from_lengths(jnp.asarray(content), jnp.asarray(lengths))
    return np.asarray(_joined(local.hash_rows(strings, seed=seed)))


@functools.partial(tiered, static_argnums=2)
def _hash_of_numbers(data: Array, missing: Array | None, seed: int) -> Array:
    hashes = _joined(local.hash_rows(data, seed=seed))
    return hashes if missing is None else jnp.where(missing, jnp.uint64(0), hashes)


def _joined(words: tuple[Array, Array]) -> Array:
    """The 64 bits of two words, most significant first."""
    high, low = words
    return (high.astype(jnp.uint64) << np.uint64(32)) | low.astype(jnp.uint64)
