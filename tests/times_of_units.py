# SPDX-License-Identifier: Apache-2.0
"""Times of all units: at the ends of their ranges, and frames of near and far times."""

import itertools

import jaxframes.frame as jf
import numpy as np
import pandas as pd

UNITS = ("s", "ms", "us", "ns")
PAIRS = list(itertools.permutations(UNITS, 2))
NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
LATEST = 2**63 - 1
NAT = -(2**63)
NEAR = pd.DataFrame({"t": np.array(["2020-01-01", "2020-01-02"], "M8[ns]"), "a": [1, 2]})
FAR = pd.DataFrame({"t": np.array(["9999-12-31", "0001-01-01"], "M8[s]"), "b": [3, 4]})
SPANS = pd.DataFrame({"t": np.array([1, 2], "m8[ns]"), "a": [1, 2]})
LONG = pd.DataFrame({"t": np.array([10**10, -(10**10)], "m8[s]"), "b": [3, 4]})


def edges(unit: str) -> list[int]:
    """Counts at the ends of the ranges of a unit and of finer ones, around zero, and NaT."""
    counts = [0, 1, -1, LATEST, -LATEST, LATEST - 1, NAT]
    for finer in UNITS[UNITS.index(unit) + 1 :]:
        most = LATEST // (NANOSECONDS[unit] // NANOSECONDS[finer])
        counts += [most, most + 1, -most, -most - 1]
    for coarser in UNITS[: UNITS.index(unit)]:
        factor = NANOSECONDS[coarser] // NANOSECONDS[unit]
        counts += [factor, -factor, factor + 1, LATEST // factor * factor]
    return counts


def series(counts: list[int], unit: str, letter: str = "M") -> pd.Series:
    return pd.Series(np.array(counts, np.int64).view(f"{letter}8[{unit}]"), name="t")


def module_of(frame):
    return pd if isinstance(frame, pd.DataFrame) else jf
