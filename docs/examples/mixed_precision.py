# SPDX-License-Identifier: Apache-2.0
"""A training step that computes in 16 bits, with a float32 state and a scaled loss."""

from typing import Any, NamedTuple

import digits
import jax
import jax.numpy as jnp
import optax

# A scale that has not overflowed for this number of steps is doubled.
GROWTH_STEPS = 20


class LossScale(NamedTuple):
    """The factor of the loss, and the number of steps since it changed."""

    factor: jax.Array
    num_steps: jax.Array


def new_state(factor: float = 2.0**15) -> digits.State:
    """The state of `digits.new_state`, and a scale of the loss."""
    return digits.new_state() | {"scale": LossScale(jnp.float32(factor), jnp.int32(0))}


def adjusted(scale: LossScale, is_finite: jax.Array) -> LossScale:
    """Halves the factor after an overflow; doubles it after enough steps without one."""
    num_steps = jnp.where(is_finite, scale.num_steps + 1, 0)
    grows = num_steps == GROWTH_STEPS
    factor = jnp.where(is_finite, jnp.where(grows, 2.0, 1.0), 0.5) * scale.factor
    return LossScale(factor, jnp.where(grows, 0, num_steps))


def train_step(
    state: digits.State, batch: digits.Batch, dtype: Any
) -> tuple[digits.State, dict[str, jax.Array]]:
    """The state after one batch; unchanged but for the scale if a gradient overflowed."""
    scale = state["scale"]

    def scaled_loss(params: Any) -> tuple[jax.Array, jax.Array]:
        loss, _ = digits.mean_loss(params, batch, dtype)
        return loss * scale.factor, loss

    gradients, loss = jax.grad(scaled_loss, has_aux=True)(state["params"])
    gradients = jax.tree.map(lambda gradient: gradient / scale.factor, gradients)
    is_finite = jnp.isfinite(optax.tree.norm(gradients))

    updates, optimizer = digits.OPTIMIZER.update(gradients, state["optimizer"])
    params = optax.apply_updates(state["params"], updates)
    new = {"params": params, "optimizer": optimizer, "step": state["step"] + 1}
    old = {name: state[name] for name in new}
    kept = jax.tree.map(lambda new, old: jnp.where(is_finite, new, old), new, old)
    metrics = {"loss": loss, "factor": scale.factor, "is_finite": is_finite}
    return kept | {"scale": adjusted(scale, is_finite)}, metrics
