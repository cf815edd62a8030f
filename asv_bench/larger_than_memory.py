# SPDX-License-Identifier: Apache-2.0
"""Runs plans on files larger than a memory limit, beside DuckDB and Polars' streaming engine.

    python asv_bench/larger_than_memory.py                       4 GiB, a limit of 2 GiB
    python asv_bench/larger_than_memory.py --gib 1 --limit 512MiB --questions distinct sort
    python asv_bench/larger_than_memory.py --skew                one key in half of the rows

Each question runs in a fresh process of each engine. Its address space is limited to the memory
limit above that of the idle process. Prints seconds, the peak of resident memory above the idle
process, and whether the answer equals that of DuckDB, if that has one within the limit.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

BUILD = Path(__file__).parents[1] / "build" / "larger_than_memory"
ENGINES = ("duckdb", "jaxframes", "polars")
QUESTIONS = ("few_groups", "many_groups", "sort", "join_frame", "join_file", "distinct")
# Bytes of a row: three keys of 8 bytes and two values.
ROW_BYTES = 40
PIECE_ROWS = 2**20


def paths_of(gib: float, skew: bool) -> dict[str, Path]:
    """The files of a size, made once."""
    folder = BUILD / f"{gib:g}{'-skew' if skew else ''}"
    names = ("rows", "right")
    paths = {name: folder / f"{name}.parquet" for name in names}
    if not (folder / "done").exists():
        folder.mkdir(parents=True, exist_ok=True)
        num_rows = int(gib * 2**30 / ROW_BYTES)
        # 10M keys in 4 GiB.
        num_keys = int(gib * 2.5e6)
        _write(paths["rows"], num_rows, num_keys, skew)
        _write_right(paths["right"], int(gib * 2**28 / 16), num_keys)
        (folder / "done").touch()
    return paths


def _write(path: Path, num_rows: int, num_keys: int, skew: bool) -> None:
    rng = np.random.default_rng(42)
    writer = None
    for first in range(0, num_rows, PIECE_ROWS):
        size = min(PIECE_ROWS, num_rows - first)
        many = rng.integers(0, num_keys, size)
        if skew:
            many = np.where(rng.random(size) < 0.5, 7, many)
        table = pa.table(
            {
                "few": rng.integers(0, 1000, size),
                "many": many,
                "n": np.arange(first, first + size),
                "x": rng.normal(size=size),
                "y": rng.integers(0, 1000, size).astype(np.float64),
            }
        )
        writer = writer or pq.ParquetWriter(path, table.schema, compression="none")
        writer.write_table(table)
    assert writer is not None
    writer.close()


def _write_right(path: Path, num_rows: int, num_keys: int) -> None:
    """Rows of which one in sixteen has a key of the left side, each key once."""
    rng = np.random.default_rng(43)
    keys = rng.permutation(num_rows)
    table = pa.table(
        {"many": np.where(keys % 16 == 0, keys // 16, keys + num_keys), "w": keys % 97}
    )
    pq.write_table(table, path, compression="none", row_group_size=PIECE_ROWS)


# Answers are small tables, or files that are read in pieces.


def _with_jaxframes(question: str, paths: dict[str, Path], out: Path, limit: int) -> None:
    from jaxframes.frame import JaxFrame, scan_parquet

    rows, right = scan_parquet(paths["rows"]), scan_parquet(paths["right"])
    plans = {
        "few_groups": lambda: rows.groupby("few", as_index=False).agg(y=("y", "sum")),
        "many_groups": lambda: rows.groupby("many", as_index=False).agg(y=("y", "sum")),
        "sort": lambda: rows[["x", "n"]].sort_values("x"),
        "join_frame": lambda: (
            rows.merge(
                JaxFrame({"few": np.arange(0, 1000, 3), "v": np.arange(334)}).lazy(), on="few"
            )
            .groupby("v", as_index=False)
            .agg(y=("y", "sum"))
        ),
        "join_file": lambda: (
            rows[["many", "y"]]
            .merge(right, on="many")
            .groupby("w", as_index=False)
            .agg(y=("y", "sum"))
        ),
        "distinct": lambda: rows[["many"]].drop_duplicates(),
    }
    plans[question]().to_parquet(out, memory_limit=limit, progress=False, index=False)


SQL = {
    "few_groups": "select few, sum(y) y from rows group by few",
    "many_groups": "select many, sum(y) y from rows group by many",
    "sort": "select x, n from rows order by x",
    "join_frame": "select v, sum(y) y from rows join "
    "(select i * 3 as few, i as v from range(334) t(i)) using (few) group by v",
    "join_file": 'select w, sum(y) y from rows join "right" using (many) group by w',
    "distinct": "select distinct many from rows",
}


def _with_duckdb(question: str, paths: dict[str, Path], out: Path, limit: int) -> None:
    import duckdb

    # DuckDB counts its buffers alone.
    connection = duckdb.connect(config={"memory_limit": f"{int(limit * 0.7) >> 20}MiB"})
    connection.execute(f"set temp_directory = '{out.parent}'")
    connection.execute("set preserve_insertion_order = false")
    for name, path in paths.items():
        connection.execute(f"create view \"{name}\" as select * from '{path}'")
    connection.execute(f"copy ({SQL[question]}) to '{out}' (format parquet)")


def _with_polars(question: str, paths: dict[str, Path], out: Path, limit: int) -> None:
    import polars as pl

    rows, right = pl.scan_parquet(paths["rows"]), pl.scan_parquet(paths["right"])
    few = pl.LazyFrame({"few": np.arange(0, 1000, 3), "v": np.arange(334)})
    y = pl.col("y").sum()
    plans = {
        "few_groups": lambda: rows.group_by("few").agg(y),
        "many_groups": lambda: rows.group_by("many").agg(y),
        "sort": lambda: rows.select("x", "n").sort("x"),
        "join_frame": lambda: rows.join(few, on="few").group_by("v").agg(y),
        "join_file": lambda: rows.join(right, on="many").group_by("w").agg(y),
        "distinct": lambda: rows.select("many").unique(),
    }
    plans[question]().sink_parquet(out, engine="streaming")


RUN: dict[str, Callable[..., None]] = {
    "jaxframes": _with_jaxframes,
    "duckdb": _with_duckdb,
    "polars": _with_polars,
}


def digest_of(question: str, out: Path) -> list[float]:
    """Sums that two equal answers share, whatever the order of their rows."""
    file = pq.ParquetFile(out, pre_buffer=False, buffer_size=2**20)
    names = [name for name in file.schema_arrow.names if not name.startswith("__")]
    sums = {name: [0.0, 0.0] for name in names}
    num_rows, last, is_sorted = 0, -np.inf, True
    for batch in file.iter_batches(2**18, columns=names):
        num_rows += batch.num_rows
        for name in names:
            values = batch.column(name).to_numpy(zero_copy_only=False).astype(np.float64)
            sums[name][0] += float(values.sum())
            sums[name][1] += float(np.abs(values * (1 + values % 7)).sum())
            if question == "sort" and name == "x" and len(values):
                is_sorted &= bool(values[0] >= last) and bool((np.diff(values) >= 0).all())
                last = values[-1]
    return [num_rows, float(is_sorted), *(one for name in sorted(names) for one in sums[name])]


def _memory(name: str) -> int:
    """A line of this process' status, in bytes."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(name))


def _child(engine: str, question: str, paths: dict[str, Path], limit: int, out: Path) -> None:
    """Answers a question within a limit, and prints what it took."""
    if engine == "jaxframes":
        import jax

        jax.config.update("jax_enable_x64", True)
        from jaxframes.frame import JaxFrame

        JaxFrame({"x": [1.0, 2.0]}).x.sum()
    else:
        __import__(engine)
    pc.sum(pa.array([1]))
    idle = _memory("VmRSS")
    most = _memory("VmSize") + limit
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    start = time.perf_counter(), time.process_time()
    RUN[engine](question, paths, out, limit)
    seconds, processor = time.perf_counter() - start[0], time.process_time() - start[1]
    peak = _memory("VmHWM") - idle
    print(json.dumps({"seconds": seconds, "processor": processor, "peak": peak}))


def main() -> None:
    """Prints a line for each question and engine."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gib", type=float, default=4.0)
    parser.add_argument("--limit", default="2GiB")
    parser.add_argument("--skew", action="store_true")
    parser.add_argument("--engines", nargs="+", default=list(ENGINES), choices=ENGINES)
    parser.add_argument("--questions", nargs="+", default=list(QUESTIONS), choices=QUESTIONS)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    number, unit = float(given.limit[:-3]), given.limit[-3:]
    limit = int(number * {"MiB": 2**20, "GiB": 2**30}[unit])
    paths = paths_of(given.gib, given.skew)
    if given.child is not None:
        engine, question = given.child
        _child(engine, question, paths, limit, paths["rows"].with_name(f"{engine}.out"))
        return
    options = ["--gib", str(given.gib), "--limit", given.limit, *(["--skew"] * given.skew)]
    print("question      engine       seconds  processor  peak MiB  answer")
    for question in given.questions:
        expected: list[float] | None = None
        for engine in given.engines:
            command = [sys.executable, __file__, *options, "--child", engine, question]
            done = subprocess.run(command, capture_output=True, text=True, env=os.environ)
            out = paths["rows"].with_name(f"{engine}.out")
            if done.returncode:
                lines = done.stderr.strip().splitlines() or [f"ended by {done.returncode}"]
                print(f"{question:13} {engine:11} failed: {lines[-1][:90]}", flush=True)
                continue
            figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
            digest = digest_of(question, out)
            if engine == "duckdb":
                expected = digest
            answer = "unchecked"
            if expected is not None:
                answer = "equal" if np.allclose(digest, expected, rtol=1e-9) else "DIFFERENT"
            out.unlink()
            print(
                f"{question:13} {engine:11} {figures['seconds']:8.1f} {figures['processor']:10.1f} "
                f"{figures['peak'] / 2**20:9.0f}  {answer}",
                flush=True,
            )


if __name__ == "__main__":
    main()
