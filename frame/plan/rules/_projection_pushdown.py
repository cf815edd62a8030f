# SPDX-License-Identifier: Apache-2.0
"""Projection pushdown: scans read the columns that the plan needs, and no others."""

import dataclasses
from collections.abc import Hashable

from .._node import Call, Node, Scan, bottom_up
from .._relation import INDEX
from .._relations import RELATIONS
from .._wanted import wanted_columns


def push_projections(root: Node) -> Node:
    """Leaves out the columns that no step needs, from the scan on.

    Proof obligation: the table of relations tells for each step the columns that it reads and those
    that it keeps, for the columns needed of its result; all others cannot change these. Steps that
    concern unneeded columns alone, such as their assignment or cast, are left out: they change no
    rows. The row labels count as a column. Columns that a filter alone reads are left out after it:
    a step that keeps rows, in memory or on disk, then keeps fewer. The result of the plan needs all
    of its columns.
    """
    wanted = wanted_columns(root)
    new: dict[Node, Node] = {}
    # The columns that a selection after a filter leaves.
    left: dict[Node, list[Hashable]] = {}
    for node in bottom_up(root):
        labels = wanted[node]
        if not isinstance(node, Call):
            new[node] = _narrowed_scan(node, labels)
            continue
        inputs = tuple(new[child] for child in node.inputs)
        narrowed = RELATIONS[node.method].narrowed(node, labels) if node.is_frame else node
        is_done = node.method == "select" and left.get(inputs[0]) == node.arguments["columns"]
        if narrowed is None or is_done:
            new[node] = inputs[0]
            continue
        new[node] = narrowed.with_inputs(inputs)
        if node.method == "filter" and node.is_frame:
            kept = [label for label in node.labels if label in labels]
            read = wanted[node.inputs[0]] - {INDEX}
            if 0 < len(kept) < len(read):
                new[node] = Call.of("select", (new[node],), {"columns": kept})
                left[new[node]] = kept
    return new[root]


def _narrowed_scan(scan: Scan, labels: frozenset) -> Scan:
    columns = tuple(label for label in scan.labels if label in labels)
    is_all = len(columns) == len(scan.labels)
    return dataclasses.replace(
        scan, columns=scan.columns if is_all else columns, has_labels=INDEX in labels
    )
