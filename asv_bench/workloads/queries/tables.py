# SPDX-License-Identifier: Apache-2.0
"""The tables of the queries, as Parquet files: seeded, skewed, and with missing values.

At size 1 they have 1,000 to 1,000,000 rows.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

Columns = dict[str, object]
Rng = np.random.Generator

_STATES = ("TX", "CA", "NY", "WA", "GA", "OH", "IL", "TN")
_CATEGORIES = ("Books", "Music", "Shoes", "Home", "Sports", "Jewelry")
_KINDS = ("movie", "episode", "tv series", "video game", "short")
_PATHS = ("home", "search", "item", "cart", "help", "news")
_DAY = np.timedelta64(1, "D")


def write(folder: Path, size: float) -> None:
    for seed, (name, (rows, columns_of)) in enumerate(TABLES.items()):
        num_rows = max(20, round(rows * size))
        columns = columns_of(np.random.default_rng(seed), num_rows, size)
        pq.write_table(pa.table(columns), folder / f"{name}.parquet")


def _count(name: str, size: float) -> int:
    return max(20, round(TABLES[name][0] * size))


def _skewed(rng: Rng, num_rows: int, num_values: int) -> np.ndarray:
    """Ids from 0, the low ones more frequent."""
    return (num_values * rng.random(num_rows) ** 2).astype(np.int64)


def _words(rng: Rng, num_rows: int, words: Sequence[str]) -> np.ndarray:
    return np.array(words)[rng.integers(0, len(words), num_rows)]


def _with_holes(rng: Rng, values: np.ndarray, share: float) -> pa.Array:
    return pa.array(values, mask=rng.random(len(values)) < share)


def _cents(rng: Rng, num_rows: int, most: float) -> np.ndarray:
    return np.round(most * rng.random(num_rows) ** 2, 2)


def _days_of(rng: Rng, num_rows: int, first: str, num_days: int) -> np.ndarray:
    return np.datetime64(first, "us") + rng.integers(0, num_days, num_rows) * _DAY


def _moments(rng: Rng, num_rows: int, first: str, num_days: int) -> np.ndarray:
    seconds = rng.integers(0, num_days * 86_400, num_rows)
    return np.datetime64(first, "us") + np.sort(seconds) * np.timedelta64(1, "s")


def _sales(rng: Rng, num_rows: int, size: float) -> Columns:
    price = _cents(rng, num_rows, 300)
    return {
        "ticket": np.arange(num_rows) // 4,
        "day_id": rng.integers(0, 1_000, num_rows),
        "store_id": _skewed(rng, num_rows, 20),
        "item_id": _skewed(rng, num_rows, _count("items", size)),
        "customer_id": _with_holes(rng, _skewed(rng, num_rows, _count("customers", size)), 0.03),
        "quantity": rng.integers(1, 100, num_rows),
        "price": price,
        "discount": np.round(price * rng.integers(0, 30, num_rows) / 100, 2),
        "cost": np.round(price * (0.4 + 0.5 * rng.random(num_rows)), 2),
    }


def _returned(rng: Rng, num_rows: int, size: float) -> Columns:
    return {
        "ticket": rng.integers(0, _count("sales", size) // 4, num_rows),
        "item_id": _skewed(rng, num_rows, _count("items", size)),
        "day_id": rng.integers(0, 1_000, num_rows),
        "reason": _words(rng, num_rows, ("broken", "late", "wrong size", "not as described")),
        "amount": _with_holes(rng, _cents(rng, num_rows, 300), 0.05),
    }


def _items(rng: Rng, num_rows: int, _size: float) -> Columns:
    return {
        "item_id": np.arange(num_rows),
        "brand": np.char.add("brand #", rng.integers(1, 60, num_rows).astype(str)),
        "category": _words(rng, num_rows, _CATEGORIES),
        "color": _with_holes(rng, _words(rng, num_rows, ("red", "green", "blue", "plum")), 0.1),
        "list_price": _cents(rng, num_rows, 400),
        "manager_id": rng.integers(0, 100, num_rows),
    }


def _stores(rng: Rng, num_rows: int, _size: float) -> Columns:
    return {
        "store_id": np.arange(num_rows),
        "store": np.char.add("store ", np.arange(num_rows).astype(str)),
        "state": _words(rng, num_rows, _STATES),
        "floor": rng.integers(5_000, 20_000, num_rows),
        "market": rng.integers(1, 9, num_rows).astype(np.int8),
    }


def _customers(rng: Rng, num_rows: int, _size: float) -> Columns:
    numbers = np.arange(num_rows).astype(str)
    return {
        "customer_id": np.arange(num_rows),
        "name": np.char.add("Customer ", numbers),
        "email": np.char.add(numbers, np.char.add("@", _words(rng, num_rows, ("a.com", "b.org")))),
        "born": _with_holes(rng, rng.integers(1930, 2005, num_rows), 0.04),
        "gender": _words(rng, num_rows, ("F", "M")),
        "education": _words(rng, num_rows, ("Primary", "College", "2 yr Degree", "Unknown")),
        "state": _words(rng, num_rows, _STATES),
        "credit": rng.integers(0, 10, num_rows),
    }


def _days(_rng: Rng, num_rows: int, _size: float) -> Columns:
    date = np.datetime64("2020-01-01", "us") + np.arange(num_rows) * _DAY
    return {
        "day_id": np.arange(num_rows),
        "date": date,
        "year": date.astype("datetime64[Y]").astype(np.int64) + 1970,
        "month": date.astype("datetime64[M]").astype(np.int64) % 12 + 1,
        "weekday": (date.astype("datetime64[D]").astype(np.int64) + 3) % 7,
        "holiday": np.arange(num_rows) % 37 == 0,
    }


def _titles(rng: Rng, num_rows: int, _size: float) -> Columns:
    first = _words(rng, num_rows, ("The", "A", "My", "Last", "Iron", "Blue"))
    second = _words(rng, num_rows, ("River", "House", "Champion", "Road", "Night", "Garden"))
    numbers = (np.arange(num_rows) % 977).astype(str)
    return {
        "movie_id": np.arange(num_rows),
        "title": np.char.add(
            np.char.add(np.char.add(first, " "), second), np.char.add(" ", numbers)
        ),
        "kind": _words(rng, num_rows, _KINDS),
        "year": _with_holes(rng, 1900 + _skewed(rng, num_rows, 120), 0.08),
        "votes": _skewed(rng, num_rows, 500_000),
        "rating": _with_holes(rng, np.round(1 + 9 * rng.random(num_rows), 1), 0.2),
    }


def _casts(rng: Rng, num_rows: int, size: float) -> Columns:
    note = _words(
        rng, num_rows, ("(voice)", "(uncredited)", "(producer)", "(writer)", "(as himself)")
    )
    return {
        "movie_id": _skewed(rng, num_rows, _count("titles", size)),
        "person_id": _skewed(rng, num_rows, _count("people", size)),
        "role": _words(rng, num_rows, ("actor", "actress", "producer", "writer", "director")),
        "note": _with_holes(rng, note, 0.5),
        "place": rng.integers(1, 50, num_rows).astype(np.int32),
    }


def _people(rng: Rng, num_rows: int, _size: float) -> Columns:
    first = _words(rng, num_rows, ("Ann", "Bert", "Cleo", "Downey", "Eve", "Yo", "Zoe", "Tim"))
    return {
        "person_id": np.arange(num_rows),
        "name": np.char.add(np.char.add(first, ", "), (np.arange(num_rows) % 4_999).astype(str)),
        "gender": _with_holes(rng, _words(rng, num_rows, ("m", "f")), 0.15),
        "born": _with_holes(rng, rng.integers(1900, 2010, num_rows), 0.3),
    }


def _keywords(rng: Rng, num_rows: int, size: float) -> Columns:
    words = ("sequel", "murder", "love", "hero", "based-on-novel", "space", "revenge", "war")
    return {
        "movie_id": rng.integers(0, _count("titles", size), num_rows),
        "keyword": _words(rng, num_rows, words),
    }


def _companies(rng: Rng, num_rows: int, size: float) -> Columns:
    return {
        "movie_id": rng.integers(0, _count("titles", size), num_rows),
        "company": np.char.add("Film Works ", rng.integers(0, 800, num_rows).astype(str)),
        "country": _with_holes(rng, _words(rng, num_rows, ("[us]", "[de]", "[fr]", "[jp]")), 0.05),
        "kind": _words(rng, num_rows, ("production", "distribution")),
    }


def _hits(rng: Rng, num_rows: int, _size: float) -> Columns:
    phrase = _words(rng, num_rows, ("", "", "", "cheap flights", "weather", "jax arrays", "news"))
    host = _words(rng, num_rows, ("shop.example", "news.example", "google.example", "a.b.example"))
    path = np.char.add(_words(rng, num_rows, _PATHS), rng.integers(0, 200, num_rows).astype(str))
    return {
        "time": _moments(rng, num_rows, "2024-07-01", 31),
        "user_id": rng.integers(0, 2**60, 40_000)[_skewed(rng, num_rows, 40_000)],
        "counter_id": _skewed(rng, num_rows, 600).astype(np.int32),
        "region_id": _skewed(rng, num_rows, 300).astype(np.int32),
        "adv_engine": np.where(
            rng.random(num_rows) < 0.95, 0, rng.integers(1, 20, num_rows)
        ).astype(np.int16),
        "width": rng.choice(np.int16([0, 1024, 1280, 1366, 1440, 1920]), num_rows),
        "is_refresh": rng.random(num_rows) < 0.1,
        "phone": _words(rng, num_rows, ("", "", "", "iPhone", "Nokia", "Galaxy")),
        "phrase": phrase,
        "url": np.char.add(np.char.add("http://", host), np.char.add("/", path)),
        "duration": rng.integers(0, 900, num_rows).astype(np.int32),
    }


def _readings(rng: Rng, num_rows: int, size: float) -> Columns:
    value = np.round(20 + 8 * np.sin(np.arange(num_rows) / 500) + rng.normal(size=num_rows), 2)
    return {
        "time": _moments(rng, num_rows, "2023-03-01", 60),
        "sensor_id": rng.integers(0, _count("sensors", size), num_rows),
        "value": _with_holes(rng, value, 0.02),
        "battery": np.round(100 * rng.random(num_rows)).astype(np.float32),
        "status": _words(rng, num_rows, ("ok", "ok", "ok", "ok", "low", "error")),
    }


def _sensors(rng: Rng, num_rows: int, _size: float) -> Columns:
    return {
        "sensor_id": np.arange(num_rows),
        "site": np.char.add("site ", rng.integers(0, 12, num_rows).astype(str)),
        "kind": _words(rng, num_rows, ("temperature", "pressure", "humidity")),
        "installed": _days_of(rng, num_rows, "2019-01-01", 1_000),
        "limit": np.round(24 + 6 * rng.random(num_rows), 1),
    }


def _repairs(rng: Rng, num_rows: int, size: float) -> Columns:
    return {
        "time": _moments(rng, num_rows, "2023-03-01", 60),
        "sensor_id": rng.integers(0, _count("sensors", size), num_rows),
        "cost": _cents(rng, num_rows, 900),
    }


def _trips(rng: Rng, num_rows: int, size: float) -> Columns:
    start = _moments(rng, num_rows, "2024-01-01", 90)
    miles = np.round(20 * rng.random(num_rows) ** 3, 2)
    minutes = 2 + 4 * miles + 5 * rng.random(num_rows)
    num_zones = _count("zones", size)
    return {
        "start": start,
        "end": start + (60 * minutes).astype(np.int64) * np.timedelta64(1, "s"),
        "vendor": rng.integers(1, 4, num_rows).astype(np.int8),
        "passengers": _with_holes(rng, rng.integers(0, 7, num_rows), 0.03),
        "miles": miles,
        "from_id": _skewed(rng, num_rows, num_zones),
        "to_id": _skewed(rng, num_rows, num_zones),
        "payment": _words(rng, num_rows, ("card", "card", "cash", "dispute")),
        "fare": np.round(3 + 2.5 * miles + rng.random(num_rows), 2),
        "tip": np.where(rng.random(num_rows) < 0.4, 0.0, _cents(rng, num_rows, 15)),
        "tolls": np.where(rng.random(num_rows) < 0.9, 0.0, 6.55),
    }


def _zones(rng: Rng, num_rows: int, _size: float) -> Columns:
    return {
        "zone_id": np.arange(num_rows),
        "zone": np.char.add("zone ", np.arange(num_rows).astype(str)),
        "borough": _words(rng, num_rows, ("North", "South", "East", "West", "Airport")),
    }


def _weather(rng: Rng, num_rows: int, _size: float) -> Columns:
    return {
        "time": np.datetime64("2024-01-01", "us") + np.arange(num_rows) * np.timedelta64(1, "h"),
        "rain": np.where(rng.random(num_rows) < 0.8, 0.0, np.round(9 * rng.random(num_rows), 1)),
        "degrees": _with_holes(rng, np.round(5 + 6 * rng.normal(size=num_rows), 1), 0.05),
    }


# The numbers of rows at size 1.
TABLES: dict[str, tuple[int, Callable[[Rng, int, float], Columns]]] = {
    "sales": (300_000, _sales),
    "returned": (30_000, _returned),
    "items": (5_000, _items),
    "stores": (1_000, _stores),
    "customers": (20_000, _customers),
    "days": (1_000, _days),
    "titles": (100_000, _titles),
    "casts": (400_000, _casts),
    "people": (60_000, _people),
    "keywords": (50_000, _keywords),
    "companies": (30_000, _companies),
    "hits": (1_000_000, _hits),
    "readings": (500_000, _readings),
    "sensors": (1_000, _sensors),
    "repairs": (2_000, _repairs),
    "trips": (400_000, _trips),
    "zones": (1_000, _zones),
    "weather": (2_000, _weather),
}
