# SPDX-License-Identifier: Apache-2.0
"""The questions of db-benchmark (H2O.ai, continued by DuckDB Labs), and sorts of its table.

https://duckdblabs.github.io/db-benchmark. The tables are our own, with the columns, the numbers of
distinct values and the shares of matching keys that its description gives.
"""

from ..workload import Workload

WORKLOADS = (
    Workload(
        package="dbbench",
        name="db-benchmark groupby",
        prefix="groupby",
        tables=("x",),
        categories=frozenset({"id1", "id2", "id3"}),
    ),
    Workload(
        package="dbbench",
        name="db-benchmark join",
        prefix="join",
        tables=("lhs", "small", "medium", "big"),
        categories=frozenset({"id4", "id5"}),
    ),
    Workload(
        package="dbbench",
        name="db-benchmark sort",
        prefix="sort",
        tables=("x",),
        categories=frozenset({"id1", "id2", "id3"}),
        ordered={
            "sort by id6": (5,),
            "sort by v3": (8,),
            "sort by id3": (2,),
            "sort by id1, id4": (0, 3),
        },
    ),
)
SIZES = (1_000_000, 10_000_000)
SMOKE_SIZES = (10_000,)
