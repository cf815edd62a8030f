# SPDX-License-Identifier: Apache-2.0
"""Group pushdown: rows are reduced by their join keys before a join, not after it."""

import math
from collections.abc import Hashable
from typing import Any

import numpy as np

from ...table._arguments import listed
from ...table._dtypes import wide
from .._joins import merge_keys
from .._node import Call, Node, rewritten, uses
from .._relations import origins
from .._value_ranges import integer_bounds, value_ranges
from ._small_build_side import most_rows

# Reductions that may be made in two steps: of parts, and of the results of the parts.
_OF_PARTS = frozenset(["sum", "min", "max"])
# It keeps the NaN of a part: the sum of infinities of both signs.
_SUM_OF_SUMS = "sum of sums"
# The most combinations of join keys, and the most rows of the other side: an array with a value for
# each fits the cache of a core.
MOST_KEYS = 1 << 16
# The rows for each combination of keys from which the pass over the rows gains more than it costs.
LEAST_ROWS_OF_KEY = 8
_MERGE_ARGUMENTS = frozenset(["how", "on", "left_on", "right_on", "suffixes"])
_GROUP_ARGUMENTS = frozenset(["by", "sort", "dropna", "as_index", "observed"])


def push_groups(root: Node) -> Node:
    """Reduces the left rows of a join by the join keys, if groups of the joined rows follow.

    `left.merge(right, on="k").groupby("r").agg({"x": "sum"})` becomes `left.groupby("k").agg({"x":
    "sum"}).merge(right, on="k").groupby("r").agg({"x": "sum"})`, where `r` is a column of the right
    side or a join key ("eager aggregation"; Yan, Larson 1995). The join then has one left row for
    each key.

    Proof obligation: left rows with equal join keys have the same matches, so they are in the same
    groups, each as often. The sum of the sums of parts is the sum of all, as are the least and the
    greatest value; sums of floats are rounded in another order. The groups are those of the same
    right rows and keys. They are sorted, so the order of the rows is not seen. A left join keeps a
    row of each key without a match, whose right columns are missing as before. Columns keep their
    labels, because fewer columns of the left side meet those of the right side. The labels and
    dtypes of the result without rows must be equal, and integers whose least or greatest value is
    asked for must have no nulls, by the footers. Whether it pays depends on footers: the join
    keys are integers of a known small range with many rows for each key, and the right side has few
    rows. Nothing is moved below a join that several steps use.
    """
    counts = uses(root)

    def change(node: Node) -> Node:
        if not isinstance(node, Call) or node.method != "groupby":
            return node
        (merge,) = node.inputs
        if not isinstance(merge, Call) or merge.method != "merge" or counts.get(merge, 1) > 1:
            return node
        keys, functions = _join_keys(merge), _functions(node)
        if keys is None or functions is None or not _are_of_sides(node, merge, keys, functions):
            return node
        if not _pays(merge, keys):
            return node
        left, right = merge.inputs
        arguments = {
            "groups": {"by": keys, "as_index": False},
            "columns": None,
            "method": "agg",
            "options": {"func": functions},
        }
        # The left side may be a join too.
        reduced = change(Call.of("groupby", (left,), arguments))
        result = _of_parts(node, functions).with_inputs((merge.with_inputs((reduced, right)),))
        return result if _types(result) == _types(node) else node

    return rewritten(root, change)


def _join_keys(merge: Call) -> list[Any] | None:
    """The left keys of a join that drops or repeats left rows by their keys alone."""
    arguments, keys = merge.arguments, merge_keys(merge)
    # A key that comes twice would be two columns of groups with one label.
    if arguments.keys() - _MERGE_ARGUMENTS or not keys or len(set(keys[0])) < len(keys[0]):
        return None
    return keys[0] if arguments.get("how", "inner") in ("inner", "left") else None


def _functions(node: Call) -> dict[Hashable, str] | None:
    """The reduction of each reduced column, if each has one that may be made of parts."""
    arguments = node.arguments
    groups, method, options = arguments["groups"], arguments["method"], dict(arguments["options"])
    if groups.keys() - _GROUP_ARGUMENTS or not groups.get("sort", True):
        return None
    columns = None if arguments["columns"] is None else listed(arguments["columns"])
    pairs: list[tuple[Hashable, Any]] = []
    if method in _OF_PARTS and columns is not None and not options:
        pairs = [(label, method) for label in columns]
    elif method == "agg":
        func = options.pop("func", None)
        if isinstance(func, dict) and columns is None and not options:
            pairs = list(func.items())
        elif isinstance(func, str) and columns is not None and not options:
            pairs = [(label, func) for label in columns]
        elif func is None and columns is None:
            pairs = [tuple(pair) for pair in options.values() if isinstance(pair, (tuple, list))]
            if len(pairs) < len(options):
                return None
    functions = dict(pairs)
    are_known = all(isinstance(one, str) and one in _OF_PARTS for one in functions.values())
    return functions if functions and are_known and len(set(pairs)) == len(functions) else None


def _of_parts(node: Call, functions: dict[Hashable, str]) -> Call:
    """The groupby with the reductions that merge parts."""
    options = node.arguments["options"]
    merging = {
        label: _SUM_OF_SUMS if one == "sum" and _column(node, label).is_float else one
        for label, one in functions.items()
    }
    if _SUM_OF_SUMS not in merging.values():
        return node
    if node.arguments["columns"] is not None:
        return node.with_arguments(method="sum", options={"skipna": False})
    if "func" in options:
        return node.with_arguments(options={"func": merging})
    named = {name: (label, merging[label]) for name, (label, _) in options.items()}
    return node.with_arguments(options=named)


def _column(node: Call, label: Hashable) -> Any:
    """An input column of a groupby, without rows."""
    return node.inputs[0].empty._column(label)


def _are_of_sides(
    node: Call, merge: Call, keys: list[object], functions: dict[Hashable, str]
) -> bool:
    """Whether groups are of right columns and join keys, and reduced values of left numbers."""
    left, right = origins(merge)
    by = node.arguments["groups"].get("by")
    if by is None or not all(isinstance(label, str) for label in (*listed(by), *functions)):
        return False
    are_groups = all(
        label in keys if left.get(label) == label else right.get(label) == label
        for label in listed(by)
    )
    return are_groups and all(
        left.get(label) == label
        and label not in keys
        and _has_parts(merge.inputs[0], label, function)
        for label, function in functions.items()
    )


def _has_parts(node: Node, label: Hashable, function: str) -> bool:
    """Whether the dtype of a reduced column does not depend on which rows are reduced first."""
    column = node.empty._column(label)
    if not column.is_numeric or column.dtype.kind not in "iuf":
        return False
    # A sum of narrow floats is rounded once. A part may overflow where the whole sum does not.
    if column.is_float and function == "sum" and column.dtype != wide(np.float64):
        return False
    # The least of no integers is missing, and makes floats of the others.
    return column.is_float or function == "sum" or value_ranges(node, label) is not None


def _pays(merge: Call, keys: list[object]) -> bool:
    """Whether few left rows are left, of many."""
    left, right = merge.inputs
    num_right = most_rows(right)
    if num_right is None or num_right > MOST_KEYS:
        return False
    ranges = [value_ranges(left, key) for key in keys]
    bounds = integer_bounds(ranges)
    if bounds is None:
        return False
    num_keys = math.prod(high - low + 1 for low, high in bounds)
    num_rows = max(sum(group.num_rows for group in one or ()) for one in ranges)
    return num_keys <= MOST_KEYS and num_keys * LEAST_ROWS_OF_KEY <= num_rows


def _types(node: Call) -> Any:
    """The labels and dtypes of the result, of its rows' labels too."""
    table = node.empty._table
    columns = (*table.columns, *table.index.stored)
    return node.labels, table.index.names, [column.dtype_name for column in columns]
