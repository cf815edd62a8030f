# SPDX-License-Identifier: Apache-2.0
"""Measures one engine on one workload, in a process of its own.

The first calls come right after loading, one question after the other, so a later question may use
what an earlier one compiled. In its first calls an interpreter runs a program of this library,
while XLA compiles it in the background: warm calls come when that is done. Answers are compared
last, with one more call each: a comparison needs memory, which the peak must not count. A wrong
answer raises, so nothing of the engine is reported.
"""

import multiprocessing
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from .workload import Workload

# The digests of `answers.py`, by question and view.
Digests = dict[str, dict[str, Any]]

# A long question is repeated until this many seconds have passed, at least once.
MOST_WARM_SECONDS = 10.0
# A short one is repeated more often, because noise is a larger part of its time.
LEAST_WARM_SECONDS = 0.02
SHORT_ROUNDS = 20


class Answered(NamedTuple):
    """The times of one question, and what this library compiled in its first call.

    `next_seconds` are those of the calls that follow the first one in a row.
    """

    first_seconds: float
    next_seconds: list[float]
    warm_seconds: list[float]
    compile_costs: dict[str, float] | None


class Measurement(NamedTuple):
    """One engine on one workload."""

    load_seconds: float
    peak_bytes: int
    questions: dict[str, Answered]


def in_fresh_process(function: Callable[..., Any], *args: Any) -> Any:
    """Calls a function in a process that has imported nothing else."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *args).result()


def write_tables(package: str, folder: Path, size: float) -> None:
    """Writes the tables of a size, unless they are there."""
    if (folder / "complete").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    import_module(f"workloads.{package}.tables").write(folder, size)
    (folder / "complete").touch()


def measure(
    workload: Workload,
    engine: str,
    with_categories: bool,
    folder: Path,
    num_rounds: int,
    expected: Digests | None,
) -> tuple[Measurement, Digests]:
    """Times all questions of a workload, and compares the answers with those of the reference.

    Returns:
        The measurement, and the digests of the answers.
    """
    library = import_module(f"workloads.engines.{engine}")
    questions = {
        name: question
        for name, question in library.questions(workload.package).items()
        if name.startswith(workload.prefix)
    }
    paths = {table: folder / f"{table}.parquet" for table in workload.tables}
    start = time.perf_counter()
    tables = library.load(paths, workload.categories if with_categories else ())
    load_seconds = time.perf_counter() - start
    calls = {name: library.prepare(question, tables) for name, question in questions.items()}

    answered = {}
    for name, call in calls.items():
        with recorded_compilation(engine) as costs:
            first_seconds = seconds_of(call)
        next_seconds = [seconds_of(call) for _ in range(workload.num_first_calls - 1)]
        answered[name] = Answered(first_seconds, next_seconds, [], costs and costs.as_record())
    for name, call in calls.items():
        if hasattr(library, "settle"):
            library.settle(call, workload.num_settling_calls)
        answered[name].warm_seconds.extend(warm_seconds(call, num_rounds))
    # Linux counts kibibytes.
    peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    # It imports pandas, which the peak must not count.
    from .answers import compared

    answers = ((name, library.to_pandas(call())) for name, call in calls.items())
    return Measurement(load_seconds, peak_bytes, answered), compared(
        workload, engine, answers, expected
    )


def seconds_of(call: Callable[[], Any]) -> float:
    """Seconds until the answer is ready, without the time to free it."""
    start = time.perf_counter()
    answer = call()
    elapsed = time.perf_counter() - start
    del answer
    return elapsed


def warm_seconds(call: Callable[[], Any], num_rounds: int) -> list[float]:
    seconds: list[float] = []
    while sum(seconds) < MOST_WARM_SECONDS:
        is_short = sum(seconds) < LEAST_WARM_SECONDS
        if len(seconds) >= num_rounds * (SHORT_ROUNDS if is_short else 1):
            break
        seconds.append(seconds_of(call))
    return seconds


def recorded_compilation(engine: str) -> AbstractContextManager[Any]:
    if engine != "jaxframes":
        return nullcontext()
    # It imports JAX, which the other engines do without.
    from benchmarks.compile_costs import compile_costs

    return compile_costs()
