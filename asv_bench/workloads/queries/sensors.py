# SPDX-License-Identifier: Apache-2.0
"""Questions about the readings of sensors: times, gaps and windows."""

from collections.abc import Mapping
from typing import Any

Tables = Mapping[str, Any]


def _sited(pd: Any, t: Tables) -> Any:
    return pd.merge(t["readings"], t["sensors"], on="sensor_id")


def hourly_means(pd: Any, t: Tables) -> Any:
    return t["readings"].set_index("time")["value"].resample("h").mean()


def daily_ends(pd: Any, t: Tables) -> Any:
    return t["readings"].set_index("time")["value"].resample("D").agg(["min", "max"])


def missing_values(pd: Any, t: Tables) -> Any:
    return t["readings"].isna().sum()


def filled_forward(pd: Any, t: Tables) -> Any:
    readings = t["readings"].sort_values(["sensor_id", "time"], kind="stable")
    readings["value"] = readings.groupby("sensor_id")["value"].ffill()
    return readings["value"].isna().sum()


def filled_by_mean(pd: Any, t: Tables) -> Any:
    value = t["readings"]["value"]
    return value.fillna(value.mean()).std()


def smoothed(pd: Any, t: Tables) -> Any:
    return t["readings"]["value"].rolling(25, min_periods=5).mean()


def smoothed_by_sensor(pd: Any, t: Tables) -> Any:
    return t["readings"].groupby("sensor_id")["value"].rolling(5, min_periods=1).mean()


def exponential(pd: Any, t: Tables) -> Any:
    return t["readings"]["value"].ewm(alpha=0.05).mean()


def changes(pd: Any, t: Tables) -> Any:
    readings = t["readings"]
    return readings.groupby("sensor_id")["value"].diff().abs().max()


def alarms(pd: Any, t: Tables) -> Any:
    readings = _sited(pd, t)
    return readings[readings["value"] > readings["limit"]][["time", "sensor_id", "value"]]


def alarms_by_site(pd: Any, t: Tables) -> Any:
    readings = _sited(pd, t)
    readings["over"] = readings["value"] > readings["limit"]
    return readings.groupby("site")["over"].agg(["sum", "mean"])


def kinds(pd: Any, t: Tables) -> Any:
    return _sited(pd, t).groupby("kind")["value"].describe()


def status_shares(pd: Any, t: Tables) -> Any:
    return t["readings"]["status"].value_counts(normalize=True)


def status_by_site(pd: Any, t: Tables) -> Any:
    readings = _sited(pd, t)
    return pd.crosstab(readings["site"], readings["status"])


def last_readings(pd: Any, t: Tables) -> Any:
    return t["readings"].groupby("sensor_id").last()


def quiet_sensors(pd: Any, t: Tables) -> Any:
    sensors, readings = t["sensors"], t["readings"]
    errors = readings[readings["status"] == "error"]["sensor_id"]
    return sensors[~sensors["sensor_id"].isin(errors)]


def newest_sensors(pd: Any, t: Tables) -> Any:
    return t["sensors"].sort_values(["installed", "sensor_id"], ascending=[False, True]).head(10)


def installed_by_month(pd: Any, t: Tables) -> Any:
    sensors = t["sensors"]
    return sensors.groupby(sensors["installed"].dt.to_period("M").dt.start_time).size()


def installed_by_year(pd: Any, t: Tables) -> Any:
    return t["sensors"]["installed"].dt.year.value_counts().sort_index()


def before_repairs(pd: Any, t: Tables) -> Any:
    return pd.merge_asof(t["repairs"], t["readings"], on="time", by="sensor_id")


def after_repairs(pd: Any, t: Tables) -> Any:
    found = pd.merge_asof(
        t["repairs"], t["readings"], on="time", by="sensor_id", direction="forward",
        tolerance=pd.Timedelta("2D"),
    )  # fmt: skip
    return found["value"].notna().sum()


def repair_costs(pd: Any, t: Tables) -> Any:
    repairs = pd.merge(t["repairs"], t["sensors"], on="sensor_id")
    return repairs.groupby(["site", "kind"])["cost"].sum().unstack()


def monthly_costs(pd: Any, t: Tables) -> Any:
    return t["repairs"].set_index("time")["cost"].resample("MS").sum()


def costs_so_far(pd: Any, t: Tables) -> Any:
    repairs = t["repairs"]
    return repairs.assign(total=repairs.groupby("sensor_id")["cost"].cumsum())


def dearest_repairs(pd: Any, t: Tables) -> Any:
    return t["repairs"].nlargest(20, "cost")


def repairs_in_march(pd: Any, t: Tables) -> Any:
    repairs = t["repairs"]
    return repairs[(repairs["time"] >= "2023-03-01") & (repairs["time"] < "2023-04-01")]


def weak_batteries(pd: Any, t: Tables) -> Any:
    readings = t["readings"]
    return readings[readings["battery"] < 10].groupby("sensor_id").size()


def battery_bands(pd: Any, t: Tables) -> Any:
    bands = pd.cut(t["readings"]["battery"], [-1, 20, 50, 80, 100], labels=["a", "b", "c", "d"])
    return bands.value_counts().sort_index()


def quartiles(pd: Any, t: Tables) -> Any:
    return t["readings"].groupby("sensor_id")["value"].quantile(0.75)


def standard_scores(pd: Any, t: Tables) -> Any:
    by_sensor = t["readings"].groupby("sensor_id")["value"]
    return (t["readings"]["value"] - by_sensor.transform("mean")) / by_sensor.transform("std")


def far_values(pd: Any, t: Tables) -> Any:
    value = t["readings"]["value"]
    low, high = value.quantile(0.01), value.quantile(0.99)
    return t["readings"][~value.between(low, high)].shape[0]


def clipped(pd: Any, t: Tables) -> Any:
    return t["readings"]["value"].clip(15, 25).mean()


def hours_of_day(pd: Any, t: Tables) -> Any:
    readings = t["readings"]
    return readings.groupby(readings["time"].dt.hour)["value"].agg(["mean", "std", "count"])


def weekdays(pd: Any, t: Tables) -> Any:
    readings = t["readings"]
    return readings.groupby(readings["time"].dt.day_name())["value"].mean()


def sensors_side_by_side(pd: Any, t: Tables) -> Any:
    readings = t["readings"][t["readings"]["sensor_id"] < 5]
    readings = readings.assign(day=readings["time"].dt.floor("D"))
    return readings.pivot_table(index="day", columns="sensor_id", values="value", aggfunc="mean")


def values_and_battery(pd: Any, t: Tables) -> Any:
    return t["readings"]["value"].corr(t["readings"]["battery"].astype("float64"))


def highest_days(pd: Any, t: Tables) -> Any:
    daily = t["readings"].set_index("time")["value"].resample("D").max()
    return daily.sort_values(ascending=False, kind="stable").head(7)


def time_between(pd: Any, t: Tables) -> Any:
    return t["readings"].groupby("sensor_id")["time"].diff().dt.total_seconds().mean()


def relabelled(pd: Any, t: Tables) -> Any:
    named = t["readings"]["status"].map({"ok": "fine", "low": "watch", "error": "act"})
    return named.value_counts()


def worst_sites(pd: Any, t: Tables) -> Any:
    readings = _sited(pd, t)
    errors = readings[readings["status"].ne("ok")].groupby("site").size().rename("errors")
    counts = readings.groupby("site").size().rename("rows")
    both = pd.concat([errors, counts], axis=1)
    return (both["errors"] / both["rows"]).sort_index()
