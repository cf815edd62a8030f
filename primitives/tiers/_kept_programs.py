# SPDX-License-Identifier: Apache-2.0
"""Interpreted programs on disk: another process need not trace their functions again.

They lie in a folder of JAX's own cache, and are kept if that is on. A program has a file of its
own. Its name is a digest of all that the trace depends on; the name of the folder is one of the
versions, the source files, the kernels and the devices.
"""

import atexit
import collections
import functools
import hashlib
import io
import logging
import os
import pickle
import platform
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from ...shardings._compat import option
from ..kernels.base._library import load
from ._program import Program

_log = logging.getLogger(__name__)
_cache_dir, _is_on = option("jax_compilation_cache_dir"), option("jax_enable_compilation_cache")

# The folders of as many versions are left, and a folder takes as many programs.
_MOST_VERSIONS = 4
_MOST_PROGRAMS = 1 << 14
# A program with large constants takes longer to read than a function to trace.
_MOST_BYTES = 1 << 18
# Programs are written when so many seconds have passed without a new one, or at the end.
_QUIET_SECONDS = 1.0
# Modules whose functions are those of the versions in the name of the folder.
_KNOWN = frozenset(["jaxframes", "jax", "jaxlib", "numpy", "ml_dtypes", "builtins", "functools",
                    "operator", "collections", "pandas", "pyarrow", "datetime"])  # fmt: skip
# Options that programs depend on, beside those of the signature of a call.
_OPTIONS = ("jax_default_prng_impl", "jax_threefry_partitionable", "jax_random_seed_offset")


class _KnownPickler(pickle.Pickler):
    """Refuses functions and classes of the user, which may be others in the next process."""

    def reducer_override(self, obj: Any) -> Any:
        if callable(obj):
            module = getattr(obj, "__module__", None) or type(obj).__module__
            if module.split(".")[0] not in _KNOWN:
                raise pickle.PicklingError(f"{obj!r} of {module}")
        return NotImplemented


def name_of(function: str, options: Sequence[Any], static: Any, leaves: Any, tree: Any) -> str:
    """The name of a program, if programs are kept; else an empty string.

    Args:
        function: the name of the function in its module.
        options: what the trace depends on, beside the arguments.
        static: the static arguments.
        leaves: the other arguments.
        tree: their structure.
    """
    if not _cache_dir() or not _is_on() or "://" in str(_cache_dir()):
        return ""
    try:
        types = list(map(_type_of, leaves))
        arguments = jax.tree.unflatten(tree, range(len(types)))
        words = [function, list(map(repr, options)), types, static, arguments]
        return hashlib.sha256(_pickled(words)).hexdigest()
    except Exception as reason:
        _log.debug("%s is not kept: %s", function, reason)
        return ""


def _type_of(leaf: Any) -> tuple[Any, ...]:
    aval = jax.typeof(leaf)
    return aval.shape, aval.dtype.name, aval.weak_type


def _pickled(value: Any) -> bytes:
    file = io.BytesIO()
    _KnownPickler(file, pickle.HIGHEST_PROTOCOL).dump(value)
    return file.getvalue()


def read(name: str) -> tuple[Program, Any] | None:
    """A program and the structure of its results; None if it is not kept."""
    try:
        program, results = pickle.loads((_folder() / name).read_bytes())
    except FileNotFoundError:
        return None
    except Exception as reason:
        _log.debug("A program cannot be read: %s", reason)
        return None
    return program, jax.tree.structure(results)


def keep(name: str, program: Program, tree: Any) -> None:
    """Writes a program in a while."""
    _new.append((name, program, tree))
    _start()
    _arrived.set()


_new: collections.deque[tuple[str, Program, Any]] = collections.deque()
_arrived = threading.Event()


@functools.cache
def _start() -> None:
    threading.Thread(target=_work, name="jaxframes keeper", daemon=True).start()
    atexit.register(_write_all)


def _work() -> None:
    while True:
        _arrived.wait()
        while _arrived.is_set():
            _arrived.clear()
            _arrived.wait(_QUIET_SECONDS)
        _write_all()


_writing = threading.Lock()


def _write_all() -> None:
    with _writing:
        while _new:
            name, program, tree = _new.popleft()
            try:
                _write(name, program, tree)
            except Exception as reason:
                _log.debug("A program is not kept: %s", reason)


def _write(name: str, program: Program, tree: Any) -> None:
    folder = _folder()
    if not folder.exists():
        folder.mkdir(parents=True, exist_ok=True)
        _drop_old(folder)
    if next(_room(folder), None) is None:
        return
    results = jax.tree.unflatten(tree, range(tree.num_leaves))
    text = _pickled((program, results))
    if len(text) > _MOST_BYTES:
        return
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
        file.write(text)
    # Another process may read it now, or write the same.
    os.replace(file.name, folder / name)


@functools.cache
def _room(folder: Path) -> Iterator[int]:
    """Counts down to the last program that a folder takes."""
    return iter(range(_MOST_PROGRAMS - len(os.listdir(folder))))


def _drop_old(folder: Path) -> None:
    """Removes all folders but the newest."""
    folders = [one for one in folder.parent.glob("*-programs") if one.is_dir()]
    for old in sorted(folders, key=lambda one: -one.stat().st_mtime)[_MOST_VERSIONS:]:
        shutil.rmtree(old, ignore_errors=True)


def _folder() -> Path:
    return Path(_cache_dir()) / "jaxframes" / f"{_version()}-programs"


@functools.cache
def _version() -> str:
    """A digest of what all programs depend on."""
    library = load()[0]
    kernels = [] if library is None else [library._name]
    paths = sorted(_sources(Path(__file__).parents[2]))
    sources = [os.stat(path) for path in (*paths, *kernels)]
    words = [
        *(jax.__version__, np.__version__, sys.version, platform.machine(), jax.default_backend()),
        *(repr(getattr(jax.config, name, None)) for name in _OPTIONS),
        *(f"{name}={value}" for name, value in sorted(os.environ.items()) if "JAXFRAMES" in name),
        *(f"{one.st_mtime_ns} {one.st_size}" for one in sources),
    ]
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:16]


def _sources(package: Path) -> Iterator[str]:
    for room in ("frame", "primitives", "shardings"):
        for folder, _, files in os.walk(package / room):
            yield from (os.path.join(folder, one) for one in files if one.endswith(".py"))
