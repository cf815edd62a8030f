# SPDX-License-Identifier: Apache-2.0
"""Questions about the trips of taxis, their zones, and the weather."""

from collections.abc import Mapping
from typing import Any

Tables = Mapping[str, Any]


def _timed(t: Tables) -> Any:
    trips = t["trips"]
    minutes = (trips["end"] - trips["start"]).dt.total_seconds() / 60
    return trips.assign(minutes=minutes)


def _from_borough(pd: Any, t: Tables) -> Any:
    return pd.merge(t["trips"], t["zones"], left_on="from_id", right_on="zone_id")


def payments(pd: Any, t: Tables) -> Any:
    return t["trips"].groupby("payment").size()


def fares_by_passengers(pd: Any, t: Tables) -> Any:
    return t["trips"].groupby("passengers")["fare"].mean()


def passengers_by_month(pd: Any, t: Tables) -> Any:
    trips = t["trips"].assign(month=t["trips"]["start"].dt.month)
    return trips.groupby(["passengers", "month"]).size()


def passengers_and_miles(pd: Any, t: Tables) -> Any:
    trips = t["trips"].assign(whole=t["trips"]["miles"].round())
    counts = trips.groupby(["passengers", "whole"]).size().reset_index(name="trips")
    return counts.sort_values(["trips", "passengers", "whole"], ascending=[False, True, True])


def revenue(pd: Any, t: Tables) -> Any:
    return t["trips"][["fare", "tip", "tolls"]].sum()


def daily_revenue(pd: Any, t: Tables) -> Any:
    trips = t["trips"]
    total = trips["fare"] + trips["tip"] + trips["tolls"]
    return total.groupby(trips["start"].dt.floor("D")).sum()


def weekly_mean(pd: Any, t: Tables) -> Any:
    daily = t["trips"].set_index("start")["fare"].resample("D").sum()
    return daily.rolling(7).mean().dropna()


def rush_hours(pd: Any, t: Tables) -> Any:
    return t["trips"]["start"].dt.hour.value_counts().sort_index()


def speeds(pd: Any, t: Tables) -> Any:
    trips = _timed(t)
    return (trips["miles"] / trips["minutes"] * 60).describe()


def speeds_by_hour(pd: Any, t: Tables) -> Any:
    trips = _timed(t)
    trips = trips.assign(speed=trips["miles"] / trips["minutes"] * 60)
    return trips.groupby(trips["start"].dt.hour)["speed"].median()


def long_trips(pd: Any, t: Tables) -> Any:
    trips = _timed(t)
    return trips[(trips["miles"] > 15) & (trips["minutes"] < 70)].sort_values("start").head(50)


def tips(pd: Any, t: Tables) -> Any:
    trips = t["trips"][t["trips"]["fare"] > 0]
    return (trips["tip"] / trips["fare"]).quantile([0.1, 0.5, 0.9])


def tips_by_payment(pd: Any, t: Tables) -> Any:
    return t["trips"].groupby("payment")["tip"].agg(["mean", "max", lambda x: x.max() - x.min()])


def boroughs(pd: Any, t: Tables) -> Any:
    return _from_borough(pd, t).groupby("borough")["fare"].agg(["count", "sum", "mean"])


def between_boroughs(pd: Any, t: Tables) -> Any:
    trips = _from_borough(pd, t)
    trips = pd.merge(trips, t["zones"], left_on="to_id", right_on="zone_id", suffixes=("", "_to"))
    return pd.crosstab(trips["borough"], trips["borough_to"])


def from_airports(pd: Any, t: Tables) -> Any:
    airports = t["zones"].query("borough == 'Airport'")["zone_id"]
    return t["trips"][t["trips"]["from_id"].isin(airports)]["fare"].mean()


def zones_without_trips(pd: Any, t: Tables) -> Any:
    zones = t["zones"]
    return zones[~zones["zone_id"].isin(t["trips"]["to_id"])]


def busiest_zones(pd: Any, t: Tables) -> Any:
    counts = t["trips"]["from_id"].value_counts().rename("trips").reset_index()
    named = pd.merge(counts, t["zones"], left_on="from_id", right_on="zone_id")
    return named.sort_values(["trips", "zone_id"], ascending=[False, True]).head(10)


def favourite_targets(pd: Any, t: Tables) -> Any:
    pairs = t["trips"].groupby(["from_id", "to_id"]).size().reset_index(name="trips")
    pairs = pairs.sort_values(["from_id", "trips", "to_id"], ascending=[True, False, True])
    return pairs.groupby("from_id").head(3)


def round_trips(pd: Any, t: Tables) -> Any:
    trips = t["trips"]
    return trips[trips["from_id"] == trips["to_id"]].groupby("vendor")["miles"].mean()


def vendors(pd: Any, t: Tables) -> Any:
    return (
        t["trips"]
        .groupby("vendor")
        .agg(
            trips=("fare", "size"),
            fare=("fare", "mean"),
            miles=("miles", "std"),
            tip=("tip", "max"),
        )
    )


def vendor_shares(pd: Any, t: Tables) -> Any:
    trips = t["trips"]
    daily = trips.groupby([trips["start"].dt.floor("D"), "vendor"]).size().unstack()
    return daily.div(daily.sum(axis=1), axis=0)


def rain(pd: Any, t: Tables) -> Any:
    trips = t["trips"].assign(time=t["trips"]["start"].dt.floor("h"))
    trips = pd.merge(trips, t["weather"], on="time", how="left")
    return trips.groupby(trips["rain"] > 0)["fare"].agg(["mean", "count"])


def weather_at_start(pd: Any, t: Tables) -> Any:
    trips = t["trips"].sort_values("start", kind="stable")
    joined = pd.merge_asof(trips, t["weather"], left_on="start", right_on="time")
    return joined["degrees"].mean()


def cold_hours(pd: Any, t: Tables) -> Any:
    weather = t["weather"]
    return weather[weather["degrees"] < 0]["time"].dt.date.nunique()


def warmest_days(pd: Any, t: Tables) -> Any:
    return t["weather"].set_index("time")["degrees"].resample("D").max().nlargest(5)


def rain_so_far(pd: Any, t: Tables) -> Any:
    return t["weather"].assign(total=t["weather"]["rain"].cumsum())


def weather_filled(pd: Any, t: Tables) -> Any:
    return t["weather"]["degrees"].interpolate().round(1)


def dry_spells(pd: Any, t: Tables) -> Any:
    rains = t["weather"]["rain"] > 0
    return rains.groupby(rains.cumsum()).size().max()


def no_passengers(pd: Any, t: Tables) -> Any:
    trips = t["trips"]
    return trips["passengers"].isna().sum(), (trips["passengers"] == 0).sum()


def filled_passengers(pd: Any, t: Tables) -> Any:
    return t["trips"]["passengers"].fillna(1).astype("int64").value_counts()


def distance_bands(pd: Any, t: Tables) -> Any:
    trips = t["trips"]
    band = pd.cut(trips["miles"], [0, 1, 2, 5, 10, 50], include_lowest=True)
    return trips.groupby(band, observed=False)["fare"].mean()


def fares_per_mile(pd: Any, t: Tables) -> Any:
    trips = t["trips"].query("miles > 0.5")
    return (trips["fare"] / trips["miles"]).round(2).mode()


def fares_and_miles(pd: Any, t: Tables) -> Any:
    return t["trips"][["fare", "miles", "tip", "tolls"]].corr()


def unusual_fares(pd: Any, t: Tables) -> Any:
    trips = t["trips"]
    mean = trips.groupby("from_id")["fare"].transform("mean")
    return trips[trips["fare"] > 4 * mean].shape[0]


def repeated_trips(pd: Any, t: Tables) -> Any:
    return int(t["trips"].duplicated(["start", "from_id", "to_id"]).sum())


def weekends(pd: Any, t: Tables) -> Any:
    trips = t["trips"]
    return trips.groupby(trips["start"].dt.dayofweek >= 5)["tip"].mean()


def wait_between_trips(pd: Any, t: Tables) -> Any:
    trips = t["trips"].sort_values("start", kind="stable")
    wait = trips.groupby("from_id")["start"].diff()
    return wait.dt.total_seconds().groupby(trips["from_id"]).median().head(100)


def renamed(pd: Any, t: Tables) -> Any:
    trips = t["trips"].rename(columns={"miles": "distance", "fare": "price"})
    return trips[["distance", "price"]].drop_duplicates().head(1_000)


def best_day_of_each_vendor(pd: Any, t: Tables) -> Any:
    trips = t["trips"].assign(day=t["trips"]["start"].dt.floor("D"))
    daily = trips.groupby(["vendor", "day"], as_index=False)["fare"].sum()
    return daily.loc[daily.groupby("vendor")["fare"].idxmax()]
