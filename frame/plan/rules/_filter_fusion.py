# SPDX-License-Identifier: Apache-2.0
"""Filter fusion: filters of filtered rows become one filter."""

from .._masks import conjunction, is_movable
from .._node import Call, Node, rewritten, uses


def fuse_filters(root: Node) -> Node:
    """Replaces two filters in a row by one with both conditions.

    Proof obligation: `frame[p][q]` keeps the rows for which `p` and `q` are true, in order, and so
    does `frame[p & q]`, if `q` has the same value for a row whether or not `p` has removed others.
    So `q` must depend on one row alone, and must not raise for the rows that `p` removes; a
    missing truth value would raise.
    A filter whose result is used elsewhere stays, because its rows are needed anyway.
    """
    counts = uses(root)

    def change(node: Node) -> Node:
        if not isinstance(node, Call) or node.method != "filter":
            return node
        (inner,) = node.inputs
        if not isinstance(inner, Call) or inner.method != "filter" or counts.get(inner, 1) > 1:
            return node
        predicates = [inner.arguments["predicate"], node.arguments["predicate"]]
        if not all(map(is_movable, predicates)):
            return node
        return Call.of("filter", inner.inputs, {"predicate": conjunction(predicates)})

    return rewritten(root, change)
