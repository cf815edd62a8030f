# SPDX-License-Identifier: Apache-2.0
"""Progress of a stream, by tqdm where a terminal is attached."""

import sys
from collections.abc import Callable, Iterator
from typing import Any

from tqdm import tqdm

Total = Callable[[], int | None]


def with_progress(
    batches: Iterator[Any], name: str, progress: bool | None, row_bytes: int, total: Total
) -> Iterator[Any]:
    """Counts the rows and the bytes of batches in a progress bar, which ends at a total if known.

    Args:
        batches: the batches.
        name: what is read, and for which step.
        progress: whether to show the bar; if None, only on a terminal.
        row_bytes: the bytes of a row.
        total: finds the number of rows, or None. It is called if the bar is shown.
    """
    if not (sys.stderr.isatty() if progress is None else progress):
        yield from batches
        return
    num_rows = 0
    with tqdm(desc=name, unit=" rows", unit_scale=True, total=total()) as bar:
        for batch in batches:
            yield batch
            num_rows += len(batch)
            bar.set_postfix_str(f"{tqdm.format_sizeof(num_rows * row_bytes)}B", refresh=False)
            bar.update(len(batch))
