# SPDX-License-Identifier: Apache-2.0
"""DuckDB, in memory, with all threads. An answer is a table, as in db-benchmark."""

from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import duckdb


def questions(package: str) -> Mapping[str, Any]:
    return import_module(f"workloads.{package}.sql").QUESTIONS


def load(paths: Mapping[str, Path], categories: Collection[str]) -> Any:
    connection = duckdb.connect()
    for name, path in paths.items():
        connection.execute(f"create table {name} as select * from read_parquet('{path}')")
    return connection


def prepare(question: str, tables: Any) -> Callable[[], Any]:
    def call() -> Any:
        tables.execute(f"create or replace temp table answer as {question}")
        return tables

    return call


def to_pandas(answer: Any) -> Any:
    return answer.execute("select * from answer").df()
