# SPDX-License-Identifier: Apache-2.0
"""What JAX traces and compiles in a block of code."""

import contextlib
import threading
from collections.abc import Iterator
from typing import NamedTuple

import jax

from ...shardings._compat import COMPILE_EVENT, TRACE_EVENT


class RetraceError(RuntimeError):
    """Something was traced or compiled inside `no_retrace`."""


class Compilations(NamedTuple):
    """Names of functions in the order in which JAX handled them."""

    traced: list[str]
    compiled: list[str]


@contextlib.contextmanager
def recorded_compilations() -> Iterator[Compilations]:
    """Records what this thread traces and compiles."""
    recorded = Compilations([], [])
    thread = threading.get_ident()

    def record(event: str, duration_secs: float, **kwargs: str | int) -> None:
        if threading.get_ident() != thread:
            return
        name = str(kwargs.get("fun_name", "a function"))
        if event == TRACE_EVENT:
            recorded.traced.append(name)
        elif event == COMPILE_EVENT:
            recorded.compiled.append(name.removeprefix("jit(").removesuffix(")"))

    jax.monitoring.register_event_duration_secs_listener(record)
    try:
        yield recorded
    finally:
        jax.monitoring.unregister_event_duration_listener(record)


@contextlib.contextmanager
def no_retrace() -> Iterator[None]:
    """Raises at the end of a block in which something was traced or compiled.

    Call each step once before the block. Inside it, a shape, a dtype, a sharding or a static value
    that changed unnoticed is an error.

    Returns:
        A context manager.

    Raises:
        RetraceError: this thread traced or compiled something; the message names the functions.

    Cost:
        None for calls of compiled functions.

    Guarantees:
        Covers `jax.jit` and all that is built on it, eager operations included. Other threads do
        not count. An error of the block itself is raised in its place.

    Example:
        >>> import jax
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import staging
        >>> double = jax.jit(lambda x: 2 * x)
        >>> batches = [jnp.ones(3), jnp.zeros(3), jnp.ones(4)]
        >>> _ = double(batches[0])
        >>> with staging.no_retrace():
        ...     _ = double(batches[1])
        >>> with staging.no_retrace():  # doctest: +IGNORE_EXCEPTION_DETAIL
        ...     _ = double(batches[2])
        Traceback (most recent call last):
        RetraceError: no_retrace: the block must run compiled functions only, got 1 traced ...
    """
    with recorded_compilations() as recorded:
        yield
    if not any(recorded):
        return
    found = " and ".join(
        f"{len(names)} {verb} ({', '.join(dict.fromkeys(names))})"
        for verb, names in zip(("traced", "compiled"), recorded, strict=True)
        if names
    )
    raise RetraceError(
        f"no_retrace: the block must run compiled functions only, got {found}. Call them before "
        "the block, with the same shapes, dtypes, shardings and static values."
    )
