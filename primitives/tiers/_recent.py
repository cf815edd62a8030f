# SPDX-License-Identifier: Apache-2.0
"""The programs that are kept: those used least recently are dropped."""

import collections
import threading
from collections.abc import Callable, Iterator
from typing import Any

import jax

# A compiled program takes 2 MiB, and several memory maps for each device.
_MOST_INTERPRETED = 512
_MOST_COMPILED, _LEAST_COMPILED = 256, 64
# All devices together have as many maps as a process may well have.
_MOST_PROGRAMS_OF_DEVICES = 1024


class Recent:
    """Entries in the order of their last use. At most so many are kept."""

    def __init__(self, most: Callable[[], int]):
        self._most, self._lock = most, threading.Lock()
        self._entries: collections.OrderedDict[Any, None] = collections.OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Any]:
        return iter(tuple(self._entries))

    def add(self, entry: Any) -> None:
        """Adds an entry; the owners of those that must go for it forget them."""
        with self._lock:
            self._entries[entry] = None
            dropped = []
            while len(self._entries) > self._most():
                dropped.append(self._entries.popitem(last=False)[0])
        for other in dropped:
            other.owner.forget(other)

    def use(self, entry: Any) -> None:
        """Makes an entry the one used last."""
        with self._lock:
            if entry in self._entries:
                self._entries.move_to_end(entry)

    def remove(self, entry: Any) -> None:
        """Removes an entry, without a word to its owner."""
        with self._lock:
            self._entries.pop(entry, None)


def most_compiled() -> int:
    """The number of compiled programs that are kept."""
    share = _MOST_PROGRAMS_OF_DEVICES // jax.local_device_count()
    return max(_LEAST_COMPILED, min(_MOST_COMPILED, share))


compiled_entries = Recent(most_compiled)
interpreted_entries = Recent(lambda: _MOST_INTERPRETED)
