# SPDX-License-Identifier: Apache-2.0
"""Runs collectives on host rows `[shards, rows, ...]`, and gives the expected results.

Oracles are for one sequence; here it is cut over shards and put together again.
"""

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import oracles
from covering import RUNS_ALL
from jax.sharding import PartitionSpec
from jaxframes import shardings
from quick_compilation import NEWER_GENERATOR, QUICK

# One shard, a number that divides few lengths, and all devices.
SHARD_COUNTS = (1, 2, 3, 5, 8) if RUNS_ALL else (1, 3, 8)

mesh_of = functools.cache(shardings.make_mesh)


def on_shards(
    function: Callable[..., Any],
    num_shards: int,
    compiler_options: dict[str, Any] | None = QUICK,
    **options: Any,
) -> Callable[..., Any]:
    """Compiles a function of one shard to a function of all, on arrays with an axis of shards.

    The program runs a few times on a few rows: LLVM's optimiser would cost more than it saves. What
    is part of another program, or is differentiated, can have no compiler options.
    """

    def run(*arguments: Any) -> Any:
        result = function(*jax.tree.map(lambda leaf: leaf[0], arguments))
        return jax.tree.map(lambda leaf: leaf[None], result)

    by_shard = PartitionSpec("rows")
    mapped = jax.shard_map(run, mesh=mesh_of(num_shards), in_specs=by_shard, out_specs=by_shard)
    return compiled(mapped, compiler_options, **options)


def compiled(
    function: Callable[..., Any], compiler_options: dict[str, Any] | None = None, **options: Any
) -> Callable[..., Any]:
    """`jax.jit` that keeps NaNs of bfloat16, whichever code generator XLA_FLAGS asks for.

    A program of arguments in bfloat16 is compiled with options of its own, so it cannot be part of
    another one.
    """
    program = jax.jit(function, compiler_options=compiler_options, **options)
    settings = {**(compiler_options or {}), **NEWER_GENERATOR}
    program_of_bfloat16 = jax.jit(function, compiler_options=settings, **options)

    def call(*arguments: Any, **keywords: Any) -> Any:
        leaves = jax.tree.leaves((arguments, keywords))
        has_bfloat16 = jnp.bfloat16 in [getattr(leaf, "dtype", None) for leaf in leaves]
        return (program_of_bfloat16 if has_bfloat16 else program)(*arguments, **keywords)

    return call


def into_shards(rows: Any, num_shards: int) -> Any:
    """Cuts rows of a length that the shards divide."""
    return jax.tree.map(lambda leaf: leaf.reshape(num_shards, -1, *leaf.shape[1:]), rows)


def row_ids(num_shards: int, num_rows: int) -> np.ndarray:
    """The global id of each row: a value that shows where a row came from."""
    return np.arange(num_shards * num_rows, dtype=np.int32).reshape(num_shards, num_rows)


def valid_rows(rows: Any, counts: np.ndarray) -> Any:
    """The valid rows, as one sequence in the order of the shards."""
    return jax.tree.map(
        lambda leaf: np.concatenate(
            [shard[:count] for shard, count in zip(leaf, counts, strict=True)]
        ),
        rows,
    )


def even_shares(total: int, num_shards: int) -> list[int]:
    """What each shard gets of `total` rows where all get the same, give or take one."""
    return [total // num_shards + (shard < total % num_shards) for shard in range(num_shards)]


def dealt_out(rows: Any, shares: list[int], capacity: int) -> Any:
    """Cuts a sequence into shares, with zeros behind each."""
    starts = np.cumsum([0, *shares])

    def deal(leaf: np.ndarray) -> np.ndarray:
        shards = np.zeros((len(shares), capacity, *leaf.shape[1:]), leaf.dtype)
        for shard, start, share in zip(shards, starts, shares, strict=False):
            shard[:share] = leaf[start : start + share]
        return shards

    return jax.tree.map(deal, rows)


def sorted_on_shards(keys: Any, counts: np.ndarray, values: Any = None, **settings: Any) -> Any:
    """What `collective.radix_sort` must give."""
    columns = oracles.columns_of(keys)
    num_shards, capacity = columns[0].shape[:2]
    sequence = oracles.sort(
        valid_rows(keys, counts),
        values=None if values is None else valid_rows(values, counts),
        **settings,
    )
    return dealt_out(sequence, even_shares(int(sum(counts)), num_shards), capacity)


def row_counts(num_shards: int, num_rows: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Numbers of valid rows on each shard, by name: the ones that go wrong first."""
    rng = np.random.default_rng(seed)
    p = num_shards
    totals = {0, 1, p - 1, p, p + 1, p * p - 1, p * p, p * p + 1, 31, 32, 33}
    counts = {
        "all": np.full(p, num_rows),
        "all on the first shard": np.eye(p, dtype=int)[0] * num_rows,
        "all on the last shard": np.eye(p, dtype=int)[-1] * num_rows,
        "every second shard empty": np.arange(p) % 2 * num_rows,
        "growing": np.arange(p) * num_rows // p,
    }
    for total in totals:
        if 0 <= total <= p * num_rows:
            room = rng.permutation(np.repeat(np.arange(p), num_rows))[:total]
            counts[f"{total} in all"] = np.bincount(room, minlength=p)
    return {name: per_shard.astype(np.int32) for name, per_shard in counts.items()}


@contextlib.contextmanager
def noting(case: Any) -> Iterator[None]:
    """Adds to an error which of the cases in a loop it is about."""
    try:
        yield
    except Exception as error:
        error.add_note(f"Case: {case}")
        raise
