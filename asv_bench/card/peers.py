# SPDX-License-Identifier: Apache-2.0
"""The same work in PyTorch and CuPy, where they have it."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from card.cases import CASES, EDGES, FEW_SEGMENTS, MANY_SEGMENTS, NUM_BINS, NUM_BUCKETS, TOP
from card.times import repeated, seconds_of


def torch_calls() -> dict[str, Callable[..., Any]]:
    """Calls of PyTorch, by case."""
    import torch

    def sums(num_segments: int) -> Callable[..., Any]:
        def call(x: Any, ids: Any) -> Any:
            return torch.zeros(num_segments, dtype=x.dtype, device="cuda").index_add_(0, ids, x)

        return call

    def sorted_with(keys: Any, *values: Any) -> Any:
        keys, order = torch.sort(keys, stable=True)
        return keys, [value[order] for value in values]

    def bucket_order(ids: Any) -> Any:
        order = torch.argsort(ids, stable=True)
        return order, torch.argsort(order), torch.bincount(ids, minlength=NUM_BUCKETS)

    def reduced(keys: Any, values: Any) -> Any:
        found, inverse = torch.unique(keys, return_inverse=True)
        return found, torch.zeros(len(found), device="cuda").index_add_(0, inverse, values)

    return {
        "inclusive_scan f32": lambda x: torch.cumsum(x, 0),
        "inclusive_scan i32": lambda x: torch.cumsum(x, 0, dtype=x.dtype),
        "radix_sort i32 with f32": sorted_with,
        "radix_sort f32 with i32": sorted_with,
        "radix_sort i64 with two columns": sorted_with,
        "radix_argsort i32, descending": lambda k: torch.argsort(k, descending=True, stable=True),
        "radix_sort of 8 rows": lambda k: torch.sort(k, dim=1),
        "bucket_order 64": bucket_order,
        "compact": lambda mask, x: x[mask],
        "compact of four": lambda mask, *columns: [x[mask] for x in columns],
        "segment_sum f32 1,024": sums(FEW_SEGMENTS),
        "segment_sum f32 100,000": sums(MANY_SEGMENTS),
        "segment_sum i32 1,024": sums(FEW_SEGMENTS),
        "unique i32": torch.unique,
        "reduce_by_key i32, f32": reduced,
        "histogram f32 256": lambda x: torch.histc(x, NUM_BINS, -4, 4),
        "top_k 64 f32": lambda x: torch.topk(x, TOP),
    }


def cupy_calls() -> dict[str, Callable[..., Any]]:
    """Calls of CuPy, by case."""
    import cupy

    edges = cupy.asarray(EDGES)

    def sorted_with(keys: Any, *values: Any) -> Any:
        order = cupy.argsort(keys)
        return keys[order], [value[order] for value in values]

    def bucket_order(ids: Any) -> Any:
        order = cupy.argsort(ids)
        return order, cupy.argsort(order), cupy.bincount(ids, minlength=NUM_BUCKETS)

    def sums(num_segments: int) -> Callable[..., Any]:
        return lambda x, ids: cupy.bincount(ids, x, num_segments)

    return {
        "inclusive_scan f32": cupy.cumsum,
        "inclusive_scan i32": cupy.cumsum,
        "radix_sort u32": cupy.sort,
        "radix_sort i32 with f32": sorted_with,
        "radix_sort f32 with i32": sorted_with,
        "radix_argsort i32, descending": lambda k: cupy.argsort(-k),
        "bucket_order 64": bucket_order,
        "compact": lambda mask, x: x[mask],
        "compact of four": lambda mask, *columns: [x[mask] for x in columns],
        "segment_sum f32 1,024": sums(FEW_SEGMENTS),
        "segment_sum f32 100,000": sums(MANY_SEGMENTS),
        "unique i32": cupy.unique,
        "histogram f32 256": lambda x: cupy.histogram(x, edges)[0],
        "top_k 64 f32": lambda x: -cupy.partition(-x, TOP)[:TOP],
    }


def times(library: str, sizes: Sequence[int], record: Callable[[str, int, Any], None]) -> None:
    """Measures the calls of a library; records seconds, or what failed."""
    if library == "torch":
        import torch

        calls, put = torch_calls(), lambda x: torch.from_numpy(x).cuda()
        wait = lambda _: torch.cuda.synchronize()  # noqa: E731
    else:
        import cupy

        calls, put = cupy_calls(), cupy.asarray
        wait = lambda _: cupy.cuda.Device().synchronize()  # noqa: E731
    for rows in sizes:
        for name, call in calls.items():
            try:
                rng = np.random.default_rng(rows)
                arrays = CASES[name].arrays(rng, min(rows, 2**24))
                given = [put(repeated(x, rows)) for x in arrays]
                record(name, rows, seconds_of(lambda: call(*given), wait))  # noqa: B023
            except Exception as error:
                record(name, rows, f"{type(error).__name__}: {str(error)[:200]}")
