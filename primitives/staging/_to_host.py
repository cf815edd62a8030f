# SPDX-License-Identifier: Apache-2.0
"""Scalars of a program as Python numbers, in one transfer."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from ..contract._arguments import as_array, type_of
from ..contract._typing import Array, PyTree


def to_host(tree: PyTree) -> PyTree:
    """Reads a pytree of scalars, such as the metrics of a step, in one transfer.

    Reading them one by one waits for the device once for each.

    Args:
        tree: any pytree of scalars: JAX's and NumPy's, and Python numbers.

    Returns:
        The same pytree with Python numbers: `bool`, `int`, `float` or `complex`.

    Raises:
        TypeError: a leaf is traced, or not a number.
        ValueError: a leaf is not a scalar; the message gives its path.

    Cost:
        One transfer of the bytes of all scalars, and one small program that packs them, compiled
        once for each combination of dtypes. Arrays that are committed to other devices take a
        transfer of their own. Waits for the device.

    Guarantees:
        Exact: the bits of a scalar are those on the device.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import staging
        >>> staging.to_host({"loss": jnp.float32(0.5), "lr": 0.1, "rows": jnp.int32(8)})
        {'loss': 0.5, 'lr': 0.1, 'rows': 8}
    """
    paths_and_leaves, structure = jax.tree_util.tree_flatten_with_path(tree)
    leaves = [_checked(leaf, path) for path, leaf in paths_and_leaves]
    numbers = list(leaves)
    for positions in _by_devices(leaves):
        scalars = tuple(leaves[position] for position in positions)
        data = jax.device_get(_packed(scalars)).tobytes()
        start = 0
        for position, scalar in zip(positions, scalars, strict=True):
            numbers[position] = np.frombuffer(data, scalar.dtype, 1, start)[0]
            start += scalar.dtype.itemsize
    return structure.unflatten(number.item() for number in numbers)


def _checked(leaf: Any, path: Any) -> Array | np.ndarray:
    place = f"tree{jax.tree_util.keystr(path)}"
    if isinstance(leaf, Tracer):
        raise TypeError(
            f"to_host: leaves must be concrete, got the traced {type_of(leaf)} at {place}. "
            "Call it outside jit, on what the program returns."
        )
    array = as_array(leaf, "to_host", place) if isinstance(leaf, jax.Array) else np.asarray(leaf)
    if array.dtype.kind in "OSUMm":
        raise TypeError(
            f"to_host: leaves must be numbers, got {type_of(leaf)} at {place}. "
            "Keep other metadata apart from the metrics."
        )
    if array.ndim:
        raise ValueError(
            f"to_host: leaves must be scalars, got {type_of(array)} at {place}. "
            "Reduce it first, for example with jnp.mean."
        )
    return array


def _by_devices(leaves: list[Any]) -> list[list[int]]:
    """Positions of the arrays on the device, by the devices that they are committed to."""
    groups: dict[Any, list[int]] = {}
    anywhere = []
    for position, leaf in enumerate(leaves):
        if isinstance(leaf, jax.Array):
            if leaf.committed:
                place = getattr(leaf.sharding, "mesh", leaf.sharding)
                groups.setdefault(place, []).append(position)
            else:
                anywhere.append(position)
    if anywhere:
        first = next(iter(groups), None)
        groups[first] = groups.get(first, []) + anywhere
    return list(groups.values())


@jax.jit
def _packed(scalars: tuple[Array, ...]) -> Array:
    """The bytes of scalars, one after the other."""
    return jnp.concatenate([_bytes_of(scalar) for scalar in scalars])


def _bytes_of(scalar: Array) -> Array:
    if jnp.issubdtype(scalar.dtype, jnp.complexfloating):
        return _bytes_of(jnp.stack([scalar.real, scalar.imag]))
    if scalar.dtype == jnp.bool_:
        scalar = scalar.astype(jnp.uint8)
    return jax.lax.bitcast_convert_type(scalar, jnp.uint8).reshape(-1)
