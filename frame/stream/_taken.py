# SPDX-License-Identifier: Apache-2.0
"""Rows from batches of any sizes, as many at a time as are asked for."""

from collections.abc import Iterator
from typing import Any

from ..combining._concat import stacked


class Taken:
    """Takes rows from batches.

    Args:
        batches: frames, or series, in the order of their rows.
        empty: one without rows.
    """

    def __init__(self, batches: Iterator[Any], empty: object = None):
        self.batches = batches
        self._empty = empty
        self._held: Any = None

    def rows(self, num_rows: int) -> Any:
        """The next rows.

        Raises:
            RuntimeError: there are fewer; a bug in this library.
        """
        parts = [] if self._held is None else [self._held]
        missing = num_rows - sum(map(len, parts))
        while missing > 0:
            part = next(self.batches, None)
            if part is None:
                raise RuntimeError("stream: rows that belong together differ in number.")
            parts.append(part)
            missing -= len(part)
        if not parts:
            return self._empty
        rows = stacked(parts)
        self._held = rows.iloc[num_rows:]
        return rows.iloc[:num_rows]
