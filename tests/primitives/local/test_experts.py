# SPDX-License-Identifier: Apache-2.0
"""`local.dispatch_to_experts` and `combine_from_experts` against tokens one by one."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from derivatives import check_derivatives
from jax.flatten_util import ravel_pytree
from jaxframes.primitives import local

NUM_TOKENS, NUM_EXPERTS, WIDTH = 17, 5, 3
X = 1 + np.arange(NUM_TOKENS * WIDTH, dtype=np.float64).reshape(NUM_TOKENS, WIDTH)


def experts_of(shape):
    """Ids of experts; a few are out of range."""
    return np.random.default_rng(0).integers(-1, NUM_EXPERTS + 1, shape).astype(np.int32)


@pytest.mark.parametrize("shape", [(NUM_TOKENS,), (NUM_TOKENS, 2)], ids=["one", "two"])
@pytest.mark.parametrize("capacity", [None, 0, 3, 40])
def test_matches_tokens_one_by_one(shape, capacity):
    ids = experts_of(shape)
    call = jax.jit(
        lambda x, ids, valid: local.dispatch_to_experts(
            x, ids, NUM_EXPERTS, capacity=capacity, num_valid=valid
        )
    )
    for valid in (NUM_TOKENS, 9):
        rows, slots, counts = call(X, ids, np.int32(valid))
        members = [
            [X[token] for token, one in np.argwhere(ids.reshape(NUM_TOKENS, -1) == expert)
             if token < valid]
            for expert in range(NUM_EXPERTS)
        ]  # fmt: skip
        assert counts.tolist() == [len(one) for one in members]
        if capacity is None:
            expected = np.zeros((ids.size, WIDTH))
            flat = [row for one in members for row in one]
            expected[: len(flat)] = np.reshape(flat, (-1, WIDTH))
        else:
            expected = np.zeros((NUM_EXPERTS, capacity, WIDTH))
            for expert, one in enumerate(members):
                kept = one[:capacity]
                expected[expert, : len(kept)] = np.reshape(kept, (-1, WIDTH))
        np.testing.assert_array_equal(rows, expected)
        # Each copy that was kept comes back.
        ones = local.combine_from_experts(np.ones(rows.shape), slots)
        kept = np.sum((np.asarray(slots.positions) >= 0).reshape(NUM_TOKENS, -1), axis=1)
        np.testing.assert_array_equal(ones, np.repeat(kept[:, None], WIDTH, 1))
        back = local.combine_from_experts(rows, slots)
        np.testing.assert_array_equal(back, X * kept[:, None])
        assert kept.sum() == sum(len(one[:capacity]) for one in members)


@pytest.mark.parametrize("capacity", [None, 3])
def test_derivatives(capacity):
    ids = experts_of((NUM_TOKENS, 2))

    def loss(arrays):
        x, weights = arrays
        sent = local.dispatch_to_experts(x, ids, NUM_EXPERTS, capacity=capacity)
        back = local.combine_from_experts(jnp.sin(sent.rows), sent.slots, weights)
        return jnp.vdot(back, X / 50)

    x, unravel = ravel_pytree((X / 50, np.linspace(0.1, 1, 2 * NUM_TOKENS).reshape(-1, 2)))
    check_derivatives(lambda x: loss(unravel(x)), x)


@pytest.mark.parametrize("capacity", [None, 0, 2])
@pytest.mark.parametrize("shape", [(0,), (0, 2), (2, 0)])
def test_no_copies_add_up_to_zero(shape, capacity):
    x = np.ones((shape[0], 2))
    sent = local.dispatch_to_experts(x, np.zeros(shape, np.int32), 3, capacity=capacity)
    assert sent.counts.tolist() == [0, 0, 0]
    np.testing.assert_array_equal(local.combine_from_experts(sent.rows, sent.slots), 0 * x)


def test_the_weight_of_a_dropped_copy_does_not_count():
    sent = local.dispatch_to_experts(np.ones((2, 1)), np.array([[0, 0], [-1, 5]]), 3, capacity=1)
    weights = np.array([[0.5, np.nan], [np.nan, np.inf]])
    total = local.combine_from_experts(sent.rows, sent.slots, weights)
    np.testing.assert_array_equal(total, [[0.5], [0]])


def test_names_what_is_wrong():
    with pytest.raises(ValueError, match="dispatch_to_experts: expert_ids must have the shape"):
        local.dispatch_to_experts(X, np.zeros(3, int), 2)
    sent = local.dispatch_to_experts(X, experts_of(NUM_TOKENS), NUM_EXPERTS)
    with pytest.raises(ValueError, match="combine_from_experts: rows must have the leading axes"):
        local.combine_from_experts(X[:3], sent.slots)
    with pytest.raises(ValueError, match="combine_from_experts: weights must have the shape"):
        local.combine_from_experts(sent.rows, sent.slots, np.ones(3))
    with pytest.raises(TypeError, match="combine_from_experts: slots must be those of dispatch_to"):
        local.combine_from_experts(sent.rows, sent.slots.positions)
    blocks = local.dispatch_to_experts(X, experts_of(NUM_TOKENS), NUM_EXPERTS, capacity=2)
    with pytest.raises(ValueError, match="combine_from_experts: rows must have the leading axes"):
        local.combine_from_experts(blocks.rows[1:], blocks.slots)
