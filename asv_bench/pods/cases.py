# SPDX-License-Identifier: Apache-2.0
"""The calls of the primitives that are compiled for slices of TPU.

Each has 32-bit columns of the same number of rows on every chip, which fill their arrays. The
number of segments, bins or quantiles is the same for every slice.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jaxframes import primitives, shardings

NUM_SEGMENTS = 1024
WORD_BYTES = 4


class Case(NamedTuple):
    """A call over a mesh, and what any program for the same result has to send.

    Attributes:
        dtypes: the columns of the call, by dtype.
        call: the call, given the mesh and the columns.
        moved: words of each row that must reach another chip. Zero where a few numbers from each
            chip suffice.
        once_a_shard: columns with one value for each shard in place of one for each row.
    """

    dtypes: Sequence[str]
    call: Callable[..., Any]
    moved: int = 0
    once_a_shard: Sequence[int] = ()

    def arguments(self, mesh: Mesh, rows_per_chip: int) -> list[jax.ShapeDtypeStruct]:
        """The columns, of shapes alone."""
        by_row = shardings.row_sharded(mesh)
        lengths = [
            mesh.size * (1 if place in self.once_a_shard else rows_per_chip)
            for place in range(len(self.dtypes))
        ]
        return [
            jax.ShapeDtypeStruct((length,), dtype, sharding=by_row)
            for length, dtype in zip(lengths, self.dtypes, strict=True)
        ]

    def sent_at_least(self, num_chips: int, rows_per_chip: int) -> int:
        """Bytes that a chip has to send if every row's destination is equally likely."""
        return math.ceil(self.moved * WORD_BYTES * rows_per_chip * (num_chips - 1) / num_chips)


INT, FLOAT, BOOL = "int32", "float32", "bool"


def set_case(name: str) -> Case:
    operation = getattr(primitives, f"set_{name}")
    return Case((INT, INT), lambda mesh, a, b: operation(a, b, mesh, capacity=len(a)), moved=2)


CASES: dict[str, Case] = {
    "radix_sort": Case(
        (INT, FLOAT), lambda mesh, k, v: primitives.radix_sort(k, mesh, values=v), moved=2
    ),
    "radix_argsort": Case((INT,), lambda mesh, k: primitives.radix_argsort(k, mesh), moved=2),
    "segmented_sort": Case(
        (FLOAT, INT),
        lambda mesh, k, s: primitives.segmented_sort(k, s, mesh, num_segments=NUM_SEGMENTS),
        moved=2,
    ),
    "merge": Case((INT, INT), lambda mesh, a, b: primitives.merge(a, b, mesh), moved=2),
    "partition": Case((FLOAT, INT), lambda mesh, x, to: primitives.partition(x, to, mesh), moved=1),
    "gather_rows": Case(
        (FLOAT, INT), lambda mesh, x, ids: primitives.gather_rows(x, ids, mesh), moved=2
    ),
    "compact": Case(
        (BOOL, FLOAT), lambda mesh, m, x: primitives.compact(m, x, mesh, capacity=len(x)), moved=1
    ),
    "concatenate": Case(
        (FLOAT, FLOAT), lambda mesh, a, b: primitives.concatenate([a, b], mesh=mesh), moved=2
    ),
    "repeat_rows": Case(
        (INT,), lambda mesh, n: primitives.repeat_rows(n, mesh, capacity=len(n)), moved=1
    ),
    "shuffle": Case(
        (FLOAT,), lambda mesh, x: primitives.shuffle(jax.random.key(7), x, mesh), moved=1
    ),
    "sample": Case(
        (FLOAT,),
        lambda mesh, w: primitives.sample(jax.random.key(7), len(w), 64, mesh, weights=w),
    ),
    "segment_sample": Case(
        (INT,),
        lambda mesh, s: primitives.segment_sample(jax.random.key(7), s, NUM_SEGMENTS, 4, mesh),
    ),
    "divide_ragged": Case(
        (FLOAT, INT),
        lambda mesh, x, n: primitives.divide_ragged(
            primitives.Ragged.from_lengths(x, n), mesh, capacity=2 * len(x) // mesh.size
        ),
        moved=1,
        once_a_shard=(1,),
    ),
    "rebalance": Case(
        (FLOAT, INT),
        lambda mesh, x, n: primitives.rebalance(x, n, mesh),
        moved=1,
        once_a_shard=(1,),
    ),
    "reduce_by_key": Case(
        (INT, FLOAT), lambda mesh, k, v: primitives.reduce_by_key(k, v, "sum", mesh), moved=2
    ),
    "unique": Case((INT,), lambda mesh, k: primitives.unique(k, mesh, capacity=len(k)), moved=1),
    "factorize": Case(
        (INT,), lambda mesh, k: primitives.factorize(k, mesh, capacity=len(k)), moved=2
    ),
    "run_length_encode": Case(
        (INT,), lambda mesh, k: primitives.run_length_encode(k, mesh, capacity=len(k)), moved=1
    ),
    "isin": Case((INT, INT), lambda mesh, k, t: primitives.isin(k, t, mesh), moved=3),
    "searchsorted": Case(
        (INT, INT), lambda mesh, k, q: primitives.searchsorted(k, q, mesh), moved=2
    ),
    "set_union": set_case("union"),
    "set_intersection": set_case("intersection"),
    "set_difference": set_case("difference"),
    "join": Case(
        (INT, INT), lambda mesh, a, b: primitives.join(a, b, mesh, capacity=len(a)), moved=4
    ),
    "join_size": Case((INT, INT), lambda mesh, a, b: primitives.join_size(a, b, mesh), moved=2),
    "join_asof": Case((FLOAT, FLOAT), lambda mesh, a, b: primitives.join_asof(a, b, mesh), moved=4),
    "segment_nunique": Case(
        (INT, INT),
        lambda mesh, x, s: primitives.segment_nunique(x, s, NUM_SEGMENTS, mesh),
        moved=2,
    ),
    "segment_quantile": Case(
        (FLOAT, INT),
        lambda mesh, x, s: primitives.segment_quantile(x, s, NUM_SEGMENTS, 0.5, mesh),
        moved=2,
    ),
    "segment_rank": Case(
        (FLOAT, INT), lambda mesh, x, s: primitives.segment_rank(x, s, NUM_SEGMENTS, mesh), moved=3
    ),
    "segment_shift": Case(
        (FLOAT, INT),
        lambda mesh, x, s: primitives.segment_shift(x, s, NUM_SEGMENTS, 1, mesh),
        moved=3,
    ),
    "segment_softmax": Case(
        (FLOAT, INT), lambda mesh, x, s: primitives.segment_softmax(x, s, NUM_SEGMENTS, mesh)
    ),
    "segment_normalize": Case(
        (FLOAT, INT), lambda mesh, x, s: primitives.segment_normalize(x, s, NUM_SEGMENTS, mesh)
    ),
    "bincount": Case(
        (INT, FLOAT),
        lambda mesh, s, x: primitives.bincount(s, NUM_SEGMENTS, mesh, weights=x),
    ),
    "connected_components": Case(
        (INT, INT), lambda mesh, a, b: primitives.connected_components(a, b, 2**16, mesh)
    ),
    "quantile_bins": Case((FLOAT,), lambda mesh, x: primitives.quantile_bins(x, 64, mesh)),
    "inclusive_scan": Case((FLOAT,), lambda mesh, x: primitives.inclusive_scan(x, "add", mesh)),
    "linear_recurrence": Case(
        (FLOAT, FLOAT), lambda mesh, a, b: primitives.linear_recurrence(a, b, mesh)
    ),
    "exclusive_scan": Case((FLOAT,), lambda mesh, x: primitives.exclusive_scan(x, "add", mesh)),
    "segmented_scan": Case(
        (FLOAT, BOOL), lambda mesh, x, h: primitives.segmented_scan(x, "add", mesh, head_flags=h)
    ),
    "windowed_reduce": Case(
        (FLOAT,), lambda mesh, x: primitives.windowed_reduce(x, 16, "sum", mesh)
    ),
    "reduce": Case((FLOAT,), lambda mesh, x: primitives.reduce(x, "sum", mesh)),
    "segment_reduce": Case(
        (FLOAT, INT), lambda mesh, x, s: primitives.segment_reduce(x, s, NUM_SEGMENTS, "sum", mesh)
    ),
    "histogram": Case((FLOAT,), lambda mesh, x: primitives.histogram(x, mesh, bins=256)),
    "digit_histogram": Case((INT,), lambda mesh, k: primitives.digit_histogram(k, 0, 8, mesh)),
    "quantile": Case(
        (FLOAT,), lambda mesh, x: primitives.quantile(x, jnp.array([0.25, 0.5, 0.75]), mesh)
    ),
    "select_rank": Case(
        (FLOAT,), lambda mesh, x: primitives.select_rank(x, jnp.array([0, 100, 10_000]), mesh)
    ),
    "top_k": Case((FLOAT,), lambda mesh, x: primitives.top_k(x, 100, mesh)),
}
