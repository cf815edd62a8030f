# SPDX-License-Identifier: Apache-2.0
"""Host functions over a batch: one after the other, on threads, or on the devices of a mesh."""

import functools
import os
from collections.abc import Callable, Hashable, MutableMapping
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

from ...shardings._arguments import did_you_mean
from ...shardings._compat import (
    as_varying,
    has_explicit_axes,
    is_x64_enabled,
    like_varying,
    shard_map,
)
from ..contract._arguments import as_rows, as_static_int, num_rows_of, type_of
from ..contract._custom_jvp import custom_jvp
from ..contract._typing import Array, PyTree
from ._host_call import NO_ERROR, HostCall
from ._result_cache import ResultCache

STRATEGIES = ("auto", "sequential", "threads", "mesh")


def host_map(
    fn: Callable[[Any], Any],
    xs: PyTree,
    out: PyTree,
    *,
    strategy: Literal["auto", "sequential", "threads", "mesh"] = "auto",
    workers: int | None = None,
    mesh: Mesh | None = None,
    chunk: int | None = None,
    cache: MutableMapping[Any, Any] | None = None,
    key: Callable[[Any], Hashable] | None = None,
    jvp: Callable[[Any, Any, Any], Any] | None = None,
) -> PyTree:
    """Calls a Python function on each row of arrays, also inside a compiled program.

    Threads and meshes help functions that release Python's lock, such as NumPy's linear algebra,
    hashing, input and output, and simulators in C. A loop in pure Python takes as long as a
    sequential call.

    Args:
        fn: a function of one item: NumPy arrays, in the structure of `xs`, without the axis of
            rows. It returns NumPy arrays or Python numbers. It must not call JAX.
        xs: any pytree of arrays with the same leading axis, one row for each item.
        out: the structure of a result, with a `jax.ShapeDtypeStruct` for each array. Their shapes
            have no axis of rows.
        strategy: `"sequential"` calls one item after the other; `"threads"` calls from several
            threads; `"mesh"` spreads the rows over devices, and each calls for its own.
            `"auto"` is mesh if `mesh` is given, threads if `workers` is above 1, else sequential.
        workers: number of threads, by default one for each core; or number of devices, by default
            all.
        mesh: the devices, for `"mesh"`, in place of `workers`.
        chunk: number of rows that a thread takes at a time; by default a quarter of its share.
        cache: a mapping of known results by key. It is read before a call and written after it. It
            belongs to one `fn`: keys do not tell functions apart.
        key: the key of an item in `cache`, by default the bytes of its arrays.
        jvp: the derivative, as a JAX function of `xs`, their tangents, and the results; it gives
            the tangents of the results, and is linear in those of `xs`. It may use `host_map`.

    Returns:
        The results of all items, in the order of the rows, in the structure of `out`.

    Raises:
        ValueError: an unknown strategy, or options that do not fit it; too few devices; a
            derivative without `jvp`.
        TypeError: `xs` are not arrays, `out` does not describe arrays, a function is not callable,
            or `cache` is not a mapping.
        RuntimeError: `fn` raised, or returned another type than `out` promises; the
            message names the item. Raised when the program runs; with the strategy mesh, on all
            devices together.

    Cost:
        One callback of the program, or one for each device, and one call of `fn` for each row.
        Rows and results are copied between the device and the host.

    Guarantees:
        `fn` is called once for each row that has no cached result, and never for padding; with
        `cache`, once for each key, also from several threads. Works under `jit`, `vmap` and inside
        `shard_map`; the strategy mesh outside it only. A result that nothing uses causes no calls
        under `jit`, because XLA removes it. The order of calls is not fixed but in a sequential
        eager call. Inside `shard_map`, and in a program that shards other arrays, an error of `fn`
        leaves devices waiting in their collectives, and XLA on CPU ends the process: there, catch
        errors in `fn`.

    Example:
        >>> import jax
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import staging
        >>> out = jax.ShapeDtypeStruct((), jnp.int32)
        >>> xs = jnp.array([3, 1, 2], jnp.int32)
        >>> jax.jit(lambda xs: staging.host_map(lambda x: 10 * x, xs, out, workers=2))(xs)
        Array([30, 10, 20], dtype=int32)
    """
    xs = as_rows(xs, None, "host_map", "xs")
    num_items = num_rows_of(xs, "host_map", "xs")
    out_types, out_tree = jax.tree.flatten(out)
    out_types = _as_out_types(out_types, out_tree)
    plan = _as_plan(strategy, workers, mesh, chunk, num_items)
    for name, function in {"fn": fn, "key": key, "jvp": jvp}.items():
        if not callable(function) and (function is not None or name == "fn"):
            raise TypeError(f"host_map: {name} must be callable, got {type_of(function)}.")
    if not isinstance(cache, MutableMapping | None):
        raise TypeError(
            f"host_map: cache must be a mapping of results by key, got {type_of(cache)}. Pass a "
            "dict."
        )
    if key is not None and cache is None:
        raise ValueError(
            "host_map: key must come with a cache, got key alone. Pass cache={}, or leave key out."
        )
    call = HostCall(
        fn,
        jax.tree.structure(xs),
        out_types,
        out_tree,
        num_items,
        plan.num_threads,
        plan.chunk,
        None if cache is None else ResultCache(cache, key),
    )

    @custom_jvp
    def mapped(xs: Any) -> Any:
        if not num_items:
            return out_tree.unflatten(jnp.zeros((0, *kind.shape), kind.dtype) for kind in out_types)
        if plan.mesh is None:
            return _call_host(call, xs)
        return _on_mesh(call, plan.mesh, _placed(xs, plan.mesh))

    @mapped.defjvp
    def derivative(primals: tuple[Any], tangents: tuple[Any], results: Any) -> Any:
        if jvp is None:
            raise ValueError(
                "host_map: a derivative needs the argument jvp, got None. Pass a JAX function "
                "jvp(xs, tangents, results), or jax.lax.stop_gradient(xs) in place of xs."
            )
        moved = jvp(*primals, *tangents, results)
        _check_tangents(moved, results)
        return moved

    return mapped(xs)


def _check_tangents(moved: Any, results: Any) -> None:
    """Checks what the user's `jvp` returns."""
    same = jax.tree.structure(moved) == jax.tree.structure(results)
    if not same or not all(
        jnp.shape(tangent) == result.shape and jnp.result_type(tangent) == result.dtype
        for tangent, result in zip(jax.tree.leaves(moved), jax.tree.leaves(results), strict=True)
        if jnp.issubdtype(result.dtype, jnp.inexact)
    ):
        given, wanted = (jax.tree.map(type_of, tree) for tree in (moved, results))
        raise TypeError(
            "host_map: jvp must return tangents of the structure, shapes and dtypes of the "
            f"results, {wanted}, got {given}."
        )


class _Plan(NamedTuple):
    mesh: Mesh | None
    num_threads: int
    chunk: int


def _as_plan(strategy: Any, workers: Any, mesh: Mesh | None, chunk: Any, num_items: int) -> _Plan:
    """Checks the strategy and its options."""
    if strategy not in STRATEGIES:
        raise ValueError(
            f"host_map: strategy must be one of {', '.join(STRATEGIES)}, got {strategy!r}."
            f"{did_you_mean(strategy, STRATEGIES)}"
        )
    if workers is not None:
        workers = as_static_int(workers, "host_map", "workers", lowest=1)
    if strategy == "auto":
        is_wide = workers is not None and workers > 1
        strategy = "mesh" if mesh is not None else "threads" if is_wide else "sequential"
    if chunk is not None:
        chunk = as_static_int(chunk, "host_map", "chunk", lowest=1)
        if strategy != "threads":
            raise ValueError(
                f"host_map: chunk must come with the strategy threads, got {strategy}. "
                "Leave chunk out, or pass strategy='threads'."
            )
    if mesh is not None and strategy != "mesh":
        raise ValueError(
            f"host_map: mesh must come with the strategy mesh, got {strategy}. "
            "Leave mesh out, or pass strategy='mesh'."
        )
    if strategy == "mesh":
        return _Plan(_as_mesh(mesh, workers), 1, 1)
    if strategy == "sequential":
        if workers not in (None, 1):
            raise ValueError(
                f"host_map: the strategy sequential has one worker, got workers={workers}. "
                "Leave workers out, or pass strategy='threads'."
            )
        return _Plan(None, 1, 1)
    num_threads = max(1, min(workers or os.cpu_count() or 1, num_items))
    return _Plan(None, num_threads, chunk or max(1, num_items // (4 * num_threads)))


def _as_mesh(mesh: Mesh | None, workers: int | None) -> Mesh:
    """The mesh of the strategy mesh, given or made."""
    if jax.sharding.get_abstract_mesh().manual_axes:
        raise ValueError(
            "host_map: the strategy mesh must be outside shard_map, got a call inside it. There, "
            "each device calls for its own rows: pass strategy='sequential' or 'threads'."
        )
    if mesh is not None:
        if not isinstance(mesh, Mesh):
            raise TypeError(
                f"host_map: mesh must be a jax.sharding.Mesh, got {type_of(mesh)}. "
                "Make one with shardings.make_mesh."
            )
        if workers is not None:
            raise ValueError(
                f"host_map: mesh and workers must not both be given, got workers={workers} and a "
                f"mesh of {mesh.size} devices. Leave workers out."
            )
        return mesh
    num_devices = len(jax.devices()) if workers is None else workers
    try:
        return jax.make_mesh((num_devices,), ("workers",), axis_types=(AxisType.Auto,))
    except ValueError as error:
        raise ValueError(
            f"host_map: workers must be at most the {len(jax.devices())} devices that JAX sees, "
            f"got {num_devices}. On CPU, set jax_num_cpu_devices before the first JAX call to have "
            f"more. JAX says: {error}"
        ) from error


def _as_out_types(out_types: list[Any], out_tree: Any) -> tuple[jax.ShapeDtypeStruct, ...]:
    """Checks the description of a result."""
    types = []
    paths = jax.tree_util.tree_leaves_with_path(out_tree.unflatten(out_types))
    for path, kind in paths:
        place = f"out{jax.tree_util.keystr(path)}"
        if isinstance(kind, type) or not (hasattr(kind, "shape") and hasattr(kind, "dtype")):
            raise TypeError(
                f"host_map: out must consist of jax.ShapeDtypeStruct, got {type_of(kind)} at "
                f"{place}. Pass the shape and dtype of the result of one item."
            )
        dtype = np.dtype(kind.dtype)
        if jax.dtypes.canonicalize_dtype(dtype) != dtype and not is_x64_enabled():
            raise TypeError(
                f"host_map: 64-bit results need JAX's x64 mode, got {dtype} at {place}. "
                'Call jax.config.update("jax_enable_x64", True) first, or return 32 bits.'
            )
        types.append(jax.ShapeDtypeStruct(kind.shape, dtype))
    return tuple(types)


def _call_host(call: HostCall, xs: Any) -> Any:
    """The results of all rows, from one callback."""
    leaves = jax.tree.leaves(xs)
    # Under vmap all arrays get the batch axes, the number in front included.
    results = jax.pure_callback(
        call, _row_types(call, leaves), jnp.int32(0), *leaves, vmap_method="broadcast_all"
    )
    return call.out_tree.unflatten(like_varying(results, leaves))


def _call_host_of_shard(call: HostCall, axes: tuple[str, ...], xs: Any) -> Any:
    """The results of a shard's rows, from a callback of its device; or the error of any shard."""
    leaves = jax.tree.leaves(xs)
    first = jax.lax.axis_index(axes) * leaves[0].shape[0]
    position = jax.ShapeDtypeStruct((), jnp.int32)
    failed, *results = as_varying(
        jax.pure_callback(
            call.deferring,
            (position, *_row_types(call, leaves)),
            first,
            *leaves,
            vmap_method="broadcast_all",
        ),
        axes,
    )
    first_failed = jax.lax.pmin(failed, axes)
    reported = jax.pure_callback(
        call.reporting, position, first_failed, vmap_method="broadcast_all"
    )
    # The choice keeps XLA from dropping the report, or from going on without it.
    is_fine = reported == NO_ERROR
    return call.out_tree.unflatten(
        jnp.where(is_fine, result, jnp.zeros_like(result)) for result in results
    )


def _row_types(call: HostCall, leaves: list[Array]) -> tuple[jax.ShapeDtypeStruct, ...]:
    return tuple(
        jax.ShapeDtypeStruct((leaves[0].shape[0], *kind.shape), kind.dtype)
        for kind in call.out_types
    )


def _placed(xs: Any, mesh: Mesh) -> Any:
    """Concrete arrays on the devices of the mesh; traced ones as they are."""

    def place(leaf: Array) -> Array:
        if isinstance(leaf, Tracer):
            return leaf
        spec = PartitionSpec() if leaf.shape[0] % mesh.size else PartitionSpec(mesh.axis_names)
        return jax.device_put(leaf, NamedSharding(mesh, spec))

    return jax.tree.map(place, xs)


@functools.partial(jax.jit, static_argnums=(0, 1))
def _on_mesh(call: HostCall, mesh: Mesh, xs: Any) -> Any:
    """Spreads the rows over the mesh; each device calls the host for its own."""
    axes, num_shards = mesh.axis_names, mesh.size
    rows_per_shard = -(-call.num_items // num_shards)
    padding = rows_per_shard * num_shards - call.num_items
    is_explicit = has_explicit_axes(mesh)
    by_row, whole = PartitionSpec(axes), PartitionSpec()

    def reshard(leaf: Array, spec: PartitionSpec) -> Array:
        # Under Auto axes shard_map itself decides the sharding of the rows.
        return jax.sharding.reshard(leaf, NamedSharding(mesh, spec)) if is_explicit else leaf

    def pad(leaf: Array) -> Array:
        if padding:
            widths = ((0, padding), *((0, 0),) * (leaf.ndim - 1))
            leaf = jnp.pad(reshard(leaf, whole), widths)
        return reshard(leaf, by_row)

    def trim(leaf: Array) -> Array:
        return reshard(leaf, whole)[: call.num_items] if padding else leaf

    def shard(xs: Any) -> Any:
        return _call_host_of_shard(call, axes, xs)

    results = shard_map(shard, mesh, by_row, by_row)(jax.tree.map(pad, xs))
    return jax.tree.map(trim, results)
