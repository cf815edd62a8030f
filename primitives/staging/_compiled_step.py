# SPDX-License-Identifier: Apache-2.0
"""A jitted function with nested static arguments that compiles once."""

import functools
import inspect
import warnings
from collections.abc import Callable, Iterable, Sequence
from types import MethodType
from typing import Any, Generic, Literal, ParamSpec, TypeVar

import jax

from ...shardings._arguments import did_you_mean
from ..contract._arguments import type_of
from ._differences import largest_difference
from ._frozen import frozen_argument, thaw
from ._measure import copied
from ._refusals import explain, is_of_tracing

Params = ParamSpec("Params")
Result = TypeVar("Result")


class CompiledStep(Generic[Params, Result]):
    """A compiled function, as `compiled_step` makes it. Call it like the function.

    Attributes:
        mode: `"compiled"`, or `"eager"` once a call has fallen back.
        num_traces: how often the function was traced.
    """

    def __init__(
        self,
        fn: Callable[Params, Result],
        static: tuple[str, ...],
        donate: tuple[str, ...],
        on_unsupported: str,
    ):
        self.mode: Literal["compiled", "eager"] = "compiled"
        self.num_traces = 0
        self._function = fn
        self._on_unsupported = on_unsupported
        self._static_names = static
        self._donated_names = donate
        self._positions = _positions(fn) if static or donate else {}
        self._static_positions = tuple(
            (self._positions[name], name) for name in static if name in self._positions
        )
        self._jitted = self._new_program()
        functools.update_wrapper(self, fn)

    def _new_program(self) -> Any:
        """The function under `jax.jit`, with frozen static arguments and nothing compiled."""
        function: Callable[..., Result] = self._function

        @functools.wraps(function)
        def traced(*args: Any, **kwargs: Any) -> Result:
            self.num_traces += 1
            thawed = list(args)
            for position, _ in self._static_positions:
                if position < len(thawed):
                    thawed[position] = thaw(thawed[position])
            for name in self._static_names:
                if name in kwargs:
                    kwargs[name] = thaw(kwargs[name])
            return function(*thawed, **kwargs)

        donated, by_position = self._donated_names, _positional_only(function)
        return jax.jit(
            traced,
            static_argnums=tuple(position for position, _ in self._static_positions),
            static_argnames=[name for name in self._static_names if name not in by_position],
            donate_argnums=tuple(
                self._positions[name] for name in donated if name in self._positions
            ),
            donate_argnames=[name for name in donated if name not in by_position],
        )

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """As a method of a class: the step of an instance, which is its first argument."""
        return self if instance is None else MethodType(self, instance)

    def __call__(self, *args: Params.args, **kwargs: Params.kwargs) -> Result:
        if self.mode == "eager":
            return self._function(*args, **kwargs)
        try:
            frozen, frozen_keywords = self._frozen(args), self._frozen_keywords(kwargs)
        except TypeError as error:
            if self._on_unsupported == "eager":
                return self._run_eagerly(error, *args, **kwargs)
            raise
        try:
            return self._jitted(*frozen, **frozen_keywords)
        except (TypeError, IndexError, ValueError, RuntimeError) as error:
            if not is_of_tracing(error):
                explain(error, self._named_arrays(args, kwargs), self._donated_names)
                raise
            if self._on_unsupported == "eager":
                return self._run_eagerly(error, *args, **kwargs)
            error.add_note(
                "compiled_step: name the argument that the program depends on in static, or pass "
                'on_unsupported="eager".'
            )
            raise

    def check(self, *args: Params.args, **kwargs: Params.kwargs) -> float:
        """Compares a compiled call with an eager one.

        Donated arguments are copied first, so the caller keeps them.

        Returns:
            The largest difference found, relative to the largest magnitude of its array.

        Raises:
            AssertionError: a result differs by more than 1e-5 in relation to the largest magnitude
                of its array, or four roundings of its dtype if that is more. Integers and bools
                must be equal. The message names the first one that differs.
        """
        eager = self._function(*args, **kwargs)
        args, kwargs = copied((args, kwargs))
        return largest_difference(self(*args, **kwargs), eager, "CompiledStep.check")

    def lower(self, *args: Params.args, **kwargs: Params.kwargs) -> jax.stages.Lowered:
        """Traces and lowers for these arguments, as `jax.jit(fn).lower` does."""
        return self._jitted.lower(*self._frozen(args), **self._frozen_keywords(kwargs))

    def clear_cache(self) -> None:
        """Forgets what was traced and compiled."""
        self._jitted = self._new_program()

    def _frozen(self, args: tuple[Any, ...]) -> Sequence[Any]:
        if not self._static_positions:
            return args
        frozen = list(args)
        for position, name in self._static_positions:
            if position < len(frozen):
                frozen[position] = frozen_argument(frozen[position], "compiled_step", name)
        return frozen

    def _frozen_keywords(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        if not kwargs:
            return kwargs
        return kwargs | {
            name: frozen_argument(kwargs[name], "compiled_step", name)
            for name in self._static_names
            if name in kwargs
        }

    def _run_eagerly(self, error: Exception, *args: Any, **kwargs: Any) -> Result:
        result = self._function(*args, **kwargs)
        self.mode = "eager"
        reason = str(error).partition("\n")[0]
        warnings.warn(
            f"compiled_step: {_name_of(self._function)} runs eagerly from now on, because it could "
            f"not be compiled: {reason}",
            RuntimeWarning,
            stacklevel=3,
        )
        return result

    def _named_arrays(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The arguments that are not static, by name."""
        static = {position for position, _ in self._static_positions}
        names = {position: name for name, position in _positions(self._function).items()}
        given = {
            names.get(i, f"argument {i}"): arg for i, arg in enumerate(args) if i not in static
        }
        return given | {name: arg for name, arg in kwargs.items() if name not in self._static_names}


def compiled_step(
    fn: Callable[Params, Result],
    static: str | Sequence[str] = (),
    donate: str | Sequence[str] = (),
    on_unsupported: Literal["raise", "eager"] = "raise",
) -> CompiledStep[Params, Result]:
    """Compiles a function; static arguments may be nested lists, dicts and sets.

    Static arguments are frozen on each call and thawed while the function is traced. A new object
    of equal content compiles nothing.

    Args:
        fn: a function of arrays and static arguments.
        static: names of the arguments that the program depends on: `freeze` must accept them.
        donate: names of the arguments whose buffers the result may reuse. They are gone afterwards.
        on_unsupported: for a program that cannot be traced, or a static argument that cannot be
            hashed: `"raise"`, or `"eager"` to warn once and call `fn` itself from then on.

    Returns:
        A `CompiledStep`: call it like `fn`. `mode` says whether it is compiled or eager, and
        `check(*args)` compares both.

    Raises:
        TypeError: a static argument has an unhashable leaf, or another argument one that is not an
            array. Both are found by the call, and named by their path.
        ValueError: a name is not an argument of `fn`, or is both static and donated;
            `on_unsupported` is unknown.

    Cost:
        A call costs `jax.jit`'s dispatch and one `freeze` of each static argument.

    Guarantees:
        One trace for each combination of shapes, dtypes and static values. Only errors of tracing
        make it fall back; errors of `fn` are raised. An eager call donates nothing.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import staging
        >>> def step(x, config):
        ...     for scale in config["scales"]:
        ...         x = x * scale
        ...     return x
        >>> compiled = staging.compiled_step(step, static="config")
        >>> [float(compiled(jnp.float32(x), {"scales": [2, 3]})) for x in (1, 10, 100)]
        [6.0, 60.0, 600.0]
        >>> compiled.num_traces, compiled.mode
        (1, 'compiled')
    """
    if not callable(fn):
        raise TypeError(
            f"compiled_step: fn must be callable, got {type_of(fn)}. Pass a function of arrays."
        )
    if on_unsupported not in ("raise", "eager"):
        raise ValueError(
            f'compiled_step: on_unsupported must be "raise" or "eager", got {on_unsupported!r}.'
            f"{did_you_mean(on_unsupported, ('raise', 'eager'))}"
        )
    static = _names(fn, static, "static")
    donate = _names(fn, donate, "donate")
    both = [name for name in static if name in donate]
    if both:
        raise ValueError(
            f"compiled_step: static and donate must not share arguments, got {both[0]!r} in both. "
            "Static values have no buffers: remove it from donate."
        )
    return CompiledStep(fn, static, donate, on_unsupported)


def _names(fn: Callable[..., Any], names: str | Sequence[str], argument: str) -> tuple[str, ...]:
    """Checks that names are those of arguments of a function."""
    names = (names,) if isinstance(names, str) else names
    if not isinstance(names, Iterable) or not all(isinstance(name, str) for name in names):
        raise TypeError(
            f"compiled_step: {argument} must be a name or a list of names, got {names!r}. Pass the "
            "names of arguments, not their positions."
        )
    names = tuple(names)
    if not names:
        return names
    parameters = _parameters(fn)
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return names
    known = [p.name for p in parameters if p.kind is not p.VAR_POSITIONAL]
    for name in names:
        if name not in known:
            raise ValueError(
                f"compiled_step: {argument} must name arguments of {_name_of(fn)}, got {name!r}. "
                f"Its arguments are {', '.join(known)}.{did_you_mean(name, known)}"
            )
    return names


def _positions(fn: Callable[..., Any]) -> dict[str, int]:
    """Positions of the arguments that can be passed by position."""
    by_position = (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
    )
    return {p.name: i for i, p in enumerate(_parameters(fn)) if p.kind in by_position}


def _positional_only(fn: Callable[..., Any]) -> set[str]:
    return {p.name for p in _parameters(fn) if p.kind is p.POSITIONAL_ONLY}


def _parameters(fn: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters of a function; none where Python does not know them."""
    try:
        return list(inspect.signature(fn).parameters.values())
    except ValueError:
        return []


def _name_of(fn: Callable[..., Any]) -> str:
    return getattr(fn, "__name__", type(fn).__name__)
