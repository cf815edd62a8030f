# SPDX-License-Identifier: Apache-2.0
"""lreshape: columns of several lists below each other."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from ..combining._concat import concat
from ..table._arguments import check_flag, given_frame


def lreshape(
    data: object, groups: Mapping[Hashable, Sequence[Hashable]], dropna: bool = True
) -> Any:
    """Puts the columns of each list below each other, in a column of a new label.

    The other columns are repeated. Works inside `jit`.

    Args:
        data: the frame.
        groups: the lists of labels, of one length, by new label.
        dropna: whether to leave out rows in which a new column has no value.

    Differences from pandas:
        Repeated strings and categories keep their dtype.

    Example:
        >>> from jaxframes.frame import JaxFrame, lreshape
        >>> frame = JaxFrame({"team": ["a", "b"], "hr1": [5, 6], "hr2": [7, 8]})
        >>> lreshape(frame, {"hr": ["hr1", "hr2"]}).to_pandas()
          team  hr
        0    a   5
        1    b   6
        2    a   7
        3    b   8
    """
    frame = given_frame(data, "lreshape")
    lists = [list(labels) for labels in groups.values()]
    if not lists or not lists[0]:
        raise ValueError(f"lreshape: groups must hold lists of labels, got {groups!r}.")
    if any(len(labels) != len(lists[0]) for labels in lists):
        raise ValueError("All column lists must be same length")
    rest = list(frame.columns.difference([label for labels in lists for label in labels]))
    names = [*rest, *groups]
    parts = [frame[[*rest, *labels]].set_axis(names, axis=1) for labels in zip(*lists, strict=True)]
    whole = concat(parts, ignore_index=True)
    if not check_flag(dropna, "dropna"):
        return whole
    return whole.dropna(subset=list(groups)).reset_index(drop=True)
