# SPDX-License-Identifier: Apache-2.0
"""The methods of lazy objects that record themselves. Written by `tests/lazy_stubs.py`."""

from collections.abc import Hashable, Sequence
from typing import Any, Self

class RecordedFrame:
    def astype(self, dtype: Any, copy: Any = ..., errors: str = ...) -> Self: ...
    def fillna(
        self,
        value: Any,
        *,
        axis: Any = ...,
        inplace: bool = ...,
        limit: Any = ...,
    ) -> Self: ...
    def dropna(
        self,
        *,
        axis: Any = ...,
        how: Any = ...,
        thresh: Any = ...,
        subset: Any = ...,
        inplace: bool = ...,
        ignore_index: bool = ...,
    ) -> Self: ...
    def drop_duplicates(
        self,
        subset: Any = ...,
        *,
        keep: Any = ...,
        inplace: Any = ...,
        ignore_index: bool = ...,
    ) -> Self: ...
    def head(self, n: int = ...) -> Self: ...
    def tail(self, n: int = ...) -> Self: ...
    def nlargest(self, n: int, columns: Any, keep: str = ...) -> Self: ...
    def nsmallest(self, n: int, columns: Any, keep: str = ...) -> Self: ...
    def sort_values(
        self,
        by: Hashable | Sequence[Hashable],
        *,
        axis: Any = ...,
        ascending: bool | Sequence[bool] = ...,
        inplace: bool = ...,
        kind: Any = ...,
        na_position: str = ...,
        ignore_index: bool = ...,
        key: Any = ...,
    ) -> Self: ...
    def reset_index(
        self,
        level: Any = ...,
        *,
        drop: bool = ...,
        inplace: bool = ...,
        col_level: Hashable = ...,
        col_fill: Hashable = ...,
        allow_duplicates: bool = ...,
        names: Any = ...,
    ) -> Self: ...
    def set_index(
        self,
        keys: Any,
        *,
        drop: bool = ...,
        append: bool = ...,
        inplace: bool = ...,
        verify_integrity: bool = ...,
    ) -> Self: ...
    def value_counts(
        self,
        subset: Any = ...,
        normalize: bool = ...,
        sort: bool = ...,
        ascending: bool = ...,
        dropna: bool = ...,
    ) -> Any: ...
    def all(
        self,
        *,
        axis: Any = ...,
        bool_only: bool = ...,
        skipna: bool = ...,
        **rest: Any,
    ) -> Any: ...
    def any(
        self,
        *,
        axis: Any = ...,
        bool_only: bool = ...,
        skipna: bool = ...,
        **rest: Any,
    ) -> Any: ...
    def count(self, axis: Any = ..., numeric_only: bool = ...) -> Any: ...
    def max(
        self,
        *,
        axis: Any = ...,
        skipna: bool = ...,
        numeric_only: bool = ...,
        **rest: Any,
    ) -> Any: ...
    def mean(
        self,
        *,
        axis: Any = ...,
        skipna: bool = ...,
        numeric_only: bool = ...,
        **rest: Any,
    ) -> Any: ...
    def median(
        self,
        *,
        axis: Any = ...,
        skipna: bool = ...,
        numeric_only: bool = ...,
        **rest: Any,
    ) -> Any: ...
    def min(
        self,
        *,
        axis: Any = ...,
        skipna: bool = ...,
        numeric_only: bool = ...,
        **rest: Any,
    ) -> Any: ...
    def nunique(self, axis: Any = ..., dropna: bool = ...) -> Any: ...
    def prod(
        self,
        *,
        axis: Any = ...,
        skipna: bool = ...,
        numeric_only: bool = ...,
        min_count: int = ...,
        **rest: Any,
    ) -> Any: ...
    def quantile(
        self,
        q: Any = ...,
        axis: Any = ...,
        numeric_only: bool = ...,
        interpolation: str = ...,
        method: str = ...,
    ) -> Any: ...
    def sem(
        self,
        *,
        axis: Any = ...,
        skipna: bool = ...,
        ddof: int = ...,
        numeric_only: bool = ...,
        **rest: Any,
    ) -> Any: ...
    def std(
        self,
        *,
        axis: Any = ...,
        skipna: bool = ...,
        ddof: int = ...,
        numeric_only: bool = ...,
        **rest: Any,
    ) -> Any: ...
    def sum(
        self,
        *,
        axis: Any = ...,
        skipna: bool = ...,
        numeric_only: bool = ...,
        min_count: int = ...,
        **rest: Any,
    ) -> Any: ...
    def var(
        self,
        *,
        axis: Any = ...,
        skipna: bool = ...,
        ddof: int = ...,
        numeric_only: bool = ...,
        **rest: Any,
    ) -> Any: ...
    def kurt(
        self,
        *,
        axis: Any = ...,
        skipna: bool = ...,
        numeric_only: bool = ...,
        **rest: Any,
    ) -> Any: ...
    def skew(
        self,
        *,
        axis: Any = ...,
        skipna: bool = ...,
        numeric_only: bool = ...,
        **rest: Any,
    ) -> Any: ...
    def agg(self, func: Any = ..., axis: Any = ..., *args: Any, **named: Any) -> Any: ...

class RecordedSeries:
    def rename(
        self,
        index: Any = ...,
        *,
        axis: Any = ...,
        copy: Any = ...,
        inplace: bool = ...,
        level: Any = ...,
        errors: Any = ...,
    ) -> Self: ...
    def dropna(
        self,
        *,
        axis: Any = ...,
        inplace: bool = ...,
        how: Any = ...,
        ignore_index: bool = ...,
    ) -> Self: ...
    def drop_duplicates(
        self,
        *,
        keep: Any = ...,
        inplace: Any = ...,
        ignore_index: bool = ...,
    ) -> Self: ...
    def head(self, n: int = ...) -> Self: ...
    def tail(self, n: int = ...) -> Self: ...
    def nlargest(self, n: int = ..., keep: str = ...) -> Self: ...
    def nsmallest(self, n: int = ..., keep: str = ...) -> Self: ...
    def sort_values(
        self,
        *,
        axis: Any = ...,
        ascending: bool = ...,
        inplace: bool = ...,
        kind: Any = ...,
        na_position: str = ...,
        ignore_index: bool = ...,
        key: Any = ...,
    ) -> Self: ...
    def reset_index(
        self,
        level: Any = ...,
        *,
        drop: bool = ...,
        name: Hashable = ...,
        inplace: bool = ...,
        allow_duplicates: bool = ...,
    ) -> Any: ...
    def value_counts(
        self,
        normalize: bool = ...,
        sort: bool = ...,
        ascending: bool = ...,
        bins: Any = ...,
        dropna: bool = ...,
    ) -> Any: ...
    def unique(self) -> Any: ...
    def to_frame(self, name: Hashable = ...) -> Any: ...
    def agg(self, func: Any = ..., axis: Any = ..., *args: Any, **rest: Any) -> Any: ...

class RecordedGroups:
    def bfill(self, limit: int | None = ...) -> Any: ...
    def cummax(self, numeric_only: bool = ..., skipna: bool = ...) -> Any: ...
    def cummin(self, numeric_only: bool = ..., skipna: bool = ...) -> Any: ...
    def cumprod(self, numeric_only: bool = ..., skipna: bool = ...) -> Any: ...
    def cumsum(self, numeric_only: bool = ..., skipna: bool = ...) -> Any: ...
    def diff(self, periods: int = ...) -> Any: ...
    def ffill(self, limit: int | None = ...) -> Any: ...
    def pct_change(self, periods: int = ..., fill_method: Any = ..., freq: Any = ...) -> Any: ...
    def rank(
        self,
        method: str = ...,
        ascending: bool = ...,
        na_option: str = ...,
        pct: bool = ...,
    ) -> Any: ...
    def shift(self, periods: int = ..., freq: Any = ..., fill_value: Any = ...) -> Any: ...
    def transform(self, func: Any, *args: Any, engine: str | None = ..., **kwargs: Any) -> Any: ...
    def head(self, n: int = ...) -> Any: ...
    def tail(self, n: int = ...) -> Any: ...
    def all(self, skipna: bool = ...) -> Any: ...
    def any(self, skipna: bool = ...) -> Any: ...
    def count(self) -> Any: ...
    def max(self, numeric_only: bool = ..., min_count: int = ..., skipna: bool = ...) -> Any: ...
    def mean(self, numeric_only: bool = ..., skipna: bool = ...) -> Any: ...
    def median(self, numeric_only: bool = ..., skipna: bool = ...) -> Any: ...
    def min(self, numeric_only: bool = ..., min_count: int = ..., skipna: bool = ...) -> Any: ...
    def nunique(self, dropna: bool = ...) -> Any: ...
    def prod(self, numeric_only: bool = ..., min_count: int = ..., skipna: bool = ...) -> Any: ...
    def quantile(
        self,
        q: float = ...,
        interpolation: str = ...,
        numeric_only: bool = ...,
    ) -> Any: ...
    def sem(self, ddof: int = ..., numeric_only: bool = ..., skipna: bool = ...) -> Any: ...
    def std(self, ddof: int = ..., numeric_only: bool = ..., skipna: bool = ...) -> Any: ...
    def sum(self, numeric_only: bool = ..., min_count: int = ..., skipna: bool = ...) -> Any: ...
    def var(self, ddof: int = ..., numeric_only: bool = ..., skipna: bool = ...) -> Any: ...
    def agg(self, func: Any = ..., *args: Any, engine: str | None = ..., **kwargs: Any) -> Any: ...
    def first(self, numeric_only: bool = ..., min_count: int = ..., skipna: bool = ...) -> Any: ...
    def last(self, numeric_only: bool = ..., min_count: int = ..., skipna: bool = ...) -> Any: ...
    def size(self) -> Any: ...

class RecordedWindows:
    def count(self, numeric_only: bool = ...) -> Any: ...
    def max(self, numeric_only: bool = ...) -> Any: ...
    def mean(self, numeric_only: bool = ...) -> Any: ...
    def min(self, numeric_only: bool = ...) -> Any: ...
    def std(self, ddof: int = ..., numeric_only: bool = ...) -> Any: ...
    def sum(self, numeric_only: bool = ...) -> Any: ...
    def var(self, ddof: int = ..., numeric_only: bool = ...) -> Any: ...

RECORDED: tuple[tuple[type, type, Sequence[str]], ...]
