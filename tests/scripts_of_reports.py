# SPDX-License-Identifier: Apache-2.0
"""Reports: pivot tables, labels of several levels, periods and bins of time."""

import numpy as np


def sales_by_fruit_and_year(pd):
    sales = pd.DataFrame(
        {
            "region": ["n", "s", "n", "s"],
            "year": [2023, 2023, 2024, 2024],
            "apples": [1, 2, 3, 4],
            "pears": [5, 6, np.nan, 8],
        }
    )
    long = sales.melt(["region", "year"], var_name="fruit", value_name="tons")
    wide = long.pivot_table(index="region", columns=["fruit", "year"], values="tons", aggfunc="sum")
    flat = wide.copy()
    flat.columns = [f"{fruit}_{year}" for fruit, year in flat.columns]
    change = wide["apples"].pct_change(axis=1)
    by_year = wide.swaplevel(axis=1).sort_index(axis=1)
    total = long.groupby(["region", "fruit"], as_index=False)["tons"].sum()
    total["share"] = total["tons"] / total.groupby("region")["tons"].transform("sum")
    shown = total.assign(share=(total["share"] * 100).round(1).astype(str) + " %")
    return flat, change, by_year, wide.stack("fruit", future_stack=True), shown


def league_table(pd):
    games = pd.DataFrame(
        [("A", "B", 2, 1), ("B", "C", 0, 0), ("C", "A", 1, 3), ("B", "A", 2, 2), ("C", "B", 0, 4)],
        columns=["home", "away", "home_goals", "away_goals"],
    )
    names = ["team", "other", "goals", "against"]
    home = games.set_axis(names, axis=1)
    away = games[["away", "home", "away_goals", "home_goals"]].set_axis(names, axis=1)
    both = pd.concat([home, away], keys=["home", "away"], names=["where", "game"])
    won, drawn = both["goals"] > both["against"], both["goals"] == both["against"]
    both["points"] = np.select([won, drawn], [3, 1], 0)
    table = both.groupby("team").agg(
        played=("points", "size"), points=("points", "sum"), goals=("goals", "sum"),
        against=("against", "sum"),
    )  # fmt: skip
    table["difference"] = table["goals"] - table["against"]
    table = table.sort_values(["points", "difference", "goals"], ascending=False)
    table.insert(0, "rank", table["points"].rank(method="min", ascending=False).astype(int))
    table.loc["all"] = table.sum(numeric_only=True)
    best = both.groupby("team")["points"].idxmax()
    matrix = both.reset_index().pivot_table(
        index="team", columns="other", values="points", aggfunc="max"
    )
    return table, both.xs("home")["points"].mean(), list(best), matrix


def stock_after_moves(pd):
    stock = pd.DataFrame(
        {"sku": ["x", "y", "z"], "quantity": [5, 0, 2], "price": [1.0, 2.5, 10.0]}
    ).set_index("sku")
    moves = pd.DataFrame({"sku": ["x", "x", "w", "z"], "change": [-3, 1, 4, -2]})
    change = moves.groupby("sku")["change"].sum()
    now = stock["quantity"].add(change, fill_value=0).astype(int)
    both = stock.join(change, how="outer").fillna({"change": 0, "quantity": 0})
    added = stock.combine_first(pd.DataFrame({"price": [3.0], "quantity": [4]}, index=["w"]))
    stock.update(pd.DataFrame({"price": [9.5]}, index=["z"]))
    compared = stock.compare(stock.assign(quantity=[5, 1, 2]))
    value = stock.reindex(["z", "x", "q"]).assign(value=lambda d: d["quantity"] * d["price"])
    return now, both, added, stock, compared, value, stock.mask(stock < 2).where(stock < 9, -1)


def cohorts_of_customers(pd):
    orders = pd.DataFrame(
        {
            "customer": [1, 1, 2, 2, 3, 3, 3, 4],
            "day": pd.to_datetime(
                [
                    *("2024-01-05", "2024-02-10", "2024-01-20", "2024-03-02"),
                    *("2024-02-01", "2024-03-15", "2024-04-01", "2024-02-28"),
                ]
            ),
            "value": [10, 20, 5, 7.5, 1, 2, 3, 9],
        }
    )
    orders["month"] = orders["day"].dt.to_period("M")
    orders["first"] = orders.groupby("customer")["month"].transform("min")
    years = orders["month"].dt.year - orders["first"].dt.year
    orders["age"] = years * 12 + orders["month"].dt.month - orders["first"].dt.month
    counts = orders.groupby(["first", "age"])["customer"].nunique().unstack()
    kept = counts.div(counts[0], axis=0).round(3)
    money = orders.pivot_table(index="first", columns="age", values="value", aggfunc="sum")
    last = orders.groupby("customer")["day"].max()
    days = (pd.Timestamp("2024-05-01") - last).dt.days
    groups = pd.qcut(days, 2, labels=["recent", "old"])
    return orders, kept, kept.to_timestamp(), money.cumsum(axis=1), days, groups


def energy_by_tariff(pd):
    hours = pd.date_range("2024-10-26 22:00", periods=30, freq="h", tz="UTC")
    use = pd.DataFrame({"kwh": np.arange(30) % 5 + 0.25}, index=hours.tz_convert("Europe/Berlin"))
    use["tariff"] = np.where((use.index.hour >= 22) | (use.index.hour < 6), "night", "day")
    by_day = use["kwh"].resample("D").agg(["sum", "count"])
    by_tariff = use.groupby("tariff")["kwh"].agg(["sum", "size"])
    so_far = use["kwh"].groupby(pd.Grouper(freq="D")).cumsum()
    above = use["kwh"] - use.groupby(pd.Grouper(freq="D"))["kwh"].transform("mean")
    on_clocks = use.tz_localize(None).head(6)
    shown = use.rename_axis("when").reset_index().head(3)
    return by_day, by_tariff, so_far, above, on_clocks, shown, use["kwh"].idxmax()


def hours_worked(pd):
    shifts = pd.DataFrame(
        {
            "who": ["a", "a", "b", "b", "a"],
            "day": pd.to_datetime(["2024-05-06"] * 3 + ["2024-05-07", "2024-05-08"]),
            "start": ["08:00", "13:00", "09:15", "22:00", "08:30"],
            "end": ["12:00", "17:30", "11:45", "06:00", "12:10"],
        }
    )
    start = shifts["day"] + pd.to_timedelta(shifts["start"] + ":00")
    end = shifts["day"] + pd.to_timedelta(shifts["end"] + ":00")
    end = end.where(end > start, end + pd.Timedelta(days=1))
    shifts["span"] = end - start
    shifts["hours"] = shifts["span"] / pd.Timedelta(hours=1)
    by_week = shifts.groupby(["who", pd.Grouper(key="day", freq="W")])["hours"].sum()
    longest = shifts.loc[shifts.groupby("who")["hours"].idxmax(), ["who", "day", "hours"]]
    described = shifts.groupby("who")[["span", "day"]].describe()
    return shifts, by_week, longest, described, shifts["day"].dt.day_name().value_counts()


def marks_by_term(pd):
    marks = pd.DataFrame(
        {
            "pupil": ["ann", "bob", "cy"],
            "maths_1": [1.5, 4.0, np.nan],
            "maths_2": [2.0, 5.0, 3.0],
            "art_1": [1, 2, 3],
            "art_2": [2, 2, 1],
        }
    )
    long = pd.wide_to_long(marks, ["maths", "art"], i="pupil", j="term", sep="_").sort_index()
    mean = long.groupby(level="pupil").mean()
    second = long.loc[(slice(None), 2), :]
    scores = (long - long.mean()) / long.std()
    ranks = long["maths"].groupby(level="term").rank(pct=True)
    best = long.groupby("term")["art"].idxmin()
    return long, mean.idxmin(axis=1), second, scores, ranks, list(best), long.xs("bob")


def orders_of_mixed_keys(pd):
    orders = pd.DataFrame({"code": ["7", "8", "x", None], "is_new": [True, False, True, True]})
    kinds = pd.DataFrame({"code": pd.Categorical(["8", "7", "9"]), "kind": ["a", "b", "c"]})
    flags = pd.DataFrame({"is_new": [1, 0], "label": ["new", "old"]})
    both = orders.merge(kinds, on="code", how="outer", indicator=True)
    named = orders.merge(flags, on="is_new", how="left")
    numbers = orders.assign(code=pd.to_numeric(orders["code"], errors="coerce"))
    some = numbers.merge(pd.DataFrame({"code": pd.Categorical([7, 8]), "n": [1, 2]}), on="code")
    return both, named, some
