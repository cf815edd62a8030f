# SPDX-License-Identifier: Apache-2.0
"""The stages of a pipeline: their parameters, and what every schedule checks and sends."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ...shardings._compat import as_varying, varying_axes
from ..contract._arguments import as_tree, type_of
from ..contract._axis_scope import size_of_axis
from ..contract._typing import Array, Float, PyTree
from ._axis import AxisName, check_mesh_order

StageFunction = Callable[[Any, Any], Any]
LossFunction = Callable[[Any, Any, Any], Any]


class Pipelined(NamedTuple):
    """The mean loss of the microbatches, and its gradient with respect to a stage's parameters."""

    loss: Float[Array, ""]
    gradients: PyTree


def stack_stages(trees: Sequence[PyTree]) -> PyTree:
    """Stacks the parameters of all stages along a new leading axis.

    Shard that axis over the mesh axis of the stages; each shard then holds its stage's parameters.

    Args:
        trees: one pytree of parameters for each stage, with the same structure, shapes and dtypes.

    Returns:
        One pytree, with a leading axis of `len(trees)` in each leaf.

    Raises:
        TypeError: a leaf is not an array of numbers.
        ValueError: stages differ, or there are none.

    Cost:
        One copy of the parameters. No communication.

    Guarantees:
        Differentiable in `trees`.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import collective
        >>> stages = [{"w": jnp.array([1, 2])}, {"w": jnp.array([3, 4])}]
        >>> collective.stack_stages(stages)["w"].tolist()
        [[1, 2], [3, 4]]
    """
    caller = "stack_stages"
    if not trees:
        raise ValueError(f"{caller}: trees must hold one tree for each stage, got none.")
    stages = [as_tree(tree, caller, f"trees[{i}]") for i, tree in enumerate(trees)]
    first, structure = jax.tree_util.tree_flatten_with_path(stages[0])
    for i, stage in enumerate(stages[1:], start=1):
        if jax.tree.structure(stage) != structure:
            raise ValueError(
                f"{caller}: every stage must have the structure of stage 0, {structure}, got "
                f"{jax.tree.structure(stage)} for stage {i}. Give each stage the same layers, and "
                "parameters that only some stages use to all of them."
            )
        for (path, leaf), other in zip(first, jax.tree.leaves(stage), strict=True):
            if (leaf.shape, leaf.dtype) != (other.shape, other.dtype):
                raise ValueError(
                    f"{caller}: every stage must have the shapes and dtypes of stage 0, got "
                    f"{type_of(other)} for stage {i} where stage 0 has {type_of(leaf)}, at "
                    f"{jax.tree_util.keystr(path)}. Give each stage the same layers."
                )
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *stages)


class PipelineStage:
    """One shard's stage, with checked arguments. Microbatches lie along the leading axes.

    Attributes:
        params: parameters of this stage, varying over the axes of the data too, so that nothing is
            summed over those axes in each microbatch.
        inputs: inputs of the first stage.
        num_stages: number of stages.
        num_microbatches: number of microbatches.
        index: the index of this stage.
    """

    def __init__(
        self,
        functions: tuple[StageFunction, LossFunction],
        arguments: tuple[Any, Any, Any],
        axis_name: AxisName,
        caller: str,
    ):
        self._apply, self._loss = functions
        self._axis_name = axis_name
        self.num_stages = size_of_axis(axis_name, caller)
        check_mesh_order(axis_name, caller)
        params, xs, ts = (
            as_tree(tree, caller, name)
            for tree, name in zip(arguments, ("params", "xs", "ts"), strict=True)
        )
        self.num_microbatches = _num_microbatches(xs, ts, caller)
        stage_axes = frozenset((axis_name,) if isinstance(axis_name, str) else axis_name)
        self._x_axes = stage_axes | varying_axes(xs)
        data_axes = self._x_axes | varying_axes(ts)
        self.params = as_varying(_own_part(params, caller), data_axes)
        self.inputs = as_varying(xs, self._x_axes)
        self._targets = as_varying(ts, data_axes)
        self.index = jax.lax.axis_index(axis_name)
        self.is_first = self.index == 0
        self.is_last = self.index == self.num_stages - 1
        self._check_functions(caller)

    def apply(self, params: Any, x: Any) -> Any:
        """The result of this stage for one microbatch."""
        return as_varying(self._apply(params, x), self._x_axes)

    def loss(self, params: Any, y: Any, microbatch: Array) -> Array:
        """The loss of a microbatch, given the result of the last stage."""
        return as_varying(self._loss(params, y, _at(self._targets, microbatch)), self.loss_axes)

    def input_of(self, microbatch: Array, received: Any) -> Any:
        """The input of this stage: of the batch on the first one, received on the others."""
        given = _at(self.inputs, microbatch)
        return jax.tree.map(lambda x, y: jnp.where(self.is_first, x, y), given, received)

    def is_microbatch(self, microbatch: Array) -> Array:
        """Whether a number is that of a microbatch; in a bubble it is not."""
        return (microbatch >= 0) & (microbatch < self.num_microbatches)

    def no_input(self) -> Any:
        """Zeros in the shape of the input of a stage."""
        return jax.tree.map(lambda leaf: jnp.zeros_like(leaf[0]), self.inputs)

    def no_loss(self) -> Array:
        """Zero, with the type of the loss."""
        return as_varying(jnp.zeros((), self.loss_dtype), self.loss_axes)

    def to_next(self, tree: Any) -> Any:
        """Sends arrays to the next stage; the first receives zeros."""
        return self._sent(tree, [(i, i + 1) for i in range(self.num_stages - 1)])

    def to_previous(self, tree: Any) -> Any:
        """Sends arrays to the previous stage; the last receives zeros."""
        return self._sent(tree, [(i + 1, i) for i in range(self.num_stages - 1)])

    def _sent(self, tree: Any, perm: list[tuple[int, int]]) -> Any:
        if not perm:
            return jax.tree.map(jnp.zeros_like, tree)
        return jax.lax.ppermute(tree, self._axis_name, perm)

    def _check_functions(self, caller: str) -> None:
        """Checks the types of both results, without running the functions."""
        x = self.no_input()
        y = jax.eval_shape(self._apply, self.params, x)
        if jax.tree.structure(y) != jax.tree.structure(x) or any(
            (one.shape, one.dtype) != (other.shape, other.dtype)
            for one, other in zip(jax.tree.leaves(y), jax.tree.leaves(x), strict=True)
        ):
            raise ValueError(
                f"{caller}: stage_fn must return the type of its input, because every stage runs "
                f"it, got {_types(y)} for {_types(x)}. Map to that type before the pipeline and "
                "from it in loss_fn, for example an embedding and a head."
            )
        unknown = varying_axes(y) - self._x_axes
        if unknown:
            raise ValueError(
                f"{caller}: stage_fn must return results that vary over the mesh axes of its input "
                f"only, {tuple(sorted(self._x_axes))}, got also {tuple(sorted(unknown))}. Sum "
                "partial results over that axis, for example with row_linear."
            )
        loss = jax.eval_shape(self._loss, self.params, x, _at(self._targets, jnp.int32(0)))
        if getattr(loss, "shape", None) != () or not jnp.issubdtype(loss.dtype, jnp.floating):
            raise ValueError(
                f"{caller}: loss_fn must return one float, got {_types(loss)}. Take the mean over "
                "the rows of the microbatch."
            )
        self.loss_dtype = loss.dtype
        self.loss_axes = self._x_axes | varying_axes(self._targets) | varying_axes(loss)


def is_inexact(leaf: Any) -> bool:
    """Whether a leaf has a derivative."""
    return jnp.issubdtype(leaf.dtype, jnp.inexact)


def zero_cotangents(tree: Any) -> Any:
    """Cotangents of zero, of JAX's own dtype for integers."""

    def zero(leaf: Array) -> Any:
        if is_inexact(leaf):
            return jnp.zeros_like(leaf)
        return np.zeros(leaf.shape, jax.dtypes.float0)

    return jax.tree.map(zero, tree)


def _at(tree: Any, microbatch: Array) -> Any:
    return jax.tree.map(
        lambda leaf: jax.lax.dynamic_index_in_dim(leaf, microbatch, keepdims=False), tree
    )


def _types(tree: Any) -> str:
    return str(
        jax.tree.map(lambda leaf: f"{leaf.dtype}[{','.join(map(str, leaf.shape))}]", tree)
    ).replace("'", "")


def _num_microbatches(xs: Any, ts: Any, caller: str) -> int:
    leaves = jax.tree.leaves((xs, ts))
    lengths = {leaf.shape[:1] for leaf in leaves}
    if len(lengths) != 1 or not jax.tree.leaves(xs) or lengths <= {(), (0,)}:
        raise ValueError(
            f"{caller}: xs and ts must have the same leading axis, of one microbatch or more, got "
            f"xs {_types(xs)} and ts {_types(ts)}. Reshape to (microbatches, rows, ...)."
        )
    return leaves[0].shape[0]


def _own_part(params: Any, caller: str) -> Any:
    for path, leaf in jax.tree_util.tree_leaves_with_path(params):
        name = f"params{jax.tree_util.keystr(path)}"
        if leaf.shape[:1] != (1,):
            raise ValueError(
                f"{caller}: {name} must have a leading axis of length 1, this stage's part of "
                f"stack_stages, got {type_of(leaf)}. Shard the stacked parameters over the axis of "
                "the stages, one stage on each shard."
            )
        if not is_inexact(leaf):
            raise TypeError(
                f"{caller}: {name} must be floats, because it gets a gradient, got "
                f"{type_of(leaf)}. Let stage_fn close over it."
            )
    return jax.tree.map(lambda leaf: leaf[0], params)
