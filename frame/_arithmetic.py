# SPDX-License-Identifier: Apache-2.0
"""Operators of frames and series, which bring rows together by their labels first."""

from typing import Any, Self

import jax
import numpy as np
import pandas as pd

from ._alignment import same_labels
from ._base import FrameBase, NDFrame, SeriesBase
from ._column import Column
from ._elementwise import COMPARISONS, Scalar, combine
from ._outer_alignment import align_tables

NAMES = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")


class Operators(NDFrame):
    """The operators of Python, in terms of `_operate`."""

    __hash__ = None  # pyright: ignore

    def _operate(self, op: str, other: Any, *, reflected: bool = False) -> Any:
        raise NotImplementedError

    def __add__(self, other: Any) -> Any:
        return self._operate("add", other)

    def __radd__(self, other: Any) -> Any:
        return self._operate("add", other, reflected=True)

    def __sub__(self, other: Any) -> Any:
        return self._operate("sub", other)

    def __rsub__(self, other: Any) -> Any:
        return self._operate("sub", other, reflected=True)

    def __mul__(self, other: Any) -> Any:
        return self._operate("mul", other)

    def __rmul__(self, other: Any) -> Any:
        return self._operate("mul", other, reflected=True)

    def __truediv__(self, other: Any) -> Any:
        return self._operate("truediv", other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._operate("truediv", other, reflected=True)

    def __floordiv__(self, other: Any) -> Any:
        return self._operate("floordiv", other)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._operate("floordiv", other, reflected=True)

    def __mod__(self, other: Any) -> Any:
        return self._operate("mod", other)

    def __rmod__(self, other: Any) -> Any:
        return self._operate("mod", other, reflected=True)

    def __pow__(self, other: Any) -> Any:
        return self._operate("pow", other)

    def __rpow__(self, other: Any) -> Any:
        return self._operate("pow", other, reflected=True)

    def __and__(self, other: Any) -> Any:
        return self._operate("and", other)

    def __rand__(self, other: Any) -> Any:
        return self._operate("and", other, reflected=True)

    def __or__(self, other: Any) -> Any:
        return self._operate("or", other)

    def __ror__(self, other: Any) -> Any:
        return self._operate("or", other, reflected=True)

    def __xor__(self, other: Any) -> Any:
        return self._operate("xor", other)

    def __rxor__(self, other: Any) -> Any:
        return self._operate("xor", other, reflected=True)

    def __eq__(self, other: Any) -> Any:
        return self._operate("eq", other)

    def __ne__(self, other: Any) -> Any:
        return self._operate("ne", other)

    def __lt__(self, other: Any) -> Any:
        return self._operate("lt", other)

    def __le__(self, other: Any) -> Any:
        return self._operate("le", other)

    def __gt__(self, other: Any) -> Any:
        return self._operate("gt", other)

    def __ge__(self, other: Any) -> Any:
        return self._operate("ge", other)


def _paired(op: str, a: Any, b: Any, reflected: bool) -> tuple[Any, Any]:
    return (b, a) if reflected else (a, b)


def _is_scalar(value: Any) -> bool:
    if isinstance(value, (jax.Array, np.ndarray)):
        return value.ndim == 0
    return not hasattr(value, "__len__") or isinstance(value, (str, bytes, pd.Timestamp))


class SeriesArithmetic(Operators, SeriesBase):
    """Operators of a series."""

    def _operate(self, op: str, other: Any, *, reflected: bool = False) -> Any:
        if isinstance(other, FrameBase):
            return NotImplemented
        if isinstance(other, SeriesBase):
            return self._with_series(op, other, reflected)
        if _is_scalar(other):
            (column,) = combine(op, [_paired(op, self._only, Scalar(other), reflected)])
            return self._with_column(column)
        from ._assignment import as_column

        values = as_column(other, self._table, "other")
        (column,) = combine(op, [_paired(op, self._only, values, reflected)])
        return self._with_column(column)

    def _with_series(self, op: str, other: SeriesBase, reflected: bool) -> Any:
        a, b = self._table, other._table
        if not same_labels(a, b):
            if op in COMPARISONS:
                raise ValueError("Can only compare identically-labeled Series objects")
            a, b = align_tables(a, b)
        left, right = a.columns[0], b.columns[0]
        (column,) = combine(op, [_paired(op, left, right, reflected)])
        name = self._name if self._name == other._name else None
        return self._of(a.with_columns([column]), name)


class FrameArithmetic(Operators, FrameBase):
    """Operators of a frame."""

    def _operate(self, op: str, other: Any, *, reflected: bool = False) -> Any:
        if _is_scalar(other):
            pairs = [_paired(op, c, Scalar(other), reflected) for c in self._table.columns]
            return self._with_columns(combine(op, pairs))
        if isinstance(other, FrameBase):
            return self._with_frame(op, other, reflected)
        raise NotImplementedError(
            f"JaxFrame: the other side of an operator must be a scalar or a frame, got "
            f"{type(other).__name__}. Work on single columns: frame[name] + other."
        )

    def _with_columns(self, columns: tuple[Column, ...]) -> Self:
        return self._like(self._table.with_columns(columns))

    def _with_frame(self, op: str, other: FrameBase, reflected: bool) -> Self:
        a, b = self._table, other._table
        if self._labels != other._labels or not same_labels(a, b):
            raise NotImplementedError("JaxFrame: alignment of frames")
        pairs = [_paired(op, x, y, reflected) for x, y in zip(a.columns, b.columns, strict=True)]
        return self._with_columns(combine(op, pairs))
