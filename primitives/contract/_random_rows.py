# SPDX-License-Identifier: Apache-2.0
"""Random numbers of rows: each depends on the key and the row's number alone.

So they are the same however the rows lie on devices, and a job that resumes draws them again.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.random import threefry_2x32

from ._arguments import type_of
from ._axis_scope import AxisName
from ._typing import Array

# Two words of 32 bits.
KeyWords = Array
# What `comparable_weights` gives for an infinite weight.
INFINITE_WEIGHT = 2.0**60


def as_key_words(key: Any, caller: str, name: str = "key") -> KeyWords:
    """Checks one key of `jax.random`; returns its first two words.

    They are a key of Threefry, whatever the generator: others may draw other numbers for the same
    row under `vmap` or in another shard. Each half of a key of "rbg" is such a key.
    """
    is_key = isinstance(key, jax.Array) and (
        jnp.issubdtype(key.dtype, jax.dtypes.prng_key)
        or (key.dtype == jnp.uint32 and key.shape in ((2,), (4,)))
    )
    if not is_key:
        raise TypeError(
            f"{caller}: {name} must be a key of jax.random, got {type_of(key)}. Make one with "
            "jax.random.key(seed)."
        )
    if jnp.issubdtype(key.dtype, jax.dtypes.prng_key):
        if key.ndim:
            raise ValueError(
                f"{caller}: {name} must be one key, got {type_of(key)}. Use jax.vmap for several."
            )
        key = jax.random.key_data(key)
    return key if key.shape == (2,) else key[:2]


def key_of_words(words: KeyWords) -> Array:
    """The key of `jax.random` with these words."""
    return jax.random.wrap_key_data(words, impl="threefry2x32")


def random_words(words: KeyWords, row_ids: Array) -> tuple[Array, Array]:
    """Two random words of 32 bits for each row: those of the key that the row's number derives."""
    derived = words[0], words[1]
    if row_ids.dtype.itemsize == 8:
        derived = _folded_in(derived, (row_ids >> 32).astype(jnp.uint32))
    return _folded_in(derived, row_ids.astype(jnp.uint32))


def _folded_in(words: tuple[Array, Array], numbers: Array) -> tuple[Array, Array]:
    """The words of `jax.random.fold_in` for each number: Threefry of the words 0 and it."""
    counts = jnp.concatenate([jnp.zeros_like(numbers), numbers])
    derived = threefry_2x32(words, counts)
    return derived[: len(numbers)], derived[len(numbers) :]


def comparable_weights(weights: Array, is_row: Array, axis_name: AxisName | None = None) -> Array:
    """Weights as float32 that neither times nor sums take out of it; zero for what is never drawn.

    They are divided by a power of two, which leaves their order and shares as they are: finite ones
    are then below four. A row of infinite weight comes before all others, and is as likely as the
    next one. Subnormal weights count as the smallest normal one. With an axis name the weights are
    this shard's.
    """
    limits = jnp.finfo(weights.dtype)
    word = np.dtype(f"int{limits.bits}")
    # By their bits: some platforms take subnormal numbers for zeros.
    bits = jax.lax.bitcast_convert_type(weights, word)
    can_draw = is_row & (bits > 0) & ~jnp.isnan(weights)
    weights = jnp.where(can_draw & (bits < word.type(1 << limits.nmant)), limits.tiny, weights)
    greatest = jnp.max(jnp.where(can_draw & jnp.isfinite(weights), weights, 0), initial=0)
    if axis_name is not None:
        greatest = jax.lax.pmax(greatest, axis_name)
    of_exponent = word.type(((1 << limits.nexp) - 1) << limits.nmant)
    exponent = jax.lax.bitcast_convert_type(greatest, word) & of_exponent
    power = jax.lax.bitcast_convert_type(exponent, weights.dtype)
    power = jnp.clip(power, limits.tiny, 2.0 ** (limits.maxexp - 2))
    least = float(jnp.finfo(jnp.float32).tiny)
    shares = jnp.clip(weights / power, least, INFINITE_WEIGHT)
    return jnp.where(can_draw, shares.astype(jnp.float32), 0)


def arrivals(words: tuple[Array, Array], weights: Array | None) -> Array:
    """When each row arrives in a race: the first k are a sample without replacement.

    The time of a row with a weight has an exponential distribution with the weight as its rate,
    float32. Rows without weights arrive in random order, and the time is any number.
    """
    high, low = words
    if weights is None:
        return high
    # All 64 bits count where the number is small, and that is where the first rows lie.
    uniform = high.astype(jnp.float32) * np.float32(2**-32)
    uniform += low.astype(jnp.float32) * np.float32(2**-64)
    uniform = jnp.minimum(uniform, np.float32(1 - 2**-24))
    times = -jnp.log1p(-uniform) / jnp.where(weights > 0, weights, np.float32(1))
    return jnp.minimum(times, jnp.finfo(jnp.float32).max)


def integers_below(bits: tuple[Array, Array], limit: tuple[Array, Array]) -> tuple[Array, Array]:
    """Random integers in `[0, limit)`, all equally likely: the high word of `bits * limit`.

    Args:
        bits: 64 random bits for each integer, as two words, most significant first.
        limit: two words. Of a limit of zero the integer is zero.
    """
    (high, low), (limit_high, limit_low) = bits, limit
    carry, _ = _product(low, limit_low)
    first_high, first_low = _product(high, limit_low)
    second_high, second_low = _product(low, limit_high)
    middle = first_low + second_low
    carries = (middle < first_low).astype(jnp.uint32)
    carries += (middle + carry < middle).astype(jnp.uint32)
    top_high, top_low = _product(high, limit_high)
    for addend in (first_high, second_high, carries):
        top_low = top_low + addend
        top_high = top_high + (top_low < addend).astype(jnp.uint32)
    return top_high, top_low


def _product(a: Array, b: Array) -> tuple[Array, Array]:
    """The product of two words, as two words, by halves of 16 bits."""
    half, mask = np.uint32(16), np.uint32(0xFFFF)
    a_high, a_low, b_high, b_low = a >> half, a & mask, b >> half, b & mask
    middle = a_high * b_low + (a_low * b_low >> half)
    other = a_low * b_high + (middle & mask)
    return a_high * b_high + (middle >> half) + (other >> half), a * b
