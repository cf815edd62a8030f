# SPDX-License-Identifier: Apache-2.0
"""The table inside frames and series: columns of one capacity, an index and a row count."""

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from ...primitives import CapacityError
from ...primitives.staging import tiered
from ._column import Array, Column
from ._layout import ONE_DEVICE, Layout
from ._row_index import RANGE, RowIndex
from ._to_host import host_array
from ._tracing import is_traced

Count: TypeAlias = Any  # a scalar int32: NumPy's where the host knows it, else an array
NO_ROWS = np.int32(0)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Table:
    """Columns with row labels and a row count. A pytree.

    Attributes:
        columns: columns, padded to the capacity.
        index: the row labels.
        num_rows: the number of valid rows, which come first.
        needed: zero, or the capacity that a result inside `jit` would have required: rows were
            lost, and reading the table on the host raises CapacityError.
        layout: sharding of the rows.
    """

    columns: tuple[Column, ...]
    index: RowIndex = RANGE
    num_rows: Count = NO_ROWS
    needed: Count = NO_ROWS
    layout: Layout = dataclasses.field(default=ONE_DEVICE, metadata={"static": True})

    @property
    def capacity(self) -> int:
        """The number of rows, including padding."""
        for column in (*self.columns, *self.index.stored):
            return column.capacity
        return self.layout.capacity_for(0 if is_traced(self.num_rows) else int(self.num_rows))

    @property
    def num_rows_on_host(self) -> int:
        """The number of valid rows, read from the device if necessary."""
        num_rows = self.all_rows
        if type(num_rows) is not np.int32 and not _is_count(num_rows):
            raise TypeError(
                "JaxFrame: a frame that is read must have a number of rows, and a tree of "
                "gradients has none. Apply it to the frame that it belongs to, by jax.tree.map."
            )
        return int(host_array(num_rows) if isinstance(num_rows, jax.Array) else num_rows)

    @property
    def all_rows(self) -> Count:
        """The number of valid rows, checked for reductions: no row may have been lost.

        Raises:
            CapacityError: rows were lost. Not raised for traced counts; see `unless_lost`.
        """
        if isinstance(self.needed, jax.Array) and not is_traced(self.needed):
            needed = int(host_array(self.needed))
            if needed:
                raise CapacityError("JaxFrame", needed, self.capacity)
        return self.num_rows

    def unless_lost(self, value: Array) -> Array:
        """Replaces a traced float result with NaN if rows were lost."""
        if not is_traced(self.needed) or not jnp.issubdtype(value.dtype, jnp.inexact):
            return value
        return jnp.where(self.needed > 0, value.dtype.type(np.nan), value)

    def is_row(self) -> Array:
        """Flags the valid rows."""
        return is_row(self.capacity, self.num_rows, self.layout)

    def with_known_counts(self) -> "Table":
        """The same table with concrete counts moved to the host.

        Derived tables share the count. On the device, donating this table would delete it for all.
        """
        if type(self.num_rows) is np.int32 is type(self.needed):
            return self
        num_rows, needed = _on_host(self.num_rows), _on_host(self.needed)
        if num_rows is self.num_rows and needed is self.needed:
            return self
        # If rows were lost, `needed` stays an array, which `all_rows` checks.
        is_whole = type(needed) is np.int32 and not needed
        return self.replace(num_rows=num_rows, needed=needed if is_whole else self.needed)

    def with_count_arrays(self) -> "Table":
        """The same table whose counts on the host are arrays, not scalars.

        Scalars of NumPy are leaves that orbax does not restore.
        """
        return self._with_counts(np.int32, _as_array)

    def with_count_scalars(self) -> "Table":
        """Undoes `with_count_arrays`."""
        return self._with_counts(np.ndarray, _as_scalar)

    def _with_counts(self, kind: type, convert: Callable[[Any], Any]) -> "Table":
        num_rows, needed = self.num_rows, self.needed
        if type(num_rows) is not kind and type(needed) is not kind:
            return self
        return self.replace(
            num_rows=convert(num_rows) if type(num_rows) is kind else num_rows,
            needed=convert(needed) if type(needed) is kind else needed,
        )

    def replace(self, **changes: object) -> "Table":
        """A table with some fields replaced."""
        # Every call makes several tables: `dataclasses.replace` would check each field.
        table = object.__new__(Table)
        table.__dict__.update(self.__dict__, **changes)
        return table

    def with_columns(self, columns: Sequence[Column]) -> "Table":
        """The same rows with other columns."""
        table = object.__new__(Table)
        fields = table.__dict__
        fields.update(self.__dict__)
        fields["columns"] = tuple(columns)
        return table

    def with_stored(self, stored: Sequence[Column]) -> "Table":
        """The same rows with other columns, and after them other stored levels of the index."""
        num_columns, index = len(self.columns), self.index
        if index.stored:
            index = index.with_stored(stored[num_columns:])
        return self.replace(columns=tuple(stored[:num_columns]), index=index)

    def index_columns(self) -> tuple[Column, ...]:
        """The labels as columns; materializes a range."""
        return self.index.columns(self.capacity, self.layout)


def is_row(capacity: int, num_rows: Count, layout: Layout = ONE_DEVICE) -> Array:
    """Flags the valid rows among `capacity`."""
    return _is_row(num_rows, capacity, layout)


@functools.partial(tiered, static_argnums=(1, 2))
def _is_row(num_rows: Count, capacity: int, layout: Layout) -> Array:
    return layout.constrain(jnp.arange(capacity, dtype=jnp.int32) < num_rows)


def check_same_layout(caller: str, a: Table, b: Table) -> None:
    """Raises unless both tables lie on the same devices."""
    if a.layout != b.layout:
        raise ValueError(
            f"{caller}: frames must lie on the same devices, got {a.layout} and {b.layout}. "
            "Make one with sharding= that of the other."
        )


def either_needed(a: Count, b: Count) -> Count:
    """Combines `Table.needed` of two inputs."""
    if a is b:
        return a
    if isinstance(a, jax.Array) and isinstance(b, jax.Array):
        return jnp.maximum(a, b)
    return a if isinstance(a, jax.Array) else b


def _is_count(leaf: Any) -> bool:
    """Whether a leaf is a number of rows: not None, nor the derivative of one, which is float0."""
    return leaf is not None and getattr(leaf, "dtype", None) != jax.dtypes.float0


@functools.lru_cache(1024)
def _as_array(count: np.int32) -> np.ndarray:
    """A count as an array: one for all, so that a frame has the same leaves at each call."""
    array = np.asarray(count)
    array.flags.writeable = False
    return array


def _as_scalar(count: np.ndarray) -> Any:
    # Leaves of a tree may be anything: gradients, or the counts of a batch.
    return np.int32(count) if count.dtype == np.int32 and count.ndim == 0 else count


def _on_host(count: Count) -> Count:
    if isinstance(count, Tracer) or not isinstance(count, jax.Array):
        return count
    # A batch of counts (vmap) stays on the device; a donated count has no value.
    return count if count.ndim or count.is_deleted() else as_count(int(host_array(count)))


def as_count(num_rows: int) -> np.int32:
    """Converts a concrete row count."""
    return np.int32(num_rows)
