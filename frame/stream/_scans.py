# SPDX-License-Identifier: Apache-2.0
"""Plans that start with files or with Arrow data."""

from collections.abc import Mapping, Sequence

import pyarrow.dataset as ds

from ..io._csv_options import style_of
from ..io._files._manifest import parquet_dataset
from ..io._files._places import found_at, place_of, places_of
from ..plan._node import Scan
from ..plan._sources import ArrowRows, CsvFile, ParquetFiles, Source
from ..table._layout import layout_of
from ..table._types import Sharding
from ._lazy_frame import LazyFrame


def scan_parquet(
    path: object,
    *,
    columns: Sequence[str] | None = None,
    storage_options: Mapping[str, object] | None = None,
    filesystem: object = None,
    sharding: Sharding = None,
) -> LazyFrame:
    """Plans on Parquet files, which are read when the plan runs.

    The plan reads only the columns that it needs, and only the row groups whose statistics do not
    exclude its filters. The rows keep the labels that `read_parquet` gives them.

    Args:
        path: a file, a folder, a pattern with `*`, a list of these, or a URL; folders `key=value`
            become columns. A folder of this machine with a manifest, which `LazyFrame.to_parquet`
            writes, has the files that the manifest names.
        columns: the columns of the plan; all if left out.
        storage_options: arguments of the file system of a URL, for fsspec.
        filesystem: a file system of `pyarrow.fs` or fsspec that has the path. Plans on other file
            systems than this machine's read all row groups, and cannot be pickled.
        sharding: the placement of the rows; see `JaxFrame`.

    Returns:
        A plan of all rows.

    Raises:
        FileNotFoundError: no such file.
        KeyError: no file has a column of that name.

    Example:
        >>> import os, tempfile
        >>> from jaxframes.frame import JaxFrame, col, scan_parquet
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = os.path.join(folder.name, "x.parquet")
        >>> JaxFrame({"x": [1, 2, 3], "y": [4, 5, 6]}).to_parquet(path)
        >>> plan = scan_parquet(path).filter(col("x") > 1)[["x"]]
        >>> print(plan.explain())
        select(['x'])
        └─ filter(col('x') > 1)
           └─ scan_parquet('x.parquet'): columns ['x'], row groups with col('x') > 1
        >>> plan.collect().x.tolist()
        [2, 3]
        >>> folder.cleanup()
    """
    layout = layout_of(sharding, "scan_parquet")
    places = places_of(path, "scan_parquet", filesystem, storage_options)
    paths = found_at(places, "scan_parquet")
    if not places[0].is_local:
        dataset = parquet_dataset(paths, "scan_parquet", places[0].filesystem)
        return _plan_of(ArrowRows(dataset, layout), columns)
    paths = (paths,) if isinstance(paths, str) else tuple(paths)
    return _plan_of(ParquetFiles(paths, layout), columns)


def scan_csv(
    path: object,
    *,
    sep: str = ",",
    columns: Sequence[str] | None = None,
    storage_options: Mapping[str, object] | None = None,
    filesystem: object = None,
    sharding: Sharding = None,
    **options: object,
) -> LazyFrame:
    """Plans on a file of comma-separated values, which is read when the plan runs.

    The plan converts only the columns that it needs. Types are those of `read_csv`: columns that
    seem to have integers, bools or times in the first block of the file are read once for them.
    A column of floats there must have floats in all rows.

    Args:
        path: the file, a path or a URL. The end of its name says how it is compressed. Compressed
            files are read from their start several times: for their header, their types, their
            missing values and their rows. Those of fsspec, and "xz" and "zip", fit in memory.
        sep: the separator.
        columns: the columns of the plan; all if left out.
        storage_options: arguments of the file system of a URL, for fsspec.
        filesystem: a file system of `pyarrow.fs` or fsspec that has the path.
        sharding: the placement of the rows; see `JaxFrame`.
        **options: `quotechar`, `doublequote`, `escapechar`, `skip_blank_lines`, `decimal`,
            `encoding`, `na_values`, `keep_default_na`, `na_filter`, `true_values` and
            `false_values`; see `read_csv`. Other arguments of pandas raise.

    Returns:
        A plan of all rows.

    Raises:
        FileNotFoundError: no such file.
        KeyError: the file has no column of that name.
        ParserError: a line or a value cannot be read.

    Example:
        >>> import os, tempfile
        >>> from jaxframes.frame import JaxFrame, scan_csv
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = os.path.join(folder.name, "x.csv")
        >>> JaxFrame({"x": [1, 2], "y": [4, 5]}).to_csv(path, index=False)
        >>> scan_csv(path).y.max().collect().item()
        5
        >>> folder.cleanup()
    """
    style = style_of({"sep": sep, **options}, "scan_csv")
    place = place_of(path, "scan_csv", filesystem, storage_options)
    (path,) = place.found("scan_csv")
    layout = layout_of(sharding, "scan_csv")
    return _plan_of(CsvFile(path, style, layout, place.filesystem), columns)


def scan_arrow(
    data: object, *, columns: Sequence[str] | None = None, sharding: Sharding = None
) -> LazyFrame:
    """Plans on Arrow data: a dataset, a table, or a reader of batches.

    A reader is read once, when the plan first runs, and its rows are kept.

    Args:
        data: a `pyarrow.dataset.Dataset`, or an object with `__arrow_c_stream__`.
        columns: the columns of the plan; all if left out.
        sharding: the placement of the rows; see `JaxFrame`.

    Returns:
        A plan of all rows.

    Raises:
        KeyError: the data has no column of that name.
        TypeError: the data is neither a dataset nor a stream.

    Example:
        >>> import pyarrow as pa
        >>> from jaxframes.frame import scan_arrow
        >>> scan_arrow(pa.table({"x": [1, 2]})).x.sum().collect().item()
        3
    """
    if not isinstance(data, ds.Dataset) and not hasattr(data, "__arrow_c_stream__"):
        raise TypeError(
            "scan_arrow: data must be a dataset of Arrow or have __arrow_c_stream__, got "
            f"{type(data).__name__}."
        )
    return _plan_of(ArrowRows(data, layout_of(sharding, "scan_arrow")), columns)


def _plan_of(source: Source, columns: Sequence[str] | None) -> LazyFrame:
    plan = LazyFrame._of(Scan(source))
    return plan if columns is None else plan[list(columns)]
