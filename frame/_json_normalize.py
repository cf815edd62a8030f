# SPDX-License-Identifier: Apache-2.0
"""`json_normalize`: flattens nested records."""

from typing import Any

import pandas as pd

from ._frame import JaxFrame, JaxSeries


def json_normalize(
    data: Any,
    record_path: Any = None,
    meta: Any = None,
    meta_prefix: str | None = None,
    record_prefix: str | None = None,
    errors: Any = "raise",
    sep: str = ".",
    max_level: int | None = None,
    *,
    sharding: Any = None,
) -> JaxFrame:
    """Flattens nested records into a frame with a column for each path to a value.

    The records are on the host, so pandas flattens them.

    Args:
        data: a dict, or a list or series of dicts.
        record_path: the path of keys to a list of records in each dict.
        meta: keys, or paths of keys, of the outer dicts to add to each record.
        meta_prefix: prefix of the labels of `meta`.
        record_prefix: prefix of the labels of records.
        errors: "raise", or "ignore" for absent keys of `meta`.
        sep: separator between the keys of a path.
        max_level: the number of levels to flatten; all if left out.
        sharding: the placement of the rows; see `JaxFrame`.

    Example:
        >>> from jaxframes.frame import json_normalize
        >>> json_normalize([{"a": {"b": 1}}, {"a": {"b": 2}}])["a.b"].tolist()
        [1, 2]
    """
    data = data.to_pandas() if isinstance(data, JaxSeries) else data
    frame = pd.json_normalize(
        data, record_path, meta, meta_prefix, record_prefix, errors, sep, max_level
    )
    return JaxFrame(frame, sharding=sharding)
