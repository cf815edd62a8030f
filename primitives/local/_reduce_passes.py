# SPDX-License-Identifier: Apache-2.0
"""The passes over the rows that a reduction takes: the definition, by blocks of rows.

The first pass reduces each column, and counts the rows of those with masks. The second pass sums
the squared distances to the mean, and finds the first row of an extreme. Plain columns take
shorter ways; see `_plain_columns`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..contract._arguments import type_of
from ..contract._typing import Array
from ..kernels.scan._segmented_scan import per_row
from ._blockwise import BlockParts, identity_of_reduction, reduce_blocks
from ._reduced_columns import (
    Column,
    MaskedRows,
    ReducePlan,
    both,
    check_dtype,
    masks_of,
    reduced_dtypes,
)
from ._segment_extremes import is_nonzero
from ._segment_ops import quotient, root_of

_NO_ROW = np.int32(np.iinfo(np.int32).max)
# The part of the first pass that counts the rows; it is added up as "sum" is.
COUNT = "count"


class OneShard:
    """The rows of this device are all rows. The collectives have a class with the same methods."""

    def combine(self, parts: BlockParts) -> BlockParts:
        """Reduces the parts of all shards to those of all rows."""
        return parts

    def total(self, counts: list[Array]) -> list[Array]:
        """Adds up counts of rows."""
        return counts

    def row_ids(self, row_ids: Array, num_rows: int) -> Array:
        """The ids among all rows of ids among those of this shard."""
        del num_rows
        return row_ids


class Passes:
    """The passes over one device's rows. Values are named by the place of their leaf."""

    def __init__(
        self,
        rows: MaskedRows,
        operands: tuple[Any, ...],
        num_valid: Array | None,
        plan: ReducePlan,
    ):
        self._num_rows = rows.num_rows
        if rows.num_rows == 0:
            # XLA has no minimum of no rows: there is one row then, which does not count.
            rows = jax.tree.map(lambda leaf: jnp.zeros((1, *leaf.shape[1:]), leaf.dtype), rows)
            num_valid = jnp.zeros((), jnp.int32)
        self.rows, self._operands = rows, operands
        self.num_valid, self.plan = num_valid, plan
        values, masks = jax.eval_shape(self._transformed, rows)
        leaves, self.tree = jax.tree.flatten(values)
        ops = plan.ops_of(values)
        self.columns = [
            self._column(leaf, op, mask) for leaf, op, mask in zip(leaves, ops, masks, strict=True)
        ]

    def reduced(self, over: Any) -> tuple[Any, Any]:
        """The values and the counts; `over` combines the shards."""
        parts, counts = self.first()
        parts, counts = over.combine(parts), over.total(counts)
        firsts = self.values_of_first(parts)
        seconds = self.second(firsts, counts)
        num_rows = self._num_rows
        found = seconds["min"]
        for place, row_id in found.items():
            all_ids = over.row_ids(row_id, num_rows)
            none = all_ids.dtype.type(np.iinfo(all_ids.dtype).max)
            found[place] = jnp.where(row_id == _NO_ROW, none, all_ids)
        seconds = over.combine(seconds)
        results = self.results(firsts, counts, seconds)
        counts = [
            jnp.broadcast_to(n, value.shape) for n, value in zip(counts, results, strict=True)
        ]
        return jax.tree.unflatten(self.tree, results), jax.tree.unflatten(self.tree, counts)

    def _column(self, leaf: Any, op: str, mask: Any) -> Column:
        check_dtype(leaf, op, self.plan.dtype, self.plan.caller)
        skips = self.plan.skip_nan and jnp.issubdtype(leaf.dtype, jnp.inexact)
        computed, result = reduced_dtypes(op, np.dtype(leaf.dtype), self.plan.dtype)
        is_masked = mask is not None or skips
        return Column(op, leaf.shape[1:], np.dtype(leaf.dtype), computed, result, is_masked)

    def _transformed(self, rows: MaskedRows) -> tuple[Any, list[Any]]:
        """The values to be reduced of a block of rows, and a mask or None for each leaf."""
        caller, transform = self.plan.caller, self.plan.transform
        if transform is None:
            values = self.plan.all_of(rows.x)
            return values, masks_of(rows.where, values, caller)
        values, where = transform(rows.x, *self._operands)
        masks = masks_of(where, values, caller)
        if rows.where is not None:
            given = rows.where
            masks = [given if mask is None else given & mask for mask in masks]
        return values, masks

    def _blocks(
        self, places: Sequence[int], parts_of: Callable[..., dict[str, Array]]
    ) -> BlockParts:
        """Reduces the parts of leaves, and of flags for their rows, by blocks."""

        def of_block(rows: MaskedRows, row_ids: Array) -> BlockParts:
            valid = None if self.num_valid is None else row_ids < self.num_valid
            values, masks = self._transformed(self._without_padding(rows, valid))
            leaves = jax.tree.leaves(values)
            parts: BlockParts = {}
            for place in places:
                leaf = leaves[place]
                flags = both(valid, masks[place])
                if flags is not None and leaf.shape[0] != row_ids.shape[0]:
                    raise ValueError(
                        f"{self.plan.caller}: transform must return a row for each row of a block "
                        f"if rows are left out, got {type_of(leaf)} of {row_ids.shape[0]} rows."
                    )
                if flags is not None:
                    flags = per_row(flags, leaf.ndim)
                if self.plan.skip_nan and jnp.issubdtype(leaf.dtype, jnp.inexact):
                    flags = both(flags, ~jnp.isnan(leaf))
                for name, part in parts_of(place, leaf, flags, row_ids).items():
                    parts.setdefault(name, {})[place] = part
            return parts

        return reduce_blocks(of_block, self.rows) if places else {}

    def _without_padding(self, rows: MaskedRows, valid: Any) -> MaskedRows:
        """The first row, or ones, in place of the padding: derivatives there may be NaN."""
        num_valid = self.num_valid
        if num_valid is None or self.plan.transform is None:
            return rows

        def replaced(leaf: Array, whole: Array) -> Array:
            first = jnp.where(num_valid > 0, whole[:1], jnp.ones((), whole.dtype))
            return jnp.where(per_row(valid, leaf.ndim), leaf, first)

        return rows._replace(x=jax.tree.map(replaced, rows.x, self.rows.x))

    def first(self) -> tuple[BlockParts, list[Array]]:
        """The partial values of the first pass, and the number of rows of each leaf."""
        columns = self.columns
        equals = self._equals()
        parts = self._first_of(list(equals))
        for place, others in equals.items():
            for other in others:
                names = (COUNT,) if columns[other].op == "count" else list(parts)
                for name in names:
                    if place in parts.get(name, {}):
                        parts[name][other] = parts[name][place]
        counted = parts.pop(COUNT, {})
        counts = [counted.get(place, self.num_counted) for place in range(len(columns))]
        return parts, counts

    def _first_of(self, places: Sequence[int]) -> BlockParts:
        """The parts of the first pass of some columns, by blocks."""
        return self._blocks(places, self._first_parts)

    def _equals(self) -> dict[int, list[int]]:
        """The places that the first pass reduces, and those with the same parts for each."""
        sources = self.plan.sources
        if sources is None:
            return {place: [] for place in range(len(self.columns))}
        equals: dict[int, list[int]] = {}
        seen: dict[Any, int] = {}
        # What else is found of an array counts its rows, too.
        by_op = sorted(enumerate(self.columns), key=lambda column: column[1].op == "count")
        for place, column in by_op:
            counting = (sources[place], COUNT)
            is_count = column.op == "count"
            key = counting if is_count else (sources[place], column.first, column.computed)
            if key in seen:
                equals[seen[key]].append(place)
                continue
            equals[place] = []
            seen[key] = place
            seen.setdefault(counting, place)
        return equals

    @property
    def num_counted(self) -> Array:
        """The number of rows of a column without a mask."""
        if self.num_valid is None:
            return jnp.asarray(self.rows.num_rows, jnp.int32)
        return self.num_valid

    def _first_parts(self, place: int, leaf: Array, flags: Any, row_ids: Array) -> Any:
        del row_ids
        column = self.columns[place]
        parts = {}
        if column.is_masked:
            parts[COUNT] = flags.astype(jnp.int32)
        if column.op == "count":
            return parts
        name = column.first
        values = is_nonzero(leaf) if name in ("any", "all") else leaf.astype(column.computed)
        keeps = flags
        if column.can_be_nan and not self.plan.skip_nan:
            is_nan = jnp.isnan(leaf)
            parts["any"] = both(flags, is_nan)
            keeps = both(flags, ~is_nan)
        identity = identity_of_reduction(name, values.dtype)
        parts[name] = values if keeps is None else jnp.where(keeps, values, identity)
        return parts

    def values_of_first(self, parts: BlockParts) -> list[Any]:
        """The values of the first pass over all shards; None for a count."""
        values = []
        for place, column in enumerate(self.columns):
            value: Any = parts.get(column.first, {}).get(place)
            if column.can_be_nan and not self.plan.skip_nan:
                is_nan = parts["any"][place]
                value = jnp.where(is_nan, value.dtype.type(np.nan), value)
            values.append(value)
        return values

    def second(self, firsts: Sequence[Any], counts: Sequence[Array]) -> BlockParts:
        """The partial values of the second pass: squared distances, and ids of rows."""
        twice = ("var", "std", "argmin", "argmax")
        places = [place for place, column in enumerate(self.columns) if column.op in twice]
        return {"sum": {}, "min": {}, **self._second_of(places, firsts, counts)}

    def _second_of(
        self, places: Sequence[int], firsts: Sequence[Any], counts: Sequence[Array]
    ) -> BlockParts:
        """The parts of the second pass of some columns, by blocks."""

        def parts_of(place: int, leaf: Array, flags: Any, row_ids: Array) -> Any:
            column, first = self.columns[place], firsts[place]
            if column.op in ("var", "std"):
                mean = quotient(first, counts[place])
                distance = leaf.astype(column.computed) - mean[None]
                distance = distance if flags is None else jnp.where(flags, distance, 0)
                return {"sum": distance * distance}
            is_extreme = leaf == first[None]
            if column.can_be_nan and not self.plan.skip_nan:
                is_extreme = is_extreme | (jnp.isnan(leaf) & jnp.isnan(first)[None])
            row_ids = row_ids.reshape(-1, *(1,) * (leaf.ndim - 1))
            return {"min": jnp.where(both(flags, is_extreme), row_ids, _NO_ROW)}

        return self._blocks(places, parts_of)

    def results(
        self, firsts: Sequence[Any], counts: Sequence[Array], seconds: BlockParts
    ) -> list[Array]:
        """The values of all passes."""
        results = []
        for place, column in enumerate(self.columns):
            value, count = firsts[place], counts[place]
            match column.op:
                case "count":
                    value = jnp.broadcast_to(count, column.shape)
                case "mean":
                    value = quotient(value, count).astype(column.result)
                case "var" | "std":
                    degrees = count - count.dtype.type(self.plan.ddof)
                    value = quotient(seconds["sum"][place], degrees)
                    value = root_of(value) if column.op == "std" else value
                    value = value.astype(column.result)
                case "argmin" | "argmax":
                    row_id = seconds["min"][place]
                    value = jnp.where(count > 0, row_id, row_id.dtype.type(-1))
                case _:
                    value = value.astype(column.result)
            results.append(value)
        return results
