# SPDX-License-Identifier: Apache-2.0
"""Sums and scans in the memory of the host, by the kernels that programs call.

A call takes about 5 microseconds, without a program. Each returns None without the C++ kernels, for
dtypes that they do not have, and where JAX checks the results of programs, as by `jax_debug_nans`.
"""

import functools

import jax
import numpy as np

from ..contract._scan_operators import NAMED_OPERATORS
from ..kernels.scan._segmented_scan import KERNEL_DTYPES
from ._elementwise_rules import HostArray, HostStep
from ._entry import interpret
from ._kernel_calls import kernel_step
from ._tiered import is_debugging


def sum_on_host(numbers: HostArray, num_valid: int) -> np.generic | None:
    """The sum of the first numbers, floats, with the bits of `local.pairwise_sum`."""
    step = _sum_step(len(numbers), numbers.dtype)
    if step is None or is_debugging():
        return None
    rows = [numbers[None], np.array([num_valid], np.int32)]
    (total,) = interpret(lambda arrays: list(step(*arrays)), rows)
    return total[0]


def scan_on_host(numbers: HostArray, op: str) -> HostArray | None:
    """The inclusive scan of numbers by an operator, with the bits of `local.inclusive_scan`."""
    step = _scan_step(len(numbers), numbers.dtype, op)
    if step is None or is_debugging():
        return None
    num_rows = np.array([[len(numbers)]], np.int32)
    rows = [numbers[None, None], np.empty((1, 1, 0), np.bool_), num_rows]
    (results,) = interpret(lambda arrays: list(step(*arrays)), rows)
    return results[0, 0]


@functools.lru_cache(256)
def _sum_step(num_rows: int, dtype: np.dtype) -> HostStep | None:
    if dtype not in (np.float32, np.float64):
        return None
    one = functools.partial(jax.ShapeDtypeStruct, (1,))
    numbers = jax.ShapeDtypeStruct((1, num_rows), dtype)
    return kernel_step("jaxframes_pairwise_sum_v1", [numbers, one(np.int32)], [one(dtype)])


@functools.lru_cache(256)
def _scan_step(num_rows: int, dtype: np.dtype, op: str) -> HostStep | None:
    if dtype.name not in KERNEL_DTYPES:
        return None
    numbers = jax.ShapeDtypeStruct((1, 1, num_rows), dtype)
    no_heads = jax.ShapeDtypeStruct((1, 1, 0), np.dtype(np.bool_))
    count = jax.ShapeDtypeStruct((1, 1), np.dtype(np.int32))
    attributes = {
        "op": np.int32(NAMED_OPERATORS.index(op)),
        "reverse": np.bool_(False),
        "exclusive": np.bool_(False),
    }
    return kernel_step(
        "jaxframes_segmented_scan_v1", [numbers, no_heads, count], [numbers], [*attributes.items()]
    )
