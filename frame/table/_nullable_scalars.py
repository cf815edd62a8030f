# SPDX-License-Identifier: Apache-2.0
"""Python scalars as values of nullable dtypes."""

from typing import Any

import numpy as np

from ._column import Column
from ._from_host import column_from
from ._layout import ONE_DEVICE
from ._to_host import to_host


def scalar_in_dtype(column: Column, value: object, method: str) -> Column:
    """A column of one row with a value in the nullable dtype of another column.

    Raises:
        TypeError: the value does not fit the dtype.
        OverflowError: an integer is out of its range.
    """
    no_code: Any = np.full(1, -1 if column.type.has_codes else 0, column.dtype)
    one = to_host(Column(no_code, None, column.type), 1).copy()
    remedy = f"{method}: cast the column with astype first."
    try:
        with np.errstate(over="ignore"):
            one[0] = value
    except OverflowError as error:
        raise OverflowError(f"{error}. {remedy}") from error
    except (TypeError, ValueError) as error:
        message = f"Invalid value '{value}' for dtype '{column.dtype_name}'. {remedy}"
        raise TypeError(message) from error
    return column_from(one, 1, ONE_DEVICE, method)
