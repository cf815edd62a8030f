# SPDX-License-Identifier: Apache-2.0
"""Numbers at the ends of dtypes and beside 2**53, for tests that none of them is rounded.

Python compares integers and floats exactly, so it is the oracle.
"""

import math
from typing import Any

import numpy as np

NUMBERS: dict[str, np.ndarray] = {
    "int64": np.array([-(2**63), -5, 0, 1, 2**53 - 1, 2**53, 2**53 + 1, 2**63 - 2, 2**63 - 1]),
    "uint64": np.array([0, 1, 5, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1], "u8"),
    "int8": np.array([-128, -1, 0, 1, 5, 127], "int8"),
    "uint8": np.array([0, 1, 200, 255], "uint8"),
    "float64": np.array(
        [-np.inf, -(2.0**63), -1.5, 0.0, 1.0, 2.0**53, 2.0**53 + 2, 2.0**63, 2.0**64, np.inf]
    ),
    "float32": np.array([0, 0.1, 1, 2.0**24, 2.0**63, np.inf], "float32"),
}

# Each as a scalar; pairs of neighbours equal each other in float64.
KEYS: list[Any] = [
    *(2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1),
    *(0, 1, -1, 5, 200, 300, -129, 2**24, 2**24 + 1, 10**400, -(10**400), True),
    *(0.5, -1.5, 0.1, 1.0, 2.0**53, 2.0**63, 2.0**64, -(2.0**63), math.inf, -math.inf, 1e39),
    *(np.uint64(2**64 - 1), np.int64(2**53 + 1), np.float32(0.1), np.int8(5)),
]


def as_python(number: Any) -> Any:
    """A number without a dtype."""
    return number.item() if isinstance(number, np.generic) else number


def are_listed(values: np.ndarray, listed: Any) -> list[bool]:
    """Whether each number of an array equals one of a list."""
    keys = set(map(as_python, listed))
    return [value in keys for value in values.tolist()]
