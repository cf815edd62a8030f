# SPDX-License-Identifier: Apache-2.0
"""Construction of frames and series from users' data."""

import functools
import json
from collections.abc import Collection, Hashable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import jax
import numpy as np
import pandas as pd
import pyarrow as pa

from ..align._align import in_capacity_of, same_labels
from ..align._as_column import as_column
from ..mapping._astype import as_dtype, cast_columns
from ..table._column import Column, of_family
from ..table._column_labels import Labels
from ..table._counted import label_of
from ..table._dictionary import Dictionary, encode_objects
from ..table._from_host import column_from, index_from, strings_from
from ..table._holes import with_holes_elsewhere
from ..table._layout import Layout, layout_of
from ..table._ndframe import FrameBase, SeriesBase
from ..table._nullable import Family, family_named
from ..table._row_index import RANGE, RowIndex
from ..table._table import Table, as_count
from ..table._take import resized
from ..table._tracing import is_traced
from ..table._types import DtypeLike, Options, Sharding
from ..table._user_functions import as_pandas
from ._files._malformed import MalformedMetadata, check_arrow

NO_CODES: Mapping[int, Dictionary] = MappingProxyType({})


def table_of_data(
    data: object, index: Any, columns: Any, dtype: DtypeLike, sharding: Sharding
) -> tuple[Table, Labels]:
    """Builds the table and the labels of `JaxFrame(data, ...)`."""
    layout = layout_of(sharding, "JaxFrame")
    index, columns = as_pandas(index), as_pandas(columns)
    if isinstance(data, SeriesBase):
        data, columns = _frame_of_series(data, columns)
    if isinstance(data, FrameBase):
        return _of_frame(data, index, columns, dtype, sharding)
    if is_arrow(data) and columns is None and index is None and dtype is None:
        return table_of_arrow(as_arrow_table(data, "JaxFrame"), layout)
    if isinstance(data, Mapping) and any(map(_is_on_device, data.values())):
        return _of_columns(data, index, columns, dtype, layout)
    if isinstance(data, jax.Array):
        return _of_matrix(data, index, columns, dtype, layout)
    if isinstance(data, (list, tuple)) and any(isinstance(one, SeriesBase) for one in data):
        # Series are rows, whose labels are aligned.
        data = [as_pandas(one) for one in data]
    dictionaries = NO_CODES
    if isinstance(data, dict) and columns is None and dtype is None:
        data, dictionaries = _encoded(data)
    frame = pd.DataFrame(data, index=index, columns=columns, dtype=dtype)
    return table_of_pandas(frame, layout, dictionaries)


def _encoded(data: dict[Any, Any]) -> tuple[dict[Any, Any], dict[int, Dictionary]]:
    """Dictionary-encodes columns of strings; returns the dictionaries by position."""
    dictionaries: dict[int, Dictionary] = {}
    columns: dict[Any, Any] = {}
    for position, (name, values) in enumerate(data.items()):
        encoded = encode_objects(values)
        if encoded is not None:
            values, dictionaries[position] = encoded
        columns[name] = values
    return columns, dictionaries


def table_of_pandas(
    frame: pd.DataFrame, layout: Layout, dictionaries: Mapping[int, Dictionary] = NO_CODES
) -> tuple[Table, Labels]:
    """Builds a table from a pandas frame, some of whose columns may be codes of strings."""
    capacity = layout.capacity_for(len(frame))
    columns = tuple(
        column_from(frame.iloc[:, position], capacity, layout, label, dictionaries.get(position))
        for position, label in enumerate(frame.columns)
    )
    row_index = index_from(frame.index, capacity, layout)
    table = Table(columns, row_index, as_count(len(frame)), layout=layout)
    return table, Labels(frame.columns)


def table_of_arrow(
    table: pa.Table,
    layout: Layout,
    strings: Collection[str] = (),
    least: int = 0,
    *,
    in_place: bool = False,
    nulls: Collection[str] = (),
    keeps_masks: bool = False,
    backend: Family | Mapping[str, Family] | None = None,
) -> tuple[Table, Labels]:
    """Builds a table from an Arrow table, with the index of pandas' metadata.

    Args:
        table: the rows.
        layout: where they go.
        strings: the dictionary-encoded columns of strings; others become categories.
        least: the number of rows for which the columns have room, if it is larger than theirs.
        in_place: whether columns may keep the memory of the rows: nothing writes it.
        nulls: the columns of integers and bools with nulls in other rows; see
            `with_holes_elsewhere`.
        keeps_masks: whether integers with nulls keep a mask, because processes share the rows.
        backend: the family of the dtypes of all columns and labels, or families by column; the
            others have default dtypes, or those that pandas' metadata have.
    """
    capacity = layout.capacity_for(max(table.num_rows, least))
    labels, stored, level_names, numbers, families = _labels_of(table.schema)

    wanted: Mapping[str, Family] = {}
    if isinstance(backend, str):
        wanted = dict.fromkeys(table.column_names, backend)
    elif backend is not None:
        wanted = backend

    def made(name: str) -> Column:
        family: Family | None = wanted.get(name) or families.get(name)
        if name in strings:
            return of_family(strings_from(table[name], capacity, layout, name), family)
        keeps_mask = keeps_masks or family is not None
        values: Any = table[name]
        is_labelled = label_of(values.type) is not None
        if family == "arrow" and (is_labelled or pa.types.is_nested(values.type)):
            values = pd.arrays.ArrowExtensionArray(values)
        column = column_from(
            values, capacity, layout, name, in_place=in_place, keeps_masks=keeps_mask
        )
        column = of_family(column, family)
        return with_holes_elsewhere(column) if name in nulls else column

    levels = tuple(map(made, stored))
    row_index = RowIndex(levels, level_names) if levels else numbers
    names = [name for name in table.column_names if name not in stored]
    return Table(
        tuple(map(made, names)), row_index, as_count(table.num_rows), layout=layout
    ), labels


def as_arrow_table(data: object, caller: str) -> pa.Table:
    """Converts an object with `__arrow_c_stream__` to an Arrow table, and checks its positions."""
    # An Arrow table is returned as it is: an empty stream would lose its dictionaries.
    table = data if isinstance(data, pa.Table) else pa.table(data)
    return check_arrow(table, caller)


class _Answer(NamedTuple):
    """What pandas' metadata of an Arrow schema tell.

    Attributes:
        columns: the column labels.
        stored: the columns of the index.
        names: the names of the index.
        numbers: the range that is the index, unless columns are.
        families: the families of the columns of nullable dtypes.
        holes: the columns of bools that miss values in other rows.
    """

    columns: pd.Index
    stored: tuple[str, ...]
    names: tuple[Hashable, ...]
    numbers: RowIndex
    families: Mapping[str, Family]
    holes: Collection[str] = ()


def _labels_of(
    schema: pa.Schema,
) -> tuple[Labels, list[str], tuple[Hashable, ...], RowIndex, Mapping[str, Family]]:
    """What pandas' metadata tell; see `_Answer`."""
    answer = _pandas_answer(schema.serialize().to_pybytes())
    # Users may name an index, which changes it.
    labels = Labels(answer.columns.copy())
    return labels, list(answer.stored), answer.names, answer.numbers, answer.families


def families_of(schema: pa.Schema) -> Mapping[str, Family]:
    """The families of the columns of nullable dtypes, as pandas' metadata tell."""
    return _pandas_answer(schema.serialize().to_pybytes()).families


def columns_with_holes(schema: pa.Schema) -> Collection[str]:
    """The columns of bools that `arrow_table` had of a frame with missing ones in some rows.

    For rows that come back; in files of users a column without nulls is one of bools, as in pandas.
    """
    return _pandas_answer(schema.serialize().to_pybytes()).holes


# The batches of a stream have one schema, and pandas takes milliseconds for its answer.
@functools.lru_cache(64)
def _pandas_answer(serialized: bytes) -> _Answer:
    schema = pa.ipc.read_schema(pa.py_buffer(serialized))
    try:
        metadata = schema.pandas_metadata
        if metadata is None:
            return _Answer(pd.Index(schema.names, dtype="str"), (), (), RANGE, {})
        empty_frame = pa.Table.from_batches([], _without_nested(schema)).to_pandas()
        stored = []
        if not isinstance(empty_frame.index, pd.RangeIndex):
            stored = [name for name in metadata["index_columns"] if isinstance(name, str)]
        if len(empty_frame.columns) + len(stored) != len(schema.names):
            raise ValueError("they describe other columns")
        numbers = _range_of(metadata)
        # Arrow's own conversion forgets those of the index, and that strings were Arrow's.
        families: dict[str, Family] = {}
        holes = set()
        for one in metadata["columns"]:
            family = _family_told(one)
            if family is not None:
                families[one["field_name"]] = family
            if (one.get("metadata") or {}).get("has_holes"):
                holes.add(one["field_name"])
    except (pa.ArrowException, ArithmeticError, AttributeError, LookupError, TypeError,
            ValueError) as error:  # fmt: skip
        raise MalformedMetadata(
            f"pandas' metadata of the Arrow schema are malformed: {error!r}. Remove them with "
            "replace_schema_metadata(None)."
        ) from error
    names = tuple(empty_frame.index.names)
    return _Answer(empty_frame.columns, tuple(stored), names, numbers, families, holes)


def _without_nested(schema: pa.Schema) -> pa.Schema:
    """A schema with integers in place of lists and structs, whose dtypes Arrow cannot read."""
    metadata = schema.pandas_metadata
    nested = {field.name for field in schema if pa.types.is_nested(field.type)}
    if not nested:
        return schema
    plain = pa.schema([pa.field(f.name, pa.int64()) if f.name in nested else f for f in schema])
    columns = [
        {**one, "numpy_type": "int64"} if one["field_name"] in nested else one
        for one in metadata["columns"]
    ]
    told = json.dumps({**metadata, "columns": columns}).encode()
    return plain.with_metadata({**schema.metadata, b"pandas": told})


def _family_told(column: Mapping[str, Any]) -> Family | None:
    """The family of a column in pandas' metadata, or in what `arrow_table` adds to them."""
    added = (column.get("metadata") or {}).get("family")
    return "arrow" if added == "arrow" else family_named(column["numpy_type"])


def _range_of(metadata: Options) -> RowIndex:
    for stored in metadata["index_columns"]:
        if isinstance(stored, dict):
            start, step = stored["start"], stored["step"]
            if not (isinstance(start, int) and isinstance(step, int) and step):
                raise ValueError(f"{stored} is no range")
            np.array([start, step], np.int64)  # raises where they do not fit
            return RowIndex((), (stored["name"],), start, step)
    return RANGE


def is_arrow(data: object) -> bool:
    """Whether data are a table of Arrow, or of another library that gives one."""
    if isinstance(data, (pa.Table, pa.RecordBatch)):
        return True
    return hasattr(data, "__arrow_c_stream__") and not isinstance(data, (pd.DataFrame, pd.Series))


def _is_on_device(value: object) -> bool:
    return isinstance(value, (jax.Array, SeriesBase))


def _frame_of_series(series: Any, columns: Any) -> tuple[Any, Any]:
    """A series as a frame of one column, and the columns to take of it.

    As in pandas, `columns` labels a series without a name, and selects one with a name.
    """
    if series._name is None:
        labels = pd.RangeIndex(1) if columns is None else pd.Index(columns)
        _check_shape((len(series), 1), labels)
        return series._make_frame(series._table.columns, Labels(labels)), None
    if columns is None or all(label == series._name for label in columns):
        return series.to_frame(), columns
    # Columns without values are objects; without the series there are no rows.
    return pd.DataFrame(as_pandas(series), columns=columns), None


def _of_frame(
    frame: FrameBase, index: object, columns: Any, dtype: DtypeLike, sharding: Sharding
) -> tuple[Table, Labels]:
    result: Any = frame
    if columns is not None:
        has_facts = isinstance(columns, (pd.Index, pd.Series))
        is_known = not has_facts and all(label in frame._labels for label in columns)
        result = result[list(columns)] if is_known else result.reindex(columns=columns)
    result = result if index is None else result.reindex(index=index)
    result = result if dtype is None else result.astype(dtype)
    table = result._table
    if sharding is not None:
        table = with_layout(table, layout_of(sharding, "JaxFrame"))
    return table, result._labels


def with_layout(table: Table, layout: Layout) -> Table:
    """Moves a table to another layout."""
    if layout == table.layout:
        return table
    capacity = layout.capacity_for(table.num_rows_on_host)
    columns = tuple(one.forced() for one in (*table.columns, *table.index.levels))
    if columns and columns[0].capacity != capacity:
        columns = resized(columns, capacity, table.layout)
    placed = jax.tree.map(layout.place, columns)
    num_columns = len(table.columns)
    index = table.index
    if index.levels:
        index = RowIndex(placed[num_columns:], index.names)
    return table.replace(columns=placed[:num_columns], index=index, layout=layout)


def _of_columns(
    data: Mapping[Hashable, Any], index: Any, columns: Any, dtype: DtypeLike, layout: Layout
) -> tuple[Table, Labels]:
    names = list(data) if columns is None else list(columns)
    labelled = [data[name] for name in names if isinstance(data[name], (SeriesBase, pd.Series))]
    series: Any = next((one for one in labelled if isinstance(one, SeriesBase)), None)
    if index is None and labelled and not _have_labels_of(series, labelled):
        # pandas orders the labels, by its rules for labels of these dtypes.
        index = pd.DataFrame(dict(enumerate(pd.Series(0, one.index) for one in labelled))).index
    if series is not None:
        table = (series if index is None else series.reindex(pd.Index(index)))._table
    else:
        arrays = [data[name] for name in names if not isinstance(data[name], pd.Series)]
        lengths = {len(value) for value in arrays if not np.isscalar(value)}
        if len(lengths) > 1:
            raise ValueError("All arrays must be of the same length")
        num_rows = len(index) if index is not None else lengths.pop()
        capacity = layout.capacity_for(num_rows)
        row_index = RANGE if index is None else index_from(pd.Index(index), capacity, layout)
        table = Table((), row_index, as_count(num_rows), layout=layout)
    result = tuple(as_column(data[name], table, name) for name in names)
    table = table.with_columns(result)
    if dtype is not None:
        dtypes = [as_dtype(dtype)] * len(result)
        table = table.with_columns(cast_columns(result, dtypes, table.num_rows, layout))
    return table, Labels.of(names) if columns is None else Labels(pd.Index(columns))


def _have_labels_of(series: Any, others: Sequence[Any]) -> bool:
    """Whether all of some series have the labels of one, or cannot be aligned with it."""
    if series is None:
        return False
    ours = [one._table for one in others if isinstance(one, SeriesBase)]
    if is_traced(series._table.index, series._table.num_rows):
        # `aligned_column` raises for other labels.
        return True
    ours = [in_capacity_of(one, series._table) for one in ours]
    return len(ours) == len(others) and all(same_labels(series._table, one) for one in ours)


def _check_shape(shape: tuple[int, ...], labels: pd.Index) -> None:
    if shape[1] != len(labels):
        raise ValueError(
            f"Shape of passed values is {shape}, indices imply {(shape[0], len(labels))}"
        )


def _of_matrix(
    data: jax.Array, index: object, columns: object, dtype: DtypeLike, layout: Layout
) -> tuple[Table, Labels]:
    if data.ndim == 1:
        data = data[:, None]
    if data.ndim != 2:
        raise ValueError(f"Must pass 2-d input. shape={data.shape}")
    labels = pd.RangeIndex(data.shape[1]) if columns is None else pd.Index(columns)
    _check_shape(data.shape, labels)
    parts: dict[Any, Any] = {position: data[:, position] for position in range(data.shape[1])}
    table, _ = _of_columns(parts, index, None, dtype, layout)
    return table, Labels(labels)
