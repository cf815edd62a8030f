# SPDX-License-Identifier: Apache-2.0
"""Errors of host functions, raised by the running program."""

import contextlib
import re
from collections.abc import Iterator

import jax
import numpy as np
import pytest
from jaxframes.primitives.staging import host_map


@contextlib.contextmanager
def fails(message: str) -> Iterator[None]:
    """Expects an error of the program, with our message inside of JAX's."""
    with pytest.raises(jax.errors.JaxRuntimeError, match=re.escape(message)):
        yield
    # JAX keeps the state of the last program with a callback on each device, and would raise the
    # error again at the end of the process: a new program takes its place.
    xs = np.arange(jax.device_count(), dtype=np.int32)
    jax.block_until_ready(
        host_map(lambda x: x, xs, jax.ShapeDtypeStruct((), np.int32), strategy="mesh")
    )
