# SPDX-License-Identifier: Apache-2.0
"""Runs and groups of equal keys, bins and components."""

from typing import Any

import numpy as np

from ._keys import columns_of, key_ranks, take, with_zeros_behind
from ._segments import segment_reduce
from ._sorts import argsort


def runs_of(keys: Any, num_valid: int | None = None) -> list[np.ndarray]:
    """The row ids of each run of equal neighbouring keys."""
    columns = columns_of(keys)
    num_valid = len(columns[0]) if num_valid is None else num_valid
    ranks = np.stack([key_ranks(column[:num_valid]) for column in columns], axis=1)
    starts = [i for i in range(num_valid) if i == 0 or (ranks[i] != ranks[i - 1]).any()]
    return np.split(np.arange(num_valid), starts[1:]) if num_valid else []


def groups_of(keys: Any, num_valid: int | None = None) -> list[np.ndarray]:
    """The row ids of each distinct key, in the order of the keys; row ids ascend."""
    order = argsort(keys, num_valid=num_valid)
    return [order[run] for run in runs_of(take(keys, order), num_valid)]


def run_length_encode(
    keys: Any, capacity: int | None = None, num_valid: int | None = None
) -> tuple[Any, np.ndarray, np.int32]:
    runs = runs_of(keys, num_valid)
    lengths = np.array([len(run) for run in runs], np.int32)
    return _one_row_each(keys, runs, lengths, capacity)


def unique(
    keys: Any, capacity: int | None = None, num_valid: int | None = None
) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, np.int32]:
    """Distinct keys, row ids, inverse, counts, and their number."""
    groups = groups_of(keys, num_valid)
    inverse = np.zeros(len(columns_of(keys)[0]), np.int32)
    for place, group in enumerate(groups):
        inverse[group] = place
    known = np.array([(group[0], len(group)) for group in groups], np.int32).reshape(-1, 2)
    keys, known, count = _one_row_each(keys, groups, known, capacity)
    return keys, known[:, 0], inverse, known[:, 1], count


def reduce_by_key(
    keys: Any,
    values: np.ndarray,
    op: str,
    capacity: int | None = None,
    num_valid: int | None = None,
    ddof: int = 0,
) -> tuple[Any, np.ndarray, np.int32]:
    """Distinct keys, one reduced row for each, of floats in 64 bits where they are computed with;
    and their number.
    """
    groups = groups_of(keys, num_valid)
    segment_ids = np.full(len(values), -1)
    for place, group in enumerate(groups):
        segment_ids[group] = place
    # A segment that has no row tells the dtype where there is no key.
    reduced = segment_reduce(values, segment_ids, len(groups) + 1, op, ddof=ddof)
    reduced = reduced.reshape(len(groups) + 1, -1)[:, 0] if op == "count" else reduced
    return _one_row_each(keys, groups, reduced[:-1], capacity)


def _one_row_each(
    keys: Any, runs: list[np.ndarray], known: np.ndarray, capacity: int | None
) -> tuple[Any, np.ndarray, np.int32]:
    """The key of the first row of each run and what is known of it, cut off at the capacity."""
    capacity = len(columns_of(keys)[0]) if capacity is None else capacity
    heads = np.array([run[0] for run in runs[:capacity]], int)
    kept = with_zeros_behind((take(keys, heads), known[:capacity]), capacity)
    return *kept, np.int32(len(runs))


def factorize(
    keys: Any,
    *,
    capacity: int | None = None,
    sort: bool = True,
    return_first: bool = False,
    num_valid: int | None = None,
) -> tuple[np.ndarray, Any, Any, np.int32]:
    """Group ids, unique keys, their rows and count, row by row with a dictionary."""
    columns = columns_of(keys)
    num_rows = len(columns[0])
    num_valid = num_rows if num_valid is None else num_valid
    capacity = num_rows if capacity is None else capacity
    ranks = [tuple(row) for row in zip(*(key_ranks(c[:num_valid]) for c in columns), strict=True)]
    first_rows: dict[Any, int] = {}
    for row, rank in enumerate(ranks):
        first_rows.setdefault(rank, row)
    in_order = sorted(first_rows) if sort else list(first_rows)
    number_of = {rank: number for number, rank in enumerate(in_order)}
    group_ids = np.full(num_rows, -1, np.int32)
    group_ids[:num_valid] = [number_of[rank] for rank in ranks]
    row_ids = np.array([first_rows[rank] for rank in in_order][:capacity], np.int32)
    unique_keys = with_zeros_behind(take(keys, row_ids), capacity)
    row_ids = with_zeros_behind(row_ids, capacity) if return_first else None
    return group_ids, unique_keys, row_ids, np.int32(len(in_order))


def bincount(
    bin_ids: np.ndarray,
    num_bins: int,
    weights: np.ndarray | None = None,
    *,
    num_valid: int | None = None,
) -> np.ndarray:
    """Counts, or sums of weights in float64, of one column of ids or of each."""
    if bin_ids.ndim == 2:
        columns = [bincount(ids, num_bins, weights, num_valid=num_valid) for ids in bin_ids.T]
        shape = (num_bins, *(() if weights is None else weights.shape[1:]))
        return np.stack(columns) if columns else np.zeros((0, *shape))
    ids = bin_ids[:num_valid]
    is_bin = (ids >= 0) & (ids < num_bins)
    if weights is None:
        return np.bincount(ids[is_bin].astype(np.int64), minlength=num_bins)
    sums = np.zeros((num_bins, *weights.shape[1:]))
    np.add.at(sums, ids[is_bin].astype(np.int64), weights[:num_valid][is_bin])
    return sums


def quantile_bins(
    x: np.ndarray, num_bins: int, *, num_valid: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The bin of each row and the inner edges."""
    num_valid = len(x) if num_valid is None else num_valid
    is_row = (np.arange(len(x)) < num_valid) & (x == x)
    rows = np.sort(x[is_row])
    # The rule "lower" of `numpy.quantile`, without its rounding.
    ranks = np.arange(1, num_bins) * max(len(rows) - 1, 0) // num_bins
    edges = rows[ranks] if len(rows) else np.zeros(num_bins - 1, x.dtype)
    bins = np.array([np.sum(edges < value) for value in x], np.int64)
    return np.where(is_row, bins, num_bins), edges


def connected_components(
    senders: np.ndarray, receivers: np.ndarray, num_nodes: int, *, num_valid: int | None = None
) -> tuple[np.ndarray, np.ndarray, int]:
    """Labels, smallest nodes and their number, by merging sets edge by edge."""
    smallest = np.arange(num_nodes)
    for one, other in zip(senders[:num_valid], receivers[:num_valid], strict=True):
        if 0 <= one < num_nodes and 0 <= other < num_nodes:
            ends = sorted((smallest[one], smallest[other]))
            smallest[smallest == ends[1]] = ends[0]
    found, labels = np.unique(smallest, return_inverse=True)
    return labels.reshape(-1), smallest, len(found)
