# SPDX-License-Identifier: Apache-2.0
"""User-defined reductions of groups."""

import functools
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import jax.numpy as jnp

from ...primitives.staging import tiered
from ..table._column import Array
from ..table._user_functions import known_reduction
from ._grouped_column import Segments


class SegmentFunction:
    """A function that reduces the values of all groups at once; see `segment_function`."""

    def __init__(self, function: Callable[[Array, Array, int], Array]):
        self.function = function
        self.__name__: str = getattr(function, "__name__", "segment_function")

    def __call__(self, values: Array, segment_ids: Array, num_segments: int) -> Array:
        return self.function(values, segment_ids, num_segments)


def segment_function(function: Callable[[Array, Array, int], Array]) -> SegmentFunction:
    """Wraps a JAX function for `groupby(...).agg` and `transform`.

    Args:
        function: `f(values, segment_ids, num_segments)`, traceable by JAX, returns an array of
            shape `(num_segments,)` with one result per segment. In `values` a missing value is
            NaN; rows with the id -1 belong to no segment. The functions `primitives.segment_*`
            and those of `jax.ops` take these arguments.

    Example:
        >>> from jaxframes import primitives
        >>> from jaxframes.frame import JaxFrame, segment_function
        >>> @segment_function
        ... def span(x, ids, n):
        ...     return primitives.segment_max(x, ids, n) - primitives.segment_min(x, ids, n)
        >>> frame = JaxFrame({"k": [1, 2, 1], "x": [3, 4, 8]})
        >>> frame.groupby("k").x.agg(span).tolist()
        [5, 0]
    """
    return SegmentFunction(function)


@functools.partial(tiered, static_argnums=(0, 3))
def reduce_segments(
    function: Callable[[Array, Array, int], Array],
    values: Array,
    segments: Segments,
    by_segment: bool,
) -> Array:
    """Calls a user's function and selects the groups from its result."""
    num_segments = segments.num_segments
    result = jnp.asarray(function(values, segments.ids, num_segments))
    if result.shape != (num_segments,):
        raise ValueError(
            f"segment_function: the result must have the shape ({num_segments},), got "
            f"{result.shape}. Return one value for each segment."
        )
    return result if by_segment else segments.select_groups(result)


class UserFunction(NamedTuple):
    """A function of one group, with its further arguments."""

    function: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = MappingProxyType({})
    engine: str | None = None

    def __call__(self, group: object) -> Any:
        """Calls the function with a group."""
        return self.function(group, *self.args, **self.kwargs)


def is_of_user(function: object) -> bool:
    """Whether a function is called for each group. NumPy's reductions are not."""
    is_wrapped = isinstance(function, (SegmentFunction, UserFunction))
    return callable(function) and not is_wrapped and known_reduction(function) is None
