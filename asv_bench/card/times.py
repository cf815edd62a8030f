# SPDX-License-Identifier: Apache-2.0
"""Times of calls on a card, beside those of its copy of memory.

Calls are enqueued one after the other, and the host waits for the last: what it takes to enqueue
one hides behind the work of others, unless a call is short.
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from card.cases import CASES

SIZES = (2**16, 2**20, 2**24, 10**8)
SECONDS = 0.04


def seconds_of(run: Callable[[], Any], wait: Callable[[Any], Any]) -> float:
    """The median of three measurements of about `SECONDS` each."""
    wait(run())
    started = time.perf_counter()
    wait(run())
    once = time.perf_counter() - started
    repeats = int(np.clip(SECONDS / max(once, 1e-6), 1, 200))
    found = []
    for _ in range(3):
        started = time.perf_counter()
        for _ in range(repeats):
            result = run()
        wait(result)
        found.append((time.perf_counter() - started) / repeats)
    return float(np.median(found))


def copy_bandwidth() -> float:
    """Bytes a second of a copy of 1 GiB, those read and those written."""
    x = jnp.zeros(2**28, jnp.float32)
    add = jax.jit(lambda x: x + 1)
    return 2 * x.nbytes / seconds_of(lambda: add(x), jax.block_until_ready)


def times(
    names: Sequence[str], sizes: Sequence[int], record: Callable[[str, int, Any], None]
) -> None:
    """Measures calls of each size; records seconds, or what failed."""
    for rows in sizes:
        # The host makes arrays of the largest size for a while: one column, many times.
        rng = np.random.default_rng(rows)
        inputs = {name: CASES[name].arrays(rng, min(rows, 2**24)) for name in names}
        inputs = {name: [repeated(x, rows) for x in arrays] for name, arrays in inputs.items()}

        def compiled(name: str, inputs: Any = inputs) -> Any:
            shapes = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in inputs[name]]
            try:
                return jax.jit(CASES[name].call).lower(*shapes).compile()
            except Exception as error:
                return f"{type(error).__name__}: {str(error)[:200]}"

        with ThreadPoolExecutor(12) as pool:
            programs = dict(zip(names, pool.map(compiled, names), strict=True))
        for name in names:
            program = programs[name]
            if isinstance(program, str):
                record(name, rows, program)
                continue
            try:
                given = [jnp.asarray(x) for x in inputs[name]]
                record(name, rows, seconds_of(lambda: program(*given), jax.block_until_ready))  # noqa: B023
            except Exception as error:
                record(name, rows, f"{type(error).__name__}: {str(error)[:200]}")


def repeated(x: np.ndarray, rows: int) -> np.ndarray:
    """An array repeated to a number of rows; a matrix to as many elements."""
    if x.ndim == 2:
        return x if x.size >= rows else np.tile(x, (1, -(-rows // x.size)))[:, : rows // len(x)]
    return x if len(x) >= rows else np.resize(x, rows)
