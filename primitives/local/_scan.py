# SPDX-License-Identifier: Apache-2.0
"""Scans: each row combined with those before it."""

from ..contract._scan_operators import Operator, Scan
from ..contract._typing import ArrayLike, Integer, PyTree
from ._scan_segments import as_scan, scan_segments


def inclusive_scan(
    x: PyTree,
    op: Operator = "sum",
    *,
    reverse: bool = False,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> PyTree:
    """Combines each row with those before it.

    Args:
        x: any pytree of arrays with the same leading axis, along which the scan goes. For a named
            `op`, of key dtypes, and of complex numbers for `"sum"` and `"prod"`.
        op: `"sum"`, `"prod"`, `"min"` or `"max"`, applied to each leaf; or an associative function
            of two rows, each a pytree like `x` without the leading axis, that returns such a row.
            It need not commute: its first argument comes first in the order of the scan.
        reverse: scan from the last row to the first.
        num_valid: number of valid rows, at the front; all rows by default.

    Returns:
        A pytree like `x`, of the same dtypes; bool under `"sum"` and `"prod"` becomes int32.
        Padding rows are zero.

    Raises:
        TypeError: a dtype that `op` does not support, or a function `op` with a result unlike its
            arguments.
        ValueError: leading axes differ, or `op` is unknown.

    Cost:
        Work O(rows x row bytes). On CPU the rows are read and written once; a function is called in
        one loop over them, and its derivative is a loop too. Elsewhere a function is called in
        O(log rows) steps over all rows, or in a kernel. No communication.

    Guarantees:
        Deterministic, for any number of threads; differentiable in `x`. Integers wrap around.
        A sum of floats is off by at most `rows * eps` times the sum of the absolute values before
        it, a product by `rows * eps` of itself; both round float16 and bfloat16 at the end only.
        Minimum and maximum are exact: the first of equal rows wins, and the first NaN.

    References:
        Blelloch (1990), "Prefix sums and their applications".

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> local.inclusive_scan(jnp.array([3, 1, 4, 1, 5])).tolist()
        [3, 4, 8, 9, 14]
        >>> local.inclusive_scan(jnp.array([3, 1, 4, 1, 5]), "max", reverse=True).tolist()
        [5, 5, 5, 5, 5]
    """
    scan = Scan(op, reverse, False)
    return scan_segments(as_scan(x, scan, None, num_valid, "inclusive_scan"), None)


def exclusive_scan(
    x: PyTree,
    op: Operator = "sum",
    *,
    initial: PyTree | None = None,
    reverse: bool = False,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> PyTree:
    """Combines the rows before each row.

    Args:
        x: as for `inclusive_scan`.
        op: as for `inclusive_scan`.
        initial: the value before the first row: one number, or a pytree like `x` of single rows.
            For a named `op` it defaults to the identity element: zero, one, or the largest or
            smallest number of the dtype. Required if `op` is a function.
        reverse: scan from the last row to the first.
        num_valid: number of valid rows, at the front; all rows by default.

    Returns:
        A pytree like `x`, as for `inclusive_scan`.

    Raises:
        TypeError: as `inclusive_scan`.
        ValueError: as `inclusive_scan`; `op` is a function and `initial` is missing.

    Cost:
        That of `inclusive_scan`; with `initial`, one more read and write of the rows.

    Guarantees:
        As `inclusive_scan`; differentiable in `initial` too.

    References:
        Blelloch (1990), "Prefix sums and their applications".

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> local.exclusive_scan(jnp.array([3, 1, 4, 1, 5])).tolist()
        [0, 3, 4, 8, 9]
        >>> local.exclusive_scan(jnp.array([3, 1, 4, 1, 5]), initial=100).tolist()
        [100, 103, 104, 108, 109]
    """
    scan = Scan(op, reverse, True)
    return scan_segments(as_scan(x, scan, initial, num_valid, "exclusive_scan"), None)
