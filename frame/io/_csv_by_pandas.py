# SPDX-License-Identifier: Apache-2.0
"""CSV files and arguments that Arrow does not read: pandas reads them on the host."""

import io
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd
from pandas.errors import PerformanceWarning

from ..table._layout import Layout
from ..table._types import Options, Sharding
from ..table._user_functions import as_frames
from ._csv_lines import CsvText

# Arguments that only pandas has.
PANDAS_ONLY = (
    *("quoting", "converters", "skipfooter", "lineterminator", "dialect", "skipinitialspace"),
    "encoding_errors",
)


def argument_for_pandas(options: Options) -> str | None:
    """The first argument that Arrow has no counterpart for; None if it reads the file."""
    dtype = options.get("dtype")
    tests = {
        "sep": options["sep"] is None or len(options["sep"]) != 1,
        "header": isinstance(options["header"], (list, tuple)),
        "skiprows": callable(options["skiprows"]) or _is_list(options["skiprows"]),
        "na_values": isinstance(options["na_values"], Mapping),
        "dtype": any(map(_is_category, dtype.values() if isinstance(dtype, Mapping) else [dtype])),
        **{name: bool(options[name]) for name in PANDAS_ONLY if name in options},
    }
    return next((name for name, is_needed in tests.items() if is_needed), None)


def _is_list(value: object) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str)


def _is_category(dtype: object) -> bool:
    return dtype == "category" or isinstance(dtype, pd.CategoricalDtype)


def read_by_pandas(
    text: CsvText, options: Options, reason: str, layout: Layout, sharding: Sharding
) -> Any:
    """The frame, or an iterator over frames, that pandas reads, with a warning.

    Args:
        text: the file, without comments.
        options: pandas' arguments.
        reason: what Arrow does not read.
        layout: of the rows.
        sharding: the same as the user gave it.

    Raises:
        NotImplementedError: the rows are those of several processes.
    """
    if layout.spans_processes:
        raise NotImplementedError(
            f"read_csv: {reason} needs rows of one process. Leave out sharding."
        )
    source: Any = text.path
    if source is None:
        with text.open() as content:
            source = io.BytesIO(content.read())
    read: Any = pd.read_csv
    with warnings.catch_warnings():
        # pandas' advice to name the engine that it takes.
        warnings.filterwarnings("ignore", "Falling back to the 'python' engine")
        found = read(source, **options)
    warnings.warn(
        f"read_csv: {reason} needs pandas' reader, which takes longer and has pandas' types.",
        PerformanceWarning,
        stacklevel=3,
    )
    if isinstance(found, pd.DataFrame):
        return as_frames(found, sharding)
    return (as_frames(piece, sharding) for piece in found)
