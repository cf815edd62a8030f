# SPDX-License-Identifier: Apache-2.0
"""Evaluation of expressions and functions that stand in place of a column or a mask."""

from collections.abc import KeysView, ValuesView
from typing import Any

import pandas as pd

from ._ndframe import NDFrame

PANDAS_EXPRESSION = type(pd.col(""))


def is_expression(value: object) -> bool:
    """Whether a value is an expression, of `frame.col` or of `pandas.col`."""
    return isinstance(value, (NDFrame.expression_class, PANDAS_EXPRESSION))


def evaluated(value: object, frame: NDFrame) -> Any:
    """Evaluates an expression on a frame; returns other values as they are."""
    if not is_expression(value):
        return value
    return NDFrame.expression_class.from_pandas(value).evaluate(frame)


def apply_if_callable(value: object, frame: NDFrame) -> Any:
    """Evaluates an expression, calls a function, and lists what a range or a view of a dict has.

    Other values stay as they are.
    """
    value = evaluated(value, frame)
    if isinstance(value, (range, KeysView, ValuesView)):
        return list(value)
    return value(frame) if callable(value) else value
