# SPDX-License-Identifier: Apache-2.0
"""The passes over the rows that a reduction takes."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..contract._arguments import type_of
from ..contract._typing import Array
from ..kernels.scan._segmented_scan import per_row
from ._blockwise import (
    BlockParts,
    has_whole_lanes,
    identity_of_reduction,
    reduce_blocks,
    reduce_lanes,
)
from ._pairwise_sum import pairwise_sum, sum_of_squared_distances
from ._segment_extremes import is_nonzero
from ._segment_ops import quotient, root_of

REDUCE_OPS = (
    "sum", "prod", "min", "max", "count", "mean", "var", "std", "any", "all", "argmin", "argmax",
)  # fmt: skip
_ORDERED = ("min", "max", "argmin", "argmax", "var", "std")
_AVERAGES = ("mean", "var", "std")
_SUMMED = ("sum", "prod", *_AVERAGES)
_NO_ROW = np.int32(np.iinfo(np.int32).max)

Transform = Callable[..., tuple[Any, Any]]


# The part of the first pass that counts the rows; it is added up as "sum" is.
_COUNT = "count"


class MaskedRows(NamedTuple):
    """The rows to be reduced, and the masks for them, a prefix of `x` or None."""

    x: Any
    where: Any

    @property
    def num_rows(self) -> int:
        """Rows, padding included."""
        return jax.tree.leaves(self.x)[0].shape[0]


class ReducePlan(NamedTuple):
    """How rows are reduced. Hashable: static under `jit`.

    Attributes:
        caller: the op, for errors.
        ops: the leaves of `op`.
        op_tree: its structure.
        transform: applied to blocks of the rows; None for none.
        dtype: of sums, products and averages; None for that of the rows.
        ddof: see `reduce`.
        skip_nan: see `reduce`.
        sources: for each array to be reduced, its place among the distinct ones; None if all are.
        tree: the structure of all arrays, if some are the same.
    """

    caller: str
    ops: tuple[str, ...]
    op_tree: Any
    transform: Transform | None
    dtype: np.dtype | None
    ddof: int
    skip_nan: bool = False
    sources: tuple[int, ...] | None = None
    tree: Any = None

    def all_of(self, distinct: Any) -> Any:
        """The arrays to be reduced, repeated as they were given."""
        if self.sources is None:
            return distinct
        return jax.tree.unflatten(self.tree, [distinct[source] for source in self.sources])

    def ops_of(self, values: Any) -> list[str]:
        """An op for each leaf of a pytree."""
        ops = jax.tree.unflatten(self.op_tree, self.ops)
        return jax.tree.leaves(_spread(ops, values, self.caller, "op"))


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


def _spread(prefix: Any, tree: Any, caller: str, name: str) -> Any:
    """A leaf of `prefix` for each leaf of `tree`."""
    try:
        return jax.tree.broadcast(prefix, tree, is_leaf=lambda leaf: leaf is None)
    except ValueError as error:
        raise ValueError(
            f"{caller}: {name} must be one leaf, or a prefix of the rows, "
            f"{jax.tree.structure(tree)}, got {jax.tree.structure(prefix)}."
        ) from error


def masks_of(where: Any, tree: Any, caller: str) -> list[Array | None]:
    """A mask, or None, for each leaf of a pytree."""
    spread = _spread(where, tree, caller, "where")
    return jax.tree.leaves(spread, is_leaf=lambda leaf: leaf is None)


def check_dtype(leaf: Array, op: str, dtype: np.dtype | None, caller: str) -> None:
    """Raises if an op does not take an array, or cannot reduce it in a dtype."""
    if op in _ORDERED and jnp.issubdtype(leaf.dtype, jnp.complexfloating):
        raise TypeError(
            f"{caller}: x must be real for {op!r}, got {type_of(leaf)}. Reduce its real and "
            "imaginary parts."
        )
    if op not in _SUMMED or dtype is None:
        return
    kinds = [_kind(leaf.dtype), _kind(dtype)]
    if kinds[1] < kinds[0] or (kinds[0] == kinds[1] and dtype.itemsize < leaf.dtype.itemsize):
        raise TypeError(
            f"{caller}: dtype must hold the rows, got {dtype.name} for {type_of(leaf)}. "
            "Cast x first."
        )
    if op in _AVERAGES and not jnp.issubdtype(dtype, jnp.inexact):
        raise TypeError(f"{caller}: dtype must be a float for {op!r}, got {dtype.name}.")


def _kind(dtype: Any) -> int:
    kinds = (jnp.bool_, jnp.integer, jnp.floating, jnp.complexfloating)
    return next(place for place, kind in enumerate(kinds) if jnp.issubdtype(dtype, kind))


class _Column(NamedTuple):
    """One leaf of the rows to be reduced.

    Attributes:
        op: how it is reduced.
        shape: of its value.
        dtype: of its rows.
        computed: the dtype in which it is reduced.
        result: the dtype of its value.
        is_masked: whether it has a mask of its own, or skips NaNs.
    """

    op: str
    shape: tuple[int, ...]
    dtype: np.dtype
    computed: np.dtype
    result: np.dtype
    is_masked: bool

    @property
    def first(self) -> str:
        """The reduction of the first pass."""
        name = self.op.removeprefix("arg")
        return "sum" if name in _AVERAGES else name

    @property
    def can_be_nan(self) -> bool:
        """Whether its extreme may be NaN, which XLA's minimum may or may not find."""
        is_float = jnp.issubdtype(self.dtype, jnp.floating)
        return is_float and self.first in ("min", "max")


def reduce_in_passes(
    rows: MaskedRows,
    operands: tuple[Any, ...],
    num_valid: Array | None,
    plan: ReducePlan,
    over: Any,
) -> tuple[Any, Any]:
    """The values and the counts of checked arguments; `over` combines the shards."""
    passes = _Passes(rows, operands, num_valid, plan)
    parts, counts = passes.first()
    parts, counts = over.combine(parts), over.total(counts)
    firsts = passes.values_of_first(parts)
    seconds = passes.second(firsts, counts)
    num_rows = rows.num_rows
    found = seconds["min"]
    for place, row_id in found.items():
        all_ids = over.row_ids(row_id, num_rows)
        none = all_ids.dtype.type(np.iinfo(all_ids.dtype).max)
        found[place] = jnp.where(row_id == _NO_ROW, none, all_ids)
    seconds = over.combine(seconds)
    results = passes.results(firsts, counts, seconds)
    counts = [jnp.broadcast_to(n, value.shape) for n, value in zip(counts, results, strict=True)]
    return jax.tree.unflatten(passes.tree, results), jax.tree.unflatten(passes.tree, counts)


class _Passes:
    """The passes over one device's rows. Values are named by the place of their leaf."""

    def __init__(
        self,
        rows: MaskedRows,
        operands: tuple[Any, ...],
        num_valid: Array | None,
        plan: ReducePlan,
    ):
        if rows.num_rows == 0:
            # XLA has no minimum of no rows: there is one row then, which does not count.
            rows = jax.tree.map(lambda leaf: jnp.zeros((1, *leaf.shape[1:]), leaf.dtype), rows)
            num_valid = jnp.zeros((), jnp.int32)
        self._rows, self._operands = rows, operands
        self._num_valid, self._plan = num_valid, plan
        values, masks = jax.eval_shape(self._transformed, rows)
        leaves, self.tree = jax.tree.flatten(values)
        ops = plan.ops_of(values)
        self._columns = [
            self._column(leaf, op, mask) for leaf, op, mask in zip(leaves, ops, masks, strict=True)
        ]

    def _column(self, leaf: Any, op: str, mask: Any) -> _Column:
        check_dtype(leaf, op, self._plan.dtype, self._plan.caller)
        skips = self._plan.skip_nan and jnp.issubdtype(leaf.dtype, jnp.inexact)
        computed, result = reduced_dtypes(op, np.dtype(leaf.dtype), self._plan.dtype)
        is_masked = mask is not None or skips
        return _Column(op, leaf.shape[1:], np.dtype(leaf.dtype), computed, result, is_masked)

    def _transformed(self, rows: MaskedRows) -> tuple[Any, list[Any]]:
        """The values to be reduced of a block of rows, and a mask or None for each leaf."""
        caller, transform = self._plan.caller, self._plan.transform
        if transform is None:
            values = self._plan.all_of(rows.x)
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
            valid = None if self._num_valid is None else row_ids < self._num_valid
            values, masks = self._transformed(self._without_padding(rows, valid))
            leaves = jax.tree.leaves(values)
            parts: BlockParts = {}
            for place in places:
                leaf = leaves[place]
                flags = both(valid, masks[place])
                if flags is not None and leaf.shape[0] != row_ids.shape[0]:
                    raise ValueError(
                        f"{self._plan.caller}: transform must return a row for each row of a block "
                        f"if rows are left out, got {type_of(leaf)} of {row_ids.shape[0]} rows."
                    )
                if flags is not None:
                    flags = per_row(flags, leaf.ndim)
                if self._plan.skip_nan and jnp.issubdtype(leaf.dtype, jnp.inexact):
                    flags = both(flags, ~jnp.isnan(leaf))
                for name, part in parts_of(place, leaf, flags, row_ids).items():
                    parts.setdefault(name, {})[place] = part
            return parts

        return reduce_blocks(of_block, self._rows) if places else {}

    def _without_padding(self, rows: MaskedRows, valid: Any) -> MaskedRows:
        """The first row, or ones, in place of the padding: derivatives there may be NaN."""
        num_valid = self._num_valid
        if num_valid is None or self._plan.transform is None:
            return rows

        def replaced(leaf: Array, whole: Array) -> Array:
            first = jnp.where(num_valid > 0, whole[:1], jnp.ones((), whole.dtype))
            return jnp.where(per_row(valid, leaf.ndim), leaf, first)

        return rows._replace(x=jax.tree.map(replaced, rows.x, self._rows.x))

    def first(self) -> tuple[BlockParts, list[Array]]:
        """The partial values of the first pass, and the number of rows of each leaf."""
        columns = self._columns
        equals = self._equals()
        plain = [place for place in equals if self._is_plain(columns[place])]
        rest = [place for place in equals if place not in plain]
        parts = self._blocks(rest, self._first_parts)
        _add_parts(parts, self._plain_parts(plain))
        for place, others in equals.items():
            for other in others:
                names = (_COUNT,) if columns[other].op == "count" else list(parts)
                for name in names:
                    if place in parts.get(name, {}):
                        parts[name][other] = parts[name][place]
        counted = parts.pop(_COUNT, {})
        counts = [counted.get(place, self._num_counted) for place in range(len(columns))]
        return parts, counts

    def _equals(self) -> dict[int, list[int]]:
        """The places that the first pass reduces, and those with the same parts for each."""
        sources = self._plan.sources
        if sources is None:
            return {place: [] for place in range(len(self._columns))}
        equals: dict[int, list[int]] = {}
        seen: dict[Any, int] = {}
        # What else is found of an array counts its rows, too.
        by_op = sorted(enumerate(self._columns), key=lambda column: column[1].op == "count")
        for place, column in by_op:
            counting = (sources[place], _COUNT)
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
    def _num_counted(self) -> Array:
        if self._num_valid is None:
            return jnp.asarray(self._rows.num_rows, jnp.int32)
        return self._num_valid

    def _first_parts(self, place: int, leaf: Array, flags: Any, row_ids: Array) -> Any:
        del row_ids
        column = self._columns[place]
        parts = {}
        if column.is_masked:
            parts[_COUNT] = flags.astype(jnp.int32)
        if column.op == "count":
            return parts
        name = column.first
        values = is_nonzero(leaf) if name in ("any", "all") else leaf.astype(column.computed)
        keeps = flags
        if column.can_be_nan and not self._plan.skip_nan:
            is_nan = jnp.isnan(leaf)
            parts["any"] = both(flags, is_nan)
            keeps = both(flags, ~is_nan)
        identity = identity_of_reduction(name, values.dtype)
        parts[name] = values if keeps is None else jnp.where(keeps, values, identity)
        return parts

    def _is_plain(self, column: _Column) -> bool:
        """Whether the first pass takes no flags for the rows."""
        plan = self._plan
        if not self._is_whole(column):
            return False
        name, num_rows = column.first, self._rows.num_rows
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
            name, value = self._columns[place].first, self._plain_value(place)
            is_float = jnp.issubdtype(value.dtype, jnp.floating)
            if is_float and self._plan.skip_nan and self._columns[place].is_masked:
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
        return jax.tree.leaves(self._plan.all_of(self._rows.x))[place]

    def _plain_value(self, place: int) -> Array:
        column = self._columns[place]
        x, name = self._leaf(place), column.first
        if name == "sum" and jnp.issubdtype(column.dtype, jnp.floating):
            return pairwise_sum(x, num_valid=self._num_valid, dtype=column.computed)
        return reduce_lanes(name, x, self._num_counted, column.computed)

    def _without_nans(self, values: dict[int, Array]) -> BlockParts:
        """The parts of columns that skip NaNs, from their values with NaNs.

        A value that is not NaN stays. One branch serves all columns, so that a program has one
        loop over blocks.
        """
        if not values:
            return {}
        names = {place: self._columns[place].first for place in values}
        plain: BlockParts = {_COUNT: dict.fromkeys(values, self._num_counted)}
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

    def values_of_first(self, parts: BlockParts) -> list[Any]:
        """The values of the first pass over all shards; None for a count."""
        values = []
        for place, column in enumerate(self._columns):
            value: Any = parts.get(column.first, {}).get(place)
            if column.can_be_nan and not self._plan.skip_nan:
                is_nan = parts["any"][place]
                value = jnp.where(is_nan, value.dtype.type(np.nan), value)
            values.append(value)
        return values

    def second(self, firsts: Sequence[Any], counts: Sequence[Array]) -> BlockParts:
        """The partial values of the second pass: squared distances, and ids of rows."""

        def parts_of(place: int, leaf: Array, flags: Any, row_ids: Array) -> Any:
            column, first = self._columns[place], firsts[place]
            if column.op in ("var", "std"):
                mean = quotient(first, counts[place])
                distance = leaf.astype(column.computed) - mean[None]
                distance = distance if flags is None else jnp.where(flags, distance, 0)
                return {"sum": distance * distance}
            is_extreme = leaf == first[None]
            if column.can_be_nan and not self._plan.skip_nan:
                is_extreme = is_extreme | (jnp.isnan(leaf) & jnp.isnan(first)[None])
            row_ids = row_ids.reshape(-1, *(1,) * (leaf.ndim - 1))
            return {"min": jnp.where(both(flags, is_extreme), row_ids, _NO_ROW)}

        twice = ("var", "std", "argmin", "argmax")
        places = [place for place, column in enumerate(self._columns) if column.op in twice]
        plain = [place for place in places if self._has_plain_distances(self._columns[place])]
        rest = [place for place in places if place not in plain]
        parts: BlockParts = {"sum": {}, "min": {}, **self._blocks(rest, parts_of)}
        for place in plain:
            center = quotient(firsts[place], counts[place])
            x = self._leaf(place)
            # XLA would sum them in an order of its own.
            x = x if jnp.issubdtype(x.dtype, jnp.floating) else x.astype(center.dtype)
            parts["sum"][place] = sum_of_squared_distances(
                x, self._num_counted, center, self._plan.skip_nan
            )
        return parts

    def _has_plain_distances(self, column: _Column) -> bool:
        """Whether the second pass takes a column as it is."""
        is_real = not jnp.issubdtype(column.dtype, jnp.complexfloating)
        is_number = is_real and column.dtype != np.bool_
        return self._is_whole(column) and is_number and column.op in ("var", "std")

    def _is_whole(self, column: _Column) -> bool:
        """Whether a column is reduced as it was given, without a mask of its own."""
        return self._plan.transform is None and self._rows.where is None and not column.shape

    def results(
        self, firsts: Sequence[Any], counts: Sequence[Array], seconds: BlockParts
    ) -> list[Array]:
        """The values of all passes."""
        results = []
        for place, column in enumerate(self._columns):
            value, count = firsts[place], counts[place]
            match column.op:
                case "count":
                    value = jnp.broadcast_to(count, column.shape)
                case "mean":
                    value = quotient(value, count).astype(column.result)
                case "var" | "std":
                    degrees = count - count.dtype.type(self._plan.ddof)
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


def _add_parts(parts: BlockParts, others: BlockParts) -> None:
    for name, values in others.items():
        parts.setdefault(name, {}).update(values)


def both(flags: Any, others: Any) -> Any:
    """Rows that have both flags; None for no flags."""
    if flags is None or others is None:
        return others if flags is None else flags
    return flags & others


def reduced_dtypes(op: str, dtype: np.dtype, asked: np.dtype | None) -> tuple[np.dtype, np.dtype]:
    """The dtype in which a leaf is reduced, and that of its value."""
    if op in ("any", "all"):
        return np.dtype(np.bool_), np.dtype(np.bool_)
    if op not in _SUMMED:
        return dtype, dtype
    result = dtype if asked is None else asked
    if asked is None and op in _AVERAGES and not jnp.issubdtype(dtype, jnp.inexact):
        result = np.dtype(jax.dtypes.canonicalize_dtype(float))
    elif asked is None and dtype == np.bool_:
        result = np.dtype(np.int32)
    is_narrow = jnp.issubdtype(result, jnp.floating) and result.itemsize < 4
    return (np.dtype(np.float32) if is_narrow else result), result
