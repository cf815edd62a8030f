# SPDX-License-Identifier: Apache-2.0
"""The labels of a frame's columns."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd


class Labels:
    """The labels of columns, an index of pandas that can be hashed: static under `jit`."""

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
        """The labels as pandas has them; of some that were taken, made when first asked for."""
        if self._index is None:
            whole, places = self._taken_from
            index = whole.take(places)
            # Somebody may have set the names of the whole since.
            index.names = self._names
            self._index = index
        return self._index

    @classmethod
    def of(cls, labels: Iterable[Hashable], names: Sequence[Hashable] = (None,)) -> "Labels":
        """Labels of which pandas finds out the dtype; tuples make several levels."""
        every: list[Any] = list(labels)
        if every and all(isinstance(label, tuple) for label in every):
            names = tuple(names) if len(names) == len(every[0]) else (None,) * len(every[0])
            return cls(pd.MultiIndex.from_tuples(every, names=names))
        return cls(pd.Index(every, name=names[0], tupleize_cols=False))

    def __len__(self) -> int:
        return len(self._each)

    def __iter__(self) -> Any:
        return iter(self._each)

    def __getitem__(self, place: int) -> Hashable:
        label = self._each[place]
        # Some labels pandas returns in another type than it iterates over.
        return label if type(label) is str else self.index[place]

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
        # Hashes of strings are another process's own.
        return Labels, (self.index,)

    def __repr__(self) -> str:
        return f"Labels({list(self.index)!r})"

    def places(self, label: Hashable) -> list[int]:
        """Where the columns of a label stand: one, or several where it names more.

        Raises:
            KeyError: there is none.
        """
        try:
            found = self.index.get_loc(label)
        except (KeyError, TypeError, pd.errors.InvalidIndexError):
            raise KeyError(f"no column {label!r}. The columns are {list(self.index)}.") from None
        if isinstance(found, int):
            return [found]
        return np.arange(len(self.index))[found].reshape(-1).tolist()

    def absent(self, labels: Iterable[Hashable], *, may_be_parts: bool = True) -> KeyError | None:
        """The error that names which of some labels no column has; None where all are there.

        Args:
            labels: what is asked for.
            may_be_parts: whether the first level of several stands for all labels that have it.
        """
        every = self if may_be_parts or self.index.nlevels == 1 else set(self.index)
        absent = [label for label in labels if label not in every]
        if not absent:
            return None
        return KeyError(f"no columns {absent}. The columns are {list(self.index)}.")

    def place(self, label: Hashable) -> int:
        """Where the column of a label stands.

        Raises:
            KeyError: there is none.
            ValueError: there are several.
        """
        places = self.places(label)
        if len(places) > 1:
            raise ValueError(
                f"the label {label!r} must name one column, got {len(places)} of that label. "
                "Rename them first."
            )
        return places[0]

    def take(self, places: Sequence[int]) -> "Labels":
        """The labels at some places."""
        taken = Labels.__new__(Labels)
        taken._index, taken._taken_from = None, (self.index, list(places))
        taken._describe(tuple(self._each[place] for place in places), tuple(self.index.names))
        return taken

    def with_label(self, label: Hashable) -> "Labels":
        """One more label behind the others."""
        return Labels(self.index.insert(len(self.index), label))


def check_unambiguous(label: Hashable, labels: Labels, levels: Sequence[Hashable]) -> None:
    """Raises where a label names a column and a level of the index, too."""
    if label is not None and label in levels and label in labels:
        raise ValueError(
            f"{label!r} is both an index level and a column label, which is ambiguous."
        )
