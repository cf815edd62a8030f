# SPDX-License-Identifier: Apache-2.0
"""What people do with measurements over time."""

import io

import numpy as np

READINGS = """timestamp;sensor;temp;hum
01.03.2024 00:00;s1;20,5;40
01.03.2024 00:10;s1;20,7;-
01.03.2024 00:20;s1;;41
01.03.2024 00:50;s1;21,9;43
01.03.2024 00:00;s2;18,1;55
01.03.2024 00:10;s2;n/a;56
01.03.2024 00:30;s2;18,9;58
01.03.2024 01:00;s2;19,3;-
"""


def readings(pd):
    df = pd.read_csv(io.StringIO(READINGS), sep=";", decimal=",", na_values=["n/a", "-"])
    df["timestamp"] = pd.to_datetime(df["timestamp"], format="%d.%m.%Y %H:%M")
    return df


def sensor_with_gaps(pd):
    df = readings(pd)
    s1 = df[df["sensor"] == "s1"].set_index("timestamp").drop(columns="sensor")
    regular = s1.resample("10min").mean()
    filled = regular.interpolate()
    limited = regular.ffill(limit=1)
    regular["is_gap"] = regular["temp"].isna()
    runs = (regular["is_gap"] != regular["is_gap"].shift()).cumsum()
    longest = regular["is_gap"].groupby(runs).sum().max()
    hourly = filled.resample("h").agg({"temp": ["min", "max"], "hum": "mean"})
    return regular, filled, limited, int(longest), hourly


def two_sensors(pd):
    df = readings(pd)
    wide = df.pivot(index="timestamp", columns="sensor", values="temp")
    wide = wide.reindex(pd.date_range("2024-03-01", "2024-03-01 01:00", freq="10min"))
    wide = wide.interpolate(limit_direction="both")
    wide["diff"] = wide["s1"] - wide["s2"]
    long = wide[["s1", "s2"]].stack().rename("temp").reset_index()
    long.columns = ["at", "sensor", "temp"]
    stats = long.groupby("sensor")["temp"].describe()
    return wide, long, stats.round(3), wide.corr().round(4)


def rolling_z_scores(pd):
    rng = np.random.default_rng(3)
    index = pd.date_range("2024-01-01", periods=40, freq="h")
    ts = pd.Series(np.sin(np.arange(40) / 4) + rng.normal(0, 0.1, 40), index=index, name="load")
    ts.iloc[[11, 30]] = [5.0, -4.0]
    mean = ts.rolling(8, min_periods=4).mean()
    std = ts.rolling(8, min_periods=4).std()
    z = (ts - mean.shift(1)) / std.shift(1)
    alarms = z[z.abs() > 3]
    cleaned = ts.mask(z.abs() > 3).interpolate()
    daily = cleaned.groupby(cleaned.index.hour).mean()
    return z, alarms, cleaned, daily.head(6), cleaned.resample("D").max()


def moving_averages(pd):
    prices = pd.DataFrame(
        {
            "date": pd.date_range("2024-01-01", periods=30, freq="B"),
            "close": 100 + np.cumsum(np.tile([1.0, -0.5, 0.75, 0.25, -1.25], 6)),
        }
    ).set_index("date")
    prices["sma"] = prices["close"].rolling(window=5).mean()
    prices["ema"] = prices["close"].ewm(span=5, adjust=False).mean()
    prices["returns"] = prices["close"].pct_change()
    prices["vol"] = prices["returns"].rolling(10).std() * np.sqrt(252)
    prices["signal"] = np.where(prices["close"] > prices["sma"], 1, 0)
    prices["position"] = prices["signal"].diff().fillna(0)
    drawdown = prices["close"] / prices["close"].cummax() - 1
    weekly = prices["close"].resample("W").ohlc()
    return prices, drawdown.min(), weekly, prices["close"].resample("ME").last()


def calendar_features(pd):
    days = pd.DataFrame({"date": pd.date_range("2023-12-28", periods=10)})
    days["year"] = days.date.dt.year
    days["month"] = days.date.dt.month_name()
    days["dow"] = days.date.dt.day_of_week
    days["weekend"] = days["dow"].isin([5, 6]).astype(int)
    days["quarter"] = days.date.dt.quarter
    days["week"] = days.date.dt.isocalendar().week.astype(int)
    days["month_end"] = days.date.dt.is_month_end
    days["name"] = days.date.dt.day_name().str[:3]
    days["sin"] = np.sin(2 * np.pi * days["dow"] / 7)
    days["since"] = (days["date"] - pd.Timestamp("2023-12-31")).dt.days
    days["lag_1"] = days["since"].shift(1)
    return days, days.groupby("name", sort=False)["since"].mean(), days.dtypes.astype(str).tolist()


def asof_quotes(pd):
    trades = pd.DataFrame(
        {
            "time": pd.to_datetime(
                [
                    "2024-05-25 13:30:00.023",
                    "2024-05-25 13:30:00.038",
                    "2024-05-25 13:30:00.048",
                    "2024-05-25 13:30:00.049",
                ]
            ),
            "ticker": ["MSFT", "MSFT", "GOOG", "AAPL"],
            "price": [51.95, 51.95, 720.77, 98.0],
            "quantity": [75, 155, 100, 100],
        }
    )
    quotes = pd.DataFrame(
        {
            "time": pd.to_datetime(
                [
                    "2024-05-25 13:30:00.023",
                    "2024-05-25 13:30:00.030",
                    "2024-05-25 13:30:00.041",
                    "2024-05-25 13:30:00.049",
                ]
            ),
            "ticker": ["GOOG", "MSFT", "MSFT", "AAPL"],
            "bid": [720.50, 51.97, 51.99, 97.99],
        }
    )
    joined = pd.merge_asof(trades, quotes, on="time", by="ticker", tolerance=pd.Timedelta("10ms"))
    joined["spread"] = (joined["price"] - joined["bid"]).abs()
    joined["notional"] = joined.eval("price * quantity")
    vwap = joined.groupby("ticker")[["notional", "quantity"]].sum()
    vwap["vwap"] = vwap["notional"] / vwap["quantity"]
    return joined, vwap, joined.query("bid == bid and quantity > 100")


def downtime(pd):
    log = pd.DataFrame(
        {
            "machine": ["m1", "m1", "m1", "m2", "m2", "m1", "m2"],
            "state": ["up", "down", "up", "up", "down", "down", "up"],
            "at": pd.to_datetime(
                [
                    "2024-01-01 00:00",
                    "2024-01-01 05:00",
                    "2024-01-01 06:30",
                    "2024-01-01 00:00",
                    "2024-01-01 02:00",
                    "2024-01-01 20:00",
                    "2024-01-01 03:15",
                ]
            ),
        }
    ).sort_values(["machine", "at"])
    log["until"] = log.groupby("machine")["at"].shift(-1).fillna(pd.Timestamp("2024-01-02"))
    log["hours"] = (log["until"] - log["at"]) / pd.Timedelta(hours=1)
    table = log.groupby(["machine", "state"])["hours"].sum().unstack(fill_value=0)
    table["availability"] = table["up"] / (table["up"] + table["down"])
    longest = log[log.state == "down"].groupby("machine")["hours"].max()
    table.loc["all"] = table.sum()
    return log, table, longest


def energy_by_hour(pd):
    index = pd.date_range("2024-03-04", periods=96, freq="30min")
    df = pd.DataFrame({"kwh": np.round(np.abs(np.sin(np.arange(96) / 7)) * 3, 3)}, index=index)
    df["hour"] = df.index.hour
    df["day"] = df.index.day_name()
    df["tariff"] = pd.cut(df["hour"], bins=[-1, 6, 21, 23], labels=["night", "day", "late"])
    price = {"night": 0.11, "day": 0.25, "late": 0.15}
    df["cost"] = df["kwh"] * df["tariff"].map(price).astype(float)
    daily = df[["kwh", "cost"]].resample("D").sum()
    profile = df.pivot_table(index="hour", columns="day", values="kwh", aggfunc="mean").head(5)
    peak = df.between_time("17:00", "20:00")["kwh"].max()
    return df.head(8), daily, profile, peak, df.groupby("tariff", observed=True)["cost"].sum()


def uneven_readings(pd):
    index = pd.to_datetime(
        [
            "2024-01-01 00:00",
            "2024-01-01 00:07",
            "2024-01-01 00:31",
            "2024-01-01 01:15",
            "2024-01-01 01:16",
            "2024-01-01 03:00",
        ]
    )
    s = pd.Series([1.0, 2.0, np.nan, 4.0, 8.0, 3.0], index=index, name="v")
    bins = s.resample("30min")
    out = pd.DataFrame({"mean": bins.mean(), "n": bins.count(), "last": bins.last()})
    out["range"] = bins.apply(lambda x: x.max() - x.min() if len(x) else np.nan)
    out["filled"] = out["mean"].interpolate(method="time")
    spans = s.rolling("45min", closed="both").agg(["min", "max", "count"])
    both = pd.DataFrame({"a": s, "b": s.to_numpy()[::-1]})
    pairs = both.rolling(2).agg({"a": "sum", "b": ["min", "max"]})
    pairs.columns = pairs.columns.map("_".join)
    gaps = s.index.to_series().diff().dt.total_seconds().div(60)
    return out, spans, pairs, gaps.describe(), s.asof(pd.Timestamp("2024-01-01 02:00"))
