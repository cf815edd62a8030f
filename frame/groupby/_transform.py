# SPDX-License-Identifier: Apache-2.0
"""`transform` of grouped frames and series."""

from collections.abc import Sequence
from typing import Any

from ..table._column import Column
from ..table._layout import ONE_DEVICE
from ..table._take import settled, take_columns
from ._agg import NAMES, ROW_METHODS, Aggregation, GroupByAggregation
from ._grouped_column import Reduction
from ._user_functions import SegmentFunction


class GroupByTransformation(GroupByAggregation):
    """`transform`: the reduction of a group for each of its rows."""

    def transform(self, func: Any, *args: Any, **kwargs: Any) -> Any:
        """Broadcasts the reduction of each group to its rows, or calls a row-wise method.

        Args:
            func: the name of a reduction, or of a row-wise method such as "cumsum" or "rank"; a
                NumPy reduction such as `np.sum`; or the result of `segment_function`.
            args: passed to a row-wise method.
            kwargs: passed to the method or the reduction.

        Differences from pandas:
            See `agg`.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> frame = JaxFrame({"k": [2, 1, 2], "x": [1.0, 2.0, 4.0]})
            >>> frame.groupby("k").x.transform("mean").tolist()
            [2.5, 2.0, 2.5]
        """
        if isinstance(func, str) and func in ROW_METHODS:
            return getattr(self, func)(*args, **kwargs)
        if isinstance(func, str) and (func not in NAMES or func.startswith("arg")):
            raise ValueError(f"{func!r} is not a valid function name for transform(name)")
        if args or (isinstance(func, str) and func.startswith("idx")):
            raise NotImplementedError(f"groupby: transform of {func!r} with these arguments.")
        how = self._as_reduction(func)
        if isinstance(how, SegmentFunction):
            columns = [
                self._by_segments(Aggregation(label, position, how), by_segment=True)
                for label, position in self._own()
            ]
            return self._of_rows(self._spread(columns))  # pyright: ignore
        grouped = self
        if kwargs.pop("numeric_only", False) and not self._is_series:
            grouped = self._numeric()
        how = _with_settings(how, kwargs)
        if how.op == "size":
            (column,) = self._spread(self._sizes(by_segment=True))  # pyright: ignore
            name = self._labels[0] if self._is_series else None
            column = settled(column, self._table.num_rows)
            return self._source._make_series(column, name, self._table)
        columns = grouped._reduced(grouped._pairs(how), by_segment=True)
        return grouped._of_rows(grouped._spread(columns))  # pyright: ignore

    def _spread(self, columns: Sequence[Column]) -> tuple[Column, ...]:
        """Gathers each row's value from the values of the segments."""
        # Segment values are replicated, not sharded over the mesh.
        return take_columns(
            columns, self._groups.segment_ids, ONE_DEVICE, holes=self._grouped.may_drop
        )


def _with_settings(how: Reduction, settings: dict[str, Any]) -> Reduction:
    unknown = set(settings) - set(Reduction._fields[1:])
    if unknown:
        raise TypeError(f"transform({how.op!r}) got an unexpected argument {sorted(unknown)[0]!r}")
    return how._replace(**settings)
