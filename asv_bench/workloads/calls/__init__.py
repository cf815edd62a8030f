# SPDX-License-Identifier: Apache-2.0
"""Fifteen common calls on small and middle-sized frames."""

from ..workload import Workload

WORKLOADS = (
    Workload(
        package="calls",
        name="calls",
        tables=("rows", "other"),
        categories=frozenset({"s"}),
        ordered={
            "sort_values": (3,),
            "sort_values by two": (0, 3),
            "value_counts": (1,),
            "nlargest": (),
            "describe": (),
        },
        in_place=frozenset({"filter", "arithmetic", "rank", "rolling mean", "str.upper"}),
    ),
)
SIZES = (1_000, 100_000, 1_000_000)
SMOKE_SIZES = (1_000,)
