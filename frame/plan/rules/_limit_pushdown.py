# SPDX-License-Identifier: Apache-2.0
"""Limit pushdown: a plan of the first rows reads the first row groups only."""

import dataclasses

from .._node import Call, Node, Scan, uses
from .._relations import RELATIONS
from .._value_dtypes import takes_dtype_from_values


def push_limits(root: Node) -> Node:
    """Moves `head(n)` with `n >= 0` below steps on each row, and tells scans their limit.

    Proof obligation: a step that computes each row from one row gives for the first `n` rows of
    its input the first `n` rows of its result, with their labels. The first `n` of the first `m`
    rows are the first `min(n, m)`. A scan may read more rows than its limit: the `head` stays.
    Nothing moves below filters, sorts and joins, whose first rows may come from any, below a step
    that takes a dtype from the values of all rows, nor below a step that several others use.
    """
    counts = uses(root)
    done: dict[Node, Node] = {}

    def pushed(node: Node) -> Node:
        if node not in done:
            done[node] = lowered(node)
        return done[node]

    def lowered(node: Node) -> Node:
        if not isinstance(node, Call):
            return node
        limit = _limit(node)
        child = node.inputs[0]
        if limit is None or counts.get(child, 1) > 1:
            return node.with_inputs(tuple(map(pushed, node.inputs)))
        if isinstance(child, Scan):
            if not child.source.can_skip_rows:
                return node
            return node.with_inputs((dataclasses.replace(child, limit=limit),))
        inner = _limit(child)
        if inner is not None:
            return pushed(Call.of("head", child.inputs, {"n": min(limit, inner)}))
        relation = RELATIONS[child.method]
        is_rowwise = relation.rows == "each" and relation.is_rowwise(child)
        if is_rowwise and not takes_dtype_from_values(child):
            return child.with_inputs((pushed(node.with_inputs(child.inputs)),))
        return node.with_inputs((pushed(child),))

    return pushed(root)


def _limit(node: Node) -> int | None:
    """The number of rows of a `head`; None for other nodes."""
    if not isinstance(node, Call) or node.method != "head":
        return None
    limit = node.arguments.get("n", 5)
    return limit if isinstance(limit, int) and limit >= 0 else None
