# SPDX-License-Identifier: Apache-2.0
"""Writes the content of a file: whole or not at all, compressed by its name, at a path or a URL."""

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import pyarrow as pa

from ._files._places import Place, compressed, compression_of, place_of
from ._files._replacing import is_local_path, replacing


class Target(NamedTuple):
    """Where a file goes, and how it is compressed.

    Attributes:
        place: the place of a path or a URL; None for a file object.
        compression: the name of the compression, or None.
        caller: the method, for errors.
    """

    place: Place | None
    compression: str | None
    caller: str

    @property
    def is_plain_file(self) -> bool:
        """Whether it is a file of this machine that is written as it is."""
        place = self.place
        return bool(place and place.is_local and not self.compression and is_local_path(place.path))


def target_of(
    path: object,
    caller: str,
    *,
    compression: object = "infer",
    filesystem: object = None,
    storage_options: Mapping[str, object] | None = None,
) -> Target:
    """The target that the arguments of a writer name."""
    is_path = isinstance(path, (str, os.PathLike))
    place = place_of(path, caller, filesystem, storage_options) if is_path else None
    return Target(place, compression_of(path if is_path else "", compression, caller), caller)


def write_content(path: Any, target: Target, content: Any) -> None:
    """Writes the content of a file; `path` is the file object of a target without a place."""
    place = target.place
    name = "" if place is None else os.fspath(place.path)
    content = compressed(content, target.compression, name)
    if place is None:
        try:
            path.write(content)
        except TypeError:
            # A file of text.
            path.write(bytes(content).decode())
    elif not place.is_local:
        place.write_bytes(content)
    elif is_local_path(place.path):
        with replacing(place.path, target.caller) as temporary, open(temporary, "wb") as file:
            file.write(content)
    else:
        # A pipe or a device.
        with open(place.path, "wb") as file:
            file.write(content)


def without_dictionaries(table: pa.Table) -> pa.Table:
    """The table with values in place of codes, for writers that have no dictionaries."""
    columns = [
        column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        for column in table.columns
    ]
    return pa.Table.from_arrays(columns, names=table.column_names)
