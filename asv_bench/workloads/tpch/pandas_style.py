# SPDX-License-Identifier: Apache-2.0
"""The queries of TPC-H in the words of pandas.

Each takes a module with `merge`, `pandas` or `jaxframes.frame`, and the tables by name.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

Tables = Mapping[str, Any]


def _with_revenue(lines: Any) -> Any:
    return lines.assign(revenue=lines["l_extendedprice"] * (1.0 - lines["l_discount"]))


def _between(column: Any, first: datetime, end: datetime) -> Any:
    return (column >= first) & (column < end)


def q1(pd: Any, t: Tables) -> Any:
    lines = t["lineitem"]
    lines = _with_revenue(lines[lines["l_shipdate"] <= datetime(1998, 9, 2)])
    lines = lines.assign(charge=lines["revenue"] * (1.0 + lines["l_tax"]))
    return lines.groupby(["l_returnflag", "l_linestatus"], as_index=False).agg(
        sum_qty=("l_quantity", "sum"),
        sum_base_price=("l_extendedprice", "sum"),
        sum_disc_price=("revenue", "sum"),
        sum_charge=("charge", "sum"),
        avg_qty=("l_quantity", "mean"),
        avg_price=("l_extendedprice", "mean"),
        avg_disc=("l_discount", "mean"),
        count_order=("l_quantity", "count"),
    )


def q2(pd: Any, t: Tables) -> Any:
    parts = t["part"]
    parts = parts[(parts["p_size"] == 15) & parts["p_type"].str.endswith("BRASS")]
    regions = t["region"][t["region"]["r_name"] == "EUROPE"]
    nations = pd.merge(t["nation"], regions, left_on="n_regionkey", right_on="r_regionkey")
    suppliers = pd.merge(t["supplier"], nations, left_on="s_nationkey", right_on="n_nationkey")
    offers = pd.merge(t["partsupp"], parts, left_on="ps_partkey", right_on="p_partkey")
    offers = pd.merge(offers, suppliers, left_on="ps_suppkey", right_on="s_suppkey")
    cheapest = offers.groupby("p_partkey")["ps_supplycost"].transform("min")
    offers = offers[offers["ps_supplycost"] == cheapest].sort_values(
        ["s_acctbal", "n_name", "s_name", "p_partkey"], ascending=[False, True, True, True]
    )
    columns = "s_acctbal s_name n_name p_partkey p_mfgr s_address s_phone s_comment"
    return offers.head(100)[columns.split()]


def q3(pd: Any, t: Tables) -> Any:
    day = datetime(1995, 3, 15)
    customers = t["customer"][t["customer"]["c_mktsegment"] == "BUILDING"]
    orders = t["orders"][t["orders"]["o_orderdate"] < day]
    lines = t["lineitem"][t["lineitem"]["l_shipdate"] > day]
    orders = pd.merge(orders, customers, left_on="o_custkey", right_on="c_custkey")
    lines = _with_revenue(pd.merge(lines, orders, left_on="l_orderkey", right_on="o_orderkey"))
    keys = ["l_orderkey", "o_orderdate", "o_shippriority"]
    totals = lines.groupby(keys, as_index=False)["revenue"].sum()
    totals = totals.sort_values(["revenue", "o_orderdate"], ascending=[False, True]).head(10)
    return totals[["l_orderkey", "revenue", "o_orderdate", "o_shippriority"]]


def q4(pd: Any, t: Tables) -> Any:
    orders, lines = t["orders"], t["lineitem"]
    orders = orders[_between(orders["o_orderdate"], datetime(1993, 7, 1), datetime(1993, 10, 1))]
    late = lines[lines["l_commitdate"] < lines["l_receiptdate"]]
    orders = orders[orders["o_orderkey"].isin(late["l_orderkey"])]
    return orders.groupby("o_orderpriority", as_index=False).agg(
        order_count=("o_orderkey", "count")
    )


def q5(pd: Any, t: Tables) -> Any:
    orders = t["orders"]
    orders = orders[_between(orders["o_orderdate"], datetime(1994, 1, 1), datetime(1995, 1, 1))]
    regions = t["region"][t["region"]["r_name"] == "ASIA"]
    nations = pd.merge(t["nation"], regions, left_on="n_regionkey", right_on="r_regionkey")
    suppliers = pd.merge(t["supplier"], nations, left_on="s_nationkey", right_on="n_nationkey")
    orders = pd.merge(orders, t["customer"], left_on="o_custkey", right_on="c_custkey")
    lines = pd.merge(t["lineitem"], orders, left_on="l_orderkey", right_on="o_orderkey")
    lines = pd.merge(
        lines,
        suppliers,
        left_on=["l_suppkey", "c_nationkey"],
        right_on=["s_suppkey", "s_nationkey"],
    )
    totals = _with_revenue(lines).groupby("n_name", as_index=False)["revenue"].sum()
    return totals.sort_values("revenue", ascending=False)


def q6(pd: Any, t: Tables) -> Any:
    lines = t["lineitem"]
    lines = lines[
        _between(lines["l_shipdate"], datetime(1994, 1, 1), datetime(1995, 1, 1))
        & (lines["l_discount"] >= 0.05)
        & (lines["l_discount"] <= 0.07)
        & (lines["l_quantity"] < 24)
    ]
    return (lines["l_extendedprice"] * lines["l_discount"]).sum()


def q7(pd: Any, t: Tables) -> Any:
    lines = t["lineitem"]
    lines = lines[_between(lines["l_shipdate"], datetime(1995, 1, 1), datetime(1997, 1, 1))]
    nations = t["nation"][["n_nationkey", "n_name"]]
    nations = nations[nations["n_name"].isin(["FRANCE", "GERMANY"])]
    suppliers = pd.merge(
        t["supplier"],
        nations.rename(columns={"n_name": "supp_nation"}),
        left_on="s_nationkey",
        right_on="n_nationkey",
    )
    customers = pd.merge(
        t["customer"],
        nations.rename(columns={"n_name": "cust_nation"}),
        left_on="c_nationkey",
        right_on="n_nationkey",
    )
    orders = pd.merge(t["orders"], customers, left_on="o_custkey", right_on="c_custkey")
    lines = pd.merge(lines, suppliers, left_on="l_suppkey", right_on="s_suppkey")
    lines = pd.merge(lines, orders, left_on="l_orderkey", right_on="o_orderkey")
    lines = lines[lines["s_nationkey"] != lines["c_nationkey"]]
    lines = _with_revenue(lines).assign(l_year=lines["l_shipdate"].dt.year)
    keys = ["supp_nation", "cust_nation", "l_year"]
    return lines.groupby(keys, as_index=False)["revenue"].sum()


def q8(pd: Any, t: Tables) -> Any:
    parts = t["part"][t["part"]["p_type"] == "ECONOMY ANODIZED STEEL"]
    orders = t["orders"]
    orders = orders[_between(orders["o_orderdate"], datetime(1995, 1, 1), datetime(1997, 1, 1))]
    regions = t["region"][t["region"]["r_name"] == "AMERICA"]
    nations = pd.merge(t["nation"], regions, left_on="n_regionkey", right_on="r_regionkey")
    customers = t["customer"][t["customer"]["c_nationkey"].isin(nations["n_nationkey"])]
    orders = orders[orders["o_custkey"].isin(customers["c_custkey"])]
    lines = pd.merge(t["lineitem"], parts, left_on="l_partkey", right_on="p_partkey")
    lines = pd.merge(lines, orders, left_on="l_orderkey", right_on="o_orderkey")
    lines = pd.merge(lines, t["supplier"], left_on="l_suppkey", right_on="s_suppkey")
    lines = pd.merge(lines, t["nation"], left_on="s_nationkey", right_on="n_nationkey")
    lines = _with_revenue(lines)
    lines = lines.assign(
        o_year=lines["o_orderdate"].dt.year,
        of_brazil=lines["revenue"].where(lines["n_name"] == "BRAZIL", 0.0),
    )
    years = lines.groupby("o_year", as_index=False)[["of_brazil", "revenue"]].sum()
    return years.assign(mkt_share=years["of_brazil"] / years["revenue"])[["o_year", "mkt_share"]]


def q9(pd: Any, t: Tables) -> Any:
    parts = t["part"][t["part"]["p_name"].str.contains("green", regex=False)]
    lines = t["lineitem"][t["lineitem"]["l_partkey"].isin(parts["p_partkey"])]
    lines = pd.merge(
        lines,
        t["partsupp"],
        left_on=["l_partkey", "l_suppkey"],
        right_on=["ps_partkey", "ps_suppkey"],
    )
    lines = pd.merge(lines, t["orders"], left_on="l_orderkey", right_on="o_orderkey")
    lines = pd.merge(lines, t["supplier"], left_on="l_suppkey", right_on="s_suppkey")
    lines = pd.merge(lines, t["nation"], left_on="s_nationkey", right_on="n_nationkey")
    lines = _with_revenue(lines)
    lines = lines.assign(
        o_year=lines["o_orderdate"].dt.year,
        profit=lines["revenue"] - lines["ps_supplycost"] * lines["l_quantity"],
    )
    profits = lines.groupby(["n_name", "o_year"], as_index=False)["profit"].sum()
    return profits.sort_values(["n_name", "o_year"], ascending=[True, False])


def q10(pd: Any, t: Tables) -> Any:
    orders = t["orders"]
    orders = orders[_between(orders["o_orderdate"], datetime(1993, 10, 1), datetime(1994, 1, 1))]
    lines = t["lineitem"][t["lineitem"]["l_returnflag"] == "R"]
    lines = pd.merge(lines, orders, left_on="l_orderkey", right_on="o_orderkey")
    lines = pd.merge(lines, t["customer"], left_on="o_custkey", right_on="c_custkey")
    lines = pd.merge(lines, t["nation"], left_on="c_nationkey", right_on="n_nationkey")
    keys = ["c_custkey", "c_name", "c_acctbal", "c_phone", "n_name", "c_address", "c_comment"]
    totals = _with_revenue(lines).groupby(keys, as_index=False)["revenue"].sum()
    columns = "c_custkey c_name revenue c_acctbal n_name c_address c_phone c_comment"
    return totals.sort_values("revenue", ascending=False).head(20)[columns.split()]


def q11(pd: Any, t: Tables) -> Any:
    nations = t["nation"][t["nation"]["n_name"] == "GERMANY"]
    suppliers = pd.merge(t["supplier"], nations, left_on="s_nationkey", right_on="n_nationkey")
    offers = pd.merge(t["partsupp"], suppliers, left_on="ps_suppkey", right_on="s_suppkey")
    offers = offers.assign(value=offers["ps_supplycost"] * offers["ps_availqty"])
    totals = offers.groupby("ps_partkey", as_index=False)["value"].sum()
    totals = totals[totals["value"] > offers["value"].sum() * 0.0001]
    return totals.sort_values("value", ascending=False)


def q12(pd: Any, t: Tables) -> Any:
    lines = t["lineitem"]
    lines = lines[
        lines["l_shipmode"].isin(["MAIL", "SHIP"])
        & (lines["l_commitdate"] < lines["l_receiptdate"])
        & (lines["l_shipdate"] < lines["l_commitdate"])
        & _between(lines["l_receiptdate"], datetime(1994, 1, 1), datetime(1995, 1, 1))
    ]
    lines = pd.merge(lines, t["orders"], left_on="l_orderkey", right_on="o_orderkey")
    is_high = lines["o_orderpriority"].isin(["1-URGENT", "2-HIGH"])
    lines = lines.assign(
        high_line_count=is_high.astype("int64"), low_line_count=(~is_high).astype("int64")
    )
    counts = ["high_line_count", "low_line_count"]
    return lines.groupby("l_shipmode", as_index=False)[counts].sum()


def q13(pd: Any, t: Tables) -> Any:
    orders = t["orders"]
    orders = orders[~orders["o_comment"].str.contains("special.*requests")]
    both = pd.merge(t["customer"], orders, left_on="c_custkey", right_on="o_custkey", how="left")
    customers = both.groupby("c_custkey", as_index=False).agg(c_count=("o_orderkey", "count"))
    counts = customers.groupby("c_count", as_index=False).agg(custdist=("c_custkey", "count"))
    return counts.sort_values(["custdist", "c_count"], ascending=False)


def q14(pd: Any, t: Tables) -> Any:
    lines = t["lineitem"]
    lines = lines[_between(lines["l_shipdate"], datetime(1995, 9, 1), datetime(1995, 10, 1))]
    lines = _with_revenue(pd.merge(lines, t["part"], left_on="l_partkey", right_on="p_partkey"))
    promoted = lines["revenue"].where(lines["p_type"].str.startswith("PROMO"), 0.0)
    return 100.0 * promoted.sum() / lines["revenue"].sum()


def q15(pd: Any, t: Tables) -> Any:
    lines = t["lineitem"]
    lines = lines[_between(lines["l_shipdate"], datetime(1996, 1, 1), datetime(1996, 4, 1))]
    totals = _with_revenue(lines).groupby("l_suppkey", as_index=False)["revenue"].sum()
    best = totals[totals["revenue"] == totals["revenue"].max()]
    best = pd.merge(t["supplier"], best, left_on="s_suppkey", right_on="l_suppkey")
    columns = ["s_suppkey", "s_name", "s_address", "s_phone", "revenue"]
    return best.sort_values("s_suppkey")[columns]


def q16(pd: Any, t: Tables) -> Any:
    parts, suppliers = t["part"], t["supplier"]
    parts = parts[
        (parts["p_brand"] != "Brand#45")
        & ~parts["p_type"].str.startswith("MEDIUM POLISHED")
        & parts["p_size"].isin([49, 14, 23, 45, 19, 3, 36, 9])
    ]
    blamed = suppliers[suppliers["s_comment"].str.contains("Customer.*Complaints")]
    offers = pd.merge(t["partsupp"], parts, left_on="ps_partkey", right_on="p_partkey")
    offers = offers[~offers["ps_suppkey"].isin(blamed["s_suppkey"])]
    keys = ["p_brand", "p_type", "p_size"]
    counts = offers.groupby(keys, as_index=False).agg(supplier_cnt=("ps_suppkey", "nunique"))
    return counts.sort_values(["supplier_cnt", *keys], ascending=[False, True, True, True])


def q17(pd: Any, t: Tables) -> Any:
    parts = t["part"]
    parts = parts[(parts["p_brand"] == "Brand#23") & (parts["p_container"] == "MED BOX")]
    lines = pd.merge(t["lineitem"], parts, left_on="l_partkey", right_on="p_partkey")
    average = lines.groupby("l_partkey")["l_quantity"].transform("mean")
    return lines["l_extendedprice"][lines["l_quantity"] < 0.2 * average].sum() / 7.0


def q18(pd: Any, t: Tables) -> Any:
    quantities = t["lineitem"].groupby("l_orderkey", as_index=False)["l_quantity"].sum()
    large = quantities[quantities["l_quantity"] > 300]
    orders = pd.merge(t["orders"], large, left_on="o_orderkey", right_on="l_orderkey")
    orders = pd.merge(orders, t["customer"], left_on="o_custkey", right_on="c_custkey")
    orders = orders.sort_values(["o_totalprice", "o_orderdate"], ascending=[False, True])
    columns = "c_name c_custkey o_orderkey o_orderdate o_totalprice l_quantity"
    return orders.head(100)[columns.split()]


def q19(pd: Any, t: Tables) -> Any:
    lines = t["lineitem"]
    lines = lines[
        lines["l_shipmode"].isin(["AIR", "AIR REG"])
        & (lines["l_shipinstruct"] == "DELIVER IN PERSON")
    ]
    lines = pd.merge(lines, t["part"], left_on="l_partkey", right_on="p_partkey")

    def chosen(brand: str, containers: list[str], quantity: int, size: int) -> Any:
        return (
            (lines["p_brand"] == brand)
            & lines["p_container"].isin(containers)
            & (lines["l_quantity"] >= quantity)
            & (lines["l_quantity"] <= quantity + 10)
            & (lines["p_size"] >= 1)
            & (lines["p_size"] <= size)
        )

    lines = lines[
        chosen("Brand#12", ["SM CASE", "SM BOX", "SM PACK", "SM PKG"], 1, 5)
        | chosen("Brand#23", ["MED BAG", "MED BOX", "MED PKG", "MED PACK"], 10, 10)
        | chosen("Brand#34", ["LG CASE", "LG BOX", "LG PACK", "LG PKG"], 20, 15)
    ]
    return _with_revenue(lines)["revenue"].sum()


def q20(pd: Any, t: Tables) -> Any:
    lines, offers = t["lineitem"], t["partsupp"]
    parts = t["part"][t["part"]["p_name"].str.startswith("forest")]
    lines = lines[_between(lines["l_shipdate"], datetime(1994, 1, 1), datetime(1995, 1, 1))]
    lines = lines[lines["l_partkey"].isin(parts["p_partkey"])]
    sold = lines.groupby(["l_partkey", "l_suppkey"], as_index=False)["l_quantity"].sum()
    offers = pd.merge(
        offers, sold, left_on=["ps_partkey", "ps_suppkey"], right_on=["l_partkey", "l_suppkey"]
    )
    offers = offers[offers["ps_availqty"] > 0.5 * offers["l_quantity"]]
    nations = t["nation"][t["nation"]["n_name"] == "CANADA"]
    suppliers = pd.merge(t["supplier"], nations, left_on="s_nationkey", right_on="n_nationkey")
    suppliers = suppliers[suppliers["s_suppkey"].isin(offers["ps_suppkey"])]
    return suppliers.sort_values("s_name")[["s_name", "s_address"]]


def q21(pd: Any, t: Tables) -> Any:
    lines = t["lineitem"][["l_orderkey", "l_suppkey", "l_receiptdate", "l_commitdate"]]
    late = lines[lines["l_receiptdate"] > lines["l_commitdate"]]
    suppliers_of = lines.groupby("l_orderkey", as_index=False).agg(
        num_suppliers=("l_suppkey", "nunique")
    )
    late_suppliers_of = late.groupby("l_orderkey", as_index=False).agg(
        num_late=("l_suppkey", "nunique")
    )
    orders = t["orders"][t["orders"]["o_orderstatus"] == "F"]
    nations = t["nation"][t["nation"]["n_name"] == "SAUDI ARABIA"]
    suppliers = pd.merge(t["supplier"], nations, left_on="s_nationkey", right_on="n_nationkey")
    late = pd.merge(late, suppliers, left_on="l_suppkey", right_on="s_suppkey")
    late = late[late["l_orderkey"].isin(orders["o_orderkey"])]
    late = pd.merge(late, suppliers_of[suppliers_of["num_suppliers"] > 1], on="l_orderkey")
    late = pd.merge(late, late_suppliers_of[late_suppliers_of["num_late"] == 1], on="l_orderkey")
    waits = late.groupby("s_name", as_index=False).agg(numwait=("l_orderkey", "count"))
    return waits.sort_values(["numwait", "s_name"], ascending=[False, True]).head(100)


def q22(pd: Any, t: Tables) -> Any:
    customers = t["customer"]
    customers = customers.assign(cntrycode=customers["c_phone"].str.slice(0, 2))
    codes = ["13", "31", "23", "29", "30", "18", "17"]
    customers = customers[customers["cntrycode"].isin(codes)]
    average = customers["c_acctbal"][customers["c_acctbal"] > 0.0].mean()
    customers = customers[customers["c_acctbal"] > average]
    customers = customers[~customers["c_custkey"].isin(t["orders"]["o_custkey"])]
    return customers.groupby("cntrycode", as_index=False).agg(
        numcust=("c_acctbal", "count"), totacctbal=("c_acctbal", "sum")
    )


QUESTIONS = {
    query.__name__: query
    for query in (
        *(q1, q2, q3, q4, q5, q6, q7, q8, q9, q10, q11),
        *(q12, q13, q14, q15, q16, q17, q18, q19, q20, q21, q22),
    )
}
