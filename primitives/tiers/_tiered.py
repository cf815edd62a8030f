# SPDX-License-Identifier: Apache-2.0
"""Compiled functions whose first calls on the CPU are interpreted."""

import contextlib
import functools
import inspect
import itertools
import logging
import sys
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import jax

from ...shardings._compat import is_under_trace, is_x64_enabled
from ..contract._platform import one_device_for, traced_for
from ._background import compile_later
from ._entry import Entry, interpret, is_quick, mode
from ._equal_rounding import NotInterpretable
from ._kept_programs import keep, name_of, read
from ._mesh_program import MeshProgram, WholeProgram, mesh_within, moves_rows
from ._pieces import for_xla
from ._program import Program
from ._recent import interpreted_entries
from ._shards import spec_of
from ._signature import (
    NUM_OPTIONS,
    has_wide_dtype,
    host_mesh,
    is_debugging,
    is_left_to_jax,
    is_left_to_jit,
    mesh_of,
    num_cpus,
    shares_memory,
    signature_of,
    type_of,
)

# Dropping traces takes a pass over all functions, so it is rare; see `_drop_traces`.
_FORGOTTEN_BEFORE_TRACES = 128

_log = logging.getLogger(__name__)


def tiered(function: Callable[..., Any], *, in_pieces: bool = False, **options: Any) -> "Tiered":
    """Compiles a function as `jax.jit` does, without a wait at its first calls on the CPU.

    A first call with concrete arrays of one CPU device, or of a mesh of those of one process,
    traces the function and runs its equations by NumPy and by the C++ kernels. A second thread
    compiles the program as soon as its interpretation, without the kernels, has taken as long as a
    compilation would, or after 32 calls; later calls use it. Calls on other devices and under a
    trace are those of `jax.jit`.

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
        # Partial functions and objects that are called have no name.
        self.__qualname__ = getattr(function, "__qualname__", type(function).__qualname__)
        self.__module__ = getattr(function, "__module__", None) or type(function).__module__
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
        if mode() == "compiled" or is_under_trace() or is_left_to_jit():
            return self._jit(*args, **kwargs)
        static, dynamic = self._divided(args, kwargs)
        leaves, tree = jax.tree.flatten(dynamic)
        signature = signature_of(leaves)
        if signature is None:
            return self._jit(*args, **kwargs)
        key = (static, tree, signature)
        try:
            entry = self._entries.get(key)
        except TypeError:  # JAX has an error of its own for what is not hashable.
            return self._jit(*args, **kwargs)
        if entry is None:
            entry = self._entry_of(key, args, kwargs, leaves)
        if entry.has_effects:
            return self._jit(*args, **kwargs)
        program = entry.program
        if entry.compiled is None and program is not None:
            try:
                results = entry.interpret(program, leaves)
                if entry.is_due:
                    entry.is_due = False
                    compile_later(entry)
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
        signature = signature_of(leaves, of_host=True)
        if signature is None:
            return None
        key = (static, tree, signature, "on_host")
        entry = self._entries.get(key)
        if entry is None:
            entry = self._entry_of(key, args, {}, leaves)
        program = entry.program
        if program is None or not is_quick(program):
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

    def _entry_of(self, key: Any, args: Any, kwargs: Any, leaves: Sequence[Any]) -> "Entry":
        """What is new of a signature: a program that is kept on disk, or that of a trace."""
        num_devices = num_cpus(key[2])
        entry = Entry(self, key, num_devices)
        name = ""
        # JAX has no types of 64 bits then, but arrays of these dtypes stay what they are.
        is_wide = not is_x64_enabled() and any(map(has_wide_dtype, leaves))
        # As far as the arguments tell.
        entry.mesh = mesh = host_mesh(key[2], None)
        if (num_devices == 1 or mesh is not None) and self._is_kept and not is_wide:
            static, tree, signature, *_ = key
            options = *signature[:NUM_OPTIONS], self._options, self.is_in_pieces
            name = name_of(f"{self.__module__}.{self.__qualname__}", options, static, leaves, tree)
        kept = read(name) if name else None
        entry.arguments = (args, kwargs) if is_wide else self._types_of(args, kwargs)
        if kept is not None:
            entry.program, entry.out_tree = kept
        else:
            self._trace_into(entry)
            if name and entry.program is not None and entry.mesh == mesh:
                keep(name, entry.program, entry.out_tree)
        self._entries[key] = entry
        interpreted_entries.add(entry)
        return entry

    @functools.cached_property
    def _is_kept(self) -> bool:
        """Whether this is a function of the library, which another process finds by its name."""
        module = sys.modules.get(self.__module__)
        is_ours = self.__module__.split(".")[0] == __name__.split(".")[0]
        found: Any = module if is_ours else None
        for name in self.__qualname__.split("."):
            found = getattr(found, name, None)
        return found in (self, self._function) and mode() == "auto"

    def _types_of(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        """The static arguments, and what the function is traced for in place of the others."""
        numbers, names = self._static_numbers, self._static_names
        types = (
            arg if number in numbers else jax.tree.map(type_of, arg)
            for number, arg in enumerate(args)
        )
        named = {k: arg if k in names else jax.tree.map(type_of, arg) for k, arg in kwargs.items()}
        return tuple(types), named

    def _trace_into(self, entry: "Entry") -> None:
        """Traces the function for an entry, and makes a program for the host of it if it can."""
        mesh = mesh_of(entry.key[2])
        if shares_memory(mesh) and self._trace_for_one_device(entry, mesh):
            return
        traced = self._trace(entry.platform, False, *entry.arguments)
        entry.out_tree = traced.out_tree
        entry.has_effects = bool(traced.jaxpr.effects)
        entry.has_effects |= any(map(is_left_to_jax, jax.tree.leaves(entry.arguments)))
        if entry.num_devices and not traced.donate_argnums and not entry.has_effects:
            try:
                self._interpret(entry, traced.jaxpr)
            except NotInterpretable as reason:
                _log.debug("%s is compiled: %s", self.__qualname__, reason)
        # The last one: other threads compile what is traced.
        entry.traced = traced

    def _trace_for_one_device(self, entry: "Entry", mesh: Any) -> bool:
        """Gives an entry a program for one device in place of a mesh; whether there is one."""
        before, entry.mesh = entry.mesh, mesh
        try:
            with one_device_for(mesh):
                traced = self._trace(entry.platform, False, *entry.arguments)
            given = jax.tree.leaves(entry.arguments)
            is_left = traced.donate_argnums or traced.jaxpr.effects
            if is_left or any(map(is_left_to_jax, given)) or not moves_rows(traced.jaxpr.jaxpr):
                raise NotInterpretable("it is left to JAX, or no rows move")
            program = self._program_of(traced.jaxpr, entry, WholeProgram)
        except Exception as reason:
            # A trace over the mesh has the last word.
            _log.debug("%s is not run on one device: %s", self.__qualname__, reason)
            entry.mesh = before
            return False
        entry.keep_apart(program, self._types_of_leaves(entry))
        if mode() == "interpreted" or program.seconds <= entry.compile_seconds:
            entry.program = program
        entry.traced, entry.out_tree = traced, traced.out_tree
        return True

    def _interpret(self, entry: "Entry", jaxpr: Any) -> None:
        """Gives an entry the program of a jaxpr, unless XLA takes less time to compile it."""
        entry.mesh = host_mesh(entry.key[2], mesh_within(jaxpr.jaxpr))
        if entry.mesh is None and entry.num_devices > 1:
            raise NotInterpretable("several devices without a mesh of this process")
        program = self._program_of(jaxpr, entry)
        if program.is_apart:
            entry.keep_apart(program, self._types_of_leaves(entry))
        entry.program = program
        if mode() == "auto" and program.seconds > entry.compile_seconds:
            entry.program = None
            raise NotInterpretable(f"interpreted it would take {program.seconds:.3f} s")

    def _types_of_leaves(self, entry: "Entry") -> list[jax.ShapeDtypeStruct]:
        return list(map(type_of, jax.tree.leaves(self._divided(*entry.arguments)[1])))

    def _program_of(
        self, jaxpr: Any, entry: "Entry", on_mesh: type[MeshProgram] = MeshProgram
    ) -> Program:
        if any(aval.weak_type for aval in jaxpr.out_avals):
            raise NotInterpretable("results of weak type")
        # What is compiled in place of the function has no other options.
        may_be_apart = self._options.keys() <= _OPTIONS_OF_ARGUMENTS
        if entry.mesh is not None:
            if not may_be_apart:
                raise NotInterpretable("options of jax.jit on a mesh")
            specs = [spec_of(one.sharding) for one in self._types_of_leaves(entry)]
            return on_mesh(jaxpr, on=entry.mesh, keeps_apart=True, given=specs)
        if not may_be_apart:
            return Program(jaxpr)
        if self.is_in_pieces:
            # Pieces are another program for XLA, which does not keep operations apart.
            with contextlib.suppress(NotInterpretable):
                return Program(jaxpr)
        return Program(jaxpr, keeps_apart=True)

    def prepare(self, entry: "Entry") -> None:
        """Traces the function for XLA, unless the interpreter's program serves."""
        if entry.traced is None:
            # The program was kept on disk.
            self._trace_into(entry)
        if self.is_in_pieces and entry.num_devices == 1 and entry.mesh is None:
            entry.traced = self._trace(entry.platform, True, *entry.arguments)

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


# The options with which a program may keep operations apart.
_OPTIONS_OF_ARGUMENTS = {"static_argnums", "static_argnames", "keep_unused", "inline"}


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
