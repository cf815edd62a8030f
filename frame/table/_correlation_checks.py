# SPDX-License-Identifier: Apache-2.0
"""Checks of the arguments of `corr` and `cov`."""

from typing import Any

from ._column import Column


def check_method(method: Any, caller: str) -> None:
    """Raises unless the method is "pearson"."""
    if method in ("spearman", "kendall") or callable(method):
        raise NotImplementedError(
            f"{caller}: method must be 'pearson', got {method!r}. Use rank() first for 'spearman'."
        )
    if method != "pearson":
        raise ValueError(
            f"Unknown method '{method}', expected one of 'kendall', 'spearman', 'pearson', "
            "or callable"
        )


def check_number(column: Column, label: Any, caller: str) -> Column:
    """Returns the column; raises unless it holds real numbers."""
    if column.kind in ("string", "category", "object"):
        raise ValueError(
            f"{caller}: could not convert column {label!r} of {column.dtype_name} to float. "
            "Use numeric_only=True."
        )
    if not column.is_numeric or column.dtype.kind == "c":
        raise TypeError(
            f"{caller}: columns must hold real numbers, got {column.dtype_name} in {label!r}."
        )
    return column
