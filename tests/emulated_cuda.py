# SPDX-License-Identifier: Apache-2.0
"""The CUDA kernels as functions of NumPy: what each target promises, for programs on CPU.

They follow the contracts in `primitives/kernels`, so that tests see what the code around the
kernels does with their results. Scratch memory has no bytes.
"""

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from unittest import mock

import jax
import numpy as np
from jaxframes.primitives.contract._platform import traced_for
from jaxframes.primitives.contract._scan_operators import NAMED_OPERATORS
from jaxframes.primitives.kernels.base import _cuda
from jaxframes.primitives.kernels.move import _compact
from jaxframes.primitives.kernels.sort import _radix_sort

_REDUCE = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}
# JAX's caches tell what is traced with the functions from other programs for CUDA.
_is_emulated = jax.make_user_context(False)
_called: list[str] = []


@contextlib.contextmanager
def kernels_for_cuda() -> Iterator[list[str]]:
    """Traces for CUDA, with the functions in place of the kernels; lists the calls that run."""

    class Sizes:
        def __getattr__(self, name: str) -> Callable[..., int]:
            return lambda *arguments: 0

    def call(
        target: str, arrays: Sequence[Any], results: Sequence[Any], **attributes: Any
    ) -> tuple[Any, ...]:
        name = target.removeprefix("jaxframes_cuda_").rpartition("_v")[0]
        shapes = [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in results]

        def on_host(*given: Any) -> tuple[Any, ...]:
            _called.append(name)
            found = _KERNELS[name]([np.asarray(array)[0] for array in given], shapes, attributes)
            return tuple(
                np.asarray(array, shape.dtype).reshape(shape.shape)
                for array, shape in zip(found, shapes, strict=True)
            )

        return jax.pure_callback(on_host, tuple(shapes), *arrays, vmap_method="sequential")

    loaded = _cuda.CudaKernels(Sizes(), "", False)  # pyright: ignore[reportArgumentType]
    _called.clear()
    with (
        traced_for("cuda"),
        _is_emulated(True),
        mock.patch.object(_cuda, "load_cuda", return_value=loaded),
        mock.patch.object(_cuda, "call", call),
        mock.patch.object(_compact, "call", call),
        mock.patch.object(_radix_sort, "call", call),
    ):
        yield _called


def run_emulated(function: Callable[..., Any], *arguments: Any) -> tuple[Any, list[str]]:
    """The results of a jitted function with these kernels, and the calls of them."""
    with kernels_for_cuda() as called:
        return jax.block_until_ready(jax.jit(function)(*arguments)), list(called)


def _ordered(words: Any, attributes: Any) -> Any:
    """The unsigned integers of words, as Python's, which have any size."""
    bits, flip = int(attributes["bits"]), int(attributes["flip"])
    width = 8 * words.dtype.itemsize
    unsigned = words.view(f"uint{width}")
    if words.dtype.kind == "f":
        clean = np.where(np.isnan(words), np.nan, words + 0.0)
        # NaN comes last in both directions.
        ranks = np.unique(clean if not flip else -clean, return_inverse=True)[1]
        return ranks.reshape(words.shape)
    mask = (1 << bits) - 1
    return np.array([(int(word) ^ flip) & mask for word in unsigned], object)


def _order(words: Any, num_valid: Any, attributes: Any) -> Any:
    order = np.argsort(_ordered(words, attributes)[:num_valid], kind="stable")
    return np.concatenate([order, np.arange(num_valid, words.size)]).astype(np.int32)


def _argsort(arrays: Any, results: Any, attributes: Any) -> Any:
    words, num_valid = arrays
    return _order(words, num_valid, attributes), np.zeros(0)


def _sort_keys(arrays: Any, results: Any, attributes: Any) -> Any:
    words, num_valid = arrays
    return words[_order(words, num_valid, attributes)], np.zeros(0)


def _sort_pairs(arrays: Any, results: Any, attributes: Any) -> Any:
    words, row_ids, num_valid = arrays
    order = _order(words, num_valid, attributes)
    moved = words[order]
    if attributes["in_order"] and attributes["bits"] == 8 * words.dtype.itemsize:
        assert words.dtype.kind != "f"
        numbers = _ordered(moved, attributes).astype(f"uint{8 * words.dtype.itemsize}")
        # Those of padding are arbitrary.
        numbers[num_valid:] = 7
        moved = numbers.view(words.dtype)
    return moved, row_ids[order] if row_ids.size else order, np.zeros(0)


def _sort_rows(arrays: Any, results: Any, attributes: Any) -> Any:
    words, num_valid, *columns = arrays
    order = _order(words, num_valid, attributes)
    return np.zeros(0), *(column[order] for column in columns)


def _bucket_order(arrays: Any, results: Any, attributes: Any) -> Any:
    ids, num_valid = arrays
    num_buckets = results[2].shape[0] - 1
    # Ids outside the buckets come last, then padding.
    ids = np.where((ids >= 0) & (ids < num_buckets), ids, num_buckets)
    ids[num_valid:] = num_buckets + 1
    order = np.argsort(ids, kind="stable")
    offsets = np.searchsorted(ids[order], np.arange(num_buckets + 1))
    return order, np.argsort(order)[: results[1].shape[0]], offsets, np.zeros(0)


def _merge(arrays: Any, results: Any, attributes: Any) -> Any:
    a, b, num_a, num_b = arrays
    words = np.concatenate([a, b])
    valid = np.concatenate([np.arange(num_a), a.size + np.arange(num_b)])
    padding = np.concatenate([np.arange(num_a, a.size), np.arange(a.size + num_b, words.size)])
    ordered = _ordered(words, {**attributes, "bits": 8 * words.dtype.itemsize})
    # A merge of sides that ascend is a stable sort of both.
    assert all(np.all(side[1:] >= side[:-1]) for side in np.split(ordered[valid], [num_a]))
    positions = np.append(valid[np.argsort(ordered[valid], kind="stable")], padding)
    positions = positions.astype(np.int32)
    return words[positions][: results[0].size], positions[: results[1].size]


def _search(arrays: Any, results: Any, attributes: Any) -> Any:
    words, queries, num_valid = arrays
    side = "right" if attributes["counts_equal"] else "left"
    return (np.searchsorted(words[:num_valid], queries, side),)


def _count_flags(arrays: Any, results: Any, attributes: Any) -> Any:
    mask, num_valid = arrays
    flags = mask & (np.arange(mask.size) < num_valid)
    num_chunks = results[0].shape[0]
    return [flags[: chunk << 16].sum() for chunk in range(num_chunks)], flags.sum()


def _flagged_rows(arrays: Any, results: Any, attributes: Any) -> Any:
    mask, _, count, *columns = arrays
    (rows,) = np.nonzero(mask)
    if len(results) > len(columns):
        columns = [np.arange(mask.size, dtype=np.int32), *columns]
    for column, result in zip(columns, results, strict=True):
        kept = np.zeros(result.shape, column.dtype)
        chosen = column[rows[:count]][: kept.size]
        kept[: chosen.size] = chosen
        yield kept


def _repeat_rows(arrays: Any, results: Any, attributes: Any) -> Any:
    capacity = results[0].shape[0]
    given, num_valid = arrays
    repeats = np.where(np.arange(given.size) < num_valid, np.maximum(given.astype(np.int64), 0), 0)
    # No row may have more copies than fit, or NumPy would run out of memory.
    rows = np.repeat(np.arange(repeats.size), np.minimum(repeats, capacity + 1))[:capacity]
    ends = np.cumsum(repeats)
    copies = np.arange(rows.size) - (ends - repeats)[rows]
    padding = (0, capacity - rows.size)
    items = np.pad(rows, padding, constant_values=-1)
    return items, np.pad(copies, padding), min(ends[-1], 2**31 - 1), np.zeros(0)


def _reduce_by_key(arrays: Any, results: Any, attributes: Any) -> Any:
    values, heads, num_valid, row_ids, *columns = arrays
    if not heads.size:
        words = columns[0].view(f"u{columns[0].dtype.itemsize}")
        heads = np.concatenate([[True], words[1:] != words[:-1]])
    begins = np.flatnonzero(heads[:num_valid])
    reduced = np.zeros(results[0].shape, values.dtype)
    if results[0].size and not values.size:
        lengths = np.diff(np.append(begins, num_valid))
        reduced[: lengths.size] = lengths[: reduced.size]
    elif begins.size and values.size:
        operator = _REDUCE[NAMED_OPERATORS[attributes["op"]]]
        runs = operator.reduceat(values[:num_valid], begins, dtype=values.dtype)
        reduced[: runs.size] = runs[: reduced.size]
    # No run is longer than the valid rows.
    size = heads.size
    is_valid = np.arange(size) < num_valid
    run_ids = np.where(is_valid, np.searchsorted(begins, np.arange(size), "right") - 1, -1)
    if row_ids.size:
        run_ids[row_ids] = run_ids.copy()
    yield from (reduced, begins.size, run_ids[: results[2].size], np.zeros(0))
    for column, result in zip(columns, results[4:], strict=True):
        kept = np.zeros(result.shape, column.dtype)
        firsts = column[begins][: kept.size]
        kept[: firsts.size] = firsts
        yield kept


def _match_rows(arrays: Any, results: Any, attributes: Any) -> Any:
    words, row_ids, num_left, num_right = arrays
    begins, num_matches = (np.zeros(results[0].shape, np.int32) for _ in range(2))
    right_rows = np.zeros(results[2].shape, np.int32)
    if attributes["outer"]:
        begins[num_left + num_right :] = -2
    words, row_ids = (array[: num_left + num_right] for array in (words, row_ids))
    words = words.view(f"u{words.dtype.itemsize}")
    right_rows[:num_right] = row_ids[row_ids < num_right]
    for run in np.split(np.arange(words.size), np.flatnonzero(words[1:] != words[:-1]) + 1):
        is_right = row_ids[run] < num_right
        matches, left_rows = is_right.sum(), row_ids[run][~is_right] - num_right
        assert is_right[:matches].all()
        if attributes["outer"]:
            begins[run] = np.where(is_right, -1, row_ids[run] - num_right)
            num_matches[run] = np.where(is_right, 0, matches)
            if run.size and not left_rows.size:
                num_matches[run[-1]] = matches
        elif left_rows.size:
            before = (row_ids[: run[0]] < num_right).sum()
            begins[left_rows] = before
            num_matches[left_rows] = matches
            if run[0] + matches > 0 and row_ids[run[0] + matches - 1] < num_right:
                begins[left_rows[0]] = ~before
    return begins, num_matches, right_rows, np.zeros(0)


def _segment_sum(arrays: Any, results: Any, attributes: Any) -> Any:
    ids, first_id, num_valid, numbers = arrays
    ids = np.where(np.arange(ids.size) < num_valid, ids - first_id, -1)
    return _folded("add", ids, numbers, 0, results[0].shape[0]), np.zeros(0)


def _segment_statistic(arrays: Any, results: Any, attributes: Any) -> Any:
    ids, numbers = arrays
    size, number = results[0].shape[0], numbers.dtype.type
    names = ("prod", "mean", "var", "std", "exponentials", "logsumexp")
    statistic = names[attributes["statistic"]]
    # Rows without a segment have a center of their own.
    places = np.where((ids >= 0) & (ids < size), ids, size)

    def quotient(totals: Any, counts: Any) -> Any:
        found = np.full(size, np.nan, numbers.dtype)
        return np.divide(totals, counts, where=counts > 0, out=found)

    with np.errstate(all="ignore"):
        if statistic == "prod":
            return _folded("mul", ids, numbers, 1, size), np.zeros(0), np.zeros(0)
        counts = _folded("add", ids, np.ones_like(numbers), 0, size)
        if statistic in ("exponentials", "logsumexp"):
            greatest = _folded("max", ids, numbers, -np.inf, size)
            centers = np.where(np.isfinite(greatest), greatest, number(0))
            exponentials = np.exp(numbers - np.append(centers, number(0))[places])
            totals = _folded("add", ids, exponentials, 0, size)
            is_sum = statistic == "exponentials"
            return totals if is_sum else np.log(totals) + centers, centers, np.zeros(0)
        means = quotient(_folded("add", ids, numbers, 0, size), counts)
        if statistic == "mean":
            return means, np.zeros(0), np.zeros(0)
        distances = numbers - np.append(means, number(0))[places]
        squares = _folded("add", ids, distances * distances, 0, size)
        variance = quotient(squares, counts - number(attributes["ddof"]))
        return variance if statistic == "var" else np.sqrt(variance), means, np.zeros(0)


def _pairwise_sum(arrays: Any, results: Any, attributes: Any) -> Any:
    numbers, num_valid, centers = arrays
    terms = numbers[:num_valid].astype(results[0].dtype)
    if centers.size:
        is_skipped = attributes["skips_nan"] & np.isnan(terms)
        terms = np.where(is_skipped, 0, (terms - centers[0]) ** 2)
    # Nearly always the sum that is rounded once.
    return math.fsum(terms) if np.isfinite(terms).all() else terms.sum(), np.zeros(0)


def _folded(op: str, ids: Any, numbers: Any, initial: Any, num_segments: int) -> Any:
    table = np.full(num_segments, initial, numbers.dtype)
    is_inside = (ids >= 0) & (ids < num_segments)
    _REDUCE[op].at(table, ids[is_inside], numbers[is_inside])
    return table


def _segment_reduce(arrays: Any, results: Any, attributes: Any) -> Any:
    ids, rows = arrays
    form = ("numbers", "truth", "first rows")[attributes["form"]]
    op = ("add", "min", "max")[attributes["op"]]
    positions = np.arange(ids.size)
    if not rows.size:
        numbers = np.ones_like(positions) if op == "add" else positions
    elif form == "truth":
        numbers = rows != 0
    elif rows.dtype.kind == "f":
        numbers = _words_of_floats(rows if form == "numbers" else rows + 0.0, op)
    elif form == "first rows" and rows.dtype == np.int32:
        numbers = rows.view(np.uint32) ^ np.uint32(2**31)
    else:
        numbers = rows
    dtype = results[0].dtype
    if form == "first rows":
        halves = positions if op == "min" else 2**32 - 1 - positions
        numbers, dtype = numbers.astype(np.uint64) << np.uint64(32) | halves.astype(np.uint64), "u8"
    limits = np.iinfo(dtype)
    nothing = {"add": 0, "min": limits.max, "max": limits.min}[op]
    table = np.full(results[0].size * results[0].dtype.itemsize // limits.dtype.itemsize, nothing)
    table = table.astype(dtype)
    is_inside = (ids >= 0) & (ids < table.size)
    _REDUCE[op].at(table, ids[is_inside], numbers[is_inside].astype(dtype))
    return (table.view(results[0].dtype),)


def _words_of_floats(rows: Any, op: str) -> Any:
    """The integers of `extreme_words`, from the order of the numbers' bits."""
    word = np.dtype(f"uint{8 * rows.dtype.itemsize}")
    signed = rows.view(f"int{8 * rows.dtype.itemsize}")
    sign = word.type(np.iinfo(word).max // 2 + 1)
    words = np.where(signed < 0, ~rows.view(word), rows.view(word) | sign)
    return np.where(np.isnan(rows), np.iinfo(word).max if op == "max" else 0, words).astype(word)


_KERNELS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "radix_argsort": _argsort,
    "radix_sort_keys": _sort_keys,
    "radix_sort_pairs": _sort_pairs,
    "radix_sort_rows": _sort_rows,
    "bucket_order": _bucket_order,
    "merge": _merge,
    "search": _search,
    "count_flags": _count_flags,
    "flagged_rows": _flagged_rows,
    "repeat_rows": _repeat_rows,
    "reduce_by_key": _reduce_by_key,
    "match_rows": _match_rows,
    "segment_sum": _segment_sum,
    "segment_statistic": _segment_statistic,
    "pairwise_sum": _pairwise_sum,
    "segment_reduce": _segment_reduce,
}
