# SPDX-License-Identifier: Apache-2.0
"""The labels of a frame's columns."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd


class Labels:
    """Column labels: a hashable pandas index, static under `jit`."""

    __slots__ = ("_each", "_hash", "_index", "_names", "_taken_from")

    def __init__(self, index: pd.Index):
        self._index: pd.Index | None = index
        self._taken_from: tuple[pd.Index, list[int]] = index, []
        self._describe(tuple(index), tuple(index.names))

    def _describe(self, each: tuple[Hashable, ...], names: tuple[Hashable, ...]) -> None:
        self._each, self._names = each, names
        self._hash = hash((each, names))

    @property
    def index(self) -> pd.Index:
        """The labels as a pandas index; a selection is materialized on first use."""
        if self._index is None:
            source, positions = self._taken_from
            index = source.take(positions)
            # The names of the source may have changed since.
            index.names = self._names
            self._index = index
        return self._index

    @classmethod
    def of(cls, labels: Iterable[Hashable], names: Sequence[Hashable] = (None,)) -> "Labels":
        """Infers the dtype of labels, as pandas does; tuples become several levels."""
        each: list[Any] = list(labels)
        if each and all(isinstance(label, tuple) for label in each):
            names = tuple(names) if len(names) == len(each[0]) else (None,) * len(each[0])
            return cls(pd.MultiIndex.from_tuples(each, names=names))
        return cls(pd.Index(each, name=names[0], tupleize_cols=False))

    def __len__(self) -> int:
        return len(self._each)

    def __iter__(self) -> Any:
        return iter(self._each)

    def __getitem__(self, position: int) -> Hashable:
        label = self._each[position]
        # pandas' __getitem__ and iterator return different types for some labels.
        return label if type(label) is str else self.index[position]

    def __contains__(self, label: object) -> bool:
        try:
            return label in self.index
        except TypeError:
            return False

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Labels) and self.index.identical(other.index)

    def __reduce__(self) -> Any:
        # String hashes differ between processes.
        return Labels, (self.index,)

    def __repr__(self) -> str:
        return f"Labels({list(self.index)!r})"

    def positions(self, label: Hashable) -> list[int]:
        """Positions of the columns with a label."""
        try:
            location = self.index.get_loc(label)
        except (KeyError, TypeError, pd.errors.InvalidIndexError):
            raise KeyError(f"no column {label!r}. The columns are {list(self.index)}.") from None
        if isinstance(location, int):
            return [location]
        return np.arange(len(self.index))[location].reshape(-1).tolist()

    def absent(self, labels: Iterable[Hashable], *, may_be_parts: bool = True) -> KeyError | None:
        """Returns a KeyError that lists the absent labels, or None if all are present.

        With `may_be_parts` a label of the first level selects all columns below it.
        """
        present = self if may_be_parts or self.index.nlevels == 1 else set(self.index)
        absent = [label for label in labels if label not in present]
        if not absent:
            return None
        return KeyError(f"no columns {absent}. The columns are {list(self.index)}.")

    def position(self, label: Hashable) -> int:
        """Position of the column with a label."""
        positions = self.positions(label)
        if len(positions) > 1:
            raise ValueError(
                f"the label {label!r} must name one column, got {len(positions)} of that label. "
                "Rename them first."
            )
        return positions[0]

    def take(self, positions: Sequence[int]) -> "Labels":
        """The labels at `positions`."""
        taken = Labels.__new__(Labels)
        taken._index, taken._taken_from = None, (self.index, list(positions))
        taken._describe(tuple(self._each[p] for p in positions), tuple(self.index.names))
        return taken

    def with_label(self, label: Hashable) -> "Labels":
        """Appends a label."""
        return Labels(self.index.insert(len(self.index), label))


def check_unambiguous(label: Hashable, labels: Labels, levels: Sequence[Hashable]) -> None:
    """Raises if a label names both a column and an index level."""
    if label is not None and label in levels and label in labels:
        raise ValueError(
            f"{label!r} is both an index level and a column label, which is ambiguous."
        )
