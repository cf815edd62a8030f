# SPDX-License-Identifier: Apache-2.0
"""A plugin of pytest that runs pandas' tests with the frame, and notes what became of each."""

import json
import resource
import signal
import warnings
from collections import Counter, defaultdict
from collections.abc import Generator
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import pytest

from pandas_suite.outcomes import Outcome, outcome_of
from pandas_suite.substitution import substitute, to_frames

jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_enable_x64", True)

_MOST_SECONDS = 60
_MOST_RESIDENT_KILOBYTES = 4_000_000


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--outcomes", type=Path, help="the file that gets a line of JSON a test")
    parser.addoption(
        "--variants", type=int, default=0, help="the most parameters of a test; all if 0"
    )


def pytest_configure(config: pytest.Config) -> None:
    path = config.getoption("outcomes")
    if path is not None:
        config.pluginmanager.register(_Recorder(path))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves `--variants` of the parameters of each test, evenly chosen."""
    most = config.getoption("variants")
    if not most:
        return
    by_test: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        by_test[item.nodeid.split("[")[0]].append(item)
    chosen: set[pytest.Item] = set()
    for variants in by_test.values():
        count = len(variants)
        chosen.update(variants[i * count // most] for i in range(min(most, count)))
        if count <= most:
            chosen.update(variants)
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = [item for item in items if item in chosen]


@pytest.hookimpl(hookwrapper=True)
def pytest_pycollect_makemodule() -> Generator[None, Any, None]:
    outcome = yield
    module = outcome.get_result()
    try:
        imported: ModuleType = module.obj
    except pytest.skip.Exception:
        return
    substitute(imported)


@pytest.hookimpl(hookwrapper=True)
def pytest_fixture_setup(fixturedef: Any, request: Any) -> Generator[None, Any, None]:
    if hasattr(request, "param"):
        request.param = to_frames(request.param)
    outcome = yield
    if outcome.excinfo is None:
        fixturedef.cached_result = (
            to_frames(outcome.get_result()),
            *fixturedef.cached_result[1:],
        )
        outcome.force_result(fixturedef.cached_result[0])


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, None]:
    def stop(*_: Any) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(_MOST_SECONDS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    signal.alarm(0)


def pytest_runtest_teardown() -> None:
    if _resident_kilobytes() > _MOST_RESIDENT_KILOBYTES:
        jax.clear_caches()


def _resident_kilobytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() // 1024


class _Recorder:
    """Writes an outcome for each test, and does not stop for any."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w")
        self._counts: Counter[str] = Counter()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, Any, None]:
        yield
        if call.excinfo is None:
            if call.when == "call":
                self._write(item, Outcome("passed"))
            return
        error = call.excinfo.value
        if call.when == "teardown" or isinstance(error, pytest.skip.Exception):
            return
        expected = item.get_closest_marker("xfail")
        if expected is not None or isinstance(error, pytest.xfail.Exception):
            return
        self._write(item, outcome_of(error, getattr(item, "function", None), item.nodeid))

    def _write(self, item: pytest.Item, outcome: Outcome) -> None:
        self._counts[outcome.kind] += 1
        line = {"test": item.nodeid, **outcome._asdict()}
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        terminalreporter.write_line(str(dict(self._counts)))
