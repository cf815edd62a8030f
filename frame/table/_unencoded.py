# SPDX-License-Identifier: Apache-2.0
"""Columns of near-unique strings, which are encoded when an operation needs their codes."""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
import pyarrow as pa

from ._column import Array, Column, ColumnType, Kind, common_family
from ._dictionary import UnencodedStrings, arrow_strings, encode_strings
from ._nullable import Family
from ._recode import has_few_left, renumbered, shifted, unencoded
from ._to_host import host_array
from ._tracing import FoundOnce, at_once, is_traced


@jax.tree_util.register_pytree_node_class
class UnencodedColumn(Column):
    """A string column with the strings of its rows on the host. A pytree.

    Rows move as positions in the strings. The first read of `data` or `type` encodes the strings,
    once for all columns that were taken from them, also inside `jit`.
    """

    _stored: Column

    def __init__(self, stored: Column):
        object.__setattr__(self, "_stored", stored)

    def tree_flatten(self) -> tuple[tuple[Column], None]:
        return (self._stored,), None

    @classmethod
    def tree_unflatten(cls, _: None, children: tuple[Column]) -> "UnencodedColumn":
        return cls(*children)

    def __reduce__(self) -> Any:
        return UnencodedColumn, (self._stored,)

    @property
    def stored(self) -> Column:
        """The positions, with `UnencodedStrings` for a dictionary."""
        return self._stored

    def forced(self) -> Column:
        """The column with the array of its positions."""
        stored = self._stored.forced()
        return self if stored is self._stored else UnencodedColumn(stored)

    def with_stored(self, stored: Column) -> Column:
        """The strings at other positions."""
        return UnencodedColumn(stored)

    @property
    def capacity(self) -> int:
        """The number of rows, including padding."""
        return self._stored.capacity

    def moved(self, arrays: tuple[Array, Array | None]) -> Column:
        """The strings of other rows."""
        return UnencodedColumn(self._stored.with_arrays(arrays))

    @property
    def data(self) -> Array:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The codes."""
        return self._encoded.data

    @property
    def type(self) -> ColumnType:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The type, with a sorted dictionary."""
        return self._encoded.type

    @property
    def family(self) -> Family | None:
        """The family of the dtype."""
        return self._stored.type.family

    @property
    def kind(self) -> Kind:
        """The kind of the values."""
        return "string"

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the codes."""
        return self._stored.dtype

    @property
    def dtype_name(self) -> str:
        """pandas' dtype name."""
        return self._stored.dtype_name

    @property
    def _encoded(self) -> Column:
        return self._found.once("encoded", lambda: at_once(_encode, self._stored))

    @functools.cached_property
    def _found(self) -> FoundOnce:
        return FoundOnce()


def _encode(column: Column) -> Column:
    strings: Any = column.dictionary
    assert isinstance(strings, UnencodedStrings)
    if has_few_left(column) and not is_traced(column):
        used = np.zeros(len(strings), np.bool_)
        positions = host_array(column.data)
        used[positions[(positions >= 0) & (positions < len(strings))]] = True
        codes = np.full(len(strings), -1, np.int32)
        codes[used], dictionary = encode_strings(strings.strings.filter(used))
    else:
        codes, dictionary = strings.encoded
    kind = ColumnType("string", dictionary, family=column.type.family)
    return Column(renumbered(column.data, codes), None, kind)


def joined_strings(columns: Sequence[Column]) -> tuple[Column, ...]:
    """Gives string columns one array of strings on the host, which joins all of theirs."""
    columns = [unencoded(column) for column in columns]
    first = columns[0].dictionary
    if all(column.dictionary is first for column in columns):
        return tuple(map(as_unencoded, columns))
    strings = [arrow_strings(column.dictionary.values) for column in columns]
    joined = UnencodedStrings(pa.concat_arrays(strings))
    common = ColumnType("string", joined, family=common_family(columns))
    starts = np.cumsum([0, *map(len, strings[:-1])])
    return tuple(
        UnencodedColumn(Column(shifted(column.data, start), None, common))
        for column, start in zip(columns, starts, strict=True)
    )


def as_unencoded(stored: Column) -> Column:
    """The column of stored arrays, with codes or with positions in `UnencodedStrings`."""
    is_encoded = not isinstance(stored.type.dictionary, UnencodedStrings)
    return stored if is_encoded else UnencodedColumn(stored)
