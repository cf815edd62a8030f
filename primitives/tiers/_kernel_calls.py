# SPDX-License-Identifier: Apache-2.0
"""Calls of the C++ kernels from the host, with NumPy's memory."""

import ctypes
import math
import threading
import time
from typing import Any

import numpy as np

from ..kernels.base._library import TARGETS, load
from ._elementwise_rules import Equation, HostArray, HostStep, rule

# The longest message of a kernel; it is cut there.
_MESSAGE_BYTES = 512
# XLA aligns buffers to 64 bytes, a line of the cache, and kernels count on it.
_ALIGNMENT = 64
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
    memory = np.empty(math.prod(shape) * dtype.itemsize + _ALIGNMENT, np.uint8)
    # `array.ctypes` makes an object that takes several times as long.
    start = -memory.__array_interface__["data"][0] % _ALIGNMENT
    return np.ndarray(shape, dtype, memory, start)


class _Attributes:
    """The attributes of a call, as C arrays."""

    def __init__(self, attributes: list[tuple[str, Any]]):
        attributes = sorted((name, np.asarray(value)) for name, value in attributes)
        self.count = len(attributes)
        self._values = [value for _, value in attributes]
        self.names = (ctypes.c_char_p * self.count)(*(name.encode() for name, _ in attributes))
        types = [_DATA_TYPES[value.dtype.name] for value in self._values]
        self.types = (ctypes.c_int32 * self.count)(*types)
        self.values = (ctypes.c_void_p * self.count)(*(v.ctypes.data for v in self._values))


@rule("ffi_call")
def _ffi_call(equation: Equation) -> HostStep | None:
    params = equation.params
    library, _ = load()
    if library is None or params["target_name"] not in TARGETS or params["input_output_aliases"]:
        return None
    for layouts in (params["input_layouts"], params["output_layouts"]):
        if any(tuple(layout) != tuple(range(len(layout)))[::-1] for layout in layouts):
            return None
    handler = ctypes.cast(getattr(library, params["target_name"]), ctypes.c_void_p)
    attributes = _Attributes(list(params["attributes"]))
    operands = [variable.aval for variable in equation.invars]
    results = [variable.aval for variable in equation.outvars]
    buffers = operands + results
    types = (ctypes.c_int32 * len(buffers))(*(_DATA_TYPES[b.dtype.name] for b in buffers))
    ranks = (ctypes.c_int64 * len(buffers))(*(len(b.shape) for b in buffers))
    sizes = [size for b in buffers for size in b.shape]
    dimensions = (ctypes.c_int64 * len(sizes))(*sizes)

    shapes = [(result.shape, result.dtype) for result in results]

    def step(*arrays: HostArray) -> list[HostArray]:
        arrays = tuple(map(np.ascontiguousarray, arrays))
        outputs = [aligned_empty(shape, dtype) for shape, dtype in shapes]
        addresses = [array.__array_interface__["data"][0] for array in (*arrays, *outputs)]
        message = ctypes.create_string_buffer(_MESSAGE_BYTES)
        start = time.perf_counter()
        code = library.jaxframes_call_handler(
            handler,
            ctypes.c_int64(len(operands)),
            ctypes.c_int64(len(results)),
            types,
            (ctypes.c_void_p * len(addresses))(*addresses),
            ranks,
            dimensions,
            ctypes.c_int64(attributes.count),
            attributes.names,
            attributes.types,
            attributes.values,
            message,
            ctypes.c_int64(_MESSAGE_BYTES),
        )
        spent_in_kernels.seconds += time.perf_counter() - start
        if code != 0:
            raise RuntimeError(f"{params['target_name']}: {message.value.decode()}")
        return outputs

    return step
