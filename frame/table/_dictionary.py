# SPDX-License-Identifier: Apache-2.0
"""Host-side dictionaries for dictionary-encoded columns."""

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa

from ._string_order import ranked
from ._untyped import untyped_compute

Found = TypeVar("Found")

# Dictionaries of so many values keep them as objects, too, once a single one is read.
_MOST_OBJECTS = 1024


class Dictionary:
    """Distinct values, numbered from zero. Compared by content, so it is static under `jit`.

    The dictionary of a string column is sorted by code point, so that codes sort as strings do.
    """

    __slots__ = ("__weakref__", "_digest", "_objects", "values")

    def __init__(self, values: pd.Index):
        self.values: pd.Index = values
        self._digest: int | None = None
        self._objects: Any = None

    def __len__(self) -> int:
        return len(self.values)

    def __reduce__(self) -> Any:
        # String hashes differ between processes.
        return Dictionary, (self.values,)

    def __repr__(self) -> str:
        return f"Dictionary({len(self)} of {self.values.dtype})"

    def __hash__(self) -> int:
        if self._digest is None:
            sample = self.values[:: max(len(self) // NUM_HASHED, 1)]
            # pandas cannot hash every kind of object, so use their repr.
            content = tuple(map(repr, sample.to_numpy(object)))
            self._digest = hash((str(self.values.dtype), len(self), content))
        return self._digest

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, Dictionary)
            and type(self) is type(other)
            and hash(self) == hash(other)
            and self.values.dtype == other.values.dtype
            and self.values.equals(other.values)
        )

    def value_at(self, code: int) -> Any:
        """Decodes one code, which is not negative."""
        if len(self.values) > _MOST_OBJECTS:
            return self.values[code]
        # pandas takes ten times as long for a string of Arrow as NumPy for an object.
        if self._objects is None:
            self._objects = self.values.to_numpy(object)
        return self._objects[code]

    def take(self, codes: np.ndarray) -> Any:
        """Decodes codes to a pandas array; negative codes are missing values."""
        return pd.api.extensions.take(
            self.values.array, np.asarray(codes), allow_fill=True, fill_value=None
        )


# Values of a dictionary that its hash depends on.
NUM_HASHED = 1024


class UnencodedStrings(Dictionary):
    """The strings of rows, in any order and possibly repeated, until an operation needs codes."""

    __slots__ = ("_encoded", "_strings")

    def __init__(self, strings: pa.Array | pa.ChunkedArray):
        super().__init__(string_index(strings))
        self._strings = strings
        self._encoded: tuple[np.ndarray, Dictionary] | None = None

    def __reduce__(self) -> Any:
        return UnencodedStrings, (self.strings,)

    @property
    def strings(self) -> pa.Array:
        """The strings as one Arrow array; the chunks of a file are combined when it is needed."""
        if isinstance(self._strings, pa.ChunkedArray):
            self._strings = self._strings.combine_chunks()
            self.values = string_index(self._strings)
        return self._strings

    @property
    def is_encoded(self) -> bool:
        """Whether an operation has needed codes."""
        return self._encoded is not None

    @property
    def encoded(self) -> tuple[np.ndarray, Dictionary]:
        """The code of each string and the sorted dictionary, found once."""
        if self._encoded is None:
            self._encoded = encode_strings(self.strings)
        return self._encoded

    def take(self, codes: np.ndarray) -> Any:
        """Decodes positions to a pandas array, without a copy if they are those of all rows."""
        rows = self._strings[: len(codes)]
        is_missing = codes < 0
        are_rows = is_missing | (codes == np.arange(len(codes), dtype=codes.dtype))
        if are_rows.all() and len(rows) == len(codes) and is_missing.sum() == rows.null_count:
            return self.values.array[: len(codes)]
        return string_index(self.strings.take(pa.array(codes, mask=is_missing))).array


class HostObjects:
    """Host objects, one per row of the original column. Compared by identity.

    Attributes:
        values: the objects.
        arrow_type: the type of Arrow that they came from, such as that of decimals or dates.
    """

    __slots__ = ("_found", "arrow_type", "values")
    # What stands for a missing value.
    missing: ClassVar[float | None] = np.nan

    def __init__(self, values: np.ndarray, arrow_type: pa.DataType | None = None):
        self.values: np.ndarray = values
        self.arrow_type: pa.DataType | None = arrow_type
        self._found: dict[Any, Any] = {}

    def __len__(self) -> int:
        return len(self.values)

    def __reduce__(self) -> Any:
        return HostObjects, (self.values, self.arrow_type)

    def once(self, find: Callable[[np.ndarray], Found]) -> Found:
        """What a function finds in the objects, found once."""
        if find not in self._found:
            self._found[find] = find(self.values)
        return self._found[find]

    def take(self, codes: np.ndarray) -> np.ndarray:
        """Decodes codes; negative codes become `missing`."""
        values = np.append(self.values, np.empty(1, object))
        values[-1] = self.missing
        return values[np.asarray(codes)]


class ArrowObjects(HostObjects):
    """Structs or maps of Arrow, which keep their type, one per row of the original column.

    Attributes:
        arrow: the structs or maps.
        shows_arrow: whether pandas shows them in an Arrow-backed dtype, not as objects.
    """

    __slots__ = ("arrow", "shows_arrow")
    # As in pandas, which has it from Arrow.
    missing = None

    def __init__(self, arrow: pa.Array, shows_arrow: bool = False):
        super().__init__(arrow.to_pandas().to_numpy(object), arrow.type)
        self.arrow, self.shows_arrow = arrow, shows_arrow

    def __reduce__(self) -> Any:
        return ArrowObjects, (self.arrow, self.shows_arrow)

    def take(self, codes: np.ndarray) -> Any:
        """Decodes codes; negative codes are missing values."""
        if not self.shows_arrow:
            return super().take(codes)
        return pd.array(self.arrow_of(codes), dtype=pd.ArrowDtype(self.arrow.type))

    def arrow_of(self, codes: np.ndarray) -> pa.Array:
        """The structs or maps of codes."""
        return self.arrow.take(pa.array(codes, mask=codes < 0))


def encode_strings(strings: Any) -> tuple[np.ndarray, Dictionary]:
    """Codes and sorted dictionary of a string array of pandas or Arrow; -1 if missing."""
    if isinstance(strings, pa.ChunkedArray) and pa.types.is_dictionary(strings.type):
        return _unify_pieces(strings.chunks)
    arrow = arrow_strings(strings)
    repeats = num_repeats(arrow)
    # The sort finds equal strings, in less time than a large hash table.
    return _encode_by_hash(arrow, repeats) if repeats > 1 else _encode_by_rank(arrow)


# Pieces that are encoded in parallel should have much fewer strings than rows.
LEAST_REPEATS = 16


def _encode_by_hash(strings: pa.Array, repeats: float) -> tuple[np.ndarray, Dictionary]:
    num_pieces = pa.cpu_count()
    if num_pieces == 1 or repeats < LEAST_REPEATS or len(strings) < LEAST_SAMPLED:
        return _unify_pieces([strings.dictionary_encode()])
    size = -(-len(strings) // num_pieces)
    pieces = [strings[start : start + size] for start in range(0, len(strings), size)]
    with ThreadPoolExecutor(num_pieces) as threads:
        return _unify_pieces(list(threads.map(pa.Array.dictionary_encode, pieces)))


def _unify_pieces(pieces: Sequence[pa.DictionaryArray]) -> tuple[np.ndarray, Dictionary]:
    """Codes and sorted dictionary of dictionary-encoded pieces."""
    dictionaries: list[pa.Array] = [pa.array([], pa.large_string())]
    numbers: list[int] = []
    for piece in pieces:
        # The pieces of a row group of Parquet share a dictionary.
        if not numbers or not piece.dictionary.equals(dictionaries[-1]):
            dictionaries.append(piece.dictionary)
        numbers.append(len(dictionaries) - 1)
    ranks, dictionary = _encode_by_rank(pa.concat_arrays(map(arrow_strings, dictionaries)))
    bounds = itertools.pairwise(np.cumsum([0, *map(len, dictionaries)]))
    new_codes = [np.append(ranks[start:stop], np.int32(-1)) for start, stop in bounds]
    codes = np.empty(sum(map(len, pieces)), np.int32)
    start = 0
    for piece, number in zip(pieces, numbers, strict=True):
        rows = slice(start, start + len(piece))
        old_codes = piece.indices.cast(pa.int32()).fill_null(-1).to_numpy()
        # The code -1 of a missing string wraps around to the last new code.
        np.take(new_codes[number], old_codes, out=codes[rows], mode="wrap")
        start = rows.stop
    return codes, dictionary


def _encode_by_rank(strings: pa.Array) -> tuple[np.ndarray, Dictionary]:
    if strings.null_count:
        codes = np.full(len(strings), -1, np.int32)
        is_valid = strings.is_valid().to_numpy(zero_copy_only=False)
        codes[is_valid], dictionary = _encode_by_rank(strings.drop_null())
        return codes, dictionary
    codes, rows = ranked(strings)
    return codes, Dictionary(string_index(strings.take(pa.array(rows))))


def encode_unless_near_unique(strings: Any) -> tuple[np.ndarray, Dictionary]:
    """Codes and dictionary; for a near-unique column positions and `UnencodedStrings`."""
    if isinstance(strings, pa.ChunkedArray) and pa.types.is_dictionary(strings.type):
        return encode_strings(strings)
    arrow = _large_strings(strings)
    repeats = num_repeats(arrow)
    if not _are_near_unique(len(arrow), repeats):
        return _encode_by_hash(arrow_strings(arrow), repeats)
    positions = np.arange(len(arrow), dtype=np.int32)
    if arrow.null_count:
        positions[np.asarray(arrow.is_null())] = -1
    return positions, UnencodedStrings(arrow)


@functools.lru_cache(maxsize=1024)
def encode_each(strings: tuple[str, ...]) -> tuple[np.ndarray, Dictionary]:
    """Codes, read-only, and sorted dictionary of a few strings without missing ones, cached."""
    distinct = sorted(set(strings))
    numbers = {string: number for number, string in enumerate(distinct)}
    codes = np.fromiter(map(numbers.__getitem__, strings), np.int32, len(strings))
    codes.flags.writeable = False
    return codes, Dictionary(pd.Index(distinct, dtype="str"))


def arrow_strings(strings: object) -> pa.Array:
    """Converts strings of pandas, Arrow or Python to one Arrow array of large strings."""
    arrow = _large_strings(strings)
    return arrow.combine_chunks() if isinstance(arrow, pa.ChunkedArray) else arrow


def _large_strings(strings: Any) -> pa.Array | pa.ChunkedArray:
    arrow = strings if isinstance(strings, (pa.Array, pa.ChunkedArray)) else _as_arrow(strings)
    if pa.types.is_dictionary(arrow.type):
        arrow = arrow.cast(arrow.type.value_type)
    return arrow.cast(pa.large_string())


# Columns of fewer rows are encoded in milliseconds.
LEAST_SAMPLED = 1 << 16
# Equal strings in a sample of a column that has two rows for each string.
NUM_EQUAL = 32
# Largest share of equal strings in a sample of a column that counts as near-unique: some strings
# of free text repeat often, so the mean number of repeats says little about the number of strings.
NEAR_UNIQUE = 0.05


def num_repeats(strings: pa.Array | pa.ChunkedArray) -> float:
    """Estimates how many other rows have the string of a row; infinite for a short column.

    With `r` of them for each row, a sample of `k` of `n` rows has about `r * k * k / (2 * n)`
    strings that are equal to an earlier one, if `k` is small.
    """
    num_rows = len(strings)
    if num_rows < LEAST_SAMPLED:
        return math.inf
    size = _sample_size(num_rows)
    rows = np.random.default_rng(0).choice(num_rows, size, replace=False, shuffle=False)
    chunks = strings.chunks if isinstance(strings, pa.ChunkedArray) else [strings]
    starts = np.cumsum([0, *map(len, chunks)])
    rows.sort()
    own_rows = np.split(rows, np.searchsorted(rows, starts[1:-1]))
    # Arrow would copy all chunks to take rows of them.
    sample = pa.chunked_array(
        [
            chunk.take(pa.array(own - start))
            for chunk, own, start in zip(chunks, own_rows, starts[:-1], strict=True)
        ]
    )
    num_distinct = untyped_compute.count_distinct(sample, mode="all").as_py()
    return (size - num_distinct) / NUM_EQUAL


def _sample_size(num_rows: int) -> int:
    return math.isqrt(2 * NUM_EQUAL * num_rows)


def _are_near_unique(num_rows: int, repeats: float) -> bool:
    """Whether encoding the strings is work that had better wait until their codes are needed."""
    return repeats * NUM_EQUAL <= NEAR_UNIQUE * _sample_size(num_rows)


def encode_objects(values: object) -> tuple[np.ndarray, Dictionary] | None:
    """Encodes a list or object array if pandas infers strings; otherwise returns None."""
    objects = _objects_of(values)
    if objects is None:
        return None
    try:
        has_all = _are_strings(objects, skipna=False)
        if not has_all and not _are_strings(objects, skipna=True):
            return None
        encoded = _encode_few(objects) if has_all else None
        return encode_unless_near_unique(_as_arrow(objects)) if encoded is None else encoded
    except (TypeError, ValueError):
        # Leave values that Arrow rejects to pandas, which reads them or raises a clear error.
        return None


# Sample size for detecting strings and for estimating the number of distinct values.
NUM_SAMPLED = 4096


def _objects_of(values: Any) -> np.ndarray | None:
    """Converts a list or object array to objects if its first value is a string, else None."""
    is_array = type(values) is np.ndarray and values.dtype == object and values.ndim == 1
    if not is_array and not isinstance(values, list):
        return None
    first = next((value for value in values[:NUM_SAMPLED] if not _is_missing(value)), None)
    if not isinstance(first, str):
        return None
    return np.fromiter(values, object, len(values)) if isinstance(values, list) else values


def _is_missing(value: object) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and value != value)


def _are_strings(objects: np.ndarray, skipna: bool) -> bool:
    return pd.api.types.infer_dtype(objects, skipna=skipna) == "string"


def _encode_few(strings: np.ndarray) -> tuple[np.ndarray, Dictionary] | None:
    """Encodes strings by pandas' factorize if few are distinct, otherwise returns None.

    For a million strings with a thousand distinct, it takes 67% to 80% of Arrow's time.
    """
    sampled = strings[:: max(len(strings) // NUM_SAMPLED, 1)].tolist()
    if len(set(sampled)) > len(sampled) // 2:
        return None
    codes, distinct = pd.factorize(strings)
    if any("\\ud" in string for string in distinct):
        # pandas confuses a lone surrogate with its escaped form.
        return None
    new_codes, dictionary = encode_strings(pa.array(distinct, pa.large_string()))
    return new_codes[codes], dictionary


def string_index(strings: pa.Array | pa.ChunkedArray) -> pd.Index:
    """An index of pandas' string dtype."""
    return pd.Index(strings.to_pandas(), dtype="str") if len(strings) else pd.Index([], dtype="str")


def _as_arrow(strings: object) -> pa.Array | pa.ChunkedArray:
    return pa.array(strings, type=pa.large_string(), from_pandas=True)


def sorted_dictionary(strings: Any) -> tuple[np.ndarray, Dictionary]:
    """Codes and sorted dictionary of a list of strings; -1 if missing."""
    return encode_strings(pd.array(strings, dtype="str"))


def unify(dictionaries: Sequence[Dictionary]) -> tuple[Dictionary, tuple[np.ndarray | None, ...]]:
    """Merges dictionaries into a sorted one, with the new code of each old code.

    Returns None in place of the new codes if all dictionaries are equal.
    """
    encoded = [_encoded_already(dictionary) for dictionary in dictionaries]
    unified, new_codes = _unify(tuple(dictionary for _, dictionary in encoded))
    pairs = zip(encoded, new_codes, strict=True)
    return unified, tuple(_composed(codes, new) for (codes, _), new in pairs)


def _encoded_already(dictionary: Dictionary) -> tuple[np.ndarray | None, Dictionary]:
    """The codes and the dictionary of strings that were encoded before."""
    if isinstance(dictionary, UnencodedStrings) and dictionary.is_encoded:
        return dictionary.encoded
    return None, dictionary


def _composed(codes: np.ndarray | None, new_codes: np.ndarray | None) -> np.ndarray | None:
    if codes is None or new_codes is None:
        return new_codes if codes is None else codes
    return np.append(new_codes, np.int32(-1))[codes]


@functools.lru_cache(maxsize=64)
def _unify(
    dictionaries: tuple[Dictionary, ...],
) -> tuple[Dictionary, tuple[np.ndarray | None, ...]]:
    first = dictionaries[0]
    if all(dictionary == first for dictionary in dictionaries):
        codes, unified = first.encoded if isinstance(first, UnencodedStrings) else (None, first)
        return unified, (codes,) * len(dictionaries)
    strings = [arrow_strings(dictionary.values) for dictionary in dictionaries]
    codes, unified = _encode_by_rank(pa.concat_arrays(strings))
    pieces = np.split(codes, np.cumsum([len(dictionary) for dictionary in dictionaries])[:-1])
    return unified, tuple(pieces)
