# SPDX-License-Identifier: Apache-2.0
"""A thread that compiles programs, one after the other, until the process ends."""

import atexit
import collections
import functools
import logging
import threading
from typing import Any

_log = logging.getLogger(__name__)

_queue: collections.deque[Any] = collections.deque()
_changed = threading.Condition()
_ended = threading.Event()


def compile_later(entry: Any) -> None:
    """Has the entry compiled by the thread."""
    with _changed:
        _queue.append(entry)
        _changed.notify_all()
        _start()


def wait_until_compiled() -> None:
    """Waits until the thread has nothing left to compile."""
    with _changed:
        _changed.wait_for(lambda: not _queue)


@functools.cache
def _start() -> None:
    thread = threading.Thread(target=_work, name="jaxframes compiler", daemon=True)
    thread.start()
    atexit.register(_end, thread)


def _work() -> None:
    while True:
        with _changed:
            _changed.wait_for(lambda: _queue or _ended.is_set())
            if _ended.is_set():
                return
            entry = _queue[0]
        try:
            entry.compile()
        except Exception:
            # The calls go on with the interpreter.
            _log.exception("A program could not be compiled.")
        with _changed:
            _queue.popleft()
            _changed.notify_all()


def _end(thread: threading.Thread) -> None:
    """Ends the thread: a process must not end while XLA compiles."""
    _ended.set()
    with _changed:
        _changed.notify_all()
    thread.join()
