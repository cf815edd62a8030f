# SPDX-License-Identifier: Apache-2.0
"""The CUDA kernels beside XLA's versions on this machine's GPU: bits and times."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from . import local
from .kernels.base._cuda import without_cuda_kernels

# Any number: the same inputs in each run.
_SEED = 40
# The median of so many calls varies little, and the whole table takes seconds.
_REPEATS = 20
_NUM_BUCKETS, _NUM_SEGMENTS, _NUM_BINS = 64, 1024, 256


class Compared(NamedTuple):
    """A call of a kernel, and XLA's version of it.

    Attributes:
        name: what the report calls it.
        kernel: seconds with the kernel.
        xla: seconds with XLA's version.
        fault: how their results differ; empty if they have the same bits.
    """

    name: str
    kernel: float
    xla: float
    fault: str

    def __str__(self) -> str:
        faster = "the kernel" if self.kernel <= self.xla else "XLA"
        times = f"kernel {self.kernel * 1e6:8.0f} us, XLA {self.xla * 1e6:8.0f} us"
        said = f"UNSOUND: {self.fault}" if self.fault else f"{faster} is faster"
        return f"{self.name:<44} {times}  {said}"


def calls(num_rows: int) -> list[tuple[str, Callable[..., Any], tuple[Any, ...]]]:
    """One call for each kernel. Sums of floats are of small integers, exact in every order."""
    rng = np.random.default_rng(_SEED)
    ids = jnp.asarray(rng.integers(0, _NUM_BUCKETS, num_rows, np.int32))
    segments = jnp.asarray(rng.integers(0, _NUM_SEGMENTS, num_rows, np.int32))
    many = jnp.asarray(rng.integers(0, num_rows // 8 + 1, num_rows, np.int32))
    keys = jnp.asarray(rng.integers(-(2**31), 2**31, num_rows, np.int32))
    ones = jnp.asarray(rng.integers(-1, 2, num_rows).astype(np.float32))
    x = jnp.asarray(rng.standard_normal(num_rows).astype(np.float32))
    mask = x > 0
    heads = segments < 50

    def bins(x: Any) -> Any:
        return local.histogram(x, edges=jnp.linspace(-4.0, 4.0, _NUM_BINS + 1, dtype=x.dtype))

    return [
        ("inclusive_scan", local.inclusive_scan, (ones,)),
        ("segmented_scan", lambda x, h: local.segmented_scan(x, head_flags=h), (ones, heads)),
        ("radix_sort", local.radix_sort, (keys,)),
        ("radix_sort with values", lambda k, v: local.radix_sort(k, values=v), (keys, x)),
        ("radix_argsort of float32", local.radix_argsort, (x,)),
        ("bucket_order", lambda ids: local.bucket_order(ids, _NUM_BUCKETS), (ids,)),
        ("compact", local.compact, (mask, x)),
        ("top_k", lambda x: local.top_k(x, min(64, num_rows)), (x,)),
        ("segment_sum", lambda x, s: local.segment_sum(x, s, _NUM_SEGMENTS), (ones, segments)),
        ("segment_sum of many", lambda x, s: local.segment_sum(x, s, num_rows), (ones, many)),
        ("segment_prod", lambda x, s: local.segment_prod(x, s, _NUM_SEGMENTS), (ones, segments)),
        ("segment_max", lambda x, s: local.segment_max(x, s, _NUM_SEGMENTS), (x, segments)),
        ("segment_count", lambda s: local.segment_count(s, _NUM_SEGMENTS), (segments,)),
        ("pairwise_sum", local.pairwise_sum, (x,)),
        ("histogram", bins, (x,)),
        ("unique", local.unique, (segments,)),
        ("reduce_by_key", lambda k, v: local.reduce_by_key(k, v, "sum"), (segments, ones)),
        ("repeat_rows", lambda c: local.repeat_rows(c, capacity=num_rows), (ids % 3,)),
    ]


def compare(name: str, call: Callable[..., Any], arguments: tuple[Any, ...]) -> Compared:
    """Runs a call with the kernel and with XLA's version."""
    found = []
    for without in (False, True):
        with without_cuda_kernels(without):
            program = jax.jit(lambda *given: call(*given)).lower(*arguments).compile()
        results = jax.block_until_ready(program(*arguments))
        started = time.perf_counter()
        for _ in range(_REPEATS):
            results = program(*arguments)
        jax.block_until_ready(results)
        seconds = (time.perf_counter() - started) / _REPEATS
        found.append((seconds, [np.asarray(leaf) for leaf in jax.tree.leaves(results)]))
    (kernel, ours), (xla, theirs) = found
    differing = [
        str(number)
        for number, (one, other) in enumerate(zip(ours, theirs, strict=True))
        if one.tobytes() != other.tobytes()
    ]
    return Compared(name, kernel, xla, f"result {', '.join(differing)}" if differing else "")


def report(num_rows: int) -> bool:
    """Prints a line for each kernel; returns whether all have the bits of XLA's versions."""
    print(f"The CUDA kernels beside XLA's versions, {num_rows:,} rows:")
    is_sound = True
    for name, call, arguments in calls(num_rows):
        found = compare(name, call, arguments)
        print(found, flush=True)
        is_sound &= not found.fault
    print("JAXFRAMES_KERNELS=xla chooses XLA's versions.")
    return is_sound
