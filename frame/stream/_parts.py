# SPDX-License-Identifier: Apache-2.0
"""A folder of Parquet files that changes at once, when its manifest is renamed into place.

The files of a write have hidden names until all are complete and synced. Then they get their
names, the manifest that names them replaces the old one, and the files of the old one go. A crash
before the manifest is replaced leaves the old rows, and after it the new ones. The next write
removes files that no manifest names.
"""

import contextlib
import dataclasses
import os
import re
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..io._files._manifest import MANIFEST, FolderFile, Manifest, manifest_of
from ..io._files._replacing import sync
from ._arrow_rows import in_schema
from ._files import writing
from ._replacing import locked, write_text

# Files that are open at one time. A file that was closed for another one is not opened again: its
# folder gets one more.
MOST_OPEN = 128
# The limit of Arrow's own writer.
MOST_FOLDERS = 1024
# Arrow reads this value as a null.
_NULL = "__HIVE_DEFAULT_PARTITION__"
_OWN_NAME = re.compile(r"\.?part-\d+-\d+\.parquet")


@dataclasses.dataclass
class _Open:
    """A file that is written."""

    number: int
    path: str
    writer: pq.ParquetWriter
    num_rows: int = 0


class Parts:
    """Writes tables into a folder. A context manager: an error leaves the old files.

    Args:
        folder: a new or empty folder, or one that was written so before.
        partition_cols: columns whose values become folders `key=value`.
        max_rows_per_file: the number of rows after which a new file begins.
        compression: that of Parquet.

    Raises:
        FileExistsError: the folder has other files.
        BlockingIOError: another writer is at work in the folder.
    """

    def __init__(
        self,
        folder: Any,
        partition_cols: Sequence[str],
        max_rows_per_file: int | None,
        compression: str,
    ):
        self._folder = os.path.abspath(os.fspath(folder))
        self._keys = list(partition_cols)
        self._most_rows = max_rows_per_file
        self._compression = compression
        self._schema: pa.Schema | None = None
        self._open: dict[str, _Open] = {}
        self._folders: set[str] = set()
        self._finished: dict[int, FolderFile] = {}
        self._num_files = 0
        self._types: tuple[tuple[str, str], ...] = ()
        self._is_new = self._made_folder = False

    def __enter__(self) -> "Parts":
        self._made_folder = not os.path.exists(self._folder)
        with writing(self._folder):
            os.makedirs(self._folder, exist_ok=True)
        self._lock = locked(
            self._folder,
            f"to_parquet: another writer is at work in the folder {self._folder!r}. Wait for it, "
            "or write into another folder.",
        )
        try:
            self._old = self._prepared()
        except BaseException:
            os.close(self._lock)
            raise
        return self

    def _prepared(self) -> Manifest:
        """The old manifest; an empty one for a new folder, so that no file of it counts."""
        old = manifest_of(self._folder)
        if old is None:
            names = sorted(os.listdir(self._folder))
            others = [name for name in names if not _is_temporary(name)]
            if others:
                raise FileExistsError(
                    f"to_parquet: the folder {self._folder!r} has files, such as {others[0]!r}, "
                    "but no manifest of an earlier write. Give a new folder, or empty this one."
                )
            old = Manifest()
            self._put(old)
        self._is_new = not old.write
        _remove_others(self._folder, old)
        return old

    def _put(self, manifest: Manifest) -> None:
        """Replaces the manifest of the folder."""
        write_text(os.path.join(self._folder, MANIFEST), manifest.text())

    def __exit__(self, kind: object, *error: object) -> None:
        try:
            if kind is None:
                self._commit()
        except BaseException:
            self._discard()
            raise
        else:
            if kind is not None:
                self._discard()
        finally:
            os.close(self._lock)

    def write(self, table: pa.Table) -> None:
        """Adds rows, all of the types of the first ones."""
        if self._schema is None:
            self._schema = table.schema
            self._types = _types_of_keys(table.schema, self._keys)
        table = in_schema(table, self._schema)
        if not self._keys:
            self._add("", table)
            return
        others = [name for name in table.schema.names if name not in self._keys]
        for folder, rows in self._split(table):
            self._add(folder, rows.select(others))

    def _split(self, table: pa.Table) -> Iterator[tuple[str, pa.Table]]:
        """The rows of each folder, in their order."""
        codes, values = _encoded(table, self._keys)
        order = np.argsort(codes, kind="stable")
        starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
        table = table.take(pa.array(order))
        for start, stop in zip(starts, np.append(starts, len(order))[1:], strict=True):
            texts = [
                f"{quote(name, safe='')}={_text(name, column[order[start]].as_py())}"
                for name, column in zip(self._keys, values, strict=True)
            ]
            yield "/".join(texts), table.slice(start, stop - start)

    def _add(self, folder: str, table: pa.Table) -> None:
        """Adds rows to the file of a folder, and begins a new file when it is full."""
        first = 0
        # An empty table still needs a file, which holds the schema.
        while first < table.num_rows or not self._num_files:
            file = self._file(folder, table.schema)
            left = table.num_rows - first
            if self._most_rows is not None:
                left = min(left, self._most_rows - file.num_rows)
            with writing(file.path):
                file.writer.write_table(table.slice(first, left))
            first, file.num_rows = first + left, file.num_rows + left
            if file.num_rows == self._most_rows:
                self._close(folder)

    def _file(self, folder: str, schema: pa.Schema) -> _Open:
        file = self._open.pop(folder, None)
        if file is None:
            if len(self._open) >= MOST_OPEN:
                self._close(next(iter(self._open)))
            self._make(folder)
            number = self._num_files
            self._num_files += 1
            path = os.path.join(self._folder, self._name(folder, number, is_hidden=True))
            with writing(path):
                writer = pq.ParquetWriter(
                    path, schema, compression=self._compression, write_page_checksum=True
                )
            file = _Open(number, path, writer)
        # The file used last comes last.
        self._open[folder] = file
        return file

    def _make(self, folder: str) -> None:
        if folder in self._folders or not folder:
            return
        if len(self._folders) >= MOST_FOLDERS:
            raise ValueError(
                f"to_parquet: partition_cols={self._keys} must have at most {MOST_FOLDERS} "
                "combinations of values. Choose columns with fewer values."
            )
        self._folders.add(folder)
        path = os.path.join(self._folder, folder)
        with writing(path):
            os.makedirs(path, exist_ok=True)

    def _name(self, folder: str, number: int, *, is_hidden: bool) -> str:
        name = f"part-{self._old.write + 1:04}-{number:05}.parquet"
        name = f".{name}" if is_hidden else name
        return f"{folder}/{name}" if folder else name

    def _close(self, folder: str) -> None:
        """Completes the file of a folder."""
        file = self._open.pop(folder)
        with writing(file.path):
            file.writer.close()
            sync(file.path)
            num_bytes = os.path.getsize(file.path)
        name = self._name(folder, file.number, is_hidden=False)
        self._finished[file.number] = FolderFile(name, file.num_rows, num_bytes)

    def _commit(self) -> None:
        if not self._num_files and self._schema is not None:
            others = [name for name in self._schema.names if name not in self._keys]
            self._add("", self._schema.empty_table().select(others))
        for folder in list(self._open):
            self._close(folder)
        with writing(self._folder):
            for number, part in self._finished.items():
                folder = os.path.dirname(part.path)
                hidden = os.path.join(self._folder, self._name(folder, number, is_hidden=True))
                os.rename(hidden, os.path.join(self._folder, part.path))
            for folder in sorted(_with_parents(self._folders), reverse=True):
                sync(os.path.join(self._folder, folder))
            sync(self._folder)
            if self._made_folder:
                sync(os.path.dirname(self._folder))
        parts = tuple(part for _, part in sorted(self._finished.items()))
        new = Manifest(self._old.write + 1, parts, self._types)
        self._put(new)
        with contextlib.suppress(OSError):
            _remove_others(self._folder, new)

    def _discard(self) -> None:
        """Removes the files of an unfinished write."""
        for file in self._open.values():
            with contextlib.suppress(Exception):
                file.writer.close()
        with contextlib.suppress(OSError):
            # The new manifest may be there in spite of an error: then its files stay.
            current = manifest_of(self._folder) or Manifest()
            _remove_others(self._folder, current)
            if self._is_new and not current.write:
                with contextlib.suppress(FileNotFoundError):
                    os.remove(os.path.join(self._folder, MANIFEST))
            if self._made_folder and not os.listdir(self._folder):
                os.rmdir(self._folder)


def _remove_others(folder: str, manifest: Manifest) -> None:
    """Removes files that have names of parts but that the manifest does not name."""
    named = {os.path.join(folder, *part.path.split("/")) for part in manifest.parts}
    for path, _, names in os.walk(folder, topdown=False):
        for name in names:
            file = os.path.join(path, name)
            is_part = _OWN_NAME.fullmatch(name) and file not in named
            if is_part or (_is_temporary(name) and path == folder):
                os.remove(file)
        if path != folder and "=" in os.path.basename(path) and not os.listdir(path):
            os.rmdir(path)


def _is_temporary(name: str) -> bool:
    """Whether a file is a manifest that was not completed."""
    return name.startswith(f".{MANIFEST}.") and name.endswith(".part")


def _with_parents(folders: set[str]) -> set[str]:
    """The folders and those that hold them."""
    parents: set[str] = set()
    for folder in folders:
        names = folder.split("/")
        parents.update("/".join(names[:depth]) for depth in range(1, len(names) + 1))
    return parents


def _types_of_keys(schema: pa.Schema, keys: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The types of the columns that become folders."""
    for name in keys:
        if name not in schema.names:
            raise KeyError(
                f"to_parquet: partition_cols has no column {name!r}. The columns are "
                f"{schema.names}."
            )
        type = schema.field(name).type
        is_text = pa.types.is_string(type) or pa.types.is_large_string(type)
        if not (is_text or pa.types.is_integer(type) or pa.types.is_boolean(type)):
            raise NotImplementedError(
                f"to_parquet: columns of partition_cols must be strings, integers or booleans, got "
                f"{type} {name!r}. Cast it with astype(str)."
            )
    if keys and not set(schema.names) - set(keys):
        raise ValueError(
            f"to_parquet: partition_cols must leave a column to write, got {list(keys)}. Leave "
            "one out."
        )
    return tuple((name, str(schema.field(name).type)) for name in keys)


def _encoded(table: pa.Table, keys: Sequence[str]) -> tuple[np.ndarray, list[Any]]:
    """A number for each row, equal for rows of one folder, and the columns of the keys."""
    codes = np.zeros(table.num_rows, np.int64)
    columns = [table.column(name).combine_chunks() for name in keys]
    for column in columns:
        encoded = column.dictionary_encode(null_encoding="encode")
        own = np.asarray(encoded.indices, np.int64)
        # Few enough for every product to fit: each step numbers the combinations anew.
        _, codes = np.unique(codes * (len(encoded.dictionary) + 1) + own, return_inverse=True)
    return codes, columns


def _text(name: str, value: object) -> str:
    """A value as the name of a folder."""
    if value is None:
        return _NULL
    if value == _NULL:
        raise ValueError(
            f"to_parquet: column {name!r} of partition_cols must not hold {_NULL!r}, which readers "
            "take for a null. Replace it."
        )
    return str(value).lower() if isinstance(value, bool) else quote(str(value), safe="")
