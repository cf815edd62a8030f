# SPDX-License-Identifier: Apache-2.0
"""Order-preserving maps from sort keys to unsigned words.

The order is NumPy's and pandas': -0.0 equals 0.0, and NaN comes last in either direction. After
this step a sort handles one kind of key only: an unsigned integer of 32 or 64 bits.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ...shardings._compat import is_x64_enabled
from ._arguments import as_static_int, type_of
from ._typing import Array


class OrderedWord(NamedTuple):
    """One key column, encoded for sorting.

    The lowest `bits` bits of `word ^ flip`, taken as an unsigned integer, are in the order of the
    key. The flip is stored separately because a kernel can apply it while it reads: a signed or
    descending integer key then needs no extra pass. A float of 32 or 64 bits is also stored
    unchanged, with a flip of all ones if it is descending; kernels apply the map of `ordered` as
    they read it. With `is_whole` an integer has no other bits than these: equal ones are the same.
    """

    word: Array
    flip: int
    bits: int
    is_whole: bool = False

    @property
    def is_invertible(self) -> bool:
        """Whether the unsigned integers determine the words."""
        # Floats have several NaNs and two zeros that compare equal.
        is_float = jnp.issubdtype(self.word.dtype, jnp.floating)
        return not is_float and (self.is_whole or self.bits == 8 * self.word.dtype.itemsize)

    @property
    def fills_word(self) -> bool:
        """Whether an integer is sorted by all of its bits."""
        return self.is_invertible and self.bits == 8 * self.word.dtype.itemsize

    def of_ordered(self, ordered: Array) -> Array:
        """Inverts `ordered` for invertible words."""
        if self.flip:
            ordered = ordered ^ ordered.dtype.type(self.flip)
        return jax.lax.bitcast_convert_type(ordered, self.word.dtype)

    def ordered(self) -> Array:
        """Returns the unsigned integers."""
        if jnp.issubdtype(self.word.dtype, jnp.floating):
            return _ordered_float_bits(self.word, descending=self.flip != 0)
        dtype = np.dtype(f"uint{8 * self.word.dtype.itemsize}")
        word = jax.lax.bitcast_convert_type(self.word, dtype)
        if self.flip:
            word = word ^ dtype.type(self.flip)
        if self.bits < 8 * dtype.itemsize and not self.is_whole:
            word = word & dtype.type(2**self.bits - 1)
        return word


def ordered_word(key: Array, *, descending: bool = False, bits: int | None = None) -> OrderedWord:
    """Maps one key column to words in the same order."""
    dtype = key.dtype
    if jnp.issubdtype(dtype, jnp.floating):
        return _float_word(key, descending)
    width = 1 if dtype == jnp.bool_ else 8 * dtype.itemsize
    used_bits = width if bits is None else min(bits, width)
    # With `bits` given the low bits are compared unchanged, so the sign bit is not flipped.
    is_signed = jnp.issubdtype(dtype, jnp.signedinteger) and bits is None
    flip = (1 << (width - 1)) if is_signed else 0
    if descending:
        flip ^= (1 << width) - 1
    if width >= 32:
        return OrderedWord(key, flip, used_bits)
    if dtype != jnp.bool_:
        key = jax.lax.bitcast_convert_type(key, np.dtype(f"uint{width}"))
    return OrderedWord(key.astype(jnp.uint32), flip, used_bits, used_bits == width)


def _float_word(key: Array, descending: bool) -> OrderedWord:
    key = jax.lax.stop_gradient(key)
    width = 8 * key.dtype.itemsize
    if width >= 32:
        return OrderedWord(key, 2**width - 1 if descending else 0, width)
    ordered = _ordered_float_bits(key, descending).astype(jnp.uint32)
    return OrderedWord(ordered, 0, width, is_whole=True)


def _ordered_float_bits(key: Array, descending: bool) -> Array:
    width = 8 * key.dtype.itemsize
    dtype = np.dtype(f"uint{width}")
    infinity = np.array(np.inf, key.dtype).view(dtype)[()]
    sign = dtype.type(1 << (width - 1))
    all_ones = dtype.type((1 << width) - 1)
    word = jax.lax.bitcast_convert_type(key, dtype)
    magnitude = word & ~sign
    word = jnp.where(magnitude == 0, dtype.type(0), word)
    # A negative number grows towards zero: flip all of its bits; otherwise only the sign.
    word = word ^ jnp.where(word & sign != 0, all_ones, sign)
    if descending:
        word = ~word
    # No number maps to all ones, in either direction: only a NaN would.
    return jnp.where(magnitude > infinity, all_ones, word)


def key_of_word(word: Array, dtype: Any) -> Array:
    """Inverts `ordered_word`, given the word before the flip; not for floats of 16 bits."""
    dtype = np.dtype(dtype)
    if dtype == jnp.bool_:
        return word != 0
    if dtype.itemsize >= 4:
        return jax.lax.bitcast_convert_type(word, dtype)
    narrow = word.astype(np.dtype(f"uint{8 * dtype.itemsize}"))
    return jax.lax.bitcast_convert_type(narrow, dtype)


def holds_whole_key(dtype: Any) -> bool:
    """Whether a key can be recovered exactly from its sorted word."""
    return not jnp.issubdtype(dtype, jnp.floating) or np.dtype(dtype).itemsize >= 4


def as_bits(bits: Any, keys: Sequence[Array], caller: str) -> tuple[int | None, ...]:
    """Checks `bits`: one number for a single key, one (or None) for each of several."""
    per_key = tuple(bits) if isinstance(bits, (tuple, list)) else (bits,) * len(keys)
    if len(per_key) != len(keys):
        raise ValueError(
            f"{caller}: bits must be given for each of the {len(keys)} keys, got {len(per_key)}."
        )
    checked: list[int | None] = []
    for key, key_bits in zip(keys, per_key, strict=True):
        if key_bits is None:
            checked.append(None)
            continue
        if jnp.issubdtype(key.dtype, jnp.floating):
            raise TypeError(
                f"{caller}: bits must be None for a key of floating point, got bits={key_bits} "
                f"for {type_of(key)}. Leave bits out, or sort integers."
            )
        width = 1 if key.dtype == jnp.bool_ else 8 * key.dtype.itemsize
        checked.append(as_static_int(key_bits, caller, "bits", 1, width))
    return tuple(checked)


def ordered_words(
    keys: Sequence[Array],
    descending: Sequence[bool],
    bits: Sequence[int | None] | None = None,
) -> tuple[OrderedWord, ...]:
    """Maps key columns, most significant first, to as few words as hold them.

    Adjacent columns are packed into one word if their bits fit, the more significant one above. A
    word has 64 bits with x64 mode, otherwise 32.
    """
    bits = (None,) * len(keys) if bits is None else bits
    columns = [
        ordered_word(key, descending=direction, bits=key_bits)
        for key, direction, key_bits in zip(keys, descending, bits, strict=True)
    ]
    widest = 64 if is_x64_enabled() else 32
    words: list[OrderedWord] = []
    for column in columns:
        if words and words[-1].bits + column.bits <= widest:
            words[-1] = _packed(words[-1], column)
        else:
            words.append(column)
    return tuple(words)


def _packed(high: OrderedWord, low: OrderedWord) -> OrderedWord:
    bits = high.bits + low.bits
    dtype = jnp.uint32 if bits <= 32 else jnp.uint64
    shifted = high.ordered().astype(dtype) << np.array(low.bits, dtype)
    return OrderedWord(shifted | low.ordered().astype(dtype), 0, bits, is_whole=True)
