# SPDX-License-Identifier: Apache-2.0
"""Functions of pandas that do the work of a method: `melt`, `pivot`, `isna`, `unique`, ..."""

from collections.abc import Callable, Hashable
from typing import Any

import jax
import pandas as pd

from ._frame import JaxFrame, JaxSeries
from .table._lazy_base import is_recorded
from .table._types import LabelOrLabels


def melt(
    frame: JaxFrame,
    id_vars: LabelOrLabels = None,
    value_vars: LabelOrLabels = None,
    var_name: object = None,
    value_name: Hashable = "value",
    col_level: object = None,
    ignore_index: bool = True,
) -> JaxFrame:
    """Puts value columns below each other; see `JaxFrame.melt`.

    Example:
        >>> from jaxframes.frame import JaxFrame, melt
        >>> melt(JaxFrame({"k": ["a", "b"], "x": [1, 2], "y": [3, 4]}), "k").value.tolist()
        [1, 2, 3, 4]
    """
    return _checked(frame, "melt", JaxFrame).melt(
        id_vars, value_vars, var_name, value_name, col_level, ignore_index
    )


def pivot(
    data: JaxFrame, *, columns: object, index: object = ..., values: object = ...
) -> JaxFrame:
    """Reshapes by unique pairs of keys; see `JaxFrame.pivot`.

    Example:
        >>> from jaxframes.frame import JaxFrame, pivot
        >>> frame = JaxFrame({"a": ["x", "x", "y"], "b": ["u", "w", "u"], "v": [1, 2, 3]})
        >>> pivot(frame, index="a", columns="b", values="v").u.tolist()
        [1.0, 3.0]
    """
    return _checked(data, "pivot", JaxFrame).pivot(columns=columns, index=index, values=values)


def pivot_table(
    data: JaxFrame,
    values: object = None,
    index: object = None,
    columns: object = None,
    aggfunc: object = "mean",
    fill_value: object = None,
    margins: bool = False,
    dropna: bool = True,
    margins_name: str = "All",
    observed: bool = True,
    sort: bool = True,
    **kwargs: object,
) -> JaxFrame:
    """Reduces the rows of each pair of keys; see `JaxFrame.pivot_table`.

    Example:
        >>> from jaxframes.frame import JaxFrame, pivot_table
        >>> frame = JaxFrame({"a": ["x", "x", "y"], "v": [1, 2, 6]})
        >>> pivot_table(frame, "v", index="a", aggfunc="sum").v.tolist()
        [3, 6]
    """
    return _checked(data, "pivot_table", JaxFrame).pivot_table(
        values, index, columns, aggfunc, fill_value, margins, dropna, margins_name, observed, sort,
        **kwargs,
    )  # fmt: skip


def isna(obj: object) -> Any:
    """Which values are missing; see `JaxFrame.isna`. Pandas answers for values of the host.

    Example:
        >>> from jaxframes.frame import JaxSeries, isna
        >>> isna(JaxSeries([1.0, None])).tolist()
        [False, True]
    """
    return _flags(obj, "isna")


def notna(obj: object) -> Any:
    """Which values are not missing; see `JaxFrame.notna`. Pandas answers for values of the host.

    Example:
        >>> from jaxframes.frame import JaxSeries, notna
        >>> notna(JaxSeries([1.0, None])).tolist()
        [True, False]
    """
    return _flags(obj, "notna")


isnull: Callable[[Any], Any] = isna
notnull: Callable[[Any], Any] = notna


def unique(values: Any) -> Any:
    """The distinct values in the order of their first rows; see `JaxSeries.unique`.

    Pandas answers for arrays of the host.

    Example:
        >>> from jaxframes.frame import JaxSeries, unique
        >>> unique(JaxSeries([3, 1, 3])).tolist()
        [3, 1]
    """
    if _is_of_host(values):
        return pd.unique(values)
    return _checked(values, "unique", JaxSeries).unique()


def factorize(values: object, sort: bool = False, use_na_sentinel: bool = True) -> Any:
    """The code of each value, and the distinct values; see `JaxSeries.factorize`.

    Pandas answers for arrays of the host.

    Example:
        >>> from jaxframes.frame import JaxSeries, factorize
        >>> codes, values = factorize(JaxSeries([3, 1, 3]))
        >>> codes.tolist(), values.tolist()
        ([0, 1, 0], [3, 1])
    """
    if _is_of_host(values):
        return pd.factorize(values, sort, use_na_sentinel)
    return _checked(values, "factorize", JaxSeries).factorize(sort, use_na_sentinel)


def date_range(
    start: object = None,
    end: object = None,
    periods: int | None = None,
    freq: object = None,
    tz: object = None,
    normalize: bool = False,
    name: Hashable = None,
    inclusive: Any = "both",
    *,
    unit: Any = None,
) -> pd.DatetimeIndex:
    """Times at a regular distance: an index of pandas, on the host as all labels are.

    `JaxSeries(date_range(...))` makes a column of it, with the sharding that it gets.

    Three of the first four arguments are needed, or two with `freq` of one day.

    Args:
        start: the first time.
        end: the last time.
        periods: the number of times.
        freq: the distance of the times: an offset of pandas, or its name, such as "D" or "2h".
        tz: the time zone of the times.
        normalize: whether the times lose their time of day.
        name: the name of the index.
        inclusive: which of `start` and `end` belong to the times: "both", "neither", "left" or
            "right".
        unit: the unit of the times.

    Example:
        >>> from jaxframes.frame import date_range
        >>> date_range("2024-02-28", periods=3).day.tolist()
        [28, 29, 1]
    """
    options = {} if unit is None else {"unit": unit}
    return pd.date_range(start, end, periods, freq, tz, normalize, name, inclusive, **options)


def _flags(data: object, caller: str) -> Any:
    """The method of a frame or a series; plans and expressions record it."""
    if is_recorded(data):
        return getattr(data, caller)()
    if _is_of_host(data):
        return getattr(pd, caller)(data)
    return getattr(_checked(data, caller, JaxFrame, JaxSeries), caller)()


def _is_of_host(data: object) -> bool:
    """Whether pandas computes with a value: a scalar, a list, an index or an array of the host."""
    return not isinstance(data, (JaxFrame, JaxSeries, pd.DataFrame, pd.Series, jax.Array))


def _checked(data: object, caller: str, *kinds: type) -> Any:
    if isinstance(data, kinds):
        return data
    wanted = " or ".join(f"a {kind.__name__}" for kind in kinds)
    raise TypeError(
        f"{caller}: the first argument must be {wanted}, got {type(data).__name__}. Convert it by "
        "from_pandas(), JaxFrame() or JaxSeries()."
    )
