# SPDX-License-Identifier: Apache-2.0
"""The methods of lazy objects that record themselves, with the signatures of the eager methods.

They follow from the tables of methods and relations. The stub beside this file lists them for type
checkers; `tests/lazy_stubs.py` writes it.
"""

import inspect
from collections.abc import Iterable
from typing import Any

from .._eager import EagerFrame, EagerSeries
from ..groupby._groupby import FrameGroupBy
from ..window._rolling import Windows
from ._methods import GROUP_METHODS, WINDOW_METHODS
from ._relations import RELATIONS
from ._signatures import arguments_of


class RecordedFrame:
    """The steps that are methods of frames."""


class RecordedSeries:
    """The steps that are methods of series."""


class RecordedGroups:
    """The methods of groups of a plan's rows."""


class RecordedWindows:
    """The methods of windows over a plan's rows."""


def _names_of(owner: str) -> list[str]:
    return [name for name, relation in RELATIONS.items() if owner in relation.owners]


# Each class, the eager class whose methods it records, and their names.
RECORDED: tuple[tuple[type, type, Iterable[str]], ...] = (
    (RecordedFrame, EagerFrame, _names_of("frame")),
    (RecordedSeries, EagerSeries, _names_of("series")),
    (RecordedGroups, FrameGroupBy, GROUP_METHODS),
    (RecordedWindows, Windows, WINDOW_METHODS),
)


def _method(eager: type, name: str, recorded: tuple[str, ...]) -> Any:
    """A method that records its name and its arguments."""
    function = getattr(eager, name)
    signature = inspect.signature(function)

    def method(self: Any, *operands: object, **options: object) -> Any:
        given = arguments_of(name, signature, operands, options)
        defaults = {
            one: parameter.default
            for one, parameter in signature.parameters.items()
            if one in recorded and one not in given
        }
        return self._recorded(name, {**given, **defaults})

    method.__name__ = method.__qualname__ = name
    method.__doc__ = inspect.cleandoc(function.__doc__).split("\n\n")[0]
    method.__signature__ = signature  # pyright: ignore[reportFunctionMemberAccess]
    return method


for _class, _eager, _names in RECORDED:
    for _name in _names:
        _relation = RELATIONS.get(_name)
        _of_step = () if _relation is None else _relation.recorded
        setattr(_class, _name, _method(_eager, _name, _of_step))
