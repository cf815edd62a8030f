# SPDX-License-Identifier: Apache-2.0
"""Stage fusion: the rowwise steps between two breakers become one compiled program."""

from typing import Any

from .._node import Call, Node, bottom_up, uses
from .._relations import INDEX, Labels, all_of, needed
from .._stage import Fused, can_follow, is_staged, is_work
from .._wanted import wanted_columns


def fuse_stages(root: Node) -> Any:
    """Replaces chains of rowwise steps by stages.

    Proof obligation: a stage calls the same methods on traced arrays. It holds only methods whose
    results have the same dtypes traced and eager, and it keeps the order of roundings. A step that
    several others use ends a stage. A chain that only selects or renames columns needs no program.
    """
    wanted, counts, read = wanted_columns(root), uses(root), _columns_read(root)
    new: dict[Node, Any] = {}
    chains: dict[Node, list[Call]] = {}
    for node in bottom_up(root):
        if isinstance(node, Call) and is_staged(node):
            (child,) = node.inputs
            chain = chains.get(child, []) if counts[child] == 1 else []
            chain = chain if can_follow(chain, node) else []
            chains[node] = calls = [*chain, node]
            if is_work(calls):
                source = new[calls[0].inputs[0]]
                labels = read[node] - {INDEX} | wanted[node] & {INDEX}
                new[node] = Fused(tuple(calls), (source,), labels)
                continue
        new[node] = node.with_inputs(tuple(new[child] for child in node.inputs))
    return new[root]


def _columns_read(root: Node) -> dict[Node, Labels]:
    """The columns that the calls on each node read, whether or not their results are needed."""
    read = {root: all_of(root)}
    for node in bottom_up(root):
        if isinstance(node, Call):
            for child, labels in zip(node.inputs, needed(node, all_of(node)), strict=True):
                read[child] = read.get(child, frozenset()) | labels
    return read
