# SPDX-License-Identifier: Apache-2.0
"""The bins of time that `resample` gives, and their methods."""

import functools
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..groupby._agg import ROW_METHODS
from ..groupby._by_host import called_with_frames
from ..groupby._resample import BinReductions, no_upsampling
from ..groupby._user_functions import is_of_user
from ..indexing._reindex import rows_or_fills
from ..table._dtypes import narrowed
from ..table._from_host import index_from
from ..table._function_effects import calls_differ
from ..table._holes import with_holes_elsewhere
from ..table._row_index import RowIndex
from ..table._table import Table, as_count
from ..table._take import take_columns
from ..table._to_host import host_array, no_rows
from ..table._user_functions import UntraceableError, as_frames, by_engine

# The methods of groups that give a result for each row, and those that give some of the rows.
_ROW_METHODS = (*ROW_METHODS, "transform")
_ROW_SELECTIONS = ("filter", "head", "nth", "tail")
# Those that reduce each bin, with or without rows.
_REDUCTIONS = ("all", "any", "kurt", "skew")
# Those that label rows by bin, and by labels of their own.
_LABELLED_ROWS = ("nlargest", "nsmallest", "value_counts")


class Resampler(BinReductions):
    """The result of `resample`; its methods reduce the rows of each bin of time.

    As in pandas, `ffill` and `bfill` of selected columns fill their missing values within bins.

    Differences from pandas:
        Not supported inside `jit`, because the number of bins depends on the times.
    """

    def __init__(
        self,
        grouped: Any,
        labels: pd.Index,
        rows: Any,
        starts: Callable[[], Any],
        on_host: Callable[[], Any],
        *,
        is_selected: bool = False,
        has_row_methods: bool = False,
    ):
        super().__init__(grouped)
        self._labels, self._starts, self._is_selected = labels, starts, is_selected
        # Whether these are the groups of a Grouper.
        self._has_row_methods = has_row_methods
        # The bins in pandas, for functions of the user.
        self._on_host = on_host
        # None if the times are a column or a level.
        self._rows = rows

    def __getitem__(self, key: Any) -> "Resampler":
        grouped = self._grouped[key]
        on_host = lambda: self._on_host()[key]  # noqa: E731
        return Resampler(
            grouped, self._labels, self._rows, self._starts, on_host,
            is_selected=True, has_row_methods=self._has_row_methods,
        )  # fmt: skip

    def __getattr__(self, name: str) -> Any:
        # Bins that `copy` has just made have no groups yet.
        known = self.__dict__
        is_grouper = known.get("_has_row_methods", False)
        # pandas has it of a column of bins, too.
        of_column = known.get("_is_selected", False) and self._grouped._is_series
        if is_grouper and name in _REDUCTIONS:
            return functools.partial(self._reduced, name)
        if name in _LABELLED_ROWS and (is_grouper or (of_column and name == "value_counts")):
            return functools.partial(self._rows_by_bin, name)
        if not is_grouper or name not in (*_ROW_METHODS, *_ROW_SELECTIONS):
            return super().__getattr__(name)
        if name == "ngroup":
            return self._ngroup
        if name in _ROW_SELECTIONS and self._rows is None and not self._is_selected:
            raise NotImplementedError(
                f"groupby: {name} of bins of a column is not supported, because the rows have the "
                "column. Call set_index() on it, and group by Grouper(freq=...)."
            )
        # Bins without rows change no such result.
        return getattr(self._grouped, name)

    def _as_groups(self) -> "Resampler":
        """The bins as groups of `groupby`, which have its methods of rows too."""
        return Resampler(
            self._grouped, self._labels, self._rows, self._starts, self._on_host,
            has_row_methods=True,
        )  # fmt: skip

    def transform(self, func: Any, *args: Any, **kwargs: Any) -> Any:
        """A value for each row from the rows of its bin, in order of time; see that of groups.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> import pandas as pd
            >>> times = pd.to_datetime(["2024-01-01", "2024-01-01", "2024-01-03"])
            >>> JaxSeries([1, 2, 4], index=times).resample("D").transform("sum").tolist()
            [3, 3, 4]
        """
        rows = self._grouped.transform(func, *args, **kwargs)
        if not isinstance(func, str) or func in ROW_METHODS:
            return rows
        # As in pandas, a bin without rows makes floats of integers.
        of_bins = getattr(self, func)(*args, **kwargs)
        pairs = zip(rows._table.columns, of_bins._table.columns, strict=True)
        return rows._with_columns(
            with_holes_elsewhere(own) if of_bin.is_float and own.dtype.kind in "iu" else own
            for own, of_bin in pairs
        )

    def agg(self, func: Any = None, *args: Any, engine: str | None = None, **kwargs: Any) -> Any:
        """Reduces each bin by one or several functions; see `agg` of groups.

        Functions of the user run on the host, once for each bin, with or without rows.
        """
        is_of_rows = not (self._is_selected or self._has_row_methods)
        if is_of_rows and self._grouped._is_series and _names_results(func):
            # Unlike those of groups, the keys are the names of results.
            return self.agg(None, *args, engine=engine, **func, **kwargs)
        if not any(map(is_of_user, _functions(func, kwargs))):
            return self._reduced("agg", func, *args, **kwargs)

        def on_host() -> Any:
            named = {name: _with_frames(one) for name, one in kwargs.items()}
            named = named if func is None else kwargs
            return as_frames(self._on_host().agg(_with_frames(func), *args, **named))

        def trace() -> Any:
            result = self._grouped.agg(func, *args, engine="jax", **kwargs)
            if len(result) != len(self._labels):
                raise UntraceableError(
                    "resample: a function of bins without rows cannot be traced. Drop the bins "
                    "first, or leave out engine."
                )
            return self._labelled(result, [])

        if engine is None and any(map(calls_differ, _functions(func, kwargs))):
            return on_host()
        return by_engine("resample", engine, trace, on_host, is_traced=False)

    aggregate = agg
    apply = agg

    def asfreq(self, fill_value: object = None) -> Any:
        """The row at the time at which each bin starts; other bins have a fill value.

        Example:
            >>> import pandas as pd
            >>> from jaxframes.frame import JaxSeries
            >>> times = pd.to_datetime(["2024-01-01", "2024-01-03"])
            >>> JaxSeries([1, 3], index=times).resample("D").asfreq().tolist()
            [1.0, nan, 3.0]
        """
        return self._at_starts(None, None, fill_value)

    def ffill(self, limit: int | None = None) -> Any:
        """The last row up to the time at which each bin starts; see `reindex`.

        Selected columns keep their rows, and missing values get the last value of their bin.

        Example:
            >>> import pandas as pd
            >>> from jaxframes.frame import JaxSeries
            >>> times = pd.to_datetime(["2024-01-01", "2024-01-03"])
            >>> JaxSeries([1, 3], index=times).resample("D").ffill().tolist()
            [1, 1, 3]
        """
        if self._is_selected or self._has_row_methods:
            return self._grouped.ffill(limit)
        return self._at_starts("ffill", limit)

    def bfill(self, limit: int | None = None) -> Any:
        """The next row from the time at which each bin starts; see `ffill`."""
        if self._is_selected or self._has_row_methods:
            return self._grouped.bfill(limit)
        return self._at_starts("bfill", limit)

    def interpolate(
        self,
        method: str = "linear",
        *,
        axis: Any = 0,
        limit: int | None = None,
        limit_direction: str = "forward",
        limit_area: str | None = None,
    ) -> Any:
        """The values at the time at which each bin starts, on lines between the rows.

        A line goes by the positions of starts and rows in the order of their times; see
        `interpolate` of frames.

        Example:
            >>> import pandas as pd
            >>> from jaxframes.frame import JaxSeries
            >>> times = pd.to_datetime(["2024-01-01", "2024-01-03"])
            >>> JaxSeries([1, 3], index=times).resample("D").interpolate().tolist()
            [1.0, 2.0, 3.0]
        """
        self._check_rows("interpolate")
        starts = self._starts()
        rows = self._rows.reindex(index=starts.union(self._rows.index))
        filled = rows.interpolate(
            method, axis=axis, limit=limit, limit_direction=limit_direction, limit_area=limit_area
        )
        return filled.reindex(index=starts)

    def _at_starts(self, method: str | None, limit: int | None, fill_value: Any = None) -> Any:
        self._check_rows(method or "asfreq")
        return self._rows.reindex(
            index=self._starts(), method=method, limit=limit, fill_value=fill_value
        )

    def _check_rows(self, method: str) -> None:
        """Raises unless the rows have the times as labels."""
        if self._is_selected:
            kind = type(self._grouped).__name__.replace("Frame", "DataFrame")
            raise AttributeError(
                f"{kind!r} object has no attribute {method!r}. Select columns before resample()."
            )
        if self._rows is None:
            raise no_upsampling()

    def _reduced(self, name: str, *args: Any, **kwargs: Any) -> Any:
        result = getattr(self._grouped, name)(*args, **kwargs)
        columns = [no_rows(column) for column in self._grouped._columns]
        labels = None if self._grouped._is_series else tuple(self._grouped._labels)
        try:
            dtypes = tuple(column.dtype for column in columns)
            fills = _known_fills(dtypes, labels, name, args, tuple(kwargs.items()))
        except TypeError:
            # An argument without a hash, or one that pandas refuses: it raises again.
            fills = tuple(_fills(columns, labels, name, args, kwargs))
        return self._labelled(result, fills)

    def _rows_by_bin(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """The rows of a method of groups, labelled by bin before their own labels."""
        found = getattr(self._grouped, name)(*args, **kwargs)
        table = found._table
        layout, labels = table.layout, self._labels
        capacity = layout.capacity_for(len(labels))
        of_bins = index_from(narrowed(labels), capacity, layout).columns(capacity, layout)
        bins, *others = table.index_columns()
        levels = (*take_columns(of_bins, bins.data, layout), *others)
        index = RowIndex(levels, (*labels.names, *table.index.names[1:]))
        return found._like(table.replace(index=index))

    def _ngroup(self, ascending: bool = True) -> Any:
        """The number of the bin of each row; bins without rows have numbers, too."""
        (bins,) = self._grouped._grouped.keys
        numbers = self._grouped._source._make_series(bins.column, None)
        numbers = numbers.astype("int64") if bins.column.valid is None else numbers
        return numbers if ascending else (len(self._labels) - 1) - numbers

    def _labelled(self, result: Any, fills: Sequence[Any]) -> Any:
        """The results of the bins with rows, in a row for each bin; others have the fills."""
        table, labels = result._table, self._labels
        layout, num_rows = table.layout, len(labels)
        capacity = layout.capacity_for(num_rows)
        (bins,) = table.index_columns()
        row_ids = np.full(capacity, -1, np.int32)
        count = table.num_rows_on_host
        row_ids[host_array(bins.data)[:count]] = np.arange(count)
        index = index_from(narrowed(labels), capacity, layout)
        target = Table((), index, as_count(num_rows), layout=layout)
        rows = rows_or_fills(table, layout.place(row_ids), target, fills, "resample")
        return result._like(rows)


@functools.lru_cache(256)
def _known_fills(
    dtypes: tuple[Any, ...],
    labels: tuple[Hashable, ...] | None,
    name: str,
    args: tuple[Any, ...],
    kwargs: tuple[tuple[str, Any], ...],
) -> tuple[Any, ...]:
    """`_fills` of dtypes that were seen before: pandas takes milliseconds for them."""
    columns = [pd.array([], dtype) for dtype in dtypes]
    return tuple(_fills(columns, labels, name, args, dict(kwargs)))


def _fills(
    columns: Sequence[Any],
    labels: Sequence[Hashable] | None,
    name: str,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> list[Any]:
    """What pandas' method of groups gives a bin without rows, for each column of its result."""
    shell: Any = pd.DataFrame(dict(enumerate(columns)))
    if labels is None:
        shell = shell.iloc[:, 0]
    else:
        shell.columns = pd.Index(labels, tupleize_cols=True)
    bins: Any = pd.Categorical([], categories=[0])
    empty = getattr(shell.groupby(bins, observed=False), name)(*args, **kwargs)
    is_frame = isinstance(empty, pd.DataFrame)
    return [empty.iloc[0, at] for at in range(empty.shape[1])] if is_frame else [empty.iloc[0]]


def _functions(func: object, named: Mapping[str, object]) -> Iterator[Any]:
    """The functions among the arguments of `agg`."""
    if func is None:
        yield from _functions(list(named.values()), {})
    elif isinstance(func, Mapping):
        yield from _functions(list(func.values()), {})
    elif isinstance(func, (list, tuple)):
        for one in func:
            yield from _functions(one, {})
    else:
        yield func


def _with_frames(func: Any) -> Any:
    """The arguments of `agg` whose functions get frames of ours from pandas."""
    if isinstance(func, Mapping):
        return {label: _with_frames(one) for label, one in func.items()}
    if isinstance(func, (list, tuple)):
        return type(func)(map(_with_frames, func))
    return called_with_frames(func) if is_of_user(func) else func


def _names_results(func: object) -> bool:
    """Whether bins of a series are reduced by a dict of names, each with one function."""
    return (
        isinstance(func, Mapping)
        and bool(func)
        and all(isinstance(name, str) for name in func)
        and not any(isinstance(one, (Mapping, list, tuple)) for one in func.values())
    )
