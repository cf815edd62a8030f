# SPDX-License-Identifier: Apache-2.0
"""Runs a plan on this process' devices."""

from typing import Any

from ._node import PlanNode


def run(root: PlanNode) -> Any:
    """Runs each object of a plan once, inputs first, and drops results that are used up."""
    order = in_order(root)
    uses_left: dict[int, int] = {id(root): 1}
    for node in order:
        for child in node.inputs:
            uses_left[id(child)] = uses_left.get(id(child), 0) + 1
    results: dict[int, Any] = {}
    for node in order:
        results[id(node)] = node.run(*(results[id(child)] for child in node.inputs))
        for child in node.inputs:
            uses_left[id(child)] -= 1
            if not uses_left[id(child)]:
                results.pop(id(child), None)
    return results[id(root)]


def in_order(root: Any) -> list[Any]:
    """Each object of a plan once, after its inputs. Equal objects are different ones."""
    order: list[Any] = []
    seen: set[int] = set()
    stack = [(root, False)]
    while stack:
        node, is_last_visit = stack.pop()
        if is_last_visit:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(node.inputs))
    return order
