# SPDX-License-Identifier: Apache-2.0
"""Rows of one side with a match on the other: the definition, and the C++ kernel on CPU."""

import jax
import jax.numpy as jnp

from ...contract._key_bits import OrderedWord
from ...contract._platform import by_platform
from ...contract._typing import Array
from ..base._cuda import on_cuda
from ..base._foreign import call, word_attribute
from ..base._library import is_native
from ._grouped_sides import Side, grouped_sides, rows_of_groups
from ._run_match import match_by_runs
from ._sorted_match import match_by_sort


def flag_matches(left: Side, right: Side, column: OrderedWord) -> Array:
    """Flags the left rows whose word occurs on the right side; False in padding."""
    num_left = left.words.shape[0]

    def xla(left: Side, right: Side) -> Array:
        left, right, _, _ = grouped_sides(left, right, column)
        num_groups = num_left + right.words.shape[0]
        has_right = rows_of_groups(right, num_groups) > 0
        is_left = jax.lax.iota(jnp.int32, num_left) < left.num_valid
        groups = jnp.where(is_left, left.words, 0)
        return is_left & has_right.at[groups].get(mode="promise_in_bounds")

    def native(left: Side, right: Side) -> Array:
        num_slots = 2 << right.words.shape[0].bit_length()
        flags, _ = call(
            "jaxframes_membership_v1",
            tuple(a[None] for a in (left.words, right.words, left.num_valid, right.num_valid)),
            (
                ((num_left,), jnp.bool_),
                ((num_slots,), f"uint{8 * left.words.dtype.itemsize}"),
            ),
            flip=word_attribute(column.flip),
        )
        return flags

    def tpu(left: Side, right: Side) -> Array:
        return match_by_sort(left, right, column, "inner").num_matches > 0

    def cuda(left: Side, right: Side) -> Array:
        return match_by_runs(left, right, column, "inner").num_matches > 0

    if num_left == 0:
        return xla(left, right)
    kernels = ({"cpu": native} if is_native() else {}) | on_cuda(cuda)
    return by_platform(left, right, tpu=tpu, default=xla, **kernels)
