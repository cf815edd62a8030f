# SPDX-License-Identifier: Apache-2.0
"""Frames of nested records, as JSON has them."""

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
    """A frame of nested records: a column for each path to a value.

    Records are the host's, so pandas itself takes them apart.

    Args:
        data: a dict, a list of them, or a series of them.
        record_path: the keys that lead to a list of records in each.
        meta: what each of those records is told of the ones around it: keys, or paths of them.
        meta_prefix: what stands before the labels of `meta`.
        record_prefix: what stands before the labels of records.
        errors: "raise", or "ignore" for keys of `meta` that are not there.
        sep: what stands between the keys of a path.
        max_level: how deep dicts are taken apart; all the way if left out.
        sharding: where the rows lie; see `JaxFrame`.

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
