# SPDX-License-Identifier: Apache-2.0
"""The monthly report of a web shop: orders, visits, tags and payments, from raw text to tables."""

import datetime
import io

import numpy as np
import pandas as pd

ORDERS = """# exported by the till
order;customer;sku;quantity;price;ordered_at;tags
1001;ann;A-100;2;9,50;03.01.2024 09:12;gift|express
1002;bob;B-200;1;1.120,00;03.01.2024 17:40;
1003;ann;C-300;5;2,25;19.01.2024 08:01;gift
1004;cid;A-100;1;9,50;02.02.2024 12:00;express|fragile
1005;dee;B-200;2;1.115,00;11.02.2024 20:15;
1006;bob;C-300;10;2,00;29.02.2024 23:59;gift|fragile|express
1007;eve;A-100;3;n/a;08.03.2024 06:30;
1008;ann;B-200;1;1.118,00;08.03.2024 19:20;fragile
1009;cid;C-300;4;2,25;31.03.2024 01:30;
1010;dee;A-100;1;9,75;31.03.2024 03:30;gift
"""

VISITS = """user,at,page
ann,2024-03-30T23:50:00,home
ann,2024-03-31T00:10:00,cart
bob,2024-03-31T00:05:00,home
ann,2024-03-31T01:30:00,home
bob,2024-03-31T00:20:00,pay
cid,2024-03-31T12:00:00,home
ann,2024-03-31T01:35:00,cart
"""


# -- Orders: a file with options, missing values, and prices as people write them.


def clean_orders():
    orders = pd.read_csv(
        io.StringIO(ORDERS),
        sep=";",
        decimal=",",
        thousands=".",
        comment="#",
        na_values=["n/a"],
        dtype={"sku": "str"},
    )
    orders["ordered_at"] = pd.to_datetime(orders["ordered_at"], format="%d.%m.%Y %H:%M")
    typical = orders.groupby("sku")["price"].transform("median")
    orders["is_estimate"] = orders["price"].isna()
    orders["price"] = orders["price"].fillna(typical)
    orders["revenue"] = orders["quantity"] * orders["price"]
    orders.loc[orders["revenue"] > 2000, "revenue"] *= 0.9
    orders["kind"] = orders["sku"].str.extract(r"^([A-Z])-", expand=False)
    return orders


def by_month(orders):
    month = orders["ordered_at"].dt.strftime("%Y-%m")
    table = orders.groupby(month).agg(
        revenue=("revenue", "sum"),
        orders=("order", "count"),
        customers=("customer", "nunique"),
        spread=("price", lambda x: x.max() - x.min()),
    )
    table["growth"] = table["revenue"].pct_change()
    table["running"] = table["revenue"].cumsum()
    return table.rename_axis("month")


def customers(orders):
    today = orders["ordered_at"].max() + pd.Timedelta(days=1)
    scores = orders.groupby("customer").agg(
        recency=("ordered_at", lambda x: (today - x.max()).days),
        frequency=("order", "size"),
        monetary=("revenue", "sum"),
    )
    scores["rank"] = scores["monetary"].rank(ascending=False).astype(int)
    scores["segment"] = np.where(scores["monetary"] > 1000, "gold", "plain")
    scores["band"] = pd.cut(scores["recency"], [0, 1, 30, 365], labels=["new", "warm", "cold"])
    scores = scores.sort_values("monetary", ascending=False)
    return scores


def discount(row):
    """A rule of the shop that no array function has."""
    if row["quantity"] >= 5 or row["customer"] == "ann":
        return round(row["revenue"] * 0.05, 2)
    return 0.0


# -- Tags: a column of lists.


def tags(orders):
    tagged = orders[["order", "tags", "revenue"]].dropna(subset=["tags"]).copy()
    tagged["tag"] = tagged["tags"].str.split("|")
    tagged["count"] = tagged["tag"].str.len()
    long = tagged.explode("tag")
    return {
        "tags per order": tagged.set_index("order")["count"],
        "revenue of a tag": long.groupby("tag")["revenue"].sum().sort_values(ascending=False),
        "pairs": pd.crosstab(long["tag"], long["count"]),
    }


# -- Visits: times in UTC, shown where the shop is, over a change of its clocks.


def sessions():
    visits = pd.read_csv(io.StringIO(VISITS), parse_dates=["at"])
    visits["at"] = visits["at"].dt.tz_localize("UTC")
    visits = visits.sort_values(["user", "at"]).reset_index(drop=True)
    gap = visits.groupby("user")["at"].diff()
    visits["is_new"] = gap.isna() | (gap > pd.Timedelta(minutes=30))
    visits["session"] = visits.groupby("user")["is_new"].cumsum()
    visits["local"] = visits["at"].dt.tz_convert("Europe/Oslo")
    visits["hour"] = visits["local"].dt.hour
    summary = visits.groupby(["user", "session"]).agg(
        start=("at", "min"), end=("at", "max"), pages=("page", "size"), last=("page", "last")
    )
    summary["minutes"] = (summary["end"] - summary["start"]).dt.total_seconds() / 60
    return visits, summary


# -- Payments: numbers with holes, flags that may be unknown, and dates as objects.


def payments():
    paid = pd.DataFrame(
        {
            "order": [1001, 1002, 1003, 1004, 1005],
            "days": [3, None, 14, 30, None],
            "confirmed": [True, None, False, True, None],
            "due": [datetime.date(2024, 1, day) for day in (10, 10, 26, 9, 18)],
        }
    )
    paid["days"] = paid["days"].astype("Int64")
    paid["confirmed"] = paid["confirmed"].astype("boolean")
    paid["is_late"] = paid["days"] > 7
    paid["needs_call"] = paid["is_late"] & ~paid["confirmed"]
    paid["is_soon"] = paid["due"].map(lambda day: day < datetime.date(2024, 1, 15))
    return paid, paid.groupby("is_soon")["days"].sum()


orders = clean_orders()
orders["discount"] = orders.apply(discount, axis=1)
visits, of_sessions = sessions()
paid, open_days = payments()
report = {
    "orders": orders,
    "months": by_month(orders),
    "customers": customers(orders),
    "kinds": orders.pivot_table(index="customer", columns="kind", values="revenue", aggfunc="sum"),
    **tags(orders),
    "visits": visits,
    "sessions": of_sessions,
    "paid": paid,
    "open days": open_days,
    "unpaid": orders[~orders["order"].isin(paid["order"])][["order", "customer", "revenue"]],
}
if __name__ == "__main__":
    for title, table in report.items():
        print(f"\n{title}\n{table.to_string()}")
