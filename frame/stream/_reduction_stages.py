# SPDX-License-Identifier: Apache-2.0
"""Stages of reductions over all rows: groups with one key, and quantiles by several passes."""

import dataclasses
from collections.abc import Hashable
from typing import Any

import pandas as pd

from ..plan._declared import dtype_names
from ..plan._declared import in_dtypes as in_declared_dtypes
from ..plan._expression import Expression
from ..plan._node import Call
from ..reductions._reduce_columns import ENDS, is_of_doubles
from ..reductions._results import first_on_host, result_type, table_of_series
from ..table._column import of_family
from ..table._ndframe import SeriesBase
from ..table._types import Options
from ._groups import REDUCTIONS as MERGEABLE
from ._groups import grouping, in_dtypes
from ._quantiles import QUANTILES, are_streamed, quantiles
from ._spilling_groups import SpillingGroups
from ._stage import Stage, applied, unstreamed, whole_stage
from ._state_stages import keyed_columns
from ._steps import Steps

# Reductions whose results are counts and flags.
_PLAIN = ("count", "nunique", "any", "all")


def reduced_column(node: Call, stage: Stage, batch_rows: int, steps: Steps) -> Stage:
    """A reduction of an expression of each row."""
    expression = node.arguments["expression"]
    function = expression.function
    inner, *others = expression.operands
    options = dict(expression.keywords)
    if function == "quantile" and others:
        options |= dict(zip(("q", "interpolation"), others, strict=False))
        others = []
    is_one = isinstance(inner, Expression) and inner.is_rowwise() and not others
    is_known = function in MERGEABLE or function in QUANTILES
    if not is_known or not is_one or isinstance(stage.empty, SeriesBase):
        raise unstreamed(str(function))
    column = Call.of("column", node.inputs, {"expression": inner})
    rows = applied(column.run, stage, column.empty)
    if function in QUANTILES:
        reduction = Call.of(function, (column,), options)
        return quantile_stage(node, rows, reduction, options, batch_rows)
    return reduced_stage(node, rows, function, options, batch_rows, steps)


def quantile_stage(
    node: Call, stage: Stage, call: Call, options: Options, batch_rows: int
) -> Stage:
    """Exact quantiles and medians, by several passes over the batches."""
    if not are_streamed(stage.empty, call.method, options):
        raise unstreamed(call.method)
    return whole_stage(node, lambda: quantiles(stage.in_any_order, stage.empty, call, batch_rows))


def reduced_stage(
    node: Call, stage: Stage, method: str, options: Options, batch_rows: int, steps: Steps
) -> Stage:
    """A reduction over all rows: a group with one key."""
    is_series = isinstance(stage.empty, SeriesBase)
    known = {"numeric_only"} | ({"ddof"} if method in ("var", "std", "sem") else set())
    if options.keys() - known:
        raise unstreamed(f"{method} with {sorted(options.keys() - known)[0]}=")
    labels = [stage.empty._name] if is_series else list(node.empty.index)
    values = [f"v{position}" for position in range(len(labels))]
    is_plain = not any(is_of_doubles(one, method) for one in stage.empty._table.columns)

    def keyed_rows(batch: Any) -> Any:
        rows = keyed_columns(batch, labels, values)
        if not is_plain:
            columns = zip(values, rows._table.columns, strict=True)
            doubles = [name for name, one in columns if is_of_doubles(one, method)]
            rows = rows.astype(dict.fromkeys(doubles, "double[pyarrow]"))
        return rows.assign(k=0)

    keyed = keyed_rows(stage.empty)
    found = grouping(["k"], [(name, method) for name in values], options, True, _Empty(keyed))
    if found is None:
        raise unstreamed(method)
    if method in ("sum", "prod") and any(
        column.dtype.kind == "c" for column in keyed._table.columns
    ):
        raise unstreamed(f"{method} of complex numbers")

    rows_of = applied(keyed_rows, stage, keyed)
    step = steps.following(stage.empty._layout)
    needs_order = found.depends_on_order(keyed)
    batches_from = rows_of.batches_from if needs_order else rows_of.in_any_order_from

    def run() -> Any:
        with step.files() as files:
            states = SpillingGroups(found, batch_rows, files)
            files.add_batches(states, batches_from)
            if states.is_empty:
                return getattr(stage.empty, method)(**options)
            (rows,) = states.rows()
        outputs = rows[[f"o{position}" for position in range(len(labels))]]
        templates = getattr(keyed.groupby("k"), method)(**options)._table.columns
        columns = in_dtypes(outputs._table.columns, templates, outputs._table)
        if method in _PLAIN:
            # Groups of nullable values have nullable results, all rows have others.
            sources = (stage.empty if is_series else stage.empty[labels])._table.columns
            types = [result_type(source.type, method) for source in sources]
            sides = zip(columns, types, strict=True)
            columns = [of_family(column, type.family) for column, type in sides]
        if is_series:
            value = outputs._make_series(columns[0], None, outputs._table).max()
            return int(value) if method == "nunique" else value
        one_row = outputs._make_frame(columns, stage.empty[labels]._labels)
        if node.empty.dtype == object and method not in ENDS:
            # Each result keeps its type.
            results = [first_on_host(column)[0] for column in columns]
            row = pd.Series(results, stage.empty[labels]._labels.index, dtype=object)
            return outputs.series_class._of(table_of_series(row), None)
        reduced = one_row.max()
        if method in ENDS and node.empty.dtype != object:
            # Those of no rows, which the plan knows, are NaN.
            return reduced
        return in_declared_dtypes(reduced, dtype_names(node.empty))

    return whole_stage(node, run)


@dataclasses.dataclass(frozen=True)
class _Empty:
    """The part of a node that a grouping asks for."""

    empty: Any

    @property
    def labels(self) -> tuple[Hashable, ...]:
        return tuple(self.empty._labels)
