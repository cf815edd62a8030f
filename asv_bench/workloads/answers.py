# SPDX-License-Identifier: Apache-2.0
"""Compares answers of two engines by digests, because answers of 10 million rows are large.

A digest does not depend on the order of rows, unless asked to. Numbers that are not integers are
compared as sums with random weights of rows, because engines round and add in different orders; all
other values by hashes. The weight of a row comes from the hash of its other values, so a number in
the wrong row is found.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .workload import Workload

# Strings of longer answers are not compared: it would take longer than the questions.
MOST_ROWS_OF_STRINGS = 2_000_000
# Sums of the same numbers in different orders agree to this share of the sum of magnitudes.
TOLERANCE = 1e-9
# An integer that another engine holds as a sum of floats.
INTEGER_TOLERANCE = 1e-6
NULL_HASH = np.uint64(0x9E3779B97F4A7C15)


class WrongAnswer(ValueError):
    """Two engines give different answers."""


class Sums(NamedTuple):
    """Sums of a column of numbers: weighted, of magnitudes, and of the weights of null rows."""

    weighted: float
    magnitudes: float
    null_weights: float


class Digest(NamedTuple):
    """What is compared of an answer.

    Attributes:
        num_rows: the number of rows.
        kinds: "hashed", "integers", "numbers" or "skipped" for each column.
        hash: the sum of the hashes of rows, over columns of exact values.
        sums: sums of each column of numbers.
    """

    num_rows: int
    kinds: tuple[str, ...]
    hash: int
    sums: dict[int, Sums]


def table_of(answer: Any) -> pd.DataFrame:
    """The columns of an answer by position, after the named levels of its index."""
    if isinstance(answer, pd.Series):
        answer = answer.to_frame()
    elif not isinstance(answer, pd.DataFrame):
        answer = pd.DataFrame({"answer": [answer]})
    names = [name for name in answer.index.names if name is not None]
    levels = [answer.index.get_level_values(name).to_series() for name in names]
    columns = [*levels, *(answer.iloc[:, position] for position in range(answer.shape[1]))]
    return pd.DataFrame(
        {position: column.array for position, column in enumerate(columns)},
        index=range(len(answer)),
    )


def digest(table: pd.DataFrame, *, kinds: Sequence[str] | None = None, is_ordered: bool) -> Digest:
    """The digest of a table; `kinds` are those of the reference."""
    kinds = tuple(kinds or (_kind(table[position]) for position in table))
    hashes = np.arange(len(table), dtype=np.uint64) if is_ordered else np.zeros(len(table), "u8")
    for position, kind in enumerate(kinds):
        if kind in ("hashed", "integers"):
            values = _hashed(table[position], kind)
            hashes = _mixed(hashes + np.uint64(position + 1)) ^ values
    hashes = _mixed(hashes)
    weights = 0.5 + (hashes >> np.uint64(12)) / 2.0**52
    sums = {
        position: _sums(_floats(table[position]), weights)
        for position, kind in enumerate(kinds)
        if kind == "numbers"
    }
    return Digest(len(table), kinds, int(hashes.sum(dtype=np.uint64)), sums)


def compared(
    workload: Workload,
    engine: str,
    answers: Iterable[tuple[str, Any]],
    expected: dict[str, dict[str, Digest]] | None,
) -> dict[str, dict[str, Digest]]:
    """The digests of answers by question and view; raises `WrongAnswer` for an unexpected one."""
    digests: dict[str, dict[str, Digest]] = {}
    for name, answer in answers:
        digests[name] = {}
        for view, table in _views(workload, engine, name, table_of(answer)).items():
            subject, is_ordered = f"{name} of {engine}, {view}", view != "rows"
            if not expected:
                digests[name][view] = digest(table, is_ordered=is_ordered)
                continue
            kinds = expected[name][view].kinds
            if len(kinds) != table.shape[1]:
                raise WrongAnswer(
                    f"{subject}: expected {len(kinds)} columns, got {table.shape[1]}."
                )
            digests[name][view] = digest(table, kinds=kinds, is_ordered=is_ordered)
            check(digests[name][view], expected[name][view], subject)
    return digests


def _views(
    workload: Workload, engine: str, name: str, table: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """What is compared of an answer: all its rows, and the order of some columns."""
    views = {"rows": table}
    if name in workload.in_place and engine != "duckdb":
        views["rows in place"] = table
    if name in workload.ordered:
        columns = workload.ordered[name] or range(table.shape[1])
        views["order"] = table.iloc[:, list(columns)].set_axis(range(len(columns)), axis=1)
    return views


def check(found: Digest, expected: Digest, subject: str) -> None:
    """Raises `WrongAnswer` unless two digests agree."""
    if found.num_rows != expected.num_rows:
        raise WrongAnswer(f"{subject}: expected {expected.num_rows} rows, got {found.num_rows}.")
    if found.hash != expected.hash:
        raise WrongAnswer(f"{subject}: strings, times or integers differ, or their order.")
    for position, sums in expected.sums.items():
        other = found.sums[position]
        scales = (sums.magnitudes, sums.magnitudes, sums.null_weights)
        if not np.all(np.abs(np.subtract(other, sums)) <= TOLERANCE * np.array(scales)):
            raise WrongAnswer(
                f"{subject}: column {position} differs, expected {sums}, got {other}."
            )


def _kind(column: pd.Series) -> str:
    if not pd.api.types.is_numeric_dtype(column.dtype):
        is_long = len(column) > MOST_ROWS_OF_STRINGS
        return "skipped" if is_long and column.dtype.kind != "M" else "hashed"
    values = _floats(column)
    values = values[~np.isnan(values)]
    return "integers" if np.all(values == np.rint(values)) else "numbers"


def _floats(column: pd.Series) -> np.ndarray:
    return column.to_numpy(np.float64, na_value=np.nan)


def _hashed(column: pd.Series, kind: str) -> np.ndarray:
    is_null = column.isna().to_numpy()
    if kind == "integers":
        values = _floats(column)
        whole = np.rint(values)
        if np.any(np.abs(values - whole) > INTEGER_TOLERANCE * np.maximum(np.abs(values), 1)):
            return np.zeros(len(column), np.uint64)
        hashes = np.where(is_null, 0, whole).astype(np.int64).view(np.uint64)
    elif column.dtype.kind == "M":
        hashes = column.to_numpy("datetime64[ns]").view(np.uint64)
    else:
        hashes = pd.util.hash_array(column.to_numpy(object, na_value=""))
    return np.where(is_null, NULL_HASH, _mixed(hashes))


def _mixed(hashes: np.ndarray) -> np.ndarray:
    """The finalizer of splitmix64 (Steele, Lea, Flood 2014)."""
    hashes = (hashes ^ (hashes >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    hashes = (hashes ^ (hashes >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return hashes ^ (hashes >> np.uint64(31))


def _sums(values: np.ndarray, weights: np.ndarray) -> Sums:
    is_null = np.isnan(values)
    values = np.where(is_null, 0, values)
    return Sums(float(values @ weights), float(np.abs(values).sum()), float(weights[is_null].sum()))
