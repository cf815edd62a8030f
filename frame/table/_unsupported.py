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


def not_supported(kind: str, caller: str, name: str) -> NotImplementedError:
    """The error for an unsupported name of pandas, with what to use in its place."""
    entry = LACKING[kind].get(name)
    instead = "to_pandas()" if entry is None else entry.instead
    return NotImplementedError(f"{caller}: {name} is not supported. Use {instead}.")


# Names and their alternative, in which {} is the name, for classes and a status.
_TABLE = """
[JaxFrame JaxSeries, out]
flags set_flags: duplicated() of the labels
isetitem: frame[label] = values
sparse: jax.experimental.sparse
[JaxSeries, out]
to_parquet: to_frame().to_parquet()
[FrameGroupBy SeriesGroupBy, out]
boxplot hist plot: a library that accepts the frame itself (plotly, altair, seaborn), or to_pandas()
[SeriesGroupBy, out]
dtype: the dtype of the series
[frame, out]
test: pandas' {}
to_pickle: to_pandas() and pandas' {}
[StringMethods, out]
index: find(), which returns -1 if there is no match
rindex: rfind(), which returns -1 if there is no match
[DatetimeMethods, out]
freq: pandas' infer_freq of the index
[TimedeltaMethods, out]
freq: pandas' infer_freq of the index
[CategoryMethods, out]
[Windows GroupWindows, out]
pipe: a function of the frame, such as shift() and arithmetic
center closed exclusions method min_periods: the arguments of rolling()
ndim obj on step win_type window: the arguments of rolling()
[ExponentialWindows GroupExponentialWindows, out]
adjust alpha center closed com exclusions halflife: the arguments of ewm()
ignore_na method min_periods ndim obj on span step: the arguments of ewm()
online: mean() of all rows, which is one scan
times win_type window: the arguments of ewm()
[GroupResampler, out]
apply transform: agg(), or groupby() of dt.floor()
[Resampler GroupResampler, out]
ax binner get_group groups indices: groupby() of dt.floor()
ndim ngroups: groupby() of dt.floor()
[GroupResampler, out]
closed convention freq key label offset origin: the arguments of resample()
interpolate: asfreq() of the groups, as in pandas, whose method raises
"""


def _parsed(table: str) -> dict[str, dict[str, Lacking]]:
    entries: dict[str, dict[str, Lacking]] = {}
    kinds = status = ""
    for line in table.strip().splitlines():
        if line.startswith("["):
            kinds, status = line.strip("[]").split(", ")
            for kind in kinds.split():
                entries.setdefault(kind, {})
            continue
        names, instead = line.split(": ", 1)
        for kind, name in itertools.product(kinds.split(), names.split()):
            entries[kind][name] = Lacking(status, instead.format(name))
    return entries


LACKING = _parsed(_TABLE)
