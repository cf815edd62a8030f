# SPDX-License-Identifier: Apache-2.0
"""The host's side of `host_map`: runs a Python function on each row of NumPy arrays."""

import dataclasses
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import numpy as np

from ..contract._arguments import fits, type_of
from ._result_cache import ResultCache, identity_of

_Index = tuple[int, ...]
_NUMBERS = (bool, int, float, complex)
# In place of the position of an item that failed.
NO_ERROR = np.iinfo(np.int32).max


class ItemError(RuntimeError):
    """A call for one item failed, or gave another type than promised."""

    def __init__(self, place: _Index, message: str):
        super().__init__(message)
        self.place = place


@dataclasses.dataclass(frozen=True, eq=False)
class HostCall:
    """A callback that maps a host function over rows.

    Calls of equal content are equal, so that eager calls share compiled programs.

    Attributes:
        fn: the function of one item.
        item_tree: the structure of an item.
        out_types: type of each array of a result.
        out_tree: the structure of a result.
        num_items: rows of the whole input; those from there on are padding.
        num_workers: threads that call `fn`.
        chunk: rows that a thread takes at a time.
        cache: results that need no call, or None.
        messages: errors by the position of their item, on their way from one device to all.
    """

    fn: Callable[[Any], Any]
    item_tree: Any
    out_types: tuple[jax.ShapeDtypeStruct, ...]
    out_tree: Any
    num_items: int
    num_workers: int
    chunk: int
    cache: ResultCache | None
    messages: dict[int, str] = dataclasses.field(default_factory=dict)

    def _identity(self) -> tuple[Any, ...]:
        others = self.item_tree, self.out_types, self.out_tree
        numbers = self.num_items, self.num_workers, self.chunk
        cache = None if self.cache is None else self.cache.identity
        return identity_of(self.fn), cache, *others, *numbers

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HostCall) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __call__(self, first: Any, *leaves: Any) -> tuple[np.ndarray, ...]:
        """Calls `fn` for the valid rows; padding rows of the results are zero.

        Args:
            first: position of the first row in the whole input. Under `vmap` it has the batch axes,
                which all arrays have in front.
            leaves: the arrays of the items, with an axis of rows after the batch axes.
        """
        first, *arrays = (np.asarray(array) for array in (first, *leaves))
        batch = first.shape
        num_rows = arrays[0].shape[len(batch)]
        results = self._zeros(batch, num_rows)
        # Under vmap all shards start at the same row; a batch of no elements has none.
        start = int(first.flat[0]) if first.size else 0
        num_valid = max(0, min(num_rows, self.num_items - start))
        items = [(*place, row) for place in np.ndindex(batch) for row in range(num_valid)]

        def run(indices: Sequence[_Index]) -> None:
            for index in indices:
                place = (*index[:-1], start + index[-1])
                item = self.item_tree.unflatten([array[index] for array in arrays])
                values = self._checked(self._called(item, place), place)
                for result, value in zip(results, values, strict=True):
                    result[index] = value

        if self.num_workers == 1:
            run(items)
            return results
        chunks = [items[i : i + self.chunk] for i in range(0, len(items), self.chunk)]
        with ThreadPoolExecutor(self.num_workers, thread_name_prefix="host_map") as pool:
            # The first error in the order of rows ends the others that have not begun.
            for _ in pool.map(run, chunks):
                pass
        return results

    def deferring(self, first: Any, *leaves: Any) -> tuple[np.ndarray, ...]:
        """Like a call, with the position of the item that failed in front, or `NO_ERROR`.

        A device that raised alone would leave the others waiting in their next collective, and XLA
        would end the process. So all raise together, in `reporting`.
        """
        batch = np.shape(first)
        try:
            return np.full(batch, NO_ERROR, np.int32), *self(first, *leaves)
        except ItemError as error:
            position = int(np.ravel_multi_index(error.place, (*batch, self.num_items)))
            origin = "".join(traceback.format_exception(error))
            self.messages[position] = f"{error}\n\n{origin}"
            num_rows = np.shape(leaves[0])[len(batch)]
            return np.full(batch, position, np.int32), *self._zeros(batch, num_rows)

    def reporting(self, position: Any) -> np.ndarray:
        """Raises the error of the first item that failed on any device."""
        positions = np.asarray(position)
        first = int(positions.min(initial=NO_ERROR))
        if first != NO_ERROR:
            elsewhere = f"host_map: fn failed on item {first}, in another process."
            raise RuntimeError(self.messages.get(first, elsewhere))
        return positions

    def _zeros(self, batch: _Index, num_rows: int) -> tuple[np.ndarray, ...]:
        return tuple(
            np.zeros((*batch, num_rows, *kind.shape), kind.dtype) for kind in self.out_types
        )

    def _called(self, item: Any, place: _Index) -> Any:
        try:
            return self.fn(item) if self.cache is None else self.cache.result_of(self.fn, item)
        except Exception as error:
            called = "fn" if self.cache is None else "fn or key"
            raise ItemError(
                place,
                f"host_map: {called} raised {type(error).__name__} on item {_spelled(place)}: "
                f"{error}",
            ) from error

    def _checked(self, value: Any, place: _Index) -> list[Any]:
        """The arrays of a result, which must have the types that `out` promises."""
        try:
            leaves, tree = jax.tree.flatten(value)
            leaves = [leaf if type(leaf) in _NUMBERS else np.asarray(leaf) for leaf in leaves]
        except Exception as error:
            raise ItemError(
                place,
                f"host_map: fn must return arrays and numbers, got {type_of(value)} on item "
                f"{_spelled(place)}, which raised {type(error).__name__}: {error}. Convert what fn "
                "returns.",
            ) from error
        if tree != self.out_tree:
            raise ItemError(
                place,
                f"host_map: fn must return the structure of out, {self.out_tree}, got {tree} on "
                f"item {_spelled(place)}. Correct out, or what fn returns.",
            )
        return [self._checked_leaf(position, leaf, place) for position, leaf in enumerate(leaves)]

    def _checked_leaf(self, position: int, leaf: Any, place: _Index) -> Any:
        kind = self.out_types[position]
        if type(leaf) in _NUMBERS:
            if not kind.shape and fits(leaf, kind.dtype):
                return leaf
        elif leaf.shape == kind.shape and leaf.dtype == kind.dtype:
            return leaf
        paths = [
            path
            for path, _ in jax.tree_util.tree_leaves_with_path(
                self.out_tree.unflatten(self.out_types)
            )
        ]
        wanted = f"{kind.dtype}[{','.join(map(str, kind.shape))}]"
        raise ItemError(
            place,
            f"host_map: fn must return {wanted} at result{jax.tree_util.keystr(paths[position])}, "
            f"got {type_of(leaf)} on item {_spelled(place)}. Correct out, or convert what fn "
            "returns.",
        )


def _spelled(place: _Index) -> str:
    """The position of an item; under `vmap`, its positions on the batch axes too."""
    return str(place[0]) if len(place) == 1 else str(place)
