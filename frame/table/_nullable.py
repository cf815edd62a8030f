# SPDX-License-Identifier: Apache-2.0
"""pandas' nullable dtypes: `Int64`, `boolean`, `string` and those of Arrow.

A nullable column has the arrays of a default one, and the family of its dtype as a label: floats
miss as NaN, times as NaT, strings as the code -1, integers and bools have a mask. The label decides
what a missing value does: it is `NA` in every dtype, and changes none.
"""

from typing import Any, Literal, TypeAlias

import jax.numpy as jnp
import numpy as np
import pandas as pd
import pyarrow as pa

from ._types import DtypeLike
from ._zones import arrow_zone

# "masked" are the dtypes with pandas' masks, such as Int64; "arrow" those such as int64[pyarrow].
Family: TypeAlias = Literal["masked", "arrow"]

# Of these names pandas makes the masked dtypes by title case, but for bool.
_MASKED = {
    np.dtype(name): pd.api.types.pandas_dtype(name.title().replace("Uint", "UInt"))
    for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
                 "float32", "float64")
} | {np.dtype(np.bool_): pd.BooleanDtype()}  # fmt: skip

_MASKED_TYPES = tuple(type(dtype) for dtype in _MASKED.values())
_MASKED_NAMES = frozenset(("string", *(dtype.name for dtype in _MASKED.values())))


def family_of(dtype: DtypeLike) -> Family | None:
    """The family of a dtype of pandas; None for those of NumPy and for default ones."""
    if isinstance(dtype, pd.ArrowDtype):
        return "arrow"
    if isinstance(dtype, pd.StringDtype):
        return None if dtype.na_value is np.nan else "masked"
    return "masked" if isinstance(dtype, _MASKED_TYPES) else None


def family_named(name: str) -> Family | None:
    """The family of the dtype of a name, as pandas' metadata of Arrow tables have it."""
    if name.endswith("[pyarrow]"):
        return "arrow"
    return "masked" if name in _MASKED_NAMES else None


def dtype_named(name: str) -> Any:
    """The dtype of a name; pandas has two of the name string[pyarrow], here it is Arrow's."""
    if name == "string[pyarrow]":
        return pd.ArrowDtype(pa.string())
    return pd.api.types.pandas_dtype(name)


def backend_family(backend: object, caller: str) -> Family:
    """The family of pandas' `dtype_backend`."""
    families: dict[Any, Family] = {"numpy_nullable": "masked", "pyarrow": "arrow"}
    if backend not in families:
        raise ValueError(
            f"dtype_backend {backend} is invalid, only 'numpy_nullable' and 'pyarrow' are allowed. "
            f"{caller} without it gives the default dtypes."
        )
    return families[backend]


def is_nullable(dtype: object) -> bool:
    """Whether a dtype of pandas is nullable."""
    return family_of(dtype) is not None


def nullable_dtype(
    family: Family, kind: str, dtype: Any, unit: str | None = None, zone: str | None = None
) -> Any:
    """pandas' dtype of a family for a kind of column whose array is of `dtype`."""
    dtype = np.dtype(np.float32 if dtype == jnp.bfloat16 else dtype)
    if family == "masked":
        return pd.StringDtype() if kind == "string" else _MASKED[dtype]
    match kind:
        case "string":
            return pd.ArrowDtype(pa.string())
        case "datetime":
            return pd.ArrowDtype(pa.timestamp(unit, arrow_zone(zone)))
        case "timedelta":
            return pd.ArrowDtype(pa.duration(unit))
    return pd.ArrowDtype(pa.from_numpy_dtype(dtype))


def has_dtype(family: Family, kind: str, dtype: object) -> bool:
    """Whether a family has a dtype for a kind of column whose array is of `dtype`."""
    if kind == "number":
        return dtype in _MASKED or (family == "arrow" and dtype == np.float16)
    of_arrow = ("datetime", "timedelta", "date", "time", "decimal")
    return kind == "string" or (family == "arrow" and kind in of_arrow)


def default_dtype(dtype: Any) -> Any:
    """The default dtype of pandas that has the arrays of a nullable one; others as they are.

    Raises:
        NotImplementedError: Arrow's dtype is neither of numbers, nor of strings or times.
    """
    family = family_of(dtype)
    if family is None:
        return dtype
    if isinstance(dtype, pd.StringDtype):
        return pd.StringDtype(na_value=np.nan)
    if family == "masked":
        return dtype.numpy_dtype
    kind = dtype.pyarrow_dtype
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return pd.StringDtype(na_value=np.nan)
    zone = kind.tz if pa.types.is_timestamp(kind) else None
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    if zone is None and (is_number or pa.types.is_timestamp(kind) or pa.types.is_duration(kind)):
        return np.dtype(kind.to_pandas_dtype())
    raise NotImplementedError(
        f"JaxFrame: a nullable dtype must be of numbers, bools, strings, times or decimals, got "
        f"{dtype}. Convert it first, with astype of a default dtype."
    )


def nullable_array(dtype: Any, data: Any, missing: np.ndarray) -> Any:
    """The array of pandas of a nullable dtype.

    Args:
        dtype: the dtype.
        data: numbers, times or strings.
        missing: flags of the rows without a value.
    """
    if isinstance(dtype, pd.StringDtype):
        return data.astype(dtype)
    if isinstance(dtype, pd.ArrowDtype):
        if isinstance(data, np.ndarray):
            values = pa.array(data, mask=missing)
        else:
            values = pa.array(data, from_pandas=True)
        return pd.arrays.ArrowExtensionArray(values.cast(dtype.pyarrow_dtype))
    kinds = {"b": pd.arrays.BooleanArray, "f": pd.arrays.FloatingArray}
    return kinds.get(data.dtype.kind, pd.arrays.IntegerArray)(data, missing)
