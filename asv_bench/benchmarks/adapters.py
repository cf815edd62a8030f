# SPDX-License-Identifier: Apache-2.0
"""Converts columns for an implementation, before the timing."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pandas as pd
import polars as pl

from .measuring import waiting_call

Call = Callable[[], Any]


def with_jax(function: Callable[..., Any]) -> Callable[..., Call]:
    return lambda *columns: waiting_call(function, *jax.device_put(columns))


def with_numpy(function: Callable[..., Any]) -> Callable[..., Call]:
    return lambda *columns: functools.partial(function, *columns)


def with_pandas(function: Callable[[pd.Series], Any]) -> Callable[..., Call]:
    return lambda keys: functools.partial(function, pd.Series(keys))


def with_polars(function: Callable[[pl.Series], Any]) -> Callable[..., Call]:
    return lambda keys: functools.partial(function, pl.Series("keys", keys))


def with_pandas_frames(function: Callable[..., Any], *names: str) -> Callable[..., Call]:
    def prepare(*columns: np.ndarray) -> Call:
        return functools.partial(function, pd.DataFrame(dict(zip(names, columns, strict=True))))

    return prepare


def with_polars_frames(function: Callable[..., Any], *names: str) -> Callable[..., Call]:
    def prepare(*columns: np.ndarray) -> Call:
        return functools.partial(function, pl.DataFrame(dict(zip(names, columns, strict=True))))

    return prepare
