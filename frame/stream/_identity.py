# SPDX-License-Identifier: Apache-2.0
"""The identity of sources: whether a stream that goes on reads what it read before."""

import os
from typing import Any

from ..plan._sources import Files
from ._files import stamp


def portable_text(source: Any) -> str:
    """Names and sizes of the files of a source, which a copy on another machine has too."""
    sizes = [(os.path.basename(path), stamp(path)[0]) for path in files_of(source)]
    return f"{source.text()} {sizes}"


def files_of(source: object) -> list[str]:
    """The files of a source."""
    if isinstance(source, Files):
        return list(source.files())
    return list(getattr(getattr(source, "data", None), "files", []))
