# SPDX-License-Identifier: Apache-2.0
"""Compares the results of each call with NumPy's, for many shapes, and runs with each other."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import jax
import numpy as np

from card.cases import CASES, Case

SEED = 40
# One row, the edges of tiles and chunks, and lengths that no block divides.
SHAPES = (
    1, 2, 31, 33, 255, 1000, 4095, 4096, 4097, 8191, 8193, 12_289, 40_000, 65_536, 65_537,
    131_073, 262_144, 300_001, 524_289, 1_000_003,
)  # fmt: skip


class Fault(NamedTuple):
    """A result that is wrong, or that differs between runs."""

    case: str
    rows: int
    what: str


def check(
    names: Sequence[str], shapes: Sequence[int], repeats: int, workers: int = 12
) -> tuple[list[Fault], int]:
    """Checks calls; returns the faults, and the number of comparisons."""
    one_at_a_time = threading.Lock()

    def of(job: tuple[str, int]) -> list[Fault]:
        name, rows = job
        try:
            return [
                Fault(name, rows, what)
                for what in _faults(CASES[name], rows, repeats, one_at_a_time)
            ]
        except Exception as error:
            return [Fault(name, rows, f"{type(error).__name__}: {str(error)[:300]}")]

    jobs = [(name, rows) for name in names for rows in shapes]
    with ThreadPoolExecutor(workers) as pool:
        found = list(pool.map(of, jobs))
    return [fault for faults in found for fault in faults], len(jobs) * repeats


def _faults(case: Case, rows: int, repeats: int, lock: Any) -> list[str]:
    rng = np.random.default_rng((SEED, rows))
    arrays = case.arrays(rng, rows)
    expected = case.expected(*arrays)
    given = jax.device_put(arrays)
    compiled = jax.jit(case.call).lower(*given).compile()
    with lock:
        runs = [jax.tree.leaves(compiled(*given)) for _ in range(repeats)]
        runs = [[np.asarray(leaf) for leaf in run] for run in runs]
    faults = [
        what
        for number, (found, right) in enumerate(zip(runs[0], expected, strict=True))
        if (what := _difference(number, found, np.asarray(right), case.tolerance, arrays))
    ]
    for run in runs[1:]:
        same = all(a.tobytes() == b.tobytes() for a, b in zip(run, runs[0], strict=True))
        if not same:
            faults.append("two runs differ")
            break
    return faults


def _difference(
    number: int, found: np.ndarray, right: np.ndarray, tolerance: float, arrays: Sequence[Any]
) -> str:
    if found.shape != right.shape:
        return f"result {number} has shape {found.shape}, expected {right.shape}"
    if tolerance:
        # What an order of additions can change, for the magnitudes of all rows.
        scale = max(float(np.abs(arrays[0]).sum()), 1.0)
        apart = np.abs(found.astype(np.float64) - right) > tolerance * scale
    else:
        right = np.ascontiguousarray(right.astype(found.dtype))
        words = np.dtype(f"uint{8 * found.dtype.itemsize}")
        apart = np.ascontiguousarray(found).view(words) != right.view(words)
    places = np.flatnonzero(apart.ravel())
    if not places.size:
        return ""
    at = places[0]
    return (
        f"result {number} differs in {places.size} rows, first {at}: {found.ravel()[at]}, "
        f"expected {right.ravel()[at]}"
    )
