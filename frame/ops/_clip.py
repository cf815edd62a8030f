# SPDX-License-Identifier: Apache-2.0
"""Values between two others: asked for, and enforced."""

from collections.abc import Hashable
from typing import Any, Self

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ..align._as_column import as_column
from ..table._arguments import no_inplace, only_rows
from ..table._column import Column
from ..table._from_host import check_width
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._scalar import Scalar
from ..table._table import Count
from ..table._take import any_missing
from ..table._tracing import answered_at_once, is_traced
from ._dispatch import combine


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
        if column.dtype.kind in "iu" and isinstance(bound, (float, np.floating)):
            bound = int(bound) if float(bound).is_integer() else bound
        if column.is_bool == original.is_bool and _is_beyond(bound, original):
            column = _moved_beyond(op, column, original, bound, label, num_rows)
            continue
        side = _side(bound)
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


def _is_beyond(bound: Any, column: Column) -> bool:
    """Whether a bound is a number that the integers, or bools, of the column do not hold."""
    if column.is_bool:
        return isinstance(bound, (int, float, np.number)) and not isinstance(bound, bool)
    if column.dtype.kind not in "iu" or not isinstance(bound, (int, np.integer)):
        return False
    least, most = _extremes(column)
    return not least <= int(bound) <= most


def _moved_beyond(
    op: str, column: Column, original: Column, bound: Any, label: Hashable, num_rows: Count
) -> Column:
    """The values as they are if the bound lets all of them pass; else in a dtype that holds it."""
    least, most = (0, 1) if column.is_bool else _extremes(original)
    if bound <= least if op == "np.maximum" else bound >= most:
        return column
    if not is_traced(column, num_rows):
        passes = _passes(op, original, Scalar(bound), num_rows)
        if not bool(any_missing(passes, num_rows)):
            return column
    dtype = np.dtype(object) if column.is_bool else _wider(column.dtype, bound)
    if dtype.kind == "O":
        raise NotImplementedError(
            f"clip: bounds must be values of the dtype of column {label!r}, {column.dtype_name}, "
            f"got {bound!r}. Cast the column first, with astype."
        )
    check_width(dtype, "clip")
    wider = Column(column.data.astype(dtype), column.valid)
    (moved,) = combine(op, [(wider, Scalar(bound))], num_rows)
    return moved


def _wider(dtype: np.dtype, bound: int | np.integer) -> np.dtype:
    """The dtype that holds the integers of another and a bound, as NumPy has it."""
    if isinstance(bound, np.integer):
        like = bound.dtype
    else:
        # A signed dtype has no room for as many numbers above zero as below.
        like = np.min_scalar_type(~bound if dtype.kind == "i" and bound > 0 else bound)
    # By name, since one of 64 bits may have another character than JAX's.
    return np.dtype(np.result_type(dtype, like).name)


def _extremes(column: Column) -> tuple[int, int]:
    info = np.iinfo(column.dtype)
    return int(info.min), int(info.max)


def _side(bound: Any) -> Column | Scalar:
    """A bound as a side of an operation."""
    return Column(bound.data, None, bound.type) if isinstance(bound, Column) else Scalar(bound)


@answered_at_once
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
