# SPDX-License-Identifier: Apache-2.0
"""Running sums and maxima against NumPy's."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxframes.primitives.kernels.scan._running import running, running_count

DTYPES = ("int32", "uint32", "int64")
SIZES = (0, 1, 2, 1000, 4099)


@pytest.mark.parametrize("num_rows", SIZES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_sums_wrap_and_maxima_do_not(dtype, num_rows):
    rng = np.random.default_rng(num_rows)
    info = np.iinfo(dtype)
    values = rng.integers(info.min, info.max, num_rows, dtype, endpoint=True)
    sums = jax.jit(running, static_argnums=0)("add", values)
    assert sums.dtype == dtype
    np.testing.assert_array_equal(sums, np.cumsum(values, dtype=dtype))
    maxima = jax.jit(running, static_argnums=0)("max", values)
    np.testing.assert_array_equal(maxima, np.maximum.accumulate(values))


@pytest.mark.parametrize("num_rows", SIZES)
def test_counts_of_flags_of_a_batch(num_rows):
    flags = np.random.default_rng(1).random((3, num_rows)) < 0.3
    counts = jax.vmap(running_count)(jnp.asarray(flags))
    assert counts.dtype == np.int32
    np.testing.assert_array_equal(counts, np.cumsum(flags, axis=1))
