# SPDX-License-Identifier: Apache-2.0
"""Files of sinks, which survive a crash of the machine too."""

import contextlib
import os
from collections.abc import Iterator

import pyarrow as pa

from ..io._files._replacing import replacing
from ..table._types import PathLike
from ._files import naming, writing


@contextlib.contextmanager
def new_file(path: PathLike) -> Iterator[str]:
    """A file that replaces `path`, if no error occurs; errors of writing it name `path`."""
    with writing(os.fspath(path)), replacing(path, "stream", is_synced=True) as temporary:
        yield temporary


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
