# SPDX-License-Identifier: Apache-2.0
"""What the footers of files tell of the values that a column of a plan may have."""

from collections.abc import Hashable, Sequence
from typing import Any

from ._joins import join_type
from ._node import Call, Node, Scan
from ._relations import RELATIONS, origins
from ._row_groups import ValueRange


def value_ranges(node: Node, label: Hashable) -> tuple[ValueRange, ...] | None:
    """The ranges of a column's values, for each row group of the file that it comes from.

    None if they are unknown: for values that are computed, null, or neither integers nor times.
    Steps that drop, repeat or reorder rows make no range wider.
    """
    found = _origin(node, label)
    return None if found is None else found[0].source.ranges(found[1])


def bounds_of(ranges: tuple[ValueRange, ...]) -> tuple[Any, Any]:
    """The least and the greatest value of some ranges."""
    return min(one.least for one in ranges), max(one.greatest for one in ranges)


def _origin(node: Node, label: Hashable) -> tuple[Scan, Hashable] | None:
    """The scan whose column reaches a step without new values, and the label there."""
    while isinstance(node, Call):
        relation = RELATIONS[node.method]
        sides: tuple[int, ...] = (0,) if relation.rows in ("each", "drops", "sorts", "cuts") else ()
        if relation.rows == "joins":
            sides = join_type(node).sides_without_holes
        kept = origins(node)
        found = next((side for side in sides if label in kept[side]), None)
        if found is None:
            return None
        node, label = node.inputs[found], kept[found][label]
    return node, label


def integer_bounds(
    ranges: Sequence[tuple[ValueRange, ...] | None],
) -> list[tuple[int, int]] | None:
    """The least and the greatest value of each column of integers; None if one is not known."""
    bounds = [bounds_of(one) for one in ranges if one]
    are_known = len(bounds) == len(ranges) and all(isinstance(low, int) for low, _ in bounds)
    return bounds if are_known else None
