# SPDX-License-Identifier: Apache-2.0
"""Typed calls of the C++ kernels, inside and outside `shard_map`."""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from ...shardings._compat import as_varying, result_type_of, varying_axes
from .._typing import Array

ResultShape = tuple[tuple[int, ...], Any]


def call(
    target: str, arrays: Sequence[Array], results: Sequence[ResultShape], **attributes: np.generic
) -> tuple[Array, ...]:
    """Calls a kernel on one row of a batch; `vmap` adds leading axes to every buffer.

    Args:
        target: name that the kernel is registered under.
        arrays: the arguments, each with a leading batch axis of length one.
        results: shape and dtype of each result, without the batch axis.
        attributes: NumPy scalars, whose types the kernel checks.

    Returns:
        The results, which vary over the mesh axes over which any argument varies.
    """
    axes = varying_axes(*arrays)
    outputs = jax.ffi.ffi_call(
        target,
        [result_type_of((1, *shape), dtype, axes) for shape, dtype in results],
        vmap_method="broadcast_all",
    )(*as_varying(tuple(arrays), axes), **attributes)
    return tuple(output[0] for output in outputs)


def word_attribute(bits: int) -> np.int64:
    """The bits of a word as an attribute: JAX passes no unsigned one of 2**63 or more."""
    return np.uint64(bits).view(np.int64)
