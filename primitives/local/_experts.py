# SPDX-License-Identifier: Apache-2.0
"""Tokens to the experts of one device and back."""

import dataclasses
import functools
import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..contract._arguments import (
    MAX_SHARD_ROWS,
    as_array,
    as_num_valid,
    as_rows,
    as_static_int,
    num_rows_of,
    type_of,
)
from ..contract._typing import Array, ArrayLike, Int, Integer, PyTree, Shaped
from ..tiers._tiered import tiered
from ._bucket import bucket_order
from ._gather_rows import gather_rows


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class ExpertSlots:
    """Where the copies of each token are. Pass it to `combine_from_experts`.

    Attributes:
        positions: for each token and each of its experts the position of the copy among all rows,
            -1 for none.
        capacity: most rows of an expert; None if no token is dropped.
        num_experts: the number of experts; None if it is not known.
    """

    positions: Int[Array, " tokens *k"]
    capacity: int | None = dataclasses.field(metadata={"static": True})
    num_experts: int | None = dataclasses.field(default=None, metadata={"static": True})


class ExpertRows(NamedTuple):
    """Rows by expert, where each token's copies are, and the true number of rows of each expert."""

    rows: PyTree
    slots: ExpertSlots
    counts: Int[Array, " experts"]


def dispatch_to_experts(
    rows: PyTree,
    expert_ids: Integer[ArrayLike, " tokens *k"],
    num_experts: int,
    *,
    capacity: int | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> ExpertRows:
    """Groups tokens by their experts, with a copy for each expert of a token.

    Without a capacity no token is dropped: the rows and `counts` are what `jax.lax.ragged_dot`
    takes. With one each expert has a block of rows, for `einsum`, and its later tokens are
    dropped. `combine_from_experts` returns the results. Experts on other devices are for
    `collective.dispatch`.

    Args:
        rows: the tokens, any pytree of arrays with the same leading axis.
        expert_ids: the experts of each token, integers of shape `(tokens,)` or `(tokens, k)`. An id
            outside `[0, num_experts)` names none.
        num_experts: the number of experts. Static.
        capacity: most rows of an expert. Static.
        num_valid: number of valid tokens, at the front; all by default.

    Returns:
        `ExpertRows(rows, slots, counts)`. Without a capacity the rows have the leading axis
        `tokens * k`; those of expert `e` come after those of `e - 1`, and then zeros. With one
        they have the shape `(num_experts, capacity, ...)`, with zeros behind the rows of an
        expert. A count above the capacity means that rows were dropped.

    Raises:
        TypeError: `expert_ids` are not integers, or `num_experts` or `capacity` is traced.
        ValueError: leading axes differ, or `expert_ids` have another number of dimensions.

    Cost:
        That of `bucket_order`, and one gather of the rows. No communication.

    Guarantees:
        Stable: the rows of an expert are in the order of the tokens. Deterministic; differentiable
        in `rows`.

    References:
        Gale, Narayanan, Young and Zaharia (2023), "MegaBlocks: efficient sparse training with
        mixture-of-experts" (dropless).

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> x, experts = jnp.array([10, 20, 30]), jnp.array([[1, 0], [1, 2], [0, 1]])
        >>> sent = local.dispatch_to_experts(x, experts, 3)
        >>> sent.rows.tolist(), sent.counts.tolist()
        ([10, 30, 10, 20, 30, 20], [2, 3, 1])
        >>> local.dispatch_to_experts(x, experts, 3, capacity=2).rows.tolist()
        [[10, 30], [10, 20], [20, 0]]
    """
    caller = "dispatch_to_experts"
    num_tokens = num_rows_of(rows, caller)
    rows = as_rows(rows, num_tokens, caller, "rows")
    num_experts = as_static_int(num_experts, caller, "num_experts", 1, 2**31 - 1)
    ids = as_array(expert_ids, caller, "expert_ids")
    if not jnp.issubdtype(ids.dtype, jnp.integer):
        raise TypeError(f"{caller}: expert_ids must be integers, got {type_of(ids)}.")
    if ids.ndim not in (1, 2) or ids.shape[0] != num_tokens:
        raise ValueError(
            f"{caller}: expert_ids must have the shape (tokens,) or (tokens, k) for the "
            f"{num_tokens} rows, got {type_of(ids)}."
        )
    most = None
    if capacity is not None:
        most = as_static_int(capacity, caller, "capacity", 0, MAX_SHARD_ROWS // num_experts)
    valid = as_num_valid(num_valid, num_tokens, caller)
    return _dispatch(rows, ids, valid, num_experts, most)


def combine_from_experts(
    rows: PyTree, slots: ExpertSlots, weights: Shaped[ArrayLike, " tokens *k"] | None = None
) -> PyTree:
    """Returns the results of experts to their tokens, and adds those of each token.

    Args:
        rows: what became of the rows of `dispatch_to_experts`, with their leading axes.
        slots: its `slots`.
        weights: the weight of each expert of a token, of the shape of its ids; one by default.

    Returns:
        For each token the weighted sum of its experts' results, in the dtype of the rows. A copy
        that was dropped counts as zero.

    Raises:
        TypeError: `slots` are not those of `dispatch_to_experts`.
        ValueError: `weights` have another shape than the ids of experts, or `rows` other leading
            axes than those of `dispatch_to_experts`.

    Cost:
        One gather of `tokens * k` rows. No communication.

    Guarantees:
        Deterministic; differentiable in `rows` and `weights`.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> x, experts = jnp.array([10.0, 20, 30]), jnp.array([[1, 0], [1, 2], [0, 1]])
        >>> sent = local.dispatch_to_experts(x, experts, 3, capacity=2)
        >>> scaled = sent.rows * jnp.array([[1.0], [2], [3]])
        >>> local.combine_from_experts(scaled, sent.slots, jnp.full((3, 2), 0.5)).tolist()
        [15.0, 50.0, 15.0]
    """
    caller = "combine_from_experts"
    if not isinstance(slots, ExpertSlots):
        raise TypeError(
            f"{caller}: slots must be those of dispatch_to_experts, got {type_of(slots)}."
        )
    shape = slots.positions.shape
    if weights is not None:
        weights = as_array(weights, caller, "weights")
        if weights.shape != shape:
            raise ValueError(
                f"{caller}: weights must have the shape of the ids of experts, {shape}, got "
                f"{type_of(weights)}."
            )
    rows = as_rows(rows, None, caller, "rows")
    for leaf in jax.tree.leaves(rows):
        if slots.capacity is None:
            is_given = leaf.shape[0] == math.prod(shape)
        else:
            is_given = leaf.shape[1:2] == (slots.capacity,)
            is_given &= slots.num_experts in (None, leaf.shape[0])
        if not is_given:
            raise ValueError(
                f"{caller}: rows must have the leading axes of the rows of dispatch_to_experts, "
                f"got {type_of(leaf)}."
            )
    return _combine(rows, slots, weights)


@functools.partial(tiered, static_argnums=(3, 4))
def _dispatch(
    rows: Any, expert_ids: Array, num_valid: Array, num_experts: int, capacity: int | None
) -> ExpertRows:
    per_token = expert_ids.shape[1] if expert_ids.ndim == 2 else 1
    ids = expert_ids.reshape(-1)
    num_copies = ids.shape[0]
    order, inverse, offsets = bucket_order(ids, num_experts, num_valid=num_valid * per_token)
    counts = jnp.diff(offsets)
    position = jax.lax.iota(jnp.int32, num_copies)
    # Copies without an expert come after all others, and padding keeps its place behind them.
    has_expert = inverse < offsets[-1]
    if capacity is None:
        is_row = position < offsets[-1]
        tokens = jnp.where(is_row, order // per_token, np.int32(-1))
        slots = jnp.where(has_expert, inverse, np.int32(-1))
        moved = gather_rows(rows, tokens)
    else:
        place = jax.lax.broadcasted_iota(jnp.int32, (1, capacity), 1)
        (tokens,) = gather_rows((order,), (offsets[:-1, None] + place).reshape(-1), fill_value=-1)
        is_row = (place < counts[:, None]).reshape(-1)
        tokens = jnp.where(is_row, tokens // per_token, np.int32(-1))
        expert = jnp.where(has_expert, ids, 0).astype(jnp.int32)
        (first,) = gather_rows((offsets,), expert)
        slot = inverse - first
        is_kept = has_expert & (slot < capacity)
        slots = jnp.where(is_kept, expert * np.int32(capacity) + slot, np.int32(-1))
        moved = jax.tree.map(
            lambda leaf: leaf.reshape(num_experts, capacity, *leaf.shape[1:]),
            gather_rows(rows, tokens),
        )
    located = ExpertSlots(slots.reshape(expert_ids.shape), capacity, num_experts)
    return ExpertRows(moved, located, counts)


@tiered
def _combine(rows: Any, slots: ExpertSlots, weights: Array | None) -> Any:
    positions = slots.positions
    if positions.ndim == 1:
        positions = positions[:, None]
    if weights is not None:
        weights = weights.reshape(positions.shape)
        # Zero times NaN is NaN.
        weights = jnp.where(positions < 0, weights.dtype.type(0), weights)

    def combine(leaf: Array) -> Array:
        flat = leaf
        if slots.capacity is not None:
            flat = leaf.reshape(leaf.shape[0] * leaf.shape[1], *leaf.shape[2:])
        copies = gather_rows(flat, positions.reshape(-1))
        copies = copies.reshape(*positions.shape, *flat.shape[1:])
        if weights is not None:
            copies *= weights.reshape(*positions.shape, *(1,) * (flat.ndim - 1))
        return jnp.sum(copies, axis=1).astype(leaf.dtype)

    return jax.tree.map(combine, rows)
