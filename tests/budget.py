# SPDX-License-Identifier: Apache-2.0
"""A budget of processor time for each test file: `make test` runs the cases that fit.

A file has a few seconds, or a tenth of what all of its cases take, if that is more.
`processor_seconds.json` has the mean seconds of a case, for each test function that takes long.
The first case of each function comes first, the cheapest function first, then the second case of
each, and so on, until the budget is used. `make test-all` runs the rest. A test that is not in the
table costs nothing here: new tests run.

`make test PYTEST_ARGS=--store-processor-seconds` brings the table up to date. The times are those
of a machine that has compiled nothing yet, as CI has them, so empty `build/compiled` first.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

PATH = Path(__file__).with_name("processor_seconds.json")
SECONDS_OF_FILE = 3.0
SHARE_OF_FILE = 0.1
# What costs less is not worth a line.
_LEAST_SECONDS = 0.02

Costs = Mapping[str, Mapping[str, float]]


def stored_costs() -> Costs:
    """Seconds of a case by file and test function."""
    return json.loads(PATH.read_text())


def affordable(
    items: Iterable[pytest.Item], costs: Costs, most_seconds: float = SECONDS_OF_FILE
) -> list[pytest.Item]:
    """Chooses the cases of each file that its budget pays for, at least one case of each file.

    Functions marked `runs_always` are not counted: they run.
    """
    items = list(items)
    cases_of_files: dict[str, list[tuple[int, float, int]]] = defaultdict(list)
    num_before: dict[str, int] = defaultdict(int)
    chosen = []
    for i, item in enumerate(items):
        function = item.nodeid.partition("[")[0]
        file, _, name = function.partition("::")
        seconds = costs.get(file, {}).get(name, 0.0)
        if item.get_closest_marker("runs_always"):
            chosen.append(i)
        else:
            cases_of_files[file].append((num_before[function], seconds, i))
            num_before[function] += 1
    for cases in cases_of_files.values():
        room = max(most_seconds, SHARE_OF_FILE * sum(seconds for _, seconds, _ in cases))
        for at, (_, seconds, i) in enumerate(sorted(cases)):
            room -= seconds
            if room >= 0 or seconds == 0 or at == 0:
                chosen.append(i)
    return [items[i] for i in sorted(chosen)]


def store_costs(measured: Mapping[str, list[float]]) -> None:
    """Writes the table anew: seconds of the cases that ran, by function; the rest stays.

    What no longer exists goes.
    """
    table: dict[str, dict[str, float]] = defaultdict(dict)
    for file, functions in stored_costs().items():
        path = PATH.parents[1] / file
        text = path.read_text() if path.exists() else ""
        table[file] |= {
            name: seconds
            for name, seconds in functions.items()
            if f"def {name.rpartition('::')[2]}(" in text
        }
    for function, seconds in measured.items():
        file, _, name = function.partition("::")
        table[file][name] = round(sum(seconds) / len(seconds), 2)
    kept = {
        file: {name: s for name, s in sorted(functions.items()) if s >= _LEAST_SECONDS}
        for file, functions in sorted(table.items())
    }
    kept = {file: functions for file, functions in kept.items() if functions}
    PATH.write_text(json.dumps(kept, indent=1) + "\n")
