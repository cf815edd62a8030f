# SPDX-License-Identifier: Apache-2.0
"""A call of every op on a few rows: test_matrix puts each through every transformation.

A new op joins by one line of `CASES`: its name, the arrays that it takes, and a call that holds for
all levels. `f` is the function of one of them; `at` holds what only that level takes, `axis_name`
for a collective and `mesh` for a global call.
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxframes import primitives
from jaxframes.primitives import collective, local
from jaxframes.primitives.contract._segment_forms import SEGMENT_OPS
from jaxframes.primitives.local._reduced_columns import REDUCE_OPS

NUM_ROWS = 12
PACKAGES = {"local": local, "collective": collective, "global": primitives}
# Collectives on trees, layers or stages: they take no rows.
TREE_COLLECTIVES = {
    "all_gather", "broadcast", "column_linear", "pipeline_1f1b", "pipeline_gpipe", "pmax", "pmean",
    "pmin", "ppermute", "psum", "psum_scatter", "row_linear", "schedule_1f1b", "shift",
    "stack_stages",
}  # fmt: skip
# Public functions that take no rows.
NOT_OPS = {"backend", "even_share"} | TREE_COLLECTIVES
# `combine` takes what `dispatch` returns, and is in its case, and so do others; a permutation takes
# none.
NOT_OPS |= {"combine", "random_permutation", "combine_from_experts", "lsh_bands", "collect_ragged"}
# Other names of `segment_reduce`, with the same code and documentation.
NAMED_FORMS = {f"segment_{op}" for op in SEGMENT_OPS}

Input = Callable[[int, np.random.Generator], np.ndarray]


class OpCase(NamedTuple):
    """A call of an op and its properties.

    Attributes:
        name: the op, as each of its levels names it.
        inputs: what draws the arrays of the call, all of the same number of rows.
        call: the call, given the function of one level and the arrays.
        fixed: places of the float arrays in which the derivative is not compared with finite
            differences.
        tolerance: what float results may differ by where their rounding depends on the order of
            rows, in units of their precision.
        by_shard: whether a global result says what each shard has, and differs between meshes.
        moved: from the arrays and the result, the rows that a collective must not lose, before
            and after; those of zeros do not count.
    """

    name: str
    inputs: tuple[Input, ...]
    call: Callable[..., Any]
    fixed: tuple[int, ...] = ()
    tolerance: float = 0.0
    by_shard: bool = False
    moved: Callable[..., tuple[Any, Any]] | None = None

    def draw(self, seed: int, num_rows: int = NUM_ROWS) -> tuple[np.ndarray, ...]:
        """The arrays of the call, other ones for each seed."""
        rng = np.random.default_rng(seed)
        return tuple(draw(num_rows, rng) for draw in self.inputs)

    @property
    def variables(self) -> list[int]:
        """Places of the float arrays in which the derivative is compared."""
        floats = [place for place, leaf in enumerate(self.draw(0)) if leaf.dtype == float]
        return [place for place in floats if place not in self.fixed]

    def draw_batch(self, size: int) -> tuple[np.ndarray, ...]:
        """The arrays of several calls, stacked."""
        draws = [self.draw(seed) for seed in range(size)]
        return jax.tree.map(lambda *arrays: np.stack(arrays), *draws)

    def at(self, level: str, **at: Any) -> Callable[..., Any]:
        """The call of one level, as a function of the arrays; what the op does not take goes."""
        function = getattr(PACKAGES[level], self.name)
        parameters = inspect.signature(function).parameters
        at = {name: setting for name, setting in at.items() if name in parameters}
        return functools.partial(self.call, function, **at)

    def is_at(self, level: str) -> bool:
        """Whether a level has the op."""
        return hasattr(PACKAGES[level], self.name)


def ops_of(level: str) -> set[str]:
    """Names of the ops of a level: its exported functions of rows."""
    package = PACKAGES[level]
    exported = {name: getattr(package, name) for name in package.__all__}
    functions = {name for name, value in exported.items() if inspect.isfunction(value)}
    return functions - NOT_OPS - NAMED_FORMS


# What the arrays hold. Floats are eighths, whose sums are exact in any order, and lie further
# apart than a finite difference moves them.


def keys(num_rows: int, rng: np.random.Generator) -> np.ndarray:
    return (rng.permutation(num_rows) - num_rows // 2) / 8


def sorted_keys(num_rows: int, rng: np.random.Generator) -> np.ndarray:
    return np.cumsum(rng.integers(1, 4, num_rows)) / 8 + rng.integers(1, 8) / 64


def few_keys(num_rows: int, rng: np.random.Generator) -> np.ndarray:
    """Keys that tie, which a finite difference would part."""
    return rng.integers(0, 4, num_rows) / 4


def pairs(num_rows: int, rng: np.random.Generator) -> np.ndarray:
    """Two columns, without a zero."""
    return (1 + rng.permutation(2 * num_rows).reshape(num_rows, 2)) / 8


def mask(num_rows: int, rng: np.random.Generator) -> np.ndarray:
    return rng.random(num_rows) < 0.6


def ids(num_rows: int, rng: np.random.Generator) -> np.ndarray:
    """Four segments, buckets or shards."""
    return rng.integers(0, 4, num_rows).astype(np.int32)


# Calls that take more than a line.


def pair(at: dict[str, Any]) -> dict[str, Any]:
    """Repeats a value for both sides of an op."""
    if "num_valid" in at:
        at["num_valid"] = (at["num_valid"],) * 2
    return at


def merge(f: Any, a: Any, b: Any, a_values: Any, b_values: Any, **at: Any) -> Any:
    return f(a, b, values=(a_values, b_values), **pair(at))


def join_asof(f: Any, left: Any, right: Any, left_by: Any, right_by: Any, **at: Any) -> Any:
    by = left_by % 2, right_by % 2
    settings = {"direction": "nearest", "allow_exact": False, "tolerance": 0.5}
    return f(left, right, by=by, **settings, **pair(at))


def rebalance(f: Any, rows: Any, **at: Any) -> Any:
    if "mesh" not in at:
        return f(rows, **{"num_valid": 1 + jax.lax.axis_index("rows"), **at})
    num_shards = at["mesh"].size
    counts = np.arange(num_shards, dtype=np.int32)
    return f(rows[: len(rows) // num_shards * num_shards], counts, **at)


def segment_reduce(f: Any, x: Any, segment_ids: Any, **at: Any) -> Any:
    # Of two that mirror each other one; a standard deviation of zero has no derivative.
    ops = [op for op in SEGMENT_OPS if op not in ("max", "last", "all", "argmax", "std")]
    return {op: f(x, segment_ids, 4, op, fill_value=0, **at) for op in ops}


def inclusive_scan(f: Any, x: Any, rows: Any, **at: Any) -> Any:
    return f(x, "min", **at), f(rows, "add", reverse=True, **at), f(x + 1.5, "mul", **at)


def linear_recurrence(f: Any, b: Any, rows: Any, segment_ids: Any, **at: Any) -> Any:
    a = rows[:, 0] / 4
    by_id = f(a, b, segment_ids=segment_ids, initial=0.5, reverse=True, **at)
    return by_id, f(rows / 4, rows, **at)


def exclusive_scan(f: Any, x: Any, rows: Any, **at: Any) -> Any:
    return f(rows, "add", **at), f((x, rows[:, 0]), affine, initial=(1, 2), **at)


def segmented_scan(f: Any, x: Any, rows: Any, segment_ids: Any, flags: Any, **at: Any) -> Any:
    by_id = functools.partial(f, segment_ids=segment_ids, **at)
    by_head = functools.partial(f, head_flags=flags, **at)
    return (
        by_id(x, "max", reverse=True),
        by_id(rows, "add", exclusive=True),
        by_head((x, rows[:, 0]), affine, exclusive=True, initial=(0.5, 0.25)),
    )


def segmented_scan_by_id(f: Any, x: Any, rows: Any, segment_ids: Any, **at: Any) -> Any:
    by_id = functools.partial(f, segment_ids=segment_ids, is_sorted=False, num_segments=3, **at)
    pair = (x, rows[:, 0])
    return by_id(x, "max", reverse=True), by_id(pair, affine, exclusive=True, initial=(0.5, 0.25))


def segment_rank(f: Any, x: Any, segment_ids: Any, **at: Any) -> Any:
    ranks = {method: f(x, segment_ids, 3, method=method, **at) for method in RANK_METHODS}
    return ranks, f((segment_ids % 2, x), segment_ids // 2, 2, descending=(True, False), **at)


def sample(f: Any, weights: Any, **at: Any) -> Any:
    key, num_rows = jax.random.key(1), weights.shape[0]
    weights = jax.lax.stop_gradient(weights)
    weighted = [f(key, num_rows, 3, weights=weights, replace=one, **at) for one in (False, True)]
    return weighted, f(key, num_rows, 30, replace=True, **at)


def segment_sample(f: Any, segment_ids: Any, weights: Any, **at: Any) -> Any:
    key = jax.random.key(1)
    weighted = f(key, segment_ids, 3, 2, weights=jax.lax.stop_gradient(weights), **at)
    return weighted, f(key, segment_ids, 3, 2, **at)


def pack(f: Any, lengths: Any, **at: Any) -> Any:
    fits = ("next_fit", "first_fit_decreasing", "best_fit_decreasing")
    return [f(lengths, 5, how=how, capacity=NUM_ROWS, **at) for how in fits]


def sketches(f: Any, x: Any, **at: Any) -> Any:
    sets = local.Ragged.from_lengths(x, np.array([5, 0, NUM_ROWS - 5], np.int32))
    signatures = f(sets, 4, **at)
    return signatures, local.lsh_bands(signatures, 2)


def stacked(to: Any) -> Any:
    """Two columns of ids."""
    return jax.numpy.stack([to, to - 1], axis=1)


def dispatch_to_experts(f: Any, rows: Any, to: Any, **at: Any) -> Any:
    sent = f(rows, to, 4, capacity=3, **at)
    dropless = f(rows, to[:, None], 3, **at)
    weights = rows[:, :1]
    return sent, local.combine_from_experts(dropless.rows, dropless.slots, weights)


def spmm(f: Any, to: Any, x: Any, rows: Any, **at: Any) -> Any:
    return f(local.csr_from_coo(to, to[::-1], 3, values=x), rows, **at)


def sddmm(f: Any, to: Any, rows: Any, **at: Any) -> Any:
    return f(local.csr_from_coo(to, to[::-1], 3), rows[:3], rows, **at)


def neighbour_sample(f: Any, to: Any, **at: Any) -> Any:
    graph = local.csr_from_coo(to, to, 4)
    return [f(jax.random.key(1), graph, to, 2, replace=replace, **at) for replace in (False, True)]


def affine(left: Any, right: Any) -> Any:
    return left[0] * right[0], left[1] * right[0] + right[1]


def reduce(f: Any, x: Any, rows: Any, flags: Any, **at: Any) -> Any:
    # Of two that mirror each other one; see `segment_reduce`.
    ops = [op for op in REDUCE_OPS if op not in ("max", "all", "argmax", "std")]
    masked = f([x] * len(ops), ops, where=flags, **at)
    return masked, f(rows, "sum", **at), f(x, "max", transform=square_of_positive, **at)


def square_of_positive(x: Any) -> Any:
    return x * x, x > 0


def windowed_reduce(f: Any, x: Any, rows: Any, flags: Any, to: Any, **at: Any) -> Any:
    # No average is one of an empty window: those are NaN.
    return (
        f((x, rows), 3, "sum", where=(flags, None), **at),
        f(rows, np.array(5), "mean", offset=1, **at),
        f(x, np.array(2), "prod", where=flags, **at),
        f(x, None, "var", **at),
        f(x, np.array(3), "sum", segment_ids=to, **at),
    )


def dispatch(f: Any, rows: Any, to: Any, **at: Any) -> Any:
    sent = f(rows, to % 3, capacity=ROOM, **at)
    return sent, collective.combine(sent.rows, sent.routing)


def divide_ragged(f: Any, rows: Any, **at: Any) -> Any:
    lengths = np.array([3, 0, 1, len(rows) - 6, 2], np.int32)
    ragged = local.Ragged.from_lengths(rows, lengths)
    divided = f(ragged, **at)
    squares = jax.vmap(lambda piece: piece.with_values(piece.values**2))(divided.pieces)
    back = primitives.collect_ragged(
        divided._replace(pieces=squares), at["mesh"], len(lengths), capacity=len(rows)
    )
    return divided, back


def concatenate(f: Any, a: Any, b: Any, **at: Any) -> Any:
    return f([a, b], capacity=2 * NUM_ROWS, **{"num_valid": None, **pair(at)})


def reduce_by_key(f: Any, key: Any, rows: Any, **at: Any) -> Any:
    # One of each kind; they are those of `segment_reduce`.
    ops = ("sum", "count", "var", "first")
    # A sum alone has a kernel of its own.
    alone = f(key, rows, "sum", capacity=NUM_ROWS, **at)
    return f(key, [rows] * len(ops), list(ops), capacity=NUM_ROWS, **at), alone


def factorize(f: Any, key: Any, **at: Any) -> Any:
    in_order = f(key // 0.25, capacity=NUM_ROWS, **at)
    return in_order, f(key, sort=False, capacity=NUM_ROWS, **at)


def unique(f: Any, key: Any, **at: Any) -> Any:
    asked = dict.fromkeys(("return_index", "return_inverse", "return_counts"), True)
    return f(key, capacity=NUM_ROWS, **asked, **at)


RANK_METHODS = ("average", "min", "max", "first", "dense")
RANKS = np.array([0, 7, 7, 10], np.int32)
ROOM = 3 * NUM_ROWS

CASES = (
    OpCase(
        "bucket", (pairs, ids), lambda f, rows, to, **at: f({"pair": rows, "to": to}, to, 4, **at)
    ),
    OpCase(
        "bincount",
        (ids, pairs),
        lambda f, to, rows, **at: (f(to, 3, **at), f(stacked(to), 3, weights=rows, **at)),
        tolerance=8,
    ),
    OpCase("bucket_order", (ids,), lambda f, to, **at: f(to, 4, **at)),
    OpCase(
        "compact",
        (mask, pairs),
        lambda f, flags, rows, **at: f(flags, rows, capacity=NUM_ROWS, **at),
        moved=lambda rows, result: (rows[0][..., None] * rows[1], result.rows),
    ),
    OpCase(
        "concatenate",
        (pairs, pairs),
        concatenate,
        moved=lambda rows, result: (np.concatenate(rows, axis=1), result.rows),
    ),
    OpCase("connected_components", (ids, ids), lambda f, a, b, **at: f(a, 2 * b - 1, 6, **at)),
    OpCase(
        "dispatch",
        (pairs, ids),
        dispatch,
        moved=lambda rows, result: (rows[0], result[0].rows),
    ),
    OpCase("divide_ragged", (pairs,), divide_ragged, by_shard=True),
    OpCase("digit_histogram", (ids,), lambda f, key, **at: f(key, 1, 4, **at)),
    OpCase("exclusive_scan", (keys, pairs), exclusive_scan, tolerance=64),
    OpCase("gather_rows", (pairs, ids), lambda f, rows, to, **at: f(rows, 4 * to - 2, **at)),
    OpCase(
        "histogram",
        (ids, keys),
        lambda f, x, weights, **at: f(x, bins=3, weights=weights, **at),
    ),
    OpCase("inclusive_scan", (keys, pairs), inclusive_scan, tolerance=64),
    OpCase("linear_recurrence", (keys, pairs, ids), linear_recurrence, tolerance=64),
    OpCase("factorize", (keys,), factorize),
    OpCase("integer_range", (ids,), lambda f, x, **at: f(x, **at)),
    OpCase("isin", (ids, ids), lambda f, a, b, **at: f(a, b // 2 + 1, invert=True, **pair(at))),
    OpCase(
        "join", (ids, ids), lambda f, a, b, **at: f(a, b, how="outer", capacity=ROOM, **pair(at))
    ),
    OpCase("join_asof", (keys, few_keys, ids, ids), join_asof),
    OpCase("join_size", (ids, ids), lambda f, a, b, **at: f(a, b, how="left", **pair(at))),
    OpCase(
        "merge",
        (sorted_keys, sorted_keys, pairs, pairs),
        merge,
        moved=lambda rows, result: (np.concatenate(rows[2:], axis=1), result[1]),
    ),
    OpCase("pack", (ids,), pack),
    OpCase(
        "hash_rows", (keys, ids), lambda f, x, to, **at: f(((8 * x).astype(np.int32), to), **at)
    ),
    OpCase("minhash", (ids,), sketches),
    OpCase("dispatch_to_experts", (pairs, ids), dispatch_to_experts, tolerance=4),
    OpCase(
        "exchange_by_owner",
        (pairs, ids),
        lambda f, rows, to, **at: f(lambda rows, count: rows**2, rows, to % 3, capacity=ROOM, **at),
    ),
    OpCase("csr_from_coo", (ids, keys), lambda f, to, x, **at: f(to, to // 2, 3, values=x, **at)),
    OpCase("spmm", (ids, keys, pairs), spmm, tolerance=8),
    OpCase("sddmm", (ids, pairs), sddmm, tolerance=8),
    OpCase("neighbour_sample", (ids,), neighbour_sample),
    OpCase("pairwise_sum", (keys,), lambda f, x, **at: f(x, **at), tolerance=8),
    OpCase(
        "partition",
        (pairs, ids),
        lambda f, rows, to, **at: f(rows, to % 3, capacity=ROOM, **at),
        by_shard=True,
        moved=lambda rows, result: (rows[0], result.rows),
    ),
    OpCase("quantile", (keys,), lambda f, x, **at: f(x, [0.0, 0.25, 0.875], **at), tolerance=4),
    OpCase("quantile_bins", (keys,), lambda f, x, **at: f(x, 3, **at)),
    OpCase("radix_argsort", (keys, ids), lambda f, key, low, **at: f((low, key), **at)),
    OpCase(
        "radix_sort",
        (keys, pairs),
        lambda f, key, rows, **at: f(key, values=rows, descending=True, **at),
        moved=lambda rows, result: (rows[1], result[1]),
    ),
    OpCase(
        "rebalance",
        (pairs,),
        rebalance,
        by_shard=True,
        moved=lambda rows, result: (rows[0], result.rows),
    ),
    OpCase("reduce", (keys, pairs, mask), reduce, tolerance=8),
    OpCase(
        "reduce_by_key",
        (few_keys, keys),
        reduce_by_key,
        fixed=(0,),
        tolerance=8,
        moved=lambda rows, result: (
            rows[1].sum(keepdims=True),
            result[0].values[0].sum(keepdims=True),
        ),
    ),
    OpCase("repeat_rows", (ids,), lambda f, repeats, **at: f(repeats, capacity=ROOM, **at)),
    OpCase(
        "run_length_encode",
        (few_keys,),
        lambda f, key, **at: f(key // 0.5, capacity=NUM_ROWS, **at),
        fixed=(0,),
    ),
    OpCase("sample", (few_keys,), sample),
    OpCase(
        "searchsorted", (sorted_keys, keys), lambda f, key, queries, **at: f(key, queries, **at)
    ),
    OpCase(
        "segment_normalize",
        (keys, pairs, ids),
        lambda f, x, rows, to, **at: f((x, rows), to, 3, epsilon=0.25, **at),
        tolerance=16,
    ),
    OpCase(
        "segment_nunique", (few_keys, ids), lambda f, x, to, **at: f((x, to % 2), to // 2, 2, **at)
    ),
    OpCase(
        "segment_quantile",
        (keys, ids),
        lambda f, x, to, **at: f(x, to, 3, [0.0, 0.25, 0.875], **at),
        tolerance=4,
    ),
    OpCase("segment_rank", (few_keys, ids), segment_rank, fixed=(0,)),
    OpCase("segment_sample", (ids, few_keys), segment_sample),
    OpCase("segment_reduce", (keys, ids), segment_reduce, tolerance=8),
    OpCase(
        "segment_shift",
        (keys, pairs, ids),
        lambda f, x, rows, to, **at: f((x, rows), to, 3, -1, fill_value=7, **at),
    ),
    OpCase(
        "segment_softmax",
        (keys, pairs, ids),
        lambda f, x, rows, to, **at: f((x, rows), to, 3, **at),
        tolerance=16,
    ),
    OpCase(
        "segmented_sort",
        (keys, ids, pairs),
        lambda f, key, segment, rows, **at: f(key, segment, values=rows, **at),
        moved=lambda rows, result: (rows[2], result[1]),
    ),
    OpCase("segmented_scan", (keys, pairs, ids, mask), segmented_scan, tolerance=64),
    OpCase("segmented_scan", (keys, pairs, ids), segmented_scan_by_id, tolerance=64),
    OpCase(
        "shuffle",
        (pairs, ids),
        lambda f, rows, to, **at: f(jax.random.key(1), (rows, to), **at),
        moved=lambda rows, result: (rows[0], result[0]),
    ),
    OpCase("select_rank", (keys,), lambda f, x, **at: f(x, RANKS, **at)),
    *(
        OpCase(
            f"set_{name}",
            (keys, keys),
            lambda f, a, b, **at: f(a, b + 0.5, capacity=2 * NUM_ROWS, **pair(at)),
        )
        for name in ("union", "intersection", "difference")
    ),
    OpCase("segment_top_k", (keys, ids), lambda f, x, to, **at: f(x, to, 3, 2, **at)),
    OpCase("top_k", (keys,), lambda f, x, **at: f(x, 4, largest=False, **at)),
    OpCase("unique", (few_keys,), unique, fixed=(0,)),
    OpCase("windowed_reduce", (keys, pairs, mask, ids), windowed_reduce, tolerance=64),
)
