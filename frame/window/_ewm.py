# SPDX-License-Identifier: Apache-2.0
"""`ewm`: exponentially weighted windows."""

import functools
import math
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ... import primitives
from ...primitives.staging import tiered
from ..table._arguments import check_flag
from ..table._column import Array, Column, fill_missing
from ..table._dtypes import wide
from ..table._layout import Layout
from ..table._ndframe import NDFrame
from ..table._take import before, position
from ..table._unsupported import LACKING, instead_of
from ._row_windows import RowWindows


class Decay(NamedTuple):
    """The checked arguments of `ewm`.

    Attributes:
        alpha: one minus the factor by which weights decay in a row.
        min_periods: the least number of values with a result.
        adjust: whether weights are divided by their sum.
        ignore_na: whether rows without a value leave the weights as they are.
    """

    alpha: float
    min_periods: int
    adjust: bool
    ignore_na: bool


class _Plan(NamedTuple):
    """What is computed. Static under `jit`."""

    statistic: str
    adjust: bool
    ignore_na: bool
    layout: Layout


class ExponentialWindows(RowWindows):
    """The result of `ewm`; its methods weight each row and all rows before it.

    Missing and infinite values have no weight, and their rows keep the last result.
    """

    def __getattr__(self, name: str) -> Any:
        if name in LACKING["ExponentialWindows"]:
            remedy = instead_of("ExponentialWindows", name)
            raise NotImplementedError(f"ewm: {name} is not supported. Use {remedy}.")
        raise AttributeError(f"ewm windows have no attribute {name!r}")

    def mean(self, numeric_only: bool = False) -> Any:
        """The weighted mean of the values up to each row.

        A linear recurrence, computed by an associative scan.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([0.0, 3.0]).ewm(alpha=0.5).mean().tolist()
            [0.0, 2.0]
        """
        return self._take("mean", numeric_only)

    def sum(self, numeric_only: bool = False) -> Any:
        """The weighted sum of the values up to each row; see `mean`.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([2.0, 3.0]).ewm(alpha=0.5).sum().tolist()
            [2.0, 4.0]
        """
        if not self._how.adjust:
            raise NotImplementedError(
                "sum is not implemented with adjust=False. Use adjust=True, or mean()."
            )
        return self._take("sum", numeric_only)

    def var(self, bias: bool = False, numeric_only: bool = False) -> Any:
        """The weighted variance of the values up to each row; see `mean`.

        Args:
            bias: whether the mean square is left as it is, and not corrected for the weights.
            numeric_only: whether to leave out other columns.

        Differences from pandas:
            The variance of equal values may be a rounding error above zero.

        References:
            West (1979), "Updating mean and variance estimates: an improved method".

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([0.0, 3.0]).ewm(alpha=0.5).var(bias=True).tolist()
            [0.0, 2.0]
        """
        name = "biased var" if check_flag(bias, "bias") else "var"
        return self._take(name, numeric_only)

    def std(self, bias: bool = False, numeric_only: bool = False) -> Any:
        """The square root of `var`."""
        return self.var(bias, numeric_only) ** 0.5

    def _take(self, statistic: str, numeric_only: bool) -> Any:
        of = self._of
        if numeric_only and of.ndim == 2:
            of = of._columns_at(of._pick(lambda column: column.is_numeric))
        for column in of._table.columns:
            if not column.is_numeric or column.dtype.kind == "c":
                raise pd.errors.DataError(f"Cannot aggregate non-numeric type: {column.dtype_name}")
        of, segment_ids = self._segmented(of)
        data = tuple(fill_missing(column).data for column in of._table.columns)
        alpha, min_periods, adjust, ignore_na = self._how
        least = np.int32(max(min_periods, 1))
        plan = _Plan(statistic, adjust, ignore_na, of._layout)
        results = _weighted(data, segment_ids, np.asarray(alpha, wide(np.float64)), least, plan)
        return of._with_columns(map(Column, results))


class ExponentialWindowMethods(NDFrame):
    """The method `ewm` of frames and series."""

    def ewm(
        self, com: float | None = None, span: float | None = None, halflife: Any = None,
        alpha: float | None = None, min_periods: int | None = 0, adjust: bool = True,
        ignore_na: bool = False, times: Any = None, method: str = "single",
    ) -> ExponentialWindows:  # fmt: skip
        """Windows of all rows up to each row, with weights that decay by `1 - alpha` a row.

        Works inside `jit`.

        Differences from pandas:
            `cov`, `corr` and `online` are not supported. `times` must be None and `halflife` a
            number of rows.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([0.0, 3.0]).ewm(span=3, adjust=False).mean().tolist()
            [0.0, 1.5]
        """
        return ExponentialWindows(
            self,
            as_decay(com, span, halflife, alpha, min_periods, adjust, ignore_na, times, method),
        )


def as_decay(
    com: Any, span: Any, halflife: Any, alpha: Any, min_periods: Any, adjust: bool,
    ignore_na: bool, times: Any, method: str,
) -> Decay:  # fmt: skip
    """Checks the arguments of `ewm`."""
    if times is not None or method != "single":
        raise NotImplementedError("ewm: times must be None and method 'single'.")
    # Let pandas check the arguments.
    pd.Series(dtype=np.float64).ewm(com, span, halflife, alpha, min_periods, adjust, ignore_na)
    if com is not None:
        alpha = 1 / (1 + com)
    elif span is not None:
        alpha = 2 / (span + 1)
    elif halflife is not None:
        alpha = 1 - math.exp(math.log(0.5) / halflife)
    assert alpha is not None
    return Decay(alpha, min_periods or 0, adjust, ignore_na)


@functools.partial(tiered, static_argnums=4)
def _weighted(
    columns: tuple[Array, ...],
    segment_ids: Array | None,
    alpha: Array,
    least: Array,
    plan: _Plan,
) -> tuple[Array, ...]:
    return tuple(_statistic(data, segment_ids, alpha, least, plan) for data in columns)


def _statistic(
    data: Array, segment_ids: Array | None, alpha: Array, least: Array, plan: _Plan
) -> Array:
    scan = functools.partial(_scan, segment_ids=segment_ids, plan=plan)
    x = data.astype(wide(np.float64))
    is_value = jnp.isfinite(x)
    x = jnp.where(is_value, x, 0)
    one, decay = jnp.ones_like(x), jnp.ones_like(x) * (1 - alpha)
    counts = scan(is_value.astype(jnp.int32), "add")
    if plan.adjust:
        # Weighted sums of values and of ones.
        keep = jnp.where(is_value, decay, one) if plan.ignore_na else decay
        _, total = scan((keep, x), _compose)
        if plan.statistic == "sum":
            return jnp.where(counts >= least, total, jnp.nan)
        _, weight = scan((keep, is_value.astype(x.dtype)), _compose)
        weight = jnp.where(weight > 0, weight, 1)
        mean, share = total / weight, (weight - 1) / weight
        # At a first value, rounding must not leave a share.
        share = jnp.where(counts == 1, 0, share)
    else:
        share = _share_before(is_value, counts, decay, alpha, scan, plan)
        _, mean = scan(
            (jnp.where(is_value, share, one), jnp.where(is_value, (1 - share) * x, 0)), _compose
        )
    is_mean = plan.statistic == "mean"
    result = mean if is_mean else _variance(x, mean, share, is_value, scan, plan)
    return jnp.where(counts >= least, result, jnp.nan)


def _share_before(
    is_value: Array, counts: Array, decay: Array, alpha: Array, scan: Any, plan: _Plan
) -> Array:
    """The share of the values before a row in the mean of a row, whose own share is `alpha`."""
    row_ids = position(counts.shape[0], plan.layout)
    # The last mean has lost weight in each row since the last value.
    last = scan(jnp.where(is_value, row_ids, np.int32(-1)), "max")
    previous = before(last + np.int32(1)) - np.int32(1)
    gap = (row_ids - previous).astype(decay.dtype)
    old = decay if plan.ignore_na else decay**gap
    old = jnp.where(counts == 1, 0, old)
    return old / (old + alpha)


def _variance(
    x: Array, mean: Array, share: Array, is_value: Array, scan: Any, plan: _Plan
) -> Array:
    """West's recurrences of the mean square, and of the sum of squared weights."""
    keep = jnp.where(is_value, share, 1)
    spread = share * (1 - share) * (x - before(mean)) ** 2
    _, squares = scan((keep, jnp.where(is_value, spread, 0)), _compose)
    if plan.statistic == "biased var":
        return squares
    own = jnp.where(is_value, (1 - share) ** 2, 0)
    _, weights = scan((keep**2, own), _compose)
    return jnp.where(weights < 1, squares / (1 - weights), jnp.nan)


def _compose(left: Any, right: Any) -> Any:
    """The affine function x -> a x + b that applies `left`, then `right`."""
    return left[0] * right[0], right[0] * left[1] + right[1]


def _scan(x: Any, op: Any, segment_ids: Array | None, plan: _Plan) -> Any:
    on_mesh = plan.layout.on_mesh
    if segment_ids is None:
        return primitives.inclusive_scan(x, op, **on_mesh)
    return primitives.segmented_scan(x, op, segment_ids=segment_ids, **on_mesh)
