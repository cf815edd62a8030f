# SPDX-License-Identifier: Apache-2.0
"""What people ask of the orders of a shop."""

import io

import numpy as np

ORDERS = """order_id,customer,sku,quantity,unit_price,ordered_at,status
1001,ann,A-100,2,9.50,2024-01-03 09:12:00,shipped
1002,bob,B-200,1,120.00,2024-01-03 17:40:10,shipped
1003,ann,C-300,5,2.25,2024-01-19 08:01:30,returned
1004,cid,A-100,1,9.50,2024-02-02 12:00:00,shipped
1005,dee,B-200,2,115.00,2024-02-11 20:15:45,shipped
1006,bob,C-300,10,2.00,2024-02-29 23:59:59,shipped
1007,eve,A-100,3,9.25,2024-03-08 06:30:00,cancelled
1008,ann,B-200,1,118.00,2024-03-08 19:20:00,shipped
1009,cid,C-300,4,2.25,2024-03-21 10:10:10,shipped
1010,dee,A-100,1,9.75,2024-04-01 11:11:11,returned
1011,fay,D-400,1,,2024-04-02 14:45:00,shipped
1012,ann,A-100,2,9.75,2024-04-15 16:00:00,shipped
"""


def orders(pd):
    return pd.read_csv(io.StringIO(ORDERS), parse_dates=["ordered_at"])


def monthly_revenue(pd):
    df = orders(pd)
    df = df[df["status"] == "shipped"].copy()
    df["revenue"] = df["quantity"] * df["unit_price"]
    df["month"] = df["ordered_at"].dt.strftime("%Y-%m")
    monthly = df.groupby("month").agg(
        revenue=("revenue", "sum"),
        orders=("order_id", "count"),
        customers=("customer", "nunique"),
    )
    monthly["growth"] = monthly["revenue"].pct_change()
    monthly["running"] = monthly["revenue"].cumsum()
    monthly["share"] = (monthly["revenue"] / monthly["revenue"].sum()).round(3)
    best = monthly["revenue"].idxmax()
    return monthly, best, monthly.loc[best, "customers"]


def sessions(pd):
    clicks = pd.DataFrame(
        {
            "user": ["u1", "u1", "u2", "u1", "u2", "u3", "u1", "u2"],
            "at": pd.to_datetime(
                [
                    "2024-05-01 10:00",
                    "2024-05-01 10:10",
                    "2024-05-01 10:05",
                    "2024-05-01 11:30",
                    "2024-05-01 10:20",
                    "2024-05-01 12:00",
                    "2024-05-01 11:35",
                    "2024-05-02 09:00",
                ]
            ),
            "page": ["home", "cart", "home", "home", "pay", "home", "cart", "home"],
        }
    )
    clicks = clicks.sort_values(["user", "at"]).reset_index(drop=True)
    gap = clicks.groupby("user")["at"].diff()
    clicks["is_new"] = gap.isna() | (gap > pd.Timedelta(minutes=30))
    clicks["session"] = clicks.groupby("user")["is_new"].cumsum()
    summary = clicks.groupby(["user", "session"]).agg(
        start=("at", "min"), end=("at", "max"), pages=("page", "size"), last=("page", "last")
    )
    summary["minutes"] = (summary["end"] - summary["start"]).dt.total_seconds() / 60
    bounced = (summary["pages"] == 1).mean()
    return clicks, summary, bounced, summary.groupby("user")["minutes"].max()


def rfm(pd):
    df = orders(pd)
    df["revenue"] = df["quantity"] * df["unit_price"].fillna(0)
    today = df["ordered_at"].max() + pd.Timedelta(days=1)
    scores = df.groupby("customer").agg(
        recency=("ordered_at", lambda x: (today - x.max()).days),
        frequency=("order_id", "count"),
        monetary=("revenue", "sum"),
    )
    scores["r"] = pd.qcut(scores["recency"], 3, labels=[3, 2, 1]).astype(int)
    scores["f"] = pd.qcut(scores["frequency"].rank(method="first"), 3, labels=[1, 2, 3]).astype(int)
    scores["m"] = pd.qcut(scores["monetary"], 3, labels=[1, 2, 3]).astype(int)
    scores["rfm"] = scores["r"].astype(str) + scores["f"].astype(str) + scores["m"].astype(str)
    scores["segment"] = np.where(scores["r"] + scores["f"] + scores["m"] >= 7, "gold", "plain")
    return scores.sort_values("monetary", ascending=False), scores["segment"].value_counts()


def cohorts(pd):
    df = orders(pd)
    df["month"] = df["ordered_at"].dt.year * 12 + df["ordered_at"].dt.month
    df["cohort"] = df.groupby("customer")["month"].transform("min")
    df["age"] = df["month"] - df["cohort"]
    sizes = df.groupby(["cohort", "age"])["customer"].nunique().reset_index(name="customers")
    table = sizes.pivot(index="cohort", columns="age", values="customers")
    retention = table.divide(table[0], axis=0).round(2)
    retention.columns = [f"m{c}" for c in retention.columns]
    return table, retention, retention.mean(), retention.fillna(0)


def top_n_per_group(pd):
    df = orders(pd)
    df["total"] = df["quantity"] * df["unit_price"]
    top = df.sort_values("total", ascending=False).groupby("sku").head(2)
    best = df.loc[df.groupby("sku")["quantity"].idxmax(), ["sku", "customer", "quantity"]]
    df["rank"] = df.groupby("sku")["total"].rank(method="dense", ascending=False)
    winners = df[df["rank"] <= 2].sort_values(["sku", "rank"])[["sku", "rank", "customer", "total"]]
    largest = df.groupby("sku")["quantity"].nlargest(2)
    return top[["sku", "total"]], best, winners, largest


def pivot_report(pd):
    df = orders(pd).dropna(subset=["unit_price"])
    df["revenue"] = df.quantity * df.unit_price
    report = df.pivot_table(
        index="customer",
        columns="status",
        values="revenue",
        aggfunc="sum",
        fill_value=0,
        margins=True,
        margins_name="Total",
    )
    share = report.div(report["Total"], axis=0).mul(100).round(1)
    counts = pd.crosstab(df["customer"], df["sku"])
    normalized = pd.crosstab(df["status"], df["sku"], normalize="index")
    by_two = df.pivot_table(
        index="sku", values=["quantity", "revenue"], aggfunc={"quantity": "sum", "revenue": "mean"}
    )
    return report, share, counts, normalized, by_two


def funnel(pd):
    events = pd.DataFrame(
        {
            "user": [1, 1, 1, 2, 2, 3, 4, 4, 4, 4, 5],
            "event": [
                "visit",
                "cart",
                "buy",
                "visit",
                "cart",
                "visit",
                "visit",
                "cart",
                "cart",
                "buy",
                "visit",
            ],
            "device": ["web", "web", "web", "app", "app", "web", "app", "app", "app", "app", "web"],
        }
    )
    steps = ["visit", "cart", "buy"]
    events["event"] = pd.Categorical(events["event"], categories=steps, ordered=True)
    reached = events.groupby("user")["event"].max()
    counts = events.drop_duplicates(["user", "event"])["event"].value_counts().reindex(steps)
    rates = counts / counts.iloc[0]
    step_rate = counts / counts.shift(1)
    table = (
        events.drop_duplicates(["user", "event"])
        .groupby(["device", "event"], observed=False)
        .size()
        .unstack()
    )
    table["conversion"] = table["buy"] / table["visit"]
    return reached, counts, rates, step_rate, table


def ab_test(pd):
    rng = np.random.default_rng(7)
    visitors = pd.DataFrame(
        {
            "variant": np.where(rng.random(60) < 0.5, "control", "treatment"),
            "converted": rng.random(60) < 0.3,
            "spent": rng.gamma(2.0, 10.0, 60).round(2),
        }
    )
    visitors.loc[~visitors["converted"], "spent"] = 0
    stats = visitors.groupby("variant").agg(
        n=("converted", "size"),
        conversions=("converted", "sum"),
        rate=("converted", "mean"),
        mean=("spent", "mean"),
        std=("spent", "std"),
    )
    p = stats["conversions"].sum() / stats["n"].sum()
    se = np.sqrt(p * (1 - p) * (1 / stats["n"]).sum())
    z = (stats.loc["treatment", "rate"] - stats.loc["control", "rate"]) / se
    stats["se"] = stats["std"] / np.sqrt(stats["n"])
    stats["low"] = stats["mean"] - 1.96 * stats["se"]
    stats["high"] = stats["mean"] + 1.96 * stats["se"]
    return stats, float(z), stats[["low", "high"]].T


def basket(pd):
    lines = pd.DataFrame(
        {
            "order": [1, 1, 2, 2, 2, 3, 4, 4],
            "item": ["milk", "bread", "milk", "eggs", "bread", "eggs", "milk", "eggs"],
        }
    )
    pairs = lines.merge(lines, on="order", suffixes=("_a", "_b"))
    pairs = pairs[pairs["item_a"] < pairs["item_b"]]
    counts = pairs.groupby(["item_a", "item_b"]).size().sort_values(ascending=False)
    n = lines["order"].nunique()
    support = lines.groupby("item")["order"].nunique() / n
    rules = counts.rename("both").reset_index()
    rules["support"] = rules["both"] / n
    rules["confidence"] = rules["support"] / rules["item_a"].map(support)
    rules["lift"] = rules["confidence"] / rules["item_b"].map(support)
    one_hot = pd.get_dummies(lines["item"], dtype=int).groupby(lines["order"]).max()
    return (
        counts,
        support,
        rules.sort_values(["lift", "item_a", "item_b"], ascending=[False, True, True]),
        one_hot,
        one_hot.T.dot(one_hot),
    )


def inventory(pd):
    moves = pd.DataFrame(
        {
            "day": pd.date_range("2024-06-01", periods=8, freq="D").repeat(1),
            "sku": ["a", "b", "a", "a", "b", "a", "b", "b"],
            "delta": [10, 5, -3, -4, -5, 20, 8, -2],
        }
    )
    moves["stock"] = moves.groupby("sku")["delta"].cumsum()
    daily = moves.pivot(index="day", columns="sku", values="stock").ffill().fillna(0).astype(int)
    low = daily[daily.lt(5).any(axis=1)]
    moves["kind"] = moves["delta"].apply(lambda d: "in" if d > 0 else "out")
    totals = moves.groupby(["sku", "kind"])["delta"].sum().unstack(fill_value=0)
    totals["net"] = totals.sum(axis=1)
    days_out = (daily == 0).sum()
    return moves, daily, low, totals, days_out
