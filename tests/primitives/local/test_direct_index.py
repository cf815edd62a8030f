# SPDX-License-Identifier: Apache-2.0
"""`DirectIndex`: keys as the digits of numbers, and back."""

import jax.numpy as jnp
import numpy as np
import pytest
from jaxframes.primitives._direct_index import DirectIndex

CASES = [
    (("int8", "int64"), ((-128, 127), (-5, 9))),
    (("uint64", "int16"), ((2**64 - 20, 2**64 - 1), (-32768, -32700))),
    (("int64",), ((-(2**63), -(2**63) + 50),)),
    (("uint32", "uint8"), ((2**31, 2**31 + 9), (0, 255))),
]


@pytest.mark.parametrize(("dtypes", "ranges"), CASES)
@pytest.mark.parametrize("is_host", [True, False])
def test_numbers_and_keys(dtypes, ranges, is_host):
    rng = np.random.default_rng(0)
    keys = [
        np.array([low + int(rng.integers(high - low + 1)) for _ in range(40)], dtype)
        for dtype, (low, high) in zip(dtypes, ranges, strict=True)
    ]
    expected = np.zeros(40, object)
    for key, (low, high) in zip(keys, ranges, strict=True):
        expected = expected * (high - low + 1) + (key.astype(object) - low)
    columns = keys if is_host else list(map(jnp.asarray, keys))
    index = DirectIndex.between(ranges, dtypes)
    for dtype in (np.int32, np.int64):
        numbers = index.numbers(columns, (None,) * len(keys), dtype)
        assert numbers.dtype == dtype
        assert numbers.tolist() == expected.tolist()
        for key, (own, is_missing) in zip(keys, index.keys_of(numbers, dtypes), strict=True):
            assert is_missing is None
            assert own.dtype == key.dtype
            np.testing.assert_array_equal(own, key)
    assert index.holds(columns).all()


def test_keys_out_of_range():
    index = DirectIndex.between(((-5, 9), (0, 3)), ("int64", "int8"))
    keys = jnp.array([-6, 9, -(2**63), 4, 2**62]), jnp.array([1, 3, 1, 4, 0], jnp.int8)
    assert index.holds(keys).tolist() == [False, True, False, False, False]


def test_a_missing_key_is_the_last_digit():
    index = DirectIndex.between(((0, 2), (5, 9)), ("int32", "int32"), (True, False))
    assert index.num_segments == 20
    is_missing = jnp.array([False, False, True])
    keys = jnp.array([0, 2, 1]), jnp.array([5, 9, 7])
    numbers = index.numbers(keys, (is_missing, None), np.int32)
    assert numbers.tolist() == [0, 14, 17]
    (first, flags), (second, _) = index.keys_of(numbers, ("int32", "int32"))
    assert first[:2].tolist() == [0, 2]
    assert flags.tolist() == is_missing.tolist()
    assert second.tolist() == [5, 9, 7]
