# SPDX-License-Identifier: Apache-2.0
"""Several columns of integer keys as one, for eager joins on one device."""

import math

import jax.numpy as jnp
import numpy as np

from ..shardings._compat import is_x64_enabled
from ._direct_index import DirectIndex, known_ranges
from .contract._typing import Array
from .local.parts import KeySides
from .tiers._tiered import tiered

# Keys of this width have one packed word already.
WORD_BITS = 64
# Numbers of packed keys are below it, so that they fit an int64.
MOST_NUMBERS = 2**63


def pack_sides(sides: KeySides) -> KeySides:
    """Packs the columns of concrete integer keys into one, if their ranges allow it.

    Keys are digits of a number, from the least to the greatest key of both sides. Otherwise a join
    of several columns that do not fit one word would sort both sides.

    Cost:
        Work O(rows). The ranges of the columns are read back.
    """
    columns = (*sides.a, *sides.b)
    is_whole = all(jnp.issubdtype(column.dtype, jnp.integer) for column in columns)
    if len(sides.a) < 2 or not is_whole or not is_x64_enabled():
        return sides
    if sum(8 * column.dtype.itemsize for column in sides.a) <= WORD_BITS:
        # They are one word anyway.
        return sides
    if not (int(sides.num_a) and int(sides.num_b)):
        return sides
    ranges = zip(
        known_ranges(sides.a, sides.num_a), known_ranges(sides.b, sides.num_b), strict=True
    )
    ends = [(min(int(x), int(y)), max(int(z), int(w))) for (x, z), (y, w) in ranges]
    sizes = [greatest - least + 1 for least, greatest in ends]
    if math.prod(sizes) > MOST_NUMBERS:
        return sides
    # The difference of unsigned numbers wraps around for negative keys.
    least = tuple(np.uint64(low % 2**64) for low, _ in ends)
    widths = tuple(map(np.uint64, sizes))
    a, b = (_packed(own, least, widths) for own in (sides.a, sides.b))
    return sides._replace(a=(a,), b=(b,))


@tiered
def _packed(
    columns: tuple[Array, ...], least: tuple[Array, ...], widths: tuple[Array, ...]
) -> Array:
    nothing = (None,) * len(columns)
    index = DirectIndex(least, widths, (False,) * len(columns))
    return index.numbers(columns, nothing, np.uint64)
