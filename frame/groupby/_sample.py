# SPDX-License-Identifier: Apache-2.0
"""`sample` and `take` of groups: rows of each group, drawn at random or by position."""

import functools
from typing import Any

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
from ..table._column import Array, Column
from ..table._dtypes import wide
from ..table._filter import filter_rows
from ..table._layout import Layout, padded
from ..table._row_index import RANGE
from ..table._table import Count, Table, as_count, either_needed
from ..table._take import gather, take_columns, take_rows
from ..table._to_host import host_array
from ..table._tracing import at_once
from ._base import GroupByBase
from ._grouped_column import Segments
from ._segmented_scans import positions_in_groups


class GroupBySampling(GroupByBase):
    """Rows of each group, drawn at random or by position."""

    def sample(
        self,
        n: int | None = None,
        frac: float | None = None,
        replace: bool = False,
        weights: object = None,
        random_state: object = None,
    ) -> Any:
        """Draws rows of each group at random, in the order of the groups.

        Each row gets a random priority, divided by its weight, and the first `n` of each group are
        drawn. Equal seeds draw equal rows, on one device or a mesh, eagerly or inside `jit`;
        there, no more rows are drawn than a group has.

        Args:
            n: the number of rows of each group; 1 if neither `n` nor `frac` is given.
            frac: the fraction of the rows of each group, instead of `n`.
            replace: whether a row may be drawn several times; not inside `jit`.
            weights: relative probabilities of the rows; see `JaxFrame.sample`. With `replace` only
                if a generator draws.
            random_state: a seed, a key of `jax.random`, or a generator; see `JaxFrame.sample`.

        Differences from pandas:
            Other rows are drawn for the same seed: give `np.random.RandomState(seed)` for those of
            pandas.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> frame = JaxFrame({"k": ["b", "a", "b"], "x": [1, 2, 3]})
            >>> frame.groupby("k").sample(1, random_state=0).k.tolist()
            ['a', 'b']
        """
        n, frac = size_or_fraction(n, frac, replace)
        table, groups = self._table, self._groups
        layout, is_in_jit = table.layout, groups.is_traced or self._source._is_traced
        by_numpy = isinstance(random_state, NumpyGenerator) and not is_in_jit
        if replace and (is_in_jit or (weights is not None and not by_numpy)):
            raise NotImplementedError(
                "groupby: sample with replace=True needs known groups and no weights. Call it "
                "outside jit, draw from the frame by sample(), or give a generator of NumPy as "
                "random_state."
            )
        shares = None if weights is None else weights_of(self._source, weights)[0]
        if by_numpy:
            generator: Any = random_state
            return self._shown(self._drawn_by_numpy(generator, n, frac, replace, shares))
        seed, group_ids = seed_of(random_state), groups.group_ids
        if not is_in_jit:
            sizes, drawable = self._sizes_on_host(shares)
            wanted = np.full(len(sizes), n) if frac is None else np.round(frac * sizes)
            _check_sizes(wanted.astype(np.int64), sizes, drawable, replace)
            if replace:
                return self._shown(self._drawn_again(seed, wanted.astype(np.int64), sizes))
        draw = functools.partial(at_once, _first_rows) if not layout.is_explicit else _first_rows
        counts = (table.num_rows, np.int32(-1 if n is None else min(n, 2**31 - 1)))
        share = np.float64(0 if frac is None else frac).astype(wide(np.float64))
        row_ids, is_drawn = draw(seed, shares, group_ids, counts, share, groups.capacity, layout)
        ids = Table((Column(row_ids),), RANGE, table.num_rows, layout=layout)
        drawn = filter_rows(ids, is_drawn)
        rows = take_rows(table, drawn.columns[0].data, drawn.num_rows)
        return self._shown(rows.replace(needed=either_needed(rows.needed, groups.needed)))

    def take(self, indices: object) -> Any:
        """The rows of each group at positions, which count from its end if negative.

        The keys, then the row labels, label the result; with `as_index=False` or
        `group_keys=False` the row labels.

        Differences from pandas:
            Not supported inside `jit`, because a position may be out of bounds.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> frame = JaxFrame({"k": ["b", "a", "b"], "x": [1, 2, 3]})
            >>> frame.groupby("k").take([-1]).to_pandas().x.to_dict()
            {('a', 1): 2, ('b', 2): 3}
        """
        table, groups = self._table, self._groups
        if groups.is_traced or self._source._is_traced:
            raise NotImplementedError(
                "groupby: take is not supported inside jit, where positions cannot be checked. Use "
                "nth(), or head()."
            )
        at = np.asarray(indices)
        if at.ndim != 1 or (at.size and at.dtype.kind not in "iu"):
            raise TypeError(f"groupby: take needs a list of integers, got {indices!r}.")
        sizes, _ = self._sizes_on_host(None)
        if at.size and len(sizes) and (at.max() >= sizes.min() or at.min() < -sizes.min()):
            raise IndexError("indices are out-of-bounds")
        positions = np.where(at < 0, at + sizes[:, None], at).astype(np.int64)
        positions = (positions + (np.cumsum(sizes) - sizes)[:, None]).ravel()
        row_ids = self._rows_at_positions(positions)
        columns = take_columns(self._columns, row_ids, table.layout)
        index = self._index_of_rows(row_ids, gather(groups.group_ids, row_ids, table.layout))
        rows = table.replace(index=index, num_rows=as_count(len(positions)))
        return self._made(columns, rows.with_columns(columns))

    def _sizes_on_host(self, shares: Array | None) -> tuple[np.ndarray, np.ndarray]:
        """The number of rows of each group, and of those with a weight above zero."""
        groups = self._groups
        numbered = Segments(groups.group_ids, None, groups.capacity, groups.layout)
        found = _sizes(numbered, shares)
        sizes, drawable = (host_array(one)[: int(groups.count)].astype(np.int64) for one in found)
        return sizes, drawable

    def _rows_at_positions(self, positions: Any) -> Array:
        """Row ids at positions in the order of the groups, padded."""
        table, layout = self._table, self._table.layout
        positions = padded(positions.astype(np.int32), layout.capacity_for(len(positions)))
        order = _by_group(self._groups.group_ids, table.num_rows, layout)
        return gather(order, layout.place(positions), layout)

    def _drawn_by_numpy(
        self, generator: NumpyGenerator, n: Any, frac: Any, replace: bool, shares: Array | None
    ) -> Table:
        """The rows that pandas draws with a generator, group by group."""
        sizes, _ = self._sizes_on_host(None)
        starts, weights = np.cumsum(sizes) - sizes, None
        if shares is not None:
            table = self._table
            order = _by_group(self._groups.group_ids, table.num_rows, table.layout)
            weights = host_array(shares)[host_array(order)].astype(np.float64)
        drawn = [np.zeros(0, np.int64)]
        for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
            wanted = n if frac is None else round(frac * size)
            of_group = None if weights is None else weights[start : start + size]
            drawn.append(start + drawn_by_numpy(generator, size, wanted, replace, of_group))
        positions = np.concatenate(drawn)
        row_ids = self._rows_at_positions(positions)
        return take_rows(self._table, row_ids, as_count(len(positions)))

    def _drawn_again(self, seed: Array, wanted: np.ndarray, sizes: np.ndarray) -> Table:
        """Rows drawn with replacement, a number of each group."""
        of_draw = np.repeat(np.arange(len(sizes)), wanted)
        key = jax.random.wrap_key_data(seed)
        draws = jax.random.randint(key, (len(of_draw),), 0, sizes[of_draw].astype(np.int32))
        positions = host_array(draws) + (np.cumsum(sizes) - sizes)[of_draw]
        row_ids = self._rows_at_positions(positions)
        return take_rows(self._table, row_ids, as_count(len(positions)))


def _check_sizes(
    wanted: np.ndarray, sizes: np.ndarray, drawable: np.ndarray, replace: bool
) -> None:
    """Raises pandas' errors for groups with too few rows to draw."""
    if not replace and bool(np.any(wanted > sizes)):
        raise ValueError("Cannot take a larger sample than population when 'replace=False'")
    if bool(np.any((drawable == 0) & (wanted > 0))):
        raise ValueError("Invalid weights: weights sum to zero")
    if not replace and bool(np.any(wanted > drawable)):
        raise ValueError("Fewer non-zero entries in p than size")


@tiered
def _sizes(groups: Segments, shares: Array | None) -> tuple[Array, Array]:
    sizes = groups.reduce("count", None)
    if shares is None:
        return sizes, sizes
    return sizes, groups.reduce("count", None, jnp.where(shares > 0, groups.ids, np.int32(-1)))


@functools.partial(tiered, static_argnums=2)
def _by_group(group_ids: Array, num_rows: Count, layout: Layout) -> Array:
    """Row ids in the order of their groups; rows without one are last."""
    order = primitives.radix_argsort(
        (group_ids.astype(jnp.uint32),), num_valid=num_rows, **layout.on_mesh
    )
    return layout.constrain(order.astype(jnp.int32))


@functools.partial(tiered, static_argnums=(5, 6))
def _first_rows(
    seed: Array,
    weights: Array | None,
    group_ids: Array,
    counts: tuple[Count, Array],
    share: Array,
    num_groups: int,
    layout: Layout,
) -> tuple[Array, Array]:
    """Row ids in the order of groups and priorities, and which of them are drawn.

    `counts` are the number of rows, and that of each group to draw, or -1 for a share of them.
    """
    num_rows, wanted = counts
    key = jax.random.wrap_key_data(seed)
    if weights is None:
        priorities = jax.random.bits(key, group_ids.shape, jnp.uint32)
    else:
        # Efraimidis and Spirakis (2006): an exponential variate of each row's rate.
        spread = jax.random.exponential(key, weights.shape, weights.dtype)
        priorities = jnp.where(weights > 0, spread / weights, np.inf)
    order = primitives.radix_argsort(
        (group_ids.astype(jnp.uint32), layout.constrain(priorities)),
        num_valid=num_rows,
        **layout.on_mesh,
    )
    order = layout.constrain(order.astype(jnp.int32))
    group = gather(group_ids, order, layout)
    segments = Segments(group, None, num_groups, layout)
    sizes = segments.reduce("count", None)
    part = jnp.round(sizes.astype(share.dtype) * share).astype(jnp.int32)
    limits = segments.for_rows(jnp.where(wanted < 0, part, wanted))
    if segments.is_sharded:
        at = positions_in_groups(segments, ascending=True)
    else:
        starts = jnp.cumsum(sizes, dtype=jnp.int32) - sizes.astype(jnp.int32)
        at = jnp.arange(order.shape[0], dtype=jnp.int32) - segments.for_rows(starts)
    return order, layout.constrain((group >= 0) & (at < limits))
