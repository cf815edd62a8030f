# SPDX-License-Identifier: Apache-2.0
"""Pipeline parallelism with all forward passes before the backward passes."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from ..contract._arguments import as_flag
from ..contract._typing import Array, PyTree
from ._axis import AxisName
from ._stages import LossFunction, Pipelined, PipelineStage, StageFunction


def pipeline_gpipe(
    stage_fn: StageFunction,
    loss_fn: LossFunction,
    *,
    axis_name: AxisName,
    remat: bool = False,
) -> Callable[[PyTree, PyTree, PyTree], Pipelined]:
    """Makes a function of one shard that trains a stage of a pipeline, as `pipeline_1f1b` does.

    All microbatches pass forward before the first passes backward. That needs no second forward
    pass, but memory for every microbatch.

    Args:
        stage_fn: function of the parameters of a stage and the input of one microbatch; returns the
            input of the next stage, of the same type.
        loss_fn: function of the parameters, the result of the last stage and the targets of one
            microbatch; returns one float. It runs on the last stage only.
        axis_name: mesh axis of the stages.
        remat: keep the inputs of the stages only, and compute the forward pass again in the
            backward pass. Static.

    Returns:
        A function of `(params, xs, ts)`, with the arguments and the result of `pipeline_1f1b`'s.

    Raises:
        TypeError: parameters are not floats.
        ValueError: `stage_fn` or `loss_fn` returns another type, `xs` and `ts` have different
            numbers of microbatches, or `axis_name` is not an axis of the enclosing `shard_map`.

    Cost:
        `microbatches + stages - 1` ticks forward and as many backward. Memory grows with the number
        of microbatches. Communication: one collective-permute a tick.

    Guarantees:
        The gradients are those without a pipeline, up to rounding; deterministic.

    References:
        Huang et al. (2019), "GPipe: Efficient training of giant neural networks using pipeline
        parallelism".

    Example:
        Two stages that multiply by w, with the square of the result as the loss:

            stage 0   w [2.]   xs [1. 3.]
            stage 1   w [1.]
            ->
            stage 0   loss 20.   gradients [20.]
            stage 1   loss 20.   gradients [40.]
    """
    remat = as_flag(remat, "pipeline_gpipe", "remat")

    def run(params: PyTree, xs: PyTree, ts: PyTree) -> Pipelined:
        stage = PipelineStage((stage_fn, loss_fn), (params, xs, ts), axis_name, "pipeline_gpipe")
        apply = jax.checkpoint(stage.apply) if remat else stage.apply

        def tick(params: Any, x: Any, tick: Array) -> Any:
            microbatch = tick - stage.index
            is_microbatch = stage.is_microbatch(microbatch)
            x = stage.input_of(microbatch, x)
            y = jax.lax.cond(
                is_microbatch, apply, lambda _, x: jax.tree.map(jnp.zeros_like, x), params, x
            )
            loss = jax.lax.cond(
                is_microbatch & stage.is_last,
                lambda params, y: stage.loss(params, y, microbatch),
                lambda params, y: stage.no_loss(),
                params,
                y,
            )
            return stage.to_next(y), loss

        def mean_loss(params: Any) -> Array:
            ticks = jnp.arange(stage.num_microbatches + stage.num_stages - 1, dtype=jnp.int32)
            _, losses = jax.lax.scan(
                lambda x, number: tick(params, x, number), stage.no_input(), ticks
            )
            return losses.sum() / jnp.asarray(stage.num_microbatches, losses.dtype)

        loss, gradients = jax.value_and_grad(mean_loss)(stage.params)
        for _ in range(stage.num_stages - 1):
            loss = jnp.where(stage.is_last, loss, stage.to_previous(loss))
        return Pipelined(loss, jax.tree.map(lambda leaf: leaf[None], gradients))

    return run
