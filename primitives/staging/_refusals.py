# SPDX-License-Identifier: Apache-2.0
"""Why a compiled call failed: its program depends on traced values, or its arguments do not fit."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import jax
from jax.core import Tracer

from ..contract._arguments import type_of

# What JAX raises if a Python program depends on traced values. Another error says that the program
# is wrong, and its eager run would raise it too.
_TRACING_ERRORS = (
    jax.errors.ConcretizationTypeError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
    jax.errors.NonConcreteBooleanIndexError,
)
# The start of JAX's text for a traced number in a shape, which has no class of its own.
_TRACED_SHAPE = "Shapes must be 1D sequences of concrete values of integer type"


def is_of_tracing(error: Exception) -> bool:
    """Whether an error says that a program depends on traced values."""
    return isinstance(error, _TRACING_ERRORS) or (
        isinstance(error, TypeError) and str(error).startswith(_TRACED_SHAPE)
    )


def explain(error: Exception, arguments: Mapping[str, Any], donated: Collection[str]) -> None:
    """Raises a clearer error if JAX refused an argument: its type, or a buffer that is gone.

    A call that fails later has donated its arguments too, so the text of the error decides.
    """
    text = str(error)
    # The first places of donated arrays, by the identity of their objects.
    seen: dict[int, str] = {}
    for name, place, leaf in _placed(arguments):
        if isinstance(error, TypeError):
            try:
                jax.typeof(leaf)
            except TypeError:
                raise TypeError(
                    f"compiled_step: {name} must consist of arrays, got {type_of(leaf)} at "
                    f"{place}. Name {name} in static."
                ) from error
        elif not isinstance(leaf, jax.Array) or isinstance(leaf, Tracer):
            continue
        elif "deleted" in text and leaf.is_deleted():
            raise ValueError(
                f"compiled_step: arrays must not be donated or deleted, got {type_of(leaf)} at "
                f"{place}. Pass what the step returned, or a copy from before the donation."
            ) from error
        elif "same buffer twice" in text and name in donated:
            if id(leaf) in seen:
                raise ValueError(
                    f"compiled_step: donated arrays must differ, got the same {type_of(leaf)} at "
                    f"{seen[id(leaf)]} and {place}. Copy one of them first, with jnp.copy."
                ) from error
            seen[id(leaf)] = place


def _placed(arguments: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """The name of the argument, the place and the value of each leaf."""
    for name, argument in arguments.items():
        for path, leaf in jax.tree_util.tree_leaves_with_path(argument):
            yield name, f"{name}{jax.tree_util.keystr(path)}", leaf
