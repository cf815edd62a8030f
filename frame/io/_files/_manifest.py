# SPDX-License-Identifier: Apache-2.0
"""The manifest of a folder of Parquet files: it names the files of the last finished write."""

import dataclasses
import json
import os
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds

from ...table._arguments import listed
from ._malformed import PARQUET, reading

# Arrow ignores names with an underscore in front when it lists a folder.
MANIFEST = "_manifest.json"
# The version of the format of manifests. Other versions are not read.
FORMAT = 1


@dataclasses.dataclass(frozen=True)
class FolderFile:
    """A file of a folder.

    Attributes:
        path: the name relative to the folder, with `/` between folders.
        num_rows: the number of rows.
        num_bytes: the size of the file.
    """

    path: str
    num_rows: int
    num_bytes: int


@dataclasses.dataclass(frozen=True)
class Manifest:
    """The files of a folder that count. A file that it does not name does not exist.

    Attributes:
        write: the number of the write, which is part of the names of its files.
        parts: the files, in the order of their rows.
        partitioning: the name and the Arrow type of each column that folders `key=value` hold.
    """

    write: int = 0
    parts: tuple[FolderFile, ...] = ()
    partitioning: tuple[tuple[str, str], ...] = ()

    def text(self) -> str:
        """The contents of the file."""
        values = {"jaxframes manifest": FORMAT, **dataclasses.asdict(self)}
        return json.dumps(values, indent=1) + "\n"


def manifest_of(folder: str) -> Manifest | None:
    """Reads the manifest of a folder; None if it has none.

    Raises:
        OSError: the file is not a manifest.
        NotImplementedError: a later version wrote it.
    """
    path = os.path.join(folder, MANIFEST)
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        values = json.loads(text)
        version = values.pop("jaxframes manifest")
        if version != FORMAT:
            raise NotImplementedError(
                f"{path!r} is a manifest of format {version!r}, and this version reads {FORMAT}. "
                "Update jaxframes."
            )
        parts = tuple(FolderFile(**part) for part in values.pop("parts"))
        columns = tuple((str(name), str(kind)) for name, kind in values.pop("partitioning"))
        return Manifest(int(values["write"]), parts, columns)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise OSError(f"the manifest {path!r} is corrupted: {error!r}. Write again.") from error


def parquet_dataset(path: Any, caller: str, filesystem: Any = None) -> Any:
    """The dataset of a file, a folder, or a list of files. A folder's manifest names its files.

    Manifests are read on this machine only.

    Raises:
        FileNotFoundError: there are no files, or the manifest names one that does not exist.
        OSError: a file does not have the size that the manifest says, or is not a Parquet file.
    """
    paths = listed(path)
    folder = os.fspath(paths[0]) if len(paths) == 1 else ""
    manifest = manifest_of(folder) if folder and filesystem is None else None
    if manifest is None:
        with reading(caller, folder or paths):
            dataset = ds.dataset(
                folder or paths, format=PARQUET, partitioning="hive", filesystem=filesystem
            )
        if not dataset.files:
            raise FileNotFoundError(f"the folder {folder!r} has no Parquet files.")
        return dataset
    if not manifest.parts:
        raise FileNotFoundError(f"no write into the folder {folder!r} was finished. Write again.")
    files = [checked(folder, part) for part in manifest.parts]
    schema = pa.schema([(name, pa.type_for_alias(kind)) for name, kind in manifest.partitioning])
    partitioning = ds.partitioning(schema, flavor="hive")
    with reading(caller, folder):
        return ds.dataset(
            files, format=PARQUET, partitioning=partitioning, partition_base_dir=folder
        )


def checked(folder: str, part: FolderFile) -> str:
    """The path of a file that the manifest names. Raises if it has vanished or changed."""
    path = os.path.join(folder, *part.path.split("/"))
    try:
        num_bytes = os.path.getsize(path)
    except FileNotFoundError:
        raise FileNotFoundError(
            f"the file {path!r} has vanished, which the manifest of its folder names."
        ) from None
    if num_bytes != part.num_bytes:
        raise OSError(
            f"the file {path!r} is truncated or has changed: the manifest of its folder says "
            f"{part.num_bytes} bytes, got {num_bytes}."
        )
    return path


def check_no_manifest(folder: Any) -> None:
    """Raises if a folder has a manifest, which would hide files that it does not name."""
    if not hasattr(folder, "write") and manifest_of(os.fspath(folder)) is not None:
        raise FileExistsError(
            f"to_parquet: the folder {os.fspath(folder)!r} has a manifest, so readers would ignore "
            "new files. Write with lazy().to_parquet(), which replaces the old rows, or into a "
            "new folder."
        )
