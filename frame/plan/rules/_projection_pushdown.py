# SPDX-License-Identifier: Apache-2.0
"""Projection pushdown: scans read the columns that the plan needs, and no others."""

import dataclasses

from .._node import Call, Node, Scan, bottom_up
from .._relations import INDEX, RELATIONS
from .._wanted import wanted_columns


def push_projections(root: Node) -> Node:
    """Leaves out the columns that no step needs, from the scan on.

    Proof obligation: the table of relations tells for each step the columns that it reads and those
    that it keeps, for the columns needed of its result; all others cannot change these. Steps that
    concern unneeded columns alone, such as their assignment or cast, are left out: they change no
    rows. The row labels count as a column. The result of the plan needs all of its columns.
    """
    wanted = wanted_columns(root)
    new: dict[Node, Node] = {}
    for node in bottom_up(root):
        labels = wanted[node]
        if isinstance(node, Call):
            inputs = tuple(new[child] for child in node.inputs)
            narrowed = RELATIONS[node.method].narrowed(node, labels) if node.is_frame else node
            new[node] = inputs[0] if narrowed is None else narrowed.with_inputs(inputs)
        else:
            new[node] = _narrowed_scan(node, labels)
    return new[root]


def _narrowed_scan(scan: Scan, labels: frozenset) -> Scan:
    columns = tuple(label for label in scan.labels if label in labels)
    is_all = len(columns) == len(scan.labels)
    return dataclasses.replace(
        scan, columns=scan.columns if is_all else columns, has_labels=INDEX in labels
    )
