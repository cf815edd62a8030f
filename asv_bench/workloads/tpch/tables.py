# SPDX-License-Identifier: Apache-2.0
"""The tables of TPC-H, made by tpchgen-cli."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq


def write(folder: Path, size: float) -> None:
    """Writes the tables of a scale factor: money as float64, days as timestamps."""
    made = folder / "made"
    subprocess.run(
        [_generator(), "parquet", "--quiet", f"--scale-factor={size:g}", f"--output-dir={made}"],
        check=True,
    )
    for path in made.glob("*.parquet"):
        table = pq.read_table(path)
        schema = pa.schema([(field.name, _plain(field.type)) for field in table.schema])
        pq.write_table(table.cast(schema), folder / path.name)
    shutil.rmtree(made)


def _generator() -> str:
    """The program beside the interpreter, or on the path."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    program = shutil.which("tpchgen-cli", path=path)
    if program is None:
        raise FileNotFoundError("tpch: tpchgen-cli is not installed. Run pip install tpchgen-cli.")
    return program


def _plain(dtype: pa.DataType) -> pa.DataType:
    """The type that all engines read as their own: pandas has neither decimals nor days."""
    if pa.types.is_decimal(dtype):
        return pa.float64()
    if pa.types.is_date(dtype):
        return pa.timestamp("ms")
    if pa.types.is_string_view(dtype):
        return pa.string()
    return dtype
