# SPDX-License-Identifier: Apache-2.0
"""Prints, stores and draws the measurements of a workload."""

from collections.abc import Iterator
from statistics import geometric_mean, median
from typing import Any, NamedTuple

from chart import Bar

from .engines import ENGINES
from .process import Answered, Measurement

OURS = ENGINES[0]
# A question whose ratio is lower is named.
LEAST_RATIO = 0.3


class Run(NamedTuple):
    """The measurement of one engine on one workload at one size."""

    workload: str
    size: float
    size_unit: str
    engine: str
    with_categories: bool
    measurement: Measurement

    @property
    def title(self) -> str:
        amount = f"{self.size:,} rows" if self.size_unit == "rows" else f"scale {self.size:g}"
        return f"{self.workload}, {amount}"


def faster(runs: list[Run]) -> dict[str, dict[str, Answered]]:
    """By engine and question the faster of its runs, with strings or with categories."""
    best: dict[str, dict[str, Answered]] = {}
    for run in runs:
        questions = best.setdefault(run.engine, {})
        for name, answered in run.measurement.questions.items():
            known = questions.get(name)
            if known is None or median(answered.warm_seconds) < median(known.warm_seconds):
                questions[name] = answered
    return best


def ratios_of(runs: list[Run], *, with_first: bool) -> dict[str, float]:
    """Ratios for the baseline: the time of the fastest other engine divided by ours.

    Warm times are the best ones, because other work on the machine only adds to a time.
    """
    best = faster(runs)
    ours = best.pop(OURS, {})
    ratios: dict[str, float] = {}
    for name, answered in ours.items() if best else ():
        peers = [questions[name] for questions in best.values()]
        subject = f"{runs[0].title}, {name}"
        fastest = min(min(peer.warm_seconds) for peer in peers)
        ratios[f"{subject}, warm"] = fastest / min(answered.warm_seconds)
        if with_first:
            fastest = min(peer.first_seconds for peer in peers)
            ratios[f"{subject}, first"] = fastest / answered.first_seconds
    return ratios


def time_lines(runs: list[Run]) -> Iterator[str]:
    """A table of first and warm times of a workload at one size."""
    best = faster(runs)
    engines = [engine for engine in ENGINES if engine in best]
    peers = [engine for engine in engines if engine != OURS]
    has_ratio = OURS in engines and peers
    yield f"{runs[0].title}: milliseconds of the first call and of a warm one"
    yield (
        f"{'':<22}"
        + "".join(f"{engine:>20}" for engine in engines)
        + (f"{'ratio':>10}" if has_ratio else "")
    )
    sums = {engine: [0.0, 0.0] for engine in engines}
    for name in best[engines[0]]:
        line = f"{name:<22}"
        for engine in engines:
            answered = best[engine][name]
            times = [answered.first_seconds, median(answered.warm_seconds)]
            sums[engine] = [total + time for total, time in zip(sums[engine], times, strict=True)]
            line += _pair(*times)
        if has_ratio:
            fastest = min(median(best[peer][name].warm_seconds) for peer in peers)
            line += f"{fastest / median(best[OURS][name].warm_seconds):>10.2f}"
        yield line
    yield f"{'sum':<22}" + "".join(_pair(*sums[engine]) for engine in engines)
    for run in runs:
        kind = f"{run.engine} with categories" if run.with_categories else run.engine
        yield (
            f"{kind}: loading took {run.measurement.load_seconds:.2f} s, "
            f"peak memory was {run.measurement.peak_bytes / 1e6:,.0f} MB"
        )


def _pair(first: float, warm: float) -> str:
    return f"{first * 1e3:>10.1f}{warm * 1e3:>10.2f}"


def call_lines(runs: list[Run]) -> Iterator[str]:
    """The ratios of the first calls, one after the other: means, the least, and those below 0.3."""
    ratios = _ratios_of_calls(runs, faster(runs)[OURS])
    for call in range(len(next(iter(ratios.values())))):
        yield f"call {call + 1}: {_mean_and_least(ratios, call)}"
    last = {name: of_name[-1] for name, of_name in ratios.items() if of_name[-1] < LEAST_RATIO}
    for name in sorted(last, key=lambda name: last[name]):
        yield f"  below {LEAST_RATIO}: {name}, {last[name]:.2f}"


def kept_lines(runs: list[Run], ours: Measurement) -> Iterator[str]:
    """The ratio of the first calls of a process that has the programs of another one."""
    ratios = _ratios_of_calls(runs, ours.questions)
    yield f"call 1, programs kept: {_mean_and_least(ratios, 0)}"


def _ratios_of_calls(runs: list[Run], ours: dict[str, Answered]) -> dict[str, list[float]]:
    """For each question and call the fastest other engine's time over ours."""
    best = faster(runs)
    del best[OURS]
    return {
        name: [
            min(_first_calls(questions[name])[call] for questions in best.values()) / seconds
            for call, seconds in enumerate(_first_calls(answered))
        ]
        for name, answered in ours.items()
    }


def _mean_and_least(ratios: dict[str, list[float]], call: int) -> str:
    of_call = {name: of_name[call] for name, of_name in ratios.items()}
    least = min(of_call, key=lambda name: of_call[name])
    return (
        f"the fastest other engine's time over ours, geometric mean "
        f"{geometric_mean(of_call.values()):.2f}, least {of_call[least]:.2f} ({least})"
    )


def _first_calls(answered: Answered) -> list[float]:
    return [answered.first_seconds, *answered.next_seconds]


def compile_lines(runs: list[Run]) -> Iterator[str]:
    """A table of the programs that first calls compile, with the milliseconds of each phase."""
    (ours,) = (run for run in runs if run.engine == OURS)
    yield f"{ours.title}: first calls of {OURS}"
    yield (
        f"{'':<22}{'ms':>10}{'programs':>10}{'traces':>10}{'trace ms':>10}{'lower ms':>10}"
        f"{'compile ms':>12}"
    )
    total = [0.0] * 6
    for name, answered in ours.measurement.questions.items():
        costs = answered.compile_costs or {}
        cells = [
            answered.first_seconds * 1e3,
            costs["programs"],
            costs["traces"],
            *(costs[f"{phase}_seconds"] * 1e3 for phase in ("trace", "lower", "compile")),
        ]
        total = [sum(pair) for pair in zip(total, cells, strict=True)]
        yield _cells(name, cells)
    yield _cells("sum", total)


def _cells(name: str, cells: list[float]) -> str:
    widths = (10, 10, 10, 10, 10, 12)
    return f"{name:<22}" + "".join(
        f"{cell:>{width}.0f}" for cell, width in zip(cells, widths, strict=True)
    )


def record_of(run: Run) -> dict[str, Any]:
    """A run for the JSON report."""
    return {
        "workload": run.workload,
        run.size_unit: run.size,
        "engine": run.engine,
        "strings": "categories" if run.with_categories else "plain",
        "load_seconds": run.measurement.load_seconds,
        "peak_bytes": run.measurement.peak_bytes,
        "questions": {
            name: answered._asdict() for name, answered in run.measurement.questions.items()
        },
    }


def bars_of(runs: list[Run]) -> dict[str, list[Bar]]:
    """Groups of bars: loading, the sum of first calls and the sum of warm calls."""
    title = runs[0].title
    best = faster(runs)
    groups = {
        f"{title}: loading": {
            engine: min(run.measurement.load_seconds for run in runs if run.engine == engine)
            for engine in best
        },
        f"{title}: first calls": {
            engine: sum(answered.first_seconds for answered in questions.values())
            for engine, questions in best.items()
        },
        f"{title}: the same calls, warm": {
            engine: sum(median(answered.warm_seconds) for answered in questions.values())
            for engine, questions in best.items()
        },
    }
    return {
        title: [Bar(engine, seconds * 1e3) for engine, seconds in times.items()]
        for title, times in groups.items()
    }
