# SPDX-License-Identifier: Apache-2.0
"""Operations on columns that are no numbers: strings, categories, times."""

from typing import Any

from ._column import Column


def combine_typed(op: str, a: Any, b: Any, name: Any) -> Column:
    """The result of an operation for a pair of which one side is no number."""
    raise NotImplementedError(f"operator {op}: {a!r} and {b!r}")
