# SPDX-License-Identifier: Apache-2.0
"""The faster of an eager and a compiled call."""

from collections.abc import Callable, Sequence
from typing import Any, Generic, Literal, TypeVar

import jax

from ..contract._arguments import type_of
from ._measure import check_concrete, copied, seconds_of
from ._refusals import is_of_tracing

Result = TypeVar("Result")


class Chosen(Generic[Result]):
    """The faster form of a function, as `choose` finds it. Call it like the function.

    Attributes:
        mode: `"compiled"` or `"eager"`.
        eager_seconds: one warm eager call.
        compiled_seconds: one warm compiled call, or None if the function cannot be traced.
    """

    def __init__(
        self,
        eager: Callable[..., Result],
        compiled: Callable[..., Result],
        eager_seconds: float,
        compiled_seconds: float | None,
    ):
        is_compiled = compiled_seconds is not None and compiled_seconds <= eager_seconds
        self.mode: Literal["compiled", "eager"] = "compiled" if is_compiled else "eager"
        self.eager_seconds = eager_seconds
        self.compiled_seconds = compiled_seconds
        self._function = compiled if is_compiled else eager

    def __call__(self, *args: Any, **kwargs: Any) -> Result:
        return self._function(*args, **kwargs)


def choose(fn: Callable[..., Result], args: Sequence[Any]) -> Chosen[Result]:
    """Times an eager and a compiled call, and keeps the faster form.

    Compiling loses where a program does little, or where the eager form takes a path that cannot be
    traced, such as NumPy's.

    Args:
        fn: a function of arrays; or one that `jax.jit` or `compiled_step` made.
        args: its arguments, of the size that matters.

    Returns:
        A `Chosen`: call it like `fn`. `mode` says which form it kept, `eager_seconds` and
        `compiled_seconds` say why.

    Raises:
        TypeError: `fn` is not callable, `args` is not a sequence, or an argument is traced.

    Cost:
        One compilation and two calls of each form; the second ones are timed. Arguments are copied
        before each compiled call, so the caller keeps donated ones.

    Guarantees:
        Each call is timed until its result is there. A function that cannot be traced stays eager.
        The times are of this machine and these arguments, so the choice may differ elsewhere.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import staging
        >>> chosen = staging.choose(lambda x: x + 1 if x > 0 else x, [jnp.float32(1)])
        >>> chosen.mode, chosen.compiled_seconds
        ('eager', None)
        >>> float(chosen(jnp.float32(2)))
        3.0
    """
    if not callable(fn):
        raise TypeError(
            f"choose: fn must be callable, got {type_of(fn)}. Pass the function and a list of its "
            "arguments."
        )
    if not isinstance(args, (tuple, list)):
        raise TypeError(
            f"choose: args must be a list or tuple of arguments, got {type_of(args)}. "
            "Put a single argument into a list."
        )
    check_concrete(args, "choose")
    is_compiled = hasattr(fn, "lower") and hasattr(fn, "__wrapped__")
    eager: Callable[..., Result] = getattr(fn, "__wrapped__") if is_compiled else fn  # noqa: B009
    compiled = fn if is_compiled else jax.jit(fn)
    eager_seconds = _warm_seconds(eager, args)
    try:
        compiled_seconds = _warm_seconds(compiled, args)
    except Exception as error:
        if not is_of_tracing(error):
            raise
        compiled_seconds = None
    return Chosen(eager, compiled, eager_seconds, compiled_seconds)


def _warm_seconds(function: Callable[..., Any], args: Any) -> float:
    seconds_of(function, copied(args))
    return seconds_of(function, copied(args))
