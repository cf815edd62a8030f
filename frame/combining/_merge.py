# SPDX-License-Identifier: Apache-2.0
"""merge and join."""

import dataclasses
import functools
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from pandas.errors import MergeError

from ..align._coerced_keys import coerced, compared_keys
from ..align._common_types import codes_to_match, join_keys, keys_of_two_units
from ..align._join_types import JOIN_TYPES, JoinType, join_by_level
from ..align._number_keys import number_keys
from ..table._column import Array
from ..table._layout import ONE_DEVICE
from ..table._lazy_base import LazyBase
from ..table._ndframe import FrameBase, SeriesBase
from ..table._objects import check_order, hashed
from ..table._sort_keys import group_keys
from ..table._table import Table, check_same_layout
from ..table._take import resized, reversed_rows
from ..table._tracing import at_once, is_in_jit, is_traced
from ..table._types import LabelOrLabels
from ._concat import concat
from ._merge_plan import (
    Key,
    KeyArguments,
    MergePlan,
    as_operand,
    plan_merge,
    suffixed_labels,
)
from ._merge_result import merged_frame
from ._row_pairs import Keys, RowPairs, are_distinct, pair_rows

HOWS = (*JOIN_TYPES, "asof")
VALIDATIONS = {
    "one_to_one": "1:1",
    "one_to_many": "1:m",
    "many_to_one": "m:1",
    "many_to_many": "m:m",
}


def merge(
    left: object,
    right: object,
    how: str = "inner",
    on: LabelOrLabels = None,
    left_on: LabelOrLabels = None,
    right_on: LabelOrLabels = None,
    left_index: bool = False,
    right_index: bool = False,
    sort: bool = False,
    suffixes: Sequence[str | None] = ("_x", "_y"),
    copy: object = None,
    indicator: bool | str = False,
    validate: str | None = None,
    *,
    capacity: int | None = None,
) -> Any:
    """Joins rows of two frames with equal keys, as a database does.

    Inside `jit`, `capacity` is the maximum number of result rows. It is optional for `how="cross"`,
    `"left_anti"` and `"right_anti"`, and for frames with concrete values. If rows do not fit,
    reading the result on the host raises a `CapacityError` that names a sufficient capacity.

    Differences from pandas:
        `capacity` is new. Inside `jit` keys of two dtypes get their common dtype if rows of the
        right side may be unmatched, and numbers cannot become objects.

    Example:
        >>> from jaxframes.frame import JaxFrame
        >>> left = JaxFrame({"k": [1, 2, 2], "x": [0.5, 1.5, 2.5]})
        >>> right = JaxFrame({"k": [2, 3], "y": [10, 20]})
        >>> left.merge(right, on="k").to_pandas().to_numpy().tolist()
        [[2.0, 1.5, 10.0], [2.0, 2.5, 10.0]]
    """
    del copy
    plan = next((side for side in (left, right) if isinstance(side, LazyBase)), None)
    if plan is not None:
        options = {
            "how": how, "on": on, "left_on": left_on, "right_on": right_on,
            "left_index": left_index, "right_index": right_index, "sort": sort,
            "suffixes": tuple(suffixes), "indicator": indicator, "validate": validate,
        }  # fmt: skip
        return plan._merge_plans(left, right, **options)
    keys = KeyArguments(on, left_on, right_on, left_index, right_index)
    arguments = left, right, how, keys, sort, suffixes, indicator, validate, capacity
    # Concrete frames are merged eagerly even inside jit, so that the result needs no capacity.
    if capacity is None:
        return at_once(merge_frames, *arguments)
    return merge_frames(*arguments)


class FrameMerge(FrameBase):
    """Merges of frames."""

    merge = merge

    def join(
        self,
        other: object,
        on: LabelOrLabels = None,
        how: str = "left",
        lsuffix: str | None = None,
        rsuffix: str | None = None,
        sort: bool = False,
        validate: str | None = None,
        *,
        suffixes: Sequence[str | None] | None = None,
        capacity: int | None = None,
    ) -> Any:
        """Joins rows by label, or columns `on` with the labels of another frame.

        Labels of one level are compared with the level of their name if the other frame has
        several. As in pandas, the result then has the rows of the latter in their order.

        Differences from pandas:
            `capacity` is new, see `merge`. Plans join one frame or series.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> left = JaxFrame({"x": [1, 2]}, index=["a", "b"])
            >>> right = JaxFrame({"y": [3.0]}, index=["b"])
            >>> left.join(right, how="inner").to_pandas().to_numpy().tolist()
            [[2.0, 3.0]]
        """
        return join(
            self, other, on, how, lsuffix, rsuffix, sort, validate,
            suffixes=suffixes, capacity=capacity,
        )  # fmt: skip


def join(
    left: object,
    other: object,
    on: LabelOrLabels = None,
    how: str = "left",
    lsuffix: str | None = None,
    rsuffix: str | None = None,
    sort: bool = False,
    validate: str | None = None,
    *,
    suffixes: Sequence[str | None] | None = None,
    capacity: int | None = None,
) -> Any:
    """`JaxFrame.join` as a merge of frames or of plans."""
    if lsuffix is not None or rsuffix is not None:
        if suffixes is not None:
            raise ValueError("Cannot specify both 'suffixes' and 'lsuffix'/'rsuffix'.")
        suffixes = (lsuffix or "", rsuffix or "")
    if isinstance(other, SeriesBase) and other._name is None:
        raise ValueError("Other Series must have a name")
    if isinstance(other, (list, tuple)):
        if on is not None:
            raise ValueError("Joining multiple DataFrames only supported for joining on index")
        if suffixes is not None and any(suffixes):
            raise ValueError("Suffixes not supported when joining multiple DataFrames")
        return _join_several([left, *other], how, sort, validate)
    on_labels = how != "cross"
    keys = None, on, None, on_labels and on is None, on_labels
    suffixes = ("", "") if suffixes is None else suffixes
    return merge(left, other, how, *keys, sort, suffixes, validate=validate, capacity=capacity)


def _join_several(frames: list[Any], how: str, sort: bool, validate: str | None) -> Any:
    """Joins frames by label: as in pandas along columns, or one by one if labels repeat."""
    if not all(isinstance(one, (FrameBase, SeriesBase)) for one in frames):
        raise NotImplementedError("join: a list must be of frames and series. Join one by one.")
    if not all(one.index.is_unique for one in frames):
        by_label = functools.partial(
            merge, how=how, left_index=True, right_index=True, sort=sort, validate=validate
        )
        return functools.reduce(by_label, frames)
    is_one_side = how in ("left", "right")
    joined = concat(
        frames, axis=1, join="outer" if is_one_side else how, verify_integrity=True,
        sort=sort or how == "outer",
    )  # fmt: skip
    if not is_one_side:
        return joined
    labels = frames[0 if how == "left" else -1].index
    return joined.reindex(labels.sort_values() if sort else labels)


def merge_frames(
    left: Any,
    right: Any,
    how: str,
    named: KeyArguments,
    sort: bool,
    suffixes: Sequence[str | None],
    indicator: bool | str,
    validate: str | None,
    capacity: int | None,
    fill: Callable[[RowPairs], RowPairs] | None = None,
) -> Any:
    """Joins the rows of two frames; see `merge`.

    `fill` gives the rows whose values columns have, but those of keys, from the pairs of rows.
    """
    left, right = as_operand(left), as_operand(right)
    join = _join_type(how)
    check_same_layout("merge", left._table, right._table)
    if not join.has_keys:
        if named.left_index or named.right_index or named.are_labels:
            raise MergeError(
                "Can not pass on, right_on, left_on or set right_index=True or left_index=True"
            )
        plan, keys = MergePlan((), False, ()), ((), ())
    else:
        a, b = left._table.index, right._table.index
        are_opposed = a.is_range and b.is_range and a.step < 0 < b.step
        if not any(join.keeps) and named.are_indexes and are_opposed:
            # pandas' intersection of a descending and an ascending range ascends.
            left = left._like(reversed_rows(left._table))
        plan = plan_merge(left, right, named)
        sides = left._table, right._table
        # Whether exactly one side is known to have no rows.
        one_is_empty = not is_traced([(side.num_rows, side.needed) for side in sides]) and (
            (sides[0].num_rows_on_host == 0) != (sides[1].num_rows_on_host == 0)
        )
        if not one_is_empty:
            plan, left, right = _with_coerced_keys(plan, left, right)
        if plan.of_several is not None:
            join, sort = join_by_level(join, plan.of_several), False
        is_ordered = sort or join.order is None
        keys = _keys_of(plan, left._table, right._table, one_is_empty, is_ordered)
        if plan.of_several is not None:
            _check_labels_of_level(plan.of_several, keys, (left._table, right._table))
        if validate is not None:
            _check_distinct(validate, keys, (left._table, right._table))
    indicator_label = _indicator_label(indicator, left, right)
    labels = suffixed_labels(plan, left, right, suffixes)
    pairs = pair_rows(left._table, right._table, keys, join, sort=sort, capacity=capacity)
    values = None if fill is None else fill(pairs)
    return merged_frame(
        plan, pairs, left, right, labels,
        join=join, named=named, indicator=indicator_label, values=values,
    )  # fmt: skip


def _check_labels_of_level(of_several: int, keys: Any, tables: tuple[Table, Table]) -> None:
    """Raises pandas' error if labels of the side of one level repeat. Not inside `jit`."""
    if is_in_jit(keys, [table.num_rows for table in tables]):
        return
    if not are_distinct(keys[1 - of_several], tables[1 - of_several]):
        raise NotImplementedError(
            "Index._join_level on non-unique index is not implemented. Use reset_index(), and "
            "merge() on columns."
        )


def _join_type(how: str) -> JoinType:
    if how not in HOWS:
        raise ValueError(f"'{how}' is not a valid Merge type: {', '.join(HOWS)}")
    if how == "asof":
        raise NotImplementedError("merge: how must not be 'asof'. Use merge_asof.")
    return JOIN_TYPES[how]


def _with_coerced_keys(
    plan: MergePlan, left: FrameBase, right: FrameBase
) -> tuple[MergePlan, FrameBase, FrameBase]:
    """Coerces keys of two dtypes as pandas does, and the columns of their names, but no labels."""
    if plan.on_both_indexes:
        return plan, left, right
    keys, counts = [], (left._table.num_rows, right._table.num_rows)
    for key in plan.keys:
        a, b = key.left.column, key.right.column
        are_alike = a.kind == b.kind != "category" and (a.dtype, a.family) == (b.dtype, b.family)
        compared = None if are_alike else compared_keys(a, b, counts)
        if compared is not None:
            # pandas fills rows without a left row with values that it has not coerced.
            results = coerced(a, counts[0]), b
            left = _with_coerced_column(left, key.name)
            right = _with_coerced_column(right, key.name, plan.dropped)
            sides = zip((key.left, key.right), compared, results, strict=True)
            key = Key(
                key.name,
                *(
                    dataclasses.replace(side, column=column, coerced=result)
                    for side, column, result in sides
                ),
            )
        keys.append(key)
    return dataclasses.replace(plan, keys=tuple(keys)), left, right


def _with_coerced_column(frame: FrameBase, label: Hashable, but: Sequence[int] = ()) -> FrameBase:
    """The frame with the column of a label coerced, if it has one at another position than `but`.

    As in pandas that may be another column than the key, whose label on this side may differ.
    """
    if label not in frame._labels or frame._labels.position(label) in but:
        return frame
    columns, num_rows = list(frame._table.columns), frame._table.num_rows
    position = frame._labels.position(label)
    columns[position] = coerced(columns[position], num_rows)
    return frame._with_columns(columns)


def _keys_of(
    plan: MergePlan, left: Table, right: Table, one_is_empty: bool, is_ordered: bool
) -> tuple[Keys, Keys]:
    """The join keys of both sides, of the same dtypes."""
    sides: tuple[list[Array], list[Array]] = [], []
    counts = left.num_rows, right.num_rows
    for key in plan.keys:
        a, b = key.left.column, key.right.column
        codes = None if is_ordered or one_is_empty else codes_to_match(a, b)
        if codes is not None:
            sides[0].append(codes[0])
            sides[1].append(codes[1])
            continue
        if a.type.compares_with(b.type) and a.type.unit != b.type.unit and is_traced(a, b, counts):
            for side, keys in zip(sides, keys_of_two_units(a, b), strict=True):
                side.extend(keys)
            continue
        exact = None if one_is_empty or a.dtype == b.dtype else number_keys(a, b)
        if exact is not None:
            sides[0].extend(exact[0])
            sides[1].extend(exact[1])
            continue
        a, b = plan.in_one_type(key, counts, one_is_empty=one_is_empty)
        a, b = (hashed(one, count) for one, count in zip((a, b), counts, strict=True))
        if is_ordered and not plan.on_both_indexes:
            # pandas leaves labels that do not compare in the order in which it meets them.
            check_order(a, "groups")
            check_order(b, "groups")
        if one_is_empty and (a.kind, a.dtype) != (b.kind, b.dtype):
            # Nothing matches: the keys of the nonempty side determine the order.
            present = b if left.num_rows_on_host == 0 else a
            (a,) = resized([present], left.capacity, ONE_DEVICE)
            (b,) = resized([present], right.capacity, ONE_DEVICE)
        # Missing labels come last, as in a union of indexes.
        ordered = group_keys if plan.on_both_indexes else join_keys
        sides[0].extend(ordered(a))
        sides[1].extend(ordered(b))
    return tuple(sides[0]), tuple(sides[1])


def _indicator_label(indicator: object, left: FrameBase, right: FrameBase) -> Hashable:
    if not isinstance(indicator, (bool, str)):
        raise ValueError("indicator option can only accept boolean or string arguments")
    if indicator is False or indicator == "":
        return None
    labels = left._labels.index.union(right._labels.index, sort=False)
    for name in ("_left_indicator", "_right_indicator"):
        if name in labels:
            raise ValueError(
                f"Cannot use `indicator=True` option when data contains a column named {name}"
            )
    label = indicator if isinstance(indicator, str) else "_merge"
    if label in labels:
        raise ValueError("Cannot use name of an existing column for indicator column")
    return label


def _check_distinct(validate: str, keys: tuple[Keys, Keys], tables: tuple[Table, Table]) -> None:
    """Checks that keys are unique on the sides that `validate` names."""
    relation = VALIDATIONS.get(validate, validate)
    if relation not in VALIDATIONS.values():
        known = [*VALIDATIONS.values(), *VALIDATIONS]
        raise ValueError(f'"{validate}" is not a valid argument. Valid arguments are: {known}')
    if is_in_jit(keys, [table.num_rows for table in tables]):
        raise NotImplementedError(
            "merge: validate= cannot raise inside jit. Check the keys before, with is_unique."
        )
    sides = zip(("left", "right"), relation.split(":"), keys, tables, strict=True)
    duplicated = [
        side
        for side, letter, side_keys, table in sides
        if letter == "1" and not are_distinct(side_keys, table)
    ]
    if duplicated:
        name = next(name for name, short in VALIDATIONS.items() if short == relation)
        where = f"{duplicated[0]} dataset"
        if len(duplicated) > 1:
            where = "either left or right dataset"
        raise MergeError(
            f"Merge keys are not unique in {where}; not a {name.replace('_', '-')} merge"
        )
