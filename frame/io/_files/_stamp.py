# SPDX-License-Identifier: Apache-2.0
"""The stamp of a file, which tells whether it has changed."""

import os


def stamp(path: str) -> tuple[int, int]:
    """The size of a file, and the time of its last change in nanoseconds."""
    facts = os.stat(path)
    return facts.st_size, facts.st_mtime_ns
