# SPDX-License-Identifier: Apache-2.0
"""What is known of a function for one signature of its arguments, and how its program runs."""

import functools
import os
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from ..contract._platform import traced_for
from ..kernels.base._library import load
from ._elementwise_rules import HostArray
from ._kernel_calls import spent_in_kernels
from ._mesh_program import MeshProgram, WholeProgram
from ._placing import on_device
from ._program import Program
from ._recent import compiled_entries, interpreted_entries
from ._shards import apart_from
from ._signature import array_types, with_options

if TYPE_CHECKING:
    from ._tiered import Tiered

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


@functools.cache
def mode() -> str:
    """The tiers in use: the variable JAXFRAMES_TIERS, "auto" by default."""
    name = os.environ.get("JAXFRAMES_TIERS", "auto")
    if name not in ("auto", "compiled", "interpreted"):
        raise ValueError(
            f"JAXFRAMES_TIERS must be 'auto', 'compiled' or 'interpreted', got {name!r}."
        )
    return "compiled" if load()[0] is None else name


class Entry:
    """What is known of a function for one signature of its arguments.

    Attributes:
        owner: the function.
        key: its static arguments, the structure of the others, and their signature.
        program: for the interpreter; None if it must not be used.
        compiled: by XLA; None before it is needed.
        arguments: what the function is traced for, by position and by name.
        traced: the function as traced for XLA; None for a program that was kept on disk, until
            XLA compiles it.
        out_tree: the structure of the results.
        platform: "cpu" if all arguments are on CPU devices, else None.
        num_devices: the number of these devices; 0 if some are no CPU devices.
        mesh: the mesh of CPU devices of this process that the interpreter runs the function for;
            None for one device.
        has_effects: such a function is left to `jax.jit`, as are some arguments.
        num_calls: the number of calls that were interpreted.
        is_due: whether the program must be compiled in the background, since that would pay.
    """

    def __init__(self, owner: "Tiered", key: Any, num_devices: int):
        self.owner: Tiered = owner
        self.key: Any = key
        self.program: Program | None = None
        self.compiled: Any = None
        self.has_effects: bool = False
        self.arguments: tuple[Any, Any] = (), {}
        self.traced: Any = None
        self.out_tree: Any = None
        self.platform: str | None = "cpu" if num_devices else None
        self.num_devices: int = num_devices
        self.mesh: Mesh | None = None
        self.num_calls: int = 0
        self.is_due: bool = False
        # The program that XLA compiles in place of the function, and the types of its arguments.
        self._apart: tuple[Program, list[Any]] | None = None
        self._zero: Any = None
        self._seconds, self._was_due = 0.0, False

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
        # A thread may have other options than the caller had.
        with traced_for(self.platform), with_options(self.key[2]):
            self.owner.prepare(self)
            traced = self.traced
            if self._apart is not None:
                traced = self._trace_apart(*self._apart)
            compiled = traced.lower().compile()
        self.compiled, self.program = compiled, None
        interpreted_entries.remove(self)
        compiled_entries.add(self)
        return compiled

    def keep_apart(self, program: Program, types: list[Any]) -> None:
        """Has XLA compile a program that keeps its operations on floats apart."""
        self._apart = program, types

    def _trace_apart(self, program: Program, types: list[Any]) -> Any:
        def replay(zero: Any, *leaves: Any) -> list[Any]:
            return program.replay(leaves, zero)

        # The name by which logs tell programs apart.
        replay.__name__ = getattr(self.owner, "__name__", replay.__name__)
        # No compiler knows that an argument is zero. It lies beside the others.
        mesh = self.mesh
        if isinstance(program, WholeProgram):
            mesh, types = None, [_on_any_device(one) for one in types]
        places = (one.sharding for one in types if one.sharding is not None)
        place = None if mesh is None else NamedSharding(mesh, PartitionSpec())
        # The caller's guard of transfers is for the caller's arguments.
        with jax.transfer_guard("allow"):
            self._zero = jax.device_put(np.uint32(0), place or next(places, None))
        out_shardings = None
        if isinstance(program, MeshProgram) and mesh is not None:
            out_shardings = program.shardings
        return jax.jit(replay, out_shardings=out_shardings).trace(self._zero, *types)

    def run(self, arguments: tuple[Any, Any], leaves: list[Any]) -> Any:
        """Calls the compiled program with the arguments that are not static, and their leaves."""
        compiled = self.compile()
        if self._apart is None:
            return compiled(*arguments[0], **arguments[1])
        program, _ = self._apart
        if not isinstance(program, WholeProgram):
            return jax.tree.unflatten(self.out_tree, compiled(self._zero, *leaves))
        assert self.mesh is not None
        whole = on_device(program.in_dtypes(leaves))
        results = list(map(np.asarray, compiled(self._zero, *whole)))
        return jax.tree.unflatten(self.out_tree, program.place(results, self.mesh))

    def interpret(self, program: Program, leaves: list[Any]) -> Any:
        """The results of the interpreter, as JAX's arrays."""
        start = time.perf_counter() - spent_in_kernels.seconds
        results: list[Any] = interpret(program, leaves)
        given = [leaf for leaf in leaves if type(leaf) is np.ndarray]
        # JAX may take over NumPy's memory: that of the caller must be copied.
        results = [apart_from(given, result) for result in results] if given else results
        arrays = self._placed(program, results, leaves)
        self.spend(time.perf_counter() - spent_in_kernels.seconds - start)
        return jax.tree.unflatten(self.out_tree, arrays)

    def _placed(
        self, program: Program, results: Sequence[Any], leaves: Sequence[Any]
    ) -> Sequence[jax.Array]:
        if isinstance(program, MeshProgram) and self.mesh is not None:
            return program.place(results, self.mesh)
        # Uncommitted arguments have uncommitted results, as by `jax.jit`.
        devices = {leaf.device for leaf in leaves if type(leaf) in array_types and leaf.committed}
        if devices:
            return jax.device_put(results, *devices)
        return on_device(results, may_compile=mode() == "auto")

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


def _on_any_device(type_: jax.ShapeDtypeStruct) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(type_.shape, type_.dtype, weak_type=type_.weak_type)


def is_quick(program: Program) -> bool:
    """Whether the interpreter takes no longer than the call of a compiled program."""
    return program.seconds <= _DISPATCH_SECONDS + _PYTHON_SECONDS


def interpret(
    program: Callable[[Sequence[Any]], list[HostArray]], leaves: Sequence[Any]
) -> list[HostArray]:
    """Runs a program or a kernel with the floating point of XLA's threads.

    They flush subnormal numbers.
    """
    library = load()[0]
    assert library is not None
    if isinstance(program, Program):
        # JAX narrows what the caller gives before XLA has it.
        leaves = program.in_dtypes(leaves)
    before = library.jaxframes_flush_subnormals(1)
    try:
        with np.errstate(all="ignore"):
            return program(leaves)
    finally:
        library.jaxframes_flush_subnormals(before)
