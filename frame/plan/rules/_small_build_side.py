# SPDX-License-Identifier: Apache-2.0
"""Small build side: a right join of few rows with many becomes a left join."""

from typing import Any

from .._joins import merge_keys
from .._node import Call, Node, Scan, rewritten
from .._relations import RELATIONS

_SWAPPED = {"left_on": "right_on", "right_on": "left_on"}
_KNOWN = {"how", "on", "left_on", "right_on", "suffixes"}


def build_small_side(root: Node) -> Node:
    """Swaps the sides of a right join whose left side has fewer rows, by known row counts.

    A stream holds the right side of a left join, and passes the other one through, in order. The
    rows of a right join it would have to sort.

    Proof obligation: `a.merge(b, how="right")` has the rows of `b.merge(a, how="left")`, in the
    same order with the same positions as labels: pandas defines one as the mirror image of the
    other. Suffixes and keys swap too, and a selection restores the order of the columns. The keys
    have equal dtypes in which equal values are identical, because the key of a match is that of
    either side: no floats, whose zeros have signs, and no categories. A result without rows must
    have the same labels and dtypes. Row counts only choose between two correct plans: those of
    frames in memory and in the footers of Parquet files, as upper bounds after filters. An inner
    join stays as it is, because its rows are in the order of the left side.
    """

    def change(node: Node) -> Node:
        if not isinstance(node, Call) or node.method != "merge":
            return node
        arguments = node.arguments
        if (
            arguments.get("how") != "right"
            or arguments.keys() - _KNOWN
            or not _has_exact_keys(node)
        ):
            return node
        left, right = map(most_rows, node.inputs)
        if left is None or right is None or left >= right:
            return node
        swapped = {_SWAPPED.get(name, name): value for name, value in arguments.items()}
        suffixes = tuple(arguments.get("suffixes", ("_x", "_y")))
        swapped |= {"how": "left", "suffixes": suffixes[::-1]}
        merged = Call.of("merge", node.inputs[::-1], swapped)
        if set(merged.labels) != set(node.labels) or len(set(node.labels)) < len(node.labels):
            return node
        selected = Call.of("select", (merged,), {"columns": list(node.labels)})
        return selected if _dtypes(selected) == _dtypes(node) else node

    return rewritten(root, change)


def most_rows(node: Node) -> int | None:
    """The most rows that a plan may have; None if unknown."""
    if isinstance(node, Scan):
        return node.source.num_rows
    relation = RELATIONS[node.method]
    counts = [most_rows(child) for child in node.inputs]
    if relation.rows == "appends":
        return None if None in counts else sum(count or 0 for count in counts)
    if relation.rows not in ("each", "drops", "sorts", "cuts") or counts[0] is None:
        return None
    limit = node.arguments.get("n") if node.method == "head" else None
    return counts[0] if not isinstance(limit, int) or limit < 0 else min(counts[0], limit)


def _has_exact_keys(node: Call) -> bool:
    keys = merge_keys(node)
    if not keys or not keys[0]:
        return False
    left, right = (child.empty for child in node.inputs)
    for a, b in zip(*keys, strict=True):
        one, other = left._column(a), right._column(b)
        is_exact = one.kind in ("string", "datetime", "timedelta") or (
            one.kind == "number" and one.dtype.kind in "iub"
        )
        if not is_exact or one.dtype_name != other.dtype_name:
            return False
    return True


def _dtypes(node: Node) -> list[Any]:
    return [column.dtype_name for column in node.empty._table.columns]
