# SPDX-License-Identifier: Apache-2.0
"""Temporary folders that a later process removes if theirs was killed."""

import contextlib
import fcntl
import glob
import os
import shutil
import stat
import tempfile

_PREFIX = "jaxframes-spill-"


class TemporaryFolder:
    """A new folder for temporary files, locked as long as its process lives.

    An unlocked folder was left by a process that was killed: it is removed when the next one is
    made in the same place. File systems without locks keep such folders.

    Attributes:
        name: the path.
    """

    def __init__(self):
        parent = tempfile.gettempdir()
        _remove_abandoned(parent)
        self._lock: int | None = None
        while self._lock is None:
            # Removed also at the end of the process, or when nothing refers to it any more.
            self._folder = tempfile.TemporaryDirectory(prefix=_PREFIX, dir=parent)
            self.name = self._folder.name
            self._lock = _locked(self.name)
            if self._lock is None:
                # Another process took the folder for an abandoned one before it was locked.
                self._folder.cleanup()

    def cleanup(self) -> None:
        """Removes the folder and its files."""
        self._folder.cleanup()
        self._unlock()

    def __del__(self):
        self._unlock()

    def _unlock(self) -> None:
        lock, self._lock = getattr(self, "_lock", None), None
        if lock is not None:
            os.close(lock)


def _locked(folder: str) -> int | None:
    """Locks a folder until the descriptor is closed; None if the folder is gone."""
    try:
        descriptor = _opened(folder)
    except FileNotFoundError:
        return None
    with contextlib.suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    with contextlib.suppress(FileNotFoundError):
        if os.path.samestat(os.fstat(descriptor), os.lstat(folder)):
            return descriptor
    os.close(descriptor)
    return None


def _opened(folder: str) -> int:
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)


def _remove_abandoned(parent: str) -> None:
    """Removes folders of this user's processes that were killed."""
    for name in glob.glob(f"{_PREFIX}*", root_dir=parent):
        path = os.path.join(parent, name)
        with contextlib.suppress(OSError):
            facts = os.lstat(path)
            if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.getuid():
                continue
            descriptor = _opened(path)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(descriptor)
