# SPDX-License-Identifier: Apache-2.0
"""Calls of the C++ kernels from the host, with NumPy's memory."""

import ctypes
import math
import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..kernels.base._library import TARGETS, load
from ._elementwise_rules import Equation, HostArray, HostStep, rule

# The longest message of a kernel; it is cut there.
_MESSAGE_BYTES = 512
# XLA aligns buffers to 64 bytes, a line of the cache, and kernels count on it. JAX reads memory of
# the host in place, without a copy, if its address is a multiple of this.
ALIGNMENT = 64
# XLA_FFI_DataType of the FFI's C interface.
_DATA_TYPES = {
    "bool": 1, "int8": 2, "int16": 3, "int32": 4, "int64": 5, "uint8": 6, "uint16": 7, "uint32": 8,
    "uint64": 9, "float16": 10, "float32": 11, "float64": 12, "complex64": 15, "bfloat16": 16,
    "complex128": 18,
}  # fmt: skip


class _Spent(threading.local):
    """The seconds that this thread has spent in kernels."""

    seconds: float = 0.0


spent_in_kernels = _Spent()


def aligned_empty(shape: tuple[int, ...], dtype: np.dtype) -> HostArray:
    """Memory for an array that JAX takes over without a copy."""
    memory = np.empty(math.prod(shape) * dtype.itemsize + ALIGNMENT, np.uint8)
    # `array.ctypes` makes an object that takes several times as long.
    start = -memory.__array_interface__["data"][0] % ALIGNMENT
    return np.ndarray(shape, dtype, memory, start)


class _Attributes:
    """The attributes of a call, as C arrays."""

    def __init__(self, attributes: Sequence[tuple[str, Any]]):
        pairs = sorted((name, np.asarray(value)) for name, value in attributes)
        self.count = len(pairs)
        self._values = [value for _, value in pairs]
        self.names = (ctypes.c_char_p * self.count)(*(name.encode() for name, _ in pairs))
        types = [_DATA_TYPES[value.dtype.name] for value in self._values]
        self.types = (ctypes.c_int32 * self.count)(*types)
        self.values = (ctypes.c_void_p * self.count)(*(v.ctypes.data for v in self._values))


@rule("ffi_call")
def _ffi_call(equation: Equation) -> HostStep | None:
    params = equation.params
    if params["input_output_aliases"]:
        return None
    for layouts in (params["input_layouts"], params["output_layouts"]):
        if any(tuple(layout) != tuple(range(len(layout)))[::-1] for layout in layouts):
            return None
    operands = [variable.aval for variable in equation.invars]
    results = [variable.aval for variable in equation.outvars]
    return kernel_step(params["target_name"], operands, results, list(params["attributes"]))


def kernel_step(
    target: str,
    operands: Sequence[Any],
    results: Sequence[Any],
    attributes: Sequence[tuple[str, Any]] = (),
) -> HostStep | None:
    """A call of a kernel with arrays of the host; None if the library does not have it.

    Args:
        target: the registered name of the kernel.
        operands: the shape and dtype of each argument, such as a `jax.ShapeDtypeStruct`.
        results: those of each result.
        attributes: the names and values of its attributes.
    """
    library, _ = load()
    if library is None or target not in TARGETS:
        return None
    handler = ctypes.cast(getattr(library, target), ctypes.c_void_p)
    given = _Attributes(attributes)
    buffers = [*operands, *results]
    types = (ctypes.c_int32 * len(buffers))(*(_DATA_TYPES[b.dtype.name] for b in buffers))
    ranks = (ctypes.c_int64 * len(buffers))(*(len(b.shape) for b in buffers))
    sizes = [size for b in buffers for size in b.shape]
    dimensions = (ctypes.c_int64 * len(sizes))(*sizes)
    num_operands, num_results = ctypes.c_int64(len(operands)), ctypes.c_int64(len(results))
    num_attributes, message_bytes = ctypes.c_int64(given.count), ctypes.c_int64(_MESSAGE_BYTES)
    addresses_of = ctypes.c_void_p * len(buffers)
    shapes = [(result.shape, result.dtype) for result in results]

    def step(*arrays: HostArray) -> list[HostArray]:
        arrays = tuple(map(np.ascontiguousarray, arrays))
        outputs = [aligned_empty(shape, dtype) for shape, dtype in shapes]
        addresses = [array.__array_interface__["data"][0] for array in (*arrays, *outputs)]
        message = ctypes.create_string_buffer(_MESSAGE_BYTES)
        start = time.perf_counter()
        code = library.jaxframes_call_handler(
            handler,
            num_operands,
            num_results,
            types,
            addresses_of(*addresses),
            ranks,
            dimensions,
            num_attributes,
            given.names,
            given.types,
            given.values,
            message,
            message_bytes,
        )
        spent_in_kernels.seconds += time.perf_counter() - start
        if code != 0:
            raise RuntimeError(f"{target}: {message.value.decode()}")
        return outputs

    return step
