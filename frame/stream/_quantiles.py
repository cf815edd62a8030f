# SPDX-License-Identifier: Apache-2.0
"""Exact quantiles over batches, by passes over the bits of the values (Munro, Paterson 1980)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ...shardings._compat import is_x64_enabled
from ..plan._node import Call
from ..table._column import NAT, Column, of_family
from ..table._from_host import column_from
from ..table._ndframe import FrameBase, SeriesBase
from ..table._row_index import RANGE
from ..table._table import as_count
from ..table._to_host import host_array

QUANTILES = frozenset(["median", "quantile"])
# The bits that one pass tells apart: a histogram has 2^16 counts.
PASS_BITS = 16


def are_streamed(empty: Any, method: str, options: Mapping[str, object]) -> bool:
    """Whether quantiles of a frame or a series run over batches."""
    known = {"numeric_only"} | ({"q", "interpolation"} if method == "quantile" else set())
    columns = empty._table.columns
    if options.keys() - known or not columns:
        return False
    if columns[0].type.is_time:
        # The ranks are those of NumPy's times, which have no zone.
        are_equal = all(column.type == columns[0].type for column in columns)
        return are_equal and columns[0].type.zone is None
    # pandas has medians of bools, but no other quantiles.
    kinds = "iufb" if method == "median" else "iuf"
    return all(column.is_numeric and column.dtype.kind in kinds for column in columns)


def quantiles(run: Callable[[], Iterator[Any]], empty: Any, call: Call, most_rows: int) -> Any:
    """Quantiles or medians of the columns of all rows.

    The first pass counts the leading bits of the values, which tells those of the wanted ranks. The
    second pass collects the values with these bits if they fit, and counts further bits if not.

    Args:
        run: gives the batches; called for each pass.
        empty: a batch without rows.
        call: the recorded reduction of the frame or the series.
        most_rows: the number of values of a column that may be collected.
    """
    # Raises for wrong arguments.
    call.run(empty)
    q = call.arguments.get("q", 0.5)
    fractions = np.asarray(q, np.float64).reshape(-1)
    dtypes = [
        np.dtype(column.type.of_family(None).named(column.dtype))
        if column.type.is_time
        else column.dtype
        for column in empty._table.columns
    ]
    searches = [RankSearch(dtype, fractions, most_rows) for dtype in dtypes]
    while not all(search.is_done for search in searches):
        for batch in run():
            num_rows = len(batch)
            for search, column in zip(searches, batch._table.columns, strict=True):
                if not search.is_done:
                    search.see(column, num_rows)
        for search in searches:
            search.end_pass()
    return _answer(empty, call, q, searches)


class RankSearch:
    """The values of a column below and above each quantile.

    Attributes:
        is_done: whether the values are known.
        num_values: the number of values that are not missing.
        has_missing: whether a value is missing.
    """

    def __init__(self, dtype: np.dtype, fractions: np.ndarray, most_rows: int):
        self.is_done = False
        self.num_values = 0
        self._dtype, self._fractions, self._most_rows = dtype, fractions, most_rows
        self.has_missing = False
        self._word = np.dtype(f"u{dtype.itemsize}")
        self._num_bits = dtype.itemsize * 8
        # The leading bits that are known, of which each pass counts the next ones.
        self._num_known = 0
        self._counts = {0: self._zeros()}
        # For each rank the leading bits of its value, and its rank among the values that have them.
        self._found: dict[int, tuple[int, int]] = {}
        self._collected: dict[int, list[np.ndarray]] | None = None
        self._values: dict[int, Any] = {}

    @property
    def _pass_bits(self) -> int:
        return min(PASS_BITS, self._num_bits - self._num_known)

    def _zeros(self) -> np.ndarray:
        return np.zeros(2**self._pass_bits, np.int64)

    def see(self, column: Column, num_rows: int) -> None:
        """Counts or collects the values of a batch."""
        words = self._words_of(column, num_rows)
        if self._collected is not None:
            for prefix, parts in self._collected.items():
                parts.append(words[self._leading(words, self._num_known) == prefix])
            return
        known, bits = self._num_known, self._pass_bits
        for prefix, counts in self._counts.items():
            own = words if not known else words[self._leading(words, known) == prefix]
            following = self._leading(own, known + bits) & self._word.type(2**bits - 1)
            counts += np.bincount(following.astype(np.int64), minlength=2**bits)

    def _leading(self, words: np.ndarray, num_bits: int) -> np.ndarray:
        return words >> self._word.type(self._num_bits - num_bits)

    def end_pass(self) -> None:
        """Narrows the search by what the pass has counted, or ends it."""
        if self.is_done:
            return
        if self._collected is not None:
            for prefix, parts in self._collected.items():
                self._settle(prefix, np.sort(np.concatenate(parts)) if parts else None)
            self.is_done = True
            return
        if not self._num_known:
            self.num_values = int(self._counts[0].sum())
            self._found = {rank: (0, rank) for rank in self._ranks()}
        sizes: dict[int, int] = {}
        bits = self._pass_bits
        totals = {prefix: np.cumsum(counts) for prefix, counts in self._counts.items()}
        for rank, (prefix, inner) in self._found.items():
            total = totals[prefix]
            bin = int(np.searchsorted(total, inner, "right"))
            before = int(total[bin - 1]) if bin else 0
            narrowed = (prefix << bits) | bin
            self._found[rank] = narrowed, inner - before
            sizes[narrowed] = int(total[bin]) - before
        self._num_known += bits
        if self._num_known == self._num_bits:
            for prefix in sizes:
                self._settle(prefix, None)
            self.is_done = True
        elif sum(sizes.values()) <= self._most_rows:
            self._collected = {prefix: [] for prefix in sizes}
            self.is_done = not sizes
        else:
            self._counts = {prefix: self._zeros() for prefix in sizes}

    def _settle(self, prefix: int, words: np.ndarray | None) -> None:
        """Tells the values with some leading bits: from all of them, or from the bits alone."""
        for rank, (own, inner) in self._found.items():
            if own == prefix:
                word = self._word.type(prefix) if words is None else words[inner]
                self._values[rank] = self._value_of(word)

    def _ranks(self) -> list[int]:
        positions = self._positions()
        last = self.num_values - 1
        below = np.floor(positions).astype(np.int64)
        return sorted({*below.tolist(), *np.minimum(below + 1, last).tolist()} - {-1})

    def _positions(self) -> np.ndarray:
        """The position of each quantile among the sorted values, with a fraction."""
        return (
            self._fractions * float(max(self.num_values - 1, 0))
            if self.num_values
            else (np.full(len(self._fractions), -1.0))
        )

    def neighbours(self, position: int) -> tuple[np.ndarray, float]:
        """The values below and above one quantile, and the fraction of the way between them."""
        if not self.num_values:
            has_missing = self._dtype.kind in "fmM"
            return np.full(2, np.nan).astype(self._dtype if has_missing else np.float64), 0.0
        place = float(self._positions()[position])
        below = int(np.floor(place))
        above = min(below + 1, self.num_values - 1)
        values = np.array([self._values[below], self._values[above]], self._dtype)
        if self.has_missing and self._dtype.kind in "iub" and is_x64_enabled():
            # pandas has no integers beside missing values.
            values = values.astype(np.float64)
        return values, place - below

    # Words whose unsigned order is the order of the values.

    def _words_of(self, column: Column, num_rows: int) -> np.ndarray:
        column = column.stored
        data = host_array(column.data)[:num_rows]
        present = None if column.valid is None else host_array(column.valid)[:num_rows]
        if self._dtype.kind in "mM":
            present = data != NAT
        elif data.dtype.kind == "f":
            present = ~np.isnan(data) if present is None else present & ~np.isnan(data)
        if present is not None and not present.all():
            self.has_missing, data = True, data[present]
        # A batch with missing integers may hold floats.
        words = np.ascontiguousarray(data.astype(self._dtype)).view(self._word)
        sign = self._word.type(1 << (self._num_bits - 1))
        if self._dtype.kind in "ub":
            return words
        if self._dtype.kind in "imM":
            return words ^ sign
        return np.where(words & sign, ~words, words | sign)

    def _value_of(self, word: Any) -> Any:
        sign = self._word.type(1 << (self._num_bits - 1))
        word = np.asarray(word, self._word)
        if self._dtype.kind in "imM":
            word = word ^ sign
        elif self._dtype.kind == "f":
            word = np.where(word & sign, word ^ sign, ~word)
        return word.view(self._dtype)[()]


def _answer(
    empty: FrameBase | SeriesBase, call: Call, q: Any, searches: Sequence[RankSearch]
) -> Any:
    """The result of the eager method for the neighbours of each quantile."""
    interpolation = call.arguments.get("interpolation", "linear")
    tables = []
    for position in range(np.size(q)):
        pairs = [search.neighbours(position) for search in searches]
        if interpolation == "nearest":
            # Half-way, the even position counts, which two neighbours do not tell.
            pairs = [
                (_nearest(values, fraction, search, position), 0.0)
                for (values, fraction), search in zip(pairs, searches, strict=True)
            ]
        tables.append(pairs)
    firsts = [values for values, _ in tables[0]]
    if call.method == "median":
        pairs = [values if fraction else np.repeat(values[:1], 2) for values, fraction in tables[0]]
        return call.run(_two_rows(empty, pairs))
    options = {"interpolation": "lower" if interpolation == "nearest" else interpolation}
    results = [
        [_series(empty, values).quantile(fraction, **options) for values, fraction in pairs]
        for pairs in tables
    ]
    # Each search is of a column; the dtypes of those whose quantiles are integers.
    dtypes = [
        own.dtype if _are_in_integers(own, search, values) else None
        for own, search, values in zip(
            empty._table.columns, searches, zip(*results, strict=True), strict=True
        )
    ]
    if isinstance(empty, SeriesBase) and np.ndim(q) == 0:
        (value,), (dtype,) = results[0], dtypes
        if empty._only.is_nullable and pd.isna(value):
            return pd.NA
        return value if dtype is None else dtype.type(value)
    shape = call.run(_two_rows(empty, firsts))
    # A frame has a row for each quantile, a series of one quantile a row for each column.
    by_column = results if np.ndim(q) == 0 else zip(*results, strict=True)
    if np.ndim(q) == 0:
        dtypes = [None if None in dtypes else np.result_type(*dtypes)]
    columns = [
        of_family(
            column_from(_in_dtype(values, column, dtype), shape._table.capacity, shape._layout),
            column.family,
        )
        for values, column, dtype in zip(by_column, shape._table.columns, dtypes, strict=True)
    ]
    return shape._with_columns(columns)


def _are_in_integers(own: Column, search: RankSearch, values: Sequence[Any]) -> bool:
    """Whether the quantiles of a nullable column are integers, as those of the eager method."""
    is_integer = own.family == "masked" and own.dtype.kind in "iu" and search.has_missing
    return is_integer and all(pd.isna(value) or float(value).is_integer() for value in values)


def _in_dtype(values: Sequence[Any], column: Column, integers: np.dtype | None) -> Any:
    """Scalars as an array of the dtype of a column, or of nullable integers."""
    if integers is not None:
        whole = [pd.NA if pd.isna(value) else int(value) for value in values]
        return pd.Series(whole, dtype=column.type.nullable(integers))
    if column.type.is_time:
        name = column.type.of_family(None).named(column.dtype)
        return pd.Series(list(values), dtype=name).to_numpy()
    if column.is_nullable:
        values = [np.nan if value is pd.NA else value for value in values]
    return np.asarray(values, column.dtype)


def _nearest(values: np.ndarray, fraction: float, search: RankSearch, position: int) -> np.ndarray:
    below = int(np.floor(search._positions()[position]))
    is_above = fraction > 0.5 or (fraction == 0.5 and below % 2 == 1)
    return np.repeat(values[1:] if is_above else values[:1], 2)


def _series(empty: Any, values: np.ndarray) -> Any:
    table = empty._table
    column = column_from(values, table.layout.capacity_for(2), table.layout)
    table = table.replace(index=RANGE, num_rows=as_count(2))
    return empty._make_series(column, None, table.with_columns([column]))


def _two_rows(empty: Any, pairs: Sequence[np.ndarray]) -> Any:
    layout = empty._layout
    columns = [
        of_family(column_from(values, layout.capacity_for(2), layout), own.family)
        for values, own in zip(pairs, empty._table.columns, strict=True)
    ]
    table = empty._table.replace(index=RANGE, num_rows=as_count(2))
    return empty._like(table.with_columns(columns))
