# SPDX-License-Identifier: Apache-2.0
"""Compares a result with the expected one, column by column, and counts the columns."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from frame_parity import Bound, assert_same


class Difference(NamedTuple):
    """What differs: the dtype that was expected, and the message of the comparison."""

    dtype: str
    found: str


def differences(got: Any, expected: Any, bound: Bound) -> tuple[int, list[Difference]]:
    """The number of compared columns, and those that differ."""
    if isinstance(expected, tuple) and isinstance(got, tuple) and len(got) == len(expected):
        parts = [differences(one, other, bound) for one, other in zip(got, expected, strict=True)]
        return sum(count for count, _ in parts), [one for _, found in parts for one in found]
    if not isinstance(expected, pd.DataFrame):
        found = _difference(got, expected, bound)
        return 1, [] if found is None else [Difference(_dtype(expected), found)]
    count = max(len(expected.columns), 1)
    if _is_same_frame(got, expected):
        return count, []
    is_comparable = (
        isinstance(got, pd.DataFrame)
        and got.columns.equals(expected.columns)
        and len(got) == len(expected)
    )
    if not is_comparable:
        return count, [Difference("frame", str(_difference(got, expected, bound)))]
    found = [
        Difference(str(expected.iloc[:, place].dtype), one)
        for place in range(len(expected.columns))
        if (one := _difference(got.iloc[:, place], expected.iloc[:, place], bound)) is not None
    ]
    if not found and (labels := _difference(got.index, expected.index, bound)) is not None:
        found = [Difference("labels", labels)]
    return count, found


def _difference(got: Any, expected: Any, bound: Bound) -> str | None:
    if isinstance(expected, pd.Series) and _have_no_categories(got, expected):
        # pandas takes the type of no categories for object.
        got, expected = (one.astype("str") for one in (got, expected))
    try:
        assert_same(got, expected, bound)
    except (AssertionError, TypeError, AttributeError, ValueError, OverflowError) as error:
        return str(error) or repr(error)
    return None


def _have_no_categories(*columns: Any) -> bool:
    dtypes = [getattr(column, "dtype", None) for column in columns]
    return all(isinstance(one, pd.CategoricalDtype) and not len(one.categories) for one in dtypes)


def _dtype(expected: Any) -> str:
    return str(getattr(expected, "dtype", type(expected).__name__))


def _is_same_frame(got: Any, expected: pd.DataFrame) -> bool:
    """Whether two frames have the same bits: the cheap answer to most comparisons."""
    if not isinstance(got, pd.DataFrame) or not got.columns.identical(expected.columns):
        return False
    if not _is_same_index(got.index, expected.index):
        return False
    return all(
        _is_same_array(got.iloc[:, place].array, expected.iloc[:, place].array)
        for place in range(len(expected.columns))
    )


def _is_same_index(got: pd.Index, expected: pd.Index) -> bool:
    if object in (got.dtype, *getattr(got, "dtypes", ())):
        return False
    return got.names == expected.names and len(got) == len(expected) and got.identical(expected)


def _is_same_array(got: Any, expected: Any) -> bool:
    if got.dtype != expected.dtype:
        return False
    if got.dtype == object or isinstance(got.dtype, pd.CategoricalDtype):
        # Equal objects may be of several types.
        return False
    if isinstance(got.dtype, np.dtype):
        return np.asarray(got).tobytes() == np.asarray(expected).tobytes()
    return bool(got.equals(expected))
