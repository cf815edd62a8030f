# SPDX-License-Identifier: Apache-2.0
"""pandas, on one thread as always."""

from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd


def questions(package: str) -> Mapping[str, Any]:
    return import_module(f"workloads.{package}.pandas_style").QUESTIONS


def load(paths: Mapping[str, Path], categories: Collection[str]) -> Any:
    tables = {name: pd.read_parquet(path) for name, path in paths.items()}
    return {
        name: table.astype({column: "category" for column in table.columns if column in categories})
        for name, table in tables.items()
    }


def prepare(question: Callable[..., Any], tables: Any) -> Callable[[], Any]:
    return lambda: question(pd, tables)


def to_pandas(answer: Any) -> Any:
    return answer
