# SPDX-License-Identifier: Apache-2.0
"""Groups and segments of rows."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ... import primitives
from ...primitives.staging import tiered
from ..table._column import Array, Column
from ..table._dtypes import wide
from ..table._layout import ONE_DEVICE, Layout
from ..table._table import NO_ROWS, Count
from ..table._take import gather
from ..table._tracing import is_traced


class Reduction(NamedTuple):
    """A reduction and its arguments. Static under `jit`.

    `is_kleene`: whether a missing value makes "any" or "all" missing, unless others decide.
    """

    op: str
    min_count: int = -1
    ddof: int = 1
    skipna: bool = True
    q: float = 0.5
    interpolation: str = "linear"
    is_kleene: bool = False


@functools.partial(
    jax.tree_util.register_dataclass,
    data_fields=("ids", "of_groups"),
    meta_fields=("num_segments", "layout"),
)
@dataclasses.dataclass(frozen=True)
class Segments:
    """The segment of each row, and the segments that are groups. A pytree.

    Attributes:
        ids: the segment id of each row, -1 for rows without a group.
        of_groups: the segment id of each group; None if segment ids number the groups.
        num_segments: the number of segment ids. Static.
        layout: the layout of the rows. Static.
    """

    ids: Array
    of_groups: Array | None
    num_segments: int
    layout: Layout

    @property
    def is_sharded(self) -> bool:
        """Whether arrays with an element for each segment are sharded, because there are many."""
        return not self.layout.holds_groups(self.num_segments, self.ids.shape[0])

    @property
    def by_group(self) -> Layout:
        """The layout of arrays with an element for each segment."""
        return self.layout if self.is_sharded else ONE_DEVICE

    @property
    def on_mesh(self) -> dict[str, Any]:
        """The arguments of a primitive with a result for each segment."""
        on_mesh = self.layout.on_mesh
        return {**on_mesh, "scattered": True} if self.is_sharded else on_mesh

    def for_rows(self, values: object, ids: Array | None = None) -> Any:
        """Gathers each row's value from the values of the segments; zeros for rows of none."""
        return gather(values, self.ids if ids is None else ids, self.by_group)

    def reduce(self, op: str, x: object, ids: Array | None = None, **settings: Any) -> Any:
        """Reduces the rows of each segment, by default of all rows with a group."""
        settings |= self.on_mesh
        ids = self.ids if ids is None else ids
        return primitives.segment_reduce(x, ids, self.num_segments, op, **settings)

    def scan(self, x: object, op: Any, **settings: Any) -> Any:
        """Scans the rows of each segment."""
        settings |= {"is_sorted": False, "num_segments": self.num_segments, **self.layout.on_mesh}
        return primitives.segmented_scan(x, op, segment_ids=self.ids, **settings)

    def select_groups(self, values: object) -> Any:
        """Selects the groups' values from those of all segments. Traced."""
        if self.of_groups is not None:
            if self.is_sharded:
                values = gather(values, self.of_groups, self.layout)
            else:
                values = jax.tree.map(lambda leaf: leaf[self.of_groups], values)
        return self.layout.constrain(values)


class Options(NamedTuple):
    """The options of `groupby`; see `JaxFrame.groupby`."""

    sort: bool = True
    dropna: bool = True
    as_index: bool = True
    observed: bool = True
    capacity: int | None = None
    group_keys: bool = True

    @property
    def adds_keys(self) -> bool:
        """Whether the keys label rows that keep their own labels, as in `take` and `corr`."""
        return self.as_index and self.group_keys


@dataclasses.dataclass(eq=False)
class Groups:
    """The groups of a table's rows.

    Attributes:
        given_ids: the segment id of each row, or a function that computes them on demand.
        of_groups: the segment id of each group; None if segment ids number the groups.
        keys: the values of each key, by group.
        count: the number of groups.
        num_segments: the number of segment ids.
        capacity: the capacity of results with a row per group.
        layout: the layout of the rows.
        may_be_empty: whether a group may have no rows.
    """

    given_ids: Array | Callable[[], Array]
    of_groups: Array | None
    keys: tuple[Column, ...]
    count: Count
    num_segments: int
    capacity: int
    layout: Layout
    may_be_empty: bool = False

    @property
    def segments(self) -> Segments:
        """The segments, with the ids computed on demand."""
        ids = self.given_ids() if callable(self.given_ids) else self.given_ids
        if not is_traced(ids):
            self.given_ids = ids
        return Segments(ids, self.of_groups, self.num_segments, self.layout)

    @property
    def has_ids(self) -> bool:
        """Whether the segment ids are computed."""
        return not callable(self.given_ids)

    @property
    def group_ids(self) -> Array:
        """The number of each row's group, in the order of the groups; -1 for rows without one."""
        segments = self.segments
        return segments.ids if self.of_groups is None else _group_ids(segments, self.count)

    @property
    def is_traced(self) -> bool:
        """Whether the groups were computed inside `jit`."""
        return is_traced(self.count, self.of_groups, self.keys)

    @property
    def needed(self) -> Count:
        """The capacity that a traced result needs if it does not fit; otherwise zero."""
        if not is_traced(self.count):
            return NO_ROWS
        return jnp.where(self.count > self.capacity, self.count, np.int32(0))


@tiered
def _group_ids(segments: Segments, count: Count) -> Array:
    assert segments.of_groups is not None
    # Counted from one, because rows without a segment gather a zero.
    numbers = jnp.arange(1, segments.of_groups.shape[0] + 1, dtype=jnp.int32)
    target = jnp.where(numbers <= count, segments.of_groups, segments.num_segments)
    if segments.is_sharded:
        settings = segments.on_mesh
        number_of = primitives.segment_max(numbers, target, segments.num_segments, **settings)
    else:
        number_of = jnp.zeros(segments.num_segments, jnp.int32).at[target].set(numbers, mode="drop")
    return segments.for_rows(number_of) - np.int32(1)


def sum_dtype(dtype: Any) -> Any:
    """pandas' dtype of a sum of values."""
    if jnp.issubdtype(dtype, jnp.inexact):
        return dtype
    return wide(np.uint64 if jnp.issubdtype(dtype, jnp.unsignedinteger) else np.int64)
