# SPDX-License-Identifier: Apache-2.0
"""concat."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..align._align import same_labels
from ..align._join_types import JOIN_TYPES
from ..table._column import Column
from ..table._column_labels import Labels, common_name, frame_of_labels
from ..table._layout import ONE_DEVICE
from ..table._lazy_base import LazyBase
from ..table._level_orders import Appearance, LevelOrder, LevelOrders, either_order
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._object_functions import inferred_labels
from ..table._row_index import RANGE, RowIndex, common_frequency
from ..table._table import Table
from ..table._tracing import is_traced
from ..table._types import Axis
from ._concat_columns import Options, along_columns
from ._concat_rows import (
    common_columns,
    common_or_missing,
    labels_at,
    pack_rows,
    piece_of_rows,
)


def concat(
    objs: Iterable[Any] | Mapping[Hashable, Any],
    *,
    axis: Axis = 0,
    join: str = "outer",
    ignore_index: bool = False,
    keys: Sequence[Hashable] | None = None,
    levels: object = None,
    names: Sequence[Hashable] | None = None,
    verify_integrity: bool = False,
    sort: bool | None = None,
    copy: object = None,
) -> Any:
    """Concatenates frames or series along rows, or along columns by label.

    Objects of pandas are accepted, too; the result is always a JaxFrame or JaxSeries. `sort` orders
    the labels of the other axis. As in pandas 3, those of rows that are times are ordered without
    it, too, unless it is False.

    Inside `jit` the result has the summed capacity of its parts, and ranges become stored labels.

    Differences from pandas:
        Inside `jit`, numbers and times beside values of another type do not become objects: this
        raises `NotImplementedError`. With `axis=1` labels must be distinct, or the same in all
        parts.

    Example:
        >>> from jaxframes.frame import JaxFrame, concat
        >>> frame = JaxFrame({"x": [1, 2]})
        >>> concat([frame, frame]).index.tolist()
        [0, 1, 0, 1]
    """
    del copy
    if keys is not None and ignore_index:
        raise ValueError(f"Cannot set {ignore_index=} and specify keys. Either should be used.")
    given = objs if isinstance(objs, (list, tuple)) else []
    plan = next((one for one in given if isinstance(one, LazyBase)), None)
    if plan is not None:
        return plan._concatenated(
            given, axis=axis, join=join, ignore_index=ignore_index, keys=keys, levels=levels,
            names=names, verify_integrity=verify_integrity, sort=bool(sort),
        )  # fmt: skip
    if sort is not None and not isinstance(sort, (bool, np.bool_)):
        raise ValueError(
            f"The 'sort' keyword only accepts boolean values; {sort} was passed. Pass a bool."
        )
    if levels is not None:
        if keys is None:
            raise ValueError(
                "levels supported only when keys is not None. Pass keys, or no levels."
            )
        # The labels are those of `keys`. Only their order as categories would differ.
        pd.concat([pd.Series([0.0])] * len(list(keys)), keys=keys, levels=levels)
    parts, keys = _parts(objs, keys)
    if axis not in (0, 1, "index", "columns", "rows"):
        raise ValueError(f"No axis named {axis} for object type DataFrame")
    if join not in ("inner", "outer"):
        raise ValueError("Only can inner (intersect) or outer (union) join the other axis")
    if keys is None and names is None and levels is None and join == "outer":
        parts = _without_nothing(parts)
    layout = parts[0]._layout
    if any(part._layout != layout for part in parts):
        raise ValueError(
            "concat: frames must lie on the same devices. Make them with the same sharding=."
        )
    key_index = None
    if keys is not None and not ignore_index:
        key_index = keys if isinstance(keys, pd.Index) else pd.Index(list(keys))
        if names:
            of_keys = list(names)[: key_index.nlevels]
            key_index = key_index.rename(of_keys if key_index.nlevels > 1 else of_keys[0])
    options = Options(JOIN_TYPES[join], sort, ignore_index, key_index, names)
    is_across = axis in (1, "columns")
    result: Any = along_columns(parts, options) if is_across else _along_rows(parts, options)
    if any(part.attrs != parts[0].attrs for part in parts):
        result.attrs = {}
    # As in pandas, the names of series may repeat.
    is_verified = not is_across or any(isinstance(part, FrameBase) for part in parts)
    if not (verify_integrity and is_verified):
        return result
    labels = result.columns if is_across else result.index
    if labels.has_duplicates:
        overlap = labels[labels.duplicated()].unique()
        raise ValueError(f"Indexes have overlapping values: {overlap}")
    return result


def stacked(parts: Sequence[Any]) -> Any:
    """The rows of several batches of a frame or a series, whose labels keep their dtype."""
    if len(parts) == 1:
        return parts[0]
    return _along_rows(list(parts), Options(JOIN_TYPES["outer"], False, False, None, None, False))


def _parts(
    objs: Any, keys: Sequence[Hashable] | None
) -> tuple[list[Any], Sequence[Hashable] | None]:
    if isinstance(objs, (NDFrame, pd.DataFrame, pd.Series, str)):
        raise TypeError(
            "first argument must be an iterable of pandas objects, you passed an object of type "
            f'"{type(objs).__name__}"'
        )
    if isinstance(objs, Mapping):
        keys = list(objs) if keys is None else list(keys)
        objs = [objs[key] for key in keys]
    parts = list(objs)
    if not parts:
        raise ValueError("No objects to concatenate")
    if keys is not None:
        # An index has a dtype and a name.
        keys = keys if isinstance(keys, pd.Index) else list(keys)
        if len(keys) != len(parts):
            raise ValueError(
                f"The length of the keys ({len(keys)}) must match the length of the objects to "
                f"concatenate ({len(parts)})"
            )
        given = [at for at, part in enumerate(parts) if part is not None]
        keys = keys.take(given) if isinstance(keys, pd.Index) else [keys[at] for at in given]
    parts = [part for part in parts if part is not None]
    if not parts:
        raise ValueError("All objects passed were None")
    for part in parts:
        if not isinstance(part, (NDFrame, pd.DataFrame, pd.Series)):
            raise TypeError(
                f"cannot concatenate object of type '{type(part)}'; "
                "only Series and DataFrame objs are valid"
            )
    # Objects of pandas are placed on the devices of the first part of ours.
    layout = next((part._layout for part in parts if isinstance(part, NDFrame)), ONE_DEVICE)
    for number, part in enumerate(parts):
        if not isinstance(part, NDFrame):
            is_frame = isinstance(part, pd.DataFrame)
            make = NDFrame.frame_class if is_frame else NDFrame.series_class
            parts[number] = make(part, sharding=layout)
    return parts, keys


def _without_nothing(parts: list[Any]) -> list[Any]:
    """Frames but those of no rows and no columns, which as in pandas have no say in dtypes."""
    if not all(isinstance(part, FrameBase) for part in parts):
        return parts

    def has_any(part: Any) -> bool:
        num_rows = part._table.num_rows
        return bool(len(part._labels)) or is_traced(num_rows) or bool(part._table.num_rows_on_host)

    return [part for part in parts if has_any(part)] or parts


def _along_rows(parts: list[Any], options: Options) -> Any:
    tables = [part._table for part in parts]
    if all(isinstance(part, SeriesBase) for part in parts):
        name = common_name(part._name for part in parts)
        counts = [table.num_rows for table in tables]
        columns = common_columns([part._only for part in parts], name, counts, of_frames=False)
        rows = _stacked([(column,) for column in columns], tables, options)
        return parts[0]._make_series(rows.columns[0], name, rows)
    # Series without a name are one column, as in pandas.
    frames = [
        part
        if isinstance(part, FrameBase)
        else part._make_frame(
            part._table.columns,
            Labels.of([0 if part._name is None else part._name]),
        )
        for part in parts
    ]
    own = frames[0]._labels
    if not options.sort and all(own.index.identical(frame._labels.index) for frame in frames):
        labels = own
    else:
        # Let pandas combine the labels, using parts without rows.
        shells = [frame_of_labels(frame._labels.index) for frame in frames]
        labels = Labels(pd.concat(shells, join=options.join.how, sort=bool(options.sort)).columns)
    rows = _stacked(_columns_under(frames, labels), tables, options)
    return frames[0]._make_frame(rows.columns, labels, rows)


def _columns_under(frames: Sequence[Any], labels: Labels) -> list[tuple[Column, ...]]:
    """The columns of each frame under common labels; absent columns become missing values."""
    if all(frame._labels.index.equals(labels.index) for frame in frames):
        by_label = [[frame._table.columns[i] for frame in frames] for i in range(len(labels))]
    else:
        by_label = [
            [frame._column(label) if label in frame._labels else None for frame in frames]
            for label in labels
        ]
    aligned: list[tuple[Column, ...]] = []
    for label, columns in zip(labels, by_label, strict=True):
        aligned.append(common_or_missing(columns, label, [frame._table for frame in frames]))
    return [tuple(columns[part] for columns in aligned) for part in range(len(frames))]


def _stacked(
    pieces: Sequence[tuple[Column, ...]], tables: Sequence[Table], options: Options
) -> Table:
    """Concatenates the rows of all tables and their labels."""
    keys, names = options.keys, options.names
    num_columns = len(pieces[0])
    index_names, levels, orders = (None,), None, ()
    if not options.ignore_index:
        index_names = _common_names([table.index for table in tables])
        levels = _levels(tables, is_kept=keys is not None or not num_columns)
        if keys is None and _keeps_name(tables, levels):
            index_names = tables[0].index.names
    if levels is None:
        index = RANGE if options.ignore_index else tables[0].index.named(index_names)
        return pack_rows(pieces, tables).replace(index=index)
    rows = pack_rows(
        [(*columns, *level) for columns, level in zip(pieces, levels, strict=True)], tables
    )
    columns, level_columns = rows.columns[:num_columns], rows.columns[num_columns:]
    keeps_labels = keys is not None and _have_same_labels(tables)
    if options.infers and len(level_columns) == 1 and not keeps_labels:
        # pandas appends indexes, and then infers a dtype from objects.
        level_columns = inferred_labels(level_columns, rows.num_rows, keeps_none=False)
    if keys is not None:
        piece_ids = piece_of_rows(tuple(t.num_rows for t in tables), rows.capacity, rows.layout)
        levels_of_keys = [keys.get_level_values(at) for at in range(keys.nlevels)]
        of_keys = [labels_at(level, piece_ids, rows.layout) for level in levels_of_keys]
        level_columns = (*of_keys, *level_columns)
        index_names = (*keys.names, *index_names)
        orders = _orders(keys, tables, keeps_labels=keeps_labels)
        if names is not None and len(names) > keys.nlevels:
            if len(names) != len(level_columns):
                raise ValueError("Length of names must match number of levels in MultiIndex.")
            index_names = tuple(names)
    freq = common_frequency([table.index for table in tables])
    index = RowIndex(level_columns, tuple(index_names), freq=freq, orders=orders)
    return rows.replace(columns=columns, index=index)


def _orders(keys: pd.Index, tables: Sequence[Table], *, keeps_labels: bool) -> LevelOrders:
    """The orders of the levels of keys, and of those behind them: as in each part, if equal."""
    index = tables[0].index
    one_level = keys.nlevels == 1
    of_keys: LevelOrders = (keys.unique(),) if one_level else (None,) * keys.nlevels
    of_rows: Sequence[LevelOrder] = (None,) * index.num_levels
    if keeps_labels and index.num_levels > 1:
        of_rows = index.orders or of_rows
    elif keeps_labels and not index.is_range and not is_traced(index, tables[0].num_rows):
        of_rows = [Appearance(index.levels[0], tables[0].num_rows)]
    return either_order((*of_keys, *of_rows))


def _have_same_labels(tables: Sequence[Table]) -> bool:
    return all(same_labels(tables[0], table) for table in tables[1:])


def _keeps_name(tables: Sequence[Table], levels: list[tuple[Column, ...]] | None) -> bool:
    """Whether pandas keeps the index name of the first part, regardless of the others.

    It does if the first index is a range and another is an integer index that is not a range.
    """
    is_range = [table.index.is_range for table in tables]
    if levels is None or not is_range[0] or all(is_range):
        return False
    return np.issubdtype(levels[0][0].dtype, np.signedinteger)


def _common_names(indexes: Sequence[RowIndex]) -> tuple[Hashable, ...]:
    if len({index.num_levels for index in indexes}) > 1:
        return (None,)
    return tuple(map(common_name, zip(*(index.names for index in indexes), strict=True)))


def _levels(tables: Sequence[Table], *, is_kept: bool) -> list[tuple[Column, ...]] | None:
    """The labels of each table as columns of common types; None if they form one range."""
    if not is_kept and _is_one_range(tables):
        return None
    if len({table.index.num_levels for table in tables}) > 1:
        raise NotImplementedError(
            "concat: row labels must have equally many levels in each part. Use reset_index()."
        )
    levels = [table.index_columns() for table in tables]
    counts = [table.num_rows for table in tables]
    by_level = [
        common_columns(of_level, "index", counts, of_frames=False)
        for of_level in zip(*levels, strict=True)
    ]
    return [tuple(columns[part] for columns in by_level) for part in range(len(tables))]


def _is_one_range(tables: Sequence[Table]) -> bool:
    first = tables[0].index
    if not all(table.index.is_range and table.index.step == first.step for table in tables):
        return False
    if len(tables) == 1:
        return True
    if is_traced([(table.num_rows, table.index) for table in tables]):
        return False
    lengths = [table.num_rows_on_host for table in tables]
    starts = first.first + first.step * np.cumsum([0, *lengths[:-1]])
    return all(table.index.first == start for table, start in zip(tables, starts, strict=True))
