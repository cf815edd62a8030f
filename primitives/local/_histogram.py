# SPDX-License-Identifier: Apache-2.0
"""Histograms: of numbers by bin, as in NumPy, and of keys by digit."""

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ...shardings._compat import is_x64_enabled, like_varying
from ..contract._arguments import as_array, as_key, as_num_valid, as_static_int, placed, type_of
from ..contract._key_bits import ordered_word
from ..contract._platform import by_platform
from ..contract._typing import Array, ArrayLike, Int, Integer, Shaped
from ..kernels.base._cuda import on_cuda
from ..kernels.base._pallas import on_tpu
from ..kernels.reduce._histogram import READ_DTYPES, bin_ids, count_bins
from ..kernels.reduce._segments_on_tpu import can_count_on_tpu, counts_on_tpu
from ..kernels.reduce._tables_cuda import MOST_COUNTED_SEGMENTS, count_in_tables
from ..tiers._tiered import tiered
from ._one_device import OneDevice
from ._segment_ops import Segments, reduce_sum

# The updates of a block stay in the cache; see `_count_in_blocks` of `_segments`.
_BLOCK_ROWS = 2**19


class Histogram(NamedTuple):
    """Counts and edges of bins: bin `b` lies between `edges[b]` and `edges[b + 1]`."""

    counts: Shaped[Array, " bins"]
    edges: Shaped[Array, " bins+1"]


def histogram(
    x: ArrayLike,
    *,
    bins: int | None = None,
    edges: ArrayLike | None = None,
    range: Sequence[Any] | None = None,
    weights: ArrayLike | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> Histogram:
    """Counts numbers in equal bins or between given edges, by the rules of `numpy.histogram`.

    A bin includes its left edge and excludes its right one; the last bin includes both. NaN and
    numbers outside all bins are dropped.

    Args:
        x: array of shape `(rows,)`, of any key dtype.
        bins: number of equal bins. Static; ten by default.
        edges: the edges of the bins, an ascending array of two or more, an alternative to `bins`.
        range: the outer edges of equal bins, two numbers; by default the smallest and the largest
            finite number of `x`, widened by a half on each side if they are equal.
        weights: weight of each row, an array of shape `(rows,)`; one by default.
        num_valid: number of valid rows, at the front; all rows by default.

    Returns:
        `Histogram(counts, edges)`. Counts are int32, or of the dtype of `weights` (int32
        for bool). Equal edges are of the dtype of a float `x`, otherwise of JAX's default float.

    Raises:
        TypeError: a dtype that has no order, or `bins` is traced.
        ValueError: `bins` is less than one, there are fewer than two edges, both are given,
            concrete edges do not ascend, a concrete `range` is not finite and ascending, or lengths
            differ.

    Cost:
        Work O(rows) for equal bins, O(rows x log(bins)) for given edges. No communication.

    Guarantees:
        Deterministic; counts and edges equal NumPy's bit for bit while bins are wider than the
        rounding error; differentiable in `weights`, which are added as in `segment_sum`. On GPU XLA
        does not round quotients of float32 exactly, so equal edges of float32 may differ from
        NumPy's by a few units in the last place; rows are counted by the returned edges.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> counted = local.histogram(jnp.array([1.0, 2.0, 2.5, 5.0]), bins=2)
        >>> counted.counts.tolist(), counted.edges.tolist()
        ([3, 1], [1.0, 3.0, 5.0])
    """
    caller = "histogram"
    column, *settings = as_histogram_arguments(caller, x, bins, edges, range, weights)
    if num_valid is not None:
        num_valid = as_num_valid(num_valid, column.shape[0], caller)
    return count_rows(column, *settings, num_valid, OneDevice())


def as_histogram_arguments(
    caller: str, x: Any, bins: Any, edges: Any, range: Any, weights: Any, num_shards: int = 1
) -> tuple[Array, int | None, Array | None, Array | None, Array | None]:
    """Checks the arguments; returns the column, the number of bins if edges must be computed, the
    edges or the outer edges if known, and the weights.
    """
    column = as_key(x, caller, num_shards=num_shards)
    if weights is not None:
        weights = as_array(weights, caller, "weights")
        if weights.shape != column.shape:
            raise ValueError(
                f"{caller}: weights must have one entry for each of the {column.shape[0]} rows, "
                f"got {type_of(weights)}."
            )
    if edges is not None:
        if bins is not None or range is not None:
            other = "bins" if bins is not None else "range"
            raise ValueError(f"{caller}: edges must be given without {other}, got both.")
        edges = _as_edges(edges, caller)
        _check_comparable(column, edges, caller)
        return column, None, edges, None, weights
    num_bins = 10 if bins is None else as_static_int(bins, caller, "bins", 1, 2**31 - 2)
    if range is None:
        return column, num_bins, None, None, weights
    if not hasattr(range, "__len__") or len(range) != 2:
        raise ValueError(f"{caller}: range must be two numbers, got {type_of(range)}.")
    dtype = edge_dtype(column.dtype)
    if any(isinstance(end, jax.Array) for end in range):
        ends = [as_array(end, caller, "range").astype(dtype).reshape(()) for end in range]
        return column, num_bins, None, jnp.stack(ends), weights
    try:
        first, last = (float(end) for end in range)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{caller}: range must be two numbers, got {tuple(range)!r}.") from None
    if not (np.isfinite(first) and np.isfinite(last) and range[0] <= range[1]):
        raise ValueError(
            f"{caller}: range must be two finite ascending numbers, got {tuple(range)!r}."
        )
    first, last = (float(end) if isinstance(end, int) else end for end in range)
    if first == last:
        first, last = first - 0.5, last + 0.5
    # As in NumPy, which computes in 64 bits and rounds to the dtype of the data.
    scale = 1.0 if np.isfinite(last - first) else 0.5
    known = np.linspace(first * scale, last * scale, num_bins + 1) / scale
    known = known.astype(dtype)
    return column, num_bins, placed(known), None, weights


def _as_edges(edges: Any, caller: str) -> Array:
    array = as_array(edges, caller, "edges")
    if array.ndim != 1 or array.shape[0] < 2:
        raise ValueError(f"{caller}: edges must be an array of two or more, got {type_of(array)}.")
    if not isinstance(edges, jax.Array):
        known = np.asarray(edges)
        if not np.all(known[:-1] <= known[1:]):
            raise ValueError(
                f"{caller}: edges must ascend, got {type_of(array)} out of order. Sort them."
            )
    return array


def _check_comparable(column: Array, edges: Array, caller: str) -> None:
    pair = {column.dtype.name, edges.dtype.name}
    if "uint32" in pair and pair & {"int8", "int16", "int32"} and not is_x64_enabled():
        raise TypeError(
            f"{caller}: x and edges must be both signed or both unsigned without JAX's x64 mode, "
            f"got {type_of(column)} and {type_of(edges)}. Cast one of them."
        )


def edge_dtype(dtype: Any) -> Any:
    """The dtype of equal edges for data of a dtype."""
    is_float = jnp.issubdtype(dtype, jnp.floating)
    return dtype if is_float else jax.dtypes.canonicalize_dtype(float)


@functools.partial(tiered, static_argnums=(1, 6))
def count_rows(
    column: Array,
    num_bins: int | None,
    edges: Array | None,
    ends: Array | None,
    weights: Array | None,
    num_valid: Array | None,
    over: Any,
) -> Histogram:
    """Counts checked arguments, on one device or over shards."""
    column = jax.lax.stop_gradient(column)
    if edges is None:
        assert num_bins is not None
        if ends is None:
            edges = _edges_of_data(column, num_bins, num_valid, over)
        else:
            edges = equal_edges(ends, num_bins)
    x, compared_edges = _comparable(column, edges)
    is_uniform = num_bins is not None
    if num_valid is None:
        num_valid = jnp.asarray(column.shape[0], jnp.int32)
    if weights is None:
        counts = over.total(count_bins(x, compared_edges, num_valid, is_uniform))
        return Histogram(counts, edges)
    ids = bin_ids(x.astype(compared_edges.dtype), compared_edges, num_valid, is_uniform)
    sums = reduce_sum(weights, Segments(ids, edges.shape[0] - 1, over), 0)
    return Histogram(sums, edges)


def _edges_of_data(column: Array, num_bins: int, num_valid: Array | None, over: Any) -> Array:
    """Equal edges from the smallest finite number to the largest, or from zero to one."""
    dtype = edge_dtype(column.dtype)
    if column.dtype.itemsize < 4:
        is_float = jnp.issubdtype(column.dtype, jnp.floating)
        column = column.astype(jnp.float32 if is_float else jnp.int32)
    ends = by_platform(column, num_valid, default=_extremes, **on_cuda(_extremes_at_once))
    least, greatest = (
        over.extreme(end, is_max) for end, is_max in zip(ends, (False, True), strict=True)
    )
    edges = equal_edges(jnp.stack([least, greatest]).astype(dtype), num_bins)
    empty = jnp.asarray(np.linspace(0, 1, num_bins + 1, dtype=dtype))
    return jnp.where(least > greatest, empty, edges)


def _extremes(numbers: Array, num_valid: Array | None) -> tuple[Array, Array]:
    """The least and the greatest finite number."""
    return _extreme(numbers, num_valid, False), _extreme(numbers, num_valid, True)


def _extremes_at_once(numbers: Array, num_valid: Array | None) -> tuple[Array, Array]:
    """`_extremes` by one reduction of pairs, for CUDA: two would end in a kernel each."""
    identities = _identity(numbers.dtype, False), _identity(numbers.dtype, True)
    is_number = _is_finite(numbers, num_valid)
    pairs = tuple(jnp.where(is_number, numbers, identity) for identity in identities)

    def of_two(a: Any, b: Any) -> Any:
        return jnp.minimum(a[0], b[0]), jnp.maximum(a[1], b[1])

    return tuple(jax.lax.reduce(pairs, identities, of_two, (0,)))


def _is_finite(numbers: Array, num_valid: Array | None) -> Array:
    is_number = jnp.isfinite(numbers)
    if num_valid is not None:
        is_number &= jax.lax.iota(jnp.int32, numbers.shape[0]) < num_valid
    return is_number


def _identity(dtype: Any, is_max: bool) -> Array:
    limits = jnp.finfo(dtype) if jnp.issubdtype(dtype, jnp.floating) else jnp.iinfo(dtype)
    return jnp.asarray(limits.min if is_max else limits.max, dtype)


def _extreme(numbers: Array, num_valid: Array | None, is_max: bool) -> Array:
    reduce = jnp.max if is_max else jnp.min
    identity = _identity(numbers.dtype, is_max)

    def of_finite(numbers: Array) -> Array:
        is_number = _is_finite(numbers, num_valid)
        return reduce(jnp.where(is_number, numbers, identity), initial=identity)

    def of_all(numbers: Array) -> Array:
        # One pass that XLA vectorizes; a second one only after a NaN or an infinity.
        extreme = reduce(numbers)
        return jax.lax.cond(jnp.isfinite(extreme), lambda _: extreme, of_finite, numbers)

    if num_valid is not None or not numbers.size:
        return of_finite(numbers)
    is_float = jnp.issubdtype(numbers.dtype, jnp.floating)
    return of_all(numbers) if is_float else reduce(numbers)


def equal_edges(ends: Array, num_bins: int) -> Array:
    """`numpy.linspace` between the outer edges, rounded after each step as NumPy rounds."""
    dtype = ends.dtype
    half = jnp.where(ends[0] == ends[1], 0.5, 0).astype(dtype)
    first, last = _rounded(ends[0] - half, dtype), _rounded(ends[1] + half, dtype)
    # The compiler would turn a constant divisor into a factor, which rounds differently.
    divisor = jnp.where(first < last, num_bins, 1).astype(first.dtype)
    # The distance of the outer edges may overflow, that of their halves cannot.
    is_far = ~jnp.isfinite(_rounded(last - first, dtype))
    scale = jnp.where(is_far, 0.5, 1).astype(first.dtype)
    start, end = first * scale, last * scale
    step = _rounded(_rounded(end - start, dtype) / divisor, dtype)
    edge_numbers = jax.lax.iota(jnp.int32, num_bins + 1).astype(first.dtype)
    # No step is negative. `abs` stops compilers from fusing product and sum into one operation,
    # which would round once.
    edges = _rounded(jnp.abs(_rounded(edge_numbers * step, dtype)) + start, dtype) / scale
    return edges.at[num_bins].set(last).astype(dtype)


def _rounded(number: Array, dtype: Any) -> Array:
    """Rounds a number to the precision of a dtype; the result is at least float32."""
    if np.dtype(dtype).itemsize >= 4:
        return number
    limits = jnp.finfo(dtype)
    return jax.lax.reduce_precision(number.astype(jnp.float32), limits.nexp, limits.nmant)


def _comparable(column: Array, edges: Array) -> tuple[Array, Array]:
    """Casts numbers and edges to a dtype that compares as NumPy does and that the kernel reads."""
    is_float = [jnp.issubdtype(leaf.dtype, jnp.floating) for leaf in (column, edges)]
    if not any(is_float):
        dtype = np.result_type(column.dtype, edges.dtype)
        if dtype.kind != "f":
            dtype = dtype if dtype.itemsize >= 4 else np.dtype(np.int32)
            return column.astype(dtype), edges.astype(dtype)
    # Integers are compared as JAX's default float.
    default = np.dtype(jax.dtypes.canonicalize_dtype(float))
    item_bytes = [
        leaf.dtype.itemsize if leaf_is_float else default.itemsize
        for leaf, leaf_is_float in zip((column, edges), is_float, strict=True)
    ]
    dtype = np.dtype(np.float64 if max(item_bytes) == 8 else np.float32)
    edges = edges.astype(dtype)
    if dtype.itemsize == 4 and column.dtype.name in ("int32", "uint32"):
        return _as_float32(column, edges[-1]), edges
    if column.dtype.name in READ_DTYPES and column.dtype.itemsize <= dtype.itemsize:
        return column, edges
    return column.astype(dtype), edges


def _as_float32(numbers: Array, last_edge: Array) -> Array:
    """Integers of 32 bits as float32 that lie in the same bins between edges of float32.

    They are rounded down, which takes none below an edge that it is not below. One just above the
    last edge would come down to it, and becomes infinite.
    """
    limit = np.float32(2.0 ** (32 if numbers.dtype == jnp.uint32 else 31))
    nearest = numbers.astype(jnp.float32)
    is_held = nearest < limit
    back = jnp.where(is_held, nearest, 0).astype(numbers.dtype)
    is_above = ~is_held | (back > numbers)
    rounded = jnp.where(is_above, jnp.nextafter(nearest, np.float32(-np.inf)), nearest)
    is_past_last = (rounded == last_edge) & (is_above | (back < numbers))
    return jnp.where(is_past_last, np.float32(np.inf), rounded)


def digit_histogram(
    keys: ArrayLike,
    shift: int,
    bits: int,
    *,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> Int[Array, " digits"]:
    """Counts keys by one digit of their radix-sort order.

    The digit is bits `shift` to `shift + bits` of the key's ordered word: an unsigned integer
    unchanged, a signed one with its sign bit flipped, a float of 32 or 64 bits by its ordered bits.

    Args:
        keys: array of shape `(rows,)`, of any key dtype.
        shift: the lowest bit of the digit. Static.
        bits: number of bits of the digit, 24 at most. Static.
        num_valid: number of valid rows, at the front; all rows by default.

    Returns:
        The counts of the digits from 0 to `2**bits - 1`, int32.

    Raises:
        TypeError: a dtype that is not a key dtype, or `shift` or `bits` is traced.
        ValueError: the digit is outside the key's bits.

    Cost:
        Work O(rows + 2**bits). No communication.

    Guarantees:
        Deterministic; integers have no derivative.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> local.digit_histogram(jnp.array([0x1F, 0x20, 0x2A], jnp.uint8), 4, 2).tolist()
        [0, 1, 2, 0]
    """
    caller = "digit_histogram"
    column, shift, bits = as_digit_arguments(caller, keys, shift, bits)
    return count_digits(column, as_num_valid(num_valid, column.shape[0], caller), shift, bits)


def as_digit_arguments(
    caller: str, keys: Any, shift: Any, bits: Any, num_shards: int = 1
) -> tuple[Array, int, int]:
    """Checks the keys and the digit."""
    column = as_key(keys, caller, "keys", num_shards)
    width = 1 if column.dtype == jnp.bool_ else 8 * column.dtype.itemsize
    shift = as_static_int(shift, caller, "shift", 0, width - 1)
    return column, shift, as_static_int(bits, caller, "bits", 1, min(24, width - shift))


@functools.partial(tiered, static_argnums=(2, 3))
def count_digits(column: Array, num_valid: Array, shift: int, bits: int) -> Array:
    """Counts checked arguments, a block at a time.

    On CPU a scatter is fast while its ids stay in cache: 10 million bytes take 5 to 10 ms in
    blocks, and 57 ms at once.
    """
    column = jax.lax.stop_gradient(column)

    def by_scatter(column: Array, num_valid: Array) -> Array:
        return _count_digits_in_blocks(column, num_valid, shift, bits)

    def by_matrix_unit(column: Array, num_valid: Array) -> Array:
        return counts_on_tpu(_digits_of(column, num_valid, shift, bits), 2**bits)

    def in_tables(column: Array, num_valid: Array) -> Array:
        return count_in_tables(_digits_of(column, num_valid, shift, bits), 2**bits)

    kernels = on_tpu(by_matrix_unit) if can_count_on_tpu(column, 2**bits) else {}
    kernels |= on_cuda(in_tables) if 2**bits <= MOST_COUNTED_SEGMENTS else {}
    return by_platform(column, num_valid, default=by_scatter, **kernels)


def _digits_of(block: Array, num_valid: Array, shift: int, bits: int) -> Array:
    """The digit of each valid key, or -1, int32."""
    word = ordered_word(block).ordered()
    digits = (word >> word.dtype.type(shift)) & word.dtype.type(2**bits - 1)
    is_row = jax.lax.iota(jnp.int32, block.shape[0]) < num_valid
    return jnp.where(is_row, digits.astype(jnp.int32), np.int32(-1))


def _count_digits_in_blocks(column: Array, num_valid: Array, shift: int, bits: int) -> Array:
    num_rows = column.shape[0]
    block_rows = min(num_rows, _BLOCK_ROWS)

    def add_block(table: Array, start: Array, size: int) -> Array:
        block = jax.lax.dynamic_slice_in_dim(column, start, size)
        ids = _digits_of(block, num_valid - start, shift, bits)
        return table.at[ids].add(1, mode="drop", wrap_negative_indices=False)

    def step(i: Array, table: Array) -> Array:
        return add_block(table, jnp.asarray(i, jnp.int32) * block_rows, block_rows)

    table = like_varying(jnp.zeros(2**bits, jnp.int32), column, num_valid)
    if num_rows == 0:
        return table
    num_blocks, rest = divmod(num_rows, block_rows)
    table = jax.lax.fori_loop(np.int32(0), np.int32(num_blocks), step, table)
    return add_block(table, jnp.int32(num_rows - rest), rest) if rest else table
