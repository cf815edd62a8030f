# SPDX-License-Identifier: Apache-2.0
"""`astype`: casts columns to another dtype."""

import contextlib
import functools
from collections.abc import Mapping, Sequence
from typing import Any, Self

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...primitives.staging import tiered
from ..ops._array_ops import converted
from ..table._column import UNITS, Array, Column, ColumnType
from ..table._distinct_values import through_values
from ..table._dtypes import cast_exactly, wide
from ..table._from_host import check_width
from ..table._host_column import column_of, computed
from ..table._layout import Layout
from ..table._ndframe import FrameBase, NDFrame
from ..table._nullable import is_nullable
from ..table._object_functions import as_objects
from ..table._table import Count, is_row
from ..table._take import settled
from ..table._tracing import at_once, is_traced
from ..table._units import in_zone, with_unit
from ..table._user_functions import as_pandas
from ..table._zones import zone_label
from ._cast_lists import cast_to_lists, is_of_lists
from ._nullable_values import cast_nullable, casts_nullable

NOT_FINITE = (
    "Cannot convert non-finite values (NA or inf) to integer. Replace or remove non-finite values "
    "first, with fillna or dropna"
)


def as_dtype(dtype: Any) -> Any:
    """Converts a dtype argument to a dtype of NumPy or pandas that columns support."""
    if isinstance(dtype, type) and issubclass(dtype, pd.api.extensions.ExtensionDtype):
        raise TypeError(
            f"Expected an instance of {dtype.__name__}, but got the class instead. Try "
            "instantiating 'dtype'."
        )
    known = np.dtype(dtype) if dtype == jnp.bfloat16 else pd.api.types.pandas_dtype(dtype)
    if (
        not isinstance(known, (np.dtype, pd.CategoricalDtype, pd.DatetimeTZDtype, pd.PeriodDtype))
        and not (isinstance(known, pd.StringDtype) and known.na_value is np.nan)
        and not is_nullable(known)
    ):
        raise NotImplementedError(
            f"astype: dtype must be supported on the device, got {known}. Use to_pandas().astype()."
        )
    return known


def cast_columns(
    columns: Sequence[Column], dtypes: Sequence[Any], num_rows: Count, layout: Layout
) -> list[Column]:
    """Casts columns, all numeric ones in one compiled call."""
    results: list[Any] = [None] * len(columns)
    numbers: list[tuple[int, Column, np.dtype]] = []
    for position, (column, dtype) in enumerate(zip(columns, dtypes, strict=True)):
        if is_of_lists(dtype):
            results[position] = cast_to_lists(column, dtype, num_rows, layout)
        elif casts_nullable(column, dtype):
            results[position] = cast_nullable(column, dtype, num_rows, layout)
        elif column.is_numeric and isinstance(dtype, np.dtype) and dtype.kind not in "mMOUSV":
            check_width(dtype, "astype")
            numbers.append((position, _checked(column, dtype, num_rows), dtype))
        else:
            results[position] = _cast_typed(column, dtype, num_rows, layout)
    if numbers:
        _, numeric, wanted = zip(*numbers, strict=True)
        is_in_trace = is_traced(columns, num_rows)
        converted_arrays = computed(
            _convert, numeric, lambda arrays: (tuple(arrays), wanted, is_in_trace)
        )
        for (position, _, _), arrays in zip(numbers, converted_arrays, strict=True):
            results[position] = column_of(*arrays)
    return results


def _checked(column: Column, dtype: np.dtype, num_rows: Count) -> Column:
    """Checks that all values can be represented in `dtype`; raises if not."""
    if is_traced(column, num_rows):
        return column
    if column.valid is not None and dtype.kind in "iu":
        column = settled(column, num_rows)
        if column.is_bool and column.valid is not None:
            raise ValueError("cannot convert float NaN to integer")
    if dtype.kind in "iu" and column.dtype.kind not in "biu" and column.dtype.kind != "c":
        not_finite, negative = at_once(
            computed, _not_integers, (column,), lambda arrays: (arrays[0][0], num_rows)
        )
        if bool(not_finite):
            raise pd.errors.IntCastingNaNError(NOT_FINITE)
        if dtype.kind == "u" and bool(negative):
            raise ValueError(f"Cannot losslessly cast from {column.dtype} to {dtype}")
    return column


@tiered
def _not_integers(data: Array, num_rows: Count) -> tuple[Array, Array]:
    valid = is_row(data.shape[0], num_rows)
    return jnp.any(valid & ~jnp.isfinite(data)), jnp.any(valid & (data < 0))


@functools.partial(tiered, static_argnums=(1, 2))
def _convert(columns: Any, dtypes: tuple[np.dtype, ...], null_if_not_integer: bool) -> Any:
    return tuple(
        _convert_one(data, valid, dtype, null_if_not_integer)
        for (data, valid), dtype in zip(columns, dtypes, strict=True)
    )


def _convert_one(
    data: Array, valid: Array | None, dtype: np.dtype, null_if_not_integer: bool
) -> tuple[Array, Array | None]:
    if dtype == np.bool_:
        # NaN is not zero, and so counts as True, as it does in Python. A missing bool is None.
        flags = data != data.dtype.type(0)
        if valid is None:
            return flags, None
        return (flags & valid if data.dtype == np.bool_ else flags | ~valid), None
    if dtype.kind != "c" and jnp.issubdtype(data.dtype, jnp.complexfloating):
        data = data.real
    if dtype.kind not in "iu":
        if valid is not None:
            # In pandas such a column is float64 with NaN.
            data = jnp.where(valid, converted(data, wide(np.float64)), np.float64(np.nan))
        # Bools are converted by way of integers; see `converted`.
        made = converted(data, dtype) if data.dtype == np.bool_ else cast_exactly(data, dtype)
        return made, None
    if not jnp.issubdtype(data.dtype, jnp.floating):
        return data.astype(dtype), valid
    if null_if_not_integer:
        valid = jnp.isfinite(data)
        if dtype.kind == "u":
            valid = valid & (data >= 0)
    # C casts through 32 bits and wraps around; XLA would clamp to the range of the narrow type.
    whole = data.astype(jnp.int32) if dtype.itemsize < 4 else data
    return whole.astype(dtype), valid


def _cast_typed(column: Column, dtype: object, num_rows: Count, layout: Layout) -> Column:
    if column.kind == "string" and isinstance(dtype, pd.StringDtype):
        return column
    if dtype == np.dtype(object):
        return as_objects(column, num_rows, "astype")
    if isinstance(dtype, pd.DatetimeTZDtype) and column.kind == "datetime":
        if column.type.zone is None:
            raise TypeError(
                "Cannot use .astype to convert from timezone-naive dtype to timezone-aware dtype. "
                "Use obj.tz_localize instead or series.dt.tz_localize instead"
            )
        return with_unit(in_zone(column, zone_label(dtype.tz)), dtype.unit, num_rows)
    if isinstance(dtype, np.dtype) and dtype.kind == "M" and column.type.zone is not None:
        raise TypeError(
            "Cannot use .astype to convert from timezone-aware dtype to timezone-naive dtype. Use "
            "obj.tz_localize(None) or obj.tz_convert('UTC').tz_localize(None) instead."
        )
    if isinstance(dtype, np.dtype) and dtype.kind in "mM":
        is_integer = column.is_numeric and column.dtype.kind in "iu" and column.valid is None
        is_int64 = is_integer and column.dtype != np.uint64
        kind, unit = ("datetime" if dtype.kind == "M" else "timedelta"), np.datetime_data(dtype)[0]
        if unit in UNITS and column.kind == kind:
            return with_unit(column, unit, num_rows)
        if unit in UNITS and is_int64:
            return Column(column.data.astype(jnp.int64), None, ColumnType(kind, unit=unit))
    if column.type.is_time and dtype == np.int64:
        return Column(column.data)
    return through_values(column, num_rows, layout, lambda values: values.astype(dtype), "astype")


class Cast(NDFrame):
    """`astype` of a frame or a series."""

    def astype(self, dtype: object, copy: object = True, errors: str = "raise") -> Self:
        """Casts all columns to one dtype, or each to its own with a dict.

        Differences from pandas:
            Dtypes that are not supported on the device raise. Inside `jit` a float without an
            integer value (NaN, infinity, negative for unsigned) becomes missing, where pandas
            raises. Numbers become strings or categories only outside `jit`.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> JaxFrame({"x": [1.5, 2.0]}).astype({"x": "int32"}).x.tolist()
            [1, 2]
        """
        if errors not in ("raise", "ignore"):
            raise ValueError(
                f"Expected value of kwarg 'errors' to be one of ['raise', 'ignore']. Got {errors!r}"
            )
        table, columns = self._table, list(self._table.columns)
        wanted = self._dtypes_by_position(dtype)
        try:
            results = cast_columns(
                [columns[p] for p in wanted], list(wanted.values()), table.num_rows, table.layout
            )
        except (ValueError, TypeError) as error:
            if errors == "ignore":
                return self._each_if_possible(wanted)
            names = [self._names[position] for position in wanted]
            named = f"column {names[0]!r}" if len(names) == 1 else f"columns {names}"
            error.add_note(f"astype: while casting {named}")
            raise
        for position, column in zip(wanted, results, strict=True):
            columns[position] = column
        return self._with_columns(columns)

    def _each_if_possible(self, wanted: Mapping[int, Any]) -> Self:
        """Casts each column on its own; those that cannot be cast stay as they are."""
        table, columns = self._table, list(self._table.columns)
        for position, dtype in wanted.items():
            with contextlib.suppress(ValueError, TypeError):
                before = [columns[position]]
                (columns[position],) = cast_columns(before, [dtype], table.num_rows, table.layout)
        return self._with_columns(columns)

    def _dtypes_by_position(self, dtype: object) -> dict[int, Any]:
        dtype = as_pandas(dtype)
        if not isinstance(dtype, (Mapping, pd.Series)):
            return dict.fromkeys(range(len(self._names)), as_dtype(dtype))
        if not isinstance(self, FrameBase):
            if len(dtype) > 1 or self._names[0] not in dtype:
                raise KeyError(
                    "Only the Series name can be used for the key in Series dtype mappings."
                )
            return {0: as_dtype(dtype[self._names[0]])}
        wanted: dict[int, Any] = {}
        for label, one in dtype.items():
            if label not in self._labels:
                raise KeyError(
                    "Only a column name can be used for the key in a dtype mappings argument. "
                    f"{label!r} not found in columns."
                )
            wanted.update(dict.fromkeys(self._labels.positions(label), as_dtype(one)))
        return wanted
