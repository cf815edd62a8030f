# SPDX-License-Identifier: Apache-2.0
"""Time zones on the host: their labels, and the offsets from UTC that pandas knows."""

import datetime
import functools
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

# The Gregorian calendar, its weekdays included, repeats after 400 years.
PERIOD = 146_097 * 86_400
# Each zone follows one rule, or none, in the years after this second; 2087 is the last year with
# dates of its own. No zone changes its clock in January, so that none does near either end.
RULES_START = int(np.datetime64("2100-01-15", "s").astype(np.int64))
# Railways gave zones their first common times; a change and its reverse are days apart.
_FIRST = int(np.datetime64("1800-01-01", "s").astype(np.int64))
_DAY = 86_400


class Zone(NamedTuple):
    """The changes of clock of a zone, in seconds since 1970; those of the last 400 years repeat.

    Attributes:
        changes: the instants at which the offset changes, ascending.
        offsets: the seconds to add to UTC before the first change, and after each change.
    """

    changes: np.ndarray
    offsets: np.ndarray


def zone_label(zone: object) -> str:
    """The label of a time zone: the name that pandas shows, if pandas reads it back."""
    if isinstance(zone, datetime.timezone):
        # Another name, such as that of `timezone(offset, "EST")`, would not be read back.
        zone = datetime.timezone(zone.utcoffset(None))
    # Untyped: pandas' stubs know fewer kinds of zones.
    dtype_of: Any = pd.DatetimeTZDtype
    label = str(dtype_of("ns", zone).tz)
    try:
        if label == "tzutc()":
            return "UTC"
        # The objects of pytz are others than those that pandas makes for the same name.
        if label != "tzlocal()" and str(dtype_of("ns", label).tz) == label:
            return label
    except (KeyError, ValueError, TypeError):
        pass
    raise NotImplementedError(
        "tz: a time zone must have a name of the IANA data base, or an offset of whole minutes, "
        f"got {zone!r}. Pass a name, such as 'Europe/Berlin'."
    )


def in_utc(times: object) -> np.ndarray:
    """Times of pandas as NumPy's times, which are UTC if they have a zone."""
    index = pd.Index(times)
    if isinstance(index, pd.DatetimeIndex) and index.tz is not None:
        index = index.tz_convert(None)
    return index.to_numpy()


def with_zone(times: np.ndarray, zone: str | None) -> Any:
    """Times of NumPy in UTC as pandas' array of times of a zone."""
    if zone is None:
        return times
    return pd.DatetimeIndex(times).tz_localize("UTC").tz_convert(zone).array


def arrow_zone(label: str | None) -> str | None:
    """Arrow's name of a zone: an offset has no "UTC" in front of it."""
    return label and (label.removeprefix("UTC") or label)


@functools.cache
def zone_table(label: str) -> Zone:
    """The changes of clock of a zone, as pandas converts times."""
    grid = np.arange(_FIRST, RULES_START + _DAY, _DAY)
    rules = np.arange(RULES_START, RULES_START + PERIOD + 7 * _DAY, 7 * _DAY)
    # A rule that changes no clock in a year changes none later.
    if np.ptp(_offsets(rules[:53], label)):
        grid = np.concatenate([grid[grid < RULES_START], rules])
    offsets = _offsets(grid, label)
    at = np.flatnonzero(np.diff(offsets))
    below, above = grid[at], grid[at + 1]
    while (above - below > 1).any():
        middle = (below + above) // 2
        is_before = _offsets(middle, label) == offsets[at]
        below, above = np.where(is_before, middle, below), np.where(is_before, above, middle)
    return Zone(above, np.concatenate([offsets[:1], offsets[at + 1]]))


def _offsets(seconds: np.ndarray, label: str) -> np.ndarray:
    instants = pd.DatetimeIndex(seconds.view("M8[s]")).tz_localize("UTC")
    return instants.tz_convert(label).tz_localize(None).asi8 - seconds
