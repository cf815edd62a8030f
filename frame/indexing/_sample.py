# SPDX-License-Identifier: Apache-2.0
"""`sample`: random rows."""

import functools
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np

from ... import primitives
from ...primitives.staging import tiered
from ..align._random_rows import (
    NumpyGenerator,
    drawn_by_numpy,
    seed_of,
    size_or_fraction,
    weights_of,
)
from ..table._arguments import only_rows
from ..table._column import Array
from ..table._dtypes import wide
from ..table._layout import Layout, padded
from ..table._ndframe import NDFrame
from ..table._table import Count, as_count
from ..table._take import take_rows
from ..table._to_host import host_array
from ..table._tracing import at_once, is_traced
from ..table._types import Axis


class Sampling(NDFrame):
    """Random rows of frames and series."""

    def sample(
        self,
        n: int | None = None,
        frac: float | None = None,
        replace: bool = False,
        weights: object = None,
        random_state: object = None,
        axis: Axis = None,
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
            random_state: a seed or a key of `jax.random`, or a generator of NumPy, which draws the
                rows on the host as in pandas; inside `jit` and in plans it gives a seed. Needed
                inside `jit`; drawn by the operating system if left out.
            axis: must be the axis of the rows.
            ignore_index: whether to label the rows 0, 1, ...

        Differences from pandas:
            Other rows are drawn for the same seed, because the generator is that of `jax.random`:
            give `np.random.RandomState(seed)` for those of pandas.
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
        shares = None
        by_numpy = isinstance(random_state, NumpyGenerator) and not in_jit
        if weights is not None:
            shares, num_positive = weights_of(self, weights)
            by_numpy = by_numpy and not is_traced(num_positive)
            if not is_traced(num_positive, size) and not replace and int(num_positive) < int(size):
                raise ValueError("Fewer non-zero entries in p than size")
        capacity = layout.capacity_for(most)
        if not replace:
            capacity = min(capacity, table.capacity)
        if by_numpy:
            num_rows = table.num_rows_on_host
            of_rows = None if shares is None else host_array(shares)[:num_rows].astype(np.float64)
            generator: Any = random_state
            found = drawn_by_numpy(generator, num_rows, int(size), replace, of_rows)
            row_ids = layout.place(padded(found.astype(np.int32), capacity))
            drawn = self._like(take_rows(table, row_ids, as_count(int(size))))
            return drawn._with_range() if ignore_index else drawn
        draw = functools.partial(at_once, _drawn) if not layout.is_explicit else _drawn
        row_ids = draw(
            seed_of(random_state),
            shares,
            table.num_rows,
            table.capacity,
            capacity,
            replace,
            layout,
        )
        drawn = self._like(take_rows(table, row_ids, size if in_jit else as_count(int(size))))
        return drawn._with_range() if ignore_index else drawn


def _size(n: object, frac: Any, replace: bool, num_rows: Count, capacity: int) -> tuple[Count, int]:
    """The number of rows to draw, and a bound of it; traced inside `jit`."""
    n, frac = size_or_fraction(n, frac, replace)
    if n is None:
        if is_traced(num_rows):
            exact = num_rows.astype(wide(np.float64)) * frac
            size = jnp.round(exact).astype(jnp.int32)
            return size, round(frac * capacity) + 1
        size = round(frac * int(num_rows))
        return size, size
    if is_traced(num_rows):
        most = np.int32(min(n, np.iinfo(np.int32).max))
        drawable = jnp.where(num_rows > 0, most, np.int32(0))
        return (drawable if replace else jnp.minimum(most, num_rows)), n
    if n > int(num_rows) and not replace:
        raise ValueError("Cannot take a larger sample than population when 'replace=False'")
    if n and not int(num_rows):
        raise ValueError("a must be greater than 0 unless no samples are taken")
    return n, n


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
