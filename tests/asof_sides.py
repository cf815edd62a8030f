# SPDX-License-Identifier: Apache-2.0
"""What the tests of `join_asof` share: its rules, sides of times, and tolerances for them."""

from typing import get_args

import numpy as np
import oracles
from jaxframes.primitives.local._asof_rule import Direction
from key_distributions import make_keys

RULES = tuple((direction, exact) for direction in get_args(Direction) for exact in (True, False))
NUM_LEFT, NUM_RIGHT = 24, 18


def make_sides(distribution, dtype, num_left=NUM_LEFT, num_right=NUM_RIGHT, seed=0):
    keys = make_keys(distribution, num_left + num_right, np.dtype(dtype), seed=seed)
    keys = np.random.default_rng(seed).permutation(keys)
    return keys[:num_left], keys[num_left:]


def tolerances_for(left, right):
    """No distance, one that some rows lie within, and one that all do."""
    dtype = left.dtype
    if not oracles.is_float(dtype):
        most = 1 if dtype.kind == "b" else np.iinfo(dtype).max
        return np.zeros((), dtype), dtype.type(most // 4), dtype.type(most)
    with np.errstate(invalid="ignore"):  # signalling NaNs
        numbers = np.abs(np.concatenate([left, right]).astype(np.float64))
    middle = np.median(numbers[np.isfinite(numbers)])
    return tuple(dtype.type(limit) for limit in (0, middle, np.inf))
