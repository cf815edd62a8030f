# SPDX-License-Identifier: Apache-2.0
"""Compiled functions whose first calls on the CPU are interpreted."""

import contextlib
import functools
import inspect
import itertools
import logging
import operator
import os
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from ...shardings._compat import is_under_trace, option
from ..contract._platform import traced_for
from ..kernels.base._library import load
from ._background import compile_later
from ._elementwise_rules import HostArray
from ._equal_rounding import NotInterpretable
from ._kernel_calls import spent_in_kernels
from ._pieces import for_xla
from ._placing import on_device
from ._program import Program
from ._recent import compiled_entries, interpreted_entries

# The classes of concrete arrays that were seen, and those of numbers, which have one dtype.
_array_types: set[type] = set()
_number_types: set[type] = {int, float, bool}

# What XLA takes to compile a program: in any case, and for each step.
_COMPILE_SECONDS = 20e-3
_COMPILE_SECONDS_OF_STEP = 1e-3
# A program that was called so often is probably called in a loop. For few rows the interpreter
# takes several times as long, but hundreds of calls to take as long as a compilation.
_MOST_INTERPRETED_CALLS = 32
# XLA runs a program on another thread, which must wake up first, unless it is small.
_DISPATCH_SECONDS = 60e-6
# A call is as long in Python, before that.
_PYTHON_SECONDS = 40e-6
# A small program runs on the thread of the caller.
_CALL_SECONDS = 10e-6
_is_x64 = option("jax_enable_x64")
_TRACING_OPTIONS = (_is_x64, *map(option, (
    "jax_default_device", "jax_numpy_dtype_promotion", "jax_numpy_rank_promotion",
    "jax_default_matmul_precision",
)))  # fmt: skip
# Dropping traces takes a pass over all functions, so it is rare; see `_drop_traces`.
_FORGOTTEN_BEFORE_TRACES = 128
_is_jit_disabled, _default_device = option("jax_disable_jit"), option("jax_default_device")
_debugs_nans, _debugs_infs = option("jax_debug_nans"), option("jax_debug_infs")

_log = logging.getLogger(__name__)


@functools.cache
def mode() -> str:
    """The tiers in use: the variable JAXFRAMES_TIERS, "auto" by default."""
    name = os.environ.get("JAXFRAMES_TIERS", "auto")
    if name not in ("auto", "compiled", "interpreted"):
        raise ValueError(
            f"JAXFRAMES_TIERS must be 'auto', 'compiled' or 'interpreted', got {name!r}."
        )
    return "compiled" if load()[0] is None else name


def tiered(function: Callable[..., Any], *, in_pieces: bool = False, **options: Any) -> "Tiered":
    """Compiles a function as `jax.jit` does, without a wait at its first calls on the CPU.

    A first call with concrete arrays of one CPU device traces the function and runs its equations
    by NumPy and by the C++ kernels. A second thread compiles the program as soon as its
    interpretation, without the kernels, has taken as long as a compilation would, or after 32
    calls; later calls use it. Calls on other devices, on meshes and under a trace are those of
    `jax.jit`.

    A program is interpreted only if its results are XLA's to the last bit. Operations on floats
    that XLA would contract or reassociate (a product and a sum) are rounded one by one in both. A
    program is compiled at the first call if it sums floats in an unspecified order, calls a
    transcendental function, computes with complex numbers or with floats of 16 bits, or has side
    effects.

    At most 256 compiled programs are kept (fewer with many devices), and 512 interpreted ones:
    those used least recently are dropped.

    Args:
        function: as for `jax.jit`.
        in_pieces: whether the function calls `by_pieces`, so that it is traced once more for XLA.
        options: those of `jax.jit`, such as `static_argnums`.

    Returns:
        A function with the arguments and results of `function`, and with the methods of
        `jax.jit(function)`.

    Raises:
        ValueError: the variable JAXFRAMES_TIERS is not "auto", "compiled" (always XLA) or
            "interpreted" (never XLA, if the results are the same).

    Cost:
        A call adds about 4 microseconds to that of `jax.jit`, and 1 for each array.

    Guarantees:
        Deterministic: the same bits in both tiers.

    References:
        Kohn, Leis and Neumann (2018), "Adaptive execution of compiled queries".

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import staging
        >>> largest = staging.tiered(lambda x: jnp.sort(x)[-2:])
        >>> largest(jnp.array([3, 1, 4, 1, 5])).tolist()
        [4, 5]
    """
    return Tiered(function, options, in_pieces)


class Tiered:
    """A function of `tiered`."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any], in_pieces: bool):
        functools.update_wrapper(self, function)
        self.is_in_pieces = in_pieces
        self._function, self._options = function, options
        # For calls that are left to JAX: on other platforms and under a trace.
        self._jit: Any = jax.jit(function, **options)
        self._static_numbers, self._static_names = _static(function, options)
        # The positions of the static and of the other arguments, by their number.
        self._places: dict[int, tuple[list[int], ...]] = {}
        self._entries: dict[Any, Entry] = {}
        _functions.add(self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function."""
        if mode() == "compiled" or _is_under_a_trace() or is_debugging():
            return self._jit(*args, **kwargs)
        static, dynamic = self._divided(args, kwargs)
        leaves, tree = jax.tree.flatten(dynamic)
        signature = _signature(leaves)
        if signature is None:
            return self._jit(*args, **kwargs)
        key = (static, tree, signature)
        try:
            entry = self._entries.get(key)
        except TypeError:  # JAX has an error of its own for what is not hashable.
            return self._jit(*args, **kwargs)
        if entry is None:
            entry = self._new_entry(key, args, kwargs)
        if entry.has_effects:
            return self._jit(*args, **kwargs)
        program = entry.program
        if entry.compiled is None and program is not None:
            try:
                results = _interpreted(entry, program, leaves)
                if entry.is_due:
                    self._compile_later(entry, args, kwargs)
                return results
            except Exception as reason:
                # XLA has the last word, on errors of the kernels too.
                _log.debug("%s is compiled: %s", self.__qualname__, reason)
        return entry.run(dynamic, leaves)

    def on_host(self, *args: Any) -> Any:
        """Interprets the function in the memory of the host, if that is quicker than a program.

        Args:
            args: arrays of NumPy and numbers, which may be read-only, and the static arguments.

        Returns:
            The results as arrays of NumPy, which may be those of the arguments, with the bits of
            `__call__`. None if an argument is an array of JAX, or if XLA has to compile the
            function.
        """
        if mode() == "compiled" or is_debugging():
            return None
        static, dynamic = self._divided(args, {})
        leaves, tree = jax.tree.flatten(dynamic)
        signature = _signature(leaves, of_host=True)
        if signature is None:
            return None
        key = (static, tree, signature, "on_host")
        entry = self._entries.get(key)
        if entry is None:
            entry = self._new_entry(key, args, {}, may_compile=False)
        program = entry.program
        if program is None or program.seconds > _DISPATCH_SECONDS + _PYTHON_SECONDS:
            return None
        try:
            results = interpret(program, leaves)
        except Exception as reason:
            _log.debug("%s is not interpreted: %s", self.__qualname__, reason)
            return None
        return jax.tree.unflatten(entry.out_tree, results)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._jit, name)

    def forget(self, entry: "Entry") -> None:
        """Drops what is known for one signature, and the program compiled for it."""
        if self._entries.get(entry.key) is entry:
            del self._entries[entry.key]
        entry.compiled = entry.program = None
        _drop_traces()

    def _divided(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        """The static arguments, and the others."""
        numbers, names = self._static_numbers, self._static_names
        if not numbers and not names:
            return (), (args, kwargs)
        places = self._places.get(len(args))
        if places is None:
            places = self._places[len(args)] = tuple(
                [n for n in range(len(args)) if (n in numbers) is is_static]
                for is_static in (True, False)
            )
        given = [args[n] for n in places[0]]
        # Equal values of different types are different arguments.
        static: Any = (*map(type, given), *given)
        args = tuple([args[n] for n in places[1]])
        if kwargs:
            named = tuple([(k, type(arg), arg) for k, arg in kwargs.items() if k in names])
            return (static, named), (args, {k: v for k, v in kwargs.items() if k not in names})
        return static, (args, kwargs)

    def _new_entry(self, key: Any, args: Any, kwargs: Any, *, may_compile: bool = True) -> "Entry":
        num_cpus = _num_cpus(key[2])
        platform = "cpu" if num_cpus else None
        traced = self._trace(platform, False, args, kwargs)
        entry = Entry(self, key, traced, platform, is_on_host=num_cpus == 1)
        if entry.is_on_host and not traced.donate_argnums and not entry.has_effects:
            try:
                if any(aval.weak_type for aval in traced.jaxpr.out_avals):
                    raise NotInterpretable("results of weak type")
                entry.program = self._program_of(traced.jaxpr)
                if entry.program.is_apart:
                    entry.keep_apart(entry.program, jax.tree.leaves(self._divided(args, kwargs)[1]))
                if mode() == "auto" and entry.program.seconds > entry.compile_seconds:
                    _log.debug(
                        "%s is compiled: interpreted it would take %.3f s",
                        self.__qualname__, entry.program.seconds,
                    )  # fmt: skip
                    entry.program = None
            except NotInterpretable as reason:
                _log.debug("%s is compiled: %s", self.__qualname__, reason)
        if entry.program is None and may_compile:
            self._prepare(entry, args, kwargs)
        self._entries[key] = entry
        interpreted_entries.add(entry)
        return entry

    def _program_of(self, jaxpr: Any) -> Program:
        if not self._options.keys() <= _OPTIONS_OF_ARGUMENTS:
            # What is compiled in place of the function has no other options.
            return Program(jaxpr)
        if self.is_in_pieces:
            # Pieces are another program for XLA, which does not keep operations apart.
            with contextlib.suppress(NotInterpretable):
                return Program(jaxpr)
        return Program(jaxpr, keeps_apart=True)

    def _compile_later(self, entry: "Entry", args: Any, kwargs: Any) -> None:
        entry.is_due = False
        self._prepare(entry, args, kwargs)
        compile_later(entry)

    def _prepare(self, entry: "Entry", args: Any, kwargs: Any) -> None:
        """Traces the function for XLA, if that is another program than the interpreter's."""
        if self.is_in_pieces and entry.is_on_host:
            entry.traced = self._trace(entry.platform, True, args, kwargs)

    def _trace(self, platform: str | None, is_for_xla: bool, args: Any, kwargs: Any) -> Any:
        """Traces a copy of the function.

        JAX keeps a trace, and the program that is compiled of it, as long as the function. A copy
        goes at once, so that a dropped entry takes its program with it.
        """
        copied = jax.jit(_copy_of(self._function), **self._options)
        with traced_for(platform), for_xla(is_for_xla):
            return copied.trace(*args, **kwargs)


def _copy_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """Another object that is called, and looks, as the function does."""

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return called


# All functions, for their traces.
_functions: weakref.WeakSet[Tiered] = weakref.WeakSet()
_num_forgotten = itertools.count(1)


def _drop_traces() -> None:
    """Drops the traces of all functions at every 128th call.

    JAX keeps a trace of each function for each signature with which another one calls it. Programs
    that are in use keep their own.
    """
    if next(_num_forgotten) % _FORGOTTEN_BEFORE_TRACES == 0:
        for function in list(_functions):
            function._jit.clear_cache()


class Entry:
    """What is known of a function for one signature of its arguments.

    Attributes:
        owner: the function.
        key: its static arguments, the structure of the others, and their signature.
        program: for the interpreter; None if it must not be used.
        compiled: by XLA; None before it is needed.
        traced: the function as traced for XLA.
        platform: "cpu" if all arguments are on CPU devices, else None.
        is_on_host: whether that is one device, so that the interpreter can run the function.
        has_effects: such a function is left to `jax.jit`.
        num_calls: the number of calls that were interpreted.
        is_due: whether the program must be compiled in the background, since that would pay.
    """

    def __init__(
        self, owner: Tiered, key: Any, traced: Any, platform: str | None, *, is_on_host: bool
    ):
        self.owner: Tiered = owner
        self.key: Any = key
        self.program: Program | None = None
        self.compiled: Any = None
        self.has_effects: bool = bool(traced.jaxpr.effects)
        self.traced: Any = traced
        self.platform: str | None = platform
        self.is_on_host: bool = is_on_host
        self._is_x64, self._device = bool(_is_x64()), _default_device()
        self.num_calls: int = 0
        self.is_due: bool = False
        # The program that XLA compiles in place of the function, and the types of its arguments.
        self._apart: tuple[Program, list[Any]] | None = None
        self._zero: Any = None
        self._seconds, self._was_due = 0.0, False

    @property
    def out_tree(self) -> Any:
        """The structure of the results."""
        return self.traced.out_tree

    @property
    def compile_seconds(self) -> float:
        """An estimate of the time that XLA takes."""
        num_steps = 0 if self.program is None else self.program.num_steps
        return _COMPILE_SECONDS + _COMPILE_SECONDS_OF_STEP * num_steps

    def compile(self) -> Any:
        """The program of XLA, which is compiled once."""
        compiled = self.compiled
        if compiled is not None:
            compiled_entries.use(self)
            return compiled
        with (
            traced_for(self.platform),
            jax.enable_x64(self._is_x64),
            jax.default_device(self._device),
        ):
            traced = self.traced
            if self._apart is not None:
                traced = self._trace_apart(*self._apart)
            compiled = traced.lower().compile()
        self.compiled, self.program = compiled, None
        interpreted_entries.remove(self)
        compiled_entries.add(self)
        return compiled

    def keep_apart(self, program: Program, leaves: list[Any]) -> None:
        """Has XLA compile a program that keeps its operations on floats apart."""
        self._apart = program, list(map(_type_of, leaves))

    def _trace_apart(self, program: Program, types: list[Any]) -> Any:
        def replay(zero: Any, *leaves: Any) -> list[Any]:
            return program.replay(leaves, zero)

        # The name by which logs tell programs apart.
        replay.__name__ = getattr(self.owner, "__name__", replay.__name__)
        # No compiler knows that an argument is zero. It lies beside the others.
        places = (one.sharding for one in types if one.sharding is not None)
        self._zero = jax.device_put(np.uint32(0), next(places, None))
        return jax.jit(replay).trace(self._zero, *types)

    def run(self, arguments: tuple[Any, Any], leaves: list[Any]) -> Any:
        """Calls the compiled program with the arguments that are not static, and their leaves."""
        compiled = self.compile()
        if self._apart is None:
            return compiled(*arguments[0], **arguments[1])
        return jax.tree.unflatten(self.out_tree, compiled(self._zero, *leaves))

    def spend(self, seconds: float) -> None:
        """Adds up the time of interpretation; asks once for compilation, when that would pay."""
        interpreted_entries.use(self)
        self._seconds += seconds
        self.num_calls += 1
        if mode() == "auto" and not self._was_due and self._would_pay:
            self._was_due = self.is_due = True

    @property
    def _would_pay(self) -> bool:
        if self._seconds > self.compile_seconds:
            return True
        # Programs in pieces are run on the thread of the caller.
        dispatch = _CALL_SECONDS if self.owner.is_in_pieces else _DISPATCH_SECONDS
        is_slow = self._seconds > self.num_calls * dispatch
        return is_slow and self.num_calls > _MOST_INTERPRETED_CALLS


# The options with which a program may keep operations apart.
_OPTIONS_OF_ARGUMENTS = {"static_argnums", "static_argnames", "keep_unused", "inline"}


def _type_of(leaf: Any) -> jax.ShapeDtypeStruct:
    """What a program is traced for in place of an argument."""
    aval = jax.typeof(leaf)
    sharding = leaf.sharding if isinstance(leaf, jax.Array) and leaf.committed else None
    return jax.ShapeDtypeStruct(aval.shape, aval.dtype, sharding=sharding, weak_type=aval.weak_type)


def _interpreted(entry: Entry, program: Program, leaves: list[Any]) -> Any:
    """The results of the interpreter, as JAX's arrays."""
    start = time.perf_counter() - spent_in_kernels.seconds
    results = interpret(program, leaves)
    # Uncommitted arguments have uncommitted results, as by `jax.jit`.
    devices = {leaf.device for leaf in leaves if type(leaf) in _array_types and leaf.committed}
    given = [leaf for leaf in leaves if type(leaf) is np.ndarray]
    # JAX may take over NumPy's memory: that of the caller must be copied.
    results = [
        result.copy() if any(np.may_share_memory(result, leaf) for leaf in given) else result
        for result in results
    ]
    if devices:
        arrays = jax.device_put(results, *devices)
    else:
        arrays = on_device(results, may_compile=mode() == "auto")
    entry.spend(time.perf_counter() - spent_in_kernels.seconds - start)
    return jax.tree.unflatten(entry.out_tree, arrays)


def interpret(
    program: Callable[[Sequence[Any]], list[HostArray]], leaves: Sequence[Any]
) -> list[HostArray]:
    """Runs a program or a kernel with the floating point of XLA's threads.

    They flush subnormal numbers.
    """
    library = load()[0]
    assert library is not None
    before = library.jaxframes_flush_subnormals(1)
    try:
        with np.errstate(all="ignore"):
            return program(leaves)
    finally:
        library.jaxframes_flush_subnormals(before)


def _static(
    function: Callable[..., Any], options: dict[str, Any]
) -> tuple[frozenset[int], frozenset[str]]:
    """The positions and the names of static arguments; JAX infers one from the other."""
    numbers, names = options.get("static_argnums", ()), options.get("static_argnames", ())
    numbers = {numbers} if isinstance(numbers, int) else set(numbers or ())
    names = {names} if isinstance(names, str) else set(names or ())
    if not numbers and not names:
        return frozenset(), frozenset()
    parameters = inspect.signature(function).parameters
    positions = list(parameters)
    by_keyword = inspect.Parameter.KEYWORD_ONLY
    names |= {
        positions[number]
        for number in numbers
        if number < len(positions)
        and parameters[positions[number]].kind != inspect.Parameter.VAR_POSITIONAL
    }
    numbers |= {positions.index(name) for name in names if parameters[name].kind != by_keyword}
    return frozenset(numbers), frozenset(names)


def _signature(leaves: Sequence[Any], *, of_host: bool = False) -> tuple[Any, ...] | None:
    """A hashable description of arguments; None if one is traced, or not an array or a number.

    With `of_host`, also if one is an array of JAX.
    """
    parts: list[Any] = [*map(operator.call, _TRACING_OPTIONS)]
    for leaf in leaves:
        kind = type(leaf)
        if kind is np.ndarray:
            parts.append((leaf.shape, leaf.dtype))
        elif kind in _number_types or _is_number(leaf):
            parts.append(kind)
        elif kind in _array_types or _is_array(leaf):
            if of_host:
                return None
            parts.append((leaf.aval, leaf.sharding, leaf.committed))
        elif isinstance(leaf, np.generic):
            parts.append((leaf.shape, leaf.dtype))
        else:
            return None
    return tuple(parts)


def _is_array(leaf: Any) -> bool:
    if not isinstance(leaf, jax.Array) or isinstance(leaf, Tracer):
        return False
    _array_types.add(type(leaf))
    return True


def _is_number(leaf: Any) -> bool:
    if not isinstance(leaf, (np.number, np.bool_)):
        return False
    _number_types.add(type(leaf))
    return True


def _num_cpus(signature: tuple[Any, ...]) -> int:
    """The number of devices that the arguments are on, if all are CPU devices; else 0."""
    shardings = {part[1] for part in signature if isinstance(part, tuple) and len(part) == 3}
    if not shardings:
        return int(jax.default_backend() == "cpu")
    counts = list(map(_num_cpus_of, shardings))
    return max(counts) if all(counts) else 0


@functools.lru_cache(1024)
def _num_cpus_of(sharding: Any) -> int:
    devices = sharding.device_set
    return len(devices) if all(device.platform == "cpu" for device in devices) else 0


def _is_under_a_trace() -> bool:
    return is_under_trace() or not jax.sharding.get_abstract_mesh().empty


def is_debugging() -> bool:
    """Whether JAX must call each function itself: to check the results, or by `disable_jit`."""
    return _debugs_nans() or _debugs_infs() or _is_jit_disabled()
