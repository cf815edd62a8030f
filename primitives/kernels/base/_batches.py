# SPDX-License-Identifier: Apache-2.0
"""Calls of kernels whose batches stay sharded.

XLA does not know what a kernel does with its rows, and would give every device all of them. The
axes that `vmap` adds are independent, so a batch that is sharded over devices stays divided: each
device calls the kernel with its part. Kernels need all rows of each call.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.custom_batching import custom_vmap
from jax.experimental.custom_partitioning import custom_partitioning
from jax.sharding import NamedSharding, PartitionSpec

from ....shardings._compat import explicit_sharding, varying_axes
from ...contract._typing import Array

Call = Callable[..., tuple[Array, ...]]
# The batches that are the leading axes of each array, by their number.
Batches = tuple[tuple[int, ...], ...]


def over_batches(function: Call, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Calls a kernel; under `vmap`, batches that are sharded over devices stay sharded.

    Args:
        function: calls the kernel with all arrays. Captures no arrays.
        arrays: the arguments.

    Returns:
        The results of the function.
    """
    if jax.device_count() == 1:
        return function(*arrays)
    return _batched(function, ((),) * len(arrays), 0)(*arrays)


def _batched(function: Call, batches: Batches, num_batches: int) -> Call:
    """A call that divides its batches, and gains one under `vmap`.

    Args:
        function: takes arrays whose leading axes are batches; all results have all batches, the
            last one in front.
        batches: the batches of each array.
        num_batches: the number of batches.
    """

    @custom_vmap
    def call(*arrays: Array) -> tuple[Array, ...]:
        return _divided(function, batches, num_batches, arrays)

    @call.def_vmap
    def of_batch(
        axis_size: int, in_batched: Sequence[bool], *arrays: Array
    ) -> tuple[tuple[Array, ...], tuple[bool, ...]]:
        del axis_size
        in_axes = tuple(0 if is_batched else None for is_batched in in_batched)
        deeper = tuple(
            (num_batches, *batch) if is_batched else batch
            for batch, is_batched in zip(batches, in_batched, strict=True)
        )
        results = _batched(jax.vmap(function, in_axes), deeper, num_batches + 1)(*arrays)
        return results, (True,) * len(results)

    return call


def _divided(
    function: Call, batches: Batches, num_batches: int, arrays: tuple[Array, ...]
) -> tuple[Array, ...]:
    # Inside `shard_map` the arrays are parts already.
    if num_batches == 0 or varying_axes(*arrays):
        return function(*arrays)
    every = tuple(reversed(range(num_batches)))
    axes_of: dict[int, Any] = {}
    mesh: Any = None
    for array, batch in zip(arrays, batches, strict=True):
        sharding = explicit_sharding(array)
        if sharding is not None:
            mesh = sharding.mesh
            axes = zip(batch, sharding.spec, strict=False)
            axes_of |= {number: names for number, names in axes if names is not None}
    if axes_of:
        # Explicit axes are part of the types, and known here.
        specs = [_spec_of(batch, axes_of) for batch in (*batches, every)]
        parts = [
            jax.reshard(array, NamedSharding(mesh, spec))
            for array, spec in zip(arrays, specs[:-1], strict=True)
        ]
        of_part = jax.shard_map(
            function, mesh=mesh, in_specs=tuple(specs[:-1]), out_specs=specs[-1], check_vma=False
        )
        return of_part(*parts)
    shapes = jax.eval_shape(function, *arrays)
    divided = custom_partitioning(function)
    rule, whole = _sharding_rule(
        [*zip([a.ndim for a in arrays], batches, strict=True)], [(s.ndim, every) for s in shapes]
    )
    divided.def_partition(
        functools.partial(_partition, function, batches, every),
        sharding_rule=rule,
        need_replication_factors=whole,
    )
    return divided(*arrays)


def _spec_of(batch: Sequence[int], axes_of: dict[int, Any]) -> PartitionSpec:
    return PartitionSpec(*(axes_of.get(number) for number in batch))


def _partition(
    function: Call, batches: Batches, every: Sequence[int], mesh: Any, arguments: Any, results: Any
) -> Any:
    """What `custom_partitioning` asks for: the call of a part, and the shardings around it."""
    if not isinstance(results[0].sharding, NamedSharding):
        # The arrays have no mesh; their shardings follow the rule.
        of_results = tuple(result.sharding for result in results)
        return mesh, function, of_results, tuple(argument.sharding for argument in arguments)
    axes_of = dict(zip(every, results[0].sharding.spec, strict=False))
    *of_arguments, of_result = (
        NamedSharding(mesh, _spec_of(batch, axes_of)) for batch in (*batches, every)
    )
    return mesh, function, (of_result,) * len(results), tuple(of_arguments)


def _sharding_rule(
    arguments: Sequence[tuple[int, Sequence[int]]], results: Sequence[tuple[int, Sequence[int]]]
) -> tuple[str, tuple[str, ...]]:
    """A rule of Shardy, and its factors that must not be sharded.

    Args:
        arguments: rank and batches of each argument.
        results: the same of each result.
    """
    whole: list[str] = []

    def of_value(rank: int, batch: Sequence[int]) -> str:
        rest = [f"whole{len(whole) + axis}" for axis in range(rank - len(batch))]
        whole.extend(rest)
        return " ".join([*(f"batch{number}" for number in batch), *rest])

    sides = [", ".join(of_value(*value) for value in side) for side in (arguments, results)]
    return " -> ".join(sides), tuple(whole)
