# SPDX-License-Identifier: Apache-2.0
"""What each primitive computes, in NumPy: slow, obvious, and without the library's tricks.

The order of keys is the contract's: -0.0 equals 0.0, NaN is last in either direction, every sort
is stable in either direction, and rows from `num_valid` on stay in place behind the valid ones.
"""

import math
from typing import Any

import jax
import numpy as np


def assert_same_bits(actual: Any, expected: Any) -> None:
    """Compares pytrees of arrays by structure, dtype, shape and bit pattern, never by `==`."""
    assert jax.tree.structure(actual) == jax.tree.structure(expected)
    for actual_leaf, expected_leaf in zip(
        jax.tree.leaves(actual), jax.tree.leaves(expected), strict=True
    ):
        actual_leaf, expected_leaf = np.asarray(actual_leaf), np.asarray(expected_leaf)
        assert actual_leaf.dtype == expected_leaf.dtype
        assert actual_leaf.shape == expected_leaf.shape
        np.testing.assert_array_equal(as_unsigned(actual_leaf), as_unsigned(expected_leaf))


def assert_same_sums(actual: Any, expected: Any, **tolerances: float) -> None:
    """Compares sums of floats by segment with exact ones: by bits on CPU, which keeps what its
    additions round away, and within tolerances elsewhere.
    """
    if jax.default_backend() == "cpu":
        assert_same_bits(actual, expected)
    else:
        np.testing.assert_allclose(actual, expected, **tolerances)


def exact_sums(rows: np.ndarray, segments: np.ndarray, num_segments: int) -> np.ndarray:
    """The sum of the rows of each segment: of floats the exact one, rounded; integers wrap."""
    sums = np.zeros(num_segments, rows.dtype)
    if not is_float(rows.dtype):
        np.add.at(sums, segments, rows)
        return sums
    order = np.argsort(segments, kind="stable")
    found, firsts = np.unique(segments[order], return_index=True)
    for segment, members in zip(found, np.split(rows[order], firsts[1:]), strict=False):
        is_finite = np.isfinite(members).all()
        sums[segment] = math.fsum(members.tolist()) if is_finite else members.sum()
    return sums


def as_unsigned(array: np.ndarray) -> np.ndarray:
    """The bit patterns of an array."""
    if array.dtype.kind == "c":
        array = array.view(array.real.dtype)
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")


def is_float(dtype: Any) -> bool:
    """Whether keys of this dtype can be NaN. NumPy does not count bfloat16 among its floats."""
    return np.dtype(dtype).name in ("float16", "bfloat16", "float32", "float64")


def columns_of(keys: Any) -> tuple[np.ndarray, ...]:
    """Key columns, whether one array or a tuple was given."""
    return keys if isinstance(keys, tuple) else (keys,)


def per_column(setting: Any, num_columns: int) -> tuple[Any, ...]:
    """A setting for each column, whether one or several were given."""
    return setting if isinstance(setting, tuple) else (setting,) * num_columns


def key_ranks(key: np.ndarray, descending: bool = False, bits: int | None = None) -> np.ndarray:
    """An integer for each key, in the order of the contract; equal keys have equal integers."""
    if bits is not None:
        unsigned = key.view(f"u{key.dtype.itemsize}")
        key = unsigned & unsigned.dtype.type(2**bits - 1)
    with np.errstate(invalid="ignore"):  # signalling NaNs
        is_number = ~np.isnan(key) if is_float(key.dtype) else np.ones(len(key), bool)
    # NumPy orders bfloat16 as floats of 64 bits, which hold every key exactly.
    numbers = key[is_number].astype(np.float64) if is_float(key.dtype) else key[is_number]
    distinct, number_ranks = np.unique(numbers, return_inverse=True)
    ranks = np.full(len(key), len(distinct))
    ranks[is_number] = len(distinct) - 1 - number_ranks if descending else number_ranks
    return ranks


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


def take(rows: Any, row_ids: np.ndarray) -> Any:
    return jax.tree.map(lambda leaf: leaf[row_ids], rows)


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


def ranks_of_sides(
    a: Any, b: Any, num_valid: tuple[int | None, int | None] = (None, None)
) -> tuple[list[Any], list[Any]]:
    """A tuple for each row of either side that counts; equal keys have equal tuples."""
    both = columns_of(jax.tree.map(lambda *sides: np.concatenate(sides), a, b))
    num_a = len(columns_of(a)[0])
    ranks = list(zip(*(key_ranks(column).tolist() for column in both), strict=True))
    return ranks[:num_a][: num_valid[0]], ranks[num_a:][: num_valid[1]]


def isin(
    keys: Any,
    test_keys: Any,
    *,
    invert: bool = False,
    num_valid: tuple[int | None, int | None] = (None, None),
) -> np.ndarray:
    ranks, test_ranks = ranks_of_sides(keys, test_keys, num_valid)
    flags = np.zeros(len(columns_of(keys)[0]), bool)
    flags[: len(ranks)] = [(rank in test_ranks) != invert for rank in ranks]
    return flags


def set_operation(
    op: str,
    a: Any,
    b: Any,
    capacity: int,
    num_valid: tuple[int | None, int | None] = (None, None),
) -> tuple[Any, np.int32]:
    """The union, intersection or difference of two sides, and how many keys it has."""
    ranks, other_ranks = ranks_of_sides(a, b, num_valid)
    both = jax.tree.map(
        lambda *sides: np.concatenate(sides),
        take(a, np.arange(len(ranks))),
        take(b, np.arange(len(other_ranks))),
    )
    is_wanted = {
        "union": lambda rank: True,
        "intersection": lambda rank: rank in ranks and rank in other_ranks,
        "difference": lambda rank: rank in ranks and rank not in other_ranks,
    }[op]
    # Of the rows of a key the first is entered last; those of `a` come before those of `b`.
    first_rows = {rank: row for row, rank in reversed(list(enumerate(ranks + other_ranks)))}
    rows = [first_rows[rank] for rank in sorted(first_rows) if is_wanted(rank)]
    kept = take(both, np.array(rows[:capacity], int))
    return with_zeros_behind(kept, capacity), np.int32(len(rows))


def bucket(
    rows: Any, bucket_ids: np.ndarray, num_buckets: int, *, num_valid: int | None = None
) -> tuple[Any, np.ndarray, np.ndarray]:
    num_valid = len(bucket_ids) if num_valid is None else num_valid
    valid_ids = bucket_ids[:num_valid]
    members = [np.flatnonzero(valid_ids == bucket_id) for bucket_id in range(num_buckets)]
    strays = np.flatnonzero((valid_ids < 0) | (valid_ids >= num_buckets))
    padding = np.arange(num_valid, len(bucket_ids))
    row_ids = np.concatenate([*members, strays, padding]).astype(np.int32)
    offsets = np.cumsum([0, *map(len, members)]).astype(np.int32)
    return take(rows, row_ids), offsets, row_ids


def compact(
    mask: np.ndarray,
    rows: Any,
    capacity: int | None = None,
    num_valid: int | None = None,
    return_index: bool = False,
) -> tuple[Any, np.ndarray | None, np.int32]:
    """The flagged rows and their ids, cut off at the capacity, with zeros behind; the true count.

    The ids are None unless they were asked for, or there are no rows.
    """
    capacity = len(mask) if capacity is None else capacity
    row_ids = [row for row in range(len(mask) if num_valid is None else num_valid) if mask[row]]
    first = np.array(row_ids[:capacity], np.int32)
    kept = with_zeros_behind(take(rows, first), capacity)
    wants_ids = return_index or rows is None
    ids = with_zeros_behind(first, capacity) if wants_ids else None
    return kept, ids, np.int32(len(row_ids))


def repeat_rows(repeats: np.ndarray, capacity: int, num_valid: int | None = None) -> Any:
    """The row of each copy and its number, cut off at the capacity; the true count."""
    num_valid = len(repeats) if num_valid is None else num_valid
    counts = [max(int(count), 0) for count in repeats[:num_valid]]
    pairs = [(row, copy) for row, count in enumerate(counts) for copy in range(count)]
    row_ids, copies = np.full(capacity, -1, np.int32), np.zeros(capacity, np.int32)
    for place, (row, copy) in enumerate(pairs[:capacity]):
        row_ids[place], copies[place] = row, copy
    return row_ids, copies, np.int32(len(pairs))


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


def with_zeros_behind(rows: Any, capacity: int) -> Any:
    """As many rows as the capacity, which holds them all."""

    def pad(leaf: np.ndarray) -> np.ndarray:
        padded = np.zeros((capacity, *leaf.shape[1:]), leaf.dtype)
        padded[: len(leaf)] = leaf
        return padded

    return jax.tree.map(pad, rows)


def partition(
    rows: list[np.ndarray], destinations: list[np.ndarray], num_shards: int
) -> list[np.ndarray]:
    """Rows by destination, in the order of (source shard, source row)."""
    all_rows, all_destinations = np.concatenate(rows), np.concatenate(destinations)
    return [all_rows[all_destinations == shard] for shard in range(num_shards)]


def select_rank(x: np.ndarray, ranks: np.ndarray, **settings: Any) -> np.ndarray:
    return sort(x, **settings)[ranks]


def segment_reduce(
    x: np.ndarray,
    segment_ids: np.ndarray,
    num_segments: int,
    op: str,
    *,
    num_valid: int | None = None,
    ddof: int = 0,
) -> np.ndarray:
    """One row for each segment; sums, products and moments of floats as wide as NumPy has them."""
    num_valid = len(segment_ids) if num_valid is None else num_valid
    columns = x.reshape(len(x), math.prod(x.shape[1:]))
    table = [
        [
            _reduced(column[members], members, op, ddof)
            for column in columns.T
        ]
        for segment in range(num_segments)
        for members in [np.flatnonzero(segment_ids[:num_valid] == segment)]
    ]  # fmt: skip
    return np.array(table).reshape(num_segments, *x.shape[1:])


def _reduced(rows: np.ndarray, row_ids: np.ndarray, op: str, ddof: int) -> Any:
    """One column of one segment."""
    dtype = rows.dtype
    if op == "count":
        return np.int32(len(rows))
    if op in ("any", "all"):
        with np.errstate(invalid="ignore"):  # signalling NaNs
            return getattr(np, op)(rows != 0)
    if op in ("first", "last"):
        return rows[0 if op == "first" else -1] if len(rows) else dtype.type(0)
    if op in ("min", "max", "argmin", "argmax"):
        return _extreme(rows, row_ids, op)
    if dtype.kind == "c":
        rows = rows.astype(np.complex128)
    elif is_float(dtype) or op in ("mean", "var", "std", "logsumexp"):
        rows = rows.astype(np.float64)
    elif dtype.kind == "b":
        rows = rows.astype(np.int32)
    if op in ("sum", "prod"):
        return getattr(np, op)(rows, dtype=rows.dtype)
    if op == "logsumexp":
        return np.logaddexp.reduce(rows.astype(np.float64), initial=-np.inf)
    if len(rows) - (0 if op == "mean" else ddof) <= 0:
        return rows.dtype.type(np.nan)
    return np.mean(rows) if op == "mean" else getattr(np, op)(rows, ddof=ddof)


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


def segment_softmax(
    x: np.ndarray, segment_ids: np.ndarray, num_segments: int, *, num_valid: int | None = None
) -> np.ndarray:
    """The exponential of each row divided by the sum of its segment, float64."""
    result = np.zeros(x.shape)
    for segment in range(num_segments):
        rows = np.flatnonzero(segment_ids[:num_valid] == segment)
        if len(rows):
            powers = np.exp(x[rows].astype(np.float64) - x[rows].max(0).astype(np.float64))
            result[rows] = powers / powers.sum(0)
    return result


def segment_normalize(
    x: np.ndarray,
    segment_ids: np.ndarray,
    num_segments: int,
    epsilon: float = 1e-5,
    *,
    num_valid: int | None = None,
) -> np.ndarray:
    """Each row less the mean of its segment, over the root of the variance, float64."""
    result = np.zeros(x.shape)
    for segment in range(num_segments):
        rows = np.flatnonzero(segment_ids[:num_valid] == segment)
        if len(rows):
            own = x[rows].astype(np.float64)
            result[rows] = (own - own.mean(0)) / np.sqrt(own.var(0) + epsilon)
    return result


def _extreme(rows: np.ndarray, row_ids: np.ndarray, op: str) -> Any:
    with np.errstate(invalid="ignore"):  # signalling NaNs
        numbers = rows.astype(np.float64) if is_float(rows.dtype) else rows
    is_nan = np.isnan(numbers)
    if op.startswith("arg"):
        if not len(rows):
            return np.int32(-1)
        best = np.argmax(is_nan) if is_nan.any() else getattr(np, op)(numbers)
        return np.int32(row_ids[best])
    if not len(rows):
        if is_float(rows.dtype):
            return rows.dtype.type(np.inf if op == "min" else -np.inf)
        if rows.dtype == bool:
            return op == "min"
        return rows.dtype.type(getattr(np.iinfo(rows.dtype), "max" if op == "min" else "min"))
    if is_nan.any():
        return rows.dtype.type(np.nan)
    # Of the zeros, the one with the sign that is further in that direction.
    key = [(number, not np.signbit(number)) if numbers.dtype.kind == "f" else (number, 0)
           for number in numbers]  # fmt: skip
    return rows[key.index({"min": min, "max": max}[op](key))]


def rows_of_segment(
    segment_ids: np.ndarray, segment: int, x: Any, num_valid: int | None = None
) -> np.ndarray:
    """The row ids of a segment whose keys are numbers, in row order."""
    is_row = np.asarray(segment_ids) == segment
    is_row[len(segment_ids) if num_valid is None else num_valid :] = False
    for column in columns_of(x):
        # ml_dtypes warns where it compares or casts a NaN.
        with np.errstate(invalid="ignore"):
            is_row &= column == column
    return np.flatnonzero(is_row)


def segment_rank(
    x: Any,
    segment_ids: np.ndarray,
    num_segments: int,
    *,
    method: str = "average",
    descending: Any = False,
    num_valid: int | None = None,
) -> np.ndarray:
    columns = columns_of(x)
    ranks = np.zeros(len(segment_ids))
    directions = per_column(descending, len(columns))
    for segment in range(num_segments):
        row_ids = rows_of_segment(segment_ids, segment, x, num_valid)
        rows = take(columns, row_ids)
        keys = np.stack(list(map(key_ranks, rows, directions)), axis=1)
        order = {tuple(key): None for key in sorted(map(tuple, keys))}
        for place, row_id in enumerate(row_ids):
            before = sum(tuple(key) < tuple(keys[place]) for key in keys)
            is_same = [tuple(key) == tuple(keys[place]) for key in keys]
            ranks[row_id] = {
                "average": before + (sum(is_same) + 1) / 2,
                "min": before + 1,
                "max": before + sum(is_same),
                "first": before + sum(is_same[: place + 1]),
                "dense": list(order).index(tuple(keys[place])) + 1,
            }[method]
    if method == "average":
        return np.where(ranks == 0, np.nan, ranks)
    return ranks.astype(np.int32)


def segment_nunique(
    x: Any, segment_ids: np.ndarray, num_segments: int, *, num_valid: int | None = None
) -> np.ndarray:
    rows = [rows_of_segment(segment_ids, i, x, num_valid) for i in range(num_segments)]
    tuples = [set(zip(*(x[ids].tolist() for x in columns_of(x)), strict=True)) for ids in rows]
    return np.array(list(map(len, tuples)), np.int32)


def beside_infinities(low: Any, high: Any, between: Any) -> Any:
    """The limit of interpolated values, if one of the ends is infinite."""
    is_finite = np.isfinite(low) & np.isfinite(high)
    with np.errstate(invalid="ignore", over="ignore"):
        return np.where(is_finite, between, low + high)


def segment_quantile(
    x: np.ndarray,
    segment_ids: np.ndarray,
    num_segments: int,
    q: Any = 0.5,
    *,
    interpolation: str = "linear",
    num_valid: int | None = None,
) -> np.ndarray:
    """Quantiles in float64, by pandas' rules for finite numbers, which are NumPy's."""
    q = np.asarray(q)
    result = np.full((num_segments, *q.shape), np.nan)
    for segment in range(num_segments):
        rows = np.sort(x[rows_of_segment(segment_ids, segment, x, num_valid)].astype(float))
        if not len(rows):
            continue
        place = (len(rows) - 1) * q
        below = np.floor(place).astype(int)
        fraction = place - below
        low, high = rows[below], rows[np.minimum(below + 1, len(rows) - 1)]
        is_high = (fraction > 0.5) | ((fraction == 0.5) & (below % 2 == 1))
        with np.errstate(invalid="ignore", over="ignore"):
            between = {
                "lower": low,
                "higher": high,
                "nearest": np.where(is_high, high, low),
                "midpoint": (low + high) / 2,
                "linear": beside_infinities(low, high, low + (high - low) * fraction),
            }[interpolation]
        result[segment] = np.where(fraction > 0, between, low)
    return result


def segment_shift(
    x: Any,
    segment_ids: np.ndarray,
    num_segments: int,
    periods: int = 1,
    *,
    fill_value: Any = 0,
    num_valid: int | None = None,
) -> Any:
    def shift(leaf: np.ndarray) -> np.ndarray:
        shifted = np.full_like(leaf, fill_value)
        for segment in range(num_segments):
            row_ids = rows_of_segment(segment_ids, segment, (), num_valid)
            for place, row_id in enumerate(row_ids):
                if 0 <= place - periods < len(row_ids):
                    shifted[row_id] = leaf[row_ids[place - periods]]
        return shifted

    return jax.tree.map(shift, x)


def scan_of_segments(
    x: Any,
    op: Any,
    segment_ids: np.ndarray,
    num_segments: int,
    *,
    num_valid: int | None = None,
    **settings: Any,
) -> Any:
    """Scans of the rows of each id, adjacent or not; zeros for rows of no segment."""
    rows = [rows_of_segment(segment_ids, i, (), num_valid) for i in range(num_segments)]
    scans = [scan(take(x, row_ids), op, **settings) for row_ids in rows]

    def put(leaf: np.ndarray, *parts: np.ndarray) -> np.ndarray:
        result = np.zeros(leaf.shape, parts[0].dtype)
        for row_ids, part in zip(rows, parts, strict=True):
            result[row_ids] = part
        return result

    return jax.tree.map(put, x, *scans)


def scan(
    x: np.ndarray,
    op: Any,
    *,
    head_flags: np.ndarray | None = None,
    exclusive: bool = False,
    reverse: bool = False,
    initial: Any = None,
    num_valid: int | None = None,
) -> np.ndarray:
    """Row after row. `op` is a name or a function of two rows; sums are as exact as `x`'s dtype."""
    num_rows = len(x)
    num_valid = num_rows if num_valid is None else num_valid
    segments = np.cumsum(np.zeros(num_rows) if head_flags is None else head_flags)
    combine = _COMBINE[op] if isinstance(op, str) else op
    results = np.zeros_like(x)
    total: Any = None
    previous = None
    for row in range(num_valid)[:: -1 if reverse else 1]:
        if previous is None or segments[previous] != segments[row]:
            total = initial
        if exclusive:
            results[row] = scan_identity(op, x.dtype) if total is None else total
        total = x[row] if total is None else combine(total, x[row])
        if not exclusive:
            results[row] = total
        previous = row
    return results


def linear_recurrence(
    a: np.ndarray, b: np.ndarray, *, initial: Any = 0, **settings: Any
) -> np.ndarray:
    """Row after row; `a` and `b` have one shape."""

    def step(before: np.ndarray, row: np.ndarray) -> np.ndarray:
        # A row is (a, b, h); a segment starts with (0, 0, initial).
        return np.stack([row[0], row[1], row[0] * before[2] + row[1]])

    rows = np.stack([a, b, np.zeros_like(b)], axis=1)
    start = np.zeros_like(rows[0]) if len(b) else None
    if start is None:
        return b
    start[2] = initial
    before = scan(rows, step, exclusive=True, initial=start, **settings)[:, 2]
    results = a * before + b
    results[settings.get("num_valid", len(b)) :] = 0
    return results


def _first_of(comes_before: Any) -> Any:
    """The extreme of two rows, elementwise: the first of equal ones, NaN in front of all."""

    def combine(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):  # bfloat16
            is_replaced = comes_before(right, left) | ((right != right) & (left == left))
        return np.where(is_replaced, right, left)

    return combine


def _wrapping(function: Any) -> Any:
    def combine(left: Any, right: Any) -> Any:
        with np.errstate(over="ignore"):
            return function(left, right)

    return combine


_COMBINE = {
    "add": _wrapping(np.add),
    "mul": _wrapping(np.multiply),
    "min": _first_of(np.less),
    "max": _first_of(np.greater),
}


def scan_identity(op: str, dtype: Any) -> Any:
    dtype = np.dtype(dtype)
    if op in ("add", "mul"):
        return dtype.type(op == "mul")
    if is_float(dtype):
        return dtype.type(np.inf if op == "min" else -np.inf)
    if dtype.kind == "b":
        return op == "min"
    limits = np.iinfo(dtype)
    return limits.max if op == "min" else limits.min


def head_flags_of(segment_ids: np.ndarray) -> np.ndarray:
    """Where runs of equal ids begin."""
    return np.concatenate([[True], segment_ids[1:] != segment_ids[:-1]])[: len(segment_ids)]


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


def join(
    left_keys: Any,
    right_keys: Any,
    *,
    how: str = "inner",
    num_valid: tuple[int | None, int | None] = (None, None),
) -> tuple[np.ndarray, np.ndarray]:
    """Left and right rows of all pairs, by nested loops; -1 for no match."""
    left, right = joined_ranks(left_keys, right_keys, num_valid, how)
    valid_left, valid_right = len(left), len(right)
    if how == "right":
        sides = {"how": "left", "num_valid": (valid_right, valid_left)}
        right_rows, left_rows = join(right_keys, left_keys, **sides)
        return left_rows, right_rows
    pairs = [(i, j) for i, key in enumerate(left) for j, other in enumerate(right) if key == other]
    matched_left, matched_right = {i for i, _ in pairs}, {j for _, j in pairs}
    if how in ("semi", "anti"):
        kept = [i for i in range(len(left)) if (i in matched_left) == (how == "semi")]
        pairs = [(i, -1) for i in kept]
    if how in ("left", "outer"):
        pairs += [(i, -1) for i in range(len(left)) if i not in matched_left]
    if how == "left":
        pairs.sort(key=lambda pair: pair[0])
    if how == "outer":
        pairs += [(-1, j) for j in range(len(right)) if j not in matched_right]
        pairs.sort(key=lambda pair: left[pair[0]] if pair[0] >= 0 else right[pair[1]])
    table = np.array(pairs, np.int32).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def unmatched_rows(
    left_keys: Any,
    right_keys: Any,
    *,
    how: str = "inner",
    num_valid: tuple[int | None, int | None] = (None, None),
) -> tuple[np.int32, np.int32]:
    """The numbers of left and of right rows without a match."""
    left, right = joined_ranks(left_keys, right_keys, num_valid, how)
    return np.int32(sum(k not in right for k in left)), np.int32(sum(k not in left for k in right))


def joined_ranks(
    left_keys: Any, right_keys: Any, num_valid: tuple[int | None, int | None], how: str
) -> tuple[list[Any], list[Any]]:
    """Ranks of the valid keys of both sides; those of a cross join are all equal."""
    if how != "cross":
        return ranks_of_sides(left_keys, right_keys, num_valid)
    lengths = (len(columns_of(keys)[0]) for keys in (left_keys, right_keys))
    left, right = ([0] * length for length in lengths)
    return left[: num_valid[0]], right[: num_valid[1]]


def join_asof(
    left: np.ndarray,
    right: np.ndarray,
    *,
    by: tuple[Any, Any] | None = None,
    direction: str = "backward",
    tolerance: Any = None,
    allow_exact: bool = True,
    num_valid: tuple[int | None, int | None] = (None, None),
) -> np.ndarray:
    """The right row of each left row, by nested loops; -1 for none."""
    num_left, num_right = len(left), len(right)
    valid_left = num_left if num_valid[0] is None else num_valid[0]
    valid_right = num_right if num_valid[1] is None else num_valid[1]
    times = np.concatenate([left, right])
    ranks = key_ranks(times).tolist()
    groups: list[Any] = [()] * len(times)
    if by is not None:
        both = columns_of(jax.tree.map(lambda *sides: np.concatenate(sides), *by))
        groups = np.stack([key_ranks(column) for column in both], axis=1).tolist()
    # NaN is no time. NumPy warns where a signalling one is compared.
    with np.errstate(invalid="ignore"):
        is_time = times == times

    def distance(low: Any, high: Any) -> Any:
        if not is_float(times.dtype):
            return int(high) - int(low)
        dtype = np.float64 if times.dtype == np.float64 else np.float32
        with np.errstate(over="ignore"):
            return dtype(0) if low == high else dtype(high) - dtype(low)

    def match(i: int) -> int:
        candidates = [
            (ranks[num_left + j], j)
            for j in range(valid_right)
            if is_time[num_left + j]
            and groups[num_left + j] == groups[i]
            and (allow_exact or ranks[num_left + j] != ranks[i])
        ]
        before = [candidate for candidate in candidates if candidate[0] <= ranks[i]]
        behind = [candidate for candidate in candidates if candidate[0] >= ranks[i]]
        found = []
        if before and direction != "forward":
            row = max(before)[1]
            found.append((distance(right[row], left[i]), 0, row))
        if behind and direction != "backward":
            row = min(behind)[1]
            found.append((distance(left[i], right[row]), 1, row))
        found = [row for row in found if tolerance is None or row[0] <= tolerance]
        return min(found)[2] if found else -1

    rows = [match(i) if i < valid_left and is_time[i] else -1 for i in range(num_left)]
    return np.array(rows, np.int32)


def random_words(key: Any, num_rows: int) -> np.ndarray:
    """The words of the keys that each row's number derives from a key."""
    keys = [jax.random.fold_in(key, row) for row in range(num_rows)]
    words = [np.asarray(jax.random.key_data(key))[:2] for key in keys]
    return np.array(words, np.uint32).reshape(num_rows, 2)


def random_permutation(key: Any, num_rows: int) -> np.ndarray:
    """Row ids in the order of their words."""
    high, low = random_words(key, num_rows).T
    return np.lexsort((low, high)).astype(np.int32)


def pack(
    lengths: np.ndarray, length: int, how: str, capacity: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.int32]:
    """Documents one by one into rows, which are lists of document ids."""
    documents = [one for one in range(len(lengths)) if lengths[one] <= length]
    if how != "next_fit":
        documents.sort(key=lambda one: -lengths[one])
    room: list[int] = []
    row_ids, offsets = np.full(len(lengths), -1, np.int32), np.zeros(len(lengths), np.int32)
    segment_ids, positions = np.full((capacity, length), -1), np.zeros((capacity, length))
    count = 0
    for one in documents:
        size = lengths[one]
        fits = [row for row, left in enumerate(room) if left >= size]
        if how == "next_fit":
            fits = [row for row in fits if row == len(room) - 1]
        elif how == "best_fit_decreasing":
            fits.sort(key=lambda row: room[row])
        if not fits and (len(room) < capacity or how == "next_fit"):
            room.append(length)
            fits = [len(room) - 1]
        if not fits or fits[0] >= capacity:
            count += how != "next_fit"
            room[-1:] = [room[-1] - size] if how == "next_fit" else room[-1:]
            continue
        row = fits[0]
        start = length - room[row]
        room[row] -= size
        row_ids[one], offsets[one] = row, start
        segment_ids[row, start : start + size] = one
        positions[row, start : start + size] = np.arange(size)
    count = np.int32(count + len(room))
    return row_ids, offsets, segment_ids.astype(np.int32), positions.astype(np.int32), count
