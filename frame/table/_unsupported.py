# SPDX-License-Identifier: Apache-2.0
"""Unsupported pandas methods: their status, and alternatives.

The documentation's coverage page is generated from this list and the existing methods; a test
compares both with pandas.
"""

from typing import Literal, NamedTuple

Status = Literal["planned", "out"]


class Lacking(NamedTuple):
    """An unsupported name of pandas.

    Attributes:
        status: "planned", or "out" if it does not suit arrays on devices.
        instead: the alternative.
    """

    status: Status
    instead: str


class LackingError(NotImplementedError, AttributeError):
    """Raised for unsupported methods of pandas. Also an AttributeError, so `hasattr` works."""


def lacking(kind: str, name: str) -> LackingError | None:
    """The error for an unsupported name of pandas; None for any other name."""
    entry = LACKING[kind].get(name)
    if entry is None:
        return None
    planned = "is not built yet" if entry.status == "planned" else "is not part of jaxframes"
    return LackingError(f"{kind}.{name} {planned}. Use {entry.instead}.")


_HOST = "to_pandas() and pandas'"
_DRAW = "a library that accepts the frame itself (plotly, altair, seaborn), or to_pandas()"


def _host(*names: str, status: Status = "out") -> dict[str, Lacking]:
    """Entries whose alternative is pandas itself, on the host."""
    return {name: Lacking(status, f"{_HOST} {name}") for name in names}


_MUTATION = {
    "iat": Lacking("out", "iloc to read, where() and assign() to make new values"),
    "isetitem": Lacking("out", "frame[label] = values"),
    "update": Lacking("out", "where() or merge(), which make new values"),
}
_DRAWING = {name: Lacking("out", _DRAW) for name in ("plot", "hist", "boxplot")}
_FILES = _host(
    "to_clipboard", "to_excel", "to_feather", "to_hdf", "to_html", "to_iceberg", "to_json",
    "to_latex", "to_markdown", "to_orc", "to_pickle", "to_records", "to_sql", "to_stata",
    "to_string", "to_xarray", "to_xml",
)  # fmt: skip
_TIME_INDEX = _host(
    "asfreq", "asof", "at_time", "between_time", "resample", "to_period", "to_timestamp",
    "truncate", "tz_convert", "tz_localize", status="planned",
)  # fmt: skip
_RESHAPING = {
    "melt": Lacking("planned", "concat() of one frame for each column"),
    "pivot": Lacking("planned", "groupby() of both keys, and to_pandas().unstack()"),
    "pivot_table": Lacking("planned", "groupby() of both keys, and to_pandas().unstack()"),
    "stack": Lacking("planned", "concat() of one frame for each column"),
    "transpose": Lacking("planned", "to_pandas().T, or to_numpy().T of a frame of numbers"),
    "T": Lacking("planned", "to_pandas().T, or to_numpy().T of a frame of numbers"),
    "unstack": Lacking("planned", "to_pandas().unstack() of a result of groupby()"),
    "reorder_levels": Lacking("planned", "reset_index() and set_index()"),
    "xs": Lacking("planned", "reset_index() and a mask"),
}
_LANGUAGE = {
    "eval": Lacking("planned", "arithmetic on columns"),
    "query": Lacking("planned", "a mask: frame[frame.x > 1]"),
}
_STATISTICS = {
    "ewm": Lacking("planned", "primitives.inclusive_scan of an affine function"),
    "interpolate": Lacking("planned", "ffill(), or bfill()"),
    "sample": Lacking("planned", "take() of rows drawn with jax.random"),
    "corrwith": Lacking("planned", "corr() of both columns in one frame"),
    "compare": Lacking("planned", "a mask: frame[frame.x != other.x]"),
    "combine": Lacking("out", "where(), or arithmetic on both"),
    "combine_first": Lacking("planned", "fillna() with the other's column"),
    "align": Lacking("planned", "merge() on the index"),
    "reindex_like": Lacking("planned", "merge() with the other frame"),
    "first_valid_index": Lacking("planned", "dropna().head(1).index"),
    "last_valid_index": Lacking("planned", "dropna().tail(1).index"),
}
_OBJECTS = {
    "style": Lacking("out", "to_pandas().style"),
    "sparse": Lacking("out", "jax.experimental.sparse"),
    "attrs": Lacking("out", "a variable beside the frame"),
    "dot": Lacking("planned", "to_numpy(), or jax.numpy on to_jax()"),
    "flags": Lacking("out", "duplicated() of the labels"),
    "set_flags": Lacking("out", "duplicated() of the labels"),
    "convert_dtypes": Lacking("out", "astype()"),
    "infer_objects": Lacking("out", "astype()"),
    "from_dict": Lacking("planned", "JaxFrame(data)"),
    "from_records": Lacking("planned", "JaxFrame(data)"),
    "from_arrow": Lacking("planned", "jaxframes.frame.from_arrow()"),
    "select": Lacking("planned", "frame[labels]"),
}
_SHARED = {
    **_MUTATION, **_DRAWING, **_FILES, **_TIME_INDEX, **_RESHAPING, **_LANGUAGE, **_STATISTICS,
    **_OBJECTS,
}  # fmt: skip

_GROUPS = {
    "apply": Lacking("out", "agg() or transform(), with a name or frame.segment_function"),
    "boxplot": Lacking("out", _DRAW),
    "corrwith": Lacking("planned", "agg() of products of columns"),
    "ewm": Lacking("planned", "a segmented scan: primitives.segmented_scan"),
    "hist": Lacking("out", _DRAW),
    "ohlc": Lacking("planned", "agg(['first', 'max', 'min', 'last'])"),
    "plot": Lacking("out", _DRAW),
    "resample": Lacking("planned", "a key of dt.floor()"),
    "sample": Lacking("planned", "head() of rows in random order"),
    "take": Lacking("planned", "nth()"),
}

LACKING: dict[str, dict[str, Lacking]] = {
    "JaxFrame": _SHARED,
    "JaxSeries": {
        **_SHARED,
        "add_prefix": Lacking("planned", "rename() of the name; labels of rows by set_axis()"),
        "add_suffix": Lacking("planned", "rename() of the name; labels of rows by set_axis()"),
        "filter": Lacking("planned", "a mask, or loc[labels]"),
        "get": Lacking("planned", "loc[label]"),
        "info": Lacking("planned", "to_frame().info()"),
        "nbytes": Lacking("planned", "memory_usage()"),
        "reindex": Lacking("planned", "merge() with a frame of the labels"),
        "pop": Lacking("out", "drop() of a label"),
        "to_csv": Lacking("planned", "to_frame().to_csv()"),
        "autocorr": Lacking("planned", "corr() with shift()"),
        "case_when": Lacking("planned", "where(), once per condition"),
        "divmod": Lacking("planned", "// and %"),
        "rdivmod": Lacking("planned", "// and %"),
        "list": Lacking("out", "explode(), for a column of lists"),
        "struct": Lacking("out", "one column for each field"),
        "repeat": Lacking("planned", "take() of repeated positions"),
        "to_parquet": Lacking("out", "to_frame().to_parquet()"),
    },
    "FrameGroupBy": _GROUPS,
    "SeriesGroupBy": {
        **_GROUPS,
        "dtype": Lacking("planned", "the dtype of the series"),
        "is_monotonic_decreasing": Lacking("planned", "diff() and a comparison, then all()"),
        "is_monotonic_increasing": Lacking("planned", "diff() and a comparison, then all()"),
        "nlargest": Lacking("planned", "sort_values(ascending=False), then groupby().head()"),
        "nsmallest": Lacking("planned", "sort_values(), then groupby().head()"),
        "unique": Lacking("planned", "drop_duplicates() of the keys and the column"),
    },
}
