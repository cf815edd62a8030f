# SPDX-License-Identifier: Apache-2.0
"""Joins and concatenations of a plan: their keys, and where each column comes from."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from ..align._join_types import JOIN_TYPES, JoinType
from ..combining._concat import concat
from ..table._arguments import listed
from ..table._types import Options
from ._relation import Labels, Origins, RecordedCall, Relation, all_of, no, unless


def _merge(frames: Sequence[Any], arguments: Mapping[str, object]) -> Any:
    return frames[0].merge(frames[1], **arguments)


def join_type(call: RecordedCall) -> JoinType:
    """The type of join of a recorded merge."""
    return JOIN_TYPES[call.arguments.get("how", "inner")]


def merge_keys(call: RecordedCall) -> tuple[list[Any], list[Any]] | None:
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


def _overlap(call: RecordedCall, keys: tuple[list[Hashable], list[Hashable]]) -> Labels:
    """The labels of both sides that get suffixes."""
    left, right = (frozenset(node.labels) for node in call.inputs)
    shared = frozenset(a for a, b in zip(*keys, strict=True) if a == b)
    return (left & right) - shared


def _merge_origins(call: RecordedCall) -> Origins:
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


def _merge_reads(call: RecordedCall, wanted: Labels) -> tuple[Labels, ...]:
    keys, sides = merge_keys(call), _merge_origins(call)
    if keys is None or not any(sides):
        return tuple(map(all_of, call.inputs))
    suffixed = frozenset(own for side in sides for label, own in side.items() if label in wanted)
    # Without one of the two columns the other would have no suffix.
    paired = _overlap(call, keys) & suffixed
    return frozenset(keys[0]) | paired, frozenset(keys[1]) | paired


def _concat(frames: Sequence[object], arguments: Options) -> Any:
    return concat(frames, **arguments)


def _concat_origins(call: RecordedCall) -> Origins:
    present = frozenset(call.labels)
    return tuple({one: one for one in node.labels if one in present} for node in call.inputs)


def _concat_reads(call: RecordedCall, wanted: Labels) -> tuple[Labels, ...]:
    """One column of each input that has none of those wanted.

    Its rows have missing values there, which decide dtypes; pandas does not count inputs without a
    column.
    """
    return tuple(
        frozenset(node.labels[:1] if wanted.isdisjoint(node.labels) else ()) for node in call.inputs
    )


JOINS: dict[str, Relation] = {
    "merge": Relation(
        _merge,
        "joins",
        keeps_labels=no,
        origins=_merge_origins,
        reads_of_each=_merge_reads,
        streams="joins",
    ),
    "concat": Relation(
        _concat,
        "appends",
        keeps_labels=unless("ignore_index"),
        origins=_concat_origins,
        reads_of_each=_concat_reads,
        streams="appends",
    ),
}
