# SPDX-License-Identifier: Apache-2.0
"""The 22 queries of TPC-H, with the specification's parameters for validation.

https://www.tpc.org/tpch. The times are no TPC-H results: there are no refresh functions, no streams
and no audit, and amounts of money are float64.
"""

from ..workload import Workload

QUERIES = tuple(f"q{number}" for number in range(1, 23))

WORKLOADS = (
    Workload(
        package="tpch",
        name="TPC-H",
        tables=(
            "region",
            "nation",
            "supplier",
            "customer",
            "part",
            "partsupp",
            "orders",
            "lineitem",
        ),
        size_unit="scale",
        reference="duckdb",
        categories=frozenset(
            {
                "r_name",
                "n_name",
                "c_mktsegment",
                "p_mfgr",
                "p_brand",
                "p_container",
                "o_orderstatus",
                "o_orderpriority",
                "l_returnflag",
                "l_linestatus",
                "l_shipinstruct",
                "l_shipmode",
            }
        ),
        ordered=dict.fromkeys(QUERIES, ()),
    ),
)
SIZES = (1.0,)
SMOKE_SIZES = (0.01,)
