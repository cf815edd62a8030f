# SPDX-License-Identifier: Apache-2.0
"""`from_dummies`: the labels of one-hot encoded columns, as a column."""

import functools
from collections.abc import Hashable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...primitives.staging import tiered
from ..table._column import Array, Column, bare
from ..table._column_labels import Labels
from ..table._from_host import column_from
from ..table._layout import ONE_DEVICE, Layout
from ..table._ndframe import FrameBase, NDFrame
from ..table._table import Count, is_row
from ..table._take import look_up_rows, position
from ..table._tracing import at_once, is_traced


def from_dummies(data: object, sep: str | None = None, default_category: object = None) -> Any:
    """Decodes one-hot encoded columns; the inverse of `get_dummies`.

    Args:
        data: a frame of bools, or of the numbers 0 and 1.
        sep: separates the label of a column of the result from its category, in the labels of
            `data`. All columns are one variable if it is left out.
        default_category: the category of rows without a flag; or a dict of them, by label.

    Returns:
        A frame with a column of categories for each variable, as strings.

    Raises:
        TypeError: a column holds other values.
        ValueError: a value is missing, a row has several flags of one variable, or it has none and
            there is no `default_category`.

    Differences from pandas:
        Inside `jit` the values are not checked: the first flag of a row counts, and rows without
        one are missing. If labels are numbers, so are the categories, which a default must be too.

    Example:
        >>> from jaxframes.frame import JaxFrame, from_dummies
        >>> from_dummies(JaxFrame({"k_a": [0, 1], "k_b": [1, 0]}), sep="_").k.tolist()
        ['b', 'a']
    """
    if isinstance(data, pd.DataFrame):
        data = NDFrame.frame_class(data)
    if not isinstance(data, FrameBase):
        raise TypeError(
            "Expected 'data' to be a 'DataFrame'; Received 'data' of type: "
            f"{type(data).__name__}. Pass a JaxFrame."
        )
    table = data._table
    is_known = not is_traced(table)
    flags = _flags(data)
    if is_known:
        checked = at_once(_checks, tuple(map(bare, table.columns)), table.num_rows, table.layout)
        for label, (is_missing, is_other) in zip(data._labels, checked, strict=True):
            if bool(is_missing):
                raise ValueError(f"Dummy DataFrame contains NA value in column: '{label}'")
            if bool(is_other):
                raise TypeError("Passed DataFrame contains non-dummy data")
    variables = _variables(data._labels, sep)
    defaults = _defaults(default_category, list(variables))
    columns = []
    for prefix, positions in variables.items():
        categories = [data._labels[at] for at in positions]
        if sep is not None:
            categories = [str(label)[len(prefix) + len(sep) :] for label in categories]
        own = tuple(flags[at] for at in positions)
        codes, sums = at_once(_codes, own, table.num_rows, table.layout)
        if is_known:
            _check_sums(data, sums, prefix in defaults)
        if prefix in defaults:
            categories.append(defaults[prefix])
        columns.append(_decoded(codes, categories, data, prefix in defaults))
    labels = pd.Index(list(variables), dtype=None if sep is None else data._labels.index.dtype)
    return data._make_frame(columns, Labels(labels))


def _flags(data: Any) -> list[Array]:
    """The columns as flags."""
    for column in data._table.columns:
        if not column.is_numeric or column.dtype.kind == "c":
            raise TypeError("Passed DataFrame contains non-dummy data")
    return [column.data == np.asarray(1, column.dtype) for column in data._table.columns]


@functools.partial(tiered, static_argnums=2)
def _checks(
    columns: Sequence[Column], num_rows: Count, layout: Layout
) -> list[tuple[Array, Array]]:
    """Whether a value of each column is missing, and whether one is neither 0 nor 1."""
    found = []
    for column in columns:
        valid, x = is_row(column.data.shape[0], num_rows, layout), column.data
        missing = column.missing()
        is_other = (x != x.dtype.type(0)) & (x != x.dtype.type(1)) & ~missing
        found.append((jnp.any(missing & valid), jnp.any(is_other & valid)))
    return found


def _variables(labels: Labels, sep: object) -> dict[Any, list[int]]:
    """The positions of the columns of each variable, by its label."""
    if sep is None:
        return {"": list(range(len(labels)))}
    if not isinstance(sep, str):
        raise TypeError(
            "Expected 'sep' to be of type 'str' or 'None'; Received 'sep' of type: "
            f"{type(sep).__name__}"
        )
    variables: dict[Any, list[int]] = {}
    for at, label in enumerate(labels):
        text: Any = label
        prefix = text.split(sep)[0]
        if len(prefix) == len(text):
            raise ValueError(f"Separator not specified for column: {label}")
        variables.setdefault(prefix, []).append(at)
    return variables


def _defaults(given: object, prefixes: list[Hashable]) -> dict[Hashable, Any]:
    """The default category of each variable that has one."""
    if given is None:
        return {}
    if isinstance(given, dict):
        if len(given) != len(prefixes):
            raise ValueError(
                f"Length of 'default_category' ({len(given)}) did not match the length of the "
                f"columns being encoded ({len(prefixes)})"
            )
        return given
    if not isinstance(given, Hashable):
        raise TypeError(
            "Expected 'default_category' to be of type 'None', 'Hashable', or 'dict'; Received "
            f"'default_category' of type: {type(given).__name__}"
        )
    return dict.fromkeys(prefixes, given)


@functools.partial(tiered, static_argnums=2)
def _codes(flags: Sequence[Array], num_rows: Count, layout: Layout) -> tuple[Array, Any]:
    """The number of the first flag of each row, that of flags if none; and rows to report.

    These are the first row with the most flags and their number, and the first one with the fewest.
    """
    count = jnp.zeros(flags[0].shape, jnp.int32)
    code = jnp.full(flags[0].shape, len(flags), jnp.int32)
    for number, flag in reversed(list(enumerate(flags))):
        count = count + flag.astype(jnp.int32)
        code = jnp.where(flag, np.int32(number), code)
    rows = position(count.shape[0], layout)
    valid = is_row(count.shape[0], num_rows, layout)
    most = jnp.max(jnp.where(valid, count, 0), initial=0)
    fewest = jnp.min(jnp.where(valid, count, 1), initial=1)
    last = np.int32(np.iinfo(np.int32).max)
    first = [jnp.min(jnp.where(valid & (count == limit), rows, last)) for limit in (most, fewest)]
    return code, (most, fewest, *first)


def _check_sums(data: Any, sums: Any, has_default: bool) -> None:
    most, fewest, of_most, of_fewest = map(int, sums)
    for is_wrong, row, what in (
        (most > 1, of_most, "multi-assignment(s)"),
        (fewest < 1 and not has_default, of_fewest, "unassigned value(s)"),
    ):
        if is_wrong:
            label = data._sliced(slice(row, row + 1)).index[0]
            raise ValueError(f"Dummy DataFrame contains {what}; First instance in row: {label}")


def _decoded(codes: Array, categories: Sequence[object], data: Any, has_default: bool) -> Column:
    """The category of each row."""
    table = data._table
    values = pd.Series(categories, dtype=data._labels.index.dtype)
    capacity = ONE_DEVICE.capacity_for(len(values))
    column = column_from(values, capacity, ONE_DEVICE, "from_dummies")
    if not has_default and is_traced(codes):
        codes = jnp.where(codes == len(categories), np.int32(-1), codes)
    (found,) = look_up_rows((column,), codes, table.layout, holes=is_traced(codes))
    return found
