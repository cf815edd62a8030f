# SPDX-License-Identifier: Apache-2.0
"""`clip` and `between`: values limited by, or tested against, two bounds."""

from collections.abc import Hashable, Iterable
from typing import Any, Self

import jax.numpy as jnp
import numpy as np
import pandas as pd
from pandas.api.types import is_scalar

from ...primitives.staging import tiered
from ..align._as_column import as_column
from ..table._arguments import check_rest, only_rows
from ..table._by_pandas import by_pandas
from ..table._column import Array, Column, Scalar, fill_missing, of_family
from ..table._from_host import check_width
from ..table._holes import assumes_holes
from ..table._in_place import with_inplace
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._nullable_scalars import scalar_in_dtype
from ..table._object_functions import host_series, of_rows
from ..table._table import Count
from ..table._take import any_missing
from ..table._tracing import answered_at_once, is_traced
from ..table._types import Axis
from ..table._user_functions import as_pandas
from ._column_ops import combine


def clipped(
    column: Column, lower: object, upper: object, label: Hashable, num_rows: Count
) -> Column:
    """Limits numbers to a lower and an upper bound; missing values stay missing."""
    if column.dtype.kind == "c":
        raise NotImplementedError(
            f"clip: column {label!r} must not be complex. Clip its parts, map(jnp.real) and "
            "map(jnp.imag)."
        )
    if column.kind == "object":
        return _clipped_objects(column, lower, upper, num_rows)
    column = original = fill_missing(column)
    for op, bound in (("np.maximum", lower), ("np.minimum", upper)):
        if bound is None or (isinstance(bound, (float, np.floating)) and np.isnan(bound)):
            continue
        if column.dtype.kind in "iu" and isinstance(bound, (float, np.floating)):
            bound = int(bound) if float(bound).is_integer() else bound
        if column.is_bool == original.is_bool and _is_out_of_range(bound, original):
            column = _clipped_to_wider(op, column, original, bound, label, num_rows)
            continue
        operand = Scalar(bound)
        is_float = isinstance(bound, (float, np.floating))
        if isinstance(bound, Column):
            operand = Column(bound.data, None, bound.type)
            is_float = bound.is_float
        may_keep = is_float and not column.is_float and not is_traced(column, operand, num_rows)
        # The greater of -0.0 and 0.0 is 0.0, but both are inside.
        has_zeros = column.is_float and not isinstance(bound, Column) and bound == 0
        if not (isinstance(bound, Column) or may_keep or has_zeros):
            (column,) = combine(op, [(column, operand)], num_rows)
            continue
        # As in pandas, columns bound the original values, and numbers the bounded ones.
        compared = original if isinstance(bound, Column) else column
        is_inside = _is_inside(op, compared, operand, num_rows)
        if isinstance(bound, Column):
            is_inside |= bound.missing()
        if may_keep and not assumes_holes() and not bool(any_missing(is_inside, num_rows)):
            # Integers keep their dtype if no float bound changes a value.
            continue
        if may_keep:
            _check_nullable(original, bound)
        (result,) = combine(op, [(column, operand)], num_rows)
        if isinstance(bound, Column) or has_zeros:
            data = _kept_inside(is_inside, column.data, result.data)
            result = of_family(Column(data, result.valid), column.family)
        column = result
    return column


def _is_replaced(column: Column, bounds: Iterable[object]) -> bool:
    """Whether values outside are replaced by the rules of `where` rather than computed.

    They are for all but numbers and objects, and for numbers with a column as a bound, but for one
    of their own default dtype: the rules decide the dtype of the result.
    """
    if not column.is_numeric:
        return column.kind != "object"
    if column.dtype.kind == "c":
        return False
    others = [bound for bound in bounds if isinstance(bound, Column)]
    are_plain = all(one.is_numeric and _is_plain_real(one) for one in (column, *others))
    return bool(others) and not (are_plain and all(one.dtype == column.dtype for one in others))


def _is_plain_real(column: Column) -> bool:
    is_plain = not (column.is_nullable or column.is_bool or column.is_of_objects)
    return is_plain and column.dtype.kind != "c"


def _clipped_by_order(series: Any, lower: Any, upper: Any) -> Any:
    """Limits values to scalars, or to columns of the same rows, by the rules of `where`."""
    found = series
    for compares, bound in (("ge", lower), ("le", upper)):
        if bound is None:
            continue
        # As in pandas, a number bounds the values bounded so far, others the original ones.
        is_number = series._only.is_numeric and not isinstance(bound, Column)
        of = found if is_number else series
        if isinstance(bound, Column):
            bound = series._make_series(bound, None)
            keeps = getattr(of, compares)(bound) | series.isna() | bound.isna()
        else:
            keeps = getattr(of, compares)(bound) | series.isna()
            bound = _time_of(bound, series._only)
        found = found.where(keeps, bound)
    return found


def _time_of(bound: Any, column: Column) -> Any:
    """A bound, which beside times may be the text of one, of their own zone."""
    if not isinstance(bound, str) or column.kind == "string":
        return bound
    if column.kind == "timedelta":
        return pd.Timedelta(bound)
    time: Any = pd.Timestamp(bound)
    zone = column.type.zone
    return time if zone is None or time.tz is not None else time.tz_localize(zone)


def _clipped_objects(column: Column, lower: object, upper: object, num_rows: Count) -> Column:
    lower, upper = (
        host_series(bound, num_rows) if isinstance(bound, Column) else bound
        for bound in (lower, upper)
    )
    return of_rows(column, num_rows, lambda rows: rows.clip(lower, upper), "clip")


def _is_out_of_range(bound: object, column: Column) -> bool:
    """Whether a bound is out of the range of the column's integers or bools."""
    if column.is_bool:
        return isinstance(bound, (int, float, np.number)) and not isinstance(bound, bool)
    if column.dtype.kind not in "iu" or not isinstance(bound, (int, np.integer)):
        return False
    info = np.iinfo(column.dtype)
    return not info.min <= int(bound) <= info.max


def _clipped_to_wider(
    op: str, column: Column, original: Column, bound: Any, label: Hashable, num_rows: Count
) -> Column:
    """Clips to a bound out of the dtype's range, in a wider dtype if a value changes."""
    least, most = 0, 1
    if not column.is_bool:
        info = np.iinfo(original.dtype)
        least, most = int(info.min), int(info.max)
    if bound <= least if op == "np.maximum" else bound >= most:
        return column
    if not is_traced(column, num_rows) and not assumes_holes():
        is_inside = _is_inside(op, original, Scalar(bound), num_rows)
        if not bool(any_missing(is_inside, num_rows)):
            return column
        _check_nullable(original, bound)
    dtype = np.dtype(object) if column.is_bool else _wider_dtype(column.dtype, bound)
    if dtype.kind == "O":
        raise NotImplementedError(
            f"clip: bounds must be values of the dtype of column {label!r}, {column.dtype_name}, "
            f"got {bound!r}. Cast the column with astype first."
        )
    check_width(dtype, "clip")
    wider = Column(column.data.astype(dtype), column.valid)
    (result,) = combine(op, [(wider, Scalar(bound))], num_rows)
    return result


def _check_nullable(column: Column, bound: object) -> None:
    """Raises as pandas does if nullable integers do not hold a bound that replaces some of them."""
    if column.family == "masked" and not column.is_bool and not isinstance(bound, Column):
        scalar_in_dtype(column, bound, "clip")


def _wider_dtype(dtype: np.dtype, bound: int | np.integer) -> np.dtype:
    """NumPy's common dtype of an integer dtype and a bound."""
    if isinstance(bound, np.integer):
        like = bound.dtype
    else:
        # A signed dtype has one number more below zero than above.
        like = np.min_scalar_type(~bound if dtype.kind == "i" and bound > 0 else bound)
    # By name, since a 64-bit dtype of NumPy may have another type character than JAX's.
    return np.dtype(np.result_type(dtype, like).name)


@tiered
def _kept_inside(is_inside: Array, data: Array, clipped: Array) -> Array:
    """The values themselves where they lie inside."""
    return jnp.where(is_inside, data.astype(clipped.dtype), clipped)


@answered_at_once
def _is_inside(op: str, column: Column, operand: Column | Scalar, num_rows: Count) -> Any:
    """Whether each value is on the inner side of a bound."""
    (flags,) = combine("ge" if op == "np.maximum" else "le", [(column, operand)], num_rows)
    return flags.data


class Clip(NDFrame):
    """`clip` of a frame or a series."""

    @with_inplace
    def clip(
        self,
        lower: Any = None,
        upper: Any = None,
        *,
        axis: Axis = None,
        inplace: bool = False,
        **rest: object,
    ) -> Self:
        """Limits numbers, strings or times to the range from `lower` to `upper`.

        A missing bound has no effect.

        Differences from pandas:
            Bounds of a frame that are no scalars need the host. Inside `jit`, integers with a float
            bound become floats.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([1, 5, 9]).clip(2, 6).tolist()
            [2, 5, 6]
        """
        check_rest("clip", rest)
        if isinstance(self, FrameBase) and (np.ndim(lower) or np.ndim(upper)):
            bounds = as_pandas(lower), as_pandas(upper)
            return by_pandas(
                self, "clip: bounds that are lists", "Clip single columns: frame[name].clip().",
                lambda data: data.clip(*bounds, axis=axis),
            )  # fmt: skip
        only_rows("clip", axis or 0, self, "Clip single columns: frame[name].clip().")
        lower, upper = self._bound(lower), self._bound(upper)
        if all(bound is not None and is_scalar(bound) for bound in (lower, upper)):
            # As in pandas, bounds in the wrong order are swapped.
            lower, upper = min(lower, upper), max(lower, upper)
        num_rows = self._table.num_rows
        return self._with_columns(
            [_clipped_by_order(self._make_series(x, name), lower, upper)._only
             if _is_replaced(x, (lower, upper)) else clipped(x, lower, upper, name, num_rows)
             for x, name in zip(self._table.columns, self._names, strict=True)]
        )  # fmt: skip

    def _bound(self, bound: Any) -> Any:
        if is_scalar(bound):
            return None if pd.isna(bound) else bound
        if getattr(bound, "ndim", 1) == 0:
            return bound
        return as_column(bound, self._table, "bound")


class SeriesClip(SeriesBase, Clip):
    """`clip` and `between` of a series."""

    def between(self, left: object, right: object, inclusive: str = "both") -> Self:
        """Whether each value is between `left` and `right`; False for a missing value.

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
