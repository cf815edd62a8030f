# SPDX-License-Identifier: Apache-2.0
"""Host-side dictionaries for dictionary-encoded columns."""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc


class Dictionary:
    """Distinct values, numbered from zero. Compared by content, so it is static under `jit`.

    The dictionary of a string column is sorted by code point, so that codes sort as strings do.
    """

    __slots__ = ("__weakref__", "_digest", "values")

    def __init__(self, values: pd.Index):
        self.values = values
        self._digest: int | None = None

    def __len__(self) -> int:
        return len(self.values)

    def __reduce__(self) -> Any:
        # String hashes differ between processes.
        return Dictionary, (self.values,)

    def __repr__(self) -> str:
        return f"Dictionary({len(self)} of {self.values.dtype})"

    def __hash__(self) -> int:
        if self._digest is None:
            # pandas cannot hash every kind of object, so use their repr.
            is_object = self.values.dtype == object
            content = tuple(map(repr, self.values)) if is_object else _hashes(self.values)
            self._digest = hash((str(self.values.dtype), content))
        return self._digest

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, Dictionary)
            and hash(self) == hash(other)
            and self.values.dtype == other.values.dtype
            and self.values.equals(other.values)
        )

    def take(self, codes: np.ndarray) -> Any:
        """Decodes codes to a pandas array; negative codes are missing values."""
        return pd.api.extensions.take(
            self.values.array, np.asarray(codes), allow_fill=True, fill_value=None
        )


def _hashes(values: pd.Index) -> bytes:
    hashes: Any = pd.util.hash_pandas_object(values, index=False)  # pyright: ignore
    return hashes.to_numpy().tobytes()


class HostObjects:
    """Host objects, one per row of the original column. Compared by identity."""

    __slots__ = ("values",)

    def __init__(self, values: np.ndarray):
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def take(self, codes: np.ndarray) -> np.ndarray:
        """Decodes codes; negative codes become NaN."""
        values = np.append(self.values, np.empty(1, object))
        values[-1] = np.nan
        return values[np.asarray(codes)]


def encode_strings(strings: Any) -> tuple[np.ndarray, Dictionary]:
    """Codes and sorted dictionary of a string array of pandas or Arrow; -1 if missing."""
    arrow = strings if isinstance(strings, (pa.Array, pa.ChunkedArray)) else _as_arrow(strings)
    if pa.types.is_dictionary(arrow.type):
        arrow = arrow.cast(arrow.type.value_type)
    encoded = arrow.cast(pa.large_string()).dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.unify_dictionaries().combine_chunks()
        if isinstance(encoded, pa.ChunkedArray):
            encoded = pa.DictionaryArray.from_arrays(
                pa.array([], pa.int32()), pa.array([], pa.large_string())
            )
    first_seen = encoded.dictionary
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    order = pc.array_sort_indices(first_seen).to_numpy()  # pyright: ignore
    new_codes = np.empty(len(order) + 1, np.int32)
    new_codes[order] = np.arange(len(order), dtype=np.int32)
    new_codes[-1] = -1
    return new_codes[codes], Dictionary(string_index(first_seen.take(pa.array(order))))


def encode_objects(values: Any) -> tuple[np.ndarray, Dictionary] | None:
    """Encodes a list or object array if pandas infers strings; otherwise returns None."""
    objects = _objects_of(values)
    if objects is None:
        return None
    try:
        has_all = _are_strings(objects, skipna=False)
        if not has_all and not _are_strings(objects, skipna=True):
            return None
        encoded = _encode_few(objects) if has_all else None
        return encode_strings(_as_arrow(objects)) if encoded is None else encoded
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


def _is_missing(value: Any) -> bool:
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


def string_index(strings: pa.Array) -> pd.Index:
    """An index of pandas' string dtype."""
    return pd.Index(strings.to_pandas(), dtype="str") if len(strings) else pd.Index([], dtype="str")


def _as_arrow(strings: Any) -> pa.Array | pa.ChunkedArray:
    return pa.array(strings, type=pa.large_string(), from_pandas=True)


def sorted_dictionary(strings: Any) -> tuple[np.ndarray, Dictionary]:
    """Codes and sorted dictionary of a list of strings; -1 if missing."""
    return encode_strings(pd.array(strings, dtype="str"))


def unify(dictionaries: Sequence[Dictionary]) -> tuple[Dictionary, tuple[np.ndarray | None, ...]]:
    """Merges dictionaries into a sorted one, with the new code of each old code.

    Returns None in place of the new codes if all dictionaries are equal.
    """
    return _unify(tuple(dictionaries))


@functools.lru_cache(maxsize=64)
def _unify(
    dictionaries: tuple[Dictionary, ...],
) -> tuple[Dictionary, tuple[np.ndarray | None, ...]]:
    first = dictionaries[0]
    if all(dictionary == first for dictionary in dictionaries):
        return first, (None,) * len(dictionaries)
    strings = np.concatenate([dictionary.values.to_numpy(object) for dictionary in dictionaries])
    codes, unified = encode_strings(pa.array(strings, pa.large_string()))
    pieces = np.split(codes, np.cumsum([len(dictionary) for dictionary in dictionaries])[:-1])
    return unified, tuple(pieces)
