# SPDX-License-Identifier: Apache-2.0
"""The reductions that each column type supports, and the types of their results."""

from collections.abc import Hashable

from ..table._column import NUMBER, Column, ColumnType

_ANY = ("count", "size", "nunique", "first", "last")
_EXTREMES = ("min", "max", "argmin", "argmax")
_OF_COMPLEX = (*_ANY, "sum", "prod", "mean", "any", "all")
_OF_TYPE = {
    "string": (*_ANY, *_EXTREMES, "any", "all", "sum"),
    "category": (*_ANY, *_EXTREMES, "any", "all"),
    "datetime": (*_ANY, *_EXTREMES, "mean", "median", "quantile", "std", "sem"),
    "timedelta": (
        *(*_ANY, *_EXTREMES, "mean", "median", "quantile", "std", "sem"),
        *("sum", "any", "all"),
    ),
    "object": ("count", "size", "first", "last"),
}
_KEEP_TYPE = ("min", "max", "first", "last", "sum", "mean", "median", "quantile")


def check_reducible(op: str, column: Column, label: Hashable) -> None:
    """Raises a TypeError unless a column supports a reduction."""
    kind = column.kind
    what = {"argmin": "idxmin", "argmax": "idxmax"}.get(op, op)
    if kind == "category" and op in _EXTREMES and not column.type.ordered:
        raise TypeError(
            f"Cannot perform {what} with non-ordered Categorical: column {label!r}. "
            "Use ordered categories."
        )
    if kind == "number":
        if column.is_bool and op == "quantile":
            raise TypeError(f"Cannot use quantile with bool dtype: column {label!r}")
        if column.dtype.kind == "c" and op not in _OF_COMPLEX:
            raise TypeError(
                f"complex column {label!r} does not support operation {what!r}. "
                "Reduce its parts, map(jnp.real) and map(jnp.imag)."
            )
    elif op not in _OF_TYPE[kind]:
        raise TypeError(
            f"dtype '{column.dtype_name}' of column {label!r} does not support operation '{what}'"
        )


def reduced_type(op: str, column: Column) -> ColumnType:
    """The type of the result of a reduction of a column."""
    if op in _KEEP_TYPE:
        return column.type
    if op in ("std", "sem") and column.type.is_time:
        return ColumnType("timedelta", unit=column.type.unit)
    return NUMBER
