# SPDX-License-Identifier: Apache-2.0
"""The order that the labels of a level have where it becomes columns, unless they are sorted.

pandas keeps distinct labels for each level of an index. `stack`, `concat` of keys and functions of
groups make levels whose labels are in the order in which they came, and `unstack` follows it, also
for rows that were selected since.
"""

import functools
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from ._column import Column
from ._to_host import to_host


class Appearance:
    """The distinct labels of a column, in the order of its rows, once they are asked for."""

    def __init__(self, column: Column, num_rows: Any):
        self._rows = column, num_rows

    @functools.cached_property
    def labels(self) -> pd.Index:
        """The labels, on the host."""
        column, num_rows = self._rows
        values = to_host(column, int(num_rows))
        return pd.Index(values, dtype=values.dtype).unique()


# None for sorted labels. Without an entry for each level, all are sorted.
LevelOrder: TypeAlias = pd.Index | Appearance | None
LevelOrders: TypeAlias = tuple[LevelOrder, ...]


def orders_of(index: pd.Index) -> LevelOrders:
    """The orders of the levels of an index of pandas."""
    if not isinstance(index, pd.MultiIndex):
        return ()
    return either_order(None if one.is_monotonic_increasing else one for one in index.levels)


def either_order(orders: Iterable[LevelOrder]) -> LevelOrders:
    """The orders, or none if all levels are sorted."""
    listed = tuple(orders)
    return () if all(order is None for order in listed) else listed


def appearances(levels: Sequence[Column], num_rows: Any) -> LevelOrders:
    """The orders of levels whose labels are listed as they come; categories are sorted."""
    return either_order(
        None if level.kind == "category" else Appearance(level, num_rows) for level in levels
    )


def orders_at(orders: LevelOrders, positions: Sequence[int]) -> LevelOrders:
    """The orders of the levels at some positions."""
    return either_order(orders[at] for at in positions) if orders else ()


def places_in(order: LevelOrder, labels: pd.Index) -> np.ndarray:
    """The place of each label in an order; -1 for a missing one."""
    listed = order.labels if isinstance(order, Appearance) else order
    if listed is None:
        return labels.factorize(sort=True)[0]
    return listed.get_indexer(pd.Index(labels))


def with_orders(index: pd.MultiIndex, orders: LevelOrders) -> pd.MultiIndex:
    """The same labels, whose levels list them in some orders."""
    levels, codes = list(index.levels), list(index.codes)
    for at, order in enumerate(orders):
        if order is None or not len(levels[at]):
            continue
        places = places_in(order, levels[at])
        if (places < 0).any():
            continue
        levels[at] = levels[at].take(np.argsort(places))
        moved = np.argsort(np.argsort(places))
        codes[at] = np.where(codes[at] < 0, -1, moved[codes[at]])
    return pd.MultiIndex(levels, codes, names=index.names, verify_integrity=False)
