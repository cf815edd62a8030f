# SPDX-License-Identifier: Apache-2.0
"""Rows that spill at small batches: missing keys, skew, strings, and rows in no order."""

import numpy as np
import pandas as pd
from jaxframes.frame import scan_parquet
from jaxframes.shardings import make_mesh, row_sharded

# Batches of this size are far fewer rows than there are distinct keys.
BATCH_ROWS = 100


def left_rows(num_rows=800):
    rng = np.random.default_rng(17)
    frame = pd.DataFrame(
        {
            "k": rng.integers(0, 450, num_rows),
            # One key in half of the rows.
            "hot": np.where(rng.random(num_rows) < 0.5, 7, rng.integers(0, 550, num_rows)),
            "s": rng.integers(0, 350, num_rows).astype(str),
            "f": np.where(rng.random(num_rows) < 0.05, np.nan, rng.integers(0, 300, num_rows) / 4),
            "few": rng.integers(0, 3, num_rows),
            "n": np.arange(num_rows),
        }
    )
    frame.loc[rng.random(num_rows) < 0.05, "s"] = None
    return frame


def right_rows(num_rows=500):
    rng = np.random.default_rng(23)
    frame = pd.DataFrame(
        {
            "k": rng.integers(200, 700, num_rows),
            "s": rng.integers(150, 500, num_rows).astype(str),
            "f": np.where(rng.random(num_rows) < 0.03, np.nan, rng.integers(0, 550, num_rows) / 4),
            "few": rng.integers(0, 3, num_rows),
            "m": np.arange(num_rows),
        }
    )
    frame.loc[rng.random(num_rows) < 0.02, "s"] = None
    frame["g"] = np.where(rng.random(num_rows) < 0.02, np.nan, frame.k)
    # A few rows of the left side's hot key.
    frame.insert(0, "hot", np.where(np.arange(num_rows) % 100 == 3, 7, frame.k))
    return frame


def plan_of(frame, folder, name, devices=1):
    """Scans a file of the frame, on some devices."""
    path = folder / f"{name}.parquet"
    if not path.exists():
        frame.to_parquet(path, row_group_size=200)
    return scan_parquet(path, sharding=row_sharded(make_mesh(devices)) if devices > 1 else None)
