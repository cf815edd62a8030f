# SPDX-License-Identifier: Apache-2.0
"""The description of a workload. It imports nothing, so that each process loads one engine only."""

from collections.abc import Mapping
from typing import NamedTuple

from .engines import ENGINES


class Workload(NamedTuple):
    """Some questions of a package about some of its tables.

    Attributes:
        package: the package of `workloads` with the questions.
        name: its name in reports. Questions whose names begin with `prefix` belong to it.
        tables: the tables that its questions read.
        size_unit: what sizes count, "rows" or "scale".
        reference: the engine that gives the right answers.
        categories: string columns with few values. Engines that have categories run twice, with
            these columns as categories too.
        ordered: for questions that sort, the positions of the columns whose order is compared; ()
            stands for all.
        in_place: questions whose answers keep the rows' order, except in SQL.
        engines: those that have the questions.
        num_first_calls: how often a question is called in a row, before the next one is called for
            the first time.
        num_settling_calls: how often a question is called at most before its warm calls.
    """

    package: str
    name: str
    tables: tuple[str, ...]
    prefix: str = ""
    size_unit: str = "rows"
    reference: str = "pandas"
    categories: frozenset[str] = frozenset()
    ordered: Mapping[str, tuple[int, ...]] = {}
    in_place: frozenset[str] = frozenset()
    engines: tuple[str, ...] = ENGINES
    num_first_calls: int = 1
    num_settling_calls: int = 64
