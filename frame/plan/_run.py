# SPDX-License-Identifier: Apache-2.0
"""Runs a plan on this process' devices."""

from typing import Any

from ._node import PlanNode, in_order


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
