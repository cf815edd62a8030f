# SPDX-License-Identifier: Apache-2.0
"""Windows that stop at the ends of groups."""

from typing import Any, Self

import jax.numpy as jnp

from ...primitives.staging import tiered
from ..table._column import Array, Column
from ..table._ndframe import FrameBase, NDFrame
from ..table._row_index import RowIndex
from ..table._sort import sort_rows
from ..table._table import as_count, either_needed
from ..table._take import take_columns
from ..table._tracing import is_traced
from ..table._types import LabelOrLabels
from ..window._ewm import ExponentialWindows, as_decay
from ..window._paired_windows import PairedWindows
from ..window._reduce_windows import WindowReduction
from ..window._rolling import TimeWindows, Windows
from ..window._window_shape import as_expanding, as_rolling, without_on
from ._base import GroupByBase, Grouped


class _OfGroups(PairedWindows):
    """Windows of the rows of each group, beside a class of windows."""

    def __init__(self, of: FrameBase, how: object, grouped: Grouped):
        # Checks of a base class look at the groups.
        self._grouped = grouped
        super().__init__(of, how)

    def _of_pairs(
        self, method: str, how: Any, other: Any, pairwise: bool | None, numeric_only: bool
    ) -> Any:
        if other is not None:
            raise NotImplementedError(
                f"{method}: windows of groups take no other. Select both columns, and call it "
                "without other."
            )
        labels = None if self._of.ndim == 1 else self._of._labels.index
        if labels is not None and labels.nlevels > 1:
            raise NotImplementedError(
                f"{method}: column labels must have one level in windows of groups, got "
                f"{labels.nlevels}. Rename the columns first."
            )
        return super()._of_pairs(method, how, None, pairwise, numeric_only)

    def _segmented(self, of: NDFrame) -> tuple[Any, Array | None]:
        """Sorts the rows by group and adds the keys to the index; also the group of each row."""
        groups, keys = self._grouped.groups, self._grouped.key_names
        group_ids, num_rows = groups.group_ids, of._table.num_rows
        table = of._table.with_columns([*of._table.columns, Column(group_ids)])
        key = group_ids
        if self._grouped.may_drop:
            key, num_rows = _without_groups_last(group_ids)
            num_rows = num_rows if is_traced(num_rows) else as_count(int(num_rows))
        table = sort_rows(table, [(key, False)])
        *columns, sorted_ids = table.columns
        levels = take_columns(groups.keys, sorted_ids.data, table.layout)
        index = RowIndex((*levels, *table.index_columns()), (*keys, *table.index.names))
        needed = either_needed(table.needed, groups.needed)
        changes = {"columns": tuple(columns), "index": index, "needed": needed}
        return of._like(table.replace(num_rows=num_rows, **changes)), sorted_ids.data


class GroupWindows(_OfGroups, Windows):
    """`groups.rolling(...)` and `groups.expanding(...)`: windows of the rows of each group."""

    def __repr__(self) -> str:
        if self._window is None:
            return f"ExpandingGroupBy [min_periods={self._min_periods},method=single]"
        return f"RollingGroupBy [window={self._window},center={self._center},method=single]"

    def __getitem__(self, key: Any) -> Self:
        # As in pandas, `on` becomes the labels of the selected columns.
        selected, on = super().__getitem__(key), self._on
        if on is not None:
            index = RowIndex((on.column,), (on.name,))
            selected._of = selected._of._like(selected._of._table.replace(index=index))
        return selected

    def _groups_of(self, of: Any) -> Any:
        grouped, make = self._grouped, self._of._make_series
        keys = [make(key.column, key.name, grouped.table).to_pandas() for key in grouped.keys]
        settings = {name: getattr(grouped.options, name) for name in ("sort", "dropna", "observed")}
        return of.groupby([key.set_axis(of.index) for key in keys], **settings)

    def _take(self, how: WindowReduction, numeric_only: bool, q: object = None) -> Any:
        result = super()._take(how, numeric_only, q)
        # In pandas, expanding windows ignore as_index=False.
        if self._grouped.options.as_index or self._window is None:
            return result
        return result.reset_index(level=list(range(len(self._grouped.keys))))


class GroupTimeWindows(GroupWindows, TimeWindows):
    """`groups.rolling(...)` over spans of time."""


class GroupExponentialWindows(_OfGroups, ExponentialWindows):
    """`groups.ewm(...)`: exponentially weighted windows of the rows of each group."""


@tiered
def _without_groups_last(group_ids: Array) -> tuple[Array, Array]:
    """Unsigned ids, in which -1 becomes the greatest, and the number of rows with a group."""
    return group_ids.astype(jnp.uint32), jnp.sum(group_ids >= 0, dtype=jnp.int32)


class GroupByWindows(GroupByBase):
    """Windows over the rows of each group."""

    def rolling(
        self,
        window: object,
        min_periods: int | None = None,
        center: bool = False,
        win_type: object = None,
        on: LabelOrLabels = None,
        closed: object = None,
        method: str = "single",
    ) -> GroupWindows:
        """A window of rows, or a span of time, of each row's group; see `JaxFrame.rolling`.

        Times must ascend in each group. The rows of the result are sorted by group, and the keys
        are the first levels of the index; of columns selected from windows with `on`, that column
        is the last level.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> frame = JaxFrame({"k": [2, 1, 2], "x": [1.0, 2.0, 4.0]})
            >>> frame.groupby("k").rolling(2, min_periods=1).sum().to_pandas().x.to_dict()
            {(1, 1): 2.0, (2, 0): 1.0, (2, 2): 5.0}
        """
        of, column = without_on(self._values(), on)
        arguments = (window, min_periods, center, win_type, closed, None, method)
        shape = as_rolling(self._table, column, *arguments)
        kind = GroupWindows if shape.span is None else GroupTimeWindows
        return kind(of, shape, self._grouped)

    def expanding(self, min_periods: int = 1, method: str = "single") -> GroupWindows:
        """A window of all rows of its group up to each row; see `rolling`.

        Keys are always labels: as in pandas, `as_index=False` is ignored.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([1, 2, 6]).groupby(JaxSeries([5, 5, 0])).expanding().sum().tolist()
            [6.0, 1.0, 3.0]
        """
        return GroupWindows(self._values(), as_expanding(min_periods, method), self._grouped)

    def ewm(
        self, com: float | None = None, span: float | None = None, halflife: object = None,
        alpha: float | None = None, min_periods: int | None = 0, adjust: bool = True,
        ignore_na: bool = False, times: object = None, method: str = "single",
    ) -> GroupExponentialWindows:  # fmt: skip
        """Windows of all rows of its group up to each row, whose weights decay; see `rolling`.

        Keys are always labels: as in pandas, `as_index=False` is ignored. The weights are those of
        `JaxFrame.ewm`.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([0.0, 3.0, 6.0]).groupby([5, 5, 0]).ewm(alpha=0.5).mean().tolist()
            [6.0, 0.0, 2.0]
        """
        decay = as_decay(
            self._table, com, span, halflife, alpha, min_periods, adjust, ignore_na, times, method
        )
        return GroupExponentialWindows(self._values(), decay, self._grouped)

    def _values(self) -> Any:
        """The columns of windows."""
        values = self
        if not self._is_series:
            # The keys become labels, and pandas drops selected keys too.
            names = set(self._grouped.key_names)
            values = self._picked(
                [at for at, label in enumerate(self._labels) if label not in names]
            )
        return values._made(values._columns, self._table)
