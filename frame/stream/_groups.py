# SPDX-License-Identifier: Apache-2.0
"""Groups over batches: partial states that merge, as the collectives merge those of shards."""

import dataclasses
import functools
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ...primitives._accumulators import ACCUMULATORS, PARTS, moved_squares
from ...primitives.staging import tiered
from ...shardings._compat import is_x64_enabled
from ..combining._concat import concat
from ..mapping._astype import cast_columns
from ..mapping._nullable_values import in_dtype_of
from ..plan._node import Call
from ..table._arguments import listed
from ..table._column import Array, Column
from ..table._column_labels import Labels
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._table import Table
from ..table._types import Options
from ._numbering import ROW, with_column, with_numbers

# The partial columns of each reduction: the parts of its accumulator.
_PARTS = {
    **{op: accumulator.parts for op, accumulator in ACCUMULATORS.items()},
    **{"size": (), "nunique": (), "sum of sums": ("sum of sums",)},
}
# How partial floats merge. None is missing: a NaN comes from infinities of both signs.
_OF_PARTS = {"sum": "sum of sums", "prod": "product of products"}
# Floats are added and multiplied in the widest float, so that only the result is rounded: a partial
# result of a narrow float may overflow where the whole does not.
_WIDE = frozenset([*_OF_PARTS, "sum of sums"])
REDUCTIONS = frozenset(_PARTS)


@dataclasses.dataclass(frozen=True)
class Output:
    """A column of the result.

    Attributes:
        column: the position of the reduced column among the values.
        function: the reduction.
        ddof: delta degrees of freedom of a variance.
    """

    column: int
    function: str
    ddof: int = 1


@dataclasses.dataclass(frozen=True)
class Grouping:
    """Groups and their reductions.

    Attributes:
        keys: the labels of the key columns.
        values: the labels of the reduced columns.
        outputs: the columns of the result, in order.
        dropna: whether rows with missing keys are left out.
        is_numbered: whether the number of the first row of each group is kept, as column `ROW`.
    """

    keys: tuple[Hashable, ...]
    values: tuple[Hashable, ...]
    outputs: tuple[Output, ...]
    dropna: bool = True
    is_numbered: bool = False

    def depends_on_order(self, rows: Any) -> bool:
        """Whether rows in another order have other results; sums join texts in their order."""
        kinds = [rows._column(label).kind for label in self.values]
        return any(
            one.function in ("first", "last")
            or (one.function == "sum" and kinds[one.column] in ("string", "object"))
            for one in self.outputs
        )

    @property
    def key_names(self) -> list[str]:
        """The names of the keys inside a state, where labels may not be strings."""
        return [f"k{position}" for position in range(len(self.keys))]

    @property
    def parts(self) -> dict[str, tuple[int, str]]:
        """The value column and the partial reduction of each partial column, by its name."""
        return {
            f"{part}{output.column}": (output.column, part)
            for output in self.outputs
            for part in _PARTS[output.function]
        }

    def named(self, batch: FrameBase, first_row: int = 0) -> Any:
        """The keys `k0`, ... and the values `v0`, ... of a batch, and the row numbers if kept."""
        columns = [batch._column(label) for label in (*self.keys, *self.values)]
        names = [*self.key_names, *(f"v{position}" for position in range(len(self.values)))]
        rows = batch._make_frame(columns, Labels.of(names))._with_range()
        return with_numbers(rows, ROW, first_row) if self.is_numbered else rows

    @property
    def counted(self) -> list[int]:
        """The value columns whose distinct values are counted."""
        return sorted({one.column for one in self.outputs if one.function == "nunique"})


class GroupState:
    """The groups of the batches so far. Merged when the new partial rows outgrow the groups."""

    def __init__(self, grouping: Grouping, partials: Iterable[Any] = ()):
        """Starts with partial rows, of which each frame has a group once."""
        self.grouping = grouping
        self._partials = list(partials)

    def add(self, partials: NDFrame) -> None:
        """Adds the partial rows of a batch."""
        self._partials.append(partials)
        sizes = [len(partial) for partial in self._partials]
        if sum(sizes[1:]) > sizes[0]:
            self._merge()

    def reduced(self, rows: Any) -> Any:
        """One partial row for each group of a batch that is named by `Grouping.named`."""
        keys = self.grouping.key_names
        real = "float64" if is_x64_enabled() else "float32"
        columns: dict[str, tuple[str, str]] = {"size": (keys[0], "size"), **self._numbers}
        for name, (column, part) in self.grouping.parts.items():
            value = f"v{column}"
            of = rows._column(value)
            is_real = of.is_float and of.dtype.kind != "c"
            if part in ("total", "squares") or (part in _WIDE and is_real):
                rows = rows.assign(**{f"r{column}": rows[value].astype(real)})
                value = f"r{column}"
            columns[name] = (value, _of_rows(part))
            if part == "sum" and of.kind == "object":
                columns[_count_of(name)] = (value, "count")
        groups = rows.groupby(keys, sort=False, dropna=self.grouping.dropna, as_index=False)
        partial = groups.agg(**columns)
        for name, (column, part) in self.grouping.parts.items():
            if part == "squares":
                # A variance of one value is missing: its sum of squares is zero, or NaN for an
                # infinity, as the distance from itself.
                count, total = partial[f"count{column}"], partial[f"total{column}"]
                squares = (partial[name] * (count - 1)).where(count > 1, total - total)
                partial = partial.assign(**{name: squares})
        return partial

    def _merge(self) -> None:
        if len(self._partials) > 1:
            self._partials = [self._merged(concat(self._partials, ignore_index=True))]

    def _merged(self, rows: Any) -> Any:
        """Merges partial rows of equal keys."""
        keys, parts = self.grouping.key_names, self.grouping.parts
        groups = rows.groupby(keys, sort=False, dropna=self.grouping.dropna)
        for name, (column, part) in parts.items():
            if part != "squares":
                continue
            count, total = f"count{column}", f"total{column}"
            whole = groups[count].transform("sum"), groups[total].transform("sum", skipna=False)
            pieces = [rows[label] for label in (count, total, name)]
            moved = _moved_squares(*(one._only.data for one in (*pieces, *whole)))
            rows = rows.assign(**{name: pieces[-1]._with_columns([Column(moved)])})
        merged = {name: (name, _of_parts(part)) for name, (_, part) in parts.items()}
        for name in list(merged):
            count = _count_of(name)
            if count in rows._names:
                # The sum of no objects is the number 0, which cannot be added to other objects.
                rows = rows.assign(**{name: rows[name].where(rows[count] > 0, None)})
                merged |= {name: (name, "sum"), count: (count, "sum")}
        groups = rows.groupby(keys, sort=False, dropna=self.grouping.dropna, as_index=False)
        return groups.agg(size=("size", "sum"), **self._numbers, **merged)

    @property
    def _numbers(self) -> dict[str, tuple[str, str]]:
        return {ROW: (ROW, "min")} if self.grouping.is_numbered else {}

    @property
    def is_empty(self) -> bool:
        """Whether no batch had rows."""
        return not self._partials

    @property
    def num_groups(self) -> int:
        """The number of groups; not counting those of batches that are not merged yet."""
        return len(self._partials[0]) if self._partials else 0

    @property
    def columns(self) -> Sequence[Column]:
        """The columns of the partial rows."""
        return self._partials[0]._table.columns

    def rows(self) -> Any:
        """The partial rows, one for each group."""
        self._merge()
        (rows,) = self._partials
        return rows

    def taken(self) -> Any:
        """The partial rows, which leave the state."""
        rows, self._partials = self.rows(), []
        return rows

    @classmethod
    def of(cls, grouping: Grouping, partials: object) -> "GroupState":
        """A state of partial rows, of which several may be of one group."""
        state = cls(grouping)
        state.add(state._merged(partials))
        return state

    def finished(self, counts: Mapping[int, Any] = MappingProxyType({})) -> Any:
        """One row for each group, in the order of their first rows.

        The columns are the keys `k0`, ..., the outputs `o0`, ... and the row number, if kept.

        Args:
            counts: the numbers of distinct values by value column, for the same groups.
        """
        self._merge()
        (state,) = self._partials
        rows = state._columns_named([*self.grouping.key_names, *self._numbers])
        for position, output in enumerate(self.grouping.outputs):
            is_count = output.function == "nunique"
            values = counts[output.column]._only if is_count else self._output(state, output)
            rows = with_column(rows, f"o{position}", values)
        return rows

    def _output(self, state: Any, output: Output) -> Column:
        if output.function == "size":
            return state._column("size")
        names = _PARTS[output.function]
        parts = [state._column(f"{name}{output.column}") for name in names]
        if len(parts) == 1:
            return parts[0]
        arrays = tuple(part.data for part in parts)
        return Column(_finished(arrays, output.function, output.ddof))


def _count_of(name: str) -> str:
    """The partial column that counts the objects of a sum."""
    return f"count of {name}"


def _of_rows(part: str) -> str:
    """The reduction of rows that makes a part."""
    if part not in PARTS:
        return part
    return "var" if part == "squares" else PARTS[part].of_rows


def _of_parts(part: str) -> str:
    """The reduction that merges a part."""
    if part not in PARTS:
        return part
    merge = PARTS[part].of_parts or "sum"
    return merge if part == "count" else _OF_PARTS.get(merge, merge)


@tiered
def _moved_squares(
    counts: Array, totals: Array, squares: Array, count: Array, total: Array
) -> Array:
    counts, count = counts.astype(squares.dtype), count.astype(squares.dtype)
    return moved_squares(counts, totals, squares, count, total)


@functools.partial(tiered, static_argnums=(1, 2))
def _finished(parts: tuple[Array, ...], function: str, ddof: int) -> Array:
    return ACCUMULATORS[function].finish(parts, ddof)


def merged_groups(grouping: Grouping, rows: Iterable[object]) -> Iterator[GroupState]:
    """Merges partial rows that are sorted by their keys.

    The groups of a frame are final but for the last one, which the next frame may continue.
    """
    held: Any = None
    for partials in rows:
        partials = partials if held is None else concat([held, partials], ignore_index=True)
        groups = GroupState.of(grouping, partials).rows()
        held = groups.iloc[-1:]
        if len(groups) > 1:
            yield GroupState(grouping, [groups.iloc[:-1]])
    if held is not None:
        yield GroupState(grouping, [held])


def grouping_of(call: Call) -> Grouping | None:
    """The groups of a recorded groupby; None if their states do not merge."""
    arguments, node = call.arguments, call.inputs[0]
    groups, options = arguments["groups"], dict(arguments["options"])
    if groups.keys() - {"by", "sort", "dropna", "as_index", "observed"} or groups.get("by") is None:
        return None
    keys = tuple(listed(groups["by"]))
    if not node.is_frame or not set(keys) <= set(node.labels):
        return None
    if any(node.empty._column(key).kind == "category" for key in keys):
        return None
    template = call.empty
    chosen = arguments["columns"]
    labels = list(template._names)[len(_keys_before(call)) :]
    pairs = _pairs(arguments["method"], options, chosen, labels, keys, node.labels)
    if pairs is None or len(pairs) != len(labels):
        return None
    return grouping(keys, pairs, options, groups.get("dropna", True), node)


def _keys_before(call: Call) -> list[Hashable]:
    """The keys that are columns of the result: without an index, those that are no values."""
    arguments = call.arguments
    if arguments["groups"].get("as_index", True):
        return []
    keys, values = listed(arguments["groups"]["by"]), arguments["columns"]
    is_value = [] if values is None or arguments["method"] in ("size", "agg") else listed(values)
    return [key for key in keys if key not in is_value]


def grouping(
    keys: Sequence[Hashable], pairs: Sequence[Any], options: Options, dropna: bool, node: Any
) -> Grouping | None:
    """A grouping with pairs of a column and a reduction; None if their states do not merge."""
    functions = {function for _, function in pairs}
    values = tuple(dict.fromkeys(column for column, _ in pairs))
    if not functions <= REDUCTIONS or not set(values) <= set(node.labels):
        return None
    moments = {"mean", "var", "std", "sem"}
    for column, function in pairs:
        of = node.empty._column(column)
        if function in moments and (not of.is_numeric or of.dtype.kind == "c"):
            return None
    ddof = options.get("ddof", 1)
    outputs = tuple(Output(values.index(column), function, ddof) for column, function in pairs)
    return Grouping(tuple(keys), values, outputs, dropna)


def _pairs(
    method: str, options: dict[str, Any], chosen: Any, labels: Any, keys: Any, all_labels: Any
) -> list[tuple[Any, Any]] | None:
    """The column and the reduction of each column of the result."""
    is_one = chosen is not None and not isinstance(chosen, list)
    if method == "size":
        return [(keys[0], "size")]
    if method != "agg":
        known = {"numeric_only", *(["ddof"] if method in ("var", "std", "sem") else [])}
        function = method
        if method == "sum" and options.get("skipna") is False:
            known, function = {"numeric_only", "skipna"}, "sum of sums"
        if options.keys() - known:
            return None
        return [(chosen if is_one else label, function) for label in labels]
    func = options.pop("func", None)
    if func is None:
        named = options.values()
        pairs = [(chosen, one) if isinstance(one, str) else one for one in named]
        options.clear()
        return pairs if all(isinstance(one, tuple) and len(one) == 2 for one in pairs) else None
    if options:
        return None
    if isinstance(func, dict):
        return [(column, one) for column, given in func.items() for one in listed(given)]
    others = [label for label in all_labels if label not in keys]
    columns = [chosen] if is_one else chosen or others
    return [(column, one) for column in columns for one in listed(func)]


def grouped(call: Call, rows: Any, names: Sequence[str]) -> Any:
    """The result of a recorded groupby, from one row for each group.

    Args:
        call: the recorded groupby.
        rows: keys and outputs.
        names: the names of the keys.
    """
    groups, template = call.arguments["groups"], call.empty
    options = {name: groups[name] for name in ("sort", "dropna", "as_index") if name in groups}
    outputs = [label for label in rows._labels if label not in names and label != ROW]
    ordered = rows.groupby(names, **options).agg(**{name: (name, "first") for name in outputs})
    if not groups.get("as_index", True):
        before = _keys_before(call)
        keys = zip(names, listed(groups["by"]), strict=True)
        ordered = ordered[[name for name, key in keys if key in before] + outputs]
    columns = in_dtypes(ordered._table.columns, template._table.columns, ordered._table)
    index = ordered._table.index
    if groups.get("as_index", True):
        index = index.named(template._table.index.names)
    table = ordered._table.replace(index=index, columns=columns)
    if isinstance(template, SeriesBase):
        return ordered._make_series(table.columns[0], template._name, table)
    return ordered._make_frame(table.columns, template._labels, table)


def in_dtypes(columns: Sequence[Column], templates: Sequence[Column], table: Table) -> Any:
    """Casts integers and floats to the width of the eager result, or to its nullable dtypes."""
    rows, layout = table.num_rows, table.layout
    columns = [
        in_dtype_of(column, template, rows, layout)
        if column.is_nullable or template.is_nullable
        else column
        for column, template in zip(columns, templates, strict=True)
    ]
    wanted = [
        template.dtype if template.is_numeric and _differ_in_width(column, template) else None
        for column, template in zip(columns, templates, strict=True)
    ]
    return tuple(
        column
        if dtype is None
        else cast_columns([column], [dtype], table.num_rows, table.layout)[0]
        for column, dtype in zip(columns, wanted, strict=True)
    )


def _differ_in_width(column: Column, template: Column) -> bool:
    kinds = column.dtype.kind, template.dtype.kind
    return kinds[0] == kinds[1] and column.dtype != template.dtype
