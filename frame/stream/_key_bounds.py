# SPDX-License-Identifier: Apache-2.0
"""The ranges of integer keys by the footers of files, for tables with a slot for each key."""

import math
from collections.abc import Sequence
from typing import TypeAlias

from ..plan._node import Call, Node
from ..plan._value_ranges import integer_bounds, value_ranges

# The least and the greatest value of each key.
Bounds: TypeAlias = Sequence[tuple[int, int]]


def key_bounds(node: Node, labels: Sequence[object], most_slots: int) -> Bounds | None:
    """The bounds of key columns, if a table has room for each combination of their values.

    Args:
        node: the step whose rows have the keys.
        labels: its key columns.
        most_slots: the number of slots that the table may have.
    """
    if isinstance(node, Call) and node.method == "column":
        expression = node.arguments["expression"]
        if expression.function != "col":
            return None
        node, labels = node.inputs[0], [expression.operands[0]]
    bounds = integer_bounds([value_ranges(node, label) for label in labels])
    return bounds if bounds is not None and num_slots(bounds) <= most_slots else None


def num_slots(bounds: Bounds) -> int:
    """The number of combinations of keys."""
    return math.prod(high - low + 1 for low, high in bounds)


def beyond_bounds(caller: str, found: str) -> OSError:
    """The error for a key beyond the range that a footer tells."""
    return OSError(
        f"{caller}: the footer of a file must give the range of its values, got {found}. The file "
        "is corrupted, or has changed."
    )
