# SPDX-License-Identifier: Apache-2.0
"""Anti joins over batches: a left join with the number of matches of each key.

The other side is grouped by its keys. If these do not fit in memory, the groups are on disk, and
the left join is one of parts (`_merge.py`).
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

import numpy as np

from ..plan._joins import join_type, merge_keys
from ..plan._node import Call, Node
from ..table._from_host import column_from
from ..table._ndframe import FrameBase
from ..table._row_index import RowIndex, label_dtype
from ._join import Held, Join
from ._numbering import can_spill
from ._stage import Stage, close, unstreamed

_KNOWN = {"how", "on", "left_on", "right_on", "suffixes", "indicator"}

# Rows of the kept side, and the number of matches of each.
Counted = Iterator[tuple[Any, np.ndarray]]


def is_anti_join(node: Call) -> bool:
    """Whether a call is a merge that keeps the rows of one side that have no match."""
    return node.method == "merge" and not join_type(node).has_matches


def anti_join_stage(node: Call, build: Callable[[Node], Stage], batch_rows: int) -> Stage:
    """The rows of one side without a match, in their order.

    Args:
        node: the recorded merge.
        build: makes the stage of a plan.
        batch_rows: the number of rows of a batch.
    """
    keys = merge_keys(node)
    if keys is None or node.arguments.keys() - _KNOWN or len(set(keys[0])) < len(keys[0]):
        raise unstreamed(f"merge(how={node.arguments['how']!r})")
    side = join_type(node).keeps.index(True)
    own_keys, other_keys = keys[side], keys[1 - side]
    kept, other = node.inputs[side], node.inputs[1 - side]
    if not can_spill([other.empty._column(key) for key in other_keys]):
        # Keys that change on disk are held, as those of other joins are.
        own, held = build(kept), build(other)

        def counted() -> Counted:
            matches = Held(held.whole(), Join(node, own_keys, other_keys, batch_rows))
            for batch in own.batches():
                yield batch, matches.counts(batch)

        return Stage(lambda: _unmatched(node, side, counted()), False, node.empty)
    counts, names = _counts_of_keys(other, other_keys, kept.labels)
    options = {"how": "left", "left_on": own_keys, "right_on": names}
    stage = build(Call.of("merge", (kept, counts), options))

    def rows(batches: Iterator[Any]) -> Iterator[Any]:
        return _unmatched(node, side, _split(batches, kept.empty))

    return Stage(
        lambda: rows(stage.batches()),
        False,
        node.empty,
        unordered=lambda: rows(stage.in_any_order()),
    )


def _counts_of_keys(
    node: Node, keys: Sequence[Hashable], others: Sequence[Hashable]
) -> tuple[Node, list[str]]:
    """The number of rows of each key under the last label, and the labels of the key columns.

    None of the labels is among `others`.
    """
    *names, count = _new_labels(len(keys) + 1, others)
    rows = Call.of("select", (node,), {"columns": list(keys)})
    rows = Call.of("rename", (rows,), {"columns": dict(zip(keys, names, strict=True))})
    groups = {"by": names, "as_index": False, "dropna": False}
    arguments = {"groups": groups, "columns": None, "method": "size", "options": {}}
    sizes = Call.of("groupby", (rows,), arguments)
    return Call.of("rename", (sizes,), {"columns": {"size": count}}), names


def _new_labels(count: int, others: Sequence[Hashable]) -> list[str]:
    prefix = "other side "
    while any(isinstance(label, str) and label.startswith(prefix) for label in others):
        prefix += " "
    return [f"{prefix}{number}" for number in range(count)]


def _split(batches: Iterator[Any], template: FrameBase) -> Counted:
    """Rows of the left join as those of its left side and the counts of the last column."""
    labels = template._labels
    try:
        for batch in batches:
            *columns, counts = batch._table.columns
            counts = batch._make_series(counts, None).fillna(0).to_numpy()
            rows = batch._make_frame(columns[: len(labels)], labels)
            yield rows, counts.astype(np.int64)
    finally:
        close(batches)


def _unmatched(node: Call, side: int, counted: Counted) -> Iterator[Any]:
    """Rows without a match, labelled by their positions in the left join, as in pandas.

    A row has one position for each match, and at least one.
    """
    start = 0
    sides = [child.empty for child in node.inputs]
    for rows, counts in counted:
        ends = start + np.cumsum(np.maximum(counts, 1))
        kept = np.flatnonzero(counts == 0)
        sides[side] = rows._with_range().iloc[kept]
        table = node.run(*sides)._table
        labels = column_from((ends[kept] - 1).astype(label_dtype()), table.capacity, table.layout)
        yield node.empty._like(table.replace(index=RowIndex((labels,), (None,))))
        start = int(ends[-1]) if len(ends) else start
