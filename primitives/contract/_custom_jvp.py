# SPDX-License-Identifier: Apache-2.0
"""Functions with a derivative of their own that also hold inside of loops.

`jax.custom_jvp` loses its rule where `jax.lax.scan` is differentiated in reverse: JAX keeps the
function alone there, so a second derivative is that of the function. A kernel has no derivative,
and bits have one of zero: the second derivative would be refused, or wrong. Here the result is
computed first, without a derivative, and one operation gives it the derivative of the rule. An
operation stays whole in a loop.
"""

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

# The tangents of the results, from the static arguments, the primals, their tangents and the
# results.
Rule = Callable[..., Any]


class custom_jvp:
    """A function with a rule for its derivative, used as `jax.custom_jvp` is.

    The rule gets the results too, with their own derivative, and returns their tangents alone.
    Tangents of integers are zeros of `jax.dtypes.float0`.
    """

    def __init__(self, function: Callable[..., Any], nondiff_argnums: Sequence[int] = ()):
        self._function = function
        self._static = tuple(nondiff_argnums)
        self._rule: Rule | None = None
        functools.update_wrapper(self, function)

    def defjvp(self, rule: Rule) -> Rule:
        """Sets the rule: `rule(*static, primals, tangents, results)`."""
        self._rule = rule
        return rule

    def __call__(self, *args: Any) -> Any:
        assert self._rule is not None
        static = tuple(args[place] for place in self._static)
        primals = tuple(arg for place, arg in enumerate(args) if place not in self._static)
        stopped = iter(jax.lax.stop_gradient(primals))
        result = self._function(
            *(arg if place in self._static else next(stopped) for place, arg in enumerate(args))
        )
        return with_tangent(self._rule, static, result, primals)


def with_tangent(rule: Rule, static: tuple[Any, ...], result: Any, primals: Any) -> Any:
    """Gives a result, which has no derivative, that of a rule; see `custom_jvp`."""
    results, results_tree = jax.tree.flatten(result)
    leaves, primals_tree = jax.tree.flatten(primals)
    of_leaves = _RuleOfLeaves(rule, static, results_tree, primals_tree)
    bound = with_tangent_p.bind(*results, *leaves, rule=of_leaves, num_results=len(results))
    return jax.tree.unflatten(results_tree, bound)


@dataclasses.dataclass(frozen=True)
class _RuleOfLeaves:
    """A rule for flat arguments. Those that are not floats have no tangent: None."""

    rule: Rule
    static: tuple[Any, ...]
    results_tree: Any
    primals_tree: Any

    def __call__(self, results: Any, leaves: Any, tangents: Any) -> list[Any]:
        tangents = [
            np.zeros(jnp.shape(leaf), jax.dtypes.float0) if tangent is None else tangent
            for leaf, tangent in zip(leaves, tangents, strict=True)
        ]
        primals, tangents = (
            jax.tree.unflatten(self.primals_tree, flat) for flat in (leaves, tangents)
        )
        result = jax.tree.unflatten(self.results_tree, results)
        moved = self.rule(*self.static, primals, tangents, result)
        # As trees of the result: its leaves may be float0.
        return self.results_tree.flatten_up_to(moved)


@dataclasses.dataclass(frozen=True)
class _BatchedRule:
    """A rule of one row of a batch, for all of them.

    Each result and each leaf has the batch first, or is the same for all rows.
    """

    rule: Any
    results_have_batch: tuple[bool, ...]
    leaves_have_batch: tuple[bool, ...]
    size: int
    spmd_axis_name: Any

    def __call__(self, results: Any, leaves: Any, tangents: Any) -> list[Any]:
        of_results = [0 if batched else None for batched in self.results_have_batch]
        of_leaves = [0 if batched else None for batched in self.leaves_have_batch]
        # None is an empty tree.
        of_tangents = [
            None if tangent is None else axis
            for tangent, axis in zip(tangents, of_leaves, strict=True)
        ]
        of_row = jax.vmap(
            self._of_row,
            in_axes=(of_results, of_leaves, of_tangents),
            axis_size=self.size,
            spmd_axis_name=self.spmd_axis_name,
        )
        moved = iter(of_row(list(results), list(leaves), list(tangents)))
        return [
            self._of_result(next(moved), batched) if _is_float(result) else None
            for result, batched in zip(results, self.results_have_batch, strict=True)
        ]

    def _of_row(self, results: Any, leaves: Any, tangents: Any) -> list[Any]:
        moved = self.rule(results, leaves, tangents)
        return [one for one, result in zip(moved, results, strict=True) if _is_float(result)]

    def _of_result(self, moved: Any, batched: bool) -> Any:
        """The tangent of one result; that of a result without a batch is the same in all rows."""
        if batched:
            return moved
        return moved[0] if self.size else jnp.zeros(moved.shape[1:], moved.dtype)


def _is_float(leaf: Any) -> bool:
    return jnp.issubdtype(jnp.result_type(leaf), jnp.inexact)


with_tangent_p = Primitive("with_tangent")
with_tangent_p.multiple_results = True


@with_tangent_p.def_impl
@with_tangent_p.def_abstract_eval
def _results_of(*args: Any, rule: Any, num_results: int) -> list[Any]:
    del rule
    return list(args[:num_results])


def _differentiated(primals: Any, tangents: Any, *, rule: Any, num_results: int) -> tuple[Any, Any]:
    bound = with_tangent_p.bind(*primals, rule=rule, num_results=num_results)
    leaves, own = primals[num_results:], tangents[num_results:]
    nothing = [ad.Zero(jax.typeof(result).to_tangent_aval()) for result in bound]
    if all(isinstance(tangent, ad.Zero) for tangent in own):
        return bound, nothing
    floats = [
        ad.instantiate_zeros(tangent) if _is_float(leaf) else None
        for leaf, tangent in zip(leaves, own, strict=True)
    ]
    moved = rule(bound, leaves, floats)
    return bound, [
        tangent if _is_float(result) else zero
        for result, tangent, zero in zip(bound, moved, nothing, strict=True)
    ]


def _batched(axis_data: Any, args: Any, dims: Any, *, rule: Any, num_results: int) -> Any:
    args = [
        arg if dim is None else jnp.moveaxis(arg, dim, 0)
        for arg, dim in zip(args, dims, strict=True)
    ]
    has_batch = tuple(dim is not None for dim in dims)
    own, of_leaves = has_batch[:num_results], has_batch[num_results:]
    # In a Hessian the tangents alone have a batch: there the rule stays as it is.
    if any(has_batch):
        rule = _BatchedRule(rule, own, of_leaves, axis_data.size, axis_data.spmd_name)
    bound = with_tangent_p.bind(*args, rule=rule, num_results=num_results)
    return bound, [0 if batched else None for batched in own]


mlir.register_lowering(with_tangent_p, lambda ctx, *args, **params: _results_of(*args, **params))
ad.primitive_jvps[with_tangent_p] = _differentiated
batching.fancy_primitive_batchers[with_tangent_p] = _batched
