# SPDX-License-Identifier: Apache-2.0
"""Where files are: paths of this machine, URLs, and file systems of Arrow and fsspec."""

import bz2
import contextlib
import glob
import importlib
import io
import lzma
import os
import shutil
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import pyarrow as pa
from pyarrow import fs

from ...table._arguments import listed

# The names of pandas' compressions, by the end of a file's name.
ENDINGS = {
    ".gz": "gzip", ".bz2": "bz2", ".zip": "zip", ".xz": "xz", ".zst": "zstd", ".lz4": "lz4",
}  # fmt: skip
_OF_ARROW = ("gzip", "zstd", "lz4")


class Place(NamedTuple):
    """A path, and the file system that has it; None for this machine's."""

    path: Any
    filesystem: fs.FileSystem | None = None

    @property
    def is_local(self) -> bool:
        """Whether the path is one of this machine."""
        return self.filesystem is None

    def found(self, caller: str) -> list[str]:
        """The paths that match, if the path is a pattern; else the path.

        Raises:
            FileNotFoundError: no file matches, or there is no such file.
        """
        path = self.path
        if self.filesystem is None:
            paths = sorted(glob.glob(path)) if glob.has_magic(path) else [path]
            paths = [one for one in paths if os.path.exists(one)]
        elif glob.has_magic(path):
            folder = path[: min(path.find(mark) for mark in "*?[" if mark in path)]
            folder = folder.rpartition("/")[0]
            selector = fs.FileSelector(folder, recursive=True, allow_not_found=True)
            files = [one.path for one in self.filesystem.get_file_info(selector)]
            depth = path.count("/")
            paths = sorted(
                one for one in files if one.count("/") == depth and fnmatchcase(one, path)
            )
        else:
            info = self.filesystem.get_file_info(path)
            paths = [] if info.type == fs.FileType.NotFound else [path]
        if not paths:
            what = "no file matches" if glob.has_magic(path) else "no such file:"
            raise FileNotFoundError(f"{caller}: {what} {path!r}.")
        return paths

    def read_bytes(self) -> bytes:
        """The content of the file."""
        if self.filesystem is None:
            with open(self.path, "rb") as file:
                return file.read()
        with self.filesystem.open_input_stream(self.path, compression=None) as file:
            return file.read()

    def read_content(self, caller: str, compression: str | None) -> Any:
        """The content of the one file that the path names, without its compression."""
        (path,) = self.found(caller)
        return decompressed(self._replace(path=path).read_bytes(), compression)

    def write_bytes(self, content: bytes) -> None:
        """Writes a file of another file system in one request, which stores make whole or not."""
        assert self.filesystem is not None
        with self.filesystem.open_output_stream(self.path, compression=None) as file:
            file.write(content)

    def copy_file(self, path: str) -> None:
        """Writes a file of another file system with the content of one of this machine."""
        assert self.filesystem is not None
        with (
            open(path, "rb") as source,
            self.filesystem.open_output_stream(self.path, compression=None) as file,
        ):
            shutil.copyfileobj(source, file, 2**20)


def place_of(
    path: Any,
    caller: str,
    filesystem: object = None,
    storage_options: Mapping[str, object] | None = None,
) -> Place:
    """The place of a path or a URL.

    Args:
        path: a path, or a URL such as `s3://bucket/key`.
        caller: the function, for errors.
        filesystem: a file system of `pyarrow.fs` or of fsspec that has the path.
        storage_options: arguments of the file system of a URL, for fsspec.
    """
    path = os.fspath(path)
    if filesystem is not None:
        if storage_options:
            raise ValueError(
                f"{caller}: filesystem and storage_options exclude each other. Construct the file "
                "system with its options."
            )
        return Place(path, _of_arrow(filesystem, caller))
    if "://" not in path:
        if storage_options:
            raise ValueError(
                f"storage_options passed with file object or non-fsspec file path: {path!r}. Leave "
                "them out."
            )
        return Place(path)
    if path.startswith("file://") and not storage_options:
        return Place(fs.FileSystem.from_uri(path)[1])
    if not storage_options:
        try:
            known, inner = fs.FileSystem.from_uri(path)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            pass
        else:
            return Place(inner, known)
    return _of_fsspec(path, caller, storage_options or {})


def places_of(
    path: object,
    caller: str,
    filesystem: object = None,
    storage_options: Mapping[str, object] | None = None,
) -> list[Place]:
    """The places of a path or of a list of paths, all in one file system."""
    given = listed(path)
    places = [place_of(one, caller, filesystem, storage_options) for one in given]
    if len({type(place.filesystem) for place in places}) != 1:
        raise ValueError(
            f"{caller}: all files must be in one file system, got {given}. Read them one by one "
            "and concat() the frames."
        )
    return places


def found_at(places: Sequence[Place], caller: str) -> Any:
    """The paths of files at places; a path by itself if there is one that is no pattern."""
    if len(places) == 1:
        found = places[0].found(caller)
        return found if glob.has_magic(places[0].path) else found[0]
    return [path for place in places for path in place.found(caller)]


def stamp_of(path: str) -> tuple[int, int]:
    """The size of a file, and the time of its last change in nanoseconds: changes show in them."""
    facts = os.stat(path)
    return facts.st_size, facts.st_mtime_ns


def _of_arrow(filesystem: object, caller: str) -> fs.FileSystem | None:
    if isinstance(filesystem, fs.LocalFileSystem):
        return None
    if isinstance(filesystem, fs.FileSystem):
        return filesystem
    if hasattr(filesystem, "protocol") and hasattr(filesystem, "open"):
        return fs.PyFileSystem(fs.FSSpecHandler(filesystem))
    raise TypeError(
        f"{caller}: filesystem must be one of pyarrow.fs or of fsspec, got "
        f"{type(filesystem).__name__}."
    )


def _of_fsspec(path: str, caller: str, options: Mapping[str, object]) -> Place:
    scheme = path.partition("://")[0]
    try:
        # Optional.
        url_to_fs = importlib.import_module("fsspec.core").url_to_fs
    except ImportError:
        raise ImportError(
            f"{caller}: URLs of {scheme!r} need fsspec. Install jaxframes[fsspec]."
        ) from None
    try:
        filesystem, inner = url_to_fs(path, **options)
    except ImportError as error:
        raise ImportError(f"{caller}: URLs of {scheme!r} need another package. {error}") from error
    except ValueError as error:
        raise ValueError(f"{caller}: cannot open {path!r}. {error}") from error
    return Place(inner, fs.PyFileSystem(fs.FSSpecHandler(filesystem)))


def compression_of(path: object, compression: Any, caller: str) -> str | None:
    """The name of the compression that an argument or the end of a file's name says."""
    if isinstance(compression, Mapping):
        compression = compression.get("method", "infer")
    if compression == "infer":
        name = str(path).lower() if isinstance(path, (str, os.PathLike)) else ""
        return next((kind for end, kind in ENDINGS.items() if name.endswith(end)), None)
    if compression not in (None, *ENDINGS.values()):
        raise ValueError(
            f"Unrecognized compression type: {compression}. {caller} knows "
            f"{sorted(ENDINGS.values())}."
        )
    return compression


def source_of(place: Place, caller: str) -> Any:
    """What Arrow reads a file from, decompressed by the end of its name: a path or a stream."""
    compression = compression_of(place.path, "infer", caller)
    if compression is None and place.is_local:
        return place.path
    # A file of fsspec may be one object for all that read it, which have one position then.
    is_shared = isinstance(place.filesystem, fs.PyFileSystem)
    if is_shared or compression not in (None, "bz2", *_OF_ARROW):
        return pa.BufferReader(decompressed(place.read_bytes(), compression))
    filesystem = place.filesystem or fs.LocalFileSystem()
    return filesystem.open_input_stream(place.path, compression=compression)


def content_of(file: Any, compression: object, caller: str, encoding: str = "utf-8") -> Any:
    """The bytes of a file object, without their compression; text is encoded."""
    content = file.read()
    content = content.encode(encoding) if isinstance(content, str) else content
    return decompressed(content, compression_of("", compression, caller))


def decompressed(content: Any, compression: str | None) -> Any:
    """The bytes of a compressed file."""
    if compression is None:
        return content
    if compression in _OF_ARROW:
        with pa.CompressedInputStream(pa.BufferReader(content), compression) as file:
            return file.read()
    if compression == "bz2":
        return bz2.decompress(content)
    if compression == "xz":
        return lzma.decompress(content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = archive.namelist()
        if len(names) != 1:
            raise ValueError(f"Multiple files found in ZIP file. Only one file per ZIP: {names}")
        return archive.read(names[0])


def compressed(content: Any, compression: str | None, name: str) -> Any:
    """The bytes of a file, compressed; `name` is that of a file within an archive."""
    if compression is None:
        return content
    memory = pa.BufferOutputStream()
    with compressing(memory, compression, name) as file:
        file.write(content)
    return memory.getvalue().to_pybytes()


@contextlib.contextmanager
def compressing(file: Any, compression: str | None, name: str) -> Iterator[Any]:
    """A file into which bytes are compressed while they are written; see `compressed`."""
    with contextlib.ExitStack() as stack:
        if compression == "bz2":
            file = stack.enter_context(bz2.open(file, "wb"))
        elif compression == "xz":
            file = stack.enter_context(lzma.open(file, "wb"))
        elif compression == "zip":
            member = os.path.basename(name).removesuffix(".zip") or "data"
            archive = stack.enter_context(zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED))
            file = stack.enter_context(archive.open(member, "w", force_zip64=True))
        elif compression is not None:
            file = stack.enter_context(pa.CompressedOutputStream(file, compression))
        yield file
