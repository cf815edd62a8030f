# SPDX-License-Identifier: Apache-2.0
"""Time, memory and communication of a function."""

import functools
import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
from jax.core import Tracer

from ..contract._arguments import as_static_int, type_of
from ._collectives import Collectives, collectives_in
from ._no_retrace import recorded_compilations


class Measured(NamedTuple):
    """What a function costs, as `measure` finds it.

    Attributes:
        cold_seconds: the first call: tracing, compiling and running.
        warm_seconds: the median of the calls after it.
        temporary_bytes: temporary memory on each device, or None where XLA does not say.
        collectives: `Collectives(count, bytes)` of one call on each device, by kind such as
            `"all-reduce"`. Rounds of a loop count each, or one where their number is not known.
        num_traces: how often the function was traced in all calls; more than one is a retrace.
    """

    cold_seconds: float
    warm_seconds: float
    temporary_bytes: int | None
    collectives: dict[str, Collectives]
    num_traces: int


def measure(fn: Callable[..., Any], *args: Any, repeats: int = 10) -> Measured:
    """Measures a function: cold and warm time, memory, collectives and traces.

    Args:
        fn: a function of arrays, which is jitted; or one that `jax.jit` or `compiled_step` made,
            whose cache is cleared first.
        args: its arguments.
        repeats: number of warm calls.

    Returns:
        `Measured(cold_seconds, warm_seconds, temporary_bytes, collectives, num_traces)`.

    Raises:
        TypeError: `fn` is not callable, an argument is traced, or `repeats` is not an integer.
        ValueError: `repeats` is below 1.

    Cost:
        One compilation and `repeats + 1` calls. Donated arguments are copied before each call, so
        the caller keeps them.

    Guarantees:
        Each call is timed until its result is there. Cold and warm calls do different work, so
        their ratio says nothing about speed: compare warm calls of two functions. JAX's persistent
        compilation cache, where it is on, shortens cold calls.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import staging
        >>> measured = staging.measure(lambda x: jnp.cumsum(x), jnp.ones(1000))
        >>> measured.cold_seconds > measured.warm_seconds
        True
        >>> measured.collectives, measured.num_traces
        ({}, 1)
    """
    if not callable(fn):
        raise TypeError(
            f"measure: fn must be callable, got {type_of(fn)}. Pass the function and its "
            "arguments, not its result."
        )
    repeats = as_static_int(repeats, "measure", "repeats", lowest=1)
    check_concrete(args, "measure")
    program = _uncompiled(fn)
    with recorded_compilations() as recorded:
        cold_seconds = seconds_of(program, copied(args))
    # The call compiled the program already.
    lowered = program.lower(*args)
    donates = any(info.donated for info in jax.tree.leaves(lowered.args_info))
    compiled = lowered.compile()
    memory = compiled.memory_analysis()
    with recorded_compilations() as recorded_later:
        warm_seconds = [
            seconds_of(program, copied(args) if donates else args) for _ in range(repeats)
        ]
    traced = recorded.traced + recorded_later.traced
    return Measured(
        cold_seconds,
        statistics.median(warm_seconds),
        None if memory is None else memory.temp_size_in_bytes,
        collectives_in(compiled.as_text() or ""),
        traced.count(getattr(program, "__name__", "")),
    )


def seconds_of(function: Callable[..., Any], args: Any) -> float:
    """Seconds of one call, until its result is there."""
    jax.block_until_ready(args)
    start = time.perf_counter()
    jax.block_until_ready(function(*args))
    return time.perf_counter() - start


def copied(tree: Any) -> Any:
    """Copies the arrays of a pytree, which a call may then donate."""
    return jax.tree.map(lambda leaf: leaf.copy() if isinstance(leaf, jax.Array) else leaf, tree)


def check_concrete(args: Any, caller: str) -> None:
    """Raises if an argument is traced."""
    for path, leaf in jax.tree_util.tree_leaves_with_path(args):
        if isinstance(leaf, Tracer):
            raise TypeError(
                f"{caller}: args must be concrete, got the traced {type_of(leaf)} at "
                f"args{jax.tree_util.keystr(path)}. Call it outside jit."
            )


def _uncompiled(fn: Callable[..., Any]) -> Any:
    """The function under `jax.jit`, with nothing traced."""
    clear_cache = getattr(fn, "clear_cache", None)
    if hasattr(fn, "lower") and clear_cache is not None:
        clear_cache()
        return fn

    # A new function each time, because JAX caches the traces of a function.
    @functools.wraps(fn)
    def traced(*args: Any) -> Any:
        return fn(*args)

    return jax.jit(traced)
