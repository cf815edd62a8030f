# SPDX-License-Identifier: Apache-2.0
"""`asof`: the last row without missing values at or before each of some labels."""

import functools
from typing import Any

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ... import primitives
from ...primitives.staging import tiered
from ..mapping._missing import missing_flags
from ..table._arguments import listed_labels
from ..table._column import Array, Column
from ..table._dtypes import narrowed, wide
from ..table._from_host import index_from
from ..table._layout import Layout
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._table import Count, as_count, is_row
from ..table._take import gather, position, settled, take_columns
from ..table._tracing import is_traced
from ..table._types import LabelOrLabels
from ..table._units import LATEST, counts_on_host
from ..table._zones import in_utc


class LastRows(NDFrame):
    """`asof`, shared by frames and series."""

    def _asof(self, where: object, positions: list[int]) -> Any:
        """The last rows in which none of some columns is missing."""
        table = self._table
        if isinstance(where, SeriesBase):
            where = where.to_pandas()
        is_list = pd.api.types.is_list_like(where)
        if is_traced(where) or (not is_list and is_traced(table)):
            raise NotImplementedError(
                "asof: inside jit where must be a list of the host. Use merge_asof() for labels "
                "on the device."
            )
        labels = self._labels_in_order()
        targets = where if isinstance(where, pd.Index) else pd.Index(where if is_list else [where])
        queries, is_low = _as_queries(targets, labels)
        layout = table.layout
        capacity = layout.capacity_for(len(targets))
        padded = [np.zeros(capacity, one.dtype) for one in (queries, is_low)]
        for one, values in zip(padded, (queries, is_low), strict=True):
            one[: len(values)] = values
        missing = missing_flags([table.columns[at] for at in positions])
        row_ids, has_values = _last_rows(
            labels.data, tuple(missing), table.num_rows, *map(layout.place, padded), layout
        )
        num_rows = as_count(len(targets))
        is_whole = is_list or isinstance(self, FrameBase)
        if is_whole and not is_traced(has_values) and not bool(has_values):
            # As in pandas, whatever the dtypes are.
            gaps = layout.place(np.full(capacity, np.nan, wide(np.float64)))
            columns = tuple(Column(gaps) for _ in table.columns)
        else:
            taken = take_columns(table.columns, row_ids, layout, holes=True)
            columns = tuple(settled(column, num_rows) for column in taken)
        index = index_from(narrowed(targets), capacity, layout)
        found = self._like(table.replace(columns=columns, index=index, num_rows=num_rows))
        return found if is_list else found.to_pandas()

    def _labels_in_order(self) -> Column:
        """The labels of rows; raises unless they are numbers or times that ascend."""
        table = self._table
        columns = table.index_columns()
        (labels, *others) = columns
        is_number = labels.kind == "number" and labels.dtype.kind in "iuf"
        if others or not (is_number or labels.type.is_time):
            kind = "several levels" if others else labels.dtype_name
            raise NotImplementedError(
                f"asof: the labels of rows must be numbers or times, got {kind}. Set such a column "
                "by set_index()."
            )
        if is_traced(labels.data, table.num_rows):
            return labels
        if not self._make_series(labels, None).is_monotonic_increasing:
            raise ValueError("asof requires a sorted index. Call sort_index() first.")
        return labels

    def _is_before(self, where: object) -> bool:
        """Whether a label comes before the first row."""
        return bool(where < self.head(1).index[0])


def _as_label(where: object) -> Any:
    """The label of a text, which names a time."""
    return pd.Timestamp(where) if isinstance(where, str) else where


class FrameLastRows(FrameBase, LastRows):
    """`asof` of a frame."""

    def asof(self, where: object, subset: LabelOrLabels = None) -> Any:
        """The last row without missing values at or before each of some labels.

        Rows must be in the order of their labels, which inside `jit` is not checked. Inside `jit`
        `where` must be a list.

        Args:
            where: a label, or a list or an index of labels.
            subset: the columns in which a row must have values; all by default.

        Returns:
            A frame with a row for each label of `where`; for one label, a series of pandas. Labels
            without such a row give missing values.

        Differences from pandas:
            Labels must be numbers or times. Inside `jit` columns without a value keep their dtype.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> frame = JaxFrame({"x": [1.0, None, 3.0]}, index=[10, 20, 30])
            >>> frame.asof([5, 25, 30]).x.tolist()
            [nan, 1.0, 3.0]
        """
        where = _as_label(where)
        labels = listed_labels(self._labels if subset is None else subset)
        positions = [at for label in labels for at in self._labels.positions(label)]
        found = self._asof(where, positions)
        if not isinstance(found, pd.DataFrame):
            return found
        is_before = self._is_before(where)
        return pd.Series(np.nan, self._labels.index, name=where) if is_before else found.iloc[-1]


class SeriesLastRows(SeriesBase, LastRows):
    """`asof` of a series."""

    def asof(self, where: object, subset: LabelOrLabels = None) -> Any:
        """The last value that is not missing at or before each of some labels; see `JaxFrame.asof`.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> prices = JaxSeries([1.0, None, 3.0], index=[10, 20, 30])
            >>> prices.asof([5, 25, 30]).tolist(), float(prices.asof(20))
            ([nan, 1.0, 3.0], 1.0)
        """
        if subset is not None:
            raise ValueError("subset is not valid for Series")
        where = _as_label(where)
        found = self._asof(where, [0])
        if not isinstance(found, pd.Series):
            return found
        return np.nan if self._is_before(where) else found.iloc[0]


def _as_queries(targets: pd.Index, labels: Column) -> tuple[np.ndarray, np.ndarray]:
    """Values in the dtype of the labels, at most those searched for, and which are below all."""
    values, kind = in_utc(targets), targets.dtype.kind
    wanted = {"datetime": "M", "timedelta": "m"}.get(labels.kind)
    is_low = np.zeros(len(values), bool)
    has_zone = isinstance(targets.dtype, pd.DatetimeTZDtype)
    if kind not in (wanted or "iuf") or has_zone != (labels.type.zone is not None):
        raise TypeError(
            f"asof: where must be of the kind of the row labels, got {targets.dtype} for "
            f"{labels.dtype_name}."
        )
    if wanted is not None:
        times = counts_on_host(values, labels.type.unit or "ns")
        # Missing times come last.
        is_last = pd.isna(targets) | (times.side > 0)
        return np.where(is_last, LATEST, times.counts), times.side < 0
    if labels.is_float:
        with np.errstate(over="ignore"):
            found = values.astype(labels.dtype)
        lower = np.nextafter(found, labels.dtype.type(-np.inf))
        return np.where(found.astype(np.float64) > values, lower, found), is_low
    limits = np.iinfo(labels.dtype)
    values = np.floor(values) if kind == "f" else values
    is_low, is_high = values < limits.min, ~(values < limits.max)
    inner = np.where(is_low | is_high, 0, values).astype(labels.dtype)
    return np.where(is_high, labels.dtype.type(limits.max), inner), is_low


@functools.partial(tiered, static_argnums=5)
def _last_rows(
    labels: Array,
    missing: tuple[Array, ...],
    num_rows: Count,
    queries: Array,
    is_low: Array,
    layout: Layout,
) -> tuple[Array, Array]:
    """The last row with values at or before each query, -1 for none; and whether any row has."""
    capacity = labels.shape[0]
    has_values = is_row(capacity, num_rows, layout)
    for flags in missing:
        has_values = has_values & ~flags
    last = jnp.where(has_values, position(capacity, layout), np.int32(-1))
    last = primitives.inclusive_scan(last, "max", **layout.on_mesh)
    ends = primitives.searchsorted(
        labels, queries, side="right", num_valid=num_rows, **layout.on_mesh
    )
    found = gather(last, ends - 1, layout)
    return jnp.where((ends == 0) | is_low, np.int32(-1), found), jnp.any(has_values)
