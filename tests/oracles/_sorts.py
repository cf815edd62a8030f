# SPDX-License-Identifier: Apache-2.0
"""Sorts, merges and searches."""

from typing import Any

import jax
import numpy as np

from ._keys import columns_of, key_ranks, per_column, take


def argsort(
    keys: Any, *, descending: Any = False, bits: Any = None, num_valid: int | None = None
) -> np.ndarray:
    columns = columns_of(keys)
    num_rows = len(columns[0])
    num_valid = num_rows if num_valid is None else num_valid
    ranks = [
        key_ranks(column[:num_valid], *settings)
        for column, *settings in zip(
            columns,
            per_column(descending, len(columns)),
            per_column(bits, len(columns)),
            strict=True,
        )
    ]
    # lexsort is stable and takes the most significant key last.
    order = np.lexsort(ranks[::-1])
    return np.concatenate([order, np.arange(num_valid, num_rows)]).astype(np.int32)


def sort(keys: Any, *, values: Any = None, **settings: Any) -> Any:
    order = argsort(keys, **settings)
    sorted_keys = take(keys, order)
    return sorted_keys if values is None else (sorted_keys, take(values, order))


def segmented_sort(
    keys: Any,
    segment_ids: np.ndarray,
    *,
    values: Any = None,
    descending: Any = False,
    bits: Any = None,
    num_valid: int | None = None,
) -> Any:
    columns = columns_of(keys)
    order = argsort(
        (segment_ids, *columns),
        descending=(False, *per_column(descending, len(columns))),
        bits=(None, *per_column(bits, len(columns))),
        num_valid=num_valid,
    )
    sorted_keys = take(keys, order)
    return sorted_keys if values is None else (sorted_keys, take(values, order))


def top_k(
    x: np.ndarray, k: int, *, largest: bool = True, num_valid: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    row_ids = argsort(x, descending=largest, num_valid=num_valid)[:k]
    return x[row_ids], row_ids


def merge(
    a_keys: Any,
    b_keys: Any,
    *,
    values: tuple[Any, Any] | None = None,
    descending: Any = False,
    num_valid: tuple[int | None, int | None] = (None, None),
) -> Any:
    num_a, num_b = len(columns_of(a_keys)[0]), len(columns_of(b_keys)[0])
    valid_a = num_a if num_valid[0] is None else num_valid[0]
    valid_b = num_b if num_valid[1] is None else num_valid[1]

    def concatenate(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.concatenate([a[:valid_a], b[:valid_b], a[valid_a:], b[valid_b:]])

    # A stable sort of `a` followed by `b` puts the equal keys of `a` first.
    return sort(
        jax.tree.map(concatenate, a_keys, b_keys),
        values=None if values is None else jax.tree.map(concatenate, *values),
        descending=descending,
        num_valid=valid_a + valid_b,
    )


def searchsorted(
    sorted_keys: Any,
    queries: Any,
    *,
    side: str = "left",
    descending: Any = False,
    num_valid: int | None = None,
) -> np.ndarray:
    num_queries = len(columns_of(queries)[0])
    num_rows = len(columns_of(sorted_keys)[0])
    num_valid = num_rows if num_valid is None else num_valid
    both = columns_of(jax.tree.map(lambda *parts: np.concatenate(parts), queries, sorted_keys))
    directions = per_column(descending, len(both))
    table = np.stack([key_ranks(*column) for column in zip(both, directions, strict=True)], axis=1)
    rows = [tuple(row) for row in table.tolist()]
    query_rows, key_rows = rows[:num_queries], rows[num_queries:][:num_valid]
    if side == "left":
        places = [sum(key < query for key in key_rows) for query in query_rows]
    else:
        places = [sum(key <= query for key in key_rows) for query in query_rows]
    return np.array(places, np.int32)


def select_rank(x: np.ndarray, ranks: np.ndarray, **settings: Any) -> np.ndarray:
    return sort(x, **settings)[ranks]
