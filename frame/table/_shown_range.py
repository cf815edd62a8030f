# SPDX-License-Identifier: Apache-2.0
"""Ranges of labels as `frame.index` and `frame.columns` show them."""

from typing import Any

import pandas as pd


class RangeIndex(pd.RangeIndex):
    """pandas' range of labels, which takes a series of flags as a mask.

    pandas takes what it does not know for positions: `frame.index[frame.x > 2]` had the labels 0
    and 1. Its other indexes ask NumPy, which sees flags.
    """

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(key.to_pandas() if hasattr(key, "to_pandas") else key)


def as_shown(index: pd.Index) -> pd.Index:
    """An index that a user may select from by flags on the device."""
    if type(index) is not pd.RangeIndex:
        return index
    # pandas' own constructors make no subclass from a range.
    return RangeIndex._simple_new(index._range, index.name)
