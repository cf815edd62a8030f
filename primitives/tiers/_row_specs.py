# SPDX-License-Identifier: Apache-2.0
"""Where the results of an equation of whole arrays lie on a mesh, if its operands tell.

XLA divides the rows of a result as those of the operands if each row is made of the same row. It
moves nothing between devices then.
"""

from collections.abc import Sequence
from typing import Any

from ._elementwise_rules import Equation, is_elementwise
from ._shards import Spec

# The mesh axes that divide each dimension; None for a constant, which lies anywhere.
Axes = tuple[tuple[str, ...], ...] | None


def spec_by_operands(equation: Equation, placed: Sequence[Axes]) -> Spec | None:
    """The place of the results; None if XLA decides.

    Args:
        equation: the equation.
        placed: where its operands lie.
    """
    shape = equation.outvars[0].aval.shape
    known = [axes for axes in placed if axes is not None]
    is_number = equation.primitive.name.startswith("reduce_") and not shape
    if not any(known) or is_number:
        # All devices have what is made of what all of them have, and numbers of all rows.
        return () if known else None
    divided = {axes for axes in known if axes}
    if len(divided) > 1:
        return None
    (axes,) = divided
    is_by_row = is_elementwise(equation) or (len(axes) == 1 and _keeps_rows(equation, placed))
    return spec_of_axes(axes) if is_by_row else None


def spec_of_axes(axes: Sequence[tuple[str, ...]]) -> Spec:
    """A `PartitionSpec` as XLA names the axes."""
    return tuple(one[0] if len(one) == 1 else one or None for one in axes)


def _keeps_rows(equation: Equation, placed: Sequence[Axes]) -> bool:
    """Whether each row of the result is made of the same row of operands that are divided."""
    params: Any = equation.params
    shape, num_divided = equation.outvars[0].aval.shape, sum(map(bool, placed))
    divided = [v.aval for v, axes in zip(equation.invars, placed, strict=True) if axes]
    if not shape or any(aval.shape[:1] != shape[:1] for aval in divided):
        return False
    match equation.primitive.name:
        case "reshape":
            return params["dimensions"] is None
        case "squeeze":
            return 0 not in params["dimensions"]
        case "broadcast_in_dim":
            return tuple(params["broadcast_dimensions"])[:1] == (0,)
        case "gather":
            numbers, num_batch = params["dimension_numbers"], len(divided[0].shape) - 1
            is_plain = not numbers.operand_batching_dims
            is_after = all(axis >= num_batch for axis in numbers.offset_dims)
            return bool(placed[1]) and num_divided == 1 and is_plain and is_after
        case name:
            return name.startswith("reduce_") and 0 not in params["axes"]
