# SPDX-License-Identifier: Apache-2.0
"""Files that appear when they are complete."""

import contextlib
import fcntl
import glob
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...table._types import PathLike


@contextlib.contextmanager
def replacing(path: PathLike, caller: str, *, is_synced: bool = False) -> Iterator[str]:
    """Gives the name of a new file beside `path`, which replaces it if no error occurs.

    The end of this process at any moment leaves the old file or the whole new one. With `is_synced`
    so does a crash of the machine: the file is synced before it is renamed, and its folder after.
    """
    # The file that a link leads to, not the link.
    path = os.path.realpath(path) if os.path.islink(path) else os.fspath(path)
    folder, name = os.path.split(os.path.abspath(path))
    if os.path.isdir(path):
        raise IsADirectoryError(f"{caller}: {path!r} is a folder. Give the name of a file.")
    _remove_abandoned(folder, name)
    handle, temporary = tempfile.mkstemp(prefix=f".{name}.", suffix=".part", dir=folder)
    try:
        # The lock ends with the process: an unlocked file was left by one that was killed. File
        # systems without locks keep such files.
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield temporary
        if is_synced:
            sync(temporary)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
        if is_synced:
            sync(folder)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.remove(temporary)
        raise
    finally:
        os.close(handle)


def _remove_abandoned(folder: str, name: str) -> None:
    """Removes temporary files of writers that were killed."""
    for path in glob.glob(f".{glob.escape(name)}.*.part", root_dir=folder, include_hidden=True):
        with contextlib.suppress(OSError), open(os.path.join(folder, path), "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.remove(file.name)


@contextlib.contextmanager
def adding_files(folder: Any) -> Iterator[str]:
    """Gives a new folder whose files move into `folder`, with their paths, if no error occurs."""
    folder = os.fspath(folder)
    os.makedirs(folder, exist_ok=True)
    # Readers of folders skip names that begin with a dot.
    temporary = tempfile.mkdtemp(prefix=".", suffix=".part", dir=folder)
    try:
        yield temporary
        for source in sorted(Path(temporary).rglob("*")):
            target = Path(folder) / source.relative_to(temporary)
            if source.is_dir():
                target.mkdir(exist_ok=True)
            else:
                os.replace(source, target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def is_local_path(path: object) -> bool:
    """Whether a path names a file or a folder: not a buffer, a URI, a pipe or a device."""
    if not isinstance(path, os.PathLike) and not (isinstance(path, str) and "://" not in path):
        return False
    return not os.path.exists(path) or os.path.isfile(path) or os.path.isdir(path)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def sync(path: str) -> None:
    """Waits until a file, or the names in a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
