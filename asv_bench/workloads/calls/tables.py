# SPDX-License-Identifier: Apache-2.0
"""The tables of the calls, as Parquet files."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.common_calls import call_columns


def write(folder: Path, size: float) -> None:
    for name, columns in call_columns(int(size)).items():
        pq.write_table(pa.table(columns), folder / f"{name}.parquet")
