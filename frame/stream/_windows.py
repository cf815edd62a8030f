# SPDX-License-Identifier: Apache-2.0
"""Windows over batches: each batch starts with the rows that its first windows reach back to."""

from collections.abc import Iterable, Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..combining._concat import stacked
from ..plan._node import Call
from ..table._ndframe import NDFrame
from ..table._to_host import host_array

# One row stands for all rows before it.
_EXPANDING = ("max", "min", "sum")


def are_windows_streamed(node: Call) -> bool:
    """Whether windows reach back over a number of rows, or to a value of all rows before."""
    bounds = {
        name: one for name, one in node.arguments["bounds"].items() if one not in (None, False)
    }
    if node.arguments["windows"] == "expanding":
        return node.arguments["method"] in _EXPANDING and bounds.get("min_periods", 1) == 1
    window = bounds.pop("window", None)
    bounds.pop("min_periods", None)
    return isinstance(window, int) and not bounds


def _after_overflow(result: NDFrame, last: Any) -> Any:
    """The results after a row of results: a sum that has overflowed stays infinite.

    As a row of the input an infinity would be missing.
    """
    columns = []
    for column, before in zip(result._table.columns, last._table.columns, strict=True):
        value = host_array(before.data)[0]
        if np.isinf(value):
            column = column.with_arrays((jnp.full_like(column.data, value), None))
        columns.append(column)
    return result._with_columns(columns)


def windows_of(node: Call, batches: Iterable[Any]) -> Iterator[Any]:
    """The windows of all rows, batch by batch."""
    is_expanding = node.arguments["windows"] == "expanding"
    reach = 1 if is_expanding else node.arguments["bounds"]["window"] - 1
    held: Any = None
    for batch in batches:
        num_held = 0 if held is None else len(held)
        rows = stacked([held, batch]) if num_held else batch
        result = node.run(rows)
        if is_expanding:
            result = _after_overflow(result, held) if num_held else result
            # The last result, as a row of the input.
            held = result.iloc[-1:] if len(result) else held
        else:
            held = rows.iloc[max(len(rows) - reach, 0) :]
        yield result.iloc[num_held:]
