# SPDX-License-Identifier: Apache-2.0
"""Reductions by key of whole arrays, on one device or over a mesh."""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ...shardings._compat import MeshLike
from .. import collective, local
from .._eager_reduction import Reductions, reduce_eagerly
from .._in_shared_memory import in_shared_memory
from .._over_mesh import RowMesh, ValidRows, as_row_mesh
from .._segment_sums import Summed
from .._sized import capacity_for, map_front_packed, sized
from ..collective._exchange import Transport, check_transport
from ..contract._arguments import as_flag, as_keys, as_num_valid
from ..contract._platform import likely_platform
from ..contract._typing import Array, ArrayLike, Integer, Keys, PyTree
from ..local import ReducedRuns
from ..local.parts import LEAST_INDEXED_ROWS, Order, as_reduction, check_order
from ..tiers._tiered import tiered
from ._radix_sort import radix_sort


@in_shared_memory
def reduce_by_key(
    keys: Keys,
    values: PyTree,
    ops: Any,
    mesh: MeshLike | None = None,
    *,
    capacity: int | Callable[[int], int] | None = None,
    is_sorted: bool = False,
    order: Order = "key",
    ddof: int = 0,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    axis: str | tuple[str, ...] | None = None,
    transport: Transport = "auto",
) -> ReducedRuns:
    """Reduces the rows of each distinct key to one row, on one device or over a mesh.

    Args:
        keys: one array of shape `(rows,)`, or a tuple of them, most significant first; in any
            order, of any length. Keys are equal as in `radix_sort`.
        values: array of shape `(rows, ...)`, or a pytree of them.
        ops: reductions of the values of a key: "sum", "prod", "min", "max", "count", "mean",
            "var", "std", "first", "last", "any" or "all". One for all leaves of `values`, or a
            pytree of them of the same structure. Static.
        mesh: mesh of the rows; one device by default.
        capacity: distinct keys of the result. Static. By default an eager call returns one row for
            each distinct key and no more; a traced one has the number of rows as its capacity. A
            function of the number of distinct keys returns the capacity of an eager call: rounded
            up, results of nearby lengths share compiled programs.
        is_sorted: promises that the keys are sorted, which saves the search for equal keys.
            Without it keys may come in any order. Static.
        order: "key" for the keys in order, "first" for the order of their first rows. Static.
        ddof: delta degrees of freedom; "var" and "std" divide by the number of rows minus `ddof`.
            Static.
        num_valid: number of valid rows, at the front; all rows by default.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.
        transport: transport of the rows; see `collective.partition`.

    Returns:
        `ReducedRuns(unique_keys, values, num_runs)`, in `order`; the first
        `num_runs` rows are meaningful, and padding is zero. On a mesh they are sharded by rows
        if it divides their number. A key has the bits of its first row.

    Raises:
        CapacityError: an eager call was given too small a capacity.
        TypeError: a dtype that is not a key dtype or not supported by an op, a traced static
            argument, or `mesh` is not a mesh.
        ValueError: lengths differ, an op or `transport` is unknown, or `axis` is not an axis of the
            mesh.

    Cost:
        On one device see `local.reduce_by_key`; a large eager call without a capacity first reads
        the range of integer keys back, and sizes its tables by it. Over a mesh see
        `collective.reduce_by_key`; a row for each distinct key moves once more, and with
        `order="first"` as often as in `radix_sort`. An eager call reads the number of keys back.

    Guarantees:
        Deterministic; differentiable in `values`. Integers are exact, and independent of the mesh;
        sums of floats differ within the bound of `local.reduce_by_key`.

    References:
        Chan, Golub, LeVeque (1983), "Algorithms for computing the sample variance".

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives, shardings
        >>> keys, x = jnp.array([7, 3, 7, 3, 7]), jnp.array([1, 2, 3, 4, 5])
        >>> runs = primitives.reduce_by_key(keys, x, "sum", shardings.make_mesh(1))
        >>> runs.unique_keys.tolist(), runs.values.tolist(), runs.num_runs.tolist()
        ([3, 7], [6, 9], 2)
    """
    caller = "reduce_by_key"
    is_sorted = as_flag(is_sorted, caller, "is_sorted")
    check_transport(transport, caller)
    check_order(order, caller)
    row_mesh = as_row_mesh(mesh, axis, caller)
    num_shards = 1 if row_mesh is None else row_mesh.num_shards
    columns, is_tuple = as_keys(keys, caller, num_shards=num_shards)
    num_rows = columns[0].shape[0]
    values, names, ddof = as_reduction(values, ops, ddof, num_rows, caller)
    leaves, structure = jax.tree.flatten(values)
    reduction = _Reduction(names, is_sorted, order, ddof, transport)
    valid = None if row_mesh is None else row_mesh.valid_rows(num_valid, num_rows, caller)
    if row_mesh is not None:
        columns, leaves = row_mesh.place((columns, leaves))

    if (
        row_mesh is None
        and not is_sorted
        and num_rows >= LEAST_INDEXED_ROWS
        and (capacity is None or callable(capacity))
    ):
        found = reduce_eagerly(
            columns,
            leaves,
            as_num_valid(num_valid, num_rows, caller),
            Reductions(names, ddof, order),
            lambda count: capacity_for(count, capacity, caller),
        )
        if found is not None:
            return _as_runs(*found, structure, is_tuple)

    def run(capacity: int) -> Any:
        if row_mesh is None:
            settings = {"capacity": capacity, "num_valid": num_valid, "order": order}
            return _reduce_by(local.reduce_by_key, columns, leaves, reduction, **settings)
        if order == "first":
            settings = row_mesh, capacity, num_rows, reduction
            return _reduce_in_first_order(columns, leaves, valid, *settings)
        return _reduce_on_mesh(columns, leaves, valid, row_mesh, capacity, num_rows, reduction)

    rows, num_runs = sized(caller, run, capacity, num_rows, row_mesh)
    return _as_runs(rows, num_runs, structure, is_tuple)


def _as_runs(rows: Any, num_runs: Array, structure: Any, is_tuple: bool) -> ReducedRuns:
    unique_columns, reduced = rows
    unique_keys = unique_columns if is_tuple else unique_columns[0]
    return ReducedRuns(unique_keys, structure.unflatten(reduced), num_runs)


def sum_by_key(
    keys: tuple[Array, ...],
    summed: Sequence[Summed],
    dtypes: Sequence[str],
    *,
    order: Order,
    capacity: Callable[[int], int],
    num_valid: Array,
) -> ReducedRuns:
    """Sums and counts by key of concrete rows on one device, in dtypes that hold the sums.

    Args:
        keys: as for `reduce_by_key`.
        summed: arrays, or pairs of arrays of one dtype, which stand for their products.
        dtypes: the dtype of each sum; "" to count the rows in place of a sum.
        order: as for `reduce_by_key`.
        capacity: as for `reduce_by_key`.
        num_valid: number of valid rows, at the front.
    """
    caller = "sum_by_key"
    columns, _ = as_keys(keys, caller)
    names = tuple("sum" if dtype else "count" for dtype in dtypes)
    valid = as_num_valid(num_valid, columns[0].shape[0], caller)
    how = Reductions(names, 0, order, tuple(dtypes))
    found = reduce_eagerly(
        columns, summed, valid, how, lambda count: capacity_for(count, capacity, caller)
    )
    assert found is not None, "values are concrete"
    (unique_columns, sums), num_runs = found
    return ReducedRuns(unique_columns, sums, num_runs)


def saves_a_sort() -> bool:
    """Whether a traced `reduce_by_key` has one sort less than group ids and sums by them.

    CPU numbers groups and adds up rows by tables, without a sort.
    """
    return likely_platform() != "cpu"


class _Reduction(NamedTuple):
    """The static arguments of a reduction. One operator name for each leaf."""

    names: tuple[str, ...]
    is_sorted: bool
    order: Order
    ddof: int
    transport: Transport


def _reduce_by(
    function: Callable[..., ReducedRuns],
    columns: tuple[Array, ...],
    leaves: list[Array],
    reduction: _Reduction,
    **settings: Any,
) -> tuple[Any, Array]:
    """The distinct keys and reduced leaves that the form of a level gives, and their number."""
    unique_columns, reduced, num_runs = function(
        columns,
        leaves,
        list(reduction.names),
        is_sorted=reduction.is_sorted,
        ddof=reduction.ddof,
        **settings,
    )
    return (unique_columns, reduced), num_runs


@functools.partial(tiered, static_argnums=(3, 4, 5, 6))
def _reduce_in_first_order(
    columns: tuple[Array, ...],
    leaves: list[Array],
    valid: ValidRows | None,
    row_mesh: RowMesh,
    capacity: int,
    num_rows: int,
    reduction: _Reduction,
) -> Any:
    """Reduces the row ids to that of the first row of each key, and sorts the results by it."""
    row_ids = row_mesh.place(jnp.arange(num_rows, dtype=jnp.int32))
    names = (*reduction.names, "min")
    (unique_columns, reduced), num_runs = _reduce_on_mesh(
        columns, [*leaves, row_ids], valid, row_mesh, capacity, num_rows,
        reduction._replace(names=names),
    )  # fmt: skip
    *reduced, first_rows = reduced
    _, rows = radix_sort(
        first_rows,
        row_mesh.mesh,
        values=(unique_columns, reduced),
        num_valid=jnp.minimum(num_runs, np.int32(capacity)),
        axis=row_mesh.axes,
        transport=reduction.transport,
    )
    is_run = jnp.arange(capacity, dtype=jnp.int32) < num_runs

    def with_zeros(leaf: Array) -> Array:
        is_run_of_leaf = is_run.reshape(capacity, *(1,) * (leaf.ndim - 1))
        return jnp.where(is_run_of_leaf, leaf, leaf.dtype.type(0))

    return jax.tree.map(with_zeros, rows), num_runs


@functools.partial(tiered, static_argnums=(3, 4, 5, 6))
def _reduce_on_mesh(
    columns: tuple[Array, ...],
    leaves: list[Array],
    valid: ValidRows | None,
    row_mesh: RowMesh,
    capacity: int,
    num_rows: int,
    reduction: _Reduction,
) -> Any:
    def of_shard(columns: tuple[Array, ...], leaves: list[Array], valid: ValidRows | None) -> Any:
        return _reduce_by(
            collective.reduce_by_key,
            columns,
            leaves,
            reduction,
            axis_name=row_mesh.axes,
            num_valid=row_mesh.num_valid(num_rows, valid),
            transport=reduction.transport,
        )

    return map_front_packed(
        row_mesh,
        of_shard,
        columns,
        leaves,
        capacity=capacity,
        replicated=(valid,),
        transport=reduction.transport,
    )
