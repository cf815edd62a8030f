# SPDX-License-Identifier: Apache-2.0
"""The queries of TPC-H as lazy frames of Polars."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import polars as pl
from polars import col

Tables = Mapping[str, pl.LazyFrame]

REVENUE = (col("l_extendedprice") * (1.0 - col("l_discount"))).alias("revenue")


def _between(name: str, first: datetime, end: datetime) -> pl.Expr:
    return (col(name) >= first) & (col(name) < end)


def _text(name: str) -> pl.Expr:
    return col(name).cast(pl.String).str


def _suppliers_of(t: Tables, nation: str) -> pl.LazyFrame:
    nations = t["nation"].filter(col("n_name") == nation)
    return t["supplier"].join(nations, left_on="s_nationkey", right_on="n_nationkey")


def q1(t: Tables) -> pl.LazyFrame:
    lines = t["lineitem"].filter(col("l_shipdate") <= datetime(1998, 9, 2))
    return (
        lines.group_by("l_returnflag", "l_linestatus")
        .agg(
            pl.sum("l_quantity").alias("sum_qty"),
            pl.sum("l_extendedprice").alias("sum_base_price"),
            REVENUE.sum().alias("sum_disc_price"),
            (REVENUE * (1.0 + col("l_tax"))).sum().alias("sum_charge"),
            pl.mean("l_quantity").alias("avg_qty"),
            pl.mean("l_extendedprice").alias("avg_price"),
            pl.mean("l_discount").alias("avg_disc"),
            pl.len().alias("count_order"),
        )
        .sort("l_returnflag", "l_linestatus")
    )


def q2(t: Tables) -> pl.LazyFrame:
    offers = (
        t["part"]
        .filter((col("p_size") == 15) & _text("p_type").ends_with("BRASS"))
        .join(t["partsupp"], left_on="p_partkey", right_on="ps_partkey")
        .join(t["supplier"], left_on="ps_suppkey", right_on="s_suppkey")
        .join(t["nation"], left_on="s_nationkey", right_on="n_nationkey")
        .join(t["region"], left_on="n_regionkey", right_on="r_regionkey")
        .filter(col("r_name") == "EUROPE")
    )
    cheapest = offers.group_by("p_partkey").agg(pl.min("ps_supplycost"))
    columns = "s_acctbal s_name n_name p_partkey p_mfgr s_address s_phone s_comment"
    return (
        offers.join(cheapest, on=["p_partkey", "ps_supplycost"])
        .sort("s_acctbal", "n_name", "s_name", "p_partkey", descending=[True, False, False, False])
        .head(100)
        .select(columns.split())
    )


def q3(t: Tables) -> pl.LazyFrame:
    day = datetime(1995, 3, 15)
    return (
        t["customer"]
        .filter(col("c_mktsegment") == "BUILDING")
        .join(t["orders"], left_on="c_custkey", right_on="o_custkey")
        .join(t["lineitem"], left_on="o_orderkey", right_on="l_orderkey")
        .filter((col("o_orderdate") < day) & (col("l_shipdate") > day))
        .group_by("o_orderkey", "o_orderdate", "o_shippriority")
        .agg(REVENUE.sum())
        .sort("revenue", "o_orderdate", descending=[True, False])
        .head(10)
        .select("o_orderkey", "revenue", "o_orderdate", "o_shippriority")
    )


def q4(t: Tables) -> pl.LazyFrame:
    late = t["lineitem"].filter(col("l_commitdate") < col("l_receiptdate"))
    return (
        t["orders"]
        .filter(_between("o_orderdate", datetime(1993, 7, 1), datetime(1993, 10, 1)))
        .join(late, left_on="o_orderkey", right_on="l_orderkey", how="semi")
        .group_by("o_orderpriority")
        .agg(pl.len().alias("order_count"))
        .sort("o_orderpriority")
    )


def q5(t: Tables) -> pl.LazyFrame:
    return (
        t["region"]
        .filter(col("r_name") == "ASIA")
        .join(t["nation"], left_on="r_regionkey", right_on="n_regionkey")
        .join(t["customer"], left_on="n_nationkey", right_on="c_nationkey")
        .join(t["orders"], left_on="c_custkey", right_on="o_custkey")
        .filter(_between("o_orderdate", datetime(1994, 1, 1), datetime(1995, 1, 1)))
        .join(t["lineitem"], left_on="o_orderkey", right_on="l_orderkey")
        .join(
            t["supplier"],
            left_on=["l_suppkey", "n_nationkey"],
            right_on=["s_suppkey", "s_nationkey"],
        )
        .group_by("n_name")
        .agg(REVENUE.sum())
        .sort("revenue", descending=True)
    )


def q6(t: Tables) -> pl.LazyFrame:
    return (
        t["lineitem"]
        .filter(
            _between("l_shipdate", datetime(1994, 1, 1), datetime(1995, 1, 1))
            & col("l_discount").is_between(0.05, 0.07)
            & (col("l_quantity") < 24)
        )
        .select((col("l_extendedprice") * col("l_discount")).sum())
    )


def q7(t: Tables) -> pl.LazyFrame:
    nations = t["nation"].filter(col("n_name").is_in(["FRANCE", "GERMANY"]))
    customers = t["customer"].join(nations, left_on="c_nationkey", right_on="n_nationkey")
    suppliers = t["supplier"].join(nations, left_on="s_nationkey", right_on="n_nationkey")
    return (
        customers.rename({"n_name": "cust_nation"})
        .join(t["orders"], left_on="c_custkey", right_on="o_custkey")
        .join(t["lineitem"], left_on="o_orderkey", right_on="l_orderkey")
        .join(
            suppliers.rename({"n_name": "supp_nation"}), left_on="l_suppkey", right_on="s_suppkey"
        )
        .filter(
            (col("cust_nation") != col("supp_nation"))
            & _between("l_shipdate", datetime(1995, 1, 1), datetime(1997, 1, 1))
        )
        .group_by("supp_nation", "cust_nation", col("l_shipdate").dt.year().alias("l_year"))
        .agg(REVENUE.sum())
        .sort("supp_nation", "cust_nation", "l_year")
    )


def q8(t: Tables) -> pl.LazyFrame:
    customers = (
        t["region"]
        .filter(col("r_name") == "AMERICA")
        .join(t["nation"], left_on="r_regionkey", right_on="n_regionkey")
        .join(t["customer"], left_on="n_nationkey", right_on="c_nationkey")
    )
    of_brazil = pl.when(col("n_name") == "BRAZIL").then(REVENUE).otherwise(0.0)
    return (
        t["part"]
        .filter(col("p_type") == "ECONOMY ANODIZED STEEL")
        .join(t["lineitem"], left_on="p_partkey", right_on="l_partkey")
        .join(t["orders"], left_on="l_orderkey", right_on="o_orderkey")
        .filter(_between("o_orderdate", datetime(1995, 1, 1), datetime(1997, 1, 1)))
        .join(customers, left_on="o_custkey", right_on="c_custkey", how="semi")
        .join(t["supplier"], left_on="l_suppkey", right_on="s_suppkey")
        .join(t["nation"], left_on="s_nationkey", right_on="n_nationkey")
        .group_by(col("o_orderdate").dt.year().alias("o_year"))
        .agg((of_brazil.sum() / REVENUE.sum()).alias("mkt_share"))
        .sort("o_year")
    )


def q9(t: Tables) -> pl.LazyFrame:
    profit = (REVENUE - col("ps_supplycost") * col("l_quantity")).sum().alias("profit")
    return (
        t["part"]
        .filter(_text("p_name").contains("green", literal=True))
        .join(t["partsupp"], left_on="p_partkey", right_on="ps_partkey")
        .join(
            t["lineitem"],
            left_on=["p_partkey", "ps_suppkey"],
            right_on=["l_partkey", "l_suppkey"],
        )
        .join(t["supplier"], left_on="ps_suppkey", right_on="s_suppkey")
        .join(t["nation"], left_on="s_nationkey", right_on="n_nationkey")
        .join(t["orders"], left_on="l_orderkey", right_on="o_orderkey")
        .group_by("n_name", col("o_orderdate").dt.year().alias("o_year"))
        .agg(profit)
        .sort("n_name", "o_year", descending=[False, True])
    )


def q10(t: Tables) -> pl.LazyFrame:
    keys = ["c_custkey", "c_name", "c_acctbal", "c_phone", "n_name", "c_address", "c_comment"]
    columns = "c_custkey c_name revenue c_acctbal n_name c_address c_phone c_comment"
    return (
        t["orders"]
        .filter(_between("o_orderdate", datetime(1993, 10, 1), datetime(1994, 1, 1)))
        .join(t["customer"], left_on="o_custkey", right_on="c_custkey")
        .rename({"o_custkey": "c_custkey"})
        .join(t["lineitem"], left_on="o_orderkey", right_on="l_orderkey")
        .filter(col("l_returnflag") == "R")
        .join(t["nation"], left_on="c_nationkey", right_on="n_nationkey")
        .group_by(keys)
        .agg(REVENUE.sum())
        .sort("revenue", descending=True)
        .head(20)
        .select(columns.split())
    )


def q11(t: Tables) -> pl.LazyFrame:
    offers = t["partsupp"].join(
        _suppliers_of(t, "GERMANY"), left_on="ps_suppkey", right_on="s_suppkey"
    )
    value = (col("ps_supplycost") * col("ps_availqty")).sum().alias("value")
    least = offers.select((value * 0.0001).alias("least"))
    return (
        offers.group_by("ps_partkey")
        .agg(value)
        .join(least, how="cross")
        .filter(col("value") > col("least"))
        .sort("value", descending=True)
        .select("ps_partkey", "value")
    )


def q12(t: Tables) -> pl.LazyFrame:
    is_high = col("o_orderpriority").is_in(["1-URGENT", "2-HIGH"])
    return (
        t["lineitem"]
        .filter(
            col("l_shipmode").is_in(["MAIL", "SHIP"])
            & (col("l_commitdate") < col("l_receiptdate"))
            & (col("l_shipdate") < col("l_commitdate"))
            & _between("l_receiptdate", datetime(1994, 1, 1), datetime(1995, 1, 1))
        )
        .join(t["orders"], left_on="l_orderkey", right_on="o_orderkey")
        .group_by("l_shipmode")
        .agg(is_high.sum().alias("high"), (~is_high).sum().alias("low"))
        .sort("l_shipmode")
    )


def q13(t: Tables) -> pl.LazyFrame:
    orders = t["orders"].filter(~_text("o_comment").contains("special.*requests"))
    return (
        t["customer"]
        .join(orders, left_on="c_custkey", right_on="o_custkey", how="left")
        .group_by("c_custkey")
        .agg(pl.count("o_orderkey").alias("c_count"))
        .group_by("c_count")
        .agg(pl.len().alias("custdist"))
        .sort("custdist", "c_count", descending=True)
    )


def q14(t: Tables) -> pl.LazyFrame:
    promoted = pl.when(_text("p_type").starts_with("PROMO")).then(REVENUE).otherwise(0.0)
    return (
        t["lineitem"]
        .filter(_between("l_shipdate", datetime(1995, 9, 1), datetime(1995, 10, 1)))
        .join(t["part"], left_on="l_partkey", right_on="p_partkey")
        .select(100.0 * promoted.sum() / REVENUE.sum())
    )


def q15(t: Tables) -> pl.LazyFrame:
    totals = (
        t["lineitem"]
        .filter(_between("l_shipdate", datetime(1996, 1, 1), datetime(1996, 4, 1)))
        .group_by("l_suppkey")
        .agg(REVENUE.sum())
        .filter(col("revenue") == col("revenue").max())
    )
    return (
        t["supplier"]
        .join(totals, left_on="s_suppkey", right_on="l_suppkey")
        .select("s_suppkey", "s_name", "s_address", "s_phone", "revenue")
        .sort("s_suppkey")
    )


def q16(t: Tables) -> pl.LazyFrame:
    blamed = t["supplier"].filter(_text("s_comment").contains("Customer.*Complaints"))
    return (
        t["part"]
        .filter(
            (col("p_brand") != "Brand#45")
            & ~_text("p_type").starts_with("MEDIUM POLISHED")
            & col("p_size").is_in([49, 14, 23, 45, 19, 3, 36, 9])
        )
        .join(t["partsupp"], left_on="p_partkey", right_on="ps_partkey")
        .join(blamed, left_on="ps_suppkey", right_on="s_suppkey", how="anti")
        .group_by("p_brand", "p_type", "p_size")
        .agg(pl.n_unique("ps_suppkey").alias("supplier_cnt"))
        .sort("supplier_cnt", "p_brand", "p_type", "p_size", descending=[True, False, False, False])
    )


def q17(t: Tables) -> pl.LazyFrame:
    lines = (
        t["part"]
        .filter((col("p_brand") == "Brand#23") & (col("p_container") == "MED BOX"))
        .join(t["lineitem"], left_on="p_partkey", right_on="l_partkey")
    )
    averages = lines.group_by("p_partkey").agg((0.2 * pl.mean("l_quantity")).alias("most"))
    return (
        lines.join(averages, on="p_partkey")
        .filter(col("l_quantity") < col("most"))
        .select(pl.sum("l_extendedprice") / 7.0)
    )


def q18(t: Tables) -> pl.LazyFrame:
    large = (
        t["lineitem"]
        .group_by("l_orderkey")
        .agg(pl.sum("l_quantity"))
        .filter(col("l_quantity") > 300)
    )
    return (
        t["orders"]
        .join(large, left_on="o_orderkey", right_on="l_orderkey")
        .join(t["customer"], left_on="o_custkey", right_on="c_custkey")
        .sort("o_totalprice", "o_orderdate", descending=[True, False])
        .head(100)
        .select("c_name", "o_custkey", "o_orderkey", "o_orderdate", "o_totalprice", "l_quantity")
    )


def q19(t: Tables) -> pl.LazyFrame:
    def chosen(brand: str, containers: list[str], quantity: int, size: int) -> pl.Expr:
        return (
            (col("p_brand") == brand)
            & col("p_container").is_in(containers)
            & col("l_quantity").is_between(quantity, quantity + 10)
            & col("p_size").is_between(1, size)
        )

    return (
        t["lineitem"]
        .filter(
            col("l_shipmode").is_in(["AIR", "AIR REG"])
            & (col("l_shipinstruct") == "DELIVER IN PERSON")
        )
        .join(t["part"], left_on="l_partkey", right_on="p_partkey")
        .filter(
            chosen("Brand#12", ["SM CASE", "SM BOX", "SM PACK", "SM PKG"], 1, 5)
            | chosen("Brand#23", ["MED BAG", "MED BOX", "MED PKG", "MED PACK"], 10, 10)
            | chosen("Brand#34", ["LG CASE", "LG BOX", "LG PACK", "LG PKG"], 20, 15)
        )
        .select(REVENUE.sum())
    )


def q20(t: Tables) -> pl.LazyFrame:
    parts = t["part"].filter(_text("p_name").starts_with("forest"))
    sold = (
        t["lineitem"]
        .filter(_between("l_shipdate", datetime(1994, 1, 1), datetime(1995, 1, 1)))
        .join(parts, left_on="l_partkey", right_on="p_partkey", how="semi")
        .group_by("l_partkey", "l_suppkey")
        .agg((0.5 * pl.sum("l_quantity")).alias("half"))
    )
    offers = (
        t["partsupp"]
        .join(sold, left_on=["ps_partkey", "ps_suppkey"], right_on=["l_partkey", "l_suppkey"])
        .filter(col("ps_availqty") > col("half"))
    )
    return (
        _suppliers_of(t, "CANADA")
        .join(offers, left_on="s_suppkey", right_on="ps_suppkey", how="semi")
        .select("s_name", "s_address")
        .sort("s_name")
    )


def q21(t: Tables) -> pl.LazyFrame:
    lines = t["lineitem"]
    late = lines.filter(col("l_receiptdate") > col("l_commitdate"))

    def orders_of(rows: pl.LazyFrame, condition: Callable[[pl.Expr], pl.Expr]) -> pl.LazyFrame:
        counts = rows.group_by("l_orderkey").agg(pl.n_unique("l_suppkey").alias("suppliers"))
        return counts.filter(condition(col("suppliers")))

    finished = t["orders"].filter(col("o_orderstatus") == "F")
    return (
        late.join(_suppliers_of(t, "SAUDI ARABIA"), left_on="l_suppkey", right_on="s_suppkey")
        .join(finished, left_on="l_orderkey", right_on="o_orderkey", how="semi")
        .join(orders_of(lines, lambda count: count > 1), on="l_orderkey", how="semi")
        .join(orders_of(late, lambda count: count == 1), on="l_orderkey", how="semi")
        .group_by("s_name")
        .agg(pl.len().alias("numwait"))
        .sort("numwait", "s_name", descending=[True, False])
        .head(100)
    )


def q22(t: Tables) -> pl.LazyFrame:
    codes = ["13", "31", "23", "29", "30", "18", "17"]
    customers = (
        t["customer"]
        .with_columns(_text("c_phone").slice(0, 2).alias("cntrycode"))
        .filter(col("cntrycode").is_in(codes))
    )
    average = customers.filter(col("c_acctbal") > 0.0).select(pl.mean("c_acctbal").alias("average"))
    return (
        customers.join(average, how="cross")
        .filter(col("c_acctbal") > col("average"))
        .join(t["orders"], left_on="c_custkey", right_on="o_custkey", how="anti")
        .group_by("cntrycode")
        .agg(pl.len().alias("numcust"), pl.sum("c_acctbal").alias("totacctbal"))
        .sort("cntrycode")
    )


def _collected(query: Callable[[Tables], pl.LazyFrame]) -> Callable[[Any], pl.DataFrame]:
    return lambda t: query({name: table.lazy() for name, table in t.items()}).collect()


QUESTIONS = {
    query.__name__: _collected(query)
    for query in (
        *(q1, q2, q3, q4, q5, q6, q7, q8, q9, q10, q11),
        *(q12, q13, q14, q15, q16, q17, q18, q19, q20, q21, q22),
    )
}
