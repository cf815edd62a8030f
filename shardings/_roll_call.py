# SPDX-License-Identifier: Apache-2.0
"""The processes of a program meet at the coordinator's address before JAX connects them.

Process 0 listens there first. Each other process connects, says its id and its settings, and waits.
When all have come, or the time is up, process 0 answers each of them: go on, or the error, which
all processes raise. Then JAX's own service takes the address. So a missing, doubled or different
process is named, where JAX would wait or end the process.
"""

import contextlib
import json
import socket
import time
from typing import Any, NoReturn

from ._settings import Settings, disagreement

_GREETING = "jaxframes roll call 1"
# The longest silence of a connection before it counts as a stranger's.
_LINE_SECONDS = 5.0
# A longer line is not one of a process of this job.
_MOST_BYTES = 1 << 20
# The pause between two attempts to reach the first process.
_RETRY_SECONDS = 0.1


def call_roll(
    coordinator_address: str, num_processes: int, own: Settings, timeout_seconds: float
) -> None:
    """Process 0: waits for all others and compares their settings.

    Raises:
        RuntimeError: the address is taken, a process is missing, two have one id, or their
            settings differ. Every process that came raises the same.
    """
    deadline = time.monotonic() + timeout_seconds
    present: dict[int, socket.socket] = {}
    settings: dict[int, Settings] = {0: own}
    strangers: set[str] = set()
    try:
        with _listener(coordinator_address) as listener:
            error = _gather(listener, num_processes, present, settings, strangers, deadline)
        if error is None and len(present) < num_processes - 1:
            error = _missing(
                coordinator_address, num_processes, present, strangers, timeout_seconds
            )
        error = error or _difference(settings)
        # The listener is closed: who goes on now cannot mistake it for JAX's service.
        for connection in present.values():
            _say(connection, {"error": error})
        for connection in present.values():
            # The other side closes first, so that no port of this one stays taken.
            with contextlib.suppress(OSError):
                connection.settimeout(1.0)
                connection.recv(1)
    finally:
        for connection in present.values():
            connection.close()
    if error is not None:
        raise RuntimeError(error)


def answer_roll(
    coordinator_address: str,
    num_processes: int,
    process_id: int,
    own: Settings,
    timeout_seconds: float,
) -> None:
    """Any other process: reports to process 0, and waits for its answer.

    Raises:
        RuntimeError: process 0 does not answer, or answers with an error.
    """
    deadline = time.monotonic() + timeout_seconds
    hello = {
        "greeting": _GREETING,
        "process_id": process_id,
        "num_processes": num_processes,
        "settings": dict(own),
    }
    # Process 0 may have started later, and then gives up later.
    with connected(coordinator_address, deadline, timeout_seconds) as connection:
        _say(connection, hello)
        answer = _line(connection, time.monotonic() + timeout_seconds + _LINE_SECONDS)
    if answer is None or "error" not in answer:
        raise RuntimeError(
            f"initialize: process 0 must compare its settings with process {process_id}, got no "
            f"answer from {coordinator_address}. Check that it still runs, and that it calls "
            "shardings.initialize of the same version of jaxframes."
        )
    if answer["error"] is not None:
        raise RuntimeError(answer["error"])


def connected(coordinator_address: str, deadline: float, timeout_seconds: float) -> socket.socket:
    """Connects to process 0, as soon as it listens.

    Raises:
        RuntimeError: it does not listen in time.
    """
    while True:
        try:
            return socket.create_connection(host_and_port(coordinator_address), timeout=1)
        except OSError as error:
            if time.monotonic() >= deadline:
                reason = error.strerror or str(error)
                raise RuntimeError(
                    f"initialize: process 0 must answer at {coordinator_address} within "
                    f"{timeout_seconds} seconds, got {reason!r}. Check that it runs, and that "
                    "this process can reach that address."
                ) from error
        time.sleep(_RETRY_SECONDS)


def host_and_port(coordinator_address: str) -> tuple[str, int]:
    """The two parts of an address."""
    host, _, port = coordinator_address.rpartition(":")
    return host.strip("[]"), int(port)


def _listener(coordinator_address: str) -> socket.socket:
    _, port = host_and_port(coordinator_address)
    try:
        if socket.has_dualstack_ipv6():
            return socket.create_server(
                ("", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=1024
            )
        return socket.create_server(("", port), backlog=1024)
    except OSError as error:
        raise_taken(coordinator_address, error)


def raise_taken(coordinator_address: str, error: OSError) -> NoReturn:
    """Raises for an address at which process 0 cannot listen."""
    raise RuntimeError(
        f"initialize: process 0 must be free to listen on {coordinator_address}, got "
        f"{(error.strerror or str(error)).partition(' (')[0]!r}. Choose another port."
    ) from error


def _gather(
    listener: socket.socket,
    num_processes: int,
    present: dict[int, socket.socket],
    settings: dict[int, Settings],
    strangers: set[str],
    deadline: float,
) -> str | None:
    """Waits until all have come; returns an error that no later process could mend."""
    while not _are_all_here(present, num_processes):
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            return None
        listener.settimeout(remaining)
        try:
            connection, (host, *_) = listener.accept()
        except TimeoutError:
            return None
        hello = _line(connection, time.monotonic() + _LINE_SECONDS)
        if hello is None or hello.get("greeting") != _GREETING:
            # Who only looks whether somebody listens says nothing.
            if hello is not None:
                strangers.add(host.removeprefix("::ffff:"))
            connection.close()
            continue
        process_id = hello["process_id"]
        former = present.get(process_id)
        present[process_id] = connection
        if former is not None:
            is_alive = _is_open(former)
            former.close()
            if is_alive:
                return (
                    f"initialize: each process must have its own process_id, got {process_id} "
                    "twice. Number the processes from 0."
                )
        if hello["num_processes"] != num_processes or not 0 < process_id < num_processes:
            return (
                f"initialize: all processes must be given the same num_processes, got "
                f"{num_processes} in process 0 and {hello['num_processes']} in process "
                f"{process_id}."
            )
        settings[process_id] = hello["settings"]
    return None


def _are_all_here(present: dict[int, socket.socket], num_processes: int) -> bool:
    """Whether every process has come; forgets those that have ended since."""
    if len(present) < num_processes - 1:
        return False
    for process_id, connection in list(present.items()):
        if not _is_open(connection):
            present.pop(process_id).close()
    return len(present) == num_processes - 1


def _missing(
    coordinator_address: str,
    num_processes: int,
    present: dict[int, socket.socket],
    strangers: set[str],
    timeout_seconds: float,
) -> str:
    missing = [i for i in range(1, num_processes) if i not in present]
    shown = ", ".join(str(i) for i in missing[:8])
    more = f" and {len(missing) - 8} more" if len(missing) > 8 else ""
    said = (
        f"initialize: all {num_processes} processes must start within {timeout_seconds} seconds, "
        f"got none with process_id {shown}{more}. Check that each runs, and can reach "
        f"{coordinator_address}."
    )
    if strangers:
        said += (
            f" Programs on {', '.join(sorted(strangers))} connected without "
            "shardings.initialize of this version of jaxframes."
        )
    return said


def _difference(settings: dict[int, Settings]) -> str | None:
    differing = disagreement(settings)
    if differing is None:
        return None
    return (
        f"initialize: all processes must have the same versions and settings, got {differing}. "
        "Start all of them from the same environment."
    )


def _say(connection: socket.socket, message: dict[str, Any]) -> None:
    # A process that has left hears nothing.
    with contextlib.suppress(OSError):
        connection.settimeout(_LINE_SECONDS)
        connection.sendall(json.dumps(message).encode() + b"\n")


def _line(connection: socket.socket, deadline: float) -> dict[str, Any] | None:
    """Reads one message; None if the other side closes, or is silent until the deadline.

    Anything else that it says is a message without a greeting.
    """
    said = b""
    while not said.endswith(b"\n") and len(said) < _MOST_BYTES:
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            break
        connection.settimeout(remaining)
        try:
            piece = connection.recv(1 << 16)
        except OSError:
            break
        if not piece:
            break
        said += piece
        if not said.startswith(b"{"):
            # Another protocol, which would wait for an answer.
            return {}
    if not said:
        return None
    try:
        message = json.loads(said)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}


def _is_open(connection: socket.socket) -> bool:
    """Whether the other side has not closed the connection."""
    connection.setblocking(False)
    try:
        return connection.recv(1, socket.MSG_PEEK) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False
