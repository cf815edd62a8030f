# SPDX-License-Identifier: Apache-2.0
"""Sums and counts of groups by direct addressing: keys are integers of a known small range."""

import functools
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...primitives._direct_index import DirectIndex
from ...primitives.staging import tiered
from ..groupby._grouped_column import Reduction
from ..groupby._one_pass_sums import SIZES, SUMS, count_of, sum_of, sums_from
from ..plan._node import Call, Node, Scan
from ..plan._value_ranges import value_ranges
from ..table._column import Array
from ..table._column_labels import Labels
from ..table._dtypes import wide
from ..table._from_host import column_from
from ..table._layout import ONE_DEVICE
from ..table._ndframe import FrameBase, NDFrame
from ..table._row_index import RANGE
from ..table._table import Table, as_count
from ._groups import Grouping, grouping_of
from ._key_bounds import Bounds, beyond_bounds, key_bounds, num_slots

# The rows of a batch for each slot of the table: a pass over the slots then takes little.
LEAST_ROWS_OF_SLOT = 4
# From so many rows on a batch takes longer than its calls.
LEAST_IN_PLACE = 1 << 18
_REDUCTIONS = {
    "sum": Reduction("sum", min_count=0),
    "total": Reduction("mean"),
    "count": Reduction("count"),
}


def bounds_for(grouping: Grouping, node: Node, batch_rows: int) -> Bounds | None:
    """The bounds of the keys, if `GroupsInRange` finds groups; else None.

    Args:
        grouping: the groups and their reductions.
        node: the step whose rows are grouped.
        batch_rows: the number of rows of a batch.
    """
    if node.empty._layout != ONE_DEVICE or grouping.is_numbered:
        return None
    columns = [node.empty._column(label) for label in grouping.values]
    are_numbers = all(column.is_numeric and column.dtype.kind != "c" for column in columns)
    if not are_numbers or not {one.function for one in grouping.outputs} <= SUMS.keys():
        return None
    return key_bounds(node, grouping.keys, batch_rows // LEAST_ROWS_OF_SLOT)


def rows_in_place(call: Call, scan: Scan, most_rows: int) -> int:
    """The number of rows of the batches that a step adds up.

    Batches are single row groups of a file where JAX can read these in place, if the step is
    `GroupsInRange`: others keep rows, and do better with as many in a batch as fit.

    Args:
        call: the step.
        scan: the source of the batches.
        most_rows: the most rows of a batch.
    """
    found = grouping_of(call) if call.method == "groupby" else None
    if found is None or bounds_for(found, call.inputs[0], most_rows) is None:
        return most_rows
    ranges = value_ranges(call.inputs[0], found.keys[0]) or ()
    num_rows = max((group.num_rows for group in ranges), default=0)
    is_whole = scan.empty._layout.capacity_for(num_rows) == num_rows
    return num_rows if is_whole and LEAST_IN_PLACE <= num_rows <= most_rows else most_rows


class GroupsInRange:
    """The groups of the batches so far: a slot for each combination of keys that may come."""

    def __init__(self, grouping: Grouping, bounds: Bounds):
        """Starts without groups."""
        self._grouping, self._bounds = grouping, tuple(bounds)
        self._num_slots = num_slots(bounds)
        self._sums: dict[str, np.ndarray] = {}
        self._num_rows = 0
        self._key_dtypes: list[np.dtype] = []

    @property
    def is_empty(self) -> bool:
        """Whether there are no groups."""
        return not self._sums

    def add(self, rows: NDFrame) -> None:
        """Adds the rows of a batch that is named by `Grouping.named`.

        Raises:
            OSError: a key is beyond its bounds.
        """
        table, grouping = rows._table, self._grouping
        keys = table.columns[: len(grouping.keys)]
        # The number of rows needs a column, whichever it is.
        columns = table.columns[len(grouping.keys) :] or keys
        plan = [(column, _REDUCTIONS[part]) for column, part in grouping.parts.values()]
        first, slots = self._slots([key.data for key in keys])
        parts = sums_from(
            first, slots, table.num_rows, self._num_slots, columns, [(0, Reduction("size")), *plan]
        )
        found = {"size": parts[SIZES]}
        for name, (column, spec) in zip(grouping.parts, plan, strict=True):
            if spec.op == "count":
                found[name] = parts.get(count_of(column), parts[SIZES])
            else:
                found[name] = parts[sum_of(column, spec, columns[column])]
        for name, values in found.items():
            is_count = np.dtype(values.dtype) == np.int32
            values = np.asarray(values, wide(np.int64) if is_count else None)
            # Infinities of both signs are NaN, as in one sum.
            with np.errstate(invalid="ignore", over="ignore"):
                self._sums[name] = values + self._sums[name] if name in self._sums else values
        self._num_rows += table.num_rows_on_host
        if self._sums["size"].sum() != self._num_rows:
            raise beyond_bounds("groupby", f"{list(self._bounds)} and a key beyond it")
        self._key_dtypes = [key.dtype for key in keys]

    def _slots(self, keys: Sequence[Array]) -> tuple[Any, Array]:
        """The number of the first slot, and the slot of each row."""
        if len(keys) > 1:
            dtypes = [key.dtype for key in keys]
            return None, _slots(keys, DirectIndex.between(self._bounds, dtypes))
        (key,), ((low, _),) = keys, self._bounds
        return key.dtype.type(low), key

    def taken(self) -> Any:
        """The partial rows of a `GroupState`, one for each group, which leave the table."""
        (slots,) = np.nonzero(self._sums["size"])
        index = DirectIndex.between(self._bounds, self._key_dtypes)
        rows = [key for key, _ in index.keys_of(slots, self._key_dtypes)]
        rows += [values[slots] for values in self._sums.values()]
        labels = Labels.of([*self._grouping.key_names, *self._sums])
        self._sums, self._num_rows = {}, 0
        capacity = ONE_DEVICE.capacity_for(len(slots))
        columns = [column_from(values, capacity, ONE_DEVICE) for values in rows]
        return FrameBase.frame_class._of(Table(tuple(columns), RANGE, as_count(len(slots))), labels)


@functools.partial(tiered, static_argnums=1)
def _slots(keys: Sequence[Array], index: DirectIndex) -> Array:
    """The slot of each row; -1 beyond the bounds."""
    slots = index.numbers(keys, (None,) * len(keys), np.int32)
    return jnp.where(index.holds(keys), slots, np.int32(-1))
