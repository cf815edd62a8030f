# SPDX-License-Identifier: Apache-2.0
"""Interpreted programs on disk: another process need not trace their functions again.

They lie in a folder of the user, or in JAX's own cache if that is on. A program has a file of its
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
import threading
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax.sharding import AbstractMesh, Mesh, NamedSharding

from ...shardings._compat import option
from ..kernels.base._library import load
from ._program import Program
from ._signature import type_of

_log = logging.getLogger(__name__)
_cache_dir, _is_on = option("jax_compilation_cache_dir"), option("jax_enable_compilation_cache")

# The folders of as many versions are left, and a folder takes as many programs, of 2 KB.
_MOST_VERSIONS = 4
_MOST_PROGRAMS = 1 << 13
# A program with large constants takes longer to read than a function to trace.
_MOST_BYTES = 1 << 18
# Programs are written when so many seconds have passed without a new one, or at the end.
_QUIET_SECONDS = 1.0
# Modules whose functions are those of the versions in the name of the folder.
_KNOWN = frozenset(["jaxframes", "jax", "jaxlib", "numpy", "ml_dtypes", "builtins", "functools",
                    "operator", "collections", "pandas", "pyarrow", "datetime"])  # fmt: skip
# Options that programs depend on, beside those of the signature of a call.
_OPTIONS = ("jax_default_prng_impl", "jax_threefry_partitionable", "jax_random_seed_offset")


# What a program is made of, beside classes of this library: each is called with any arguments.
_READ = frozenset([
    ("numpy", "dtype"), ("numpy", "ndarray"), ("numpy._core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "scalar"), ("numpy._core.numeric", "_frombuffer"),
    ("ml_dtypes", "bfloat16"), ("builtins", "slice"), ("builtins", "complex"),
    ("builtins", "set"), ("builtins", "frozenset"),
])  # fmt: skip


def folder() -> Path | None:
    """Where programs are kept; None if they are not.

    The variable JAXFRAMES_CACHE names the folder, or is "off". Without it JAX's cache serves, if
    it is on, else the folder for caches of the user's home.
    """
    name = os.environ.get("JAXFRAMES_CACHE", "")
    if name:
        return None if name == "off" else Path(name)
    jax_folder = str(_cache_dir() or "") if _is_on() else ""
    if "://" in jax_folder:
        return None
    return Path(jax_folder) / "jaxframes" if jax_folder else _of_home()


@functools.cache
def _of_home() -> Path | None:
    match sys.platform:
        case "win32":
            given, rest = os.environ.get("LOCALAPPDATA"), "AppData/Local"
        case "darwin":
            given, rest = None, "Library/Caches"
        case _:
            given, rest = os.environ.get("XDG_CACHE_HOME"), ".cache"
    try:
        return (Path(given) if given else Path.home() / rest) / "jaxframes"
    except RuntimeError:
        # The user has no home.
        return None


class _KnownPickler(pickle.Pickler):
    """Refuses functions and classes of the user, which may be others in the next process.

    Attributes:
        meshes: those that were pickled.
    """

    def __init__(self, file: io.BytesIO):
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self.meshes: list[Mesh] = []

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, Mesh):
            self.meshes.append(obj)
            return tuple, (_words_of(obj),)
        if callable(obj):
            module = getattr(obj, "__module__", None) or type(obj).__module__
            if module.split(".")[0] not in _KNOWN:
                raise pickle.PicklingError(f"{obj!r} of {module}")
        return NotImplemented


class _KnownUnpickler(pickle.Unpickler):
    """Makes objects of a few classes, and calls nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        is_ours = module.split(".")[0] == __name__.split(".")[0] and "." not in name
        if is_ours or (module, name) in _READ:
            found = super().find_class(module, name)
            # Modules have the names of what they import, too.
            if not is_ours or (isinstance(found, type) and found.__module__ == module):
                return found
        raise pickle.UnpicklingError(f"{name} of {module}")


def name_of(function: str, options: Sequence[Any], static: Any, leaves: Any, tree: Any) -> str:
    """The name of a program, if programs are kept; else an empty string.

    Args:
        function: the name of the function in its module.
        options: what the trace depends on, beside the arguments.
        static: the static arguments.
        leaves: the other arguments.
        tree: their structure.
    """
    if folder() is None:
        return ""
    try:
        types = [
            (one.shape, one.dtype.name, one.weak_type, _words_of(one.sharding))
            for one in map(type_of, leaves)
        ]
        arguments = jax.tree.unflatten(tree, range(len(types)))
        options = [*options, *(getattr(jax.config, name, None) for name in _OPTIONS)]
        words = [function, list(map(repr, options)), types, static, arguments]
        text, meshes = _pickled(words)
        meshes += [leaf.sharding.mesh for leaf in leaves if _is_on_mesh(leaf)]
        # JAX refuses a program on several meshes, when it is traced.
        return hashlib.sha256(text).hexdigest() if len(set(meshes)) <= 1 else ""
    except Exception as reason:
        _log.debug("%s is not kept: %s", function, reason)
        return ""


def _words_of(place: Any) -> tuple[str, ...]:
    """What a program depends on of a mesh, and of where an array lies on it: not on its devices."""
    if isinstance(place, NamedSharding):
        return (*_words_of(place.mesh), str(place.spec))
    if isinstance(place, (Mesh, AbstractMesh)):
        return str(dict(place.shape)), str(place.axis_types)
    return ()


def _is_on_mesh(leaf: Any) -> bool:
    return isinstance(getattr(leaf, "sharding", None), NamedSharding) and leaf.committed


def _pickled(value: Any) -> tuple[bytes, list[Mesh]]:
    """An object as bytes, and the meshes in it."""
    file = io.BytesIO()
    pickler = _KnownPickler(file)
    pickler.dump(value)
    return file.getvalue(), pickler.meshes


def read(name: str) -> tuple[Program, Any] | None:
    """A program and the structure of its results; None if it is not kept."""
    try:
        text = zlib.decompress((_path() / name).read_bytes())
        program, results = _KnownUnpickler(io.BytesIO(text)).load()
    except FileNotFoundError:
        return None
    except Exception as reason:
        _log.debug("A program cannot be read: %s", reason)
        return None
    return program, jax.tree.structure(results)


def keep(name: str, program: Program, tree: Any) -> None:
    """Writes a program in a while."""
    try:
        if jax.process_index() == 0:
            _new.append((name, program, tree))
            _start()
            _arrived.set()
    except Exception as reason:
        _log.debug("Programs are not kept: %s", reason)


_new: collections.deque[tuple[str, Program, Any]] = collections.deque()
_arrived = threading.Event()


@functools.cache
def _start() -> None:
    threading.Thread(target=_work, name="jaxframes keeper", daemon=True).start()
    atexit.register(_write_all)


def _forked() -> None:
    """A child has no writer, and its parent may be writing now."""
    global _writing
    _writing = threading.Lock()
    _new.clear()
    _start.cache_clear()
    _room.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


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
    path = _path()
    if not path.exists():
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        _drop_old(path)
    if next(_room(path), None) is None:
        return
    results = jax.tree.unflatten(tree, range(tree.num_leaves))
    text = zlib.compress(_pickled((program, results))[0], 1)
    if len(text) > _MOST_BYTES:
        return
    # Another process may read the file as soon as it has its name, or write the same.
    written = path / f"{name}.{os.getpid()}"
    try:
        written.write_bytes(text)
        written.replace(path / name)
    finally:
        written.unlink(missing_ok=True)


@functools.cache
def _room(path: Path) -> Iterator[int]:
    """Counts down to the last program that a folder takes."""
    return iter(range(_MOST_PROGRAMS - len(os.listdir(path))))


def _drop_old(path: Path) -> None:
    """Removes the folders of all versions but the newest."""
    others = [one for one in path.parent.glob("*-programs") if one != path]
    for old in sorted(others, key=lambda one: -one.stat().st_mtime)[_MOST_VERSIONS - 1 :]:
        shutil.rmtree(old, ignore_errors=True)


def _path() -> Path:
    parent = folder()
    assert parent is not None
    return parent / f"{_version()}-programs"


def _of_sources() -> list[str]:
    """Where the sources are, and when they were changed."""
    package = Path(__file__).parents[2]
    found = [os.stat(path) for path in sorted(_sources(package))]
    return [str(package), *(f"{one.st_mtime_ns} {one.st_size}" for one in found)]


def _sources(package: Path) -> Iterator[str]:
    for room in ("frame", "primitives", "shardings"):
        for folder, _, files in os.walk(package / room):
            yield from (os.path.join(folder, one) for one in files if one.endswith(".py"))


# Taken as the library is imported: sources that change later are not what runs.
_SOURCES = _of_sources()


@functools.cache
def _version() -> str:
    """A digest of what all programs depend on."""
    library = load()[0]
    kernels = os.stat(library._name) if library is not None else None
    words = [
        *(sys.version, jax.__version__, np.__version__),
        *(platform.machine(), jax.default_backend(), *_SOURCES),
        *(f"{name}={os.environ.get(name)}" for name in ("JAXFRAMES_KERNELS", "JAXFRAMES_TIERS")),
        "" if kernels is None else f"{kernels.st_mtime_ns} {kernels.st_size}",
    ]
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:16]
