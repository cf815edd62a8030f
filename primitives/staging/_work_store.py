# SPDX-License-Identifier: Apache-2.0
"""Python objects that a host function looks up by index."""

import operator
from collections.abc import Iterable
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

import numpy as np

from ..contract._arguments import type_of

Item = TypeVar("Item")


class WorkStore(Generic[Item]):
    """Objects that are no arrays, for `host_map` inside a block.

    A function that closes over objects keeps them alive in JAX's caches. A store forgets them when
    its block ends.

    Args:
        objects: any Python objects.

    Attributes:
        indices: `int32` array `[0, 1, ..., len(store) - 1]`, to map over.

    Raises:
        TypeError: `objects` is not iterable, or an index is not an integer.
        IndexError: an index is out of range.
        RuntimeError: an object is asked for after the block.

    Cost:
        One list lookup for each object.

    Guarantees:
        Stores are independent, so blocks nest and threads have their own. After the block a store
        holds no object.

    Example:
        >>> import jax
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import staging
        >>> out = jax.ShapeDtypeStruct((), jnp.int32)
        >>> with staging.WorkStore(["a", "bcd"]) as store:
        ...     lengths = staging.host_map(lambda i: len(store[i]), store.indices, out)
        ...     print(lengths)
        [1 3]
    """

    def __init__(self, objects: Iterable[Item]):
        if not isinstance(objects, Iterable):
            raise TypeError(
                f"WorkStore: objects must be iterable, got {type_of(objects)}. "
                "Put a single object into a list."
            )
        self._objects: list[Item] | None = list(objects)
        self.indices: np.ndarray = np.arange(len(self._objects), dtype=np.int32)

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, index: Any) -> Item:
        objects = self._objects
        if objects is None:
            raise RuntimeError(
                "WorkStore: the objects of a store are gone after its block, got a late call. "
                "Wait for the results inside the block, with jax.block_until_ready."
            )
        try:
            position = operator.index(index)
        except TypeError:
            raise TypeError(
                f"WorkStore: an index must be an integer, got {type_of(index)}. "
                "Map over store.indices."
            ) from None
        if not 0 <= position < len(objects):
            raise IndexError(
                f"WorkStore: an index must lie in [0, {len(objects)}), got {position}. "
                "Map over store.indices."
            )
        return objects[position]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._objects = None
