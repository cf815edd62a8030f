# SPDX-License-Identifier: Apache-2.0
"""Linear recurrences: each row is a factor times the row before it, plus a term."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ..contract._arguments import as_array, as_flag, as_num_valid, num_rows_of, type_of
from ..contract._custom_jvp import custom_jvp
from ..contract._platform import by_platform
from ..contract._scan_operators import Scan, as_initial, widened
from ..contract._scan_rows import scan_rows_in_order
from ..contract._typing import Array, ArrayLike, Bool, Integer, Shaped
from ..kernels.scan._function_scan import in_order_on_cpu, scan_by_function, scan_portably
from ..kernels.scan._merge_scan import RECURRENCE, is_scanned_natively, scan_columns
from ..kernels.scan._segmented_scan import fill_padding, per_row, start_flags
from ..tiers._tiered import tiered
from ._scan_segments import SegmentEncoding, as_segments


def linear_recurrence(
    a: Shaped[ArrayLike, "rows ..."],
    b: Shaped[ArrayLike, "rows ..."],
    *,
    initial: Shaped[ArrayLike, "..."] | complex | None = None,
    head_flags: Bool[ArrayLike, " rows"] | None = None,
    segment_ids: Integer[ArrayLike, " rows"] | None = None,
    reverse: bool = False,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> Shaped[Array, "rows ..."]:
    """Solves `h[i] = a[i] * h[i - 1] + b[i]` for all rows.

    State-space models, discounted returns and exponential averages are such recurrences.

    Args:
        a: the factors, of the shape of `b`, or one for each row, of shape `(rows,)`.
        b: the terms: floats, complex numbers or integers, of any shape with a leading axis.
        initial: the value before the first row of each segment: one number, or an array like a row
            of `b`; zero by default.
        head_flags: True at the first row of each segment, of shape `(rows,)`; one segment by
            default.
        segment_ids: an alternative to `head_flags`, integers of shape `(rows,)`: a segment is a run
            of equal ids.
        reverse: solves `h[i] = a[i] * h[i + 1] + b[i]`, from the last row of each segment.
        num_valid: number of valid rows, at the front; all rows by default.

    Returns:
        An array like `b`. Padding rows are zero.

    Raises:
        TypeError: `a` and `b` differ in dtype, or are no numbers.
        ValueError: shapes differ, or both `head_flags` and `segment_ids` are given.

    Cost:
        Work O(rows x row bytes). On CPU one loop over the rows, in the time of `jax.lax.scan`;
        elsewhere O(log rows) steps over all of them, or a kernel. The derivative is one more
        recurrence, in the other direction. No communication; axes other than the rows may be
        sharded.

    Guarantees:
        Deterministic, for any number of threads; differentiable in `a`, `b` and `initial`, any
        number of times. Integers wrap around. float16 and bfloat16 are computed in float32.

    References:
        Blelloch (1990), "Prefix sums and their applications" (recurrences). Heinsen (2023),
        "Efficient parallelization of a ubiquitous sequential computation" is a variant by
        logarithms.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> a, b = jnp.array([0.5, 0.5, 0.5, 0.5]), jnp.array([8.0, 0.0, 4.0, 2.0])
        >>> local.linear_recurrence(a, b).tolist()
        [8.0, 4.0, 6.0, 5.0]
        >>> local.linear_recurrence(a, b, initial=16.0, reverse=True).tolist()
        [10.25, 4.5, 9.0, 10.0]
    """
    caller = "linear_recurrence"
    reverse = as_flag(reverse, caller, "reverse")
    arguments = as_recurrence(a, b, initial, head_flags, segment_ids, num_valid, caller)
    return _solve_rows(arguments, reverse)


class Recurrence(NamedTuple):
    """The checked arguments of a recurrence."""

    a: Array
    b: Array
    initial: Array | None
    encoding: SegmentEncoding
    num_valid: Array

    def widened(self) -> "Recurrence":
        """The recurrence in the dtype that it is computed in."""
        a, b, initial = widened((self.a, self.b, self.initial), "add")
        return self._replace(a=a, b=b, initial=initial)


def as_recurrence(
    a: Any, b: Any, initial: Any, head_flags: Any, segment_ids: Any, num_valid: Any, caller: str
) -> Recurrence:
    """Checks the arguments that all levels share."""
    a, b = as_array(a, caller, "a"), as_array(b, caller, "b")
    num_rows = num_rows_of(b, caller, "b")
    if not jnp.issubdtype(b.dtype, jnp.number):
        raise TypeError(f"{caller}: b must be an array of numbers, got {type_of(b)}.")
    if a.dtype != b.dtype:
        raise TypeError(
            f"{caller}: a and b must have the same dtype, got {type_of(a)} and {type_of(b)}. "
            "Cast one of them."
        )
    if a.shape not in (b.shape, b.shape[:1]):
        raise ValueError(
            f"{caller}: a must have the shape of b or one factor for each row, got {type_of(a)} "
            f"for {type_of(b)}."
        )
    encoding = SegmentEncoding(None, None)
    if head_flags is not None or segment_ids is not None:
        encoding = as_segments(head_flags, segment_ids, num_rows, caller)
    if initial is not None:
        initial = as_initial(initial, b, Scan(compose, False, True), caller, "b")
    return Recurrence(
        jnp.broadcast_to(per_row(a, b.ndim) if a.ndim == 1 else a, b.shape),
        b,
        initial,
        encoding,
        as_num_valid(num_valid, num_rows, caller),
    )


@functools.partial(tiered, static_argnums=1)
def _solve_rows(arguments: Recurrence, reverse: bool) -> Array:
    a, b, initial, encoding, num_valid = arguments.widened()
    starts = start_flags(encoding.heads_inside(reverse), b.shape[0], num_valid, reverse)
    is_padding = jax.lax.iota(jnp.int32, b.shape[0]) >= num_valid
    if initial is not None:
        is_start = per_row(starts & ~is_padding, b.ndim)
        # NaN in other rows must not reach the derivative of the initial value.
        b = jnp.where(is_start, jnp.where(is_start, a, 0) * initial[None] + b, b)
    # Padding rows start too: they pass nothing on, in either direction.
    starts |= is_padding
    # Integers have no derivative.
    solve = _solve if jnp.issubdtype(b.dtype, jnp.inexact) else _solved
    return fill_padding(solve(a, b, starts, reverse), num_valid).astype(arguments.b.dtype)


def compose(first: tuple[Array, Array], second: tuple[Array, Array]) -> tuple[Array, Array]:
    """The step that two steps `h -> a h + b` make, as (a, b)."""
    return first[0] * second[0], second[0] * first[1] + second[1]


def _solved(
    a: Array, b: Array, starts: Array, reverse: bool, scan: Callable[..., Any] = scan_by_function
) -> Array:
    """The solution; a row that starts is its term. Linear in `b`."""

    def in_order(a: Array, b: Array, starts: Array) -> Array:
        # Of the rows, so that it lies on their mesh; a row that starts does not use it.
        before = jnp.zeros_like(b[:1].sum(0, dtype=b.dtype))
        return scan_rows_in_order(
            _next_state, lambda step: step[1], (a, b), starts, reverse, before
        )

    def in_steps(a: Array, b: Array, starts: Array) -> Array:
        return scan(compose, (a, b), starts, reverse)[1]

    def portable(a: Array, b: Array, starts: Array) -> Array:
        return in_order_on_cpu(a, b, starts, in_order=in_order, in_steps=in_steps)

    def native(a: Array, b: Array, starts: Array) -> Array:
        return scan_columns(RECURRENCE, (a, b), starts, reverse, (b,))[0]

    # A kernel has no derivative.
    kernels = {}
    if scan is scan_by_function and b.size > 0 and is_scanned_natively(b.dtype):
        kernels["cpu"] = native
    return by_platform(a, b, starts, default=portable, **kernels)


def _next_state(h: Array, step: tuple[Array, Array]) -> Array:
    return step[0] * h + step[1]


@functools.partial(custom_jvp, nondiff_argnums=(3,))
def _solve(a: Array, b: Array, starts: Array, reverse: bool) -> Array:
    return _solved(a, b, starts, reverse)


@_solve.defjvp
def _tangent_of_solution(reverse: bool, primals: Any, tangents: Any, h: Array) -> Array:
    a, _, starts = primals
    is_start = per_row(starts, h.ndim)
    # h' = a' h + b', and each row follows from the tangent before it by the same factor.
    before = jnp.roll(h, -1 if reverse else 1, axis=0)
    before = jnp.where(is_start, jnp.zeros((), h.dtype), before)
    terms = tangents[0] * before + tangents[1]
    # The factors of rows that start are not used, not even times zero.
    a = jnp.where(is_start, jnp.zeros((), a.dtype), a)
    # A kernel has no transpose. That of a recurrence is one in the other direction.
    return _solved(a, terms, starts, reverse, scan_portably)
