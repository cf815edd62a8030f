# SPDX-License-Identifier: Apache-2.0
"""Runs a script as several processes of this machine: `python -m jaxframes.shardings.launch`.

    python -m jaxframes.shardings.launch -n 2 --devices 2 script.py [arguments]

Each process, or rank, has its own CPU devices, and is connected to the others over Gloo before the
script starts. The lines of a rank begin with its number. Where one rank fails, the others are
ended, and its error is shown once more. A rank that is stopped, or does not start, makes the others
fail after `--heartbeat-seconds` or `--start-seconds`.
"""

import argparse
import collections
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import BinaryIO, NamedTuple

from ._initialize import VARIABLES

# A rank that is asked to end gets this long before it is killed.
GRACE_SECONDS = 2.0
# The lines of a rank that ended with an error that are shown again at the end.
ERROR_LINES = 30


class _Rank(NamedTuple):
    """A started process, the threads that print its lines, and the last lines of its errors."""

    process: subprocess.Popen[bytes]
    printers: list[threading.Thread]
    last_errors: collections.deque[bytes]


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns the exit code: the highest of any rank, 0 for success."""
    options = _parser().parse_args(arguments)
    previous = signal.signal(signal.SIGTERM, _interrupt)
    ranks: list[_Rank] = []
    try:
        address = f"127.0.0.1:{free_port()}"
        for process_id in range(options.num_processes):
            ranks.append(_start(process_id, address, options))
        return _wait(ranks)
    except KeyboardInterrupt as interrupt:
        # As a shell reports a program that a signal ended.
        return 128 + (interrupt.args[0] if interrupt.args else signal.SIGINT)
    finally:
        _end(ranks)
        signal.signal(signal.SIGTERM, previous)


def free_port() -> int:
    """A port of the loopback interface that is free now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m jaxframes.shardings.launch",
        description="Runs a script as several processes of this machine, connected over Gloo.",
    )
    parser.add_argument(
        "-n", "--num-processes", type=_positive, default=2, help="number of processes (2)"
    )
    parser.add_argument(
        "--devices", type=_positive, default=1, help="CPU devices of each process (1)"
    )
    parser.add_argument(
        "--start-seconds", type=_positive, default=300, help="longest wait for all to start (300)"
    )
    parser.add_argument(
        "--heartbeat-seconds",
        type=_positive,
        default=100,
        help="a process without a sign of life for this time counts as dead (100)",
    )
    parser.add_argument("script", type=_script, help="the Python script of every process")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="arguments of the script")
    return parser


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"it must be an integer of at least 1, got {text!r}.")
    return int(text)


def _script(text: str) -> str:
    if not Path(text).is_file():
        raise argparse.ArgumentTypeError(f"it must be a file, got {text!r}. Check the path.")
    return text


def _start(process_id: int, address: str, options: argparse.Namespace) -> _Rank:
    environment = {
        **os.environ,
        "JAX_PLATFORMS": "cpu",
        "JAX_NUM_CPU_DEVICES": str(options.devices),
        "PYTHONUNBUFFERED": "1",
    }
    # A program of one process has nobody to connect to.
    settings = (address, str(options.num_processes), str(process_id))
    for variable, setting in zip(VARIABLES, settings, strict=True):
        environment.pop(variable, None)
        if options.num_processes > 1:
            environment[variable] = setting
    timeouts = (str(options.start_seconds), str(options.heartbeat_seconds))
    rank = ("jaxframes.shardings._rank", *timeouts, options.script)
    process = subprocess.Popen(
        [sys.executable, "-m", *rank, *options.arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Ctrl-C reaches the launcher alone, which ends the ranks.
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    last_errors: collections.deque[bytes] = collections.deque(maxlen=ERROR_LINES)
    outputs = [(process.stdout, sys.stdout, None), (process.stderr, sys.stderr, last_errors)]
    printers = [
        threading.Thread(
            target=_print_lines, args=(process_id, lines, to.buffer, kept), daemon=True
        )
        for lines, to, kept in outputs
    ]
    for printer in printers:
        printer.start()
    return _Rank(process, printers, last_errors)


def _print_lines(
    process_id: int, lines: BinaryIO, to: BinaryIO, kept: collections.deque[bytes] | None
) -> None:
    for line in lines:
        prefixed = b"[%d] %s\n" % (process_id, line.rstrip(b"\r\n"))
        # One write, because other ranks print to the same file.
        to.write(prefixed)
        to.flush()
        if kept is not None:
            kept.append(prefixed)


def _wait(ranks: list[_Rank]) -> int:
    """Waits until all ranks succeed or one fails; ends the others and shows the error."""
    ended: queue.Queue[int] = queue.Queue()

    def wait_for(process_id: int) -> None:
        ranks[process_id].process.wait()
        ended.put(process_id)

    for process_id in range(len(ranks)):
        threading.Thread(target=wait_for, args=(process_id,), daemon=True).start()
    for _ in ranks:
        failed = ended.get()
        if ranks[failed].process.returncode != 0:
            break
    else:
        return 0
    # Ranks that the launcher ends itself have no exit code of their own.
    codes = [_exit_code(rank.process.poll()) for rank in ranks]
    stopped = [i for i, rank in enumerate(ranks) if _is_stopped(rank.process)]
    _end(ranks)
    said = f"launch: rank {failed} {_ending(ranks[failed].process.returncode)}; the other ranks "
    said += "were ended."
    for rank in stopped:
        # The one that failed has waited for it.
        said += f" Rank {rank} was stopped (SIGSTOP)."
    sys.stderr.write(f"{said} Its last lines:\n")
    sys.stderr.flush()
    sys.stderr.buffer.writelines(ranks[failed].last_errors)
    sys.stderr.flush()
    return max(codes)


def _exit_code(returncode: int | None) -> int:
    """An exit code as a shell reports it: 128 and the signal for a killed process."""
    if returncode is None:
        return 0
    return returncode if returncode >= 0 else 128 - returncode


def _ending(returncode: int) -> str:
    if returncode >= 0:
        return f"failed with exit code {returncode}"
    try:
        name = signal.Signals(-returncode).name
    except ValueError:
        name = f"signal {-returncode}"
    return f"was ended by {name} (exit code {_exit_code(returncode)})"


def _is_stopped(process: subprocess.Popen[bytes]) -> bool:
    """Whether a process that still runs is stopped, as far as the system says."""
    try:
        status = Path(f"/proc/{process.pid}/stat").read_text()
    except OSError:
        return False
    # The state follows the name, which may contain anything.
    return status.rpartition(")")[2].split()[0] in ("T", "t")


def _end(ranks: list[_Rank]) -> None:
    """Ends the ranks that still run, and prints what they said until then."""
    for rank in ranks:
        if rank.process.poll() is None:
            rank.process.terminate()
    for rank in ranks:
        try:
            rank.process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            rank.process.kill()
            rank.process.wait()
    for rank in ranks:
        for printer in rank.printers:
            # A process that a rank has started may hold its output open.
            printer.join(1.0)


def _interrupt(number: int, _: object) -> None:
    raise KeyboardInterrupt(number)


if __name__ == "__main__":
    sys.exit(main())
