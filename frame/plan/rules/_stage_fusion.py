# SPDX-License-Identifier: Apache-2.0
"""Stage fusion: the rowwise steps between two breakers become one compiled program."""

from typing import Any

from .._node import Call, Node, bottom_up, uses
from .._relations import INDEX
from .._stage import Fused, is_staged, is_work
from .._wanted import wanted_columns


def fuse_stages(root: Node) -> Any:
    """Replaces chains of rowwise steps by stages.

    Proof obligation: a stage calls the same methods on traced arrays. It holds only methods whose
    results have the same dtypes traced and eager, and it keeps the order of roundings. A step that
    several others use ends a stage. A chain that only selects or renames columns needs no program.
    """
    wanted, counts = wanted_columns(root), uses(root)
    new: dict[Node, Any] = {}
    chains: dict[Node, list[Call]] = {}
    for node in bottom_up(root):
        if isinstance(node, Call) and is_staged(node):
            (child,) = node.inputs
            chain = chains.get(child, []) if counts[child] == 1 else []
            chains[node] = calls = [*chain, node]
            if is_work(calls):
                source = new[calls[0].inputs[0]]
                new[node] = Fused(tuple(calls), (source,), INDEX in wanted[node])
                continue
        new[node] = node.with_inputs(tuple(new[child] for child in node.inputs))
    return new[root]
