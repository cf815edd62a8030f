# SPDX-License-Identifier: Apache-2.0
"""The scenarios of the table, and the order in which implementations are timed.

For each scenario every implementation gets the same columns in its own form, and is compiled and
called once. Then they take turns, so that a slow moment of the machine affects all of them. Each
round has a different order, so that the state of caches, threads and the allocator varies. A turn
is two consecutive calls, and the second one counts, because the first may find cold memory.
"""

import random
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple


class Case(NamedTuple):
    """One row of the table."""

    operation: str
    dtype: str
    distribution: str
    implementation: str


class Timing(NamedTuple):
    """The seconds of each turn of a case."""

    case: Case
    num_rows: int
    seconds: list[float]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def best(self) -> float:
        return min(self.seconds)


# Operation, dtype and distribution.
Scenario = tuple[str, str, str]

FEW_AND_MANY = ("thousand_values", "million_values", "uniform")
KEY_OPERATIONS = (
    "segmented_sort",
    "searchsorted",
    "select_rank",
    "run_length_encode",
    "reduce_by_key",
    "set_intersection",
)
SEGMENT_OPERATIONS = (
    "segment_quantile",
    "segment_nunique",
    "segment_rank",
    "segment_shift",
    "segmented_scan of unsorted ids",
)
SKEWED = ("zipf", "constant", "sorted", "reversed")
SCENARIOS: tuple[Scenario, ...] = (
    *(
        ("radix_argsort", dtype, "uniform")
        for dtype in ("int32", "uint32", "float32", "int64", "float64")
    ),
    *(("radix_argsort", "int64", name) for name in ("sixteen_bits", *SKEWED)),
    *(("radix_argsort", "int32", name) for name in SKEWED),
    *(("radix_sort", dtype, "uniform") for dtype in ("int32", "int64", "float32")),
    *(("radix_sort", "int64", name) for name in ("sixteen_bits",)),
    *(("radix_sort", "int32", name) for name in SKEWED),
    *(("radix_sort with values", dtype, "uniform") for dtype in ("int32", "int64")),
    ("top_k", "int32", "uniform"),
    ("compact", "int32", "uniform"),
    ("gather_rows", "int64", "uniform"),
    *(("unique", dtype, "uniform") for dtype in ("int32", "int64")),
    ("unique", "int64", "zipf"),
    *(("factorize", "int64", name) for name in FEW_AND_MANY),
    *(("factorize by first row", "int64", name) for name in FEW_AND_MANY),
    *(
        (operation, "int64", "uniform")
        for operation in ("isin", "join", "join many to many", "cross join")
    ),
    ("merge", "int32", "uniform"),
    ("bucket", "int32", "uniform"),
    ("bucket", "int32", "zipf"),
    *(("inclusive_scan", dtype, "uniform") for dtype in ("int32", "float32", "float64")),
    *(("segmented_scan", dtype, "uniform") for dtype in ("int32", "float32", "int64", "float64")),
    ("reduce", "int64", "uniform"),
    ("reduce with a mask", "float64", "uniform"),
    ("windowed_reduce", "float64", "uniform"),
    ("concatenate", "int64", "uniform"),
    *((operation, "float64", "uniform") for operation in SEGMENT_OPERATIONS),
    ("segment_sum", "int32", "uniform"),
    ("segment_sum", "int32", "zipf"),
    ("segment_sum of many", "int32", "uniform"),
    ("histogram", "float64", "uniform"),
    ("histogram", "float32", "uniform"),
    ("digit_histogram", "uint8", "uniform"),
    *((operation, "int64", "million_values") for operation in KEY_OPERATIONS),
    *(
        ("reduce_by_key of several", "int64", name)
        for name in ("dense_thousand", "thousand_values", "million_values")
    ),
    ("quantile", "float64", "uniform"),
    *(("frame sort_values", dtype, "uniform") for dtype in ("int64", "float64")),
    ("frame filter", "int64", "uniform"),
    ("frame filter by loc", "int64", "uniform"),
    *(
        ("frame groupby sum", "int64", name)
        for name in ("dense_thousand", "dense_million", "thousand_values", "million_values")
    ),
    ("frame groupby strings", "int64", "uniform"),
    ("frame merge", "int64", "uniform"),
    ("frame merge many to many", "int64", "uniform"),
    ("frame merge left", "int64", "dense_million"),
    ("frame apply rows", "int64", "uniform"),
)
MESH_SORT = "radix_sort over 8 devices"
MESH_REDUCE = "reduce_by_key over 8 devices"
MESH_SCENARIOS: tuple[Scenario, ...] = (
    (MESH_SORT, "int32", "uniform"),
    (MESH_SORT, "int32", "zipf"),
    *((MESH_REDUCE, "int64", name) for name in ("uniform", "zipf_1.1", "half_one_key")),
)

# A call of this length warms itself up: the cost of a cold start is negligible.
WARM_SECONDS = 0.5
# Shorter rounds are repeated more often, because noise is a larger part of short calls.
SHORT_ROUND_SECONDS = 0.5
SHORT_ROUNDS = 3


def local_timings(scenario: Scenario, num_rows: int, num_rounds: int) -> list[Timing]:
    """Times an op of one device, which uses all threads."""
    from benchmarks.implementations import IMPLEMENTATIONS, columns_of, prepared

    operation, dtype, distribution = scenario
    columns = columns_of(operation, num_rows, dtype, distribution)
    calls = {name: prepared(operation, name, *columns) for name in IMPLEMENTATIONS[operation]}
    return list(timings_in_turns(scenario, num_rows, calls, num_rounds))


def mesh_timings(scenario: Scenario, num_rows: int, num_rounds: int) -> list[Timing]:
    """Times an op over 8 devices, in another process than `local_timings`."""
    from benchmarks.collective_radix_sort import MAX_SHARDS, sort_over_mesh
    from benchmarks.collective_reduce_by_key import sums_over_mesh
    from benchmarks.key_distributions import make_keys
    from benchmarks.measuring import mesh_of, sharded_rows, use_devices, waiting_call

    use_devices(MAX_SHARDS)
    operation, dtype, distribution = scenario
    mesh = mesh_of(MAX_SHARDS)
    (keys,) = sharded_rows(mesh, make_keys(distribution, num_rows, dtype))
    if operation == MESH_REDUCE:
        calls = {"jaxframes": waiting_call(sums_over_mesh(mesh), keys)}
    else:
        names = ("jaxframes", "xla")
        calls = {name: waiting_call(sort_over_mesh(name, mesh), keys) for name in names}
    for call in calls.values():
        call()
    return list(timings_in_turns(scenario, num_rows, calls, num_rounds))


def timings_in_turns(
    scenario: Scenario, num_rows: int, calls: dict[str, Callable[[], Any]], num_rounds: int
) -> Iterator[Timing]:
    """Times the implementations in `num_rounds` turns each, or more if they are short."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    order = random.Random(0)

    def take_turns(count: int) -> None:
        for _ in range(count):
            for name in order.sample(list(calls), len(calls)):
                elapsed = seconds_of(calls[name])
                if elapsed < WARM_SECONDS:
                    elapsed = seconds_of(calls[name])
                seconds[name].append(elapsed)

    take_turns(num_rounds)
    if sum(map(sum, seconds.values())) < num_rounds * SHORT_ROUND_SECONDS:
        take_turns(num_rounds * (SHORT_ROUNDS - 1))
    for name in calls:
        yield Timing(Case(*scenario, name), num_rows, seconds[name])


def seconds_of(call: Callable[[], Any]) -> float:
    """Seconds until the result is ready, without the time to free it."""
    start = time.perf_counter()
    result = call()
    elapsed = time.perf_counter() - start
    del result
    return elapsed
