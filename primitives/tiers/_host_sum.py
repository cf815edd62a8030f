# SPDX-License-Identifier: Apache-2.0
"""Sums of floats in the memory of the host, by the kernel that programs call."""

import functools

import jax
import numpy as np

from ._elementwise_rules import HostArray, HostStep
from ._kernel_calls import kernel_step
from ._tiered import interpret


def sum_on_host(numbers: HostArray, num_valid: int) -> np.generic | None:
    """The sum of the first numbers, in the order and with the bits of `local.pairwise_sum`.

    Args:
        numbers: floats of 32 or 64 bits, of shape `(rows,)`. The sum has their dtype.
        num_valid: the number of those that are added, from the front.

    Returns:
        The sum; None without the C++ kernels.

    Cost:
        A call of about 5 microseconds, without a program.

    Guarantees:
        Deterministic.
    """
    step = _step(len(numbers), numbers.dtype)
    if step is None:
        return None
    rows = [numbers[None], np.array([num_valid], np.int32)]
    (total,) = interpret(lambda arrays: list(step(*arrays)), rows)
    return total[0]


@functools.lru_cache(256)
def _step(num_rows: int, dtype: np.dtype) -> HostStep | None:
    numbers = jax.ShapeDtypeStruct((1, num_rows), dtype)
    one = functools.partial(jax.ShapeDtypeStruct, (1,))
    return kernel_step("jaxframes_pairwise_sum_v1", [numbers, one(np.int32)], [one(dtype)])
