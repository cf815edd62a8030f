# SPDX-License-Identifier: Apache-2.0
"""`sample`: random rows."""

import functools
import secrets
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np

from ... import primitives
from ...primitives.staging import tiered
from ..align._as_column import as_column
from ..table._arguments import only_rows
from ..table._column import Array, fill_missing
from ..table._dtypes import wide
from ..table._layout import Layout
from ..table._ndframe import FrameBase, NDFrame
from ..table._table import Count, as_count, is_row
from ..table._take import take_rows
from ..table._tracing import at_once, is_traced


class Sampling(NDFrame):
    """Random rows of frames and series."""

    def sample(
        self,
        n: int | None = None,
        frac: float | None = None,
        replace: bool = False,
        weights: Any = None,
        random_state: Any = None,
        axis: Any = None,
        ignore_index: bool = False,
    ) -> Self:
        """Draws rows at random, with or without replacement.

        Without replacement, each row gets a random priority, divided by its weight, and the first
        `n` in the order of priorities are drawn. Equal seeds draw equal rows, on one device or a
        mesh, eagerly or inside `jit`; there, no more rows are drawn than the frame has.

        Args:
            n: the number of rows; 1 if neither `n` nor `frac` is given.
            frac: the fraction of rows to draw, instead of `n`.
            replace: whether a row may be drawn several times.
            weights: relative probabilities of the rows: a series, an array, or the label of a
                column. Missing ones are zero.
            random_state: a seed, a key of `jax.random`, or a generator of NumPy, which gives a
                seed. Needed inside `jit`; drawn by the operating system if left out.
            axis: must be the axis of the rows.
            ignore_index: whether to label the rows 0, 1, ...

        Differences from pandas:
            Other rows are drawn for the same seed, because the generator is that of `jax.random`.
            Columns cannot be sampled. Inside `jit`, invalid weights do not raise.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> sorted(JaxSeries([1, 2, 3]).sample(3, random_state=0).tolist())
            [1, 2, 3]
        """
        only_rows("sample", axis or 0, self, "Select columns by label.")
        table, layout = self._table, self._layout
        size, most = _size(n, frac, replace, table.num_rows, table.capacity)
        in_jit = is_traced(size)
        shares = None if weights is None else self._weights(weights, replace, size)
        capacity = layout.capacity_for(most)
        if not replace:
            capacity = min(capacity, table.capacity)
        draw = functools.partial(at_once, _drawn) if not layout.is_explicit else _drawn
        row_ids = draw(
            _seed(random_state),
            shares,
            table.num_rows,
            table.capacity,
            capacity,
            replace,
            layout,
        )
        drawn = self._like(take_rows(table, row_ids, size if in_jit else as_count(int(size))))
        return drawn._with_range() if ignore_index else drawn

    def _weights(self, weights: Any, replace: bool, size: Any) -> Array:
        """The weight of each row, as floats; zero for missing ones and for padding."""
        table = self._table
        if isinstance(weights, str):
            if not isinstance(self, FrameBase):
                raise ValueError("Strings cannot be passed as weights when sampling from a Series.")
            if weights not in self._labels:
                raise KeyError("String passed to weights not a valid column")
            column = self._column(weights)
        else:
            is_array = not isinstance(weights, NDFrame) and hasattr(weights, "__len__")
            if is_array and not is_traced(table.num_rows) and len(weights) != len(self):
                raise ValueError("Weights and axis to be sampled must be of same length")
            column = as_column(weights, table, "weights")
        if not column.is_numeric or column.dtype.kind == "c":
            raise TypeError(f"sample: weights must be real numbers, got {column.dtype_name}.")
        found, ends = at_once(_as_weights, fill_missing(column).data, table.num_rows, table.layout)
        if not is_traced(ends):
            least, greatest, num_positive = map(float, ends)
            if least < 0:
                raise ValueError("weight vector may not include negative values")
            if greatest == np.inf:
                raise ValueError("weight vector may not include `inf` values")
            if not num_positive:
                raise ValueError("Invalid weights: weights sum to zero")
            if not replace and num_positive < int(size):
                raise ValueError("Fewer non-zero entries in p than size")
        return found


def _size(n: Any, frac: Any, replace: bool, num_rows: Count, capacity: int) -> tuple[Count, int]:
    """The number of rows to draw, and a bound of it; traced inside `jit`."""
    if n is not None and frac is not None:
        raise ValueError("Please enter a value for `frac` OR `n`, not both")
    if frac is not None:
        if frac > 1 and not replace:
            raise ValueError(
                "Replace has to be set to `True` when upsampling the population `frac` > 1."
            )
        if frac < 0:
            raise ValueError("A negative number of rows requested. Please provide `frac` >= 0.")
        if is_traced(num_rows):
            exact = num_rows.astype(wide(np.float64)) * frac
            size = jnp.round(exact).astype(jnp.int32)
            return size, round(frac * capacity) + 1
        size = round(frac * int(num_rows))
        return size, size
    n = 1 if n is None else n
    if n < 0:
        raise ValueError("A negative number of rows requested. Please provide `n` >= 0.")
    if n % 1 != 0:
        raise ValueError("Only integers accepted as `n` values")
    n = int(n)
    if is_traced(num_rows):
        most = np.int32(min(n, np.iinfo(np.int32).max))
        drawable = jnp.where(num_rows > 0, most, np.int32(0))
        return (drawable if replace else jnp.minimum(most, num_rows)), n
    if n > int(num_rows) and not replace:
        raise ValueError("Cannot take a larger sample than population when 'replace=False'")
    if n and not int(num_rows):
        raise ValueError("a must be greater than 0 unless no samples are taken")
    return n, n


def _seed(random_state: Any) -> Array:
    """The data of a key for `jax.random`."""
    if isinstance(random_state, jax.Array):
        is_key = jnp.issubdtype(random_state.dtype, jax.dtypes.prng_key)
        return jax.random.key_data(random_state) if is_key else random_state
    if random_state is None:
        random_state = secrets.randbits(31)
    elif isinstance(random_state, np.random.Generator):
        random_state = int(random_state.integers(2**31))
    elif isinstance(random_state, np.random.RandomState):
        random_state = int(random_state.randint(2**31 - 1))
    return jax.random.key_data(jax.random.key(random_state))


@functools.partial(tiered, static_argnums=2)
def _as_weights(data: Array, num_rows: Count, layout: Layout) -> tuple[Array, tuple[Array, ...]]:
    """Weights without missing values; their least, their greatest, and the number above zero."""
    is_weight = is_row(data.shape[0], num_rows, layout) & ~jnp.isnan(data)
    weights = jnp.where(is_weight, data.astype(wide(np.float64)), 0)
    num_positive = jnp.sum(weights > 0, dtype=jnp.int32)
    return weights, (jnp.min(weights), jnp.max(weights), num_positive)


@functools.partial(tiered, static_argnums=(3, 4, 5, 6))
def _drawn(
    seed: Array,
    weights: Array | None,
    num_rows: Count,
    num_in: int,
    num_out: int,
    replace: bool,
    layout: Layout,
) -> Array:
    """Row ids of a sample."""
    key = jax.random.wrap_key_data(seed)
    if not replace:
        if weights is None:
            priorities = jax.random.bits(key, (num_in,), jnp.uint32)
        else:
            # Efraimidis and Spirakis (2006): an exponential variate of each row's rate.
            spread = jax.random.exponential(key, (num_in,), weights.dtype)
            priorities = jnp.where(weights > 0, spread / weights, np.inf)
        order = primitives.radix_argsort(
            (layout.constrain(priorities),), num_valid=num_rows, **layout.on_mesh
        )
        return layout.constrain(order.astype(jnp.int32)[:num_out])
    if weights is None:
        drawn = jax.random.randint(key, (num_out,), 0, jnp.maximum(num_rows, 1), jnp.int32)
        return layout.constrain(drawn)
    totals = primitives.inclusive_scan(weights, "add", **layout.on_mesh)
    total = jnp.max(totals)
    targets = jax.random.uniform(key, (num_out,), total.dtype) * total
    # A product that rounds up to the total would be beyond the last row.
    targets = jnp.minimum(targets, jnp.nextafter(total, jnp.zeros_like(total)))
    return layout.constrain(
        primitives.searchsorted(totals, layout.constrain(targets), side="right", **layout.on_mesh)
    ).astype(jnp.int32)
