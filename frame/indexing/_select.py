# SPDX-License-Identifier: Apache-2.0
"""`frame.select`: columns by label and by expression."""

from typing import Any, Self

import pandas as pd

from ..table._expressions import apply_if_callable, evaluated, is_expression
from ..table._ndframe import FrameBase, SeriesBase


class FrameSelect(FrameBase):
    """Selection of columns in a given order."""

    def select(self, *columns: object, **values: object) -> Self:
        """The given columns, in the order of the arguments.

        Args:
            columns: labels, or expressions of `col`, which keep the label of their column; or one
                list of them. Later ones see the columns computed before.
            values: further columns by name: expressions, functions of the frame, series, arrays or
                scalars.

        Differences from pandas:
            Columns must have labels of one level, and expressions have no `rename`: name them by
            keyword.

        Example:
            >>> from jaxframes.frame import JaxFrame, col
            >>> frame = JaxFrame({"x": [1, 2], "y": [3, 4], "z": [5, 6]})
            >>> frame.select("z", total=col("x") + col("y")).to_pandas()
               z  total
            0  5      4
            1  6      6
        """
        if self._labels.index.nlevels > 1:
            raise NotImplementedError(
                "select: columns must have labels of one level. Use frame[labels]."
            )
        frame = self._made(self._table, self._labels)
        chosen, positions = [], []

        def take(at: int) -> None:
            chosen.append(frame._table.columns[at])
            positions.append(at)

        items = as_items(columns)
        labels = [item for item in items if not is_expression(item)]
        if absent := _absent(frame, items, labels):
            raise absent
        for item in items:
            if not is_expression(item):
                for at in frame._labels.positions(item):
                    take(at)
                continue
            series = named(item, frame)
            frame[series._name] = series
            take(frame._labels.position(series._name))
        for name, value in values.items():
            frame[name] = apply_if_callable(value, frame)
            take(frame._labels.position(name))
        return frame._make_frame(chosen, frame._labels.take(positions))


def named(item: object, frame: FrameBase) -> Any:
    """The series of an expression, with the label that it has in the result.

    Raises:
        TypeError: the expression is no column, or has no label.
    """
    series = evaluated(item, frame)
    if not isinstance(series, SeriesBase):
        raise TypeError(
            f"expression {item!r} evaluated to an object of type {type(series).__name__}, "
            "expected a Series or DataFrame; pass it as a keyword argument instead"
        )
    if series._name is None:
        raise TypeError(
            f"expression {item!r} evaluated to an unnamed Series; pass it as a keyword argument"
        )
    return series


def as_items(columns: tuple[Any, ...]) -> list[Any]:
    """The items of `select`: its arguments, or those of one list."""

    def is_sequence(item: object) -> bool:
        if isinstance(item, (set, frozenset)):
            raise TypeError(
                "`select` does not support sets, as the resulting column order would be "
                "undefined; pass a list instead"
            )
        return (
            not isinstance(item, tuple)
            and not is_expression(item)
            and pd.api.types.is_list_like(item)
        )

    if len(columns) == 1 and is_sequence(columns[0]):
        return list(columns[0])
    if any(map(is_sequence, columns)):
        raise TypeError(
            "`select` supports individual columns `df.select('col1', 'col2', ...)` or a single "
            "list `df.select(['col1', 'col2', ...])`, but not both. You can unpack the list if you "
            "have a mix: `df.select(*['col1', 'col2'], 'col3')`."
        )
    return list(columns)


def _absent(frame: FrameBase, items: list[object], labels: list[object]) -> Exception | None:
    """pandas' error for labels that the frame lacks, unless an expression may make them."""
    has_expressions = len(labels) < len(items)
    return None if has_expressions or not labels else frame._labels.absent(labels)
