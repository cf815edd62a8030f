# SPDX-License-Identifier: Apache-2.0
"""Covering arrays: few cases in which every value of every parameter occurs.

Kuhn, Kacker, Lei (2010), "Practical combinatorial testing": most faults show with one value of one
parameter, whatever the others. The product of all of them runs the same fault many times.
"""

import os
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import pytest

# Whether each test runs with every combination of its parameters.
RUNS_ALL = os.environ.get("JAXFRAMES_TESTS", "covering") == "all"

needs_long_profile = pytest.mark.skipif(not RUNS_ALL, reason="JAXFRAMES_TESTS=all runs it.")


def covering(cases: Sequence[Mapping[str, Hashable]]) -> list[int]:
    """Chooses cases in which every value of every parameter occurs.

    Greedy: the next case is the one with the most values that no chosen case has. Among equals it
    is the one whose values were chosen least often, then the first. So the choice is deterministic.

    Args:
        cases: the value of each parameter, by name.

    Returns:
        Positions of the chosen cases, ascending.
    """
    settings = [frozenset(case.items()) for case in cases]
    uncovered = frozenset().union(*settings)
    uses: Counter[tuple[str, Hashable]] = Counter()
    chosen: list[int] = []
    while uncovered:
        best = max(
            range(len(cases)),
            key=lambda i: (
                len(settings[i] & uncovered),
                -sum(uses[setting] for setting in settings[i]),
            ),
        )
        chosen.append(best)
        uses.update(settings[best])
        uncovered -= settings[best]
    return sorted(chosen) or list(range(len(cases)))


def covering_items(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """Chooses a covering array of the parameters of each test file.

    The test function is one more parameter: each function runs, and each value occurs in one of
    them. Functions marked `covered_together(name)` share an array inside their file, and each
    function marked `covered_apart` has its own.
    """
    items = list(items)
    positions: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for i, item in enumerate(items):
        positions[_group_of(item)].append(i)
    chosen = (
        group[i]
        for group in positions.values()
        for i in covering([_parameters_of(items[position]) for position in group])
    )
    return [items[i] for i in sorted(chosen)]


def _function_of(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0]


def _group_of(item: pytest.Item) -> tuple[str, ...]:
    if item.get_closest_marker("covered_apart"):
        return (_function_of(item),)
    together = item.get_closest_marker("covered_together")
    return (str(item.path), *(together.args if together else ()))


def _parameters_of(item: Any) -> dict[str, Hashable]:
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    values = {name: _as_key(value) for name, value in parameters.items()}
    return {"test function": _function_of(item), **values}


def _as_key(value: Any) -> Hashable:
    try:
        hash(value)
    except TypeError:
        # `parametrize` gives the same object to every case.
        return id(value)
    # True equals 1.
    return type(value), value
