# SPDX-License-Identifier: Apache-2.0
"""Frames of every dtype, with the values that implementations trip over."""

import numpy as np
import pandas as pd

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
STRINGS = ["b", "", "a", None, "é", "Z", "b", "straße", "z", "日本"]


def integers(dtype: str, num_rows: int = 37, seed: int = 0) -> pd.Series:
    """Few distinct values, the extremes among them."""
    info = np.iinfo(dtype)
    pool = np.array([info.min, info.max, 0, 1, 2, 3, 5, info.max - 1], dtype)
    return pd.Series(np.random.default_rng(seed).choice(pool, num_rows), name=dtype)


def floats(dtype: str = "float64", num_rows: int = 37, seed: int = 1) -> pd.Series:
    """Duplicates, NaN, both infinities and both zeros."""
    pool = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -2.25, 1e-3, 3.0], dtype)
    return pd.Series(np.random.default_rng(seed).choice(pool, num_rows), name=dtype)


def finite(dtype: str = "float64", num_rows: int = 37, seed: int = 2) -> pd.Series:
    """Floats without infinities, some missing."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=num_rows).astype(dtype)
    values[rng.random(num_rows) < 0.2] = np.nan
    return pd.Series(values, name=dtype)


def complexes(num_rows: int = 37, seed: int = 3) -> pd.DataFrame:
    """Complex numbers `z` and `w` of both widths, some missing, integers `k` and floats `x`."""
    rng = np.random.default_rng(seed)
    parts = np.array([0.0, -0.0, 1.0, -2.5, np.inf])
    z = rng.choice(parts, num_rows) + 1j * rng.choice(parts[:4], num_rows)
    z[rng.random(num_rows) < 0.2] = complex(np.nan, 0.0)
    z[rng.random(num_rows) < 0.1] = complex(1.0, np.nan)
    return pd.DataFrame(
        {
            "k": rng.integers(0, 4, num_rows),
            "x": rng.normal(size=num_rows),
            "z": z,
            "w": rng.permutation(z).astype(np.complex64),
        }
    )


def mixed_frame(num_rows: int = 37, seed: int = 0) -> pd.DataFrame:
    """A column of each kind: `k` few integers, `i` integers, `x` and `y` floats, `f` float32, `b`
    bools, `s` strings, `c` a category, `t` datetimes, `d` timedeltas."""
    rng = np.random.default_rng(seed)
    times = pd.to_datetime(rng.integers(-(10**15), 10**15, num_rows), unit="us").to_series()
    times[rng.random(num_rows) < 0.2] = pd.NaT
    spans = pd.to_timedelta(rng.integers(-(10**9), 10**9, num_rows), unit="us").to_series()
    spans[rng.random(num_rows) < 0.2] = pd.NaT
    return pd.DataFrame(
        {
            "k": rng.integers(0, 5, num_rows),
            "i": rng.integers(-1000, 1000, num_rows),
            "x": finite(num_rows=num_rows, seed=seed + 1).to_numpy(),
            "y": floats(num_rows=num_rows, seed=seed + 2).to_numpy(),
            "f": finite("float32", num_rows, seed + 3).to_numpy(),
            "b": rng.random(num_rows) < 0.5,
            "s": pd.array(rng.choice(np.array(STRINGS, object), num_rows), dtype="str"),
            "c": pd.Categorical(
                rng.choice(np.array(["u", "v", None], object), num_rows),
                categories=["w", "v", "u"],
                ordered=True,
            ),
            "t": times.to_numpy(),
            "d": spans.to_numpy(),
        }
    )


def pairs(num_rows: int = 43, seed: int = 0) -> pd.DataFrame:
    """Columns of which two go together, with missing values and an infinity."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(num_rows, 3)), columns=["x", "y", "z"])
    frame["y"] += frame["x"]
    frame = frame.mask(rng.random(frame.shape) < 0.15)
    frame.iloc[5:6, 0] = np.inf
    return frame.assign(i=rng.integers(-9, 9, num_rows))
