# SPDX-License-Identifier: Apache-2.0
"""Questions of TPC-DS, each in SQL and as a program in the style of pandas.

A question keeps the shape of its original (joins, rollups, windows, conditions) and has constants
that fit the small tables of `tpcds_tables`. A program gets the module `pd` and the tables.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

QUESTIONS: dict[str, tuple[str, Callable[..., Any]]] = {}


def question(name: str, sql: str) -> Callable[[Any], Any]:
    """Registers a program under the name of a question, with the SQL that it answers."""

    def register(program: Any) -> Any:
        QUESTIONS[name] = (sql, program)
        return program

    return register


def sold(t, prefix="ss"):
    """The sales of a channel, with their days and items."""
    name = {"ss": "store_sales", "cs": "catalog_sales", "ws": "web_sales"}[prefix]
    sales = t[name].merge(t["date_dim"], left_on=f"{prefix}_sold_date_sk", right_on="d_date_sk")
    return sales.merge(t["item"], left_on=f"{prefix}_item_sk", right_on="i_item_sk")


SOLD = "store_sales JOIN date_dim ON ss_sold_date_sk=d_date_sk JOIN item ON ss_item_sk=i_item_sk"
WEB = "web_sales JOIN date_dim ON ws_sold_date_sk=d_date_sk JOIN item ON ws_item_sk=i_item_sk"
CATALOG = (
    "catalog_sales JOIN date_dim ON cs_sold_date_sk=d_date_sk JOIN item ON cs_item_sk=i_item_sk"
)


@question(
    "q01",
    """WITH r AS (SELECT sr_customer_sk c, sr_store_sk s, sum(sr_return_amt) total
    FROM store_returns JOIN date_dim ON sr_returned_date_sk=d_date_sk WHERE d_year=2000
    GROUP BY 1,2)
    SELECT c_customer_id, total FROM r JOIN customer ON c=c_customer_sk JOIN store ON s=s_store_sk
    WHERE s_state='TN' AND total > (SELECT avg(total)*1.2 FROM r r2 WHERE r.s=r2.s)""",
)
def returns_above_average(pd, t):
    r = t["store_returns"].merge(t["date_dim"], left_on="sr_returned_date_sk", right_on="d_date_sk")
    r = r[r.d_year == 2000].groupby(["sr_customer_sk", "sr_store_sk"], as_index=False)
    r = r.agg(total=("sr_return_amt", "sum"))
    r["limit"] = r.groupby("sr_store_sk")["total"].transform("mean") * 1.2
    r = r[r["total"] > r["limit"]]
    r = r.merge(t["store"], left_on="sr_store_sk", right_on="s_store_sk").query("s_state == 'TN'")
    r = r.merge(t["customer"], left_on="sr_customer_sk", right_on="c_customer_sk")
    return r[["c_customer_id", "total"]]


@question(
    "q03",
    f"""SELECT d_year, i_brand_id, i_brand, sum(ss_ext_sales_price) total FROM {SOLD}
    WHERE i_manufact_id=3 AND d_moy=11 GROUP BY 1,2,3""",
)
def brands_of_november(pd, t):
    s = sold(t)
    s = s[(s["i_manufact_id"] == 3) & (s["d_moy"] == 11)]
    total = s.groupby(["d_year", "i_brand_id", "i_brand"])["ss_ext_sales_price"].sum()
    return total.reset_index(name="total").sort_values(["d_year", "total"], ascending=[True, False])


@question(
    "q06",
    f"""SELECT ca_state, count(*) cnt FROM {SOLD} JOIN customer ON ss_customer_sk=c_customer_sk
    JOIN customer_address ON c_current_addr_sk=ca_address_sk WHERE d_month_seq BETWEEN 3 AND 8 AND
    i_current_price > 1.2*(SELECT avg(j.i_current_price) FROM item j
    WHERE j.i_category=item.i_category) GROUP BY 1 HAVING count(*) >= 5""",
)
def states_of_dear_items(pd, t):
    s = sold(t)
    average = t["item"].groupby("i_category")["i_current_price"].mean()
    s = s[s["d_month_seq"].between(3, 8)]
    s = s[s["i_current_price"] > 1.2 * s["i_category"].map(average)]
    s = s.merge(t["customer"], left_on="ss_customer_sk", right_on="c_customer_sk")
    s = s.merge(t["customer_address"], left_on="c_current_addr_sk", right_on="ca_address_sk")
    counts = s["ca_state"].value_counts()
    return counts[counts >= 5].rename("cnt").reset_index()


@question(
    "q07",
    f"""SELECT i_item_id, avg(ss_quantity) a, avg(ss_list_price) b, avg(ss_coupon_amt) c
    FROM {SOLD} JOIN customer_demographics ON ss_cdemo_sk=cd_demo_sk
    JOIN promotion ON ss_promo_sk=p_promo_sk WHERE cd_gender='M' AND cd_marital_status='S'
    AND (p_channel_email='N' OR p_channel_event='N') AND d_year=2000 GROUP BY 1""",
)
def promoted_items(pd, t):
    s = sold(t).merge(t["customer_demographics"], left_on="ss_cdemo_sk", right_on="cd_demo_sk")
    s = s.merge(t["promotion"], left_on="ss_promo_sk", right_on="p_promo_sk")
    s = s.query("cd_gender == 'M' and cd_marital_status == 'S' and d_year == 2000")
    s = s[(s.p_channel_email == "N") | (s.p_channel_event == "N")]
    means = s.groupby("i_item_id")[["ss_quantity", "ss_list_price", "ss_coupon_amt"]].mean()
    return means.set_axis(["a", "b", "c"], axis=1).reset_index()


@question(
    "q09",
    """SELECT bucket, CASE WHEN count(*) > 90 THEN avg(ss_list_price) ELSE avg(ss_net_paid) END x
    FROM (SELECT *, (ss_quantity-1)//20 bucket FROM store_sales) GROUP BY 1""",
)
def buckets_of_quantity(pd, t):
    s = t["store_sales"].assign(bucket=lambda f: (f["ss_quantity"] - 1) // 20)
    of_bucket = s.groupby("bucket").agg(
        n=("ss_quantity", "size"), price=("ss_list_price", "mean"), paid=("ss_net_paid", "mean")
    )
    of_bucket["x"] = np.where(of_bucket["n"] > 90, of_bucket["price"], of_bucket["paid"])
    return of_bucket[["x"]].reset_index()


@question(
    "q12",
    f"""SELECT i_item_id, i_class, sum(ws_ext_sales_price) revenue,
    sum(ws_ext_sales_price)*100/sum(sum(ws_ext_sales_price)) OVER (PARTITION BY i_class) ratio
    FROM {WEB} WHERE i_category IN ('Men','Music') AND
    d_date BETWEEN DATE '2000-02-22' AND DATE '2000-06-22' GROUP BY 1,2""",
)
def share_of_class(pd, t):
    s = sold(t, "ws")
    s = s[s["i_category"].isin(["Men", "Music"]) & s["d_date"].between("2000-02-22", "2000-06-22")]
    r = s.groupby(["i_item_id", "i_class"], as_index=False)["ws_ext_sales_price"].sum()
    r = r.rename(columns={"ws_ext_sales_price": "revenue"})
    r["ratio"] = r["revenue"] * 100 / r.groupby("i_class")["revenue"].transform("sum")
    return r


@question(
    "q15",
    f"""SELECT ca_zip, sum(cs_sales_price) total FROM {CATALOG}
    JOIN customer ON cs_bill_customer_sk=c_customer_sk
    JOIN customer_address ON c_current_addr_sk=ca_address_sk
    WHERE (substr(ca_zip,1,5) IN ('85669','86197') OR ca_state='CA' OR cs_sales_price>90)
    AND d_qoy=2 AND d_year=2001 GROUP BY 1""",
)
def zips_of_the_catalog(pd, t):
    s = sold(t, "cs").query("d_qoy == 2 and d_year == 2001")
    s = s.merge(t["customer"], left_on="cs_bill_customer_sk", right_on="c_customer_sk")
    s = s.merge(t["customer_address"], left_on="c_current_addr_sk", right_on="ca_address_sk")
    near = s["ca_zip"].str[:5].isin(["85669", "86197"])
    s = s[near | (s["ca_state"] == "CA") | (s["cs_sales_price"] > 90)]
    return s.groupby("ca_zip")["cs_sales_price"].sum().rename("total").reset_index()


@question(
    "q17",
    f"""SELECT i_item_id, s_state, count(ss_quantity) n, avg(ss_quantity) a,
    stddev_samp(ss_quantity) s, stddev_samp(ss_quantity)/avg(ss_quantity) cov
    FROM {SOLD} JOIN store ON ss_store_sk=s_store_sk WHERE d_qoy=1 GROUP BY 1,2""",
)
def spread_of_quantities(pd, t):
    s = sold(t).merge(t["store"], left_on="ss_store_sk", right_on="s_store_sk")
    s = s[s["d_qoy"] == 1].groupby(["i_item_id", "s_state"])["ss_quantity"]
    r = s.agg(["count", "mean", "std"]).set_axis(["n", "a", "s"], axis=1)
    return r.assign(cov=lambda f: f["s"] / f["a"]).reset_index()


def rolled_up(pd, rows, keys, aggregate):
    """The rows of `GROUP BY ROLLUP(keys)`: groups by ever fewer keys, the others missing."""
    parts = []
    for n in range(len(keys), 0, -1):
        parts.append(rows.groupby(keys[:n]).agg(**aggregate).reset_index())
    everything = rows.assign(all=0).groupby("all").agg(**aggregate).reset_index(drop=True)
    return pd.concat([*parts, everything], ignore_index=True)


@question(
    "q18",
    f"""SELECT i_category, i_class, ca_state, avg(cs_quantity) q, avg(cs_list_price) p
    FROM {CATALOG}
    JOIN customer ON cs_bill_customer_sk=c_customer_sk
    JOIN customer_address ON c_current_addr_sk=ca_address_sk
    WHERE d_year=2001 GROUP BY ROLLUP(i_category, i_class, ca_state)""",
)
def averages_of_the_catalog(pd, t):
    s = sold(t, "cs").query("d_year == 2001")
    s = s.merge(t["customer"], left_on="cs_bill_customer_sk", right_on="c_customer_sk")
    s = s.merge(t["customer_address"], left_on="c_current_addr_sk", right_on="ca_address_sk")
    means = {"q": ("cs_quantity", "mean"), "p": ("cs_list_price", "mean")}
    return rolled_up(pd, s, ["i_category", "i_class", "ca_state"], means)


@question(
    "q19",
    f"""SELECT i_brand_id, i_manufact_id, sum(ss_ext_sales_price) total FROM {SOLD}
    JOIN customer ON ss_customer_sk=c_customer_sk
    JOIN customer_address ON c_current_addr_sk=ca_address_sk JOIN store ON ss_store_sk=s_store_sk
    WHERE i_manager_id=2 AND d_moy>6 AND ca_city<>s_city GROUP BY 1,2""",
)
def brands_sold_away(pd, t):
    s = sold(t).merge(t["customer"], left_on="ss_customer_sk", right_on="c_customer_sk")
    s = s.merge(t["customer_address"], left_on="c_current_addr_sk", right_on="ca_address_sk")
    s = s.merge(t["store"], left_on="ss_store_sk", right_on="s_store_sk")
    s = s[(s.i_manager_id == 2) & (s.d_moy > 6) & (s.ca_city != s.s_city)]
    return s.groupby(["i_brand_id", "i_manufact_id"], as_index=False).agg(
        total=("ss_ext_sales_price", "sum")
    )


@question(
    "q21",
    """SELECT w_warehouse_name, i_item_id,
    sum(CASE WHEN d_date < DATE '2000-06-01' THEN inv_quantity_on_hand ELSE 0 END) a,
    sum(CASE WHEN d_date >= DATE '2000-06-01' THEN inv_quantity_on_hand ELSE 0 END) b
    FROM inventory JOIN warehouse ON inv_warehouse_sk=w_warehouse_sk
    JOIN item ON inv_item_sk=i_item_sk JOIN date_dim ON inv_date_sk=d_date_sk
    GROUP BY 1,2 HAVING a>0 AND b/a BETWEEN 2.0/3.0 AND 3.0/2.0""",
)
def stock_before_and_after(pd, t):
    s = t["inventory"].merge(t["warehouse"], left_on="inv_warehouse_sk", right_on="w_warehouse_sk")
    s = s.merge(t["item"], left_on="inv_item_sk", right_on="i_item_sk")
    s = s.merge(t["date_dim"], left_on="inv_date_sk", right_on="d_date_sk")
    is_before = s["d_date"] < pd.Timestamp("2000-06-01")
    s["a"] = s["inv_quantity_on_hand"].where(is_before, 0)
    s["b"] = s["inv_quantity_on_hand"].where(~is_before, 0)
    r = s.groupby(["w_warehouse_name", "i_item_id"])[["a", "b"]].sum().reset_index()
    return r[(r["a"] > 0) & (r["b"] / r["a"]).between(2 / 3, 3 / 2)]


@question(
    "q22",
    """SELECT i_brand, i_class, i_category, avg(inv_quantity_on_hand) q FROM inventory
    JOIN item ON inv_item_sk=i_item_sk GROUP BY ROLLUP(i_brand, i_class, i_category)""",
)
def stock_rolled_up(pd, t):
    s = t["inventory"].merge(t["item"], left_on="inv_item_sk", right_on="i_item_sk")
    mean = {"q": ("inv_quantity_on_hand", "mean")}
    return rolled_up(pd, s, ["i_brand", "i_class", "i_category"], mean)


@question(
    "q27",
    f"""SELECT i_item_id, s_state, grouping(s_state) g, avg(ss_quantity) a, avg(ss_sales_price) d
    FROM {SOLD} JOIN store ON ss_store_sk=s_store_sk WHERE d_year=2000
    GROUP BY ROLLUP(i_item_id, s_state)""",
)
def averages_of_states(pd, t):
    s = sold(t).merge(t["store"], left_on="ss_store_sk", right_on="s_store_sk")
    means = {"a": ("ss_quantity", "mean"), "d": ("ss_sales_price", "mean")}
    r = rolled_up(pd, s[s["d_year"] == 2000], ["i_item_id", "s_state"], means)
    r.insert(2, "g", r["s_state"].isna().astype(int))
    return r


@question(
    "q34",
    """SELECT c_last_name, c_first_name, ss_ticket_number, cnt FROM (
    SELECT ss_ticket_number, ss_customer_sk, count(*) cnt FROM store_sales
    JOIN date_dim ON ss_sold_date_sk=d_date_sk JOIN household_demographics ON ss_hdemo_sk=hd_demo_sk
    WHERE (d_dom BETWEEN 1 AND 12 OR d_dom BETWEEN 22 AND 28) AND hd_vehicle_count>0
    AND hd_dep_count/hd_vehicle_count>=1 GROUP BY 1,2) JOIN customer ON ss_customer_sk=c_customer_sk
    WHERE cnt BETWEEN 1 AND 3""",
)
def tickets_of_households(pd, t):
    s = t["store_sales"].merge(t["date_dim"], left_on="ss_sold_date_sk", right_on="d_date_sk")
    s = s.merge(t["household_demographics"], left_on="ss_hdemo_sk", right_on="hd_demo_sk")
    s = s[s["d_dom"].between(1, 12) | s["d_dom"].between(22, 28)]
    s = s[s["hd_vehicle_count"] > 0]
    s = s[s["hd_dep_count"] / s["hd_vehicle_count"] >= 1]
    counts = s.groupby(["ss_ticket_number", "ss_customer_sk"]).size().reset_index(name="cnt")
    counts = counts[counts["cnt"].between(1, 3)]
    r = counts.merge(t["customer"], left_on="ss_customer_sk", right_on="c_customer_sk")
    return r[["c_last_name", "c_first_name", "ss_ticket_number", "cnt"]]


@question(
    "q36",
    f"""SELECT m, i_category, i_class, lochierarchy,
    rank() OVER (PARTITION BY lochierarchy, CASE WHEN i_class IS NOT NULL THEN i_category END
    ORDER BY m) rank_in_parent FROM (SELECT sum(ss_net_profit)/sum(ss_ext_sales_price) m,
    i_category, i_class, grouping(i_category)+grouping(i_class) lochierarchy
    FROM {SOLD} WHERE d_year=2001 GROUP BY ROLLUP(i_category,i_class))""",
)
def margins_ranked(pd, t):
    s = sold(t).query("d_year == 2001")
    sums = {"profit": ("ss_net_profit", "sum"), "price": ("ss_ext_sales_price", "sum")}
    r = rolled_up(pd, s, ["i_category", "i_class"], sums)
    r["m"] = r["profit"] / r["price"]
    r["lochierarchy"] = r["i_category"].isna().astype(int) + r["i_class"].isna().astype(int)
    r["parent"] = r["i_category"].where(r["i_class"].notna(), "")
    by = r.groupby(["lochierarchy", "parent"])["m"]
    r["rank_in_parent"] = by.rank(method="min").astype(int)
    return r[["m", "i_category", "i_class", "lochierarchy", "rank_in_parent"]]


@question(
    "q38",
    """SELECT count(*) n FROM (
    SELECT DISTINCT ss_customer_sk c, d_month_seq FROM store_sales
    JOIN date_dim ON ss_sold_date_sk=d_date_sk WHERE ss_customer_sk IS NOT NULL INTERSECT
    SELECT DISTINCT cs_bill_customer_sk, d_month_seq FROM catalog_sales
    JOIN date_dim ON cs_sold_date_sk=d_date_sk)""",
)
def customers_of_both_channels(pd, t):
    parts = []
    for prefix, customer in (("ss", "customer_sk"), ("cs", "bill_customer_sk")):
        s = sold(t, prefix)[[f"{prefix}_{customer}", "d_month_seq"]]
        parts.append(s.set_axis(["c", "month"], axis=1).dropna().drop_duplicates())
    both = parts[0].merge(parts[1], on=["c", "month"])
    return pd.DataFrame({"n": [len(both)]})


@question(
    "q42",
    f"""SELECT d_year, i_category, sum(ss_ext_sales_price) total FROM {SOLD}
    WHERE i_manager_id=1 AND d_moy=12 GROUP BY 1,2""",
)
def categories_of_december(pd, t):
    s = sold(t)
    s = s.loc[(s["i_manager_id"] == 1) & (s["d_moy"] == 12)]
    r = s.groupby(["d_year", "i_category"])["ss_ext_sales_price"].sum().to_frame("total")
    return r.reset_index()


@question(
    "q43",
    """SELECT s_store_name, sum(CASE WHEN d_day_name='Sunday' THEN ss_sales_price END) sun,
    sum(CASE WHEN d_day_name='Monday' THEN ss_sales_price END) mon,
    sum(CASE WHEN d_day_name='Friday' THEN ss_sales_price END) fri FROM store_sales
    JOIN date_dim ON ss_sold_date_sk=d_date_sk JOIN store ON ss_store_sk=s_store_sk
    WHERE d_year=2000 GROUP BY 1""",
)
def days_of_stores(pd, t):
    s = t["store_sales"].merge(t["date_dim"], left_on="ss_sold_date_sk", right_on="d_date_sk")
    s = s.merge(t["store"], left_on="ss_store_sk", right_on="s_store_sk").query("d_year == 2000")
    wide = s.pivot_table(
        index="s_store_name", columns="d_day_name", values="ss_sales_price", aggfunc="sum"
    )
    wide = wide[["Sunday", "Monday", "Friday"]]
    return wide.set_axis(["sun", "mon", "fri"], axis=1).reset_index()


@question(
    "q44",
    """WITH r AS (SELECT ss_item_sk i, avg(ss_net_profit) p FROM store_sales WHERE ss_store_sk=2
    GROUP BY 1), a AS (SELECT i, rank() OVER (ORDER BY p) k FROM r),
    d AS (SELECT i, rank() OVER (ORDER BY p DESC) k FROM r)
    SELECT a.k, x.i_item_id worst, y.i_item_id best FROM a JOIN d ON a.k=d.k
    JOIN item x ON x.i_item_sk=a.i JOIN item y ON y.i_item_sk=d.i WHERE a.k<=5""",
)
def best_and_worst(pd, t):
    s = t["store_sales"]
    profit = s[s["ss_store_sk"] == 2].groupby("ss_item_sk")["ss_net_profit"].mean()
    names = t["item"].set_index("i_item_sk")["i_item_id"]
    parts = {}
    for name, ascending in (("worst", True), ("best", False)):
        rank = profit.rank(method="min", ascending=ascending).astype(int)
        found = rank[rank <= 5].rename("k").reset_index()
        found[name] = found["ss_item_sk"].map(names)
        parts[name] = found[["k", name]]
    return parts["worst"].merge(parts["best"], on="k")


@question(
    "q47",
    f"""WITH v AS (SELECT i_category, i_brand, s_store_name, d_month_seq m,
    sum(ss_sales_price) x FROM {SOLD} JOIN store ON ss_store_sk=s_store_sk
    WHERE d_year=2000 GROUP BY 1,2,3,4), w AS (SELECT *,
    avg(x) OVER (PARTITION BY i_category,i_brand,s_store_name) avg_x,
    lag(x) OVER (PARTITION BY i_category,i_brand,s_store_name ORDER BY m) prev,
    lead(x) OVER (PARTITION BY i_category,i_brand,s_store_name ORDER BY m) next FROM v)
    SELECT * FROM w WHERE abs(x-avg_x)/avg_x > 0.5""",
)
def months_off_the_average(pd, t):
    s = sold(t).merge(t["store"], left_on="ss_store_sk", right_on="s_store_sk")
    keys = ["i_category", "i_brand", "s_store_name"]
    v = s[s["d_year"] == 2000].groupby([*keys, "d_month_seq"])["ss_sales_price"].sum()
    v = v.rename("x").reset_index().rename(columns={"d_month_seq": "m"}).sort_values([*keys, "m"])
    groups = v.groupby(keys)["x"]
    v["avg_x"] = groups.transform("mean")
    v["prev"], v["next"] = groups.shift(1), groups.shift(-1)
    return v[(v["x"] - v["avg_x"]).abs() / v["avg_x"] > 0.5]


@question(
    "q48",
    """SELECT sum(ss_quantity) n FROM store_sales JOIN date_dim ON ss_sold_date_sk=d_date_sk
    JOIN customer_demographics ON ss_cdemo_sk=cd_demo_sk JOIN customer_address ON
    ss_addr_sk=ca_address_sk WHERE d_year=2001 AND ((cd_marital_status='M' AND ss_sales_price
    BETWEEN 25 AND 75) OR (cd_marital_status='D' AND ss_sales_price BETWEEN 0 AND 50))
    AND ((ca_state='TN' AND ss_net_profit>0) OR (ca_state='CA' AND ss_net_profit<1000))""",
)
def quantity_by_conditions(pd, t):
    s = t["store_sales"].merge(t["date_dim"], left_on="ss_sold_date_sk", right_on="d_date_sk")
    s = s.merge(t["customer_demographics"], left_on="ss_cdemo_sk", right_on="cd_demo_sk")
    s = s.merge(t["customer_address"], left_on="ss_addr_sk", right_on="ca_address_sk")
    people = ((s.cd_marital_status == "M") & s.ss_sales_price.between(25, 75)) | (
        (s.cd_marital_status == "D") & s.ss_sales_price.between(0, 50)
    )
    places = ((s.ca_state == "TN") & (s.ss_net_profit > 0)) | (
        (s.ca_state == "CA") & (s.ss_net_profit < 1000)
    )
    return pd.DataFrame({"n": [s[people & places & (s.d_year == 2001)]["ss_quantity"].sum()]})


@question(
    "q50",
    """SELECT s_store_name, sum((d<=30)::INT) a, sum((d>30 AND d<=60)::INT) b,
    sum((d>60 AND d<=90)::INT) c, sum((d>90)::INT) e FROM (SELECT s_store_name,
    sr_returned_date_sk-ss_sold_date_sk d FROM store_sales JOIN store_returns ON
    ss_ticket_number=sr_ticket_number AND ss_item_sk=sr_item_sk AND ss_customer_sk=sr_customer_sk
    JOIN store ON ss_store_sk=s_store_sk) GROUP BY 1""",
)
def days_until_return(pd, t):
    s = t["store_sales"].merge(
        t["store_returns"],
        left_on=["ss_ticket_number", "ss_item_sk", "ss_customer_sk"],
        right_on=["sr_ticket_number", "sr_item_sk", "sr_customer_sk"],
    )
    s = s.dropna(subset=["ss_customer_sk"])
    s = s.merge(t["store"], left_on="ss_store_sk", right_on="s_store_sk")
    days = s["sr_returned_date_sk"] - s["ss_sold_date_sk"]
    s["bucket"] = pd.cut(days, [-1000, 30, 60, 90, 1000], labels=["a", "b", "c", "e"])
    return pd.crosstab(s["s_store_name"], s["bucket"]).reset_index()


@question(
    "q51",
    f"""WITH w AS (SELECT i_item_sk i, d_date d, sum(sum(ws_sales_price)) OVER
    (PARTITION BY i_item_sk ORDER BY d_date) x FROM {WEB} WHERE d_month_seq<6 GROUP BY 1,2),
    s AS (SELECT i_item_sk i, d_date d, sum(sum(ss_sales_price)) OVER
    (PARTITION BY i_item_sk ORDER BY d_date) x FROM {SOLD} WHERE d_month_seq<6 GROUP BY 1,2)
    SELECT * FROM (SELECT i, d, max(wx) OVER (PARTITION BY i ORDER BY d) web, max(sx) OVER
    (PARTITION BY i ORDER BY d) store FROM (SELECT coalesce(w.i,s.i) i, coalesce(w.d,s.d) d,
    w.x wx, s.x sx FROM w FULL JOIN s ON w.i=s.i AND w.d=s.d)) WHERE web>store""",
)
def running_totals(pd, t):
    parts = {}
    for prefix, name in (("ws", "web"), ("ss", "store")):
        s = sold(t, prefix)
        s = s[s["d_month_seq"] < 6].groupby(["i_item_sk", "d_date"], as_index=False)
        s = s[f"{prefix}_sales_price"].sum()
        s[name] = s.groupby("i_item_sk")[f"{prefix}_sales_price"].cumsum()
        parts[name] = s[["i_item_sk", "d_date", name]]
    r = parts["web"].merge(parts["store"], on=["i_item_sk", "d_date"], how="outer")
    r = r.sort_values(["i_item_sk", "d_date"])
    r[["web", "store"]] = r.groupby("i_item_sk")[["web", "store"]].ffill()
    r = r.rename(columns={"i_item_sk": "i", "d_date": "d"})
    return r[r["web"] > r["store"]]


@question(
    "q53",
    f"""SELECT * FROM (SELECT i_manufact_id, d_qoy, sum(ss_sales_price) x,
    avg(sum(ss_sales_price)) OVER (PARTITION BY i_manufact_id) a FROM {SOLD}
    WHERE d_year=2000 AND i_class IN ('pants','audio') GROUP BY 1,2)
    WHERE CASE WHEN a>0 THEN abs(x-a)/a ELSE NULL END > 0.1""",
)
def quarters_off_the_average(pd, t):
    s = sold(t)
    s = s[(s["d_year"] == 2000) & s["i_class"].isin(["pants", "audio"])]
    r = s.groupby(["i_manufact_id", "d_qoy"], as_index=False).agg(x=("ss_sales_price", "sum"))
    r["a"] = r.groupby("i_manufact_id").x.transform("mean")
    return r[((r["x"] - r["a"]).abs() / r["a"]) > 0.1]


@question(
    "q55",
    f"""SELECT i_brand_id, i_brand, sum(ss_ext_sales_price) x FROM {SOLD}
    WHERE i_manager_id=4 AND d_moy=11 AND d_year=2001 GROUP BY 1,2""",
)
def brands_of_a_manager(pd, t):
    s = sold(t).query("i_manager_id == 4 and d_moy == 11 and d_year == 2001")
    r = s.groupby(["i_brand_id", "i_brand"])["ss_ext_sales_price"].sum()
    return r.rename("x").sort_values(ascending=False).reset_index()


@question(
    "q59",
    """WITH w AS (SELECT d_week_seq k, ss_store_sk s,
    sum(CASE WHEN d_day_name='Sunday' THEN ss_sales_price END) sun,
    sum(ss_sales_price) x FROM store_sales JOIN date_dim ON ss_sold_date_sk=d_date_sk GROUP BY 1,2)
    SELECT a.k, s_store_name, a.x/b.x ratio FROM w a JOIN w b ON a.s=b.s AND a.k=b.k-52
    JOIN store ON a.s=s_store_sk""",
)
def weeks_a_year_apart(pd, t):
    s = t["store_sales"].merge(t["date_dim"], left_on="ss_sold_date_sk", right_on="d_date_sk")
    w = s.groupby(["d_week_seq", "ss_store_sk"])["ss_sales_price"].sum().rename("x").reset_index()
    later = w.assign(d_week_seq=w["d_week_seq"] - 52)
    r = w.merge(later, on=["d_week_seq", "ss_store_sk"], suffixes=("", "_later"))
    r = r.merge(t["store"], left_on="ss_store_sk", right_on="s_store_sk")
    r["ratio"] = r["x"] / r["x_later"]
    return r.rename(columns={"d_week_seq": "k"})[["k", "s_store_name", "ratio"]]


@question(
    "q62",
    """SELECT ws_store_sk, sum((d<=30)::INT) a, sum((d>30 AND d<=60)::INT) b, sum((d>60)::INT) c
    FROM (SELECT ws_store_sk, ws_ship_date_sk-ws_sold_date_sk d FROM web_sales)
    WHERE ws_store_sk IS NOT NULL GROUP BY 1""",
)
def days_until_shipment(pd, t):
    s = t["web_sales"].dropna(subset="ws_store_sk")
    days = s["ws_ship_date_sk"] - s["ws_sold_date_sk"]
    flags = {"a": days <= 30, "b": days.between(31, 60), "c": days > 60}
    s = s[["ws_store_sk"]].assign(**flags)
    return s.groupby("ws_store_sk").sum().reset_index()


@question(
    "q65",
    """WITH r AS (SELECT ss_store_sk s, ss_item_sk i, sum(ss_sales_price) x FROM store_sales
    WHERE ss_store_sk IS NOT NULL GROUP BY 1,2), a AS (SELECT s, avg(x) ave FROM r GROUP BY 1)
    SELECT s_store_name, i_item_id, x FROM r JOIN a ON r.s=a.s AND x<=0.3*ave
    JOIN store ON r.s=s_store_sk JOIN item ON i=i_item_sk""",
)
def items_that_sell_badly(pd, t):
    r = t["store_sales"].groupby(["ss_store_sk", "ss_item_sk"])["ss_sales_price"].sum()
    r = r.rename("x").reset_index()
    average = r.groupby("ss_store_sk")["x"].mean()
    r = r[r["x"] <= 0.3 * r["ss_store_sk"].map(average)]
    r = r.merge(t["store"], left_on="ss_store_sk", right_on="s_store_sk")
    r = r.merge(t["item"], left_on="ss_item_sk", right_on="i_item_sk")
    return r[["s_store_name", "i_item_id", "x"]]


@question(
    "q67",
    f"""SELECT * FROM (SELECT *, rank() OVER (PARTITION BY i_category ORDER BY x DESC) k FROM (
    SELECT i_category, i_class, i_brand, d_qoy, sum(ss_sales_price*ss_quantity) x
    FROM {SOLD} WHERE d_year=2000 GROUP BY ROLLUP(i_category,i_class,i_brand,d_qoy)))
    WHERE k<=5""",
)
def best_of_the_rollup(pd, t):
    s = sold(t).query("d_year == 2000")
    s = s.assign(amount=s["ss_sales_price"] * s["ss_quantity"])
    r = rolled_up(pd, s, ["i_category", "i_class", "i_brand", "d_qoy"], {"x": ("amount", "sum")})
    ranks = r.groupby("i_category", dropna=False)["x"].rank(method="min", ascending=False)
    r["k"] = ranks.astype(int)
    return r[r["k"] <= 5]


@question(
    "q70",
    f"""SELECT s_state, s_county, sum(ss_net_profit) x, grouping(s_state)+grouping(s_county) g
    FROM {SOLD} JOIN store ON ss_store_sk=s_store_sk WHERE d_month_seq<12 AND s_state IN (
    SELECT s_state FROM (SELECT s_state, rank() OVER (ORDER BY sum(ss_net_profit) DESC) k
    FROM {SOLD} JOIN store ON ss_store_sk=s_store_sk GROUP BY 1) WHERE k<=2)
    GROUP BY ROLLUP(s_state, s_county)""",
)
def profit_of_the_best_states(pd, t):
    s = sold(t).merge(t["store"], left_on="ss_store_sk", right_on="s_store_sk")
    best = s.groupby("s_state")["ss_net_profit"].sum().nlargest(2).index
    s = s[(s["d_month_seq"] < 12) & s["s_state"].isin(best)]
    r = rolled_up(pd, s, ["s_state", "s_county"], {"x": ("ss_net_profit", "sum")})
    r["g"] = r[["s_state", "s_county"]].isna().sum(axis=1)
    return r


@question(
    "q76",
    f"""SELECT channel, d_year, i_category, count(*) n, sum(x) total FROM (
    SELECT 'store' channel, d_year, i_category, ss_ext_sales_price x FROM {SOLD}
    WHERE ss_store_sk IS NULL UNION ALL SELECT 'web', d_year, i_category, ws_ext_sales_price
    FROM {WEB} WHERE ws_bill_customer_sk IS NULL) GROUP BY 1,2,3""",
)
def sales_without_a_key(pd, t):
    parts = []
    for channel, prefix, key in (("store", "ss", "store_sk"), ("web", "ws", "bill_customer_sk")):
        s = sold(t, prefix)
        s = s[s[f"{prefix}_{key}"].isna()].rename(columns={f"{prefix}_ext_sales_price": "x"})
        parts.append(s[["d_year", "i_category", "x"]].assign(channel=channel))
    rows = pd.concat(parts, ignore_index=True)
    groups = rows.groupby(["channel", "d_year", "i_category"])["x"]
    return groups.agg(n="count", total="sum").reset_index()


@question(
    "q79",
    """SELECT c_last_name, s_city, ss_ticket_number, amt FROM (SELECT ss_ticket_number,
    ss_customer_sk, s_city, sum(ss_coupon_amt) amt FROM store_sales
    JOIN household_demographics ON ss_hdemo_sk=hd_demo_sk JOIN store ON ss_store_sk=s_store_sk
    WHERE hd_dep_count=3 OR hd_vehicle_count>2 GROUP BY 1,2,3)
    JOIN customer ON ss_customer_sk=c_customer_sk""",
)
def coupons_of_tickets(pd, t):
    s = t["store_sales"].merge(
        t["household_demographics"], left_on="ss_hdemo_sk", right_on="hd_demo_sk"
    )
    s = s.merge(t["store"], left_on="ss_store_sk", right_on="s_store_sk")
    s = s[(s["hd_dep_count"] == 3) | (s["hd_vehicle_count"] > 2)]
    amt = s.groupby(["ss_ticket_number", "ss_customer_sk", "s_city"])["ss_coupon_amt"].sum()
    r = amt.rename("amt").reset_index()
    r = r.merge(t["customer"], left_on="ss_customer_sk", right_on="c_customer_sk")
    return r[["c_last_name", "s_city", "ss_ticket_number", "amt"]]


@question(
    "q86",
    f"""SELECT i_category, i_class, sum(ws_net_paid) x, grouping(i_category)+grouping(i_class) g
    FROM {WEB} WHERE d_month_seq BETWEEN 6 AND 17 GROUP BY ROLLUP(i_category, i_class)""",
)
def web_sales_rolled_up(pd, t):
    s = sold(t, "ws")
    s = s[s["d_month_seq"].between(6, 17)]
    r = rolled_up(pd, s, ["i_category", "i_class"], {"x": ("ws_net_paid", "sum")})
    r["g"] = r["i_category"].isna().astype(int) + r["i_class"].isna().astype(int)
    return r


@question(
    "q87",
    """SELECT count(*) n FROM (SELECT DISTINCT ss_customer_sk c, d_date FROM store_sales
    JOIN date_dim ON ss_sold_date_sk=d_date_sk WHERE ss_customer_sk IS NOT NULL EXCEPT
    SELECT DISTINCT cs_bill_customer_sk, d_date FROM catalog_sales
    JOIN date_dim ON cs_sold_date_sk=d_date_sk)""",
)
def days_of_stores_alone(pd, t):
    parts = []
    for prefix, customer in (("ss", "customer_sk"), ("cs", "bill_customer_sk")):
        s = sold(t, prefix)[[f"{prefix}_{customer}", "d_date"]].set_axis(["c", "d"], axis=1)
        parts.append(s.dropna().drop_duplicates())
    r = parts[0].merge(parts[1], on=["c", "d"], how="left", indicator=True)
    return pd.DataFrame({"n": [(r["_merge"] == "left_only").sum()]})


@question(
    "q88",
    """SELECT t_hour, t_minute//30 half, count(*) n FROM store_sales
    JOIN time_dim ON ss_sold_time_sk=t_time_sk JOIN household_demographics ON ss_hdemo_sk=hd_demo_sk
    WHERE t_hour BETWEEN 8 AND 12 AND hd_dep_count IN (1,2,3) GROUP BY 1,2""",
)
def sales_by_half_hour(pd, t):
    s = t["store_sales"].merge(t["time_dim"], left_on="ss_sold_time_sk", right_on="t_time_sk")
    s = s.merge(t["household_demographics"], left_on="ss_hdemo_sk", right_on="hd_demo_sk")
    s = s[s["t_hour"].between(8, 12) & s["hd_dep_count"].isin([1, 2, 3])]
    s["half"] = s["t_minute"] // 30
    return s.groupby(["t_hour", "half"]).size().reset_index(name="n")


@question(
    "q89",
    f"""SELECT * FROM (SELECT i_category, i_class, s_store_name, d_moy, sum(ss_sales_price) x,
    avg(sum(ss_sales_price)) OVER (PARTITION BY i_category, s_store_name) a
    FROM {SOLD} JOIN store ON ss_store_sk=s_store_sk WHERE d_year=2001 GROUP BY 1,2,3,4)
    WHERE CASE WHEN a<>0 THEN abs(x-a)/a END > 0.7""",
)
def months_of_categories(pd, t):
    s = sold(t).merge(t["store"], left_on="ss_store_sk", right_on="s_store_sk")
    keys = ["i_category", "i_class", "s_store_name", "d_moy"]
    r = s[s["d_year"] == 2001].groupby(keys)["ss_sales_price"].sum().reset_index(name="x")
    r["a"] = r.groupby(["i_category", "s_store_name"])["x"].transform("mean")
    far = r.apply(lambda row: abs(row["x"] - row["a"]) / row["a"] > 0.7, axis=1)
    return r[far]


@question(
    "q93",
    """SELECT ss_customer_sk c, sum(CASE WHEN sr_return_quantity IS NOT NULL
    THEN (ss_quantity-sr_return_quantity)*ss_sales_price ELSE ss_quantity*ss_sales_price END) x
    FROM store_sales LEFT JOIN store_returns ON sr_item_sk=ss_item_sk AND
    sr_ticket_number=ss_ticket_number WHERE ss_customer_sk IS NOT NULL GROUP BY 1""",
)
def sales_less_returns(pd, t):
    s = t["store_sales"].merge(
        t["store_returns"],
        how="left",
        left_on=["ss_item_sk", "ss_ticket_number"],
        right_on=["sr_item_sk", "sr_ticket_number"],
    )
    kept = s["ss_quantity"] - s["sr_return_quantity"].fillna(0)
    s = s.assign(x=kept * s["ss_sales_price"])
    return s.groupby("ss_customer_sk")["x"].sum().rename_axis("c").reset_index()


@question(
    "q96",
    """SELECT count(*) n FROM store_sales JOIN time_dim ON ss_sold_time_sk=t_time_sk
    JOIN household_demographics ON ss_hdemo_sk=hd_demo_sk JOIN store ON ss_store_sk=s_store_sk
    WHERE t_hour BETWEEN 8 AND 20 AND t_minute>=30 AND hd_dep_count=2 AND s_store_name='ese'""",
)
def sales_of_an_evening(pd, t):
    s = t["store_sales"].merge(t["time_dim"], left_on="ss_sold_time_sk", right_on="t_time_sk")
    s = s.merge(t["household_demographics"], left_on="ss_hdemo_sk", right_on="hd_demo_sk")
    s = s.merge(t["store"], left_on="ss_store_sk", right_on="s_store_sk")
    s = s.query("8 <= t_hour <= 20 and t_minute >= 30 and hd_dep_count == 2")
    return pd.DataFrame({"n": [len(s[s["s_store_name"] == "ese"])]})


@question(
    "q97",
    """WITH s AS (SELECT ss_customer_sk c, ss_item_sk i FROM store_sales
    WHERE ss_customer_sk IS NOT NULL GROUP BY 1,2), k AS (SELECT cs_bill_customer_sk c, cs_item_sk i
    FROM catalog_sales WHERE cs_bill_customer_sk IS NOT NULL GROUP BY 1,2)
    SELECT sum((s.c IS NOT NULL AND k.c IS NULL)::INT) a, sum((s.c IS NULL)::INT) b,
    sum((s.c IS NOT NULL AND k.c IS NOT NULL)::INT) c
    FROM s FULL JOIN k ON s.c=k.c AND s.i=k.i""",
)
def customers_and_items(pd, t):
    parts = []
    for name, columns in (
        ("store_sales", ["ss_customer_sk", "ss_item_sk"]),
        ("catalog_sales", ["cs_bill_customer_sk", "cs_item_sk"]),
    ):
        parts.append(t[name][columns].set_axis(["c", "i"], axis=1).dropna().drop_duplicates())
    merged = parts[0].merge(parts[1], on=["c", "i"], how="outer", indicator=True)
    counts = merged["_merge"].value_counts()
    names = {"a": "left_only", "b": "right_only", "c": "both"}
    return pd.DataFrame({name: [counts[value]] for name, value in names.items()})


@question(
    "q98",
    f"""SELECT i_item_id, i_class, i_current_price, sum(ss_ext_sales_price) revenue,
    sum(ss_ext_sales_price)*100/sum(sum(ss_ext_sales_price)) OVER (PARTITION BY i_class) ratio
    FROM {SOLD} WHERE i_category IN ('Women','Electronics') AND d_year=2001 AND d_moy<4
    GROUP BY 1,2,3""",
)
def share_of_class_in_stores(pd, t):
    s = sold(t)
    s = s[s["i_category"].isin(["Women", "Electronics"]) & (s["d_year"] == 2001) & (s["d_moy"] < 4)]
    r = s.groupby(["i_item_id", "i_class", "i_current_price"])["ss_ext_sales_price"].sum()
    r = r.rename("revenue").reset_index()
    r["ratio"] = r.groupby("i_class")["revenue"].transform(lambda x: x * 100 / x.sum())
    return r
