# SPDX-License-Identifier: Apache-2.0
"""The modes in which one function of frames runs: eager, `jit`, plans, streams and a mesh."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from jaxframes.frame import JaxFrame, LazyFrame, LazySeries, from_arrow, scan_parquet
from jaxframes.frame.plan._lazy import Lazy
from jaxframes.frame.plan._optimize import RULES
from jaxframes.shardings import make_mesh, row_sharded

Run = Callable[..., Any]
EAGER = ("eager", "from pandas", "returned by jit", "jit", "mesh")
PLANS = ("plan", "plan of files", "plan without rules", *(f"plan without {rule}" for rule in RULES))
STREAMS = tuple(f"batches of {n}{where}" for where in ("", " of files") for n in (1, 2, 3))
# The first is what the others must equal where pandas differs.
MODES = (*EAGER, *PLANS, *STREAMS, "plan on a mesh")
# A program for each pipeline, or for each pipeline and number of rows.
SLOW = ("jit", "mesh", "plan on a mesh")
ROWS_OF_A_GROUP = 2


class UnrecordedError(NotImplementedError):
    """A plan does not record a method."""


class Modes:
    """Runs one function in each mode. `jit` compiles it once."""

    def __init__(self, run: Run, folder: Path):
        self.run, self._folder = run, folder
        self._jitted = jax.jit(run)

    def __call__(self, mode: str, tables: Sequence[pa.Table]) -> Any:
        """The result for some tables, on the host."""
        if mode in EAGER:
            run = self._jitted if mode == "jit" else self.run
            return on_host(run(*(_frame(table, mode) for table in tables)))
        plans = self._plans(tables, mode)
        try:
            result = self.run(*plans)
        except Exception as error:
            raise UnrecordedError(f"{type(error).__name__}: {error}") from error
        schema = schema_of(result) if mode in ("plan", "plan of files") else None
        answer = collected(result, _options(mode))
        assert_schema(schema, answer)
        return answer

    def tables(self, tables: Sequence[pa.Table], mode: str) -> Sequence[pa.Table]:
        """The tables as a mode reads them."""
        if mode.endswith("of files"):
            return [pq.read_table(path) for path in self._written(tables)]
        return tables

    def of_pandas(self, tables: Sequence[pa.Table], mode: str) -> list[pd.DataFrame]:
        """The tables as pandas reads them in a mode."""
        return [table.to_pandas() for table in self.tables(tables, mode)]

    def _written(self, tables: Sequence[pa.Table]) -> list[Path]:
        paths = [self._folder / f"{place}.parquet" for place in range(len(tables))]
        for table, path in zip(tables, paths, strict=True):
            pq.write_table(table, path, row_group_size=ROWS_OF_A_GROUP)
        return paths

    def _plans(self, tables: Sequence[pa.Table], mode: str) -> list[Any]:
        if mode.endswith("of files"):
            return [scan_parquet(path) for path in self._written(tables)]
        return [_frame(table, mode).lazy() for table in tables]


def group_of(mode: str) -> str:
    """The kind of a mode, for tallies."""
    words = mode.split()[0]
    return f"{words} of files" if mode.endswith("of files") else words


def schema_of(plan: Any) -> Any:
    """The dtypes of a plan's columns before it runs; None for a plan of a value."""
    if isinstance(plan, tuple):
        return tuple(map(schema_of, plan))
    if isinstance(plan, LazyFrame):
        return plan.schema.to_list()
    return [plan.dtype] if isinstance(plan, LazySeries) else None


def assert_schema(schema: Any, result: Any) -> None:
    """Fails unless the dtypes of a result are those of the plan's schema."""
    if isinstance(schema, tuple):
        for one, part in zip(schema, result, strict=True):
            assert_schema(one, part)
    elif schema is not None:
        dtypes = getattr(result, "dtypes", getattr(result, "dtype", None))
        found = dtypes.to_list() if isinstance(dtypes, pd.Series) else [dtypes]
        same = list(map(str, schema)) == list(map(str, found))
        assert same, f"schema {schema}, and dtypes {found}"


def _options(mode: str) -> Mapping[str, Any]:
    words = mode.removesuffix(" of files")
    if words.startswith("batches of "):
        return {"batch_rows": int(words.removeprefix("batches of "))}
    off = [name for name in RULES if words == f"plan without {name}"]
    if words == "plan without rules":
        off = list(RULES)
    return {"optimizations": dict.fromkeys(off, False)} if off else {}


def _frame(table: pa.Table, mode: str) -> Any:
    if mode == "from pandas":
        return JaxFrame(table.to_pandas())
    if mode.endswith("mesh"):
        return from_arrow(table, sharding=row_sharded(make_mesh(4)))
    frame = from_arrow(table)
    return _returned(frame) if mode == "returned by jit" else frame


@jax.jit
def _returned(frame: Any) -> Any:
    return frame


def collected(result: Any, options: Mapping[str, Any]) -> Any:
    """Runs the plans in a result."""
    if isinstance(result, tuple):
        return tuple(collected(one, options) for one in result)
    return on_host(result.collect(**options) if isinstance(result, Lazy) else result)


def on_host(result: Any) -> Any:
    """Frames of pandas in place of ours."""
    if isinstance(result, tuple):
        return tuple(map(on_host, result))
    return result.to_pandas() if hasattr(result, "to_pandas") else result
