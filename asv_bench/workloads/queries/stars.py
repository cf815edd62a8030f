# SPDX-License-Identifier: Apache-2.0
"""Questions about the sales of a chain of shops: a star schema."""

from collections.abc import Mapping
from typing import Any

Tables = Mapping[str, Any]


def _dated(pd: Any, t: Tables) -> Any:
    return pd.merge(t["sales"], t["days"], on="day_id")


def _with_items(pd: Any, t: Tables) -> Any:
    return pd.merge(t["sales"], t["items"], on="item_id")


def monthly_revenue(pd: Any, t: Tables) -> Any:
    sales = _dated(pd, t)
    sales["revenue"] = sales["price"] * sales["quantity"]
    return sales.groupby(["year", "month"])["revenue"].sum()


def brands_of_a_month(pd: Any, t: Tables) -> Any:
    sales = pd.merge(_dated(pd, t), t["items"], on="item_id")
    sales = sales[(sales["month"] == 11) & (sales["manager_id"] == 1)]
    sums = sales.groupby(["year", "brand"], as_index=False)["price"].sum()
    return sums.sort_values(["year", "price", "brand"], ascending=[True, False, True]).head(100)


def categories_by_state(pd: Any, t: Tables) -> Any:
    sales = pd.merge(_with_items(pd, t), t["stores"], on="store_id")
    return sales.pivot_table(index="state", columns="category", values="price", aggfunc="sum")


def average_basket(pd: Any, t: Tables) -> Any:
    baskets = t["sales"].groupby("ticket").agg(items=("item_id", "count"), paid=("price", "sum"))
    return baskets.mean()


def large_baskets(pd: Any, t: Tables) -> Any:
    baskets = t["sales"].groupby("ticket", as_index=False)["price"].sum()
    return baskets[baskets["price"] > 600].sort_values("ticket").reset_index(drop=True)


def demographics(pd: Any, t: Tables) -> Any:
    sales = t["sales"].dropna(subset=["customer_id"])
    sales = pd.merge(sales, t["customers"], on="customer_id")
    sales = sales[(sales["gender"] == "M") & (sales["education"] == "College")]
    return sales.groupby("item_id")[["quantity", "price", "discount"]].mean().head(100)


def above_average_for_category(pd: Any, t: Tables) -> Any:
    items = t["items"]
    mean = items.groupby("category")["list_price"].transform("mean")
    return items[items["list_price"] > 1.2 * mean]


def states_with_customers(pd: Any, t: Tables) -> Any:
    sales = pd.merge(t["sales"], t["customers"], on="customer_id")
    counts = sales.groupby("state").size().reset_index(name="count")
    return counts[counts["count"] >= 10].sort_values(["count", "state"])


def best_customers(pd: Any, t: Tables) -> Any:
    spent = t["sales"].groupby("customer_id")["price"].sum()
    return spent.sort_values(ascending=False, kind="stable").head(100)


def spent_by_name(pd: Any, t: Tables) -> Any:
    spent = t["sales"].groupby("customer_id", as_index=False)["price"].sum()
    named = pd.merge(spent, t["customers"][["customer_id", "name"]], on="customer_id")
    return named[["name", "price"]].nlargest(20, "price")


def never_returned(pd: Any, t: Tables) -> Any:
    items = t["items"]
    return items[~items["item_id"].isin(t["returned"]["item_id"])]


def share_returned(pd: Any, t: Tables) -> Any:
    sold = t["sales"].groupby("item_id").size().rename("sold")
    back = t["returned"].groupby("item_id").size().rename("back")
    both = sold.to_frame().join(back).fillna(0)
    both["share"] = both["back"] / both["sold"]
    return both


def reasons(pd: Any, t: Tables) -> Any:
    return t["returned"]["reason"].value_counts()


def reasons_by_category(pd: Any, t: Tables) -> Any:
    back = pd.merge(t["returned"], t["items"], on="item_id", how="left")
    return back.groupby(["category", "reason"])["amount"].agg(["sum", "mean", "count"])


def weekday_sales(pd: Any, t: Tables) -> Any:
    sales = _dated(pd, t)
    return sales.pivot_table(
        index="store_id", columns="weekday", values="price", aggfunc="sum", fill_value=0.0
    )


def holidays(pd: Any, t: Tables) -> Any:
    sales = _dated(pd, t)
    return sales.groupby("holiday")["price"].agg(["mean", "median", "std"])


def growth_by_month(pd: Any, t: Tables) -> Any:
    sales = _dated(pd, t)
    monthly = sales.groupby(["year", "month"], as_index=False)["price"].sum()
    monthly["before"] = monthly["price"].shift(1)
    monthly["growth"] = monthly["price"] / monthly["before"] - 1
    return monthly


def running_total(pd: Any, t: Tables) -> Any:
    daily = t["sales"].groupby("day_id", as_index=False)["price"].sum()
    daily["total"] = daily["price"].cumsum()
    return daily


def rank_in_category(pd: Any, t: Tables) -> Any:
    sums = _with_items(pd, t).groupby(["category", "item_id"], as_index=False)["price"].sum()
    sums["rank"] = sums.groupby("category")["price"].rank(ascending=False, method="min")
    return sums[sums["rank"] <= 10].sort_values(["category", "rank", "item_id"])


def profit_bands(pd: Any, t: Tables) -> Any:
    sales = t["sales"]
    profit = (sales["price"] - sales["discount"] - sales["cost"]) * sales["quantity"]
    bands = pd.cut(profit, [-1e9, 0, 100, 1_000, 1e9], labels=["loss", "low", "some", "high"])
    return bands.value_counts(sort=False)


def discount_share(pd: Any, t: Tables) -> Any:
    sales = t["sales"]
    return sales["discount"].sum() / sales["price"].sum()


def paid_above_ninetieth(pd: Any, t: Tables) -> Any:
    sales = t["sales"]
    return sales[sales["price"] > sales["price"].quantile(0.9)][["ticket", "item_id", "price"]]


def quarters(pd: Any, t: Tables) -> Any:
    sales = _dated(pd, t)
    sales = sales.assign(quarter=sales["date"].dt.quarter)
    return sales.groupby(["year", "quarter"]).agg(
        sold=("quantity", "sum"), paid=("price", "sum"), tickets=("ticket", "nunique")
    )


def items_with_word(pd: Any, t: Tables) -> Any:
    items = t["items"]
    return items[items["brand"].str.contains("1") & items["color"].isin(["red", "plum"])]


def missing_colors(pd: Any, t: Tables) -> Any:
    items = t["items"].fillna({"color": "unknown"})
    return items.groupby("color")["list_price"].median()


def youngest_customers(pd: Any, t: Tables) -> Any:
    customers = t["customers"].dropna(subset=["born"])
    return customers.sort_values(["born", "customer_id"], ascending=[False, True]).head(50)


def domains(pd: Any, t: Tables) -> Any:
    return t["customers"]["email"].str.split("@").str[1].value_counts()


def decades(pd: Any, t: Tables) -> Any:
    born = t["customers"]["born"]
    return (born // 10 * 10).value_counts().sort_index()


def customers_by_two(pd: Any, t: Tables) -> Any:
    return pd.crosstab(t["customers"]["gender"], t["customers"]["education"])


def credit_by_state(pd: Any, t: Tables) -> Any:
    return t["customers"].groupby("state")["credit"].agg(["min", "max", "mean", "nunique"])


def stores_of_texas(pd: Any, t: Tables) -> Any:
    stores = t["stores"]
    return stores[(stores["state"] == "TX") & stores["floor"].between(8_000, 15_000)]


def widest_stores(pd: Any, t: Tables) -> Any:
    stores = t["stores"]
    return stores.loc[stores.groupby("market")["floor"].idxmax()]


def price_changes(pd: Any, t: Tables) -> Any:
    sales = _with_items(pd, t)
    return (sales["price"] - sales["list_price"]).describe()


def first_and_last_sale(pd: Any, t: Tables) -> Any:
    return t["sales"].groupby("customer_id")["day_id"].agg(["min", "max"])


def days_between_sales(pd: Any, t: Tables) -> Any:
    sales = t["sales"].sort_values(["customer_id", "day_id", "ticket"], kind="stable")
    return sales.groupby("customer_id")["day_id"].diff().mean()


def sales_of_promoted(pd: Any, t: Tables) -> Any:
    items = t["items"].query("category == 'Books' and list_price > 50")
    sales = t["sales"][t["sales"]["item_id"].isin(items["item_id"])]
    return sales.groupby("store_id")["price"].sum()


def bought_and_returned(pd: Any, t: Tables) -> Any:
    both = pd.merge(t["sales"], t["returned"], on=["ticket", "item_id"], suffixes=("", "_back"))
    return both.groupby("reason").agg(rows=("price", "size"), back=("amount", "sum"))


def melted_prices(pd: Any, t: Tables) -> Any:
    long = t["items"].melt(id_vars="category", value_vars=["list_price", "manager_id"])
    return long.groupby(["category", "variable"])["value"].mean()


def all_together(pd: Any, t: Tables) -> Any:
    bought = t["sales"][["item_id", "day_id"]].assign(amount=t["sales"]["price"])
    back = t["returned"][["item_id", "day_id"]].assign(amount=-t["returned"]["amount"])
    return pd.concat([bought, back]).groupby("item_id")["amount"].sum()


def spread_of_prices(pd: Any, t: Tables) -> Any:
    by_item = t["sales"].groupby("item_id")["price"]
    return (by_item.std() / by_item.mean()).dropna().head(100)
