# SPDX-License-Identifier: Apache-2.0
"""Runs of equal adjacent keys."""

import functools
from typing import NamedTuple

from ..contract._arguments import as_capacity, as_keys, as_num_valid
from ..contract._key_bits import ordered_words
from ..contract._typing import Array, ArrayLike, Int, Integer, Keys, PyTree
from ..tiers._tiered import tiered
from ._runs import runs_of_words


class RunLengths(NamedTuple):
    """The key and the length of each run, and the number of runs."""

    unique_keys: PyTree
    run_lengths: Int[Array, " runs"]
    num_runs: Int[Array, ""]


def run_length_encode(
    keys: Keys,
    *,
    capacity: int | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> RunLengths:
    """Finds the runs of equal adjacent keys.

    Args:
        keys: one array of shape `(rows,)`, or a tuple of them; in any order. Keys are equal as in
            `radix_sort`: -0.0 equals 0.0, and all NaNs are equal.
        capacity: most runs of the result. Static; by default the number of rows.
        num_valid: number of valid rows, at the front; all rows by default.

    Returns:
        `RunLengths(unique_keys, run_lengths, num_runs)`, in the order of the rows, padded with
        zeros. A key has the bits of the first row of its run. `num_runs > capacity` means that
        runs did not fit: the first `capacity` of them are there.

    Raises:
        TypeError: a dtype that is not a key dtype, or `capacity` is traced.
        ValueError: keys that differ in length or are not one-dimensional.

    Cost:
        Work O(rows x key bytes). No communication.

    Guarantees:
        Deterministic; differentiable in float keys.

    References:
        Merrill (2015), "CUB: flexible library of cooperative threadblock primitives and other
        utilities for CUDA kernel programming" (`DeviceRunLengthEncode`).

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> runs = local.run_length_encode(jnp.array([5, 5, 2, 5, 5, 5]), capacity=4)
        >>> runs.unique_keys.tolist(), runs.run_lengths.tolist(), runs.num_runs.tolist()
        ([5, 2, 5, 0], [2, 1, 3, 0], 3)
    """
    caller = "run_length_encode"
    columns, is_tuple = as_keys(keys, caller)
    num_rows = columns[0].shape[0]
    capacity = as_capacity(capacity, num_rows, caller)
    valid = as_num_valid(num_valid, num_rows, caller)
    unique_columns, run_lengths, num_runs = _encode(columns, valid, capacity)
    return RunLengths(unique_columns if is_tuple else unique_columns[0], run_lengths, num_runs)


@functools.partial(tiered, static_argnums=2)
def _encode(
    columns: tuple[Array, ...], num_valid: Array, capacity: int
) -> tuple[tuple[Array, ...], Array, Array]:
    words = ordered_words(columns, (False,) * len(columns))
    return runs_of_words(words, None, num_valid, columns).encoded(capacity)
