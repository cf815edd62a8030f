# SPDX-License-Identifier: Apache-2.0
"""What the results of `rolling`, `expanding` and `ewm` share, and those of groups."""

import copy
from typing import Any, Self

from ..align._align import same_labels
from ..table._column import Array
from ..table._ndframe import NDFrame, SeriesBase


class RowWindows:
    """Methods that give each row a value of its window.

    Args:
        of: the rows.
        how: which rows a window has, and what they weigh.
    """

    def __init__(self, of: Any, how: Any):
        self._of, self._how = of, how

    def __getitem__(self, key: Any) -> Self:
        return self._over(self._of[key])

    def _over(self, of: Any) -> Self:
        """The same windows of other rows."""
        windows = copy.copy(self)
        windows._of = of
        return windows

    def agg(self, func: Any) -> Any:
        """Calls a method by name."""
        if not isinstance(func, str):
            raise NotImplementedError(
                f"agg: func must be the name of a method, got {func!r}. Call each method by itself."
            )
        return getattr(self, func)()

    aggregate = agg

    def _segmented(self, of: Any) -> tuple[Any, Array | None]:
        """The rows in the order of their windows, and the ids of segments where windows stop."""
        return of, None


def as_other(of: Any, other: Any, pairwise: Any, method: str) -> Any:
    """Checks the series whose values go with those of windows; by default that of the windows."""
    if other is None and isinstance(of, SeriesBase):
        other = of
    if other is not None and not isinstance(other, NDFrame):
        raise ValueError("other must be a DataFrame or Series")
    if pairwise or not isinstance(other, SeriesBase):
        raise NotImplementedError(
            f"{method}: other must be a series, and pairwise left out. Call it for each column."
        )
    if not same_labels(of._table, other._table):
        raise NotImplementedError(
            f"{method}: both must have the same row labels, in the same order. Call align() first."
        )
    return other
