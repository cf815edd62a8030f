# SPDX-License-Identifier: Apache-2.0
"""A text that identifies a plan, the same in every process."""

from collections.abc import Callable

from ._function_text import function_text, functions_in
from ._node import Node, Scan, bottom_up
from ._sources import Source


def identity(root: Node, source_text: Callable[[Source], str]) -> str:
    """Describes each step of a plan in full: plans with equal texts do the same.

    Args:
        root: a plan, before the optimiser.
        source_text: describes a source.
    """
    numbers: dict[Node, int] = {}
    lines: list[str] = []
    for number, node in enumerate(bottom_up(root)):
        numbers[node] = number
        if isinstance(node, Scan):
            step = (source_text(node.source), node.columns, node.predicate, node.limit)
            lines.append(f"scan{step!r} {node.source.empty.dtypes.to_dict()!r}")
        else:
            inputs = [numbers[child] for child in node.inputs]
            functions = [function_text(one) for one in functions_in(node.arguments)]
            lines.append(f"{node.method}{inputs} {node.arguments!r} {functions or ''}")
    return "\n".join(lines)
