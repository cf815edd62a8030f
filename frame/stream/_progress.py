# SPDX-License-Identifier: Apache-2.0
"""Progress of a stream, by tqdm where a terminal is attached."""

import sys
from collections.abc import Iterator
from typing import Any

from tqdm import tqdm


def with_progress(batches: Iterator[Any], name: str, progress: bool | None) -> Iterator[Any]:
    """Counts the rows of batches in a progress bar.

    Args:
        batches: the batches.
        name: what is read.
        progress: whether to show the bar; if None, only on a terminal.
    """
    if not (sys.stderr.isatty() if progress is None else progress):
        yield from batches
        return
    with tqdm(desc=name, unit=" rows", unit_scale=True) as bar:
        for batch in batches:
            yield batch
            bar.update(len(batch))
