# SPDX-License-Identifier: Apache-2.0
"""Values between two others: asked for, and enforced."""

from collections.abc import Hashable
from typing import Any, Self

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ._base import FrameBase, NDFrame, SeriesBase, no_inplace, only_rows
from ._column import Column
from ._elementwise import Scalar, combine
from ._moves import any_missing
from ._table import Count, is_traced


def clipped(column: Column, lower: Any, upper: Any, label: Hashable, num_rows: Count) -> Column:
    """Numbers no less than one bound and no greater than another; missing ones stay."""
    if column.dtype.kind == "c":
        raise NotImplementedError(
            f"clip: column {label!r} must not be complex. Clip its parts, map(jnp.real) and "
            "map(jnp.imag)."
        )
    original = column
    for op, bound in (("np.maximum", lower), ("np.minimum", upper)):
        if bound is None or (isinstance(bound, (float, np.floating)) and np.isnan(bound)):
            continue
        side = _side(bound, column)
        is_float = side.is_float if isinstance(side, Column) else isinstance(side.value, float)
        may_keep = is_float and not column.is_float and not is_traced(column, side, num_rows)
        if not (isinstance(bound, Column) or may_keep):
            (column,) = combine(op, [(column, side)], num_rows)
            continue
        passes = _passes(op, original, side, num_rows)
        if isinstance(bound, Column):
            passes |= bound.missing()
        if may_keep and not bool(any_missing(passes, num_rows)):
            # Integers keep their dtype beside bounds of floats, none of which lies inside.
            continue
        (moved,) = combine(op, [(column, side)], num_rows)
        if isinstance(bound, Column):
            data = jnp.where(passes, column.data.astype(moved.dtype), moved.data)
            moved = Column(data, moved.valid)
        column = moved
    return column


def _side(bound: Any, column: Column) -> Column | Scalar:
    """A bound as a side of an operation; a whole number of float type is one of integers."""
    if isinstance(bound, Column):
        return Column(bound.data, None, bound.type)
    if isinstance(bound, (float, np.floating)) and column.dtype.kind in "iu":
        value, info = float(bound), np.iinfo(column.dtype)
        bound = int(value) if value.is_integer() and info.min <= value < info.max else value
    return Scalar(bound)


def _passes(op: str, column: Column, side: Column | Scalar, num_rows: Count) -> Any:
    """Which values a bound lets pass; those as they were, where bounds cross."""
    (is_inside,) = combine("ge" if op == "np.maximum" else "le", [(column, side)], num_rows)
    return is_inside.data


def _check(axis: Any, inplace: bool, owner: NDFrame) -> None:
    no_inplace("clip", inplace)
    only_rows("clip", axis or 0, owner, "Clip single columns: frame[name].clip().")


class SeriesBounds(SeriesBase):
    """A series between two bounds."""

    def between(self, left: Any, right: Any, inclusive: str = "both") -> Self:
        """Whether each value lies between two others; no missing one does.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([1, 2, 3]).between(1, 3, inclusive="left").tolist()
            [True, True, False]
        """
        if inclusive not in ("both", "left", "right", "neither"):
            raise ValueError(
                "Inclusive has to be either string of 'both','left', 'right', or 'neither'."
            )
        me: Any = self
        above = me >= left if inclusive in ("both", "left") else me > left
        below = me <= right if inclusive in ("both", "right") else me < right
        return above & below

    def clip(
        self, lower: Any = None, upper: Any = None, *, axis: Any = None, inplace: bool = False
    ) -> Self:
        """Numbers moved to the bounds that they lie beyond.

        A bound is a scalar, or a series with the same labels; where it is missing it bounds
        nothing.

        Differences from pandas:
            Values must be numbers. Inside `jit`, integers with a bound of floats are floats.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([1, 5, 9]).clip(2, 6).tolist()
            [2, 5, 6]
        """
        _check(axis, inplace, self)
        lower, upper = _ordered(lower, upper)
        lower, upper = self._bound(lower), self._bound(upper)
        return self._with_column(
            clipped(self._only, lower, upper, self._name, self._table.num_rows)
        )

    def _bound(self, bound: Any) -> Any:
        if bound is None or np.isscalar(bound) or getattr(bound, "ndim", 1) == 0:
            return bound
        from ._assignment import as_column

        return as_column(bound, self._table, "bound")


class FrameBounds(FrameBase):
    """A frame between two bounds."""

    def clip(
        self, lower: Any = None, upper: Any = None, *, axis: Any = None, inplace: bool = False
    ) -> Self:
        """Numbers moved to the bounds that they lie beyond; see `JaxSeries.clip`.

        Differences from pandas:
            Bounds must be scalars.
        """
        _check(axis, inplace, self)
        lower, upper = _ordered(lower, upper)
        for bound in (lower, upper):
            if bound is not None and not np.isscalar(bound) and getattr(bound, "ndim", 1):
                raise NotImplementedError(
                    "clip: bounds of a frame must be scalars. Clip single columns: "
                    "frame[name].clip()."
                )
        columns = [
            clipped(column, lower, upper, label, self._table.num_rows)
            for column, label in zip(self._table.columns, self._labels, strict=True)
        ]
        return self._like(self._table.with_columns(columns))


def _ordered(lower: Any, upper: Any) -> tuple[Any, Any]:
    """pandas swaps scalar bounds that are the wrong way round."""
    numbers = (int, float, np.number)
    if (
        isinstance(lower, numbers)
        and isinstance(upper, numbers)
        and not pd.isna([lower, upper]).any()
    ):
        return min(lower, upper), max(lower, upper)
    return lower, upper
