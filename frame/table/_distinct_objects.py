# SPDX-License-Identifier: Apache-2.0
"""The distinct values of Python objects, by hash and `==`, in their order if they have one."""

import decimal
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from ._dictionary import HostObjects

# "full": all values can be compared by `<`. "groups": pandas sorts groups by them, numbers before
# strings. None: by their first rows.
Order: TypeAlias = Literal["full", "groups"] | None


class DistinctObjects(HostObjects):
    """Distinct objects, none of them missing, in their order. Compared by content."""

    __slots__ = ("order",)

    def __init__(self, values: np.ndarray, order: Order = None):
        super().__init__(values)
        self.order: Order = order

    def __reduce__(self) -> Any:
        return DistinctObjects, (self.values, self.order)

    def __hash__(self) -> int:
        return hash((len(self), self.order, *map(hash, self.values[:NUM_HASHED])))

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, DistinctObjects)
            and len(self) == len(other)
            and self.order == other.order
            and all(
                a is b or (type(a) is type(b) and bool(a == b))
                for a, b in zip(self.values, other.values, strict=True)
            )
        )


# Values of a dictionary that its hash depends on.
NUM_HASHED = 64


class Hashed(NamedTuple):
    """The codes of objects and their distinct values.

    Attributes:
        codes: the code of each object, -1 if it is missing.
        distinct: the distinct values.
        has_twins: whether equal objects differ in type, such as 1 and True: the first one counts.
    """

    codes: np.ndarray
    distinct: DistinctObjects
    has_twins: bool


def hash_objects(values: np.ndarray) -> Hashed:
    """Codes and distinct values of objects, by pandas' rules.

    Raises:
        TypeError: a value cannot be hashed.
    """
    order: Order = "groups"
    distinct: Any
    try:
        codes, distinct = pd.factorize(values, sort=True)
    except (TypeError, decimal.InvalidOperation):
        order = None
        codes, distinct = pd.factorize(values)
    if order is not None and _have_order(distinct):
        order = "full"
    types = np.fromiter(map(type, distinct), object, len(distinct))
    present = codes >= 0
    own = np.fromiter(map(type, values[present]), object, int(present.sum()))
    has_twins = bool((own != types[codes[present]]).any()) if len(own) else False
    return Hashed(codes.astype(np.int32), DistinctObjects(distinct, order), has_twins)


def _have_order(distinct: np.ndarray) -> bool:
    try:
        np.sort(distinct)
    except (TypeError, ValueError, decimal.InvalidOperation):
        return False
    return True
