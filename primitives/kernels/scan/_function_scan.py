# SPDX-License-Identifier: Apache-2.0
"""Inclusive scans by an associative function: the portable definition, and the kernels."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from ...contract._associative_scan import associative_scan
from ...contract._custom_jvp import custom_jvp
from ...contract._platform import by_platform, likely_platform, traced_for
from ...contract._scan_rows import scan_rows_in_order
from ...contract._typing import Array
from ..base._pallas import compiles_for_tpu, has_pallas_kernels, on_tpu
from ._merge_scan import can_scan_natively, scan_merges
from ._segmented_scan import per_row

# What a core computes with numbers of 32 bits, one by one.
_ELEMENTWISE = frozenset(
    {
        "abs", "add", "and", "broadcast_in_dim", "clamp", "convert_element_type", "copy",
        "custom_jvp_call", "div", "eq", "exp", "exp2", "ge", "gt", "integer_pow", "is_finite",
        "jit", "le", "log", "log1p", "logistic", "lt", "max", "min", "mul", "ne", "neg", "not",
        "or", "pjit", "rsqrt", "select_n", "sqrt", "square", "sub", "tanh", "xor",
    }
)  # fmt: skip
_DTYPES = ("float32", "int32", "uint32")
# More operands would not stay in registers.
_MOST_COLUMNS = 4


def scan_by_function(
    function: Callable[[Any, Any], Any], rows: Any, heads: Array | None, reverse: bool
) -> Any:
    """Combines each row with those before it, or after it if reversed; restarts at heads."""
    if _kernels(function, rows):
        return _scan(rows, heads, function, reverse)
    return scan_portably(function, rows, heads, reverse)


def _kernels(function: Callable[[Any, Any], Any], rows: Any) -> dict[str, Callable[..., Any]]:
    """The kernels that support a function and rows, by platform."""
    kernels = {}
    if can_scan_natively(function, rows):
        kernels["cpu"] = functools.partial(scan_merges, function)
    if has_pallas_kernels() and _can_scan_on_tpu(function, rows):

        def pallas(rows: Any, heads: Array | None, reverse: bool) -> Any:
            from ._function_scan_tpu import scan_by_function_tpu

            return scan_by_function_tpu(function, rows, heads, reverse)

        kernels |= on_tpu(pallas)
    return kernels


def scan_portably(
    function: Callable[[Any, Any], Any], rows: Any, heads: Array | None, reverse: bool
) -> Any:
    """The definition."""

    def in_order(rows: Any, heads: Array | None) -> Any:
        return scan_rows_in_order(function, lambda row: row, rows, heads, reverse)

    def in_steps(rows: Any, heads: Array | None) -> Any:
        combine = jax.vmap(function)
        if heads is None:
            return associative_scan(combine, rows, reverse=reverse)
        combine_segments = functools.partial(_combine_segments, combine)
        _, results = associative_scan(combine_segments, (heads, rows), reverse=reverse)
        return results

    return in_order_on_cpu(rows, heads, in_order=in_order, in_steps=in_steps)


def in_order_on_cpu(*rows: Any, in_order: Callable[..., Any], in_steps: Callable[..., Any]) -> Any:
    """Calls what is faster: one loop over the rows on CPU, few steps over all of them elsewhere.

    The lowering chooses only where a process of CPU compiles for TPU too. Otherwise the platform is
    known, and under differentiation XLA would keep what either way needs.
    """
    if likely_platform() != "cpu":
        return in_steps(*rows)
    if traced_for.value is None and compiles_for_tpu():
        return by_platform(*rows, default=in_steps, cpu=in_order)
    return in_order(*rows)


def _combine_segments(combine: Callable[..., Any], left: Any, right: Any) -> Any:
    left_has_head, left_rows = left
    right_has_head, right_rows = right
    # The derivative combines rows here too: NaN of the rows before times zero is NaN.
    combined = combine(where_rows(right_has_head, right_rows, left_rows), right_rows)
    return left_has_head | right_has_head, where_rows(right_has_head, right_rows, combined)


def where_rows(flags: Array, rows: Any, others: Any) -> Any:
    """Selects each row from `rows` if its flag is set, otherwise from `others`."""
    return jax.tree.map(
        lambda row, other: jnp.where(per_row(flags, row.ndim), row, other), rows, others
    )


@functools.partial(custom_jvp, nondiff_argnums=(2, 3))
def _scan(
    rows: Any, heads: Array | None, function: Callable[[Any, Any], Any], reverse: bool
) -> Any:
    def way(scan: Callable[..., Any]) -> Callable[..., Any]:
        return lambda rows, heads: scan(rows, heads, reverse)

    portable = functools.partial(scan_portably, function)
    kernels = {name: way(kernel) for name, kernel in _kernels(function, rows).items()}
    return by_platform(rows, heads, default=way(portable), **kernels)


@_scan.defjvp
def _tangent_of_scan(
    function: Callable[[Any, Any], Any], reverse: bool, primals: Any, tangents: Any, scanned: Any
) -> Any:
    del scanned
    rows, heads = primals

    def xla(rows: Any) -> Any:
        return scan_portably(function, rows, heads, reverse)

    # A kernel has no derivative; XLA's version has one.
    return jax.jvp(xla, (rows,), tangents[:1])[1]


def _can_scan_on_tpu(function: Callable[[Any, Any], Any], rows: Any) -> bool:
    """Whether the kernel supports the rows, and a core computes the function."""
    leaves = jax.tree.leaves(rows)
    if not 0 < len(leaves) <= _MOST_COLUMNS or leaves[0].shape[0] == 0:
        return False
    if any(leaf.ndim != 1 or leaf.dtype.name not in _DTYPES for leaf in leaves):
        return False
    row = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct((), leaf.dtype), rows)
    traced = jax.make_jaxpr(function)(row, row)
    # A kernel captures no arrays.
    return not traced.consts and _is_elementwise(traced.jaxpr)


def _is_elementwise(jaxpr: Any) -> bool:
    for equation in jaxpr.eqns:
        if equation.primitive.name not in _ELEMENTWISE:
            return False
        avals = [variable.aval for variable in (*equation.invars, *equation.outvars)]
        if any(aval.shape != () or aval.dtype.itemsize > 4 for aval in avals):
            return False
        # Pallas compiles neither quotients of integers nor extremes of unsigned ones for TPU.
        limited = {"div": "iu", "max": "u", "min": "u", "clamp": "u"}
        if avals[0].dtype.kind in limited.get(equation.primitive.name, ""):
            return False
        inner = [
            equation.params[name] for name in ("jaxpr", "call_jaxpr") if name in equation.params
        ]
        if not all(_is_elementwise(getattr(each, "jaxpr", each)) for each in inner):
            return False
    return True
