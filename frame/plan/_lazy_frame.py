# SPDX-License-Identifier: Apache-2.0
"""`LazyFrame`: recorded methods of frames."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

import pandas as pd

from ..table._expressions import is_expression
from ..table._ndframe import FrameBase, NDFrame
from ..table._tracing import is_traced
from ..table._unsupported import lacking
from ._expression import Expression, col
from ._lazy import Lazy, lazy_of, unheld
from ._lazy_groups import LazyGroupBy, LazyWindows, as_keys, by_name
from ._lazy_series import LazyArray, LazySeries, expression_of, filtered
from ._node import Call, Node, Scan
from ._parse import parse
from ._query import lines_of, names_of, variables_of_caller
from ._relations import REDUCTIONS, listed
from ._sources import Memory


class LazyFrame(Lazy):
    """A plan of a frame, which runs when `collect` is called. Immutable and hashable.

    Made by `JaxFrame.lazy`, `scan_parquet`, `scan_csv` and `scan_arrow`. The methods are those of
    `JaxFrame`, with the same arguments and the same answers. A method first runs on a frame
    without rows, so wrong arguments raise where they are written, and labels and dtypes are known.
    Columns are `col("x")`, or `plan["x"]` and `plan.x`.

    Example:
        >>> from jaxframes.frame import JaxFrame, col
        >>> frame = JaxFrame({"k": [1, 2, 1], "x": [1.0, 2.0, 4.0]})
        >>> plan = frame.lazy().filter(col("x") > 1).groupby("k").sum()
        >>> plan.collect().to_pandas().x.to_dict()
        {1: 4.0, 2: 2.0}
    """

    def __init__(self, *arguments: Any, **keywords: Any):
        raise TypeError(
            "LazyFrame: cannot be made directly. Use JaxFrame.lazy(), scan_parquet(), scan_csv() "
            "or scan_arrow()."
        )

    def __eq__(self, other: object) -> bool:
        """Whether both are the same plan of the same sources."""
        return isinstance(other, LazyFrame) and self._plan == other._plan

    def __hash__(self) -> int:
        return super().__hash__()

    # Facts that need no rows.

    @property
    def schema(self) -> pd.Series:
        """The dtype of each column of the result.

        Where pandas takes a dtype from values, as for a left join whose rows may all have a match,
        the plan runs up to this step to find it. Other plans read no rows.
        """
        return self._dtypes

    @property
    def dtypes(self) -> pd.Series:
        """The dtype of each column; see `schema`."""
        return self.schema

    @property
    def columns(self) -> pd.Index:
        """The labels of the columns."""
        return self._plan.empty.columns

    def __contains__(self, label: object) -> bool:
        return label in self._plan.labels

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._plan.labels)

    def __dir__(self) -> list[str]:
        labels = [label for label in self._plan.labels if isinstance(label, str)]
        return sorted({*object.__dir__(self), *labels})

    # Selection and assignment.

    def __getitem__(self, key: Any) -> Any:
        if callable(key) and not isinstance(key, Expression):
            key = key(self)
        if isinstance(key, LazySeries):
            return filtered(self._plan, key)
        if is_expression(key):
            return self._record("filter", predicate=Expression.from_pandas(key))
        if isinstance(key, (list, pd.Index)):
            return self._record("select", columns=list(key))
        if isinstance(key, slice) or not isinstance(key, Hashable):
            raise self._unheld("[]")
        return self._record("column", expression=col(key))

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        raise TypeError("a LazyFrame is immutable. Use assign().")

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and name in self._plan.labels:
            return self[name]
        if name in REDUCTIONS:
            method = getattr(NDFrame.frame_class, name)
            return lambda *operands, **options: self._record(
                name, **by_name(method, operands, options)
            )
        if not name.startswith("_") and hasattr(NDFrame.frame_class, name):
            raise self._unheld(name)
        raise lacking("JaxFrame", name) or AttributeError(
            f"'LazyFrame' object has no attribute {name!r}"
        )

    def filter(
        self, items: Any = None, like: Any = None, regex: Any = None, axis: Any = None
    ) -> "LazyFrame":
        """The rows that satisfy an expression; or the columns whose labels match, as in pandas.

        Example:
            >>> from jaxframes.frame import JaxFrame, col
            >>> plan = JaxFrame({"x": [1, 2, 3]}).lazy().filter(col("x") > 1)
            >>> plan.collect().x.tolist()
            [2, 3]
        """
        if callable(items) and not isinstance(items, Expression):
            items = items(self)
        if isinstance(items, LazySeries) or is_expression(items):
            return self[items]
        return self[list(self._plan.empty.filter(items, like, regex, axis)._labels)]

    def query(
        self,
        expr: str,
        *,
        local_dict: Mapping[str, Any] | None = None,
        global_dict: Mapping[str, Any] | None = None,
        level: int = 0,
    ) -> "LazyFrame":
        """The rows that satisfy an expression written as text; see `JaxFrame.query`.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> least = 2
            >>> plan = JaxFrame({"x": [1, 2, 3]}).lazy().query("x >= @least")
            >>> plan.collect().x.tolist()
            [2, 3]
        """
        lines = lines_of(expr, "pandas", None)
        variables = variables_of_caller(level, local_dict, global_dict)
        statement = parse(lines[0], names_of(self._plan.empty), variables)
        if len(lines) > 1 or statement.target is not None or not is_expression(statement.value):
            raise ValueError(
                f"query: expr must be one condition on columns, got {expr!r}. Use assign() for "
                "new columns."
            )
        return self[statement.value]

    def assign(self, **values: Any) -> "LazyFrame":
        """The frame with columns set or added.

        A function is called with this plan.
        """
        plan = self
        for label, value in values.items():
            if callable(value) and not isinstance(value, Expression):
                value = value(plan)
            if is_expression(value):
                value = Expression.from_pandas(value)
            if isinstance(value, LazyArray):
                expression = expression_of(value, plan._plan)
                if expression is None:
                    plan = plan._record("set", value._plan, label=label)
                    continue
                value = expression
            plan = plan._record("assign", values={label: value})
        return plan

    def rename(
        self,
        mapper: Any = None,
        *,
        columns: Any = None,
        axis: Any = None,
        errors: Any = "ignore",
    ) -> "LazyFrame":
        """Renames columns by a dict or a function."""
        empty = self._plan.empty
        after = empty.rename(mapper, columns=columns, axis=axis, errors=errors)._labels
        changed = dict(zip(empty._labels, after, strict=True))
        changed = {old: new for old, new in changed.items() if old != new}
        return self._record("rename", columns=changed)

    def drop(
        self, labels: Any = None, *, axis: Any = 0, columns: Any = None, errors: Any = "raise"
    ) -> "LazyFrame":
        """The frame without some columns. Rows cannot be dropped by label: use `filter`."""
        if labels is not None and axis not in (1, "columns"):
            raise self._unheld("drop of row labels")
        columns = columns if labels is None else labels
        return self[list(self._plan.empty.drop(columns=columns, errors=errors)._labels)]

    def astype(self, dtype: Any, **options: Any) -> "LazyFrame":
        """Casts all columns to one dtype, or each to its own with a dict."""
        return self._record("astype", dtype=dtype, **options)

    def fillna(self, value: Any, **options: Any) -> "LazyFrame":
        """Replaces missing values by one value, or by those of a dict."""
        return self._record("fillna", value=value, **options)

    def dropna(self, **options: Any) -> "LazyFrame":
        """The rows without missing values."""
        if options.get("axis", 0) not in (0, "index"):
            raise self._unheld("dropna(axis=1)")
        return self._record("dropna", **options)

    # Rows.

    def head(self, n: int = 5) -> "LazyFrame":
        """The first `n` rows, or all but the last `-n` if `n` is negative."""
        return self._record("head", n=n)

    def tail(self, n: int = 5) -> "LazyFrame":
        """The last `n` rows, or all but the first `-n` if `n` is negative."""
        return self._record("tail", n=n)

    def sort_values(self, by: Any, **options: Any) -> "LazyFrame":
        """Sorts the rows by columns or expressions, stably."""
        by = as_keys("sort_values", by, self._plan)
        return self._record("sort_values", by=by, **options)

    def nlargest(self, n: int, columns: Any, keep: str = "first") -> "LazyFrame":
        """The `n` rows with the largest values, in descending order."""
        return self._record("nlargest", n=n, columns=columns, keep=keep)

    def nsmallest(self, n: int, columns: Any, keep: str = "first") -> "LazyFrame":
        """The `n` rows with the smallest values, in ascending order."""
        return self._record("nsmallest", n=n, columns=columns, keep=keep)

    def drop_duplicates(self, subset: Any = None, **options: Any) -> "LazyFrame":
        """The first row of each set of equal rows."""
        subset = None if subset is None else listed(subset)
        return self._record("drop_duplicates", subset=subset, **options)

    def reset_index(self, **options: Any) -> "LazyFrame":
        """Turns the row labels into columns, or drops them."""
        return self._record("reset_index", **options)

    def set_index(self, keys: Any, **options: Any) -> "LazyFrame":
        """Labels the rows by columns."""
        return self._record("set_index", keys=keys, **options)

    # Several frames.

    def _merge(self, left: Any, right: Any, **options: Any) -> "LazyFrame":
        plans = as_plan(left, "merge"), as_plan(right, "merge")
        plain = {"suffixes": ("_x", "_y")}
        options = {
            name: value
            for name, value in options.items()
            if value not in (None, False) and value != plain.get(name)
        }
        return lazy_of(Call.of("merge", plans, options))

    def merge(self, right: Any, how: str = "inner", on: Any = None, **options: Any) -> "LazyFrame":
        """Joins rows with equal keys, of a frame or of another plan; see `JaxFrame.merge`."""
        if on is not None:
            options["on"] = on
        return self._record("merge", as_plan(right, "merge"), how=how, **options)

    def _concatenated(self, parts: Sequence[Any], **options: Any) -> "LazyFrame":
        plans = tuple(as_plan(part, "concat") for part in parts)
        options = {name: value for name, value in options.items() if value not in (None, False)}
        if options.pop("axis", 0) not in (0, "index", "rows"):
            raise self._unheld("concat(axis=1)")
        if options.get("join") == "outer":
            del options["join"]
        for name in ("keys", "levels", "names", "verify_integrity"):
            if name in options:
                raise self._unheld(f"concat({name}=)")
        return lazy_of(Call.of("concat", plans, options))

    # Groups, windows and reductions.

    def groupby(self, by: Any = None, **options: Any) -> "LazyGroupBy":
        """Groups rows by columns; see `JaxFrame.groupby`."""
        return LazyGroupBy(self, {"by": by, **options}, None)

    def rolling(self, window: Any, min_periods: int | None = None, **options: Any) -> "LazyWindows":
        """Windows of `window` rows, in the order of the rows; see `JaxFrame.rolling`."""
        bounds = {"window": window, "min_periods": min_periods, **options}
        return LazyWindows(self, "rolling", bounds)

    def expanding(self, min_periods: int = 1) -> "LazyWindows":
        """A window of all rows up to each row."""
        return LazyWindows(self, "expanding", {"min_periods": min_periods})

    def value_counts(self, subset: Any = None, **options: Any) -> "LazySeries":
        """The number of rows with each combination of values."""
        return self._record("value_counts", subset=subset, **options)

    def agg(self, func: Any, **options: Any) -> "LazySeries | LazyFrame":
        """Reductions by name: one, a list, or a dict of them."""
        return self._record("agg", func=func, **options)

    # Results.

    def to_parquet(
        self,
        path: Any,
        *,
        partition_cols: Sequence[str] | None = None,
        max_rows_per_file: int | None = None,
        batch_rows: int | None = None,
        memory_limit: int | str | None = None,
        progress: bool | None = None,
        checkpoint: Any = None,
        **options: Any,
    ) -> None:
        """Runs the plan and writes the result as Parquet; see `JaxFrame.to_parquet`.

        Over batches, the file has one row group for each, and appears when it is complete.

        `partition_cols` or `max_rows_per_file` make a folder of several files, with a manifest
        that names them. The new manifest replaces the old one when all files are on the disk, so a
        reader finds the old rows or the new ones, also after a crash. Files of the old manifest
        are removed then.

        Args:
            path: the file; a new or empty folder, or one that was written so before.
            partition_cols: columns of strings, integers or booleans whose values become folders
                `key=value`.
            max_rows_per_file: the number of rows after which a new file begins.
            batch_rows: the number of rows of a batch; see `collect`.
            memory_limit: the limit from which the size of batches follows; see `collect`.
            progress: whether to show a progress bar.
            checkpoint: a folder for finished work, from which an interrupted job goes on; see
                `collect`. The files have the same bytes as those of a job without interruption.
            options: those of `JaxFrame.to_parquet`: `index` and `compression`.

        Raises:
            FileExistsError: the folder has files, but no manifest.
            BlockingIOError: another writer is at work in the folder.
            NotImplementedError: a column of `partition_cols` has another dtype.

        Example:
            >>> import os, tempfile
            >>> from jaxframes.frame import JaxFrame, scan_parquet
            >>> folder = tempfile.TemporaryDirectory()
            >>> plan = JaxFrame({"k": ["a", "b", "a"], "x": [1, 2, 3]}).lazy()
            >>> plan.to_parquet(folder.name, partition_cols=["k"])
            >>> sorted(os.listdir(folder.name))
            ['_manifest.json', 'k=a', 'k=b']
            >>> scan_parquet(folder.name).x.sum().collect().item()
            6
            >>> folder.cleanup()
        """
        options |= {"partition_cols": partition_cols, "max_rows_per_file": max_rows_per_file}
        self._streams.to_parquet(
            self._plan, path, {name: one for name, one in options.items() if one is not None},
            batch_rows=batch_rows, memory_limit=memory_limit, progress=progress,
            checkpoint=checkpoint,
        )  # fmt: skip

    def to_csv(
        self,
        path_or_buf: Any = None,
        *,
        batch_rows: int | None = None,
        memory_limit: int | str | None = None,
        progress: bool | None = None,
        checkpoint: Any = None,
        **options: Any,
    ) -> str | None:
        """Runs the plan and writes comma-separated values; see `JaxFrame.to_csv`.

        Args:
            path_or_buf: the file; over batches it appears when it is complete.
            batch_rows: the number of rows of a batch; see `collect`.
            memory_limit: the limit from which the size of batches follows; see `collect`.
            progress: whether to show a progress bar.
            checkpoint: a folder for finished work; see `to_parquet`.
            options: those of `JaxFrame.to_csv`.
        """
        if batch_rows is None and memory_limit is None and checkpoint is None:
            return self.collect().to_csv(path_or_buf, **options)
        return self._streams.to_csv(
            self._plan, path_or_buf, options, batch_rows=batch_rows, memory_limit=memory_limit,
            progress=progress, checkpoint=checkpoint,
        )  # fmt: skip

    def batches(
        self,
        size: int,
        *,
        drop_remainder: bool = False,
        shuffle_buffer: int | None = None,
        seed: int = 0,
        epochs: int | None = 1,
        state: Mapping[str, Any] | None = None,
        batch_rows: int | None = None,
        memory_limit: int | str | None = None,
        sharding: Any = None,
    ) -> Any:
        """Runs the plan and iterates over frames of `size` rows and one capacity.

        The iterator is a `Batches`: `state()` tells its position, and `state=` starts from one and
        gives bit for bit the batches that would have come. Rows are shuffled within buffers. A
        plan that cannot run over batches of its sources is collected first.

        Args:
            size: the number of rows of a frame.
            drop_remainder: whether to leave out a shorter frame at the end of a pass.
            shuffle_buffer: the number of rows that are shuffled together, rounded up to a multiple
                of `size`; rows keep their order if left out.
            seed: the seed of the shuffling, which differs between passes.
            epochs: the number of passes; endless if None.
            state: where to start, from `state()` of an equal iterator.
            batch_rows: the number of rows that are read at one time.
            memory_limit: the limit from which this number follows; see `collect`. The rows that
                are shuffled together come on top.
            sharding: the placement of the frames; see `JaxFrame`.

        Raises:
            ValueError: a number is not positive, both `batch_rows` and `memory_limit` are given,
                or the state is one of another plan, of other options or of files of other sizes.
        """
        return self._streams.batches(
            self._plan, size, drop_remainder=drop_remainder, shuffle_buffer=shuffle_buffer,
            seed=seed, epochs=epochs, state=state, batch_rows=batch_rows,
            memory_limit=memory_limit, sharding=sharding,
        )  # fmt: skip

    def to_grain(
        self,
        size: int,
        *,
        random_access: bool = False,
        drop_remainder: bool = False,
        shuffle_buffer: int | None = None,
        seed: int = 0,
        epochs: int | None = 1,
        batch_rows: int | None = None,
    ) -> Any:
        """A dataset of the library grain: dicts of NumPy arrays of `size` rows, by label.

        By default it is a `grain.IterDataset` that streams the batches of `batches`. The state of
        its iterator is that of `Batches.state`, which JSON holds and orbax saves.

        With `random_access` it is a `grain.MapDataset` whose element `i` has the rows from
        `i * size` on. `shuffle()` shuffles batches. The plan must keep the number and the order of
        its rows, and start with Parquet files or a frame.

        Args:
            size: the number of rows of an element.
            random_access: whether elements are read by number.
            drop_remainder: whether to leave out a shorter element at the end of a pass.
            shuffle_buffer: see `batches`; for streams.
            seed: see `batches`; for streams.
            epochs: see `batches`; for streams.
            batch_rows: see `batches`; for streams.

        Raises:
            ImportError: grain is not installed; it comes with the extra `grain`.
            NotImplementedError: `random_access`, and the number of rows is not known.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> plan = JaxFrame({"x": [1, 2, 3, 4, 5]}).lazy()
            >>> dataset = plan.to_grain(2).map(lambda batch: batch["x"].sum().item())
            >>> iterator = iter(dataset)
            >>> next(iterator)
            3
            >>> state = iterator.get_state()
            >>> resumed = iter(dataset)
            >>> resumed.set_state(state)
            >>> list(resumed)
            [7, 5]
            >>> plan.to_grain(2, random_access=True)[1]["x"].tolist()
            [3, 4]
        """
        return self._streams.to_grain(
            self._plan, size, random_access=random_access, drop_remainder=drop_remainder,
            shuffle_buffer=shuffle_buffer, seed=seed, epochs=epochs, batch_rows=batch_rows,
        )  # fmt: skip

    def lazy(self) -> "LazyFrame":
        """The plan itself."""
        return self

    def _unheld(self, method: str) -> NotImplementedError:
        return unheld("LazyFrame", method)


def as_plan(value: Any, method: str) -> Node:
    """The plan of a lazy frame, or of a frame in memory."""
    if isinstance(value, LazyFrame):
        return value._plan
    if isinstance(value, FrameBase):
        return plan_of_frame(value, method)
    raise TypeError(
        f"{method}: a plan takes frames and other plans, got {type(value).__name__}. "
        "Make a JaxFrame of it."
    )


def plan_of_frame(frame: FrameBase, method: str = "lazy") -> Scan:
    """A plan that starts with a frame in memory."""
    if is_traced(frame._table):
        raise NotImplementedError(
            f"{method}: a plan cannot hold traced values. Call the eager methods inside jit: they "
            "are compiled together."
        )
    labels = frame._labels
    if labels.index.nlevels > 1 or len(set(labels)) < len(labels):
        raise ValueError(
            f"{method}: the columns of a plan must have distinct labels of one level, got "
            f"{list(labels)}. Rename them first."
        )
    return Scan(Memory(frame._like(frame._table)))


class FramePlanning(FrameBase):
    """Plans that start with a frame."""

    def lazy(self) -> LazyFrame:
        """A plan that starts with this frame: methods are recorded, and run by `collect`.

        Example:
            >>> from jaxframes.frame import JaxFrame, col
            >>> plan = JaxFrame({"x": [3, 1, 2]}).lazy().filter(col("x") > 1).sort_values("x")
            >>> print(plan.explain(optimized=False))
            sort_values(by='x')
            └─ filter(col('x') > 1)
               └─ frame(3 rows, 1 columns)
            >>> plan.collect().x.tolist()
            [2, 3]
        """
        return LazyFrame._of(plan_of_frame(self))


Lazy.frame_class = LazyFrame
