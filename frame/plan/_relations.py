# SPDX-License-Identifier: Apache-2.0
"""The methods that can stand in a plan, and what each does with columns and rows.

This table is all that the optimiser and streams know of a method. A new method of frames or of
series that is a step of a plan is named here alone; `LazyFrame` and `LazySeries` follow.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..table._arguments import listed
from ..table._holes import assumes_holes
from ..table._types import Options
from ._bound import is_text
from ._declared import in_dtypes
from ._expression import Expression
from ._joins import JOINS
from ._methods import FRAME_REDUCTIONS, GROUP_TRANSFORMATIONS, apply
from ._relation import (
    INDEX,
    Labels,
    Origins,
    Owner,
    RecordedCall,
    Relation,
    Run,
    Slot,
    Streams,
    all_of,
    found_by,
    method_of,
    no,
    of_argument,
    read_by,
    unless,
    yes,
)


def origins(call: RecordedCall) -> Origins:
    """For each input, the label there of each column that the result has unchanged."""
    relation = RELATIONS[call.method]
    if not call.is_frame or not call.inputs[0].is_frame:
        return ({},) * len(call.inputs)
    if relation.origins is not None:
        return relation.origins(call)
    kept = set(call.labels) - relation.makes(call)
    return ({label: label for label in call.inputs[0].labels if label in kept},)


def needed(call: RecordedCall, wanted: Labels) -> tuple[Labels, ...]:
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


# Selection and assignment.


def _filter(frames: Sequence[Any], arguments: Options) -> Any:
    return frames[0][arguments["predicate"].evaluate(frames[0])]


def _select(frames: Sequence[Any], arguments: Options) -> Any:
    return frames[0]._columns_named(arguments["columns"])


def _narrowed_select(call: RecordedCall, wanted: Labels) -> Any:
    return call.with_arguments(columns=[one for one in call.arguments["columns"] if one in wanted])


def _column(frames: Sequence[object], arguments: Options) -> Any:
    return arguments["expression"].evaluate(frames[0])


def _assign(frames: Sequence[Any], arguments: Options) -> Any:
    return frames[0].assign(**arguments["values"])


def _wanted_values(call: RecordedCall, wanted: Labels) -> tuple[dict[str, Any], Labels]:
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


def _narrowed_assign(call: RecordedCall, wanted: Labels) -> Any:
    values, _ = _wanted_values(call, wanted)
    return call.with_arguments(values=values) if values else None


def _are_rowwise(call: RecordedCall) -> bool:
    values = call.arguments["values"].values()
    return all(value.is_rowwise() for value in values if isinstance(value, Expression))


def _rename_origins(call: RecordedCall) -> Origins:
    labels = call.labels
    pairs = zip(labels, call.inputs[0].labels, strict=True)
    return ({label: source for label, source in pairs if labels.count(label) == 1},)


def _changed_by(name: str) -> Callable[[Any], Labels]:
    """The columns that an argument changes: the keys of a dict, or all columns."""

    def makes(call: RecordedCall) -> Labels:
        value = call.arguments[name]
        changed = frozenset(value) if isinstance(value, dict) else frozenset(call.labels)
        return changed & frozenset(call.labels)

    return makes


def _change(
    name: str, run: Run, *, is_rowwise: Callable[[Any], bool] = yes, **declared: Any
) -> Relation:
    """A method that changes each column by itself."""
    makes = _changed_by(name)

    def narrowed(call: RecordedCall, wanted: Labels) -> Any:
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
        is_rowwise=is_rowwise,
        narrowed=narrowed,
        **declared,
    )


def _ranked(name: str) -> Relation:
    """A method that takes the rows with the first ranks."""
    return Relation(
        method_of(name),
        "cuts",
        reads=of_argument("columns"),
        streams="folds",
        owners=_BOTH,
        recorded=("n", "keep"),
    )


def _sample(frames: Sequence[Any], arguments: Options) -> Any:
    (frame,) = frames
    # A schema has no rows to draw from.
    if assumes_holes() and not len(frame):
        ignores = arguments.get("ignore_index", False)
        return frame.reset_index(drop=True) if ignores else frame
    return frame.sample(**arguments)


def _has_rowwise_keys(call: RecordedCall) -> bool:
    keys = listed(call.arguments["by"])
    return all(key.is_rowwise() for key in keys if isinstance(key, Expression))


def _reset_labels(call: RecordedCall, wanted: Labels) -> Labels:
    return frozenset() if call.arguments.get("drop") else frozenset({INDEX})


def _new_labels(call: RecordedCall) -> Labels:
    return frozenset(call.labels) - frozenset(call.inputs[0].labels)


def _declare(frames: Sequence[object], arguments: Options) -> Any:
    return in_dtypes(frames[0], arguments["dtypes"])


# Series of other plans.


def _filter_by(frames: Sequence[Any], arguments: Mapping[str, object]) -> Any:
    return frames[0][frames[1]]


def _set(frames: Sequence[Any], arguments: Options) -> Any:
    return frames[0].assign(**{arguments["label"]: frames[1]})


def _apply(frames: Sequence[object], arguments: Options) -> Any:
    def fill(value: object) -> Any:
        return frames[value.position] if isinstance(value, Slot) else value

    keywords = {name: fill(value) for name, value in arguments["keywords"].items()}
    return apply(arguments["function"], list(map(fill, arguments["operands"])), keywords)


def _aligned(call: RecordedCall, wanted: Labels) -> tuple[Labels, ...]:
    """A series is aligned by the row labels of both inputs."""
    replaced = frozenset({call.arguments.get("label")}) & frozenset(call.inputs[0].labels)
    return frozenset({INDEX}) | replaced, all_of(call.inputs[1])


def _aligned_origins(call: RecordedCall) -> Origins:
    kept = frozenset(call.labels) - {call.arguments.get("label")}
    return {label: label for label in call.inputs[0].labels if label in kept}, {}


# Groups, windows and reductions.


def _groupby(frames: Sequence[Any], arguments: Options) -> Any:
    groups = frames[0].groupby(**arguments["groups"])
    if arguments["columns"] is not None:
        groups = groups[arguments["columns"]]
    return getattr(groups, arguments["method"])(**arguments["options"])


def _groupby_reads(call: RecordedCall, wanted: Labels) -> Labels:
    (node,), arguments = call.inputs, call.arguments
    by, options = arguments["groups"].get("by"), arguments["options"]
    keys = frozenset({INDEX}) if by is None else found_by(node, listed(by))
    columns = arguments["columns"]
    if columns is None and arguments["method"] == "agg":
        if isinstance(options.get("func"), dict):
            columns = list(options["func"])
        elif "func" not in options:
            columns = [column for column, _ in options.values()]
    if columns is None and arguments["method"] != "size":
        return frozenset(node.labels) | keys
    return keys | found_by(node, listed(columns) if columns is not None else [])


def _windows(frames: Sequence[Any], arguments: Options) -> Any:
    windows = getattr(frames[0], arguments["windows"])(**arguments["bounds"])
    return getattr(windows, arguments["method"])(**arguments["options"])


def _casts_each_row(call: RecordedCall) -> bool:
    """Whether each row of a cast depends on one row alone, in all columns."""
    dtype, frame = call.arguments["dtype"], call.inputs[0].empty
    given = dtype if isinstance(dtype, dict) else dict.fromkeys(frame._labels, dtype)
    columns, labels = frame._table.columns, frame._labels
    return all(
        _is_cast_by_row(one, [columns[position] for position in labels.positions(label)])
        for label, one in given.items()
        if label in labels
    )


def calls_each_row(call: RecordedCall) -> bool:
    """Whether a function in a call of "apply" makes no cast that depends on all rows."""
    arguments = call.arguments
    if arguments["function"] != "astype":
        return True
    target, *operands = arguments["operands"]
    columns = call.inputs[target.position].empty._table.columns if isinstance(target, Slot) else ()
    given = [*operands, *arguments["keywords"].values()][:1]
    return all(_is_cast_by_row(one, columns) for one in given)


def _is_cast_by_row(dtype: object, columns: Sequence[Any]) -> bool:
    """Whether a cast makes neither categories nor texts of times, which depend on all rows."""
    if is_text(dtype):
        return not any(column.type.is_time for column in columns)
    return str(dtype) != "category"


def _has_one_dtype(call: Any) -> bool:
    """Whether the rows of a batch have the dtypes and the labels of those of all rows."""
    return not call.arguments.get("ignore_index") and len(call.outcomes) == 1


def _reduction(name: str, *owners: Owner, streams: Streams = "reduces") -> Relation:
    return Relation(
        method_of(name),
        "makes",
        reads=lambda call, wanted: frozenset(call.inputs[0].labels),
        makes=lambda call: frozenset(call.labels),
        keeps_labels=no,
        streams=streams,
        owners=owners,
    )


_BOTH: tuple[Owner, ...] = ("frame", "series")

RELATIONS: dict[str, Relation] = {
    "select": Relation(_select, "each", is_rowwise=yes, narrowed=_narrowed_select),
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
        streams="reduces",
    ),
    "rename": Relation(
        method_of("rename"),
        "each",
        is_rowwise=yes,
        origins=_rename_origins,
        owners=("series",),
        recorded=("index",),
    ),
    "astype": _change("dtype", method_of("astype"), is_rowwise=_casts_each_row, owners=("frame",)),
    "fillna": _change("value", method_of("fillna"), owners=("frame",)),
    "declared": _change("dtypes", _declare),
    "filter": Relation(
        _filter,
        "drops",
        reads=lambda call, wanted: read_by(call.arguments["predicate"]),
        is_rowwise=lambda call: call.arguments["predicate"].is_rowwise(),
    ),
    "dropna": Relation(
        method_of("dropna"),
        "drops",
        reads=of_argument("subset"),
        keeps_labels=unless("ignore_index"),
        is_rowwise=yes,
        streams="renumbers",
        maps_batches=unless("ignore_index"),
        owners=_BOTH,
    ),
    "drop_duplicates": Relation(
        method_of("drop_duplicates"),
        "drops",
        reads=of_argument("subset"),
        keeps_labels=unless("ignore_index"),
        streams="distinct",
        owners=_BOTH,
        recorded=("subset",),
    ),
    "head": Relation(method_of("head"), "cuts", streams="first", owners=_BOTH, recorded=("n",)),
    "tail": Relation(method_of("tail"), "cuts", streams="folds", owners=_BOTH, recorded=("n",)),
    "sample": Relation(
        _sample,
        "cuts",
        reads=lambda call, wanted: frozenset({call.arguments["weights"]} - {None}),
        keeps_labels=unless("ignore_index"),
        owners=("frame",),
        recorded=("weights",),
    ),
    "nlargest": _ranked("nlargest"),
    "nsmallest": _ranked("nsmallest"),
    "sort_values": Relation(
        method_of("sort_values"),
        "sorts",
        reads=of_argument("by"),
        keeps_labels=unless("ignore_index"),
        is_rowwise=_has_rowwise_keys,
        streams="sorts",
        owners=_BOTH,
    ),
    "reset_index": Relation(
        method_of("reset_index"),
        "each",
        reads=_reset_labels,
        makes=_new_labels,
        keeps_labels=no,
        streams="renumbers",
        owners=_BOTH,
    ),
    "set_index": Relation(
        method_of("set_index"),
        "each",
        reads=of_argument("keys"),
        keeps_labels=no,
        maps_batches=unless("verify_integrity"),
        owners=("frame",),
    ),
    "filter_by": Relation(
        _filter_by,
        "drops",
        origins=_aligned_origins,
        reads_of_each=_aligned,
        streams="aligns",
    ),
    "set": Relation(
        _set, "each", origins=_aligned_origins, reads_of_each=_aligned, streams="aligns"
    ),
    "apply": Relation(
        _apply,
        "each",
        reads_of_each=lambda call, wanted: tuple(map(all_of, call.inputs)),
        origins=lambda call: ({},) * len(call.inputs),
        streams="aligns",
    ),
    **JOINS,
    "groupby": Relation(
        _groupby,
        "makes",
        reads=_groupby_reads,
        makes=lambda call: frozenset(call.labels),
        keeps_labels=lambda call: call.arguments["method"] in GROUP_TRANSFORMATIONS,
        streams="groups",
    ),
    "windows": Relation(
        _windows,
        "makes",
        reads=lambda call, wanted: frozenset(call.inputs[0].labels),
        makes=lambda call: frozenset(call.labels),
        streams="windows",
    ),
    "value_counts": Relation(
        method_of("value_counts"),
        "makes",
        reads=of_argument("subset"),
        makes=lambda call: frozenset(call.labels),
        keeps_labels=no,
        streams="counts",
        owners=_BOTH,
        recorded=("subset",),
    ),
    "explode": Relation(
        method_of("explode"),
        "makes",
        reads=lambda call, wanted: frozenset(call.inputs[0].labels),
        makes=lambda call: frozenset(call.labels),
        keeps_labels=unless("ignore_index"),
        streams="renumbers",
        maps_batches=_has_one_dtype,
        owners=_BOTH,
    ),
    "unique": _reduction("unique", "series", streams="unique"),
    "to_frame": Relation(method_of("to_frame"), "each", is_rowwise=yes, owners=("series",)),
    **{name: _reduction(name, "frame") for name in FRAME_REDUCTIONS},
    # Expressions do not record it, so it is a step of a series too.
    "agg": _reduction("agg", *_BOTH),
}
