# SPDX-License-Identifier: Apache-2.0
"""Questions about the visits of a site: one wide table of a million rows."""

from collections.abc import Mapping
from typing import Any

Tables = Mapping[str, Any]


def all_rows(pd: Any, t: Tables) -> Any:
    return len(t["hits"])


def from_engines(pd: Any, t: Tables) -> Any:
    return (t["hits"]["adv_engine"] != 0).sum()


def three_numbers(pd: Any, t: Tables) -> Any:
    hits = t["hits"]
    return hits["adv_engine"].sum(), hits.shape[0], hits["width"].mean()


def mean_user(pd: Any, t: Tables) -> Any:
    return t["hits"]["user_id"].mean()


def users(pd: Any, t: Tables) -> Any:
    return t["hits"]["user_id"].nunique()


def phrases(pd: Any, t: Tables) -> Any:
    return t["hits"]["phrase"].nunique()


def ends_of_time(pd: Any, t: Tables) -> Any:
    return t["hits"]["time"].min(), t["hits"]["time"].max()


def engines(pd: Any, t: Tables) -> Any:
    hits = t["hits"]
    counts = hits[hits["adv_engine"] != 0].groupby("adv_engine").size()
    return counts.sort_values(ascending=False, kind="stable")


def users_by_region(pd: Any, t: Tables) -> Any:
    return t["hits"].groupby("region_id")["user_id"].nunique().nlargest(10)


def regions(pd: Any, t: Tables) -> Any:
    return t["hits"].groupby("region_id").agg(
        ads=("adv_engine", "sum"), rows=("width", "size"), width=("width", "mean"),
        users=("user_id", "nunique"),
    )  # fmt: skip


def phones(pd: Any, t: Tables) -> Any:
    hits = t["hits"]
    return hits[hits["phone"] != ""].groupby("phone")["user_id"].nunique()


def common_phrases(pd: Any, t: Tables) -> Any:
    hits = t["hits"]
    return hits[hits["phrase"] != ""]["phrase"].value_counts().head(10)


def users_of_phrases(pd: Any, t: Tables) -> Any:
    hits = t["hits"]
    return hits[hits["phrase"] != ""].groupby("phrase")["user_id"].nunique()


def phrases_of_engines(pd: Any, t: Tables) -> Any:
    hits = t["hits"]
    found = hits[hits["phrase"] != ""].groupby(["adv_engine", "phrase"]).size()
    return found.reset_index(name="rows").nlargest(10, "rows")


def busiest_users(pd: Any, t: Tables) -> Any:
    return t["hits"]["user_id"].value_counts().head(10).sort_index()


def users_and_phrases(pd: Any, t: Tables) -> Any:
    counts = t["hits"].groupby(["user_id", "phrase"], as_index=False).size()
    return counts.sort_values(["size", "user_id"], ascending=[False, True]).head(10)


def users_by_minute(pd: Any, t: Tables) -> Any:
    hits = t["hits"].assign(minute=t["hits"]["time"].dt.minute)
    counts = hits.groupby(["user_id", "minute"]).size().reset_index(name="rows")
    return counts.sort_values(["rows", "user_id", "minute"], ascending=[False, True, True]).head(10)


def one_user(pd: Any, t: Tables) -> Any:
    hits = t["hits"]
    return hits.loc[hits["user_id"] == 435_090_932_899_640_449, "user_id"]


def urls_with_google(pd: Any, t: Tables) -> Any:
    return int(t["hits"]["url"].str.contains("google", regex=False).sum())


def phrases_at_google(pd: Any, t: Tables) -> Any:
    hits = t["hits"]
    hits = hits[hits["url"].str.contains("google") & (hits["phrase"] != "")]
    return hits.groupby("phrase").agg(url=("url", "min"), rows=("url", "size"))


def latest_at_google(pd: Any, t: Tables) -> Any:
    hits = t["hits"]
    hits = hits[hits["url"].str.startswith("http://google")]
    return hits.sort_values("time", kind="stable").head(10)[["time", "url", "duration"]]


def first_phrases(pd: Any, t: Tables) -> Any:
    hits = t["hits"]
    return hits[hits["phrase"] != ""].sort_values("time", kind="stable")["phrase"].head(10)


def phrases_in_order(pd: Any, t: Tables) -> Any:
    hits = t["hits"]
    return hits[hits["phrase"] != ""].sort_values(["phrase", "time"], kind="stable").head(10)


def lengths_of_urls(pd: Any, t: Tables) -> Any:
    hits = t["hits"]
    hits = hits.assign(length=hits["url"].str.len())
    means = hits.groupby("counter_id").agg(length=("length", "mean"), rows=("url", "size"))
    return means[means["rows"] > 1_000].sort_index()


def hosts(pd: Any, t: Tables) -> Any:
    host = t["hits"]["url"].str.extract(r"^https?://([^/]+)/", expand=False)
    return host.value_counts()


def sums_of_widths(pd: Any, t: Tables) -> Any:
    width = t["hits"]["width"].astype("int64")
    return sum(int((width + n).sum()) for n in range(12))


def refreshes(pd: Any, t: Tables) -> Any:
    hits = t["hits"]
    hits = hits[hits["phrase"] != ""]
    return hits.groupby(["adv_engine", "region_id"]).agg(
        rows=("user_id", "size"), refreshes=("is_refresh", "sum"), width=("width", "mean")
    )


def urls(pd: Any, t: Tables) -> Any:
    return t["hits"].groupby("url").size().nlargest(10).sort_index()


def urls_and_ones(pd: Any, t: Tables) -> Any:
    hits = t["hits"].assign(one=1)
    return hits.groupby(["one", "url"]).size().max()


def pages_of_a_counter(pd: Any, t: Tables) -> Any:
    hits = t["hits"].query(
        "counter_id == 62 and time >= '2024-07-05' and time < '2024-07-20' and not is_refresh"
    )
    return hits.groupby("url").size().sort_index().head(20)


def by_day(pd: Any, t: Tables) -> Any:
    return t["hits"].groupby(t["hits"]["time"].dt.date)["user_id"].count()


def by_hour(pd: Any, t: Tables) -> Any:
    hits = t["hits"]
    return hits.groupby(hits["time"].dt.floor("h")).agg(
        rows=("user_id", "size"), seconds=("duration", "mean")
    )


def mean_over_a_day(pd: Any, t: Tables) -> Any:
    hourly = t["hits"].set_index("time")["duration"].resample("h").mean()
    return hourly.rolling(24, min_periods=1).mean()


def widths(pd: Any, t: Tables) -> Any:
    hits = t["hits"]
    return hits.pivot_table(index="width", columns="is_refresh", values="duration", aggfunc="mean")


def sessions(pd: Any, t: Tables) -> Any:
    hits = t["hits"].sort_values(["user_id", "time"], kind="stable")
    gap = hits.groupby("user_id")["time"].diff()
    starts = gap.isna() | (gap > pd.Timedelta("30min"))
    return int(starts.sum())


def second_visits(pd: Any, t: Tables) -> Any:
    visits = t["hits"][["user_id", "time"]].assign(n=t["hits"].groupby("user_id").cumcount())
    return visits[visits["n"] == 1]["time"].min()


def longest_of_each_region(pd: Any, t: Tables) -> Any:
    hits = t["hits"]
    return hits[hits["duration"] == hits.groupby("region_id")["duration"].transform("max")]


def steps_to_cart(pd: Any, t: Tables) -> Any:
    path = t["hits"]["url"].str.rsplit("/", n=1).str[-1]
    return path.str.replace(r"\d+", "", regex=True).value_counts()


def outliers(pd: Any, t: Tables) -> Any:
    duration = t["hits"]["duration"]
    return duration[(duration - duration.mean()).abs() > 1.7 * duration.std()].count()


def returning_users(pd: Any, t: Tables) -> Any:
    hits = t["hits"].assign(day=t["hits"]["time"].dt.day)
    days = hits[["user_id", "day"]].drop_duplicates()
    return days.groupby("user_id").size().value_counts().sort_index()
