# SPDX-License-Identifier: Apache-2.0
"""Key ranges: a join leaves out rows whose keys lie beyond all keys of the other side."""

import functools
from collections.abc import Hashable
from typing import Any

from .._expression import Expression, col
from .._joins import join_type, merge_keys
from .._masks import conjunction
from .._node import Call, Node, rewritten
from .._row_groups import ValueRange
from .._value_ranges import bounds_of, value_ranges

# A filter must drop so many of the rows that it pays for the pass over the others.
MOST_KEPT = 0.5


def narrow_keys(root: Node) -> Node:
    """Filters one side of a join by the range of keys that the footers of the other side's files
    state.

    The filter then moves into the scan, which leaves out row groups, and a stream holds the side
    in memory if what is left is small (a semi-join by ranges; Bernstein, Chiu 1981).

    Proof obligation: a row is removed only if its key lies outside the least and greatest key of
    the other side, so it has no match there. An inner join drops such rows; a left join drops them
    from its right side, a right join from its left side, and an anti join from the side it looks
    into. The other rows keep their order, and the labels of a merge on columns are positions. A
    merge with `validate` or `indicator` stays as it is, because the first counts rows without a
    match. The ranges are those of files, of columns that reach the join as they stand in the file,
    through steps that drop, repeat or reorder rows: these make a range no wider. Keys are integers
    or times of one dtype without nulls in any row group of either file, by the footers: pandas
    matches nulls with each other, and integers with nulls are read as floats. Which of two correct
    plans is taken depends on an estimate: the filter is made if it drops half of the rows, where
    keys are spread evenly over the range of each row group.
    """
    # Each side of an inner join asks for the footers of both.
    ranges_of = functools.cache(value_ranges)

    def bound(own: Node, label: Hashable, other: Node, other_label: Hashable) -> Expression | None:
        if not _have_one_type(own, label, other, other_label):
            return None
        return _bound(label, ranges_of(own, label), ranges_of(other, other_label))

    def change(node: Node) -> Node:
        if not isinstance(node, Call) or node.method != "merge":
            return node
        arguments, keys = node.arguments, merge_keys(node)
        if arguments.get("validate") or arguments.get("indicator") or not keys:
            return node
        inputs = list(node.inputs)
        for side in join_type(node).sides_that_lose_rows:
            own, other = node.inputs[side], node.inputs[1 - side]
            pairs = zip(keys[side], keys[1 - side], strict=True)
            bounds = [bound(own, label, other, other_label) for label, other_label in pairs]
            found = [one for one in bounds if one is not None]
            if found:
                inputs[side] = Call.of("filter", (own,), {"predicate": conjunction(found)})
        return node.with_inputs(tuple(inputs))

    return rewritten(root, change)


def _bound(
    label: Hashable, ranges: tuple[ValueRange, ...] | None, others: tuple[ValueRange, ...] | None
) -> Expression | None:
    """A condition of the rows that may have a match, if many rows have none."""
    if not ranges or not others:
        return None
    least, greatest = bounds_of(others)
    num_rows = sum(one.num_rows for one in ranges)
    num_kept = sum(one.num_rows * one.share_within(least, greatest) for one in ranges)
    return col(label).between(least, greatest) if num_kept <= MOST_KEPT * num_rows else None


def _have_one_type(node: Node, label: Hashable, other: Node, other_label: Hashable) -> bool:
    """Whether keys are integers or times of one dtype."""
    one: Any = node.empty._column(label)
    two: Any = other.empty._column(other_label)
    is_ordered = one.kind == "datetime" or (one.kind == "number" and one.dtype.kind in "iu")
    return is_ordered and one.dtype_name == two.dtype_name
