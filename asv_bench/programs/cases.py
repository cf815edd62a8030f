# SPDX-License-Identifier: Apache-2.0
"""The calls of the local ops whose programs are compiled, and the same work in `jax.numpy`.

Columns have 32 bits and the same number of rows. The number of segments, bins and buckets is the
same for every number of rows, but for segments of "many".
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxframes.primitives import local
from jaxframes.primitives.contract._segment_forms import SEGMENT_OPS

NUM_SEGMENTS = 1024
NUM_BUCKETS = 64
NUM_BINS = 256
TOP = 64
WINDOW = 16
WIDTH = 128
# Most work of a row takes few cycles; of other calls the simulator would run for minutes.
MANY_ROWS, FEW_ROWS = 2**18, 2**16


class Case(NamedTuple):
    """A call on one device.

    Attributes:
        dtypes: the columns of the call, by dtype.
        call: the call, given the columns.
        peer: the same work in `jax.numpy` or `jax.lax`, where they have it.
        rows: rows of each column.
        width: columns of the first array, a matrix unless it is zero.
    """

    dtypes: Sequence[str]
    call: Callable[..., Any]
    peer: Callable[..., Any] | None = None
    rows: int = FEW_ROWS
    width: int = 0

    def arguments(self, num_rows: int) -> list[jax.ShapeDtypeStruct]:
        """The columns, of shapes alone."""
        shapes: list[tuple[int, ...]] = [(num_rows,)] * len(self.dtypes)
        if self.width:
            shapes[0] = (num_rows, self.width)
        return [
            jax.ShapeDtypeStruct(shape, dtype)
            for shape, dtype in zip(shapes, self.dtypes, strict=True)
        ]


INT, UINT, FLOAT, BOOL = "int32", "uint32", "float32", "bool"


def _key() -> jax.Array:
    return jax.random.key(7)


def _ranked(ids: jax.Array) -> tuple[jax.Array, ...]:
    """What a mixture of experts writes in `jax.numpy` for `bucket_order`."""
    order = jnp.argsort(ids)
    return order, jnp.argsort(order), jnp.cumsum(jnp.bincount(ids, length=NUM_BUCKETS))


def _bucketed(values: jax.Array, ids: jax.Array) -> tuple[jax.Array, jax.Array]:
    order = jnp.argsort(ids)
    return values[order], jnp.bincount(ids, length=NUM_BUCKETS)


def _compacted(mask: jax.Array, *columns: jax.Array) -> tuple[Any, jax.Array]:
    (row_ids,) = jnp.nonzero(mask, size=len(mask), fill_value=0)
    return [column[row_ids] for column in columns], jnp.sum(mask)


def _sorted_with_value(keys: jax.Array, values: jax.Array) -> tuple[jax.Array, jax.Array]:
    order = jnp.argsort(keys)
    return keys[order], values[order]


def _restarted(values: jax.Array, heads: jax.Array) -> jax.Array:
    def combine(left: Any, right: Any) -> Any:
        (left_head, left_sum), (right_head, right_sum) = left, right
        return left_head | right_head, jnp.where(right_head, right_sum, left_sum + right_sum)

    return lax.associative_scan(combine, (heads, values))[1]


def _sums_by_key(keys: jax.Array, values: jax.Array) -> tuple[jax.Array, jax.Array]:
    found, groups = jnp.unique(keys, size=len(keys), fill_value=0, return_inverse=True)
    return found, jax.ops.segment_sum(values, groups, len(keys))


def _csr(columns: jax.Array, values: Any) -> local.Ragged:
    """A sparse matrix with the same number of entries in each row."""
    lengths = jnp.full(NUM_SEGMENTS, len(columns) // NUM_SEGMENTS)
    return local.Ragged.from_lengths((columns, values), lengths)


def _affine(left: Any, right: Any) -> Any:
    """Composition of x -> a x + b, the step of a linear recurrence."""
    return left[0] * right[0], left[1] * right[0] + right[1]


def _segment_case(op: str) -> Case:
    peer = getattr(jax.ops, f"segment_{op}", None)
    form = getattr(local, f"segment_{op}")
    if op == "count":
        return Case((INT,), lambda ids: form(ids, NUM_SEGMENTS))
    return Case(
        (FLOAT, INT),
        lambda x, ids: form(x, ids, NUM_SEGMENTS),
        peer and (lambda x, ids: peer(x, ids, NUM_SEGMENTS)),
        MANY_ROWS if op == "sum" else FEW_ROWS,
    )


CASES: dict[str, Case] = {
    "inclusive_scan": Case((FLOAT,), local.inclusive_scan, jnp.cumsum, MANY_ROWS),
    "inclusive_scan max": Case(
        (FLOAT,), lambda x: local.inclusive_scan(x, "max"), lax.cummax, MANY_ROWS
    ),
    "inclusive_scan of a function": Case(
        (FLOAT, FLOAT),
        lambda a, b: local.inclusive_scan((a, b), _affine),
        lambda a, b: lax.associative_scan(_affine, (a, b)),
    ),
    "linear_recurrence": Case(
        (FLOAT, FLOAT),
        local.linear_recurrence,
        lambda a, b: lax.associative_scan(_affine, (a, b))[1],
    ),
    "exclusive_scan": Case((FLOAT,), local.exclusive_scan, lambda x: jnp.cumsum(x) - x, MANY_ROWS),
    "segmented_scan": Case(
        (FLOAT, BOOL),
        lambda x, heads: local.segmented_scan(x, head_flags=heads),
        _restarted,
        MANY_ROWS,
    ),
    "radix_sort": Case((UINT,), local.radix_sort, jnp.sort, MANY_ROWS),
    "radix_sort with a value": Case(
        (UINT, FLOAT), lambda k, v: local.radix_sort(k, values=v), _sorted_with_value, MANY_ROWS
    ),
    "radix_argsort": Case((INT,), local.radix_argsort, jnp.argsort, MANY_ROWS),
    "segmented_sort": Case(
        (FLOAT, INT), lambda k, s: local.segmented_sort(k, s, num_segments=NUM_SEGMENTS)
    ),
    "merge": Case((INT, INT), local.merge, lambda a, b: jnp.sort(jnp.concatenate([a, b]))),
    "bucket_order": Case(
        (INT,), lambda ids: local.bucket_order(ids, NUM_BUCKETS), _ranked, MANY_ROWS
    ),
    "bucket": Case((FLOAT, INT), lambda x, ids: local.bucket(x, ids, NUM_BUCKETS), _bucketed),
    "compact": Case(
        (BOOL, FLOAT), lambda m, x: local.compact(m, x, capacity=len(x)), _compacted, MANY_ROWS
    ),
    "compact of four": Case(
        (BOOL, *4 * (FLOAT,)),
        lambda m, *x: local.compact(m, x, capacity=len(m)),
        _compacted,
        MANY_ROWS,
    ),
    "concatenate": Case(
        (FLOAT, FLOAT),
        lambda a, b: local.concatenate([a, b]),
        lambda a, b: jnp.concatenate([a, b]),
    ),
    "pack": Case((INT,), lambda n: local.pack(n, 2048, capacity=1024), rows=2**12),
    "pack next fit": Case(
        (INT,), lambda n: local.pack(n, 2048, how="next_fit", capacity=1024), rows=2**14
    ),
    "hash_rows": Case((INT, FLOAT), lambda a, b: local.hash_rows((a, b)), rows=MANY_ROWS),
    "minhash": Case((INT, INT), lambda x, n: local.minhash(local.Ragged.from_lengths(x, n), 16)),
    "lsh_bands": Case((UINT,), lambda x: local.lsh_bands(x, 4), width=16),
    "dispatch_to_experts": Case(
        (FLOAT, INT), lambda x, e: local.dispatch_to_experts(x, e, NUM_BUCKETS), width=WIDTH
    ),
    "combine_from_experts": Case(
        (FLOAT, INT),
        lambda x, slots: local.combine_from_experts(x, local.ExpertSlots(slots, None)),
        width=WIDTH,
    ),
    "csr_from_coo": Case(
        (INT, INT, FLOAT), lambda r, c, x: local.csr_from_coo(r, c, NUM_SEGMENTS, values=x)
    ),
    "spmm": Case(
        (FLOAT, INT, FLOAT),
        lambda dense, columns, x: local.spmm(_csr(columns, x), dense),
        width=WIDTH,
    ),
    "sddmm": Case(
        (FLOAT, INT),
        lambda x, columns: local.sddmm(_csr(columns, None), x[:NUM_SEGMENTS], x),
        width=WIDTH,
    ),
    "neighbour_sample": Case(
        (INT,), lambda columns: local.neighbour_sample(_key(), _csr(columns, None), columns, 8)
    ),
    "repeat_rows": Case(
        (INT,),
        lambda n: local.repeat_rows(n, capacity=len(n)),
        lambda n: jnp.repeat(jnp.arange(len(n)), n, total_repeat_length=len(n)),
    ),
    "gather_rows": Case((FLOAT, INT), local.gather_rows, lambda x, ids: x[ids]),
    "gather_rows of 128": Case(
        (FLOAT, INT), local.gather_rows, lambda x, ids: x[ids], FEW_ROWS, WIDTH
    ),
    "histogram": Case(
        (FLOAT,),
        lambda x: local.histogram(x, bins=NUM_BINS),
        lambda x: jnp.histogram(x, NUM_BINS),
        MANY_ROWS,
    ),
    "histogram of a range": Case(
        (FLOAT,),
        lambda x: local.histogram(x, bins=NUM_BINS, range=(0.0, 1.0)),
        lambda x: jnp.histogram(x, NUM_BINS, (0.0, 1.0)),
        MANY_ROWS,
    ),
    "digit_histogram": Case(
        (INT,),
        lambda k: local.digit_histogram(k, 0, 8),
        lambda k: jnp.bincount(k & 255, length=NUM_BINS),
        MANY_ROWS,
    ),
    "unique": Case(
        (INT,),
        lambda k: local.unique(k, capacity=len(k)),
        lambda k: jnp.unique(k, size=len(k), fill_value=0),
        MANY_ROWS,
    ),
    "factorize": Case(
        (INT,),
        lambda k: local.factorize(k, capacity=len(k)),
        lambda k: jnp.unique(k, size=len(k), fill_value=0, return_inverse=True),
    ),
    "reduce_by_key": Case(
        (INT, FLOAT), lambda k, x: local.reduce_by_key(k, x, "sum"), _sums_by_key
    ),
    "run_length_encode": Case((INT,), lambda k: local.run_length_encode(k, capacity=len(k))),
    "isin": Case((INT, INT), local.isin, jnp.isin),
    "searchsorted": Case((INT, INT), local.searchsorted, jnp.searchsorted),
    "set_union": Case(
        (INT, INT),
        lambda a, b: local.set_union(a, b, capacity=len(a)),
        lambda a, b: jnp.union1d(a, b, size=len(a)),
    ),
    "set_intersection": Case(
        (INT, INT),
        lambda a, b: local.set_intersection(a, b, capacity=len(a)),
        lambda a, b: jnp.intersect1d(a, b, size=len(a)),
    ),
    "set_difference": Case(
        (INT, INT),
        lambda a, b: local.set_difference(a, b, capacity=len(a)),
        lambda a, b: jnp.setdiff1d(a, b, size=len(a)),
    ),
    "join": Case((INT, INT), lambda a, b: local.join(a, b, capacity=len(a))),
    "join outer": Case((INT, INT), lambda a, b: local.join(a, b, how="outer", capacity=2 * len(a))),
    "join_size": Case((INT, INT), local.join_size),
    "join_asof": Case((FLOAT, FLOAT), local.join_asof),
    "reduce": Case((FLOAT,), lambda x: local.reduce(x, "sum"), jnp.sum, MANY_ROWS),
    "pairwise_sum": Case((FLOAT,), local.pairwise_sum, jnp.sum, MANY_ROWS),
    "integer_range": Case((INT,), local.integer_range, lambda x: (jnp.min(x), jnp.max(x))),
    "windowed_reduce": Case((FLOAT,), lambda x: local.windowed_reduce(x, WINDOW, "sum")),
    "quantile": Case(
        (FLOAT,),
        lambda x: local.quantile(x, jnp.array([0.25, 0.5, 0.75])),
        lambda x: jnp.quantile(x, jnp.array([0.25, 0.5, 0.75])),
    ),
    "select_rank": Case((FLOAT,), lambda x: local.select_rank(x, jnp.array([0, 100, 10_000]))),
    "random_permutation": Case(
        # Without an argument the program would be compiled for the CPU of this machine.
        (INT,),
        lambda x: local.random_permutation(jax.random.key(x[0]), len(x)),
        lambda x: jax.random.permutation(jax.random.key(x[0]), len(x)),
        MANY_ROWS,
    ),
    "shuffle": Case(
        (FLOAT,), lambda x: local.shuffle(_key(), x), lambda x: jax.random.permutation(_key(), x)
    ),
    "sample": Case(
        (FLOAT,),
        lambda w: local.sample(_key(), len(w), TOP, weights=w),
        lambda w: jax.random.choice(_key(), len(w), (TOP,), replace=False, p=w),
    ),
    "top_k": Case((FLOAT,), lambda x: local.top_k(x, TOP), lambda x: lax.top_k(x, TOP), MANY_ROWS),
    **{f"segment_{op}": _segment_case(op) for op in SEGMENT_OPS},
    "segment_sum of many": Case(
        (FLOAT, INT),
        lambda x, ids: local.segment_sum(x, ids, len(x)),
        lambda x, ids: jax.ops.segment_sum(x, ids, len(x)),
    ),
    "segment_max of many": Case(
        (FLOAT, INT),
        lambda x, ids: local.segment_max(x, ids, len(x)),
        lambda x, ids: jax.ops.segment_max(x, ids, len(x)),
    ),
    "bincount": Case(
        (INT, FLOAT),
        lambda ids, x: local.bincount(ids, NUM_BINS, weights=x),
        lambda ids, x: jnp.zeros((8, NUM_BINS), x.dtype).at[jnp.arange(8), ids].add(x[:, None]),
        width=8,
    ),
    "connected_components": Case((INT, INT), lambda a, b: local.connected_components(a, b, len(a))),
    "quantile_bins": Case(
        (FLOAT,),
        lambda x: local.quantile_bins(x, NUM_BINS),
        lambda x: jnp.searchsorted(jnp.quantile(x, jnp.arange(1, NUM_BINS) / NUM_BINS), x),
    ),
    "segment_normalize": Case(
        (FLOAT, INT), lambda x, s: local.segment_normalize(x, s, NUM_SEGMENTS)
    ),
    "segment_nunique": Case((INT, INT), lambda x, s: local.segment_nunique(x, s, NUM_SEGMENTS)),
    "segment_quantile": Case(
        (FLOAT, INT), lambda x, s: local.segment_quantile(x, s, NUM_SEGMENTS, 0.5)
    ),
    "segment_rank": Case((FLOAT, INT), lambda x, s: local.segment_rank(x, s, NUM_SEGMENTS)),
    "segment_sample": Case((INT,), lambda s: local.segment_sample(_key(), s, NUM_SEGMENTS, 4)),
    "segment_shift": Case((FLOAT, INT), lambda x, s: local.segment_shift(x, s, NUM_SEGMENTS)),
    "segment_softmax": Case((FLOAT, INT), lambda x, s: local.segment_softmax(x, s, NUM_SEGMENTS)),
    "segment_top_k": Case((FLOAT, INT), lambda x, s: local.segment_top_k(x, s, NUM_SEGMENTS, 4)),
}

PEER = "jax.numpy "
# The same work in `jax.numpy`, under the name of the call with `PEER` in front.
PEERS = {
    PEER + name: case._replace(call=case.peer)
    for name, case in CASES.items()
    if case.peer is not None
}
# Compiled by the check of each change: two scans, two sorts, and one of each kind of other op.
QUICK = (
    "inclusive_scan", "segmented_scan", "radix_sort", "radix_sort with a value", "bucket_order",
    "compact", "histogram", "segment_sum", "unique", "top_k",
)  # fmt: skip
