# SPDX-License-Identifier: Apache-2.0
"""Plans a merge: its keys, and the labels of its columns."""

import dataclasses
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
import pandas as pd
from pandas.errors import MergeError

from ..align._align import comparable_pair
from ..align._as_column import as_column
from ..align._common_types import common_pair
from ..table._column import Column
from ..table._column_labels import Labels, check_unambiguous
from ..table._ndframe import FrameBase, SeriesBase
from ..table._table import Count, Table
from ..table._types import LabelOrLabels


class KeyArguments(NamedTuple):
    """The arguments of a merge that name its keys."""

    on: Any = None
    left_on: Any = None
    right_on: Any = None
    left_index: Any = False
    right_index: Any = False

    @property
    def are_labels(self) -> bool:
        """Whether an argument names keys by label or gives them."""
        return any(on is not None for on in (self.on, self.left_on, self.right_on))

    @property
    def are_indexes(self) -> bool:
        """Whether rows are matched by the indexes of both sides."""
        return bool(self.left_index and self.right_index and not self.are_labels)


@dataclasses.dataclass(frozen=True)
class KeySide:
    """One side of a key: a column, an index level, or an array.

    Attributes:
        column: the values.
        label: label of the column or name of the level, if any.
        is_level: whether it is an index level that was selected by name.
        is_array: whether it was passed as an array.
        coerced: the values in the dtype of the result, if this is not that of `column`.
    """

    column: Column
    label: Hashable = None
    is_level: bool = False
    is_array: bool = False
    coerced: Column | None = None

    @property
    def result(self) -> Column:
        """The values in the dtype of the result."""
        return self.column if self.coerced is None else self.coerced


@dataclasses.dataclass(frozen=True)
class Key:
    """A pair of key columns to compare."""

    name: Hashable
    left: KeySide
    right: KeySide

    @property
    def is_filled(self) -> bool:
        """Whether the result has one column for both sides."""
        left, right = self.left.label, self.right.label
        return not (isinstance(left, str) and isinstance(right, str)) or left == right


@dataclasses.dataclass(frozen=True)
class MergePlan:
    """The keys of a merge.

    Attributes:
        keys: the pairs of key columns, or of index levels.
        on_both_indexes: whether rows are matched by the indexes of both sides.
        dropped: positions of right columns that repeat a key of the same label.
        of_several: the side with several levels of labels, if the other one has only one of them.
    """

    keys: tuple[Key, ...]
    on_both_indexes: bool
    dropped: tuple[int, ...]
    of_several: int | None = None

    def kept(self, right: FrameBase) -> list[int]:
        """Positions of the right columns that the result keeps."""
        return [p for p in range(len(right._labels)) if p not in self.dropped]

    def in_one_type(
        self, key: Key, counts: tuple[Count, Count], *, one_is_empty: bool = False
    ) -> tuple[Column, Column]:
        """The columns of a key in a common type, by the rules of labels if both indexes are keys.

        See `common_pair`.
        """
        left, right = key.left.column, key.right.column
        if self.on_both_indexes:
            return comparable_pair(left, right, counts)
        return common_pair(left, right, key.name, counts, one_is_empty=one_is_empty)


def as_operand(value: object) -> FrameBase:
    """Converts an operand to a frame; a named series becomes one column."""
    if isinstance(value, FrameBase):
        return value
    if isinstance(value, SeriesBase):
        if value._name is None:
            raise ValueError("Cannot merge a Series without a name")
        return value._make_frame(value._table.columns, Labels.of([value._name]))
    raise TypeError(
        f"Can only merge Series or DataFrame objects, a {type(value)} was passed. "
        "Convert it to a JaxFrame first."
    )


def plan_merge(left: FrameBase, right: FrameBase, named: KeyArguments) -> MergePlan:
    """Resolves the arguments of a merge to keys.

    Raises:
        KeyError: a column or level does not exist.
        MergeError: the arguments contradict each other or are incomplete.
        ValueError: the sides have different numbers of keys.
    """
    for name in ("left_index", "right_index"):
        flag = getattr(named, name)
        if not isinstance(flag, (bool, np.bool_)):
            raise ValueError(f"{name} parameter must be of type bool, not {type(flag)}")
    levels = left._labels.index.nlevels, right._labels.index.nlevels
    if levels[0] != levels[1]:
        raise MergeError(
            f"Not allowed to merge between different levels. ({levels[0]} levels on the left, "
            f"{levels[1]} on the right)"
        )
    if named.are_indexes:
        sides = [side._table.index.num_levels > 1 for side in (left, right)]
        of_several = sides.index(True) if sides[0] != sides[1] else None
        return MergePlan(_index_keys(left, right), True, (), of_several)
    keys = tuple(_key(left, right, *pair) for pair in _key_pairs(left, right, named))
    dropped = tuple(
        right._labels.position(key.right.label)
        for key in keys
        if not (key.left.is_array or key.right.is_array or key.right.is_level)
        and key.right.label is not None
        and key.left.label == key.right.label
    )
    return MergePlan(keys, False, dropped)


def _index_keys(left: FrameBase, right: FrameBase) -> tuple[Key, ...]:
    a, b = left._table.index, right._table.index
    if a.num_levels != b.num_levels and 1 in (a.num_levels, b.num_levels):
        return (_level_key(left._table, right._table),)
    if a.num_levels != b.num_levels or (a.num_levels > 1 and a.names != b.names):
        raise NotImplementedError(
            "merge: indexes of several levels must have the same levels, got "
            f"{list(a.names)} and {list(b.names)}. Use reset_index() and merge on columns."
        )
    return tuple(
        Key(name, KeySide(x, name, True), KeySide(y, other, True))
        for name, other, x, y in zip(
            a.names, b.names, left._table.index_columns(), right._table.index_columns(), strict=True
        )
    )


def _level_key(left: Table, right: Table) -> Key:
    """The one level of the labels of a table, and that of the other one which has its name."""
    name = (left if left.index.num_levels == 1 else right).index.names[0]
    if name not in left.index.names or name not in right.index.names:
        raise ValueError("cannot join with no overlapping index names")
    sides = (
        KeySide(table.index_columns()[table.index.names.index(name)], name, True)
        for table in (left, right)
    )
    return Key(name, *sides)


def _key_pairs(left: FrameBase, right: FrameBase, named: KeyArguments) -> list[tuple[Any, Any]]:
    """The arguments for each key, as pairs of left and right."""
    left_index, right_index = named.left_index, named.right_index
    given = on_of_sides(named.on, named.left_on, named.right_on)
    left_on, right_on = (_as_list(on, of) for on, of in zip(given, (left, right), strict=True))
    if named.on is not None and (left_index or right_index):
        raise MergeError(
            'Can only pass argument "on" OR "left_index" and "right_index", not a combination of '
            "both."
        )
    if not named.are_labels:
        if left_index:
            raise MergeError("Must pass right_on or right_index=True")
        if right_index:
            raise MergeError("Must pass left_on or left_index=True")
        left_on = right_on = _common_labels(left, right)
    sides = (("left", left_on, left_index), ("right", right_on, right_index))
    for side, on, by_index in sides:
        if on is not None and by_index:
            raise MergeError(f'Can only pass argument "{side}_on" OR "{side}_index" not both.')
    for side, on, by_index in sides:
        if on is None and not by_index:
            raise MergeError(f'Must pass "{side}_on" OR "{side}_index".')
    if right_index:
        right_on = _levels_for(left_on, right, "left_on", "right")
    elif left_index:
        left_on = _levels_for(right_on, left, "right_on", "left")
    if len(left_on) != len(right_on):
        raise ValueError("len(right_on) must equal len(left_on)")
    return list(zip(left_on, right_on, strict=True))


def on_of_sides(
    on: LabelOrLabels, left_on: LabelOrLabels, right_on: LabelOrLabels
) -> tuple[Any, Any]:
    """`left_on` and `right_on`, for which `on` may be given."""
    if on is None:
        return left_on, right_on
    if left_on is not None or right_on is not None:
        raise MergeError(
            'Can only pass argument "on" OR "left_on" and "right_on", not a combination of both.'
        )
    return on, on


def _as_list(value: object, of: FrameBase) -> Any:
    """The keys of one side; an index that does not name columns is one key, as an array is."""
    if value is None or isinstance(value, list):
        return value
    if isinstance(value, pd.Index):
        return list(value) if value.isin(of._labels.index).all() else [value]
    return list(value) if isinstance(value, tuple) else [value]


def _levels_for(other_keys: Any, frame: FrameBase, argument: str, side: str) -> list[KeySide]:
    levels = frame._table.index_columns()
    if len(other_keys) != len(levels):
        raise ValueError(
            f'len({argument}) must equal the number of levels in the index of "{side}"'
        )
    return [KeySide(level) for level in levels]


def _common_labels(left: FrameBase, right: FrameBase) -> list[Hashable]:
    common = left._labels.index.intersection(right._labels.index)
    if not len(common):
        raise MergeError(
            "No common columns to perform merge on. Merge options: left_on=None, right_on=None, "
            "left_index=False, right_index=False"
        )
    for labels in (left._labels.index, right._labels.index):
        if labels[labels.isin(common)].has_duplicates:
            raise MergeError(f"Data columns not unique: {common!r}")
    return list(common)


def _key(left: FrameBase, right: FrameBase, left_key: object, right_key: object) -> Key:
    a, b = _key_side(left, left_key), _key_side(right, right_key)
    # Labels of index levels that left_index selects give no name.
    name = b.label if a.is_array or isinstance(left_key, KeySide) else a.label
    return Key(name, a, b)


def _key_side(frame: FrameBase, key: object) -> KeySide:
    if isinstance(key, KeySide):
        return key
    if isinstance(key, (SeriesBase, np.ndarray, jax.Array, pd.Series, pd.Index)):
        values = key._only if isinstance(key, SeriesBase) else as_column(key, frame._table, "on")
        return KeySide(values, is_array=True)
    names = frame._table.index.names
    check_unambiguous(key, frame._labels, names)
    if key is not None and key in names:
        level = frame._table.index_columns()[names.index(key)]
        return KeySide(level, key, True)
    return KeySide(frame._column(key), key)


def suffixed_labels(
    plan: MergePlan, left: FrameBase, right: FrameBase, suffixes: object
) -> tuple[pd.Index, pd.Index]:
    """The column labels of both sides, with suffixes for overlapping ones."""
    if isinstance(suffixes, (str, set, dict)) or not isinstance(suffixes, Sequence):
        raise TypeError(
            f"Passing 'suffixes' as a {type(suffixes)}, is not supported. "
            "Provide 'suffixes' as a tuple instead."
        )
    both = left._labels, right._labels.take(plan.kept(right))
    sides = both[0].index, both[1].index
    are_strings = all(type(label) is str for labels in both for label in labels)
    if are_strings and set(both[0]).isdisjoint(both[1]):
        # pandas' intersection takes a fifth of a merge of few rows.
        return sides
    overlap = sides[0].intersection(sides[1])
    if not len(overlap):
        return sides
    left_suffix, right_suffix = suffixes
    if not left_suffix and not right_suffix:
        raise ValueError(f"columns overlap but no suffix specified: {overlap}")
    renamed = [
        _suffixed(labels, suffix, overlap) for labels, suffix in zip(sides, suffixes, strict=True)
    ]
    duplicates: set[Hashable] = set()
    for own, new, other in zip(sides, renamed, sides[::-1], strict=True):
        duplicates.update(new[new.duplicated() & ~own.duplicated()])
        duplicates.update(new.intersection(other.difference(overlap)))
    if duplicates:
        raise MergeError(
            f"Passing 'suffixes' which cause duplicate columns {duplicates} is not allowed."
        )
    return renamed[0], renamed[1]


def _suffixed(labels: pd.Index, suffix: str | None, overlap: pd.Index) -> pd.Index:
    def rename(label: Hashable) -> Any:
        return f"{label}{suffix}" if label in overlap and suffix is not None else label

    if labels.nlevels > 1:
        renamed = [tuple(map(rename, label)) for label in labels]
        return pd.MultiIndex.from_tuples(renamed, names=labels.names)
    return pd.Index([rename(label) for label in labels], name=labels.name, tupleize_cols=False)
