# SPDX-License-Identifier: Apache-2.0
"""What the results of `rolling`, `expanding` and `ewm` share, and those of groups."""

import copy
from typing import Any, Self

from ..table._column import Array


class RowWindows:
    """Methods that give each row a value of its window.

    Args:
        of: the rows.
        how: which rows a window has, and what they weigh.
    """

    def __init__(self, of: Any, how: Any):
        self._of, self._how = of, how

    def __getitem__(self, key: Any) -> Self:
        windows = copy.copy(self)
        windows._of = self._of[key]
        return windows

    def agg(self, func: object) -> Any:
        """Calls a method by name."""
        if not isinstance(func, str):
            raise NotImplementedError(
                f"agg: func must be the name of a method, got {func!r}. Call each method by itself."
            )
        return getattr(self, func)()

    aggregate = agg

    def _segmented(self, of: object) -> tuple[Any, Array | None]:
        """The rows in the order of their windows, and the ids of segments where windows stop."""
        return of, None
