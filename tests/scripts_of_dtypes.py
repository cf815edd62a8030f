# SPDX-License-Identifier: Apache-2.0
"""Programs with lists, zones, nullable numbers, objects and decimals."""

import datetime
import decimal


def explode_genres(pd):
    films = pd.DataFrame(
        {
            "title": ["Heat", "Alien", "Cats"],
            "genres": ["Crime|Drama", "Horror|SciFi|Drama", "Musical"],
            "score": [8.2, 8.5, 2.8],
        }
    )
    films["genre"] = films["genres"].str.split("|")
    films["n"] = films["genre"].str.len()
    films["first"] = films["genre"].str[0].astype("str")
    long = films.explode("genre")
    per_genre = long.groupby("genre")["score"].mean().sort_values(ascending=False)
    titles = long.groupby("genre")["title"].agg(list)
    joined = long.groupby("genre")["title"].apply(lambda x: ", ".join(x))
    back = long.groupby("title", sort=False)["genre"].agg("|".join)
    words = films["title"].str.lower().str.findall("[aeiou]").str.len()
    return films.drop(columns="genre"), long, per_genre, titles.str.len(), joined, back, words


def word_counts(pd):
    text = pd.Series(["the quick brown fox", "the lazy dog", None, "Quick quick dog"])
    words = text.str.lower().str.split().explode().dropna()
    counts = words.value_counts()
    frequent = counts[counts > 1].index.tolist()
    per_line = text.str.split().str.len()
    longest = (
        words.loc[words.str.len().idxmax()]
        if words.index.is_unique
        else words[words.str.len() == words.str.len().max()].iloc[0]
    )
    table = (
        words.to_frame("word")
        .reset_index(names="line")
        .groupby(["line", "word"])
        .size()
        .unstack(fill_value=0)
    )
    has_fox = text.str.contains("fox", na=False)
    first = text.str.split(n=1, expand=True)
    return counts.sort_index(), sorted(frequent), per_line, longest, table, has_fox, first


def zoned_log(pd):
    log = pd.DataFrame(
        {
            "at": [
                "2024-03-30 23:30",
                "2024-03-31 00:30",
                "2024-03-31 01:30",
                "2024-10-27 00:30",
                "2024-10-27 01:30",
            ],
            "ms": [120, 80, 95, 300, 50],
        }
    )
    log["at"] = pd.to_datetime(log["at"]).dt.tz_localize("UTC")
    log["local"] = log["at"].dt.tz_convert("Europe/Oslo")
    log["hour"] = log["local"].dt.hour
    log["day"] = log["local"].dt.floor("D")
    log["offset"] = log["local"].dt.tz_localize(None) - log["at"].dt.tz_localize(None)
    daily = log.set_index("local")["ms"].resample("D").sum()
    daily = daily[daily > 0]
    recent = log[log["at"] > pd.Timestamp("2024-06-01", tz="UTC")]
    by_day = log.groupby("day")["ms"].max()
    return (
        log,
        daily.tolist(),
        recent,
        by_day,
        log["local"].dt.strftime("%Y-%m-%d %H:%M %z").tolist(),
    )


def nullable_numbers(pd):
    df = pd.DataFrame(
        {
            "store": ["a", "b", "a", "c", "b"],
            "visits": [10, None, 30, None, 5],
            "open": [True, None, False, True, None],
        }
    )
    df["visits"] = df["visits"].astype("Int64")
    df["open"] = df["open"].astype("boolean")
    df["double"] = df["visits"] * 2
    df["busy"] = df["visits"] > 8
    both = df["busy"] & df["open"]
    totals = df.groupby("store")["visits"].sum()
    filled = df["visits"].fillna(0)
    mean = df["visits"].mean()
    df["share"] = df["visits"] / df["visits"].sum()
    return (
        df,
        both,
        totals,
        filled,
        mean,
        df.dtypes.astype(str).tolist(),
        df[df["open"].fillna(False)],
    )


def mixed_objects(pd):
    df = pd.DataFrame({"key": ["a", "b", "c", "d"], "value": [1, "two", None, 3.5]})
    df["type"] = df["value"].apply(lambda v: type(v).__name__)
    df["number"] = pd.to_numeric(df["value"], errors="coerce")
    df["text"] = df["value"].fillna("none").astype(str)
    df["is_text"] = df["value"].map(lambda v: isinstance(v, str))
    counts = df["type"].value_counts().sort_index()
    flagged = df[df["value"] == "two"]
    objects = pd.Series([1, "x", None], dtype=object)
    df["date"] = pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-02", "2024-01-03"])
    df["day"] = df["date"].dt.date
    per_day = df.groupby("day")["key"].count()
    late = df[df["day"] > datetime.date(2024, 1, 1)]
    return df, counts, flagged, objects.isna(), per_day, late


def decimals(pd):
    df = pd.DataFrame(
        {"account": ["x", "y", "x", "y"], "amount": ["10.10", "0.20", "-3.05", "7.00"]}
    )
    df["amount"] = df["amount"].map(decimal.Decimal)
    total = df["amount"].sum()
    per_account = df.groupby("account")["amount"].sum()
    df["fee"] = df["amount"].apply(
        lambda a: (a * decimal.Decimal("0.015")).quantize(decimal.Decimal("0.01"))
    )
    df["net"] = df["amount"] - df["fee"]
    big = df[df["amount"] > decimal.Decimal("5")]
    ordered = df.sort_values("amount")
    as_float = df["net"].astype(float)
    return df, str(total), per_account, big, ordered, as_float
