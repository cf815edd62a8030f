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
from ..table._column import Array, Column, fill_missing
from ..table._dtypes import wide
from ..table._layout import Layout
from ..table._ndframe import NDFrame
from ..table._take import before, position
from ..table._unsupported import LACKING, instead_of


class _Plan(NamedTuple):
    """The options of weights. Static under `jit`."""

    adjust: bool
    ignore_na: bool
    layout: Layout


class ExponentialWindows:
    """The result of `ewm`; `mean` weights each row and all rows before it."""

    def __init__(self, of: Any, alpha: float, min_periods: int, adjust: bool, ignore_na: bool):
        self._of, self._alpha, self._min_periods = of, alpha, min_periods
        self._plan = _Plan(adjust, ignore_na, of._layout)

    def __getitem__(self, key: Any) -> "ExponentialWindows":
        plan = self._plan
        return ExponentialWindows(
            self._of[key], self._alpha, self._min_periods, plan.adjust, plan.ignore_na
        )

    def __getattr__(self, name: str) -> Any:
        if name in LACKING["ExponentialWindows"]:
            remedy = instead_of("ExponentialWindows", name)
            raise NotImplementedError(f"ewm: {name} is not supported. Use {remedy}.")
        raise AttributeError(f"ewm windows have no attribute {name!r}")

    def mean(self, numeric_only: bool = False) -> Any:
        """The weighted mean of the values up to each row; missing and infinite
        values keep the last mean.

        A linear recurrence, computed by an associative scan.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([0.0, 3.0]).ewm(alpha=0.5).mean().tolist()
            [0.0, 2.0]
        """
        of = self._of
        if numeric_only and of.ndim == 2:
            of = of._columns_at(of._pick(lambda column: column.is_numeric))
        for column in of._table.columns:
            if not column.is_numeric or column.dtype.kind == "c":
                raise pd.errors.DataError(f"Cannot aggregate non-numeric type: {column.dtype_name}")
        data = tuple(fill_missing(column).data for column in of._table.columns)
        least = np.int32(max(self._min_periods, 1))
        means = _means(data, np.asarray(self._alpha, wide(np.float64)), least, self._plan)
        return of._with_columns([Column(mean) for mean in means])


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
            Only `mean` is supported. `times` must be None and `halflife` a number of rows.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([0.0, 3.0]).ewm(span=3, adjust=False).mean().tolist()
            [0.0, 1.5]
        """
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
        return ExponentialWindows(self, alpha, min_periods or 0, adjust, ignore_na)


@functools.partial(tiered, static_argnums=3)
def _means(
    columns: tuple[Array, ...], alpha: Array, least: Array, plan: _Plan
) -> tuple[Array, ...]:
    return tuple(_mean(data, alpha, least, plan) for data in columns)


def _mean(data: Array, alpha: Array, least: Array, plan: _Plan) -> Array:
    x = data.astype(wide(np.float64))
    is_value = jnp.isfinite(x)
    x = jnp.where(is_value, x, 0)
    one, decay = jnp.ones_like(x), jnp.ones_like(x) * (1 - alpha)
    row_ids = position(x.shape[0], plan.layout)
    counts = _scan(is_value.astype(jnp.int32), "add", plan)
    if plan.adjust:
        # Weighted sums of values and of ones.
        keep = jnp.where(is_value, decay, one) if plan.ignore_na else decay
        _, total = _scan((keep, x), _compose, plan)
        _, weight = _scan((keep, is_value.astype(x.dtype)), _compose, plan)
        mean = total / jnp.where(weight > 0, weight, 1)
    else:
        # The last mean has lost weight in each row since the last value.
        last = _scan(jnp.where(is_value, row_ids, np.int32(-1)), "max", plan)
        previous = before(last + np.int32(1)) - np.int32(1)
        gap = (row_ids - previous).astype(x.dtype)
        old = decay if plan.ignore_na else decay**gap
        old = jnp.where(counts == 1, 0, old)
        share = old / (old + alpha)
        _, mean = _scan(
            (jnp.where(is_value, share, one), jnp.where(is_value, (1 - share) * x, 0)),
            _compose,
            plan,
        )
    return jnp.where(counts >= least, mean, jnp.nan)


def _compose(left: Any, right: Any) -> Any:
    """The affine function x -> a x + b that applies `left`, then `right`."""
    return left[0] * right[0], right[0] * left[1] + right[1]


def _scan(x: Any, op: Any, plan: _Plan) -> Any:
    return primitives.inclusive_scan(x, op, **plan.layout.on_mesh)
