# SPDX-License-Identifier: Apache-2.0
"""Near-duplicate search: signatures of sets, and the bands by which similar ones meet."""

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from ..contract._arguments import as_array, as_keys, as_static_int, type_of
from ..contract._platform import by_platform
from ..contract._typing import Array, ArrayLike, UInt
from ..kernels.move._log_shift import place_by_shifts
from ..tiers._tiered import tiered
from ._hash_rows import Lanes, hash_words, scrambled, words_of
from ._ragged import Ragged, as_ragged
from ._segment_reduce import segment_min
from ._segmented_scan import segmented_scan

# The signature of an empty set.
_NO_VALUE = np.uint32(2**32 - 1)
# Minima that one scatter takes of each value on a GPU.
_HASHES_OF_SCATTER = 16
# Columns that a kernel shifts at once on TPU.
_HASHES_OF_SHIFTS = 4


def minhash(sets: Ragged, num_hashes: int, *, seed: int = 0) -> UInt[Array, "segments hashes"]:
    """Computes the signature of each set: its smallest value under each of several hash functions.

    Two sets agree in a share of their signatures that estimates their Jaccard similarity, the size
    of the intersection over that of the union, with a standard deviation of at most
    `0.5 / sqrt(num_hashes)`.

    Args:
        sets: the elements of each set, a `Ragged` of one array of any key dtype, such as hashes of
            shingles. An element may come more than once.
        num_hashes: the number of hash functions. Static.
        seed: another seed is another family of them. Static, in `[0, 2**32)`.

    Returns:
        The signatures, uint32 of shape `(segments, num_hashes)`; an empty set has `2**32 - 1`.

    Raises:
        TypeError: elements of no key dtype, or `num_hashes` or `seed` is traced.
        ValueError: `num_hashes` is less than one, or `seed` is out of range.

    Cost:
        Work O(num_hashes x values), for few functions at a time, so memory is that of these.

    Guarantees:
        Deterministic, on every platform and in every version.

    References:
        Broder (1997), "On the resemblance and containment of documents".

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> sets = local.Ragged.from_lengths(jnp.array([1, 2, 3, 3, 2, 1]), jnp.array([3, 3]))
        >>> signatures = local.minhash(sets, 64)
        >>> (signatures[0] == signatures[1]).all().tolist()
        True
    """
    caller = "minhash"
    sets = as_ragged(sets, caller, "sets")
    ((elements,), _) = as_keys((sets.values,), caller, "the values of sets")
    num_hashes = as_static_int(num_hashes, caller, "num_hashes", 1, 2**20)
    seed = as_static_int(seed, caller, "seed", 0, 2**32 - 1)
    return _minhash(Ragged(elements, sets.offsets), num_hashes, seed)


def lsh_bands(signatures: ArrayLike, num_bands: int) -> Lanes:
    """Hashes bands of signatures: rows with an equal hash are candidates for near duplicates.

    With bands of r hashes, sets of similarity s share at least one with probability
    `1 - (1 - s**r)**num_bands`.

    Args:
        signatures: the result of `minhash`, uint32 of shape `(sets, hashes)`.
        num_bands: the number of bands, which divides that of hashes. Static.

    Returns:
        The high and the low 32 bits of the hash of each band, uint32 of shape `(sets, num_bands)`.
        The number of the band is part of the hash, so raveled they are the keys of one join, sort
        or group: the set of key `i` is `i // num_bands`.

    Raises:
        TypeError: `signatures` are not uint32, or `num_bands` is traced.
        ValueError: `signatures` are not two-dimensional, or `num_bands` does not divide the number
            of hashes.

    Cost:
        Work O(sets x hashes). No communication.

    Guarantees:
        Deterministic, on every platform and in every version.

    References:
        Leskovec, Rajaraman and Ullman (2020), "Mining of massive datasets", chapter 3.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> signatures = jnp.array([[1, 2, 3, 4], [1, 2, 7, 8]], jnp.uint32)
        >>> high, low = local.lsh_bands(signatures, 2)
        >>> (low[0] == low[1]).tolist()
        [True, False]
    """
    caller = "lsh_bands"
    signatures = as_array(signatures, caller, "signatures")
    if signatures.dtype != jnp.uint32:
        raise TypeError(f"{caller}: signatures must be uint32, got {type_of(signatures)}.")
    num_bands = as_static_int(num_bands, caller, "num_bands", 1, 2**20)
    if signatures.ndim != 2 or signatures.shape[1] % num_bands:
        raise ValueError(
            f"{caller}: signatures must have shape (sets, hashes), with a number of hashes that "
            f"{num_bands} bands divide, got {type_of(signatures)}."
        )
    return _bands(signatures, num_bands)


@functools.partial(tiered, static_argnums=(1, 2))
def _minhash(sets: Ragged, num_hashes: int, seed: int) -> Array:
    high, low = hash_words(words_of(sets.values), seed)
    # An op of segments has at least one.
    ids, num_sets = sets.segment_ids, max(sets.num_segments, 1)

    def one_by_one(high: Array, low: Array, ids: Array) -> Array:
        def smallest(number: Array) -> Array:
            hashed = _hashed(high, low, number)
            return segment_min(hashed, ids, num_sets, fill_value=_NO_VALUE)

        return jax.lax.map(smallest, jnp.arange(num_hashes, dtype=jnp.uint32)).T

    def in_blocks(high: Array, low: Array, ids: Array) -> Array:
        def smallest(numbers: Array) -> Array:
            hashed = _hashed(high[:, None], low[:, None], numbers[None, :])
            return segment_min(hashed, ids, num_sets, fill_value=_NO_VALUE)

        return _by_blocks(smallest, num_hashes, _HASHES_OF_SCATTER)

    def by_scans(high: Array, low: Array, ids: Array) -> Array:
        # Made of the ids: on an explicit axis of a batch a constant has no place.
        one = ids[:1] == ids[:1]
        changes = ids[1:] != ids[:-1]
        is_head = jnp.concatenate([one, changes])
        is_last = jnp.concatenate([changes, one]) & (ids >= 0)
        (num_last,) = place_by_shifts(is_last, ids, (jnp.ones_like(ids),), num_sets)

        def smallest(numbers: Array) -> Array:
            scans = [
                segmented_scan(_hashed(high, low, number), "min", head_flags=is_head)
                for number in numbers
            ]
            least = place_by_shifts(is_last, ids, scans, num_sets)
            return jnp.stack([jnp.where(num_last != 0, one, _NO_VALUE) for one in least], axis=1)

        return _by_blocks(smallest, num_hashes, _HASHES_OF_SHIFTS)

    # On a GPU one scatter takes the minima of several functions, which nobody writes before. On TPU
    # the values of a set are in order, so that a scan has them without a sort.
    ways = {"cuda": in_blocks, "rocm": in_blocks, **({"tpu": by_scans} if ids.shape[0] else {})}
    signatures = by_platform(high, low, ids, default=one_by_one, **ways)
    return signatures[: sets.num_segments]


def _hashed(high: Array, low: Array, number: Array) -> Array:
    # Multiples of an odd number differ, so every function is another one.
    return scrambled(high + number * (low | np.uint32(1)))


def _by_blocks(smallest: Callable[[Array], Array], num_hashes: int, size: int) -> Array:
    """The columns of so many functions at a time."""
    size = min(size, num_hashes)
    num_blocks = -(-num_hashes // size)
    numbers = jnp.arange(num_blocks * size, dtype=jnp.uint32).reshape(num_blocks, size)
    if num_blocks == 1:
        return smallest(numbers[0])
    columns = jnp.moveaxis(jax.lax.map(smallest, numbers), 0, 1)
    return columns.reshape(columns.shape[0], -1)[:, :num_hashes]


@functools.partial(tiered, static_argnums=1)
def _bands(signatures: Array, num_bands: int) -> Lanes:
    num_sets, num_hashes = signatures.shape
    bands = signatures.reshape(num_sets, num_bands, num_hashes // num_bands)
    numbers = jnp.broadcast_to(jnp.arange(num_bands, dtype=jnp.uint32), bands.shape[:2])
    return hash_words([numbers, *jnp.moveaxis(bands, 2, 0)], 0)
