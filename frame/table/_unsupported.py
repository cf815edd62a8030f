# SPDX-License-Identifier: Apache-2.0
"""Unsupported pandas methods: the coverage page and a test compare this list with pandas."""

import itertools
from typing import NamedTuple


class Lacking(NamedTuple):
    """An unsupported name: "planned", or "out" if it does not suit arrays on devices."""

    status: str
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


# Names and their alternative, in which {} is the name, for classes and a status.
_TABLE = """
[JaxFrame JaxSeries, out]
attrs: a variable beside the frame
combine: where(), or arithmetic on both
convert_dtypes infer_objects: astype()
flags set_flags: duplicated() of the labels
iat: iloc to read, where() and assign() to make new values
isetitem: frame[label] = values
plot hist boxplot: a library that accepts the frame itself (plotly, altair, seaborn), or to_pandas()
sparse: jax.experimental.sparse
style: to_pandas().style
to_clipboard to_excel to_feather to_hdf: to_pandas() and pandas' {}
to_html to_iceberg to_json to_latex: to_pandas() and pandas' {}
to_markdown to_orc to_pickle to_records: to_pandas() and pandas' {}
to_sql to_stata to_string to_xarray to_xml: to_pandas() and pandas' {}
update: where() or merge(), which make new values
[JaxFrame JaxSeries, planned]
asfreq asof at_time between_time to_period to_timestamp: to_pandas() and pandas' {}
compare: a mask: frame[frame.x != other.x]
corrwith: corr() of both columns in one frame
from_arrow: jaxframes.frame.from_arrow()
from_dict from_records: JaxFrame(data)
select: frame[labels]
tz_convert tz_localize: to_pandas() and pandas' {}
[JaxSeries, out]
list: explode(), for a column of lists
pop: drop() of a label
struct: one column for each field
to_parquet: to_frame().to_parquet()
[JaxSeries, planned]
add_prefix add_suffix: rename() of the name; labels of rows by set_axis()
filter: a mask, or loc[labels]
info: to_frame().info()
nbytes: memory_usage()
to_csv: to_frame().to_csv()
[FrameGroupBy SeriesGroupBy, out]
apply: agg() or transform(), with a name or frame.segment_function
boxplot hist plot: a library that accepts the frame itself (plotly, altair, seaborn), or to_pandas()
[FrameGroupBy SeriesGroupBy, planned]
corrwith: agg() of products of columns
ewm: a segmented scan: primitives.segmented_scan
ohlc: agg(['first', 'max', 'min', 'last'])
resample: groupby() of the keys and of dt.floor()
sample: sample(frac=1), then groupby().head()
take: nth()
[SeriesGroupBy, planned]
dtype: the dtype of the series
is_monotonic_decreasing is_monotonic_increasing: diff() and a comparison, then all()
unique: drop_duplicates() of the keys and the column
"""


def _parsed(table: str) -> dict[str, dict[str, Lacking]]:
    entries: dict[str, dict[str, Lacking]] = {}
    kinds = status = ""
    for line in table.strip().splitlines():
        if line.startswith("["):
            kinds, status = line.strip("[]").split(", ")
            continue
        names, instead = line.split(": ", 1)
        for kind, name in itertools.product(kinds.split(), names.split()):
            entries.setdefault(kind, {})[name] = Lacking(status, instead.format(name))
    return entries


LACKING = _parsed(_TABLE)
