# SPDX-License-Identifier: Apache-2.0
"""The labels of rows: an implicit range, or columns."""

import dataclasses
import functools
from collections.abc import Hashable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...primitives.staging import tiered
from ...shardings._compat import is_under_trace, is_x64_enabled
from ._column import NUMBER, Array, Column
from ._host_column import MOST_ROWS, HostColumn
from ._layout import Layout
from ._level_orders import LevelOrders, with_orders
from ._shown_range import as_shown
from ._to_host import to_host
from ._tracing import FoundOnce, at_once, is_traced


@functools.partial(
    jax.tree_util.register_dataclass,
    data_fields=["stored", "shift"],
    meta_fields=["names", "start", "step", "has_positions", "missing_last"],
    # Frames whose times have another frequency, or whose levels have another order, share programs,
    # which return none.
    drop_fields=["freq", "orders"],
)
@dataclasses.dataclass(frozen=True)
class RowIndex:
    """The labels of a frame's rows. A pytree.

    Attributes:
        stored: one column per level; empty for an implicit range.
        names: the name of each level; one name for a range.
        start: the first label of a range.
        step: the difference of adjacent labels of a range.
        has_positions: whether the stored column holds int32 positions in a range instead of labels.
            Rows selected from a range store these: they are half as wide as int64 labels.
        missing_last: whether missing labels come behind others where levels become columns. They do
            for the keys of groups; other levels have them in front, as in pandas.
        freq: the frequency of the times that the labels were selected from, known outside `jit`.
        orders: the order of the labels of each level, known outside `jit`.
        shift: what is added to all labels of a range, as data: batches of a stream, which differ in
            it, share programs.
    """

    stored: tuple[Column, ...] = ()
    names: tuple[Hashable, ...] = (None,)
    start: int = 0
    step: int = 1
    has_positions: bool = False
    missing_last: bool = False
    freq: Any = None
    orders: LevelOrders = dataclasses.field(default=(), compare=False)
    shift: Any = None

    @property
    def is_range(self) -> bool:
        """Whether the labels are implicit."""
        return not self.stored

    @property
    def first(self) -> Any:
        """The first label of a range: an int, or a traced array."""
        if self.shift is None:
            return self.start
        return self.start + (self.shift if is_traced(self.shift) else int(self.shift))

    def is_same_range(self, other: "RowIndex") -> bool:
        """Whether the labels at each position of two ranges are known to be equal."""
        if self.step != other.step:
            return False
        if self.shift is other.shift:
            return self.start == other.start
        return not is_traced(self.shift, other.shift) and self.first == other.first

    def with_start_as_data(self) -> "RowIndex":
        """The same labels, with those of other ranges of this step in one structure."""
        if (self.stored and not self.has_positions) or not _is_label(self.first):
            return self
        return dataclasses.replace(self, start=0, shift=label_dtype()(self.first))

    @property
    def levels(self) -> tuple[Column, ...]:
        """The labels, one column per level; empty for a range."""
        if not self.has_positions:
            return self.stored
        (positions,) = self.stored
        if type(positions) is HostColumn:
            return self._found.once("levels", lambda: (self._labels_on_host(positions.rows[0]),))
        row_ids = positions.data
        return self._found.once("levels", lambda: (Column(at_once(self.labels_at, row_ids)),))

    def _labels_on_host(self, row_ids: np.ndarray) -> Column:
        start, step = _as_labels(self.first, self.step)
        return HostColumn((start + step * row_ids.astype(start.dtype), None), NUMBER)

    @functools.cached_property
    def _found(self) -> FoundOnce:
        return FoundOnce()

    @property
    def num_levels(self) -> int:
        """The number of index levels."""
        return max(len(self.stored), 1)

    def named(self, names: Sequence[Hashable]) -> "RowIndex":
        """The same labels under other names."""
        return dataclasses.replace(self, names=tuple(names))

    def described_by(self, index: pd.Index) -> "RowIndex":
        """The same labels with the names and the frequency of their pandas index."""
        return dataclasses.replace(self, names=tuple(index.names), freq=frequency_of(index))

    def with_stored(self, stored: Sequence[Column]) -> "RowIndex":
        """The labels of other rows, in the same representation."""
        return dataclasses.replace(self, stored=tuple(stored))

    def from_position(self, position: int) -> "RowIndex":
        """The labels of a range from a position on."""
        index = object.__new__(RowIndex)
        # Each slice makes one: `dataclasses.replace` would check each field.
        index.__dict__.update(self.__dict__, start=self.start + position * self.step, freq=None)
        return index

    def at(self, row_ids: Array) -> "RowIndex":
        """Selects labels of a range by position; invalid positions give arbitrary labels."""
        return self.at_positions(Column(row_ids))

    def at_positions(self, positions: Column) -> "RowIndex":
        """Selects labels of a range by a column of positions."""
        return RowIndex((positions,), self.names, self.start, self.step, True, shift=self.shift)

    def columns(self, capacity: int, layout: Layout) -> tuple[Column, ...]:
        """The levels as columns; materializes a range."""
        if self.stored:
            return self.levels
        if capacity <= MOST_ROWS and layout.mesh is None and not is_under_trace():
            start, step = _as_labels(self.first, self.step)
            labels = np.arange(capacity, dtype=start.dtype) * step + start
            return (HostColumn((labels, None), NUMBER),)
        return (Column(_range_labels(*_as_labels(self.first, self.step), capacity, layout)),)

    def labels_at(self, row_ids: Array) -> Array:
        """Labels of a range by position; invalid positions give arbitrary labels."""
        return _labels_at(row_ids, *_as_labels(self.first, self.step))

    def shown(self, num_rows: int) -> pd.Index:
        """The labels of the first rows as `frame.index` shows them."""
        return as_shown(self.to_pandas(num_rows))

    def to_pandas(self, num_rows: int) -> pd.Index:
        """Converts the labels of the first rows to a pandas index."""
        if not self.stored:
            first = self.first
            stop = first + num_rows * self.step
            return pd.RangeIndex(first, stop, self.step, name=self.names[0])
        arrays = [to_host(level, num_rows) for level in self.levels]
        if len(arrays) == 1:
            return with_frequency(as_pandas_index(arrays[0], self.names[0]), self.freq)
        levels = [as_pandas_index(array, None) for array in arrays]
        index = pd.MultiIndex.from_arrays(levels, names=list(self.names))
        return with_orders(index, self.orders) if self.orders else index


RANGE = RowIndex()


def index_names(index: RowIndex) -> pd.Index:
    """An empty pandas index with the names of the levels."""
    if index.num_levels == 1:
        return pd.Index([], name=index.names[0])
    return pd.MultiIndex.from_arrays([[]] * index.num_levels, names=list(index.names))


def as_pandas_index(values: Any, name: Hashable) -> pd.Index:
    """A pandas index with the dtype of the values."""
    return pd.Index(values, dtype=values.dtype, name=name)


def frequency_of(index: Any) -> Any:
    """The frequency of an index of times, or None."""
    is_of_times = isinstance(index, (pd.DatetimeIndex, pd.TimedeltaIndex))
    return index.freq if is_of_times else None


def common_frequency(indexes: Sequence[RowIndex]) -> Any:
    """The frequency that all labels have, which those of all rows together may keep."""
    freqs = [index.freq for index in indexes]
    return freqs[0] if all(freq == freqs[0] for freq in freqs) else None


def with_frequency(index: Any, freq: Any) -> pd.Index:
    """Labels that were selected from times of a frequency, with their own one.

    As in pandas, labels at equal distances have a multiple of it, and others have none.
    """
    if freq is None or not isinstance(index, (pd.DatetimeIndex, pd.TimedeltaIndex)):
        return index
    try:
        if len(index) > 1:
            num_steps = _num_steps(index[0], index[1], freq)
            if num_steps == 0:
                return index
            freq = freq * num_steps
        return type(index)(index, freq=freq)
    except ValueError:
        # Another distance, or a time that the clocks of the zone skip.
        return index


def _num_steps(first: Any, second: Any, freq: Any) -> int:
    """The number of steps from a time to another one, negative if it is earlier; 0 if unknown."""
    if pd.isna(first) or pd.isna(second):
        return 0
    times: Any = pd.date_range if isinstance(first, pd.Timestamp) else pd.timedelta_range
    distance = len(times(min(first, second), max(first, second), freq=freq)) - 1
    return distance if first < second else -distance


def label_dtype() -> type[np.integer]:
    """The dtype of a materialized range."""
    return np.int64 if is_x64_enabled() else np.int32


def _is_label(value: Any) -> bool:
    """Whether a number fits the dtype of labels. Traced ones are of it."""
    limits = np.iinfo(label_dtype())
    return is_traced(value) or limits.min <= value <= limits.max


def _as_labels(*values: Any) -> tuple[Any, ...]:
    dtype = label_dtype()
    if not all(map(_is_label, values)):
        raise OverflowError(f"labels of rows must fit {dtype.__name__}, got {values}.")
    return tuple(value.astype(dtype) if is_traced(value) else dtype(value) for value in values)


@functools.partial(tiered, static_argnums=(2, 3))
def _range_labels(start: Array, step: Array, capacity: int, layout: Layout) -> Array:
    return layout.constrain(start + step * jnp.arange(capacity, dtype=start.dtype))


@tiered
def _labels_at(row_ids: Array, start: Array, step: Array) -> Array:
    return start + step * row_ids.astype(start.dtype)
