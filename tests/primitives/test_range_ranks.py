# SPDX-License-Identifier: Apache-2.0
"""Order statistics and counts of ranges of rows, beside a sort of each range."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxframes.primitives._range_ranks import Ranges, count_in_ranges, select_in_ranges
from jaxframes.shardings import make_mesh, row_sharded

RNG = np.random.default_rng(5)
# Numbers of each row: random, equal, descending; around a digit of three bits.
NUMBERS = {
    "random": lambda n: RNG.integers(0, n, n),
    "equal": lambda n: np.full(n, n - 1),
    "descending": lambda n: np.arange(n)[::-1],
}
SIZES = [1, 7, 8, 9, 64, 300]


def ranges_of(size):
    """Ranges of all lengths, some empty and one of all rows."""
    start = RNG.integers(0, size + 1, size)
    end = np.minimum(start + RNG.integers(-2, size + 1, size), size)
    start[0], end[0] = 0, size
    return start, end


def as_ranges(start, end, place):
    return Ranges(place(start), place(end))


def placed(num_devices):
    """A mesh, or None, and what places rows."""
    if num_devices is None:
        return None, lambda array: jnp.asarray(array, jnp.int32)
    mesh = make_mesh(num_devices)
    return mesh, lambda array: jax.device_put(np.asarray(array, np.int32), row_sharded(mesh))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", NUMBERS)
def test_ranks_and_counts_of_ranges(kind, size):
    check(NUMBERS[kind](size), size, None)


@pytest.mark.parametrize("num_devices", [1, 3, 4])
def test_over_a_mesh(num_devices):
    check(NUMBERS["random"](36), 36, num_devices)


def check(numbers, size, num_devices):
    mesh, place = placed(num_devices)
    start, end = ranges_of(size)
    lengths = np.maximum(end - start, 0)
    ranks = [np.zeros(size, int), np.maximum(lengths - 1, 0), lengths // 2]
    bounds = [RNG.integers(0, size + 1, size), np.zeros(size, int), np.full(size, size)]
    given = place(numbers), as_ranges(start, end, place)
    found = select_in_ranges(*given, list(map(place, ranks)), mesh)
    counts = count_in_ranges(*given, list(map(place, bounds)), mesh)
    for i in range(size):
        rows = np.sort(numbers[start[i] : max(end[i], start[i])])
        if len(rows):
            assert [int(one[i]) for one in found] == [rows[rank[i]] for rank in ranks]
        assert [int(one[i]) for one in counts] == [
            np.searchsorted(rows, bound[i], "left") for bound in bounds
        ]
