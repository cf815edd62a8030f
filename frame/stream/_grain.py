# SPDX-License-Identifier: Apache-2.0
"""Datasets of the library grain over plans. `to_grain` imports it: grain is an extra."""

import operator
from collections.abc import Sequence
from typing import Any

import grain

from ..plan._node import Node
from ..table._ndframe import FrameBase
from ..table._types import Options
from ._random_access import RowsByPosition
from ._training import Batches, Recipe


def arrays_of(frame: FrameBase) -> dict[Any, Any]:
    """The columns of a batch as NumPy arrays by label."""
    return {label: frame[label].to_numpy() for label in frame._labels}


class PlanMapDataset(grain.MapDataset):
    """Batches of a plan by number. Element `i` has the rows from `i * size` on."""

    def __init__(self, plan: Node, size: int, drop_remainder: bool):
        super().__init__()
        self._arguments = plan, size, drop_remainder
        self._size = size
        self._rows = RowsByPosition(plan, size)
        self._length = len(self._rows) // size
        if not drop_remainder and len(self._rows) % size:
            self._length += 1

    def __reduce__(self) -> Any:
        return type(self), self._arguments

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self.slice(index)
        if not self._length:
            raise IndexError("to_grain: the dataset has no batches.")
        # Numbers count on from epoch to epoch, as in every dataset of grain.
        first = operator.index(index) % self._length * self._size
        return arrays_of(self._rows.read(first, min(first + self._size, len(self._rows))))

    def _getitems(self, indices: Sequence[int]) -> Sequence[Any]:
        # In the order of the file, so that each row group is decoded once.
        found = {index: self[index] for index in sorted(set(indices), key=self._position)}
        return [found[index] for index in indices]

    def _position(self, index: int) -> int:
        return index % max(self._length, 1)

    def __str__(self) -> str:
        return f"PlanMapDataset(size={self._size}, length={self._length})"


class PlanIterDataset(grain.IterDataset):
    """The batches of `LazyFrame.batches` as a stream."""

    def __init__(self, recipe: Recipe):
        super().__init__()
        self._recipe = recipe

    def __iter__(self) -> "PlanIterator":
        return PlanIterator(self._recipe)

    def __str__(self) -> str:
        return f"PlanIterDataset(size={self._recipe.size})"


class PlanIterator(grain.DatasetIterator):
    """An iterator with the state of `Batches`, which JSON holds."""

    def __init__(self, recipe: Recipe):
        super().__init__()
        self._recipe = recipe
        self._batches = Batches(recipe)

    def __next__(self) -> Any:
        self._assert_not_closed()
        return arrays_of(next(self._batches))

    def get_state(self) -> dict[str, Any]:
        """The position behind the last batch."""
        return self._batches.state()

    def set_state(self, state: Options) -> None:
        """Goes on from a position."""
        resumed = Batches(self._recipe, state)
        self._batches.close()
        self._batches = resumed

    def close(self) -> None:
        """Ends the thread that reads ahead."""
        batches = getattr(self, "_batches", None)
        if batches is not None:
            batches.close()
        super().close()

    def __str__(self) -> str:
        return f"PlanIterator(size={self._recipe.size})"
