# SPDX-License-Identifier: Apache-2.0
"""`LazySeries` and `LazyValue`: plans of a series and of a value."""

from typing import Any

from ..plan._lazy import Lazy
from ..plan._lazy_series import SeriesPlan, ValuePlan
from ._collected import Collected


class LazyValue(ValuePlan, Collected):
    """A plan of a value, such as the maximum of a column.

    Example:
        >>> from jaxframes.frame import JaxFrame
        >>> plan = JaxFrame({"x": [1, 2, 3]}).lazy()
        >>> (plan.x.max() - plan.x.min()).collect().item()
        2
    """


class LazySeries(SeriesPlan, Collected):
    """A plan of a series: a column or an expression of a `LazyFrame`, or a result with one column.

    Operators and the methods of `Expression` are those of `JaxSeries`.

    Example:
        >>> from jaxframes.frame import JaxFrame
        >>> plan = JaxFrame({"x": [1, 2, 3]}).lazy()
        >>> plan[plan.x * 2 > 2].x.sum().collect().item()
        5
    """

    @property
    def dtype(self) -> Any:
        """The dtype of the values; see `LazyFrame.schema`."""
        return self._dtypes


Lazy.series_class, Lazy.value_class = LazySeries, LazyValue
