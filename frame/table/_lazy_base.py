# SPDX-License-Identifier: Apache-2.0
"""The base class of plans, for functions that take frames or plans."""

from collections.abc import Sequence
from typing import Any

from ._expressions import is_expression


class LazyBase:
    """The base of lazy frames and series."""

    def _concatenated(self, parts: Sequence[object], **options: object) -> Any:
        """`concat` of this part and others."""
        raise TypeError(
            f"concat: a plan concatenates frames and plans of frames, got {type(self).__name__}. "
            "Call collect() first."
        )

    def _merge_plans(self, left: object, right: object, **options: object) -> Any:
        """`merge` of this side and another."""
        raise TypeError(
            f"Can only merge Series or DataFrame objects, a {type(self).__name__} was passed. "
            "Call collect() first."
        )


def is_recorded(value: object) -> bool:
    """Whether a value is a plan or an expression, which pandas takes for one object."""
    return isinstance(value, LazyBase) or is_expression(value)


def check_evaluated(value: object, caller: str) -> None:
    """Raises if a value is a plan or an expression."""
    if not is_recorded(value):
        return
    remedy = "Pass a column of a frame"
    if isinstance(value, LazyBase):
        remedy = "Call collect() first"
    raise NotImplementedError(
        f"{caller}: plans and expressions do not record it, got {type(value).__name__}. {remedy}."
    )
