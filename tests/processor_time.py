# SPDX-License-Identifier: Apache-2.0
"""Processor time of the tests: a table by folder at the end of a run.

Seconds of all processors, of the test and of the processes that it started. Where other programs
run too they grow far less than the time on the clock, so a run can be held to a stored figure:
`--most-processor-seconds=N` fails a run whose sum is greater than N by more than a quarter. A
slower processor is allowed more, in proportion: a fixed piece of work is timed during the run.
`--store-processor-seconds` writes the seconds of each test function for `budget`.
"""

import collections
import resource
import statistics
import time
from collections.abc import Generator
from pathlib import PurePosixPath
from typing import Any

import budget
import pytest

_KEY = "processor seconds"
_COLLECTION = "collection"
_ALLOWED_GROWTH = 1.25
# Of `_fixed_work` during a run of tests, where the stored figure was measured.
_STORED_SECONDS_OF_WORK = 0.008
_REPORTS_FOR_EACH_SAMPLE = 100


def _processor_seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _fixed_work() -> float:
    """Does the same work each time; returns its seconds."""
    start, total = time.process_time(), 0
    for number in range(100_000):
        total += number * number
    return time.process_time() - start


class ProcessorTime:
    """Collects what the workers report, and prints it."""

    def __init__(self, most_seconds: float | None, stores_costs: bool = False):
        self.most_seconds = most_seconds
        self.stores_costs = stores_costs
        self.seconds: collections.Counter[str] = collections.Counter()
        self.seconds_of_cases: collections.Counter[str] = collections.Counter()
        self._last = _processor_seconds()
        self._unreported: list[tuple[str, float]] = []
        self._num_reports = 0
        self._seconds_of_work: list[float] = []

    def _elapsed(self) -> float:
        before, self._last = self._last, _processor_seconds()
        return self._last - before

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self) -> None:
        self._unreported.append((_COLLECTION, self._elapsed()))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        # Whatever came between two reports, such as fixtures, belongs to the later one.
        report.user_properties += [*self._unreported, (_KEY, self._elapsed())]
        self._unreported.clear()
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        # The reports of a test share their properties: the last one is of this phase.
        own = [value for key, value in report.user_properties if key == _KEY]
        folder = PurePosixPath(report.location[0]).parent
        self.seconds[str(folder)] += float(own[-1]) if own else 0.0
        self.seconds_of_cases[report.nodeid] += float(own[-1]) if own else 0.0
        self._num_reports += 1
        if self.most_seconds is not None and self._num_reports % _REPORTS_FOR_EACH_SAMPLE == 1:
            self._seconds_of_work.append(_fixed_work())
        if report.when == "setup":
            collecting = [
                float(value) for key, value in report.user_properties if key == _COLLECTION
            ]
            self.seconds[_COLLECTION] += sum(collecting)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        terminalreporter.write_sep("=", "processor time by folder")
        for folder, seconds in self.seconds.most_common():
            if seconds >= 1:
                terminalreporter.write_line(f"{seconds:8.0f} s  {folder}")
        terminalreporter.write_line(f"{self.seconds.total():8.0f} s  in all")
        if self.most_seconds is not None:
            terminalreporter.write_line(
                f"The stored figure is {self.most_seconds:.0f} s, on a processor that this one is "
                f"{self._slowness():.2f} times as slow as."
            )
        if self._is_too_much():
            terminalreporter.write_line(
                "The suite has grown by more than a quarter. Make the tests cheaper, or store the "
                "new figure and say why.",
                red=True,
            )

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._is_too_much() and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        if self.stores_costs and not hasattr(session.config, "workerinput"):
            budget.store_costs(self._seconds_of_functions())

    def _seconds_of_functions(self) -> dict[str, list[float]]:
        functions: dict[str, list[float]] = collections.defaultdict(list)
        for case, seconds in self.seconds_of_cases.items():
            functions[case.partition("[")[0]].append(seconds)
        return functions

    def _is_too_much(self) -> bool:
        if self.most_seconds is None:
            return False
        allowed = self.most_seconds * max(self._slowness(), 1.0) * _ALLOWED_GROWTH
        return self.seconds.total() > allowed

    def _slowness(self) -> float:
        """How much longer this processor takes than the one of the stored figure."""
        if not self._seconds_of_work:
            return 1.0
        return statistics.median(self._seconds_of_work) / _STORED_SECONDS_OF_WORK
