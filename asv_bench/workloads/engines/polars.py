# SPDX-License-Identifier: Apache-2.0
"""Polars, with all threads."""

from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl


def questions(package: str) -> Mapping[str, Any]:
    return import_module(f"workloads.{package}.polars_style").QUESTIONS


def load(paths: Mapping[str, Path], categories: Collection[str]) -> Any:
    tables = {name: pl.read_parquet(path) for name, path in paths.items()}
    return {
        name: table.cast(
            {column: pl.Categorical for column in table.columns if column in categories}
        )
        for name, table in tables.items()
    }


def prepare(question: Callable[..., Any], tables: Any) -> Callable[[], Any]:
    return lambda: question(tables)


def to_pandas(answer: Any) -> Any:
    return answer.to_pandas()
