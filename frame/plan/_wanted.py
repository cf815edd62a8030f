# SPDX-License-Identifier: Apache-2.0
"""The columns that a plan needs of each of its nodes."""

from ._node import Call, Node, bottom_up
from ._relation import Labels, all_of
from ._relations import needed


def wanted_columns(root: Node) -> dict[Node, Labels]:
    """For each node, the columns of its result that the plan needs; `INDEX` for the row labels.

    A node that several calls use has the columns of all of them.
    """
    wanted = {root: all_of(root)}
    for node in reversed(list(bottom_up(root))):
        if isinstance(node, Call):
            for child, labels in zip(node.inputs, needed(node, wanted[node]), strict=True):
                wanted[child] = wanted.get(child, frozenset()) | labels
    return wanted
