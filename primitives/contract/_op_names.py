# SPDX-License-Identifier: Apache-2.0
"""The names of reductions and of scan operators, which share their synonyms."""

from collections.abc import Collection
from typing import Any

from ._arguments import type_of

# Reductions and scans take both names of an operation. The first is documented.
_SYNONYMS = {"sum": "add", "prod": "mul"}
_OF_REDUCTIONS = {other: name for name, other in _SYNONYMS.items()}


def as_scan_name(op: str) -> str:
    """The name of a scan operator within the scans."""
    return _SYNONYMS.get(op, op)


def as_reduction_name(op: Any, known: Collection[str], caller: str, argument: str = "op") -> str:
    """Checks the name of a reduction.

    Raises:
        ValueError: no reduction has this name.
    """
    name = _OF_REDUCTIONS.get(op, op) if isinstance(op, str) else op
    if not isinstance(name, str) or name not in known:
        names = ", ".join(map(repr, known))
        shown = repr(op) if isinstance(op, str) else type_of(op)
        rule = "op must be one of" if argument == "op" else f"{argument} must be of"
        raise ValueError(f"{caller}: {rule} {names}, got {shown}.")
    return name
