# SPDX-License-Identifier: Apache-2.0
"""Suggestions for misspelt labels in errors."""

import difflib
from collections.abc import Hashable, Iterable


def the_columns(absent: object, labels: Iterable[Hashable]) -> str:
    """Sentences that list the columns, with the label that one that is absent resembles.

    Args:
        absent: the absent label, or a list of them.
        labels: the labels of the columns.
    """
    labels = list(labels)
    missing = absent if isinstance(absent, list) else [absent]
    meant = next(filter(None, (resembling(one, labels) for one in missing)), None)
    suggestion = "" if meant is None else f" Did you mean {meant!r}?"
    return f"The columns are {labels}.{suggestion}"


def resembling(name: Hashable, labels: Iterable[Hashable]) -> str | None:
    """The label that a misspelt name resembles most, if there is one."""
    if not isinstance(name, str):
        return None
    texts = [label for label in labels if isinstance(label, str)]
    by_case = {text.lower(): text for text in reversed(texts)}
    found = difflib.get_close_matches(name.lower(), by_case, n=1)
    return by_case[found[0]] if found else None
