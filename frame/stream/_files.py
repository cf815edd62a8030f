# SPDX-License-Identifier: Apache-2.0
"""Checks of the files of a stream: each fault ends in an error that names the file."""

import contextlib
from collections.abc import Iterator

import pyarrow as pa

from ..io._files._places import stamp_of


class WatchedFiles:
    """The size and the time of change of each file when the stream began."""

    def __init__(self, paths: list[str]):
        self._seen = {path: stamp(path) for path in paths}

    def check(self, path: str) -> None:
        """Raises if a file has vanished or changed since the stream began."""
        now = stamp(path)
        if now != self._seen.get(path, now):
            raise RuntimeError(
                f"stream: the file {path!r} has changed since the stream began. Start again, and "
                "write new files instead of replacing those that are read."
            )


def stamp(path: str) -> tuple[int, int]:
    """The `stamp_of` a file; the error names a file that has vanished."""
    try:
        return stamp_of(path)
    except FileNotFoundError:
        raise FileNotFoundError(f"stream: the file {path!r} has vanished.") from None


@contextlib.contextmanager
def naming(path: str) -> Iterator[None]:
    """Adds the name of a file to the errors of Arrow."""
    try:
        yield
    except FileNotFoundError:
        raise FileNotFoundError(f"stream: the file {path!r} has vanished.") from None
    except (pa.ArrowException, OSError) as error:
        raise OSError(
            f"stream: the file {path!r} cannot be read: it is truncated or corrupted. {error}"
        ) from error


@contextlib.contextmanager
def writing(path: str) -> Iterator[str]:
    """Gives a path, and adds it to errors of writing its file."""
    try:
        yield path
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        reason = f"stream: cannot write the file: {error.strerror or error}"
        raise OSError(error.errno, reason, path) from error


def check_schema(path: str, schema: pa.Schema, expected: pa.Schema, columns: list[str]) -> None:
    """Raises unless a file has the columns of the first file, with their types."""
    for name in columns:
        wanted = expected.field(name).type
        found = schema.field(name).type if name in schema.names else None
        if found != wanted:
            arrived = "has no such column" if found is None else f"has {found}"
            raise TypeError(
                f"stream: column {name!r} must be {wanted} in all files, as in the first one, but "
                f"the file {path!r} {arrived}. Cast it in the file."
            )
