# SPDX-License-Identifier: Apache-2.0
"""Files of sinks, which survive a crash of the machine too."""

import contextlib
import fcntl
import json
import os
import tempfile
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from ..io._files._places import Place
from ..io._files._replacing import replacing
from ..table._types import PathLike
from ._files import naming, writing


@contextlib.contextmanager
def new_file(path: PathLike) -> Iterator[str]:
    """A file that replaces `path`, if no error occurs; errors of writing it name `path`."""
    with writing(os.fspath(path)), replacing(path, "stream", is_synced=True) as temporary:
        yield temporary


@contextlib.contextmanager
def new_file_at(place: Place) -> Iterator[str]:
    """A file that appears at a place, if no error occurs.

    One of another store is written on this machine first, and copied there when it is complete.
    """
    if place.is_local:
        with new_file(place.path) as temporary:
            yield temporary
        return
    with tempfile.TemporaryDirectory(prefix="jaxframes-") as folder:
        temporary = os.path.join(folder, "part")
        with writing(temporary):
            yield temporary
        place.copy_file(temporary)


def locked(folder: str, if_locked: str) -> int:
    """Locks a folder until the descriptor is closed, or the process ends.

    Raises:
        BlockingIOError: another process has the lock, for which `if_locked` is the message.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise BlockingIOError(if_locked) from None
    except OSError:
        # A file system without locks.
        pass
    return descriptor


def write_text(path: str, text: str) -> None:
    """Writes a file of text, which has its name when it is complete and synced."""
    with new_file(path) as temporary, open(temporary, "w", encoding="utf-8") as file:
        file.write(text)


def read_json(path: str) -> Any:
    """Reads a file of a checkpoint; None if there is no such file."""
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise OSError(
            f"checkpoint: the file {path!r} is corrupted: {error}. Remove the folder to start "
            "again."
        ) from error


def write_arrow(path: str, table: pa.Table) -> None:
    """Writes an Arrow file, which has its name when it is complete and synced."""
    with (
        new_file(path) as temporary,
        pa.OSFile(temporary, "wb") as file,
        pa.ipc.new_file(file, table.schema) as writer,
    ):
        writer.write_table(table)


def read_arrow(path: str) -> pa.Table:
    """Reads an Arrow file; errors name it."""
    with naming(path), pa.OSFile(path) as file:
        return pa.ipc.open_file(file).read_all()
