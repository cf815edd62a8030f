# SPDX-License-Identifier: Apache-2.0
"""Numbers of the host in the dtype of a column, without rounding.

NumPy and pandas convert 64-bit integers to float64 where they meet floats or missing values. Beyond
2**53 neighbouring integers would then be equal.
"""

import math
import numbers as abstract
from typing import Any

import numpy as np
import pandas as pd


def index_of(listed: object) -> pd.Index:
    """Listed values as an index that holds each number exactly, as objects if necessary."""
    keys = listed if isinstance(listed, pd.Index) else pd.Index(listed, tupleize_cols=False)
    if not isinstance(keys.dtype, np.dtype):
        is_number = pd.api.types.is_numeric_dtype(keys.dtype)
        return keys.astype(object) if is_number else keys
    if keys.dtype.kind not in "fc" or hasattr(listed, "dtype"):
        return keys
    # pandas makes floats of integers beside missing values, and complex numbers of both.
    if keys.dtype.kind == "f" and pd.api.types.infer_dtype(listed, skipna=True) == "floating":
        return keys
    return pd.Index(listed, dtype=object, tupleize_cols=False)


def in_dtype_of(keys: pd.Index, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """Converts keys to the real dtype of a column.

    Returns:
        The converted keys, and flags of the numbers that the dtype represents exactly. NaN and
        values of other types have none.
    """
    keys = index_of(keys)
    if keys.dtype == object:
        return _of_objects(keys, dtype)
    if not isinstance(keys.dtype, np.dtype) or keys.dtype.kind not in "iuf":
        return np.zeros(len(keys), dtype), np.zeros(len(keys), np.bool_)
    values = keys.to_numpy()
    with np.errstate(invalid="ignore", over="ignore"):
        cast = values.astype(dtype)
        # Each conversion is exact only below the first number that does not fit.
        fits = _are_below_limit(values, dtype) & _are_below_limit(cast, values.dtype)
        is_exact = fits & (cast.astype(values.dtype) == values) & ((cast < 0) == (values < 0))
    return cast, is_exact


def _are_below_limit(values: np.ndarray, dtype: np.dtype) -> Any:
    """Whether values are below the first number too large for an integer dtype."""
    if dtype.kind not in "iu":
        return True
    limit = int(np.iinfo(dtype).max) + 1
    return values < (limit if values.dtype.kind in "iu" else float(limit))


def _of_objects(keys: pd.Index, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    cast, is_exact = np.zeros(len(keys), dtype), np.zeros(len(keys), np.bool_)
    with np.errstate(over="ignore"):
        for position, key in enumerate(keys):
            if isinstance(key, (abstract.Number, np.bool_)):
                cast[position], is_exact[position] = _of_object(key, dtype)
    return cast, is_exact


def _of_object(key: object, dtype: np.dtype) -> tuple[Any, bool]:
    number = _as_python(key)
    try:
        cast = dtype.type(int(number) if dtype.kind in "iu" else float(number))
    except (OverflowError, TypeError, ValueError):  # Too large, complex, infinite, or NaN.
        return 0, False
    # Python compares integers and floats without rounding them.
    return cast, bool(cast.item() == number)


def _as_python(key: object) -> Any:
    number = key.item() if isinstance(key, np.generic) else key
    return number.real if isinstance(number, complex) and not number.imag else number


def lower_neighbours(keys: pd.Index, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """The greatest numbers of a real dtype that are not above keys.

    Returns:
        The numbers, and 1 for keys above theirs, 0 for equal keys, and -1 for keys below all
        numbers, for which the least stands. NaN is equal to itself, and above all integers.
    """
    numbers, is_exact = in_dtype_of(keys, dtype)
    gaps = np.where(is_exact, np.int8(0), np.int8(1))
    inexact = np.flatnonzero(~is_exact)
    values = keys.to_numpy()[inexact]
    if values.dtype.kind == "f" and dtype.kind in "iu":
        info = np.iinfo(dtype)
        floors = np.floor(values)
        is_low, is_high = floors < float(info.min), ~(floors < float(int(info.max) + 1))
        inside = np.where(is_low | is_high, 0.0, floors).astype(dtype)
        numbers[inexact] = np.where(is_low, info.min, np.where(is_high, info.max, inside))
        gaps[inexact[is_low]] = -1
        return numbers, gaps
    with np.errstate(over="ignore"):
        for position, value in zip(inexact, values, strict=True):
            numbers[position], gaps[position] = _lower_neighbour(_as_python(value), dtype)
    return numbers, gaps


def _lower_neighbour(number: Any, dtype: np.dtype) -> tuple[Any, int]:
    """The `lower_neighbours` of a number that the dtype does not represent."""
    is_nan = number != number
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        if not is_nan and number < int(info.min):
            return info.min, -1
        return (info.max if is_nan or number > int(info.max) else math.floor(number)), 1
    if is_nan:
        return np.nan, 0
    try:
        cast = dtype.type(float(number))
    except OverflowError:
        cast = dtype.type(np.inf if number > 0 else -np.inf)
    return (np.nextafter(cast, dtype.type(-np.inf)) if cast.item() > number else cast), 1
