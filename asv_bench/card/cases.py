# SPDX-License-Identifier: Apache-2.0
"""The calls that a card checks and measures, with NumPy's answers and the bytes that they need."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxframes.primitives import local

Arrays = tuple[np.ndarray, ...]
NUM_BUCKETS = 64
FEW_SEGMENTS, MANY_SEGMENTS = 1024, 100_000
NUM_BINS = 256
TOP = 64
EDGES = np.linspace(-4, 4, NUM_BINS + 1, dtype=np.float32)


class Case(NamedTuple):
    """A call.

    Attributes:
        arrays: the arguments, from random numbers and a number of rows.
        call: the call, given the arrays.
        expected: NumPy's results, given the arrays, in the order of the leaves; None for parts
            that are arbitrary.
        row_bytes: bytes that any program reads and writes for a row.
        tolerance: of floats, whose additions have another order, relative to the sum of magnitudes;
            the bits of all runs are compared in any case.
        is_timed: whether times are taken too.
    """

    arrays: Callable[[np.random.Generator, int], Arrays]
    call: Callable[..., Any]
    expected: Callable[..., Sequence[Any]]
    row_bytes: float
    tolerance: float = 0.0
    is_timed: bool = True


def _floats(rng: np.random.Generator, num_rows: int, dtype: Any = np.float32) -> np.ndarray:
    return rng.standard_normal(num_rows).astype(dtype)


def _ints(rng: np.random.Generator, num_rows: int, most: int, dtype: Any = np.int32) -> np.ndarray:
    return rng.integers(0, most, num_rows, dtype)


def _words(rng: np.random.Generator, num_rows: int, dtype: Any) -> np.ndarray:
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, num_rows, dtype, endpoint=True)


def _special_floats(rng: np.random.Generator, num_rows: int) -> np.ndarray:
    x = _floats(rng, num_rows)
    x[rng.random(num_rows) < 0.1] = np.nan
    x[rng.random(num_rows) < 0.1] = -0.0
    x[rng.random(num_rows) < 0.1] = 0.0
    return x


def _few(rng: np.random.Generator, num_rows: int) -> np.ndarray:
    return _ints(rng, num_rows, max(num_rows // 3, 1))


def _heads(rng: np.random.Generator, num_rows: int) -> np.ndarray:
    return rng.random(num_rows) < 0.05


def _last_first(x: np.ndarray) -> np.ndarray:
    """A descending order that keeps the order of equal rows, NaN last."""
    return (
        np.lexsort((np.arange(len(x)), -x))
        if x.dtype.kind == "f"
        else np.argsort(-x, kind="stable")
    )


def _sorted_floats(x: np.ndarray) -> np.ndarray:
    # -0.0 and 0.0 are equal, and keep their order.
    return np.argsort(x, kind="stable")


def _restarted_sums(x: np.ndarray, heads: np.ndarray) -> np.ndarray:
    sums = np.cumsum(x.astype(np.float64 if x.dtype.kind == "f" else x.dtype))
    starts = np.maximum.accumulate(np.where(heads, np.arange(len(x)), 0))
    return (sums - sums[starts] + x[starts]).astype(x.dtype)


def _repeated(repeats: np.ndarray) -> Sequence[Any]:
    rows = np.repeat(np.arange(len(repeats), dtype=np.int32), repeats)
    copies = np.arange(len(rows)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    missing = max(len(repeats) - len(rows), 0)
    return (
        np.pad(rows, (0, missing), constant_values=-1)[: len(repeats)],
        np.pad(copies, (0, missing)).astype(np.int32)[: len(repeats)],
        len(rows),
    )


def _merged(a: np.ndarray, b: np.ndarray, values: np.ndarray) -> Sequence[Any]:
    keys = np.concatenate([a, b])
    order = np.argsort(keys, kind="stable")
    return keys[order], np.concatenate([values, values])[order]


def _shared(a: np.ndarray, b: np.ndarray) -> Sequence[Any]:
    found = np.intersect1d(a, b)
    return np.pad(found, (0, len(a) - len(found))), len(found)


def _factorized(keys: np.ndarray) -> Sequence[Any]:
    found, groups = np.unique(keys, return_inverse=True)
    return groups, np.pad(found, (0, len(keys) - len(found))), len(found)


def _bucket_order(ids: np.ndarray) -> Sequence[Any]:
    order = np.argsort(ids, kind="stable")
    inverse = np.empty_like(order)
    inverse[order] = np.arange(len(ids))
    counts = np.bincount(ids, minlength=NUM_BUCKETS)
    return order, inverse, np.concatenate([[0], np.cumsum(counts)])


def _compacted(mask: np.ndarray, *columns: np.ndarray) -> Sequence[Any]:
    def kept(column: np.ndarray) -> np.ndarray:
        result = np.zeros_like(column)
        result[: mask.sum()] = column[mask]
        return result

    return *map(kept, columns), mask.sum()


def _unique(keys: np.ndarray) -> Sequence[Any]:
    found = np.unique(keys)
    padded = np.zeros_like(keys)
    padded[: len(found)] = found
    return padded, len(found)


def _reduced_by_key(keys: np.ndarray, values: np.ndarray) -> Sequence[Any]:
    found, inverse = np.unique(keys, return_inverse=True)
    sums = np.zeros(len(keys), values.dtype)
    sums[: len(found)] = np.bincount(inverse, values, len(found))
    padded, num_runs = _unique(keys)
    return padded, sums, num_runs


def _segment_sums(num_segments: int) -> Callable[..., Sequence[Any]]:
    def expected(x: np.ndarray, ids: np.ndarray) -> Sequence[Any]:
        return (np.bincount(ids, x, num_segments).astype(x.dtype),)

    return expected


def _segment_scaled(x: np.ndarray, ids: np.ndarray) -> Sequence[Any]:
    counts = np.maximum(np.bincount(ids, minlength=FEW_SEGMENTS), 1)
    distances = x - (np.bincount(ids, x, FEW_SEGMENTS) / counts)[ids]
    variances = np.bincount(ids, distances**2, FEW_SEGMENTS) / counts
    normal = distances / np.sqrt(variances + 1e-5)[ids]
    powers = np.exp(x - _segment_max(x, ids)[0][ids])
    return normal, powers / np.bincount(ids, powers, FEW_SEGMENTS)[ids]


def _segment_max(x: np.ndarray, ids: np.ndarray) -> Sequence[Any]:
    largest = np.full(FEW_SEGMENTS, -np.inf, x.dtype)
    np.maximum.at(largest, ids, x)
    return (largest,)


def _first_minima(x: np.ndarray, ids: np.ndarray) -> Sequence[Any]:
    order = np.lexsort((x, ids))
    found, firsts = np.unique(ids[order], return_index=True)
    rows = np.full(FEW_SEGMENTS, -1, np.int32)
    rows[found] = order[firsts]
    return (rows,)


def _top(x: np.ndarray) -> Sequence[Any]:
    order = np.argsort(-x, kind="stable")[: min(TOP, len(x))]
    return x[order], order


def _batch(rng: np.random.Generator, num_rows: int) -> Arrays:
    return (_words(rng, 8 * max(num_rows // 8, 1), np.int32).reshape(8, -1),)


CASES: dict[str, Case] = {
    "inclusive_scan f32": Case(
        lambda r, n: (_floats(r, n),), local.inclusive_scan,
        lambda x: (np.cumsum(x, dtype=np.float64),), 8, 1e-6,
    ),
    "inclusive_scan i32": Case(
        lambda r, n: (_words(r, n, np.int32),), local.inclusive_scan,
        lambda x: (np.cumsum(x, dtype=np.int32),), 8,
    ),
    "exclusive_scan max f32, reverse": Case(
        lambda r, n: (_floats(r, n),),
        lambda x: local.exclusive_scan(x, "max", reverse=True),
        lambda x: (np.append(np.maximum.accumulate(x[::-1])[-2::-1], np.float32(-np.inf)),), 8,
        is_timed=False,
    ),
    "segmented_scan f32": Case(
        lambda r, n: (_floats(r, n), _heads(r, n)),
        lambda x, h: local.segmented_scan(x, head_flags=h),
        lambda x, h: (_restarted_sums(x, h),), 9, 1e-5,
    ),
    "segmented_scan i64": Case(
        lambda r, n: (_words(r, n, np.int64), _heads(r, n)),
        lambda x, h: local.segmented_scan(x, head_flags=h),
        lambda x, h: (_restarted_sums(x, h),), 17, is_timed=False,
    ),
    "radix_sort u32": Case(
        lambda r, n: (_words(r, n, np.uint32),), local.radix_sort, lambda k: (np.sort(k),), 8
    ),
    "radix_sort i32 with f32": Case(
        lambda r, n: (_few(r, n), _floats(r, n)),
        lambda k, v: local.radix_sort(k, values=v),
        lambda k, v: (np.sort(k), v[np.argsort(k, kind="stable")]), 16,
    ),
    "radix_sort f32 with i32": Case(
        lambda r, n: (_special_floats(r, n), _words(r, n, np.int32)),
        lambda k, v: local.radix_sort(k, values=v),
        lambda k, v: (k[_sorted_floats(k)], v[_sorted_floats(k)]), 16,
    ),
    "radix_sort f32 with i8 and f16": Case(
        lambda r, n: (_special_floats(r, n), _words(r, n, np.int8), _floats(r, n, np.float16)),
        lambda k, v, w: local.radix_sort(k, values=(v, w)),
        lambda k, v, w: (k[_sorted_floats(k)], *(c[_sorted_floats(k)] for c in (v, w))), 14,
        is_timed=False,
    ),
    "radix_sort i64 with two columns": Case(
        lambda r, n: (_words(r, n, np.int64), _floats(r, n), _ints(r, n, 100)),
        lambda k, v, w: local.radix_sort(k, values=(v, w)),
        lambda k, v, w: (np.sort(k), *(c[np.argsort(k, kind="stable")] for c in (v, w))), 32,
    ),
    "radix_argsort i32, descending": Case(
        lambda r, n: (_few(r, n),), lambda k: local.radix_argsort(k, descending=True),
        lambda k: (_last_first(k),), 8,
    ),
    "radix_sort of 8 rows": Case(
        _batch, jax.vmap(local.radix_sort), lambda k: (np.sort(k, axis=1),), 8
    ),
    "bucket_order 64": Case(
        lambda r, n: (_ints(r, n, NUM_BUCKETS),), lambda ids: local.bucket_order(ids, NUM_BUCKETS),
        _bucket_order, 12,
    ),
    "compact": Case(
        lambda r, n: (r.random(n) < 0.5, _floats(r, n)), local.compact, _compacted, 9
    ),
    "compact of four": Case(
        lambda r, n: (r.random(n) < 0.5, *(_floats(r, n) for _ in range(4))),
        lambda m, *x: local.compact(m, x), _compacted, 33,
    ),
    "segment_sum f32 1,024": Case(
        lambda r, n: (_floats(r, n), _ints(r, n, FEW_SEGMENTS)),
        lambda x, ids: local.segment_sum(x, ids, FEW_SEGMENTS),
        _segment_sums(FEW_SEGMENTS), 8, 1e-6,
    ),
    "segment_sum f32 100,000": Case(
        lambda r, n: (_floats(r, n), _ints(r, n, MANY_SEGMENTS)),
        lambda x, ids: local.segment_sum(x, ids, MANY_SEGMENTS),
        _segment_sums(MANY_SEGMENTS), 8, 1e-6,
    ),
    "segment_sum i32 1,024": Case(
        lambda r, n: (_ints(r, n, 100), _ints(r, n, FEW_SEGMENTS)),
        lambda x, ids: local.segment_sum(x, ids, FEW_SEGMENTS),
        _segment_sums(FEW_SEGMENTS), 8,
    ),
    "segment_max f32 1,024": Case(
        lambda r, n: (_floats(r, n), _ints(r, n, FEW_SEGMENTS)),
        lambda x, ids: local.segment_max(x, ids, FEW_SEGMENTS), _segment_max, 8,
    ),
    "segment_normalize and softmax f32 1,024": Case(
        lambda r, n: (_floats(r, n), _ints(r, n, FEW_SEGMENTS)),
        lambda x, ids: (
            local.segment_normalize(x, ids, FEW_SEGMENTS),
            local.segment_softmax(x, ids, FEW_SEGMENTS),
        ),
        _segment_scaled, 16, 1e-6, is_timed=False,
    ),
    "segment_argmin f32 1,024": Case(
        lambda r, n: (_floats(r, n), _ints(r, n, FEW_SEGMENTS)),
        lambda x, ids: local.segment_argmin(x, ids, FEW_SEGMENTS), _first_minima, 8,
    ),
    "segment_count 64": Case(
        lambda r, n: (_ints(r, n, NUM_BUCKETS),),
        lambda ids: local.segment_count(ids, NUM_BUCKETS),
        lambda ids: (np.bincount(ids, minlength=NUM_BUCKETS),), 4,
    ),
    "pairwise_sum f32": Case(
        lambda r, n: (_floats(r, n),), local.pairwise_sum,
        lambda x: (np.sum(x, dtype=np.float64),), 4, 1e-7,
    ),
    "unique i32": Case(
        lambda r, n: (_few(r, n),), lambda k: local.unique(k, capacity=len(k)),
        _unique, 8,
    ),
    "reduce_by_key i32, f32": Case(
        lambda r, n: (_few(r, n), _ints(r, n, 100).astype(np.float32)),
        lambda k, v: local.reduce_by_key(k, v, "sum"), _reduced_by_key, 16,
    ),
    "repeat_rows": Case(
        lambda r, n: (_ints(r, n, 3),), lambda c: local.repeat_rows(c, capacity=len(c)),
        _repeated, 12,
    ),
    "merge i32": Case(
        lambda r, n: tuple(np.sort(_few(r, n)) for _ in range(2)), local.merge,
        lambda a, b: (np.sort(np.concatenate([a, b])),), 16,
    ),
    "merge f32 with i32": Case(
        lambda r, n: (*(np.sort(_special_floats(r, n)) for _ in range(2)), _ints(r, n, 9)),
        lambda a, b, v: local.merge(a, b, values=(v, v)),
        _merged, 32, is_timed=False,
    ),
    "searchsorted i32": Case(
        lambda r, n: (np.sort(_words(r, n, np.int32)), _words(r, n, np.int32)),
        local.searchsorted, lambda k, q: (np.searchsorted(k, q),), 12,
    ),
    "set_intersection i32": Case(
        lambda r, n: (_few(r, n), _few(r, n)),
        lambda a, b: local.set_intersection(a, b, capacity=len(a)),
        _shared, 12, is_timed=False,
    ),
    "factorize i32": Case(
        lambda r, n: (_few(r, n),), local.factorize, _factorized, 12,
    ),
    "histogram f32 256": Case(
        lambda r, n: (_floats(r, n),),
        lambda x: local.histogram(x, edges=jnp.asarray(EDGES)).counts,
        lambda x: (np.histogram(x, EDGES)[0],), 4,
    ),
    "top_k 64 f32": Case(
        lambda r, n: (np.round(_floats(r, n), 3),), lambda x: local.top_k(x, min(TOP, len(x))),
        _top, 4,
    ),
}  # fmt: skip
