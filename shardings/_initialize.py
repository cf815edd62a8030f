# SPDX-License-Identifier: Apache-2.0
"""Sets a program of several processes up, on one host or many."""

import socket
import time
from typing import NamedTuple

import jax

from ._arguments import as_static_int


class _Arguments(NamedTuple):
    coordinator_address: str | None
    num_processes: int | None
    process_id: int | None


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
    MPI, Kubernetes and Cloud TPU omit the arguments: JAX detects the cluster. On CPU the
    collectives use Gloo, unless another implementation was chosen. A second call with the same
    arguments does nothing.

    Args:
        coordinator_address: `host:port` of process 0, reachable from every process.
        num_processes: number of processes of the program.
        process_id: id of this process, in `[0, num_processes)`.
        initialization_timeout_seconds: longest wait for the other processes.
        heartbeat_timeout_seconds: a process without a heartbeat for this time counts as dead, and
            the others exit with an error instead of waiting.

    Raises:
        ValueError: an argument is out of range, or missing outside a known cluster.
        RuntimeError: JAX is in use already, this process was set up with other arguments, or the
            coordinator does not answer.

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

    if given.coordinator_address is not None and given.process_id is not None:
        # JAX's client ends the whole process if the coordinator does not answer.
        if given.process_id == 0:
            _check_port_is_free(given.coordinator_address)
        else:
            _wait_for_coordinator(given.coordinator_address, initialization_timeout_seconds)
    if getattr(jax.config, "jax_cpu_collectives_implementation", None) in (None, "none"):
        jax.config.update("jax_cpu_collectives_implementation", "gloo")
    try:
        jax.distributed.initialize(
            *given,
            initialization_timeout=initialization_timeout_seconds,
            heartbeat_timeout_seconds=heartbeat_timeout_seconds,
        )
    except jax.errors.JaxRuntimeError:
        raise
    except RuntimeError as error:
        raise RuntimeError(
            "initialize: it must come before JAX is used, got a process in which JAX has its "
            "devices already. Call it first, before jax.devices(), any array and any computation."
        ) from error
    except ValueError as error:
        raise ValueError(
            f"initialize: without a cluster that JAX can find (Slurm, Open MPI, Kubernetes, "
            f"Cloud TPU), all of coordinator_address, num_processes and process_id must be given, "
            f"got {_named(given)}. A program of one process leaves the call out."
        ) from error
    _given = given


def _checked(
    coordinator_address: str | None, num_processes: int | None, process_id: int | None
) -> _Arguments:
    if coordinator_address is not None:
        host, _, port = str(coordinator_address).rpartition(":")
        if not host or not port.isdigit():
            raise ValueError(
                f"initialize: coordinator_address must be 'host:port', got {coordinator_address!r}."
            )
    if num_processes is not None:
        num_processes = as_static_int(num_processes, "initialize", "num_processes", lowest=1)
    if process_id is not None:
        process_id = as_static_int(process_id, "initialize", "process_id")
        if num_processes is not None and process_id >= num_processes:
            raise ValueError(
                f"initialize: process_id must lie in [0, {num_processes}), the processes of the "
                f"program, got {process_id}."
            )
    return _Arguments(coordinator_address, num_processes, process_id)


def _named(arguments: _Arguments | None) -> str:
    fields = {} if arguments is None else arguments._asdict()
    return ", ".join(f"{name}={value!r}" for name, value in fields.items())


def _check_port_is_free(coordinator_address: str) -> None:
    _, port = _host_and_port(coordinator_address)
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("", port))
        except OSError as error:
            raise RuntimeError(
                f"initialize: process 0 must be free to listen on {coordinator_address}, got "
                f"{error.strerror!r}. Choose another port."
            ) from error


def _wait_for_coordinator(coordinator_address: str, timeout_seconds: float) -> None:
    deadline = time.monotonic() + timeout_seconds
    while True:
        try:
            socket.create_connection(_host_and_port(coordinator_address), timeout=1).close()
            return
        except OSError as error:
            if time.monotonic() >= deadline:
                reason = error.strerror or str(error)
                raise RuntimeError(
                    f"initialize: process 0 must answer at {coordinator_address} within "
                    f"{timeout_seconds} seconds, got {reason!r}. Check that it runs, and that "
                    "this process can reach that address."
                ) from error
        time.sleep(0.1)


def _host_and_port(coordinator_address: str) -> tuple[str, int]:
    host, _, port = coordinator_address.rpartition(":")
    return host.strip("[]"), int(port)
