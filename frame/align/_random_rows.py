# SPDX-License-Identifier: Apache-2.0
"""The arguments of `sample`: its size, the weights of rows, and the seed or the generator."""

import functools
import secrets
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...primitives.staging import tiered
from ..table._column import Array, as_floats
from ..table._dtypes import wide
from ..table._layout import Layout
from ..table._ndframe import FrameBase, NDFrame
from ..table._table import Count, is_row
from ..table._tracing import at_once, is_traced
from ._as_column import as_column


def size_or_fraction(n: Any, frac: Any, replace: bool) -> tuple[int | None, Any]:
    """The number of rows to draw, or the fraction; 1 row if neither is given."""
    if n is not None and frac is not None:
        raise ValueError("Please enter a value for `frac` OR `n`, not both")
    if frac is not None:
        if frac > 1 and not replace:
            raise ValueError(
                "Replace has to be set to `True` when upsampling the population `frac` > 1."
            )
        if frac < 0:
            raise ValueError("A negative number of rows requested. Please provide `frac` >= 0.")
        return None, frac
    n = 1 if n is None else n
    if n < 0:
        raise ValueError("A negative number of rows requested. Please provide `n` >= 0.")
    if n % 1 != 0:
        raise ValueError("Only integers accepted as `n` values")
    return int(n), None


def weights_of(of: NDFrame, weights: Any) -> tuple[Array, Array]:
    """The weight of each row, zero for missing ones and padding; how many are above zero.

    Raises:
        ValueError: a weight is negative or infinite, or all are zero. Not raised inside `jit`.
    """
    table = of._table
    if isinstance(weights, str):
        if not isinstance(of, FrameBase):
            raise ValueError("Strings cannot be passed as weights when sampling from a Series.")
        if weights not in of._labels:
            raise KeyError("String passed to weights not a valid column")
        column = of._column(weights)
    else:
        is_array = not isinstance(weights, NDFrame) and hasattr(weights, "__len__")
        if is_array and not is_traced(table.num_rows) and len(weights) != len(of):
            raise ValueError("Weights and axis to be sampled must be of same length")
        column = as_column(weights, table, "weights")
    if not column.is_numeric or column.dtype.kind == "c":
        raise TypeError(f"sample: weights must be real numbers, got {column.dtype_name}.")
    found, ends = at_once(_as_weights, as_floats(column).data, table.num_rows, table.layout)
    least, greatest, num_positive = ends
    if not is_traced(ends):
        if float(least) < 0:
            raise ValueError("weight vector may not include negative values")
        if float(greatest) == np.inf:
            raise ValueError("weight vector may not include `inf` values")
        if not int(num_positive):
            raise ValueError("Invalid weights: weights sum to zero")
    return found, num_positive


def seed_of(random_state: Any) -> Array:
    """The data of a key for `jax.random`."""
    if isinstance(random_state, jax.Array):
        is_key = jnp.issubdtype(random_state.dtype, jax.dtypes.prng_key)
        return jax.random.key_data(random_state) if is_key else random_state
    seed = drawn_seed(random_state)
    if np.ndim(seed) or not np.issubdtype(np.asarray(seed).dtype, np.integer):
        raise ValueError(
            "random_state must be an integer, array-like, a BitGenerator, Generator, a numpy "
            f"RandomState, or None: sample got {random_state!r}. Give an integer, a generator of "
            "NumPy, or a key of jax.random."
        )
    return jax.random.key_data(jax.random.key(seed))


def drawn_seed(random_state: Any) -> Any:
    """A seed; drawn from a generator, or by the operating system for None."""
    if random_state is None:
        return secrets.randbits(31)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    return random_state


# NumPy's generators, old and new.
NumpyGenerator = np.random.Generator | np.random.RandomState


def drawn_by_numpy(
    generator: NumpyGenerator, num_rows: int, size: int, replace: bool, weights: np.ndarray | None
) -> np.ndarray:
    """Positions among some rows, the ones that pandas draws with the generator, on the host.

    Raises:
        ValueError: there are too few rows, or too few with a weight.
    """
    shares = None
    if weights is not None:
        total = weights.sum()
        if not total:
            raise ValueError("Invalid weights: weights sum to zero")
        shares = weights / total
        if not replace and size * shares.max() > 1:
            raise ValueError(
                "Weighted sampling cannot be achieved with replace=False. Either set replace=True "
                f"or use smaller weights: sample of {size} rows got a share of "
                f"{shares.max():.3g}. Or give a seed in place of a generator of NumPy."
            )
    return generator.choice(num_rows, size=size, replace=replace, p=shares)


@functools.partial(tiered, static_argnums=2)
def _as_weights(data: Array, num_rows: Count, layout: Layout) -> tuple[Array, tuple[Array, ...]]:
    """Weights without missing values; their least, their greatest, and the number above zero."""
    is_weight = is_row(data.shape[0], num_rows, layout) & ~jnp.isnan(data)
    weights = jnp.where(is_weight, data.astype(wide(np.float64)), 0)
    num_positive = jnp.sum(weights > 0, dtype=jnp.int32)
    return weights, (jnp.min(weights), jnp.max(weights), num_positive)
