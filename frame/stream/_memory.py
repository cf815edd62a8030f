# SPDX-License-Identifier: Apache-2.0
"""Free memory that allocators keep, given back to the system while a stream runs."""

import time
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

# Giving back costs a few milliseconds where many pieces are free, and as much to clear them again.
_LEAST_SECONDS = 0.25


def giving_back(batches: Iterable[object]) -> Iterator[Any]:
    """Yields batches, and gives free memory back after some of them."""
    last = time.monotonic()
    for batch in batches:
        held = [batch]
        # A name would hold the batch while the caller works.
        del batch
        yield held.pop()
        if time.monotonic() - last > _LEAST_SECONDS:
            give_back()
            last = time.monotonic()


def give_back() -> None:
    """Gives back what Arrow's pools and the C library's heap, with JAX's buffers, keep free."""
    pa.default_memory_pool().release_unused()
    # Of the C library, where `malloc_trim` exists.
    pa.system_memory_pool().release_unused()
