# SPDX-License-Identifier: Apache-2.0
"""Checks this machine's devices: `python -m jaxframes.primitives.selfcheck`.

    python -m jaxframes.primitives.selfcheck [--lengths 300] [--most-rows 70000] [--timed-rows N]

Sorts, scans and reduces known rows of many lengths in one process, on the default device and, if
there are more devices, over a mesh of all. Each result is compared with NumPy's, bit for bit. A
line for each check says whether it is sound, or which length is not. The first checks call
`jax.numpy` alone, which tells a fault of JAX or of its compiler from one of jaxframes. On a GPU
with CUDA kernels each kernel is then compared with XLA's version, bit for bit, and timed beside it.

The exit status is 0 if the checks of jaxframes are sound, and 1 otherwise. Run it twice, with and
without `JAX_ENABLE_X64=1`: some faults need 64-bit types.
"""

import argparse
import importlib.metadata
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..shardings import make_mesh
from . import _kernel_times, local
from ._global import _radix_sort, _reduce_by_key
from .kernels.base._library import backend

# Any number: a failure can be repeated.
SEED = 26
FEW_LENGTHS = (1, 2, 255, 256, 257, 4096, 40_000)
# Sums of these are exact in every order, in float32 too.
MOST_VALUE = 100


class Check(NamedTuple):
    """One computation on rows of several lengths.

    Attributes:
        name: what the report calls it.
        compute: from random bits and a number of rows, the result and the expected one.
        at_all_lengths: whether it runs for each length; otherwise for a few.
    """

    name: str
    compute: Callable[[np.random.Generator, int], tuple[Any, Any]]
    at_all_lengths: bool = False

    @property
    def is_own(self) -> bool:
        """Whether it calls jaxframes, and not JAX alone."""
        return not self.name.startswith("jnp.")


class Outcome(NamedTuple):
    """The outcome of a check.

    Attributes:
        check: the check.
        num_lengths: the number of lengths that it ran for.
        fault: the first fault; empty if all results were right.
    """

    check: Check
    num_lengths: int
    fault: str


def _keys(rng: np.random.Generator, num_rows: int, dtype: Any) -> np.ndarray:
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return (rng.integers(-(2**20), 2**20, num_rows) / 16).astype(dtype)
    # Few values, so that ties show whether a sort is stable.
    most = min(np.iinfo(dtype).max, max(num_rows // 3, 2))
    return rng.integers(0, most, num_rows, dtype, endpoint=True)


def _argsort_of_jax(rng: np.random.Generator, num_rows: int) -> tuple[Any, Any]:
    keys = _keys(rng, num_rows, np.int32)
    return jnp.argsort(jnp.asarray(keys), stable=True), np.argsort(keys, kind="stable")


def _sorted_permutation_of_jax(rng: np.random.Generator, num_rows: int) -> tuple[Any, Any]:
    order = rng.permutation(num_rows)
    return jnp.argsort(jnp.asarray(order)), np.argsort(order)


def _cumsum_of_jax(rng: np.random.Generator, num_rows: int) -> tuple[Any, Any]:
    x = rng.integers(0, MOST_VALUE, num_rows, np.int32)
    return jnp.cumsum(jnp.asarray(x)), np.cumsum(x, dtype=np.int32)


def _argsort(rng: np.random.Generator, num_rows: int) -> tuple[Any, Any]:
    keys = _keys(rng, num_rows, np.int32)
    return local.radix_argsort(jnp.asarray(keys)), np.argsort(keys, kind="stable")


def _sort_of(dtype: Any) -> Check:
    def compute(rng: np.random.Generator, num_rows: int) -> tuple[Any, Any]:
        keys = _keys(rng, num_rows, dtype)
        values = rng.integers(0, MOST_VALUE, num_rows, np.int32)
        order = np.argsort(keys, kind="stable")
        found = local.radix_sort(jnp.asarray(keys), values=jnp.asarray(values))
        return found, (keys[order], values[order])

    return Check(f"radix_sort of {np.dtype(dtype).name} with values", compute)


def _bucket_order(rng: np.random.Generator, num_rows: int) -> tuple[Any, Any]:
    ids = rng.integers(0, 50, num_rows, np.int32)
    order = np.argsort(ids, kind="stable")
    inverse = np.empty_like(order)
    inverse[order] = np.arange(num_rows)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(ids, minlength=50))])
    return tuple(local.bucket_order(jnp.asarray(ids), 50)), (order, inverse, offsets)


def _top_k(rng: np.random.Generator, num_rows: int) -> tuple[Any, Any]:
    keys = _keys(rng, num_rows, np.float32)
    order = np.argsort(-keys, kind="stable")[: min(10, num_rows)]
    return tuple(local.top_k(jnp.asarray(keys), min(10, num_rows))), (keys[order], order)


def _scan_of(dtype: Any) -> Check:
    def compute(rng: np.random.Generator, num_rows: int) -> tuple[Any, Any]:
        x = rng.integers(0, MOST_VALUE, num_rows).astype(dtype)
        found = local.inclusive_scan(jnp.asarray(x)), local.inclusive_scan(jnp.asarray(x), "max")
        return found, (np.cumsum(x, dtype=x.dtype), np.maximum.accumulate(x))

    return Check(f"inclusive_scan of {np.dtype(dtype).name}", compute)


def _segmented_scan(rng: np.random.Generator, num_rows: int) -> tuple[Any, Any]:
    x = rng.integers(0, MOST_VALUE, num_rows, np.int32)
    heads = rng.random(num_rows) < 0.1
    heads[:1] = True
    sums = np.cumsum(x, dtype=np.int32)
    starts = np.maximum.accumulate(np.where(heads, np.arange(num_rows), 0))
    found = local.segmented_scan(jnp.asarray(x), head_flags=jnp.asarray(heads))
    return found, sums - sums[starts] + x[starts]


def _segment_sum(rng: np.random.Generator, num_rows: int) -> tuple[Any, Any]:
    x = rng.integers(0, MOST_VALUE, num_rows)
    ids = rng.integers(0, 30, num_rows, np.int32)
    expected = np.bincount(ids, x, 30)
    found = [
        local.segment_sum(jnp.asarray(x.astype(dtype)), jnp.asarray(ids), 30)
        for dtype in (np.int32, np.float32)
    ]
    return tuple(found), (expected.astype(np.int32), expected.astype(np.float32))


def _reduced(rng: np.random.Generator, num_rows: int) -> tuple[Any, Any]:
    x = rng.integers(-MOST_VALUE, MOST_VALUE, num_rows).astype(np.float32)
    ops = ("sum", "min", "max")
    found = tuple(local.reduce(jnp.asarray(x), op).values for op in ops)
    return found, (x.sum(), x.min(), x.max())


def _by_key(reduce_by_key: Callable[..., Any]) -> Callable[..., tuple[Any, Any]]:
    def compute(rng: np.random.Generator, num_rows: int) -> tuple[Any, Any]:
        keys = _keys(rng, num_rows, np.int32)
        values = rng.integers(0, MOST_VALUE, num_rows, np.int32)
        runs = reduce_by_key(jnp.asarray(keys), jnp.asarray(values), "sum")
        unique, inverse = np.unique(keys, return_inverse=True)
        sums = np.bincount(inverse, values, len(unique)).astype(np.int32)
        num_runs = int(runs.num_runs)
        found = runs.unique_keys[:num_runs], runs.values[:num_runs]
        return found, (unique, sums)

    return compute


def _histogram(rng: np.random.Generator, num_rows: int) -> tuple[Any, Any]:
    x = rng.integers(0, MOST_VALUE, num_rows, np.int32)
    edges = np.linspace(0, MOST_VALUE, 21, dtype=np.float32)
    counts, _ = np.histogram(x, edges)
    return local.histogram(jnp.asarray(x), edges=jnp.asarray(edges)).counts, counts


def _over_a_mesh() -> Iterator[Check]:
    num_devices = jax.local_device_count()
    if num_devices < 2 or jax.process_count() > 1:
        return
    mesh = make_mesh(num_devices)

    def sorted_rows(rng: np.random.Generator, num_rows: int) -> tuple[Any, Any]:
        keys = _keys(rng, num_rows, np.int32)
        values = np.arange(num_rows, dtype=np.int32)
        order = np.argsort(keys, kind="stable")
        found = _radix_sort.radix_sort(keys, mesh, values=values)
        return found, (keys[order], values[order])

    def reduced(keys: Any, values: Any, op: str) -> Any:
        return _reduce_by_key.reduce_by_key(keys, values, op, mesh=mesh)

    yield Check(f"radix_sort over {num_devices} devices", sorted_rows)
    yield Check(f"reduce_by_key over {num_devices} devices", _by_key(reduced))


def checks() -> list[Check]:
    """The checks of this machine's devices, in the order of the report."""
    is_x64 = jax.dtypes.canonicalize_dtype(np.int64) == np.int64
    dtypes = [np.int8, np.uint32, np.float32, *([np.int64, np.float64] if is_x64 else [])]
    return [
        Check("jnp.argsort", _argsort_of_jax),
        Check("jnp.argsort of a permutation", _sorted_permutation_of_jax),
        Check("jnp.cumsum", _cumsum_of_jax),
        Check("radix_argsort of int32", _argsort, at_all_lengths=True),
        *map(_sort_of, dtypes),
        Check("bucket_order and its inverse", _bucket_order, at_all_lengths=True),
        Check("top_k", _top_k),
        *map(_scan_of, (np.int32, np.float32)),
        Check("segmented_scan", _segmented_scan, at_all_lengths=True),
        Check("segment_sum", _segment_sum, at_all_lengths=True),
        Check("reduce", _reduced),
        Check("reduce_by_key", _by_key(local.reduce_by_key)),
        Check("histogram", _histogram),
        *_over_a_mesh(),
    ]


def run(check: Check, lengths: Sequence[int]) -> Outcome:
    """Runs a check for each length, up to its first fault.

    Args:
        check: the check.
        lengths: numbers of rows.
    """
    for position, num_rows in enumerate(lengths):
        rng = np.random.default_rng((SEED, num_rows))
        try:
            found, expected = check.compute(rng, num_rows)
            fault = _difference(jax.tree.leaves(found), jax.tree.leaves(expected))
        except Exception as error:
            fault = f"raises {type(error).__name__}: {error}"
        if fault:
            return Outcome(check, position + 1, f"{num_rows} rows: {fault}")
    return Outcome(check, len(lengths), "")


def _difference(found: list[Any], expected: list[Any]) -> str:
    for number, (one, other) in enumerate(zip(found, expected, strict=True)):
        one, other = np.asarray(one), np.asarray(other)
        if one.shape != other.shape:
            return f"result {number} has shape {one.shape}, expected {other.shape}"
        differs = np.flatnonzero((one != other).ravel())
        if differs.size:
            row = differs[0]
            return (
                f"result {number} differs in {differs.size} rows, first in row {row}: "
                f"{one.ravel()[row]}, expected {other.ravel()[row]}"
            )
    return ""


def lengths_of(num_lengths: int, most_rows: int) -> list[int]:
    """Different numbers of rows, spread evenly up to `most_rows`."""
    return sorted({1 + most_rows * number // num_lengths for number in range(num_lengths)})


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a line for each check; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m jaxframes.primitives.selfcheck",
        description="Sorts, scans and reduces known rows, and compares the results with NumPy's.",
    )
    parser.add_argument("--lengths", type=int, default=300, help="number of lengths")
    parser.add_argument("--most-rows", type=int, default=70_000, help="the greatest length")
    parser.add_argument(
        "--timed-rows", type=int, default=2**22, help="rows of the calls that are timed on CUDA"
    )
    options = parser.parse_args(arguments)
    if options.lengths < 1 or options.most_rows < 1:
        parser.error("--lengths and --most-rows must be positive.")
    device = jax.devices()[0]
    print(
        f"jax {importlib.metadata.version('jax')}, {jax.device_count()} x {device.platform} "
        f"({device.device_kind}), kernels on CPU: {backend().cpu}, on CUDA: {backend().cuda}"
    )
    many = lengths_of(options.lengths, options.most_rows)
    few = [num_rows for num_rows in FEW_LENGTHS if num_rows <= options.most_rows]
    outcomes = []
    for check in checks():
        outcomes.append(run(check, many if check.at_all_lengths else few))
        said = "sound" if not outcomes[-1].fault else f"UNSOUND: {outcomes[-1].fault}"
        print(f"{check.name:<44} {outcomes[-1].num_lengths:>4} lengths  {said}", flush=True)
    is_sound = not any(outcome.fault and outcome.check.is_own for outcome in outcomes)
    if device.platform == "gpu" and backend().cuda == "native":
        is_sound &= _kernel_times.report(options.timed_rows)
    print("jaxframes is sound here." if is_sound else "jaxframes is UNSOUND here.")
    return 0 if is_sound else 1


if __name__ == "__main__":
    sys.exit(main())
