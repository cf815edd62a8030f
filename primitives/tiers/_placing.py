# SPDX-License-Identifier: Apache-2.0
"""Small arrays of the host that go to the device by a compiled copy."""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from ...shardings._compat import is_under_trace, option
from ._background import compile_later
from ._recent import compiled_entries

# `jax.device_put` takes 45 us longer than a compiled copy, in Python. So many calls pay for the
# compilation, which another thread does.
_CALLS_BEFORE_COPY = 256
# XLA copies so few bytes on the thread of the caller, in less time than that.
_MOST_BYTES = 2**17
# Columns have some tens of capacities and dtypes. Other shapes are not counted for long.
_MOST_COPIES = 256

_default_device, _is_x64 = option("jax_default_device"), option("jax_enable_x64")
_is_jit_disabled = option("jax_disable_jit")


def on_device(arrays: Sequence[Any], *, may_compile: bool = True) -> list[jax.Array]:
    """Places arrays of NumPy on the default device.

    JAX may take over their memory: nothing writes it after the call.

    Args:
        arrays: of dtypes that JAX has.
        may_compile: whether a copy is compiled for a shape that is placed often.

    Returns:
        `jax.device_put(arrays)`.

    Cost:
        `jax.device_put` makes 140 calls of Python for an array, and a compiled copy 3, for all
        arrays together. There is one for each list of shapes and dtypes of few bytes on the CPU,
        after 256 calls; until then one for each array.

    Guarantees:
        Deterministic.
    """
    if is_under_trace() or _default_device() is not None or _is_jit_disabled():
        return jax.device_put(list(arrays))
    if len(arrays) > 1 and (together := _copied(arrays, may_compile)) is not None:
        return together
    placed: list[Any] = [(_copied([array], may_compile) or [None])[0] for array in arrays]
    rest = [position for position, array in enumerate(placed) if array is None]
    if rest:
        put = jax.device_put([arrays[position] for position in rest])
        for position, array in zip(rest, put, strict=True):
            placed[position] = array
    return placed


class _Copy:
    """The copy of arrays of some shapes and dtypes.

    Attributes:
        compiled: by XLA; None before it has paid.
    """

    def __init__(self, key: Any):
        self.key: Any = key
        self.compiled: Any = None
        self.num_calls: int = 0

    @property
    def owner(self) -> "_Copy":
        """Whom `Recent` tells that the program is dropped."""
        return self

    def forget(self, _: "_Copy") -> None:
        """Drops the program."""
        _copies.pop(self.key, None)
        self.compiled = None

    def compile(self) -> None:
        """Compiles the copy, once."""
        types = [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in self.key[1:]]
        copied = jax.jit(lambda *arrays: list(arrays)).trace(*types)
        self.compiled = copied.lower().compile()
        compiled_entries.add(self)


_copies: dict[Any, _Copy] = {}


def _copied(arrays: Sequence[Any], may_compile: bool) -> list[jax.Array] | None:
    """The arrays on the device; None if there is no compiled copy for them."""
    for array in arrays:
        if type(array) is not np.ndarray or array.nbytes > _MOST_BYTES:
            return None
    is_x64 = _is_x64()
    key = is_x64, *[(array.shape, array.dtype) for array in arrays]
    copy = _copies.get(key)
    if copy is None:
        is_narrowed = not is_x64 and any(array.dtype.itemsize >= 8 for array in arrays)
        if is_narrowed or jax.default_backend() != "cpu":
            return None
        if len(_copies) >= _MOST_COPIES:
            _forget_rare()
        copy = _copies.setdefault(key, _Copy(key))
    # Read once: another thread may drop it.
    compiled = copy.compiled
    if compiled is not None:
        compiled_entries.use(copy)
        try:
            return compiled(*arrays)
        except jax.errors.JaxRuntimeError:
            # `jax.transfer_guard` permits explicit transfers only.
            return None
    copy.num_calls += 1
    if may_compile and copy.num_calls == _CALLS_BEFORE_COPY:
        compile_later(copy)
    return None


def _forget_rare() -> None:
    """Forgets the shapes without a program."""
    for key, copy in list(_copies.items()):
        if copy.compiled is None:
            _copies.pop(key, None)
