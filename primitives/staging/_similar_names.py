# SPDX-License-Identifier: Apache-2.0
"""Hints at the name that was meant."""

import difflib
from collections.abc import Sequence
from typing import Any


def did_you_mean(name: Any, choices: Sequence[str]) -> str:
    """A hint at the choice that a name resembles, or an empty string."""
    close = difflib.get_close_matches(str(name), choices, n=1)
    return f" Did you mean {close[0]!r}?" if close else ""
