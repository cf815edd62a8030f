# SPDX-License-Identifier: Apache-2.0
"""`transform`: functions that keep the rows of a frame or a series."""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..combining._concat import concat
from ..table._arguments import axis_number
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._tracing import is_traced
from ..table._types import Axis
from ..table._user_functions import has_host
from ._agg import apply_one, check_labels, method_of, name_of


def _transformed(of: NDFrame, func: object, args: object, rest: object) -> Any:
    """Calls a method or function and checks that its result has the same rows."""
    if isinstance(func, str) and not hasattr(of, func) and not hasattr(np, func):
        raise ValueError(f"Transform function failed: unknown method {func!r}")
    if callable(func) and has_host(of._is_traced) and method_of(func, of) is None:
        return _transformed_by_user(of, func, args, rest)
    result = apply_one(of, func, args, rest)
    keeps = isinstance(result, NDFrame) and result._table.capacity == of._table.capacity
    if keeps and not is_traced(result._table.num_rows, of._table.num_rows):
        keeps = len(result) == len(of)
    if not keeps:
        raise ValueError("Function did not transform")
    return result


def _transformed_by_user(of: Any, func: Any, args: Any, rest: Any) -> Any:
    """The result of `apply`, or of a function that fails there; its index labels are the same."""
    try:
        result = of.apply(func, args=args, **rest)
    except Exception:
        try:
            result = func(of, *args, **rest)
        except TypeError:
            raise
        except Exception as error:
            raise ValueError("Transform function failed") from error
    if not isinstance(result, NDFrame) or not _have_equal_index(result, of):
        raise ValueError("Function did not transform")
    return result


def _have_equal_index(result: Any, of: Any) -> bool:
    ours, theirs = result._table, of._table
    if ours.index is theirs.index:
        return ours.num_rows_on_host == theirs.num_rows_on_host
    return bool(result.index.equals(of.index))


def _by_name(of: NDFrame, functions: Any) -> Mapping[Hashable, object]:
    """The functions of a list by name, or for each column of a frame; those of a dict as lists if
    one of them is a list.
    """
    if not pd.api.types.is_dict_like(functions):
        functions = list(functions)
        if len(functions) > len(set(functions)):
            raise pd.errors.SpecificationError(
                "Function names must be unique if there is no new column names assigned"
            )
        if isinstance(of, FrameBase):
            return dict.fromkeys(of._labels, functions)
        return {name_of(one): one for one in functions}
    named = dict(functions.items())
    if any(isinstance(one, Mapping) for one in named.values()):
        raise pd.errors.SpecificationError("nested renamer is not supported")
    if any(isinstance(one, (list, tuple)) for one in named.values()):
        return {
            name: one if isinstance(one, (list, tuple)) else [one] for name, one in named.items()
        }
    return named


class Transformation(NDFrame):
    """`transform` of frames and series."""

    def transform(self, func: object, axis: Axis = 0, *args: object, **rest: object) -> Any:
        """Applies a method, by name, or a function that keeps all rows; to each column of a frame.

        A list gives a column for each function, below the label of each column of a frame. A dict
        names the columns of the result, and the function of each, or a list of them. With `axis=1`
        a function gets each row.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([1, -2]).transform(["abs", "cumsum"]).values.tolist()
            [[1, 1], [2, -1]]
        """
        frame: Any = self
        of_several = pd.api.types.is_list_like(func)
        if axis_number(axis, self):
            if of_several:
                return frame.transpose().transform(func, 0, *args, **rest).transpose()
            result = frame.apply(func, 1, args=args, **rest)
            if not isinstance(result, FrameBase) or result.shape != frame.shape:
                raise ValueError("Function did not transform")
            return result
        if of_several:
            named = _by_name(self, func)
            if not named:
                raise ValueError("No transform functions were provided")
            if isinstance(self, FrameBase):
                check_labels(named, self._labels)
            columns: Any = frame if isinstance(self, FrameBase) else dict.fromkeys(named, frame)
            parts = {
                name: columns[name].transform(one, 0, *args, **rest) for name, one in named.items()
            }
            return concat(parts, axis=1)
        is_called = callable(func) and has_host(self._is_traced) and method_of(func, self) is None
        if isinstance(self, SeriesBase) or isinstance(func, str) or is_called:
            return _transformed(self, func, args, rest)
        columns = [
            _transformed(frame._series_at(at), func, args, rest)._only
            for at in range(len(frame._labels))
        ]
        return self._make_frame(columns, frame._labels)
