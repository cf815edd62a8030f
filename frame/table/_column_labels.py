# SPDX-License-Identifier: Apache-2.0
"""The labels of a frame's columns."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ._shown_range import as_shown
from ._suggestions import the_columns

# Strings are looked up one by one in so many labels at most.
_FEW = 64
# The dtype that pandas infers from strings.
_STRINGS = pd.Index([""]).dtype


class Labels:
    """Column labels: a hashable pandas index, static under `jit`.

    The index of strings is made on first use: most frames are never asked for it.
    """

    __slots__ = ("_each", "_hash", "_index", "_names", "_taken_from", "is_shown")

    def __init__(self, index: pd.Index):
        self._index: pd.Index | None = index
        each = tuple(index)
        # Where the index is taken from; None if pandas infers it from strings.
        self._taken_from: tuple[pd.Index, list[int]] | None = (
            None if _is_inferred(index, each) else (index, [])
        )
        self._describe(each, tuple(index.names))

    @classmethod
    def _of_strings(cls, each: tuple[Hashable, ...], names: tuple[Hashable, ...]) -> "Labels":
        labels = cls.__new__(cls)
        labels._index = labels._taken_from = None
        labels._describe(each, names)
        return labels

    def _describe(self, each: tuple[Hashable, ...], names: tuple[Hashable, ...]) -> None:
        # Whether a user has the index, and may change its names.
        self.is_shown: bool = False
        self._each, self._names = each, names
        self._hash = hash((each, names))

    @property
    def index(self) -> pd.Index:
        """The labels as a pandas index; a selection is materialized on first use."""
        if self._index is not None:
            return self._index
        if self._taken_from is None:
            index = pd.Index(self._each, name=self._names[0], tupleize_cols=False)
        else:
            source, positions = self._taken_from
            index = source.take(positions)
            # The names of the source may have changed since.
            index.names = self._names
        self._index = index
        return index

    def shown(self) -> "Labels":
        """The same labels with an index of their own, whose names a user may change."""
        labels = self.own()
        labels._index = as_shown(labels.index)
        labels.is_shown = True
        return labels

    def own(self) -> "Labels":
        """The same labels, with an index that no user has."""
        labels = Labels.__new__(Labels)
        labels._index, labels._taken_from = self.index.view(), self._taken_from
        labels._describe(self._each, self._present_names)
        return labels

    @classmethod
    def of(cls, labels: Iterable[Hashable], names: Sequence[Hashable] = (None,)) -> "Labels":
        """Infers the dtype of labels, as pandas does; tuples become several levels."""
        each: list[Any] = list(labels)
        if each and all(isinstance(label, tuple) for label in each):
            names = tuple(names) if len(names) == len(each[0]) else (None,) * len(each[0])
            return cls(pd.MultiIndex.from_tuples(each, names=names))
        if each and all(type(label) is str for label in each):
            return cls._of_strings(tuple(each), (names[0],))
        return cls(pd.Index(each, name=names[0], tupleize_cols=False))

    @classmethod
    def below(
        cls, outer: "Labels", each: Sequence[tuple[Hashable, ...]], names: Sequence[Hashable]
    ) -> "Labels":
        """Labels of further levels below those of `outer`, whose dtypes they keep.

        As in pandas' concat, the labels of a level are in the order of their first columns.
        """
        if not each:
            return cls.of([], names)
        index = outer.index
        dtypes = [index.get_level_values(level).dtype for level in range(index.nlevels)]
        parts = [list(part) for part in zip(*each, strict=True)]
        dtypes += [None] * (len(parts) - len(dtypes))
        labels = [
            pd.Index(part, dtype=dtype, tupleize_cols=False)
            for part, dtype in zip(parts, dtypes, strict=True)
        ]
        levels = [one.unique() for one in labels]
        codes = [level.get_indexer(one) for level, one in zip(levels, labels, strict=True)]
        # Verified, None would become NaN.
        return cls(pd.MultiIndex(levels, codes, names=names, verify_integrity=False))

    @property
    def num_levels(self) -> int:
        """The number of levels of the labels."""
        return len(self._names)

    def __len__(self) -> int:
        return len(self._each)

    def __iter__(self) -> Any:
        return iter(self._each)

    def __getitem__(self, position: int) -> Hashable:
        label = self._each[position]
        # pandas' __getitem__ and iterator return different types for some labels.
        return label if type(label) is str else self.index[position]

    def __contains__(self, label: object) -> bool:
        if self._is_quick(label):
            return label in self._each
        try:
            return label in self.index
        except TypeError:
            return False

    def _is_quick(self, label: object) -> bool:
        """Whether a label is found by comparing strings."""
        return self._taken_from is None and type(label) is str and len(self._each) <= _FEW

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other or not isinstance(other, Labels):
            return self is other
        if self._taken_from is None and other._taken_from is None:
            return self._each == other._each and self._present_names == other._present_names
        return self.index.identical(other.index)

    @property
    def _present_names(self) -> tuple[Hashable, ...]:
        """The names of the levels, which a user may have changed in the index."""
        return self._names if self._index is None else tuple(self._index.names)

    def __reduce__(self) -> Any:
        # String hashes differ between processes.
        return Labels, (self.index,)

    def __repr__(self) -> str:
        return f"Labels({list(self.index)!r})"

    def positions(self, label: Hashable) -> list[int]:
        """Positions of the columns with a label."""
        if self._is_quick(label) and label in self._each:
            return [place for place, one in enumerate(self._each) if one == label]
        try:
            location = self.index.get_loc(label)
        except (KeyError, TypeError, pd.errors.InvalidIndexError):
            raise KeyError(f"no column {label!r}. {the_columns(label, self.index)}") from None
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
        return KeyError(f"no columns {absent}. {the_columns(absent, self.index)}")

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
        if self._taken_from is None and len(positions):
            return self._of_strings(tuple(self._each[p] for p in positions), self._present_names)
        taken = Labels.__new__(Labels)
        taken._index, taken._taken_from = None, (self.index, list(positions))
        taken._describe(tuple(self._each[p] for p in positions), tuple(self.index.names))
        return taken

    def renamed(self, change: Callable[[Any], Hashable]) -> "Labels | None":
        """What a function makes of each label; None unless pandas infers the dtype of all."""
        if self._taken_from is not None:
            return None
        each = tuple([change(label) for label in self._each])
        if all(type(label) is str for label in each):
            return self._of_strings(each, self._present_names)
        return Labels(pd.Index(each, name=self._present_names[0], tupleize_cols=False))

    def without(self, labels: Sequence[object]) -> list[int] | None:
        """Positions of the columns of other labels; None unless pandas need not look for them."""
        if self._taken_from is not None or not all(type(label) is str for label in labels):
            return None
        dropped = set(labels)
        if not dropped.issubset(self._each):
            return None
        return [place for place, label in enumerate(self._each) if label not in dropped]

    def with_label(self, label: Hashable) -> "Labels":
        """Appends a label."""
        return self.with_labels([label], len(self))

    def with_labels(self, labels: Sequence[Hashable], position: int) -> "Labels":
        """Inserts labels one after another, each at `position`; pandas decides the dtype."""
        if self._taken_from is None and all(type(label) is str for label in labels):
            each = (*self._each[:position], *reversed(labels), *self._each[position:])
            return self._of_strings(each, self._present_names)
        index = self.index
        for label in labels:
            index = index.insert(position, label)
        return Labels(index)


def _is_inferred(index: pd.Index, each: Sequence[object]) -> bool:
    """Whether pandas makes the same index of the labels, which are strings."""
    is_plain = type(index) is pd.Index and index.dtype == _STRINGS
    return is_plain and len(each) > 0 and all(type(label) is str for label in each)


def nested(label: Hashable, name: Hashable) -> tuple[Hashable, ...]:
    """The label of one more level below a label."""
    return (*label, name) if isinstance(label, tuple) else (label, name)


def common_name(names: Iterable[Hashable]) -> Hashable:
    """The name that all have, or None."""
    # In a set, because a number of NumPy compares itself with each element of a tuple.
    different = set(names)
    return different.pop() if len(different) == 1 else None


def frame_of_labels(index: pd.Index) -> pd.DataFrame:
    """A frame of pandas without rows, whose methods tell what becomes of column labels."""
    # Of columns alone, pandas would make an array for each.
    return pd.DataFrame(np.empty((0, len(index))), columns=index)


def numbered_columns(index: pd.Index) -> pd.DataFrame:
    """A frame of pandas with column labels, and one row: the positions of the columns."""
    numbered = pd.DataFrame([range(len(index))], dtype=object)
    numbered.columns = index
    return numbered


def check_unambiguous(label: Hashable, labels: Labels, levels: Sequence[Hashable]) -> None:
    """Raises if a label names both a column and an index level."""
    if label is not None and label in levels and label in labels:
        raise ValueError(
            f"{label!r} is both an index level and a column label, which is ambiguous."
        )
