# SPDX-License-Identifier: Apache-2.0
"""Columns that a reduction takes as they are, without flags for their rows.

| column | first pass | second pass |
|---|---|---|
| with a mask, a transform or further axes; "prod", "any", "all" | blocks | blocks |
| sum of floats | pairs of rows, in a fixed order | sum of squared distances |
| sum of integers; extremes of whole lanes | lanes | sum of squared distances |
| the same of floats that skip NaNs | as above, and blocks if there is a NaN | the same |
| argmin, argmax | as the extreme | blocks |

Bools, complex numbers and lengths without whole lanes take blocks. A column that is reduced in
several ways is read once for each.
"""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..contract._typing import Array
from ._blockwise import BlockParts, has_whole_lanes, identity_of_reduction, reduce_lanes
from ._pairwise_sum import pairwise_sum, sum_of_squared_distances
from ._reduce_passes import COUNT, Passes
from ._reduced_columns import Column, MaskedRows, ReducePlan
from ._segment_ops import quotient


def reduce_in_passes(
    rows: MaskedRows,
    operands: tuple[Any, ...],
    num_valid: Array | None,
    plan: ReducePlan,
    over: Any,
) -> tuple[Any, Any]:
    """The values and the counts of checked arguments; `over` combines the shards."""
    return _PlainColumns(rows, operands, num_valid, plan).reduced(over)


class _PlainColumns(Passes):
    """The passes; XLA reduces plain columns without blocks."""

    def _first_of(self, places: Sequence[int]) -> BlockParts:
        plain = [place for place in places if self._is_plain(self.columns[place])]
        parts = super()._first_of([place for place in places if place not in plain])
        _add_parts(parts, self._plain_parts(plain))
        return parts

    def _second_of(
        self, places: Sequence[int], firsts: Sequence[Any], counts: Sequence[Array]
    ) -> BlockParts:
        plain = [place for place in places if self._has_plain_distances(self.columns[place])]
        rest = [place for place in places if place not in plain]
        parts: BlockParts = {"sum": {}, **super()._second_of(rest, firsts, counts)}
        for place in plain:
            center = quotient(firsts[place], counts[place])
            x = self._leaf(place)
            # XLA would sum them in an order of its own.
            x = x if jnp.issubdtype(x.dtype, jnp.floating) else x.astype(center.dtype)
            parts["sum"][place] = sum_of_squared_distances(
                x, self.num_counted, center, self.plan.skip_nan
            )
        return parts

    def _is_plain(self, column: Column) -> bool:
        """Whether the first pass takes no flags for the rows."""
        plan = self.plan
        if not self._is_whole(column):
            return False
        name, num_rows = column.first, self.rows.num_rows
        is_float = jnp.issubdtype(column.dtype, jnp.floating)
        if name not in ("sum", "min", "max") or column.dtype == np.bool_:
            return False
        if name == "sum" and is_float and not plan.skip_nan:
            return jnp.issubdtype(column.computed, jnp.floating)
        if jnp.issubdtype(column.computed, jnp.complexfloating):
            return False
        return has_whole_lanes(num_rows)

    def _plain_parts(self, places: Sequence[int]) -> BlockParts:
        """The parts of columns that are reduced without flags."""
        parts: BlockParts = {}
        skipping: dict[int, Array] = {}
        for place in places:
            name, value = self.columns[place].first, self._plain_value(place)
            is_float = jnp.issubdtype(value.dtype, jnp.floating)
            if is_float and self.plan.skip_nan and self.columns[place].is_masked:
                skipping[place] = value
            elif is_float and name != "sum":
                is_nan = jnp.isnan(value)
                kept = jnp.where(is_nan, identity_of_reduction(name, value.dtype), value)
                _add_parts(parts, {name: {place: kept}, "any": {place: is_nan}})
            else:
                _add_parts(parts, {name: {place: value}})
        _add_parts(parts, self._without_nans(skipping))
        return parts

    def _leaf(self, place: int) -> Array:
        """An array that is reduced as it was given."""
        return jax.tree.leaves(self.plan.all_of(self.rows.x))[place]

    def _plain_value(self, place: int) -> Array:
        column = self.columns[place]
        x, name = self._leaf(place), column.first
        if name == "sum" and jnp.issubdtype(column.dtype, jnp.floating):
            return pairwise_sum(x, num_valid=self.num_valid, dtype=column.computed)
        return reduce_lanes(name, x, self.num_counted, column.computed)

    def _without_nans(self, values: dict[int, Array]) -> BlockParts:
        """The parts of columns that skip NaNs, from their values with NaNs.

        A value that is not NaN stays. One branch serves all columns, so that a program has one
        loop over blocks.
        """
        if not values:
            return {}
        names = {place: self.columns[place].first for place in values}
        plain: BlockParts = {COUNT: dict.fromkeys(values, self.num_counted)}
        for place, value in values.items():
            plain.setdefault(names[place], {})[place] = value

        def by_blocks() -> BlockParts:
            parts = self._blocks(list(values), self._first_parts)
            # Extremes are the same in any order of the rows, sums are not.
            sums = parts.get("sum", {})
            for place, value in sums.items():
                sums[place] = jnp.where(jnp.isnan(values[place]), value, values[place])
            return parts

        has_nan = jnp.stack([jnp.isnan(value) for value in values.values()]).any()
        return jax.lax.cond(has_nan, by_blocks, lambda: plain)

    def _has_plain_distances(self, column: Column) -> bool:
        """Whether the second pass takes a column as it is."""
        is_real = not jnp.issubdtype(column.dtype, jnp.complexfloating)
        is_number = is_real and column.dtype != np.bool_
        return self._is_whole(column) and is_number and column.op in ("var", "std")

    def _is_whole(self, column: Column) -> bool:
        """Whether a column is reduced as it was given, without a mask of its own."""
        return self.plan.transform is None and self.rows.where is None and not column.shape


def _add_parts(parts: BlockParts, others: BlockParts) -> None:
    for name, values in others.items():
        parts.setdefault(name, {}).update(values)
