# SPDX-License-Identifier: Apache-2.0
"""Keys to sort, by the name of their distribution. Seeded: the same arguments, the same keys.

The names are those of the tests. Here alone are `sixteen_bits`, whose keys are all alike but for
their lowest 16 bits, which a radix sort may make use of; `zipf_1.1` and `half_one_key`, whose
hottest key would overload a device that had to take all of its rows; and `thousand_values` and
`million_values`, which say how many distinct keys there are, spread over the whole range, as
`dense_thousand` and `dense_million` say of keys from zero on.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

# Any fixed number: benchmarks of two commits must see the same keys.
SEED = 20_130_101


def make_keys(distribution: str, num_rows: int, dtype: Any) -> np.ndarray:
    """Draws `num_rows` keys of a named distribution."""
    rng = np.random.default_rng([SEED, list(DISTRIBUTIONS).index(distribution)])
    return DISTRIBUTIONS[distribution](num_rows, np.dtype(dtype), rng)


def _uniform(num_rows: int, dtype: np.dtype, rng: np.random.Generator) -> np.ndarray:
    """Integers over the whole range; floats of many magnitudes."""
    if dtype.kind == "f":
        magnitudes = np.exp2(rng.integers(-8, 8, num_rows).astype(np.float64))
        return (rng.standard_normal(num_rows) * magnitudes).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, num_rows, dtype, endpoint=True)


def _sixteen_bits(num_rows: int, dtype: np.dtype, rng: np.random.Generator) -> np.ndarray:
    return rng.integers(0, 2**16, num_rows).astype(dtype)


def _four_values(num_rows: int, dtype: np.dtype, rng: np.random.Generator) -> np.ndarray:
    return _uniform(4, dtype, rng)[rng.integers(0, 4, num_rows)]


def _constant(num_rows: int, dtype: np.dtype, rng: np.random.Generator) -> np.ndarray:
    return np.repeat(_uniform(1, dtype, rng), num_rows)


def _sorted(num_rows: int, dtype: np.dtype, rng: np.random.Generator) -> np.ndarray:
    return np.sort(_uniform(num_rows, dtype, rng))


def _reversed(num_rows: int, dtype: np.dtype, rng: np.random.Generator) -> np.ndarray:
    return _sorted(num_rows, dtype, rng)[::-1].copy()


def _zipf(num_rows: int, dtype: np.dtype, rng: np.random.Generator) -> np.ndarray:
    """A few keys have most rows."""
    ranks = np.minimum(rng.zipf(1.2, num_rows), 2**30) - 1
    if dtype.kind == "f":
        # Beyond its mantissa a float cannot distinguish consecutive integers.
        ranks %= 2 ** (np.finfo(dtype).nmant + 1)
    return ranks.astype(dtype)


def _zipf_1_1(num_rows: int, dtype: np.dtype, rng: np.random.Generator) -> np.ndarray:
    return (np.minimum(rng.zipf(1.1, num_rows), 2**30) - 1).astype(dtype)


def _half_one_key(num_rows: int, dtype: np.dtype, rng: np.random.Generator) -> np.ndarray:
    keys = _uniform(num_rows, dtype, rng)
    return np.where(rng.random(num_rows) < 0.5, keys[:1], keys)


def _values(num_values: int) -> Callable[..., np.ndarray]:
    def draw(num_rows: int, dtype: np.dtype, rng: np.random.Generator) -> np.ndarray:
        return _uniform(num_values, dtype, rng)[rng.integers(0, num_values, num_rows)]

    return draw


def _dense(num_values: int) -> Callable[..., np.ndarray]:
    def draw(num_rows: int, dtype: np.dtype, rng: np.random.Generator) -> np.ndarray:
        return rng.integers(0, num_values, num_rows).astype(dtype)

    return draw


DISTRIBUTIONS: dict[str, Callable[..., np.ndarray]] = {
    "uniform": _uniform,
    "sixteen_bits": _sixteen_bits,
    "four_values": _four_values,
    "constant": _constant,
    "sorted": _sorted,
    "reversed": _reversed,
    "zipf": _zipf,
    "zipf_1.1": _zipf_1_1,
    "half_one_key": _half_one_key,
    "thousand_values": _values(1_000),
    "million_values": _values(1_000_000),
    "dense_thousand": _dense(1_000),
    "dense_million": _dense(1_000_000),
}
