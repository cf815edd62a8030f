# SPDX-License-Identifier: Apache-2.0
"""Strings of the host as lists of their bytes."""

from typing import Any

import numpy as np
import pyarrow as pa


def bytes_of_strings(strings: Any) -> tuple[np.ndarray, np.ndarray]:
    """The UTF-8 bytes of strings, one string after the other, and where each begins; int64 offsets.

    A missing string has no bytes.
    """
    given = pa.array(strings, pa.large_string(), from_pandas=True)
    array = given.fill_null("") if given.null_count else given
    _, starts, content = array.buffers()
    offsets = np.frombuffer(starts, np.int64, len(array) + 1, 8 * array.offset)
    if content is None:
        return np.zeros(0, np.uint8), offsets
    values = np.frombuffer(content, np.uint8)[offsets[0] : offsets[-1]]
    return values, offsets - offsets[0]
