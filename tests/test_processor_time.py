# SPDX-License-Identifier: Apache-2.0
"""The table of processor time, and its bound."""

import types
from typing import Any

import processor_time
import pytest
from processor_time import ProcessorTime


def report(path: str, seconds: float | None) -> Any:
    properties = [] if seconds is None else [("processor seconds", seconds)]
    return types.SimpleNamespace(
        location=(path, 1, "test"),
        nodeid=f"{path}::test",
        when="call",
        user_properties=properties,
    )


def summary(times: ProcessorTime) -> list[str]:
    lines: list[str] = []
    times.pytest_terminal_summary(
        types.SimpleNamespace(
            write_sep=lambda _, title: lines.append(title),
            write_line=lambda line, **how: lines.append(line.strip()),
        )
    )
    return lines


def test_folders_are_listed_by_their_time():
    times = ProcessorTime(None)
    for path, seconds in [("a/test_x.py", 1.0), ("b/test_y.py", 5.0), ("a/test_z.py", 2.0),
                          ("c/test_w.py", 0.2), ("a/test_x.py", None)]:  # fmt: skip
        times.pytest_runtest_logreport(report(path, seconds))
    assert summary(times) == ["processor time by folder", "5 s  b", "3 s  a", "8 s  in all"]


@pytest.mark.parametrize(
    ("seconds", "slowness", "status"),
    [(12, 1, 0), (13, 1, 1), (13, 0.5, 1), (24, 2, 0), (26, 2, 1)],
)
def test_a_suite_that_grew_by_more_than_a_quarter_fails(seconds, slowness, status, monkeypatch):
    work = processor_time._STORED_SECONDS_OF_WORK * slowness
    monkeypatch.setattr(processor_time, "_fixed_work", lambda: work)
    times = ProcessorTime(10.0)
    times.pytest_runtest_logreport(report("a/test_x.py", seconds))
    session: Any = types.SimpleNamespace(exitstatus=pytest.ExitCode.OK)
    times.pytest_sessionfinish(session)
    assert session.exitstatus == status
    assert ("has grown" in " ".join(summary(times))) == bool(status)
