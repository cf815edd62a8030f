# SPDX-License-Identifier: Apache-2.0
"""The sources of a plan: frames in memory, and files that are read when the plan runs."""

import abc
import dataclasses
import functools
import os
from collections.abc import Hashable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
from pyarrow import csv, fs

from ..io._construction import table_of_arrow
from ..io._csv import read_csv
from ..io._csv_columns import (
    Header,
    header_of,
    hexadecimals,
    is_open,
    type_of_all_rows,
    wide_integers,
)
from ..io._csv_options import CsvFormat
from ..io._dataset_schema import (
    columns_with_nulls,
    is_integer_or_bool,
    names_with_nulls,
    stored_names,
    without_rows,
)
from ..io._files._malformed import check_arrow, naming_files, reading
from ..io._files._manifest import parquet_dataset
from ..io._files._places import Place, source_of, stamp_of
from ..io._parquet import dictionary_encoded, read_parquet, with_codes
from ..table._from_host import labels_at_positions
from ..table._layout import Layout
from ..table._ndframe import FrameBase
from ..table._types import Options
from ._expression import Expression
from ._row_groups import ValueRange, as_filter, ranges_of_groups, row_groups

Columns = Sequence[Hashable] | None


@dataclasses.dataclass(frozen=True, eq=False)
class Source(abc.ABC):
    """Rows with fixed labels. Hashable; equal sources give the same rows."""

    def __getstate__(self) -> dict[str, Any]:
        # Without the schema, which is read again.
        fields = dataclasses.fields(self)
        return {field.name: getattr(self, field.name) for field in fields}

    @property
    @abc.abstractmethod
    def empty(self) -> Any:
        """A frame with the labels and dtypes of the source, without rows."""

    @abc.abstractmethod
    def read(
        self, columns: Columns, predicate: Expression | None, limit: int | None, has_labels: bool
    ) -> Any:
        """Reads a frame.

        Args:
            columns: the columns to read; all if None.
            predicate: rows that do not satisfy it may be left out.
            limit: rows behind the first `limit` may be left out.
            has_labels: whether the row labels are needed.
        """

    @abc.abstractmethod
    def text(self) -> str:
        """The name of the scan and what it reads, for `explain`."""

    @property
    def can_skip_rows(self) -> bool:
        """Whether `read` heeds a predicate or a limit."""
        return False

    @property
    def num_rows(self) -> int | None:
        """The number of rows, if it is known without reading them."""
        return None

    @functools.cached_property
    def nulls(self) -> frozenset[str]:
        """The columns of integers and bools with a null in some row: they decide their dtypes."""
        return frozenset()

    def ranges(self, label: Hashable) -> tuple[ValueRange, ...] | None:
        """The ranges of a column in parts of the rows, if they are known without reading them."""
        return None


@dataclasses.dataclass(frozen=True, eq=False)
class Memory(Source):
    """A frame in memory. Compared by identity: of its table, because frames can be changed.

    Attributes:
        frame: a frame that nothing else refers to.
    """

    frame: Any

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Memory):
            return False
        a, b = self.frame, other.frame
        return a._stored is b._stored and a._labels == b._labels

    def __hash__(self) -> int:
        return id(self.frame._stored)

    @functools.cached_property
    def empty(self) -> Any:
        """The frame without rows."""
        return self.frame.head(0)

    def read(
        self, columns: Columns, predicate: Expression | None, limit: int | None, has_labels: bool
    ) -> Any:
        """Selects the columns."""
        return self.frame if columns is None else self.frame[list(columns)]

    @property
    def num_rows(self) -> int | None:
        """The number of rows of the frame."""
        return len(self.frame)

    def text(self) -> str:
        """The size of the frame."""
        num_rows, num_columns = self.frame.shape
        return f"frame({num_rows} rows, {num_columns} columns)"

    def __reduce__(self) -> Any:
        raise TypeError(
            "a plan over a frame in memory cannot be pickled, because it holds no rows. Write the "
            "frame with to_parquet(), and plan on scan_parquet()."
        )


class Files(Source):
    """Files by name. Equal ones had equal stamps when their schemas were read.

    What is found out about a plan, such as its dtypes, is kept for equal plans: not for those of a
    file that has been written anew.
    """

    @abc.abstractmethod
    def files(self) -> Sequence[str]:
        """The names of the files."""

    @functools.cached_property
    def _stamps(self) -> tuple[tuple[int, int], ...]:
        return tuple(map(stamp_of, self.files()))

    def _key(self) -> tuple[Any, ...]:
        return (type(self), *self.__getstate__().values())

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, Files)
            and self._key() == other._key()
            and self._stamps == other._stamps
        )

    def __hash__(self) -> int:
        return hash(self._key())


@dataclasses.dataclass(frozen=True, eq=False)
class ParquetFiles(Files):
    """Parquet files by name.

    Attributes:
        paths: files, or one folder.
        layout: the placement of the rows.
    """

    paths: tuple[str, ...]
    layout: Layout

    def _dataset(self) -> Any:
        return parquet_dataset(list(self.paths), "scan_parquet")

    @functools.cached_property
    def _first_seen(self) -> Any:
        """The dataset whose schema the plan has. Rows are read from the files as they are then."""
        return self._dataset()

    def files(self) -> Sequence[str]:
        """The files, those of a folder too."""
        return self._first_seen.files

    @functools.cached_property
    def empty(self) -> Any:
        """A frame of the schema."""
        _ = self._stamps
        dataset, nulls = self._first_seen, self.nulls
        with reading("scan_parquet", self.paths):
            return _frame_of(without_rows(dataset), self.layout, nulls=nulls)

    @functools.cached_property
    def nulls(self) -> frozenset[str]:
        """The columns of integers and bools with nulls, by the footers of the files."""
        return columns_with_nulls(self._first_seen, "scan_parquet")

    def read(
        self, columns: Columns, predicate: Expression | None, limit: int | None, has_labels: bool
    ) -> Any:
        """Reads the columns of the row groups that the predicate does not exclude."""
        if self.layout.spans_processes:
            names: Any = columns
            return read_parquet(list(self.paths), columns=names, sharding=self.layout)
        dataset = self._dataset()
        condition = None if predicate is None else as_filter(predicate, dataset.schema)
        with reading("scan_parquet", self.paths):
            groups = row_groups(dataset, condition, limit)
            names = None if columns is None else stored_names(dataset.schema, columns)
            strings: list[str] = []
            fragments = groups.fragments
            if fragments:
                known = dictionary_encoded(dataset)
                strings = [name for name in known if names is None or name in names]
            if strings:
                dataset = with_codes(dataset, strings)
                fragments = _of_one_file(dataset, fragments)
            table = _table_of(dataset, fragments, names)
            frame = _frame_of(table, self.layout, strings, self.nulls)
        if not has_labels or (groups.are_all or not frame._table.index.is_range):
            return frame
        # The labels of a range tell the positions of rows in the whole dataset.
        capacity, layout = frame._table.capacity, self.layout
        index = labels_at_positions(frame._table.index, groups.row_ids(), capacity, layout)
        return frame._like(frame._table.replace(index=index))

    @property
    def can_skip_rows(self) -> bool:
        """Whether this process alone reads the files: then it skips row groups."""
        return not self.layout.spans_processes

    @property
    def num_rows(self) -> int | None:
        """The number of rows, by the footers of the files."""
        with reading("scan_parquet", self.paths):
            return self._dataset().count_rows()

    def ranges(self, label: Hashable) -> tuple[ValueRange, ...] | None:
        """The ranges of a column without nulls in the row groups, by the footers of the files."""
        with reading("scan_parquet", self.paths):
            return ranges_of_groups(self._dataset(), label) if isinstance(label, str) else None

    def text(self) -> str:
        """The names of the files."""
        return f"scan_parquet({_listed(self.paths)})"


@dataclasses.dataclass(frozen=True, eq=False)
class CsvFile(Files):
    """A file of comma-separated values by name.

    Attributes:
        path: the file. The end of its name says how it is compressed.
        style: how the file is divided into values.
        layout: the placement of the rows.
        filesystem: the file system that has the file; None for this machine's.
    """

    path: str
    style: CsvFormat
    layout: Layout
    filesystem: fs.FileSystem | None = None

    def files(self) -> Sequence[str]:
        """The one file, if it is of this machine: others have no stamps."""
        return [self.path] if self.filesystem is None else []

    def _key(self) -> tuple[Any, ...]:
        # Without a stamp two sources may have different rows.
        return super()._key() if self.filesystem is None else (type(self), id(self))

    @functools.cached_property
    def empty(self) -> Any:
        """A frame of the columns without rows; see `_types_and_nulls`."""
        _ = self._stamps
        with naming_files("scan_csv", self.path):
            return _frame_of(self._schema.empty_table(), self.layout, nulls=self.nulls)

    @functools.cached_property
    def _schema(self) -> pa.Schema:
        with self.open() as reader:
            return reader.schema

    @functools.cached_property
    def nulls(self) -> frozenset[str]:
        """The columns of integers and bools with nulls."""
        return self._types_and_nulls[1]

    @functools.cached_property
    def _header(self) -> Header:
        return header_of(self._source, None, 0, self.style.parse(), self.style.encoding)

    @functools.cached_property
    def _types_and_nulls(self) -> tuple[dict[str, Any], frozenset[str]]:
        """The types of the columns that the first block leaves open, and `nulls`.

        All rows are read once, without the columns of floats and strings.
        """

        def first_rows(options: Options) -> Any:
            with self._reader(options) as reader:
                return next(iter(reader), reader.schema.empty_table())

        rows = first_rows({})
        wide = wide_integers(rows, first_rows, (), "scan_csv")
        kinds = {field.name: field.type for field in rows.schema} | wide
        kinds = {name: kind for name, kind in kinds.items() if is_open(kind) or name in wide}
        # Arrow gives the columns of no rows no types.
        if not kinds or not rows.num_rows:
            return wide, frozenset()
        with reading("scan_csv", self.path):
            try:
                nulls = self._nulls_of(kinds)
            except pa.ArrowInvalid:
                for name in kinds.keys() - wide.keys():
                    kinds |= self._type_of_all_rows(name, kinds[name])
                nulls = self._nulls_of(kinds)
            kinds |= hexadecimals(pa.schema(kinds), self._all_rows, (), self._source())
        # As in pandas, a column without a value is one of floats.
        types = {
            name: pa.float64() if pa.types.is_null(kind) else kind for name, kind in kinds.items()
        }
        return types, frozenset(name for name in nulls if is_integer_or_bool(types[name]))

    def _nulls_of(self, kinds: dict[str, pa.DataType]) -> frozenset[str]:
        """The names of columns with nulls, of some that are read with these types."""
        names = list(kinds)
        with self._reader({"include_columns": names, "column_types": kinds}) as reader:
            return names_with_nulls(reader, names)

    def _all_rows(self, options: Options) -> pa.Table:
        with self._reader(options) as reader:
            return reader.read_all()

    def _type_of_all_rows(self, name: str, first: pa.DataType) -> dict[str, pa.DataType]:
        """The type of a column, which has another one in the first block."""
        kind = type_of_all_rows(lambda kind: self._nulls_of({name: kind}), first)
        if first != pa.int64() or kind != pa.float64():
            return {name: kind}
        rows = self._all_rows({"include_columns": [name], "column_types": {name: kind}})
        return {name: kind} | wide_integers(rows, self._all_rows, (), "scan_csv")

    def open(self, names: Sequence[Any] | None = None) -> Any:
        """A reader of all columns, or of some."""
        types = self._types_and_nulls[0]
        if names is not None:
            types = {name: types[name] for name in names if name in types}
        return self._reader({"include_columns": names and list(names), "column_types": types})

    def _reader(self, options: Options) -> Any:
        return csv.open_csv(
            self._source(),
            read_options=self._header.options,
            parse_options=self.style.parse(),
            convert_options=csv.ConvertOptions(**self.style.convert(), **options),
        )

    def _source(self) -> Any:
        """What Arrow reads the file from, from its start."""
        return source_of(Place(self.path, self.filesystem), "scan_csv")

    def read(
        self, columns: Columns, predicate: Expression | None, limit: int | None, has_labels: bool
    ) -> Any:
        """Reads the columns."""
        names: Any = None if columns is None else list(columns)
        if names == []:
            # The number of rows is known from a column only.
            names = [self.empty._labels[0]]
        # Others have the types of all rows already.
        floats = [
            field.name
            for field in self._schema
            if pa.types.is_float64(field.type) and (names is None or field.name in names)
        ]
        frame = read_csv(
            self.path, **self.style.arguments(), usecols=names, sharding=self.layout,
            dtype=dict.fromkeys(floats, "float64"), filesystem=self.filesystem,
        )  # fmt: skip
        return frame if names is None else frame[names]

    def text(self) -> str:
        """The name of the file."""
        return f"scan_csv({_listed([self.path])})"


@dataclasses.dataclass(frozen=True, eq=False)
class ArrowRows(Source):
    """A dataset, table or reader of Arrow, compared by identity.

    Attributes:
        data: a `pyarrow.dataset.Dataset`, or an object with `__arrow_c_stream__`.
        layout: the placement of the rows.
    """

    data: Any
    layout: Layout

    @functools.cached_property
    def _dataset(self) -> Any:
        # A reader can be read once: its rows are kept.
        return self.data if isinstance(self.data, ds.Dataset) else ds.dataset(_table(self.data))

    @functools.cached_property
    def empty(self) -> Any:
        """A frame of the schema."""
        return _frame_of(without_rows(self._dataset), self.layout, nulls=self.nulls)

    @functools.cached_property
    def nulls(self) -> frozenset[str]:
        """The columns of integers and bools with nulls; see `columns_with_nulls`."""
        return columns_with_nulls(self._dataset, "scan_arrow")

    def read(
        self, columns: Columns, predicate: Expression | None, limit: int | None, has_labels: bool
    ) -> Any:
        """Reads the columns."""
        dataset = self._dataset
        names = None if columns is None else stored_names(dataset.schema, columns)
        table = check_arrow(dataset.to_table(columns=names), "scan_arrow")
        return _frame_of(table, self.layout, nulls=self.nulls)

    def text(self) -> str:
        """The kind of the data."""
        return f"scan_arrow({type(self.data).__name__})"

    def __reduce__(self) -> Any:
        raise TypeError(
            "a plan over Arrow data in memory cannot be pickled, because it holds no rows. Write "
            "the data to Parquet, and plan on scan_parquet()."
        )


def _table(data: object) -> pa.Table:
    return data if isinstance(data, pa.Table) else pa.RecordBatchReader.from_stream(data).read_all()


def _frame_of(
    table: pa.Table,
    layout: Layout,
    strings: Sequence[str] = (),
    nulls: frozenset[str] = frozenset(),
) -> Any:
    return FrameBase.frame_class._of(*table_of_arrow(table, layout, strings, nulls=nulls))


def _of_one_file(dataset: Any, fragments: Sequence[Any]) -> list[Any]:
    """The row groups of fragments in a dataset of their file."""
    (file,) = dataset.get_fragments()
    return [file.subset(row_group_ids=[group.id]) for one in fragments for group in one.row_groups]


def _table_of(dataset: Any, fragments: Sequence[object], names: list[str] | None) -> pa.Table:
    if not fragments:
        table = without_rows(dataset)
        return table if names is None else table.select(names)
    pieces = ds.FileSystemDataset(
        list(fragments), dataset.schema, dataset.format, dataset.filesystem
    )
    return pieces.to_table(columns=names)


def _listed(paths: Sequence[str]) -> str:
    first = os.path.basename(os.path.normpath(paths[0]))
    return repr(first) if len(paths) == 1 else f"{first!r} and {len(paths) - 1} more"
