# SPDX-License-Identifier: Apache-2.0
"""The arguments of a recorded call by their names, as the eager method takes them."""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from ..table._arguments import no_inplace


def arguments_of(
    name: str,
    signature: inspect.Signature,
    operands: Sequence[object],
    keywords: Mapping[str, object],
) -> dict[str, Any]:
    """The given arguments of a method by their names, without `self`.

    Raises:
        TypeError: the method does not take them.
        NotImplementedError: some have no name, because the method passes them on to a function.
    """
    try:
        given = signature.bind(None, *operands, **keywords)
    except TypeError as error:
        raise TypeError(f"{name}() {error}") from None
    arguments: dict[str, Any] = {}
    for one, value in list(given.arguments.items())[1:]:
        match signature.parameters[one].kind:
            case inspect.Parameter.VAR_KEYWORD:
                arguments |= value
            case inspect.Parameter.VAR_POSITIONAL:
                raise NotImplementedError(
                    f"{name}: a plan cannot hold positional arguments of a function, got {value}. "
                    "Give them by name."
                )
            case _:
                arguments[one] = value
    no_inplace(name, arguments.get("inplace", False))
    return arguments
