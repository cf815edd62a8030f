# SPDX-License-Identifier: Apache-2.0
"""Predicate pushdown: rows are filtered as early as possible."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from .._expression import Expression
from .._joins import join_type, merge_keys
from .._masks import conjunction, conjuncts, is_movable
from .._node import Call, Formula, Node, Scan, uses
from .._relation import INDEX
from .._relations import RELATIONS, origins
from .._value_dtypes import takes_dtype_from_values
from .._wanted import wanted_columns


def push_predicates(root: Node) -> Node:
    """Moves filters below projections, sorts, joins and concatenations, and into scans.

    Only predicates move that depend on one row alone, have a value for each row, and raise for
    none. A predicate moves below a step if the step

    - has unchanged the columns that the predicate reads, under whatever labels,
    - takes no dtype from the values of the rows, which would then be fewer, and
    - gives for fewer input rows the same result with the rows from the removed ones left out, with
      the same row labels where these are needed.

    Proof obligation, for each kind of step:

    - Steps on each row, such as `assign` of rowwise expressions: by definition.
    - `dropna`: the rows that remain satisfy both conditions, in any order of the two.
    - `sort_values` by keys that depend on one row each: the sort is stable, so a subset of the
      rows is sorted as it lies in the whole. With `ignore_index` the labels are positions,
      which change.
    - `merge`: a row of an inner or cross join satisfies a predicate of one side exactly if it
      comes from a row of that side that does. For a left, right or anti join this is true of the
      side whose rows are kept; on the other side it would turn matches into missing values. The
      labels of a merge on columns are positions, so they must not be needed. The columns, and the
      keys of both sides, must have equal dtypes, so that a side without rows changes none. Integers
      and bools of the other side become floats and objects if a row has no match, so a predicate
      that could remove the last of these rows stays above, if such a column is needed.
    - `concat`: each input has the columns in the dtypes of the result.
    - Scans: the filter stays. The scan leaves out row groups in which no row can satisfy it.

    `head`, `tail`, `nlargest`, `drop_duplicates`, groups and windows depend on the rows that the
    filter would remove, so nothing moves below them. Nothing moves below a step that several
    others use.
    """
    return _Pushdown(root).pushed(root, ())


class _Pushdown:
    def __init__(self, root: Node):
        self._wanted = wanted_columns(root)
        self._uses = uses(root)
        self._done: dict[Node, Node] = {}

    def pushed(self, node: Node, predicates: Sequence[Expression]) -> Node:
        """The plan of a node's rows that satisfy predicates, which move down from above it."""
        if self._uses[node] > 1:
            if node not in self._done:
                self._done[node] = self._below(node, ())
            return _filtered(self._done[node], predicates)
        return self._below(node, predicates)

    def _below(self, node: Node, predicates: Sequence[Expression]) -> Node:
        if isinstance(node, Scan):
            if predicates and node.source.can_skip_rows:
                node = dataclasses.replace(node, predicate=Formula(conjunction(predicates)))
            return _filtered(node, predicates)
        if node.method == "filter":
            return self._below_filter(node, predicates)
        stay: list[Expression] = []
        moved: list[list[Expression]] = [[] for _ in node.inputs]
        for predicate in predicates:
            targets = self._targets(node, predicate)
            if not targets:
                stay.append(predicate)
            for position, renamed in targets:
                moved[position].append(renamed)
        inputs = tuple(map(self.pushed, node.inputs, moved))
        return _filtered(node.with_inputs(inputs), stay)

    def _below_filter(self, node: Call, predicates: Sequence[Expression]) -> Node:
        own = node.arguments["predicate"]
        if is_movable(own):
            return self.pushed(node.inputs[0], [*conjuncts(own), *predicates])
        if own.is_rowwise() and not takes_dtype_from_values(node):
            return node.with_inputs((self.pushed(node.inputs[0], predicates),))
        return _filtered(node.with_inputs((self.pushed(node.inputs[0], ()),)), predicates)

    def _targets(self, node: Call, predicate: Expression) -> list[tuple[int, Expression]]:
        """The inputs that a predicate moves to, with the predicate in terms of their columns."""
        relation, arguments = RELATIONS[node.method], node.arguments
        has_labels = INDEX in self._wanted[node]
        sides = range(len(node.inputs))
        if relation.rows in ("each", "drops", "sorts"):
            is_safe = relation.is_rowwise(node)
        else:
            is_safe = relation.rows in ("joins", "appends")
        if relation.rows == "joins":
            sides = join_type(node).sides_without_holes
            is_safe = not arguments.get("validate") and not arguments.get("indicator")
            is_safe = is_safe and _have_equal_keys(node)
        is_safe = is_safe and not self._may_change_dtypes(node)
        if not is_safe or (has_labels and not relation.keeps_labels(node)):
            return []
        kept = origins(node)
        targets = [
            (side, predicate.rename(kept[side]))
            for side in sides
            if _has_columns(node, side, kept[side], predicate)
        ]
        if relation.rows == "appends" and len(targets) < len(node.inputs):
            return []
        return targets

    def _may_change_dtypes(self, node: Call) -> bool:
        """Whether the values of rows decide a dtype: in joins, that of a needed column."""
        if RELATIONS[node.method].rows != "joins":
            return takes_dtype_from_values(node)
        sides = join_type(node).sides_without_holes
        columns = [
            empty._column(source)
            for side, kept in enumerate(origins(node))
            if side not in sides
            for label, source in kept.items()
            if label in self._wanted[node]
            for empty in node.inputs[side].outcomes
        ]
        return any(column.is_numeric and column.dtype.kind in "biu" for column in columns)


def _has_columns(node: Call, side: int, kept: Any, predicate: Expression) -> bool:
    """Whether an input has the columns of a predicate, as the result has them."""
    if not predicate.columns() <= kept.keys():
        return False
    source = node.inputs[side]
    return all(
        result._column(label).dtype_name == own._column(kept[label]).dtype_name
        for result, own in ((node.empty, source.empty), (node.narrow, source.narrow))
        for label in predicate.columns()
    )


def _have_equal_keys(node: Call) -> bool:
    keys = merge_keys(node)
    if keys is None:
        return False
    left, right = node.inputs
    sides = (left.empty, right.empty), (left.narrow, right.narrow)
    return all(
        own._column(a).dtype_name == other._column(b).dtype_name
        for own, other in sides
        for a, b in zip(*keys, strict=True)
    )


def _filtered(node: Node, predicates: Sequence[Expression]) -> Node:
    if not predicates:
        return node
    return Call.of("filter", (node,), {"predicate": conjunction(predicates)})
