# SPDX-License-Identifier: Apache-2.0
"""Queries in the words of pandas that reach beyond TPC-H and db-benchmark.

Each takes a module with `merge` and `concat`, `pandas` or `jaxframes.frame`, and the tables of
TPC-H by name.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

Tables = Mapping[str, Any]


def rolling_over_sorted_rows(pd: Any, t: Tables) -> Any:
    orders = t["orders"][["o_orderkey", "o_orderdate", "o_totalprice"]]
    orders = orders.sort_values(["o_orderdate", "o_orderkey"], ignore_index=True)
    return orders[["o_totalprice"]].rolling(7).mean()


def expanding_maximum(pd: Any, t: Tables) -> Any:
    orders = t["orders"].sort_values("o_orderkey", ignore_index=True)
    return orders[["o_totalprice", "o_custkey"]].expanding().max()


def rank_within_groups(pd: Any, t: Tables) -> Any:
    orders = t["orders"][["o_orderkey", "o_custkey", "o_totalprice"]]
    orders = orders.assign(
        place=orders.groupby("o_custkey")["o_totalprice"].rank(method="min", ascending=False)
    )
    return orders[orders["place"] <= 2].sort_values(["o_custkey", "place", "o_orderkey"])


def running_total_of_groups(pd: Any, t: Tables) -> Any:
    orders = t["orders"].sort_values(["o_custkey", "o_orderdate", "o_orderkey"])
    spent = orders.groupby("o_custkey")["o_totalprice"].cumsum()
    return orders.assign(spent=spent)[["o_custkey", "o_orderdate", "spent"]]


def days_between_orders(pd: Any, t: Tables) -> Any:
    orders = t["orders"].sort_values(["o_custkey", "o_orderdate", "o_orderkey"])
    earlier = orders.groupby("o_custkey")["o_orderdate"].shift(1)
    orders = orders.assign(gap=(orders["o_orderdate"] - earlier).dt.days)
    return orders[["o_custkey", "gap"]].groupby("o_custkey", as_index=False)["gap"].max()


def string_expressions(pd: Any, t: Tables) -> Any:
    parts = t["part"]
    parts = parts.assign(
        metal=parts["p_type"].str.replace(r"^\S+ \S+ ", "", regex=True).str.lower(),
        is_plated=parts["p_type"].str.contains("PLATED"),
        letters=parts["p_name"].str.len(),
    )
    return parts.groupby(["metal", "is_plated"], as_index=False).agg(
        parts=("p_partkey", "count"), letters=("letters", "sum"), price=("p_retailprice", "max")
    )


def string_filters(pd: Any, t: Tables) -> Any:
    customers = t["customer"]
    customers = customers[
        customers["c_phone"].str.startswith("2")
        & ~customers["c_comment"].str.contains("special")
        & (customers["c_mktsegment"].str.upper() != "MACHINERY")
    ]
    return customers.assign(code=customers["c_phone"].str.slice(0, 2))[["c_custkey", "code"]]


def date_expressions(pd: Any, t: Tables) -> Any:
    lines = t["lineitem"]
    days = lines["l_receiptdate"] - lines["l_shipdate"]
    lines = lines.assign(
        year=lines["l_shipdate"].dt.year,
        quarter=lines["l_shipdate"].dt.quarter,
        days=days.dt.days,
    )
    return lines.groupby(["year", "quarter"], as_index=False).agg(
        lines=("l_orderkey", "count"), slowest=("days", "max"), days=("days", "mean")
    )


def weekdays(pd: Any, t: Tables) -> Any:
    orders = t["orders"]
    orders = orders.assign(weekday=orders["o_orderdate"].dt.day_of_week)
    orders = orders[orders["weekday"] < 5]
    return orders["weekday"].value_counts(sort=False)


def union_of_two_filters(pd: Any, t: Tables) -> Any:
    orders = t["orders"][["o_orderkey", "o_orderstatus", "o_totalprice"]]
    cheap = orders[orders["o_totalprice"] < 2000].assign(kind="cheap")
    dear = orders[orders["o_totalprice"] > 400_000].assign(kind="dear")
    return pd.concat([cheap, dear], ignore_index=True).sort_values(["kind", "o_orderkey"])


def semi_and_anti_joins(pd: Any, t: Tables) -> Any:
    customers, orders = t["customer"], t["orders"]
    urgent = orders[orders["o_orderpriority"] == "1-URGENT"]
    low = orders[orders["o_orderpriority"] == "5-LOW"]
    customers = customers[customers["c_custkey"].isin(urgent["o_custkey"])]
    customers = customers[~customers["c_custkey"].isin(low["o_custkey"])]
    return customers.groupby("c_mktsegment").agg(n=("c_custkey", "count"))


def largest_rows(pd: Any, t: Tables) -> Any:
    lines = t["lineitem"][["l_orderkey", "l_linenumber", "l_extendedprice", "l_quantity"]]
    return lines[lines["l_quantity"] < 40].nlargest(25, ["l_extendedprice", "l_orderkey"])


def distinct_rows(pd: Any, t: Tables) -> Any:
    lines = t["lineitem"][["l_returnflag", "l_linestatus", "l_shipmode"]]
    return lines.drop_duplicates().sort_values(["l_returnflag", "l_linestatus", "l_shipmode"])


def counts_of_values(pd: Any, t: Tables) -> Any:
    lines = t["lineitem"]
    return lines[lines["l_quantity"] > 25][["l_shipmode", "l_shipinstruct"]].value_counts()


def outer_join(pd: Any, t: Tables) -> Any:
    orders = t["orders"]
    late = orders[orders["o_orderdate"] >= datetime(1998, 1, 1)]
    early = orders[orders["o_orderdate"] < datetime(1992, 7, 1)]
    late = late.groupby("o_custkey", as_index=False).agg(late=("o_totalprice", "max"))
    early = early.groupby("o_custkey", as_index=False).agg(early=("o_totalprice", "max"))
    both = pd.merge(late, early, on="o_custkey", how="outer")
    return both.sort_values("o_custkey", ignore_index=True)


def missing_values_of_a_left_join(pd: Any, t: Tables) -> Any:
    orders = t["orders"][t["orders"]["o_totalprice"] > 300_000]
    counts = orders.groupby("o_custkey", as_index=False).agg(n=("o_orderkey", "count"))
    both = pd.merge(
        t["customer"][["c_custkey", "c_nationkey"]],
        counts, left_on="c_custkey", right_on="o_custkey", how="left",
    )  # fmt: skip
    both = both.assign(n=both["n"].fillna(0).astype("int64"))
    return both.groupby("c_nationkey", as_index=False)["n"].sum()


def share_of_groups(pd: Any, t: Tables) -> Any:
    lines = t["lineitem"][["l_orderkey", "l_linenumber", "l_returnflag", "l_quantity"]]
    total = lines.groupby(["l_orderkey", "l_returnflag"])["l_quantity"].transform("sum")
    lines = lines.assign(share=lines["l_quantity"] / total)
    return lines[lines["share"] < 0.05].sort_values(["l_orderkey", "l_linenumber"])


def quantiles_of_groups(pd: Any, t: Tables) -> Any:
    lines = t["lineitem"]
    return lines.groupby(["l_returnflag", "l_shipmode"])["l_extendedprice"].quantile(0.9)


def quantile_of_a_column(pd: Any, t: Tables) -> Any:
    orders = t["orders"]
    return orders[orders["o_orderstatus"] == "F"]["o_totalprice"].quantile(0.25)


def rows_above_the_mean(pd: Any, t: Tables) -> Any:
    parts = t["part"]
    parts = parts[parts["p_retailprice"] > parts["p_retailprice"].mean() * 1.2]
    return parts[["p_partkey", "p_retailprice"]].sort_values("p_partkey")


def cases(pd: Any, t: Tables) -> Any:
    lines = t["lineitem"]
    price = lines["l_extendedprice"].where(lines["l_discount"] > 0.04, 0.0)
    price = price.mask(lines["l_quantity"] > 40, -1.0).clip(upper=50_000.0)
    lines = lines.assign(price=price, is_late=lines["l_receiptdate"] > lines["l_commitdate"])
    return lines.groupby("l_shipmode").agg(
        price=("price", "sum"), late=("is_late", "sum"), spread=("price", "std")
    )


def join_with_itself(pd: Any, t: Tables) -> Any:
    offers = t["partsupp"][["ps_partkey", "ps_suppkey", "ps_supplycost"]]
    offers = offers[offers["ps_supplycost"] < 100]
    pairs = pd.merge(offers, offers, on="ps_partkey", suffixes=("", "_other"))
    pairs = pairs[pairs["ps_suppkey"] < pairs["ps_suppkey_other"]]
    return pairs.sort_values(["ps_partkey", "ps_suppkey", "ps_suppkey_other"], ignore_index=True)


def text_of_a_query(pd: Any, t: Tables) -> Any:
    least = 30  # noqa: F841 (read by the text)
    lines = t["lineitem"].query(
        "l_quantity >= @least and l_shipmode in ['RAIL', 'TRUCK'] and not l_discount > 0.05"
    )
    return lines.groupby("l_shipmode", as_index=False).agg(
        n=("l_orderkey", "nunique"), first=("l_orderkey", "first"), last=("l_orderkey", "last"),
        tax=("l_tax", "var"),
    )  # fmt: skip


QUERIES: dict[str, Callable[[Any, Tables], Any]] = {
    query.__name__.replace("_", " "): query
    for query in (
        rolling_over_sorted_rows, expanding_maximum, rank_within_groups, running_total_of_groups,
        days_between_orders, string_expressions, string_filters, date_expressions, weekdays,
        union_of_two_filters, semi_and_anti_joins, largest_rows, distinct_rows, counts_of_values,
        outer_join, missing_values_of_a_left_join, share_of_groups, quantiles_of_groups,
        quantile_of_a_column, rows_above_the_mean, cases, join_with_itself, text_of_a_query,
    )
}  # fmt: skip
