# SPDX-License-Identifier: Apache-2.0
"""The methods that can stand in a plan, and what each does with columns and rows.

This table is all that the optimiser knows of a method: which columns it reads, makes and keeps, and
whether it may drop, repeat or reorder rows. The row labels count as one more column, `INDEX`.
"""

import enum
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ..align._join_types import JOIN_TYPES, JoinType
from ..combining._concat import concat
from ._declared import in_dtypes
from ._expression import Expression
from ._methods import apply

# The effect on rows. "each" gives each row in its place, "drops" leaves out rows, "sorts" reorders
# them, "cuts" takes them by position or rank, "joins" pairs the rows of two inputs, "appends" puts
# those of several inputs one after the other, and "makes" computes new rows.
Rows: TypeAlias = Literal["each", "drops", "sorts", "cuts", "joins", "appends", "makes"]


class _Index(enum.Enum):
    """The row labels, among column labels."""

    INDEX = "row labels"


INDEX = _Index.INDEX
Labels: TypeAlias = frozenset[Any]
# For each input: the label there of each column that the result has unchanged.
Origins: TypeAlias = tuple[Mapping[Hashable, Hashable], ...]
Run: TypeAlias = Callable[[Sequence[Any], Mapping[str, Any]], Any]


def _nothing(call: Any, wanted: Labels) -> Labels:
    return frozenset()


def _as_it_is(call: Any, wanted: Labels) -> Any:
    return call


def _yes(call: Any) -> bool:
    return True


def _no(call: Any) -> bool:
    return False


@dataclass(frozen=True)
class Relation:
    """A method of a plan.

    Attributes:
        run: calls the eager method with the results of the inputs and the arguments.
        rows: the effect on rows.
        reads: the columns of the first input that the method reads, for some wanted columns of
            the result; those that it keeps as they are count only if they are read.
        makes: the columns of the result that are in no input.
        keeps_labels: whether the rows of the result have the labels of the inputs' rows.
        is_rowwise: whether each row of the result depends on one row of each input alone.
        origins: the kept columns, for a method that changes labels or has several inputs.
        reads_of_each: `reads` for a method of several inputs.
        narrowed: the call without what concerns unwanted columns alone; None if nothing is left.
    """

    run: Run
    rows: Rows
    reads: Callable[[Any, Labels], Labels] = _nothing
    makes: Callable[[Any], Labels] = lambda call: frozenset()
    keeps_labels: Callable[[Any], bool] = _yes
    is_rowwise: Callable[[Any], bool] = _no
    origins: Callable[[Any], Origins] | None = None
    reads_of_each: Callable[[Any, Labels], tuple[Labels, ...]] | None = None
    narrowed: Callable[[Any, Labels], Any] = _as_it_is


@dataclass(frozen=True)
class Slot:
    """The place of an input among the operands of a function."""

    position: int

    def __repr__(self) -> str:
        return f"input {self.position + 1}"


def origins(call: Any) -> Origins:
    """For each input, the label there of each column that the result has unchanged."""
    relation = RELATIONS[call.method]
    if not call.is_frame or not call.inputs[0].is_frame:
        return ({},) * len(call.inputs)
    if relation.origins is not None:
        return relation.origins(call)
    kept = set(call.labels) - relation.makes(call)
    return ({label: label for label in call.inputs[0].labels if label in kept},)


def needed(call: Any, wanted: Labels) -> tuple[Labels, ...]:
    """The columns that each input must have, for the wanted columns of the result."""
    if not call.inputs[0].is_frame or len(set(call.labels)) < len(call.labels):
        return tuple(map(all_of, call.inputs))
    relation = RELATIONS[call.method]
    if relation.reads_of_each is not None:
        reads = relation.reads_of_each(call, wanted)
    else:
        reads = (relation.reads(call, wanted),)
    kept_labels = frozenset({INDEX}) & wanted if relation.keeps_labels(call) else frozenset()
    return tuple(
        own | kept_labels | frozenset(source for label, source in kept.items() if label in wanted)
        for own, kept in zip(reads, origins(call), strict=True)
    )


def all_of(node: Any) -> Labels:
    """All columns of a result, and its row labels."""
    return frozenset(node.labels) | {INDEX}


def read_by(expression: Expression) -> Labels:
    """The columns that an expression reads."""
    reads_labels = any(part.function == "index" for part in expression._bottom_up())
    return expression.columns() | (frozenset({INDEX}) if reads_labels else frozenset())


def listed(labels: Any) -> list[Any]:
    """One label, or several, as a list."""
    return list(labels) if isinstance(labels, (list, tuple)) else [labels]


def _found(node: Any, keys: Iterable[Any]) -> Labels:
    """The columns that keys read: labels, levels of the index, or expressions."""
    read: Labels = frozenset()
    for key in keys:
        if isinstance(key, Expression):
            read |= read_by(key)
        else:
            read |= {key if key in node.labels else INDEX}
    return read


def _method(name: str) -> Run:
    return lambda frames, arguments: getattr(frames[0], name)(**arguments)


def _of_argument(name: str) -> Callable[[Any, Labels], Labels]:
    """Reads the columns that an argument names: all of them if it is left out."""

    def reads(call: Any, wanted: Labels) -> Labels:
        labels = call.arguments.get(name)
        if labels is None:
            return frozenset(call.inputs[0].labels)
        return _found(call.inputs[0], listed(labels))

    return reads


def _unless(name: str) -> Callable[[Any], bool]:
    return lambda call: not call.arguments.get(name, False)


# Selection and assignment.


def _filter(frames: Sequence[Any], arguments: Mapping[str, Any]) -> Any:
    return frames[0][arguments["predicate"].evaluate(frames[0])]


def _select(frames: Sequence[Any], arguments: Mapping[str, Any]) -> Any:
    return frames[0][arguments["columns"]]


def _narrowed_select(call: Any, wanted: Labels) -> Any:
    return call.with_arguments(columns=[one for one in call.arguments["columns"] if one in wanted])


def _column(frames: Sequence[Any], arguments: Mapping[str, Any]) -> Any:
    return arguments["expression"].evaluate(frames[0])


def _assign(frames: Sequence[Any], arguments: Mapping[str, Any]) -> Any:
    return frames[0].assign(**arguments["values"])


def _wanted_values(call: Any, wanted: Labels) -> tuple[dict[str, Any], Labels]:
    """The assigned values that are wanted, and the columns of the input that they read."""
    assigned = call.arguments["values"]
    values = {}
    reads = wanted & frozenset(assigned)
    for label, value in reversed(assigned.items()):
        # A later value may read an earlier one.
        if label in reads:
            values[label] = value
            reads -= {label}
            if isinstance(value, Expression):
                reads |= read_by(value)
    # A column that is there keeps its position.
    replaced = frozenset(values) & frozenset(call.inputs[0].labels)
    return dict(reversed(values.items())), reads | replaced


def _narrowed_assign(call: Any, wanted: Labels) -> Any:
    values, _ = _wanted_values(call, wanted)
    return call.with_arguments(values=values) if values else None


def _are_rowwise(call: Any) -> bool:
    values = call.arguments["values"].values()
    return all(value.is_rowwise() for value in values if isinstance(value, Expression))


def _rename_origins(call: Any) -> Origins:
    labels = call.labels
    pairs = zip(labels, call.inputs[0].labels, strict=True)
    return ({label: source for label, source in pairs if labels.count(label) == 1},)


def _changed_by(name: str) -> Callable[[Any], Labels]:
    """The columns that an argument changes: the keys of a dict, or all columns."""

    def makes(call: Any) -> Labels:
        value = call.arguments[name]
        changed = frozenset(value) if isinstance(value, dict) else frozenset(call.labels)
        return changed & frozenset(call.labels)

    return makes


def _change(name: str, run: Run) -> Relation:
    """A method that changes each column by itself."""
    makes = _changed_by(name)

    def narrowed(call: Any, wanted: Labels) -> Any:
        value = call.arguments[name]
        if not isinstance(value, dict):
            return call
        kept = {label: one for label, one in value.items() if label in wanted}
        return call.with_arguments(**{name: kept}) if kept else None

    return Relation(
        run,
        "each",
        reads=lambda call, wanted: makes(call) & wanted,
        makes=makes,
        is_rowwise=_yes,
        narrowed=narrowed,
    )


def _has_rowwise_keys(call: Any) -> bool:
    keys = listed(call.arguments["by"])
    return all(key.is_rowwise() for key in keys if isinstance(key, Expression))


def _reset_labels(call: Any, wanted: Labels) -> Labels:
    return frozenset() if call.arguments.get("drop") else frozenset({INDEX})


def _new_labels(call: Any) -> Labels:
    return frozenset(call.labels) - frozenset(call.inputs[0].labels)


def _declare(frames: Sequence[Any], arguments: Mapping[str, Any]) -> Any:
    return in_dtypes(frames[0], arguments["dtypes"])


# Series of other plans.


def _filter_by(frames: Sequence[Any], arguments: Mapping[str, Any]) -> Any:
    return frames[0][frames[1]]


def _set(frames: Sequence[Any], arguments: Mapping[str, Any]) -> Any:
    return frames[0].assign(**{arguments["label"]: frames[1]})


def _apply(frames: Sequence[Any], arguments: Mapping[str, Any]) -> Any:
    def fill(value: Any) -> Any:
        return frames[value.position] if isinstance(value, Slot) else value

    keywords = {name: fill(value) for name, value in arguments["keywords"].items()}
    return apply(arguments["function"], list(map(fill, arguments["operands"])), keywords)


def _aligned(call: Any, wanted: Labels) -> tuple[Labels, ...]:
    """A series is aligned by the row labels of both inputs."""
    replaced = frozenset({call.arguments.get("label")}) & frozenset(call.inputs[0].labels)
    return frozenset({INDEX}) | replaced, all_of(call.inputs[1])


def _aligned_origins(call: Any) -> Origins:
    kept = frozenset(call.labels) - {call.arguments.get("label")}
    return {label: label for label in call.inputs[0].labels if label in kept}, {}


# Joins.


def _merge(frames: Sequence[Any], arguments: Mapping[str, Any]) -> Any:
    return frames[0].merge(frames[1], **arguments)


def join_type(call: Any) -> JoinType:
    """The type of join of a recorded merge."""
    return JOIN_TYPES[call.arguments.get("how", "inner")]


def merge_keys(call: Any) -> tuple[list[Any], list[Any]] | None:
    """The key columns of both sides; None if row labels are keys."""
    arguments = call.arguments
    if arguments.get("left_index") or arguments.get("right_index"):
        return None
    left, right = (node.labels for node in call.inputs)
    if arguments.get("how") == "cross":
        return [], []
    if arguments.get("on") is not None:
        keys = listed(arguments["on"]), listed(arguments["on"])
    elif arguments.get("left_on") is not None:
        keys = listed(arguments["left_on"]), listed(arguments["right_on"])
    else:
        shared = [label for label in left if label in right]
        keys = shared, shared
    are_columns = set(keys[0]) <= set(left) and set(keys[1]) <= set(right)
    return keys if are_columns else None


def _overlap(call: Any, keys: tuple[list[Any], list[Any]]) -> Labels:
    """The labels of both sides that get suffixes."""
    left, right = (frozenset(node.labels) for node in call.inputs)
    shared = frozenset(a for a, b in zip(*keys, strict=True) if a == b)
    return (left & right) - shared


def _merge_origins(call: Any) -> Origins:
    """The columns that a merge has from either side. A key of both sides is that of one."""
    keys = merge_keys(call)
    if keys is None:
        return {}, {}
    join = join_type(call)
    overlap = _overlap(call, keys)
    shared = {a for a, b in zip(*keys, strict=True) if a == b}
    sides: list[dict[Any, Any]] = []
    suffixes = call.arguments.get("suffixes", ("_x", "_y"))
    for side, (node, suffix) in enumerate(zip(call.inputs, suffixes, strict=True)):
        is_keeper = side == join.order
        sides.append(
            {
                f"{label}{suffix}" if label in overlap and suffix else label: label
                for label in node.labels
                if label not in shared or is_keeper
            }
        )
    present = frozenset(call.labels)
    # A label that is not there was made in a way that this function does not know.
    made = sides if join.has_matches else [sides[join.keeps.index(True)]]
    if not all(map(present.issuperset, made)):
        return {}, {}
    return tuple({label: own for label, own in side.items() if label in present} for side in sides)


def _merge_reads(call: Any, wanted: Labels) -> tuple[Labels, ...]:
    keys, sides = merge_keys(call), _merge_origins(call)
    if keys is None or not any(sides):
        return tuple(map(all_of, call.inputs))
    suffixed = frozenset(own for side in sides for label, own in side.items() if label in wanted)
    # Without one of the two columns the other would have no suffix.
    paired = _overlap(call, keys) & suffixed
    return frozenset(keys[0]) | paired, frozenset(keys[1]) | paired


def _concat(frames: Sequence[Any], arguments: Mapping[str, Any]) -> Any:
    return concat(frames, **arguments)


def _concat_origins(call: Any) -> Origins:
    present = frozenset(call.labels)
    return tuple({one: one for one in node.labels if one in present} for node in call.inputs)


# Groups, windows and reductions.

# The methods of groups that keep rows and their labels.
GROUP_TRANSFORMATIONS = frozenset([
    "bfill", "cummax", "cummin", "cumprod", "cumsum", "diff", "ffill", "head", "pct_change", "rank",
    "shift", "tail", "transform",
])  # fmt: skip
# The methods of groups that take options by name alone.
GROUP_METHODS = GROUP_TRANSFORMATIONS - {"head", "tail", "transform"} | frozenset([
    "all", "any", "count", "first", "last", "max", "mean", "median", "min", "nunique", "prod",
    "quantile", "sem", "std", "sum", "var",
])  # fmt: skip


def _groupby(frames: Sequence[Any], arguments: Mapping[str, Any]) -> Any:
    groups = frames[0].groupby(**arguments["groups"])
    if arguments["columns"] is not None:
        groups = groups[arguments["columns"]]
    return getattr(groups, arguments["method"])(**arguments["options"])


def _groupby_reads(call: Any, wanted: Labels) -> Labels:
    (node,), arguments = call.inputs, call.arguments
    by, options = arguments["groups"].get("by"), arguments["options"]
    keys = frozenset({INDEX}) if by is None else _found(node, listed(by))
    columns = arguments["columns"]
    if columns is None and arguments["method"] == "agg":
        if isinstance(options.get("func"), dict):
            columns = list(options["func"])
        elif "func" not in options:
            columns = [column for column, _ in options.values()]
    if columns is None and arguments["method"] != "size":
        return frozenset(node.labels) | keys
    return keys | _found(node, listed(columns) if columns is not None else [])


def _windows(frames: Sequence[Any], arguments: Mapping[str, Any]) -> Any:
    windows = getattr(frames[0], arguments["windows"])(**arguments["bounds"])
    return getattr(windows, arguments["method"])(**arguments["options"])


def _reduction(name: str) -> Relation:
    return Relation(
        _method(name),
        "makes",
        reads=lambda call, wanted: frozenset(call.inputs[0].labels),
        makes=lambda call: frozenset(call.labels),
        keeps_labels=_no,
    )


REDUCTIONS = (
    "all", "any", "count", "kurt", "max", "mean", "median", "min", "nunique", "prod", "quantile",
    "sem", "skew", "std", "sum", "var",
)  # fmt: skip

RELATIONS: dict[str, Relation] = {
    "select": Relation(_select, "each", is_rowwise=_yes, narrowed=_narrowed_select),
    "assign": Relation(
        _assign,
        "each",
        reads=lambda call, wanted: _wanted_values(call, wanted)[1],
        makes=lambda call: frozenset(call.arguments["values"]),
        is_rowwise=_are_rowwise,
        narrowed=_narrowed_assign,
    ),
    "column": Relation(
        _column,
        "each",
        reads=lambda call, wanted: read_by(call.arguments["expression"]),
        is_rowwise=lambda call: call.arguments["expression"].is_rowwise(),
    ),
    "rename": Relation(_method("rename"), "each", is_rowwise=_yes, origins=_rename_origins),
    "astype": _change("dtype", _method("astype")),
    "fillna": _change("value", _method("fillna")),
    "declared": _change("dtypes", _declare),
    "filter": Relation(
        _filter,
        "drops",
        reads=lambda call, wanted: read_by(call.arguments["predicate"]),
        is_rowwise=lambda call: call.arguments["predicate"].is_rowwise(),
    ),
    "dropna": Relation(
        _method("dropna"),
        "drops",
        reads=_of_argument("subset"),
        keeps_labels=_unless("ignore_index"),
        is_rowwise=_yes,
    ),
    "drop_duplicates": Relation(
        _method("drop_duplicates"),
        "drops",
        reads=_of_argument("subset"),
        keeps_labels=_unless("ignore_index"),
    ),
    "head": Relation(_method("head"), "cuts"),
    "tail": Relation(_method("tail"), "cuts"),
    "nlargest": Relation(_method("nlargest"), "cuts", reads=_of_argument("columns")),
    "nsmallest": Relation(_method("nsmallest"), "cuts", reads=_of_argument("columns")),
    "sort_values": Relation(
        _method("sort_values"),
        "sorts",
        reads=_of_argument("by"),
        keeps_labels=_unless("ignore_index"),
        is_rowwise=_has_rowwise_keys,
    ),
    "reset_index": Relation(
        _method("reset_index"),
        "each",
        reads=_reset_labels,
        makes=_new_labels,
        keeps_labels=_no,
    ),
    "set_index": Relation(
        _method("set_index"), "each", reads=_of_argument("keys"), keeps_labels=_no
    ),
    "filter_by": Relation(_filter_by, "drops", origins=_aligned_origins, reads_of_each=_aligned),
    "set": Relation(_set, "each", origins=_aligned_origins, reads_of_each=_aligned),
    "apply": Relation(
        _apply,
        "each",
        reads_of_each=lambda call, wanted: tuple(map(all_of, call.inputs)),
        origins=lambda call: ({},) * len(call.inputs),
    ),
    "merge": Relation(
        _merge, "joins", keeps_labels=_no, origins=_merge_origins, reads_of_each=_merge_reads
    ),
    "concat": Relation(
        _concat,
        "appends",
        keeps_labels=_unless("ignore_index"),
        origins=_concat_origins,
        reads_of_each=lambda call, wanted: (frozenset(),) * len(call.inputs),
    ),
    "groupby": Relation(
        _groupby,
        "makes",
        reads=_groupby_reads,
        makes=lambda call: frozenset(call.labels),
        keeps_labels=lambda call: call.arguments["method"] in GROUP_TRANSFORMATIONS,
    ),
    "windows": Relation(
        _windows,
        "makes",
        reads=lambda call, wanted: frozenset(call.inputs[0].labels),
        makes=lambda call: frozenset(call.labels),
    ),
    "value_counts": Relation(
        _method("value_counts"),
        "makes",
        reads=_of_argument("subset"),
        makes=lambda call: frozenset(call.labels),
        keeps_labels=_no,
    ),
    # Of a series.
    "unique": _reduction("unique"),
    "to_frame": Relation(_method("to_frame"), "each", is_rowwise=_yes),
    **{name: _reduction(name) for name in (*REDUCTIONS, "agg")},
}
