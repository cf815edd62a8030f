# SPDX-License-Identifier: Apache-2.0
"""Pipeline parallelism with one forward and one backward pass in each tick."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from ...shardings._compat import as_varying, varying_axes
from ..contract._arguments import as_flag
from ..contract._typing import Array, PyTree
from ._axis import AxisName
from ._stages import (
    LossFunction,
    Pipelined,
    PipelineStage,
    StageFunction,
    is_inexact,
    zero_cotangents,
)


def pipeline_1f1b(
    stage_fn: StageFunction,
    loss_fn: LossFunction,
    *,
    axis_name: AxisName,
    remat: bool = True,
) -> Callable[[PyTree, PyTree, PyTree], Pipelined]:
    """Makes a function of one shard that trains a stage of a pipeline: loss and gradients.

    Every shard of the axis is a stage. Microbatches pass forward through the stages and backward as
    soon as the last stage has their loss, in the order of `schedule_1f1b`.

    Args:
        stage_fn: function of the parameters of a stage and the input of one microbatch; returns the
            input of the next stage, of the same type. Integers in it, such as token ids, get no
            gradient.
        loss_fn: function of the parameters, the result of the last stage and the targets of one
            microbatch; returns one float. It runs on the last stage only.
        axis_name: mesh axis of the stages.
        remat: keep the inputs of the microbatches in flight only, and compute the forward pass
            again in the backward pass; otherwise keep all intermediate results. Static.

    Returns:
        A function of `(params, xs, ts)`. `params` is this shard's part of `stack_stages`, with a
        leading axis of length 1; `xs` and `ts` are the inputs of the first stage and the targets of
        the last, with a leading axis of microbatches, the same on every stage. It returns
        `Pipelined(loss, gradients)`: the mean over the microbatches, the same on every stage, and
        its gradient, in the form of `params`. `shard_map` does not see that the loss is the same:
        to return it with `PartitionSpec()`, take its `pmean` over `axis_name`. Over another mesh
        axis, such as that of data, both are this shard's own: average them with `pmean`.

    Raises:
        TypeError: parameters are not floats.
        ValueError: `stage_fn` or `loss_fn` returns another type, `xs` and `ts` have different
            numbers of microbatches, or `axis_name` is not an axis of the enclosing `shard_map`.

    Cost:
        `microbatches + 2 * (stages - 1)` ticks; in each, one forward and one backward pass, and
        with `remat` a second forward pass. Memory for `2 * stages - 1` inputs of a stage, without
        `remat` as many sets of intermediate results, whatever the number of microbatches.
        Communication: two collective-permutes a tick, of one input and its gradient, and one of
        the loss.

    Guarantees:
        The gradients are those without a pipeline, up to rounding; deterministic. They are summed
        in the dtype of the parameters.

    References:
        Narayanan et al. (2021), "Memory-efficient pipeline-parallel DNN training".

    Example:
        Two stages that multiply by w, with the square of the result as the loss:

            stage 0   w [2.]   xs [1. 3.]
            stage 1   w [1.]
            ->
            stage 0   loss 20.   gradients [20.]
            stage 1   loss 20.   gradients [40.]
    """
    remat = as_flag(remat, "pipeline_1f1b", "remat")

    def run(params: PyTree, xs: PyTree, ts: PyTree) -> Pipelined:
        stage = PipelineStage((stage_fn, loss_fn), (params, xs, ts), axis_name, "pipeline_1f1b")
        linear = (_Recomputed if remat else _Kept)(stage)
        num_ticks = stage.num_microbatches + 2 * (stage.num_stages - 1)
        tick = functools.partial(_tick, stage, linear)
        ticks = jnp.arange(num_ticks, dtype=jnp.int32)
        _, received, gradients, loss_sum = jax.lax.scan(tick, _start(stage, linear), ticks)[0]
        # The last loss takes as many ticks to the first stage as its gradient.
        total = jnp.where(stage.is_last, loss_sum, received)
        count = stage.num_microbatches
        return Pipelined(
            total / jnp.asarray(count, total.dtype),
            jax.tree.map(lambda leaf: (leaf / jnp.asarray(count, leaf.dtype))[None], gradients),
        )

    return run


class _Recomputed:
    """Keeps the input of a forward pass, and repeats the pass before its backward pass."""

    def __init__(self, stage: PipelineStage):
        self._stage = stage

    def nothing_kept(self) -> Any:
        """Zeros, of the type of what a forward pass keeps."""
        return self._stage.no_input()

    def forward(self, x: Any, is_microbatch: Array) -> tuple[Any, Any]:
        """The result of a forward pass, and what to keep of it."""
        stage = self._stage
        # The last stage goes backward in the same tick, and repeats the pass there.
        y = jax.lax.cond(is_microbatch & ~stage.is_last, stage.apply, _no_result, stage.params, x)
        return y, x

    def pull_back(self, kept: Any, y: Any) -> tuple[Any, Callable[[Any], Any]]:
        """The result of the pass, and the function from its cotangents to those before."""
        return jax.vjp(self._stage.apply, self._stage.params, kept)


class _Kept:
    """Keeps the intermediate results of a forward pass, but for parameters among them."""

    def __init__(self, stage: PipelineStage):
        self._stage = stage
        self._shapes = jax.eval_shape(self._linearize, stage.params, stage.no_input())[1]

    def nothing_kept(self) -> Any:
        """Zeros, of the type of what a forward pass keeps."""
        return [
            as_varying(jnp.zeros(shape.shape, shape.dtype), varying_axes(shape))
            for shape in self._shapes
        ]

    def forward(self, x: Any, is_microbatch: Array) -> tuple[Any, Any]:
        """The result of a forward pass, and what to keep of it."""
        return jax.lax.cond(
            is_microbatch,
            self._linearize,
            lambda params, x: (_no_result(params, x), self.nothing_kept()),
            self._stage.params,
            x,
        )

    def pull_back(self, kept: Any, y: Any) -> tuple[Any, Callable[[Any], Any]]:
        """The result of the pass, and the function from its cotangents to those before."""
        params, remaining = jax.tree.leaves(self._stage.params), iter(kept)
        leaves = [next(remaining) if i is None else params[i] for i in self._places]
        return y, jax.tree.unflatten(self._structure, leaves)

    def _linearize(self, params: Any, x: Any) -> tuple[Any, list[Array]]:
        y, pull_back = jax.vjp(self._stage.apply, params, x)
        leaves, self._structure = jax.tree.flatten(pull_back)
        own = {id(leaf): i for i, leaf in enumerate(jax.tree.leaves(params))}
        self._places = [own.get(id(leaf)) for leaf in leaves]
        kept = [leaf for leaf, i in zip(leaves, self._places, strict=True) if i is None]
        return y, kept


def _no_result(_: Any, x: Any) -> Any:
    return jax.tree.map(jnp.zeros_like, x)


def _start(stage: PipelineStage, linear: _Recomputed | _Kept) -> Any:
    x = stage.no_input()
    num_saved = 2 * stage.num_stages - 1
    saved = jax.tree.map(
        lambda leaf: jnp.zeros_like(leaf, shape=(num_saved, *leaf.shape)), linear.nothing_kept()
    )
    gradients = jax.tree.map(jnp.zeros_like, stage.params)
    return (x, _floats(x), saved), stage.no_loss(), gradients, stage.no_loss()


def _tick(stage: PipelineStage, linear: _Recomputed | _Kept, carry: Any, tick: Array) -> Any:
    (x, dy, saved), received, gradients, loss_sum = carry
    num_saved = 2 * stage.num_stages - 1
    forward = tick - stage.index
    backward = tick - 2 * (stage.num_stages - 1) + stage.index

    y, kept = linear.forward(stage.input_of(forward, x), stage.is_microbatch(forward))
    # A number outside the microbatches takes a place that no microbatch in flight has.
    saved = jax.tree.map(
        lambda leaves, leaf: jax.lax.dynamic_update_index_in_dim(
            leaves, leaf, forward % num_saved, 0
        ),
        saved,
        kept,
    )
    kept = jax.tree.map(
        lambda leaves: jax.lax.dynamic_index_in_dim(leaves, backward % num_saved, keepdims=False),
        saved,
    )

    def go_backward(kept: Any, y: Any, dy: Any, gradients: Any) -> Any:
        y, pull_back = linear.pull_back(kept, y)
        loss, of_loss, dy = jax.lax.cond(
            stage.is_last,
            lambda y, dy: _loss_and_gradients(stage, y, backward),
            lambda y, dy: (stage.no_loss(), jax.tree.map(jnp.zeros_like, stage.params), dy),
            y,
            dy,
        )
        of_stage, dx = pull_back(_with_floats(zero_cotangents(y), dy))
        gradients = jax.tree.map(
            lambda *parts: parts[0] + (parts[1] + parts[2]), gradients, of_stage, of_loss
        )
        return loss, gradients, _floats(dx, like=y)

    loss, gradients, dx = jax.lax.cond(
        stage.is_microbatch(backward),
        go_backward,
        lambda kept, y, dy, gradients: (stage.no_loss(), gradients, dy),
        kept,
        y,
        dy,
        gradients,
    )
    loss_sum = loss_sum + loss
    known = jnp.where(stage.is_last, loss_sum, received)
    dy, received = stage.to_previous((dx, known))
    return ((stage.to_next(y), dy, saved), received, gradients, loss_sum), None


def _loss_and_gradients(stage: PipelineStage, y: Any, microbatch: Array) -> Any:
    """The loss, and its gradients with respect to the parameters and the floats of `y`."""

    def loss(params: Any, floats: Any) -> Array:
        return stage.loss(params, _with_floats(y, floats), microbatch)

    value, (of_params, of_floats) = jax.value_and_grad(loss, argnums=(0, 1))(
        stage.params, _floats(y)
    )
    return value, of_params, of_floats


def _floats(tree: Any, like: Any = None) -> list[Any]:
    """The leaves of a tree that have a gradient."""
    leaves = zip(
        jax.tree.leaves(tree), jax.tree.leaves(tree if like is None else like), strict=True
    )
    return [leaf for leaf, typed in leaves if is_inexact(typed)]


def _with_floats(tree: Any, floats: list[Any]) -> Any:
    """A tree with other leaves in place of those that have a gradient."""
    remaining = iter(floats)
    return jax.tree.map(lambda leaf: next(remaining) if is_inexact(leaf) else leaf, tree)
