# SPDX-License-Identifier: Apache-2.0
"""Sets a program of several processes up, on one host or many."""

import os
import time
from typing import Any, NamedTuple

import jax

from ._arguments import as_static_int
from ._check_processes import compare_processes
from ._roll_call import answer_roll, call_roll, connected
from ._settings import own_settings


class _Arguments(NamedTuple):
    coordinator_address: str | None
    num_processes: int | None
    process_id: int | None


# The variables that replace omitted arguments, in their order.
VARIABLES = ("JAX_COORDINATOR_ADDRESS", "JAX_NUM_PROCESSES", "JAX_PROCESS_ID")
# JAX reads variables with these prefixes if it finds a cluster.
_CLUSTER_PREFIXES = ("SLURM_", "OMPI_")

# The arguments of the first call; None before it.
_given: _Arguments | None = None


def initialize(
    coordinator_address: str | None = None,
    num_processes: int | None = None,
    process_id: int | None = None,
    *,
    initialization_timeout_seconds: int = 300,
    heartbeat_timeout_seconds: int = 100,
) -> None:
    """Connects this process to the others of the program.

    Every process runs the same program and calls this first, before JAX creates devices. Afterwards
    `jax.devices()` lists the devices of all processes, and a mesh spans them. Under Slurm, Open
    MPI, Kubernetes and Cloud TPU omit the arguments: JAX detects the cluster. Elsewhere the
    variables `JAX_COORDINATOR_ADDRESS`, `JAX_NUM_PROCESSES` and `JAX_PROCESS_ID` replace omitted
    arguments; `python -m jaxframes.shardings.launch` sets them. On CPU the collectives use Gloo,
    unless another implementation was chosen.

    All processes must run the same versions with the same settings; otherwise their programs differ
    and would wait for each other forever. So their versions of Python, jax, jaxlib and jaxframes,
    the kernels, `XLA_FLAGS` and JAX's options that change programs (`jax_enable_x64`,
    `jax_num_cpu_devices` and others) are compared first. Where a cluster gives the addresses, JAX
    connects first, and the comparison starts its devices. `check_processes` compares again, after
    options were changed.

    Without arguments, variables and cluster the program has one process, and the call does nothing.
    So does a second call with the same arguments.

    Args:
        coordinator_address: `host:port` of process 0, reachable from every process.
        num_processes: number of processes of the program.
        process_id: id of this process, in `[0, num_processes)`.
        initialization_timeout_seconds: longest wait for the other processes. After it every process
            that came raises an error that names the missing ones.
        heartbeat_timeout_seconds: a process without a heartbeat for this time counts as dead, and
            the others exit with an error instead of waiting.

    Raises:
        ValueError: an argument or a variable is out of range, or some are missing.
        RuntimeError: JAX is in use already, this process was set up with other arguments, the
            coordinator does not answer, a process is missing, or versions or settings differ.

    Example:
        >>> from jaxframes import shardings
        >>> shardings.initialize("10.0.0.1:8476", num_processes=2, process_id=0)  # doctest: +SKIP
    """
    global _given
    given = _checked(coordinator_address, num_processes, process_id)
    if jax.distributed.is_initialized():
        if _given not in (None, given):
            raise RuntimeError(
                f"initialize: a process is set up once, got {_named(given)} after "
                f"{_named(_given)}. Leave the second call out."
            )
        return

    is_given = None not in given
    if is_given:
        _meet(given, initialization_timeout_seconds)
    chosen = getattr(jax.config, "jax_cpu_collectives_implementation", None)
    if chosen in (None, "none"):
        jax.config.update("jax_cpu_collectives_implementation", "gloo")
    try:
        jax.distributed.initialize(
            *given,
            initialization_timeout=initialization_timeout_seconds,
            heartbeat_timeout_seconds=heartbeat_timeout_seconds,
        )
    except jax.errors.JaxRuntimeError:
        raise
    except (RuntimeError, ValueError, KeyError) as error:
        if chosen in (None, "none"):
            # Gloo needs other processes.
            jax.config.update("jax_cpu_collectives_implementation", chosen)
        is_alone = given.coordinator_address is None and given.num_processes in (None, 1)
        if is_alone and given.process_id in (None, 0) and _is_without_cluster(error):
            return
        raise _explained(error, given) from error
    _given = given
    if not is_given:
        compare_processes("initialize")


def _meet(given: _Arguments, timeout_seconds: float) -> None:
    """Waits for all processes and compares them, because JAX ends a process in which that fails."""
    address, num_processes, process_id = given
    assert address is not None
    assert num_processes is not None
    assert process_id is not None
    own = own_settings()
    if process_id == 0:
        call_roll(address, num_processes, own, timeout_seconds)
        return
    answer_roll(address, num_processes, process_id, own, timeout_seconds)
    # JAX's service follows at the same address.
    connected(address, time.monotonic() + timeout_seconds, timeout_seconds).close()


def _checked(
    coordinator_address: str | None, num_processes: int | None, process_id: int | None
) -> _Arguments:
    """Validates the arguments, and the variables in place of those that are left out."""
    arguments = _Arguments(coordinator_address, num_processes, process_id)
    values: list[Any] = []
    labels: list[str] = []
    for name, variable, value in zip(_Arguments._fields, VARIABLES, arguments, strict=True):
        is_set = value is None and os.environ.get(variable, "") != ""
        values.append(os.environ[variable] if is_set else value)
        labels.append(variable if is_set else name)
        if is_set and name != "coordinator_address":
            values[-1] = _integer_in(variable)
    address, count, own_id = values
    if address is not None:
        host, _, port = str(address).rpartition(":")
        if not host or not port.isdigit():
            raise ValueError(f"initialize: {labels[0]} must be 'host:port', got {address!r}.")
    if count is not None:
        count = as_static_int(count, "initialize", labels[1], lowest=1)
    if own_id is not None:
        own_id = as_static_int(own_id, "initialize", labels[2])
        if count is not None and own_id >= count:
            raise ValueError(
                f"initialize: {labels[2]} must lie in [0, {count}), the processes of the "
                f"program, got {own_id}."
            )
    return _Arguments(address, count, own_id)


def _integer_in(variable: str) -> int:
    try:
        return int(os.environ[variable])
    except ValueError:
        raise ValueError(
            f"initialize: {variable} must be an integer, got {os.environ[variable]!r}. "
            "Correct the variable, or unset it."
        ) from None


def _is_without_cluster(error: Exception) -> bool:
    """Whether JAX found no cluster, so that it lacks an argument."""
    return isinstance(error, ValueError) and "be defined" in str(error)


def _explained(error: Exception, given: _Arguments) -> Exception:
    """The error of `jax.distributed.initialize`, with the setting to correct."""
    if isinstance(error, RuntimeError):
        if "must be called before" not in str(error):
            return RuntimeError(f"initialize: JAX could not join the cluster, got {error}")
        return RuntimeError(
            "initialize: it must come before JAX is used, got a process in which JAX has its "
            "devices already. Call it first, before jax.devices(), any array and any computation."
        )
    if isinstance(error, KeyError):
        return ValueError(
            f"initialize: the cluster that JAX found must set {error.args[0]}, got none. Start the "
            "program with the cluster's own launcher, or pass all arguments."
        )
    if _is_without_cluster(error):
        missing = [
            f"{name} or set {variable}"
            for name, variable, value in zip(_Arguments._fields, VARIABLES, given, strict=True)
            if value is None
        ]
        return ValueError(
            f"initialize: without a cluster that JAX can find (Slurm, Open MPI, Kubernetes, "
            f"Cloud TPU), all of coordinator_address, num_processes and process_id must be given, "
            f"got {_named(given)}. Pass {', and '.join(missing)}. A program of one process leaves "
            "the call out."
        )
    # The message ends with the literal that is not an integer.
    found = [
        f"{name}={value!r}"
        for name, value in sorted(os.environ.items())
        if name.startswith(_CLUSTER_PREFIXES) and repr(value) in str(error)
    ]
    return ValueError(
        f"initialize: the cluster that JAX found must have valid settings, got "
        f"{', '.join(found) or error}. Correct them, or pass all arguments."
    )


def _named(arguments: _Arguments | None) -> str:
    fields = {} if arguments is None else arguments._asdict()
    return ", ".join(f"{name}={value!r}" for name, value in fields.items())
