# SPDX-License-Identifier: Apache-2.0
"""`equals`: whether two frames or series are the same."""

from typing import Any

from ..align._align import same_labels
from ..table._column import Column
from ..table._ndframe import FrameBase, NDFrame
from ..table._table import Count, is_row
from ..table._tracing import answered_at_once, is_traced
from ._dispatch import combine


class Equality(NDFrame):
    """Comparison of whole frames and series."""

    @answered_at_once
    def equals(self: Any, other: Any) -> bool:
        """Whether `other` has the same labels, dtypes and values; missing values are equal.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([1.0, None]).equals(JaxSeries([1.0, None]))
            True
        """
        if type(other) is not type(self):
            return False
        a, b = self._table, other._table
        if is_traced(a, b):
            raise NotImplementedError(
                "equals: the result is not known inside jit. Use (a == b).all()."
            )
        if a.num_rows_on_host != b.num_rows_on_host or len(a.columns) != len(b.columns):
            return False
        if isinstance(self, FrameBase) and not self._labels.index.equals(other._labels.index):
            return False
        if a.layout != b.layout or a.capacity != b.capacity:
            raise ValueError(
                "equals: both must be on the same devices, got "
                f"{a.layout} and {b.layout}. Construct one with the sharding of the other."
            )
        if not same_labels(a, b):
            return False
        pairs = zip(a.columns, b.columns, strict=True)
        return all(_same_values(x, y, a.num_rows) for x, y in pairs)


def _same_values(a: Column, b: Column, num_rows: Count) -> bool:
    if a.kind == "object" or b.kind == "object":
        raise NotImplementedError(
            "equals: columns of objects are not supported. Compare the results of to_pandas()."
        )
    if a.dtype_name != b.dtype_name or (a.valid is None) != (b.valid is None):
        return False
    if a.kind == "category" and a.type != b.type:
        return False
    (equal,) = combine("eq", [(a, b)], num_rows)
    same = equal.data | (a.missing() & b.missing())
    return bool((same | ~is_row(same.shape[0], num_rows)).all())
