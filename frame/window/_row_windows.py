# SPDX-License-Identifier: Apache-2.0
"""What the results of `rolling`, `expanding` and `ewm` share, and those of groups."""

import copy
from collections.abc import Mapping
from typing import Any, Self

import pandas as pd

from ..reductions._agg import check_labels, name_of
from ..table._arguments import listed
from ..table._column import Array
from ..table._column_labels import Labels, nested
from ..table._ndframe import FrameBase, SeriesBase
from ..table._types import Options


def without_bools(frame: Any) -> Any:
    """The columns of a frame that hold numbers, for `numeric_only` of windows."""
    return frame._columns_at(frame._pick(lambda one: one.is_numeric and not one.is_bool))


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

    def agg(self, func: Any, *args: object, **kwargs: object) -> Any:
        """Calls a method by name, a function as `apply` does, or several of them.

        A list gives a column for each, a dict those of its columns.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([1, 2, 6]).rolling(2).agg(["sum", "max"])["sum"].tolist()
            [nan, 3.0, 8.0]
        """
        if isinstance(func, str):
            return getattr(self, func)(*args, **kwargs)
        if callable(func):
            windows: Any = self
            return windows.apply(func, args=args, kwargs=kwargs)
        if not isinstance(func, (list, tuple, Mapping)):
            raise TypeError(f"'{type(func).__name__}' object is not callable")
        return self._by_several(func, args, kwargs)

    def _by_several(self, func: Any, args: Any, kwargs: Options) -> Any:
        """A column for each method of a list, or of a dict of columns."""
        of, of_columns = self._of, isinstance(self._of, FrameBase)
        is_by_column = isinstance(func, Mapping)
        if not isinstance(func, Mapping):
            func = {label: list(func) for label in (of._labels if of_columns else [None])}
        has_lists = any(isinstance(one, (list, tuple)) for one in func.values())
        if not of_columns and has_lists and list(func) != [None]:
            raise pd.errors.SpecificationError("nested renamer is not supported")
        if of_columns:
            check_labels(func, of._labels)
        names, parts = [], []
        for label, functions in func.items():
            windows = self[label] if of_columns else self
            for one in listed(functions):
                names.append(nested(label, name_of(one)) if has_lists else label)
                parts.append(windows.agg(one, *args, **kwargs))
        if not parts:
            raise ValueError("No objects to concatenate")
        if not all(isinstance(part, SeriesBase) for part in parts):
            raise NotImplementedError(
                "agg: several functions need windows of columns, without on= or as_index=False. "
                "Call each method by itself."
            )
        above = list(of._labels.index.names) if of_columns else []
        if not has_lists:
            labels = Labels.of(names, above or [None])
        elif not of_columns:
            labels = Labels.of([name for _, name in names])
        elif is_by_column:
            labels = Labels.of(names, [*above, None])
        else:
            labels = Labels.below(of._labels, names, [*above, None])
        columns = [part._only for part in parts]
        return parts[0]._make_frame(columns, labels, parts[0]._table)

    aggregate = agg

    def _segmented(self, of: object) -> tuple[Any, Array | None]:
        """The rows in the order of their windows, and the ids of segments where windows stop."""
        return of, None
