# SPDX-License-Identifier: Apache-2.0
"""The methods of lazy objects that record themselves. Written by `tests/lazy_stubs.py`."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Self

class RecordedFrame:
    def astype(self, dtype: object, copy: object = ..., errors: str = ...) -> Self: ...
    def fillna(
        self,
        value: object,
        *,
        axis: int | str | None = ...,
        inplace: bool = ...,
        limit: object = ...,
    ) -> Self: ...
    def dropna(
        self,
        *,
        axis: int | str | None = ...,
        how: object = ...,
        thresh: Any = ...,
        subset: Hashable | Iterable[object] = ...,
        inplace: bool = ...,
        ignore_index: bool = ...,
    ) -> Self: ...
    def drop_duplicates(
        self,
        subset: Hashable | Iterable[object] = ...,
        *,
        keep: object = ...,
        inplace: object = ...,
        ignore_index: bool = ...,
    ) -> Self: ...
    def head(self, n: int = ...) -> Self: ...
    def tail(self, n: int = ...) -> Self: ...
    def sample(
        self,
        n: int | None = ...,
        frac: float | None = ...,
        replace: bool = ...,
        weights: object = ...,
        random_state: object = ...,
        axis: int | str | None = ...,
        ignore_index: bool = ...,
    ) -> Self: ...
    def nlargest(self, n: int, columns: object, keep: str = ...) -> Self: ...
    def nsmallest(self, n: int, columns: object, keep: str = ...) -> Self: ...
    def sort_values(
        self,
        by: Hashable | Sequence[Hashable],
        *,
        axis: int | str | None = ...,
        ascending: bool | Sequence[bool] = ...,
        inplace: bool = ...,
        kind: object = ...,
        na_position: str = ...,
        ignore_index: bool = ...,
        key: object = ...,
    ) -> Self: ...
    def reset_index(
        self,
        level: Hashable | Sequence[Hashable] = ...,
        *,
        drop: bool = ...,
        inplace: bool = ...,
        col_level: Hashable = ...,
        col_fill: Hashable = ...,
        allow_duplicates: bool = ...,
        names: object = ...,
    ) -> Self: ...
    def set_index(
        self,
        keys: object,
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
    def explode(
        self,
        column: object,
        ignore_index: bool = ...,
        *,
        capacity: int | None = ...,
    ) -> Any: ...
    def all(
        self,
        *,
        axis: int | str | None = ...,
        bool_only: bool = ...,
        skipna: bool = ...,
        **rest: object,
    ) -> Any: ...
    def any(
        self,
        *,
        axis: int | str | None = ...,
        bool_only: bool = ...,
        skipna: bool = ...,
        **rest: object,
    ) -> Any: ...
    def count(self, axis: int | str | None = ..., numeric_only: bool = ...) -> Any: ...
    def max(
        self,
        *,
        axis: int | str | None = ...,
        skipna: bool = ...,
        numeric_only: bool = ...,
        **rest: object,
    ) -> Any: ...
    def mean(
        self,
        *,
        axis: int | str | None = ...,
        skipna: bool = ...,
        numeric_only: bool = ...,
        **rest: object,
    ) -> Any: ...
    def median(
        self,
        *,
        axis: int | str | None = ...,
        skipna: bool = ...,
        numeric_only: bool = ...,
        **rest: object,
    ) -> Any: ...
    def min(
        self,
        *,
        axis: int | str | None = ...,
        skipna: bool = ...,
        numeric_only: bool = ...,
        **rest: object,
    ) -> Any: ...
    def nunique(self, axis: int | str | None = ..., dropna: bool = ...) -> Any: ...
    def prod(
        self,
        *,
        axis: int | str | None = ...,
        skipna: bool = ...,
        numeric_only: bool = ...,
        min_count: int = ...,
        **rest: object,
    ) -> Any: ...
    def quantile(
        self,
        q: Any = ...,
        axis: int | str | None = ...,
        numeric_only: bool = ...,
        interpolation: str = ...,
        method: str = ...,
    ) -> Any: ...
    def sem(
        self,
        *,
        axis: int | str | None = ...,
        skipna: bool = ...,
        ddof: int = ...,
        numeric_only: bool = ...,
        **rest: object,
    ) -> Any: ...
    def std(
        self,
        *,
        axis: int | str | None = ...,
        skipna: bool = ...,
        ddof: int = ...,
        numeric_only: bool = ...,
        **rest: object,
    ) -> Any: ...
    def sum(
        self,
        *,
        axis: int | str | None = ...,
        skipna: bool = ...,
        numeric_only: bool = ...,
        min_count: int = ...,
        **rest: object,
    ) -> Any: ...
    def var(
        self,
        *,
        axis: int | str | None = ...,
        skipna: bool = ...,
        ddof: int = ...,
        numeric_only: bool = ...,
        **rest: object,
    ) -> Any: ...
    def kurt(
        self,
        *,
        axis: int | str | None = ...,
        skipna: bool = ...,
        numeric_only: bool = ...,
        **rest: object,
    ) -> Any: ...
    def skew(
        self,
        *,
        axis: int | str | None = ...,
        skipna: bool = ...,
        numeric_only: bool = ...,
        **rest: object,
    ) -> Any: ...
    def agg(
        self,
        func: object = ...,
        axis: int | str | None = ...,
        *args: object,
        **named: object,
    ) -> Any: ...

class RecordedSeries:
    def rename(
        self,
        index: object = ...,
        *,
        axis: int | str | None = ...,
        copy: object = ...,
        inplace: bool = ...,
        level: Hashable | Sequence[Hashable] = ...,
        errors: object = ...,
    ) -> Self: ...
    def dropna(
        self,
        *,
        axis: int | str | None = ...,
        inplace: bool = ...,
        how: object = ...,
        ignore_index: bool = ...,
    ) -> Self: ...
    def drop_duplicates(
        self,
        *,
        keep: object = ...,
        inplace: object = ...,
        ignore_index: bool = ...,
    ) -> Self: ...
    def head(self, n: int = ...) -> Self: ...
    def tail(self, n: int = ...) -> Self: ...
    def nlargest(self, n: int = ..., keep: str = ...) -> Self: ...
    def nsmallest(self, n: int = ..., keep: str = ...) -> Self: ...
    def sort_values(
        self,
        *,
        axis: int | str | None = ...,
        ascending: bool = ...,
        inplace: bool = ...,
        kind: object = ...,
        na_position: str = ...,
        ignore_index: bool = ...,
        key: object = ...,
    ) -> Self: ...
    def reset_index(
        self,
        level: Hashable | Sequence[Hashable] = ...,
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
        bins: object = ...,
        dropna: bool = ...,
    ) -> Any: ...
    def explode(self, ignore_index: bool = ..., *, capacity: int | None = ...) -> Any: ...
    def unique(self) -> Any: ...
    def to_frame(self, name: Hashable = ...) -> Any: ...
    def agg(
        self,
        func: object = ...,
        axis: int | str | None = ...,
        *args: object,
        **rest: object,
    ) -> Any: ...

class RecordedGroups:
    def bfill(self, limit: int | None = ...) -> Any: ...
    def cummax(self, numeric_only: bool = ..., skipna: bool = ...) -> Any: ...
    def cummin(self, numeric_only: bool = ..., skipna: bool = ...) -> Any: ...
    def cumprod(self, numeric_only: bool = ..., skipna: bool = ...) -> Any: ...
    def cumsum(self, numeric_only: bool = ..., skipna: bool = ...) -> Any: ...
    def diff(self, periods: int = ...) -> Any: ...
    def ffill(self, limit: int | None = ...) -> Any: ...
    def pct_change(
        self,
        periods: int = ...,
        fill_method: object = ...,
        freq: object = ...,
    ) -> Any: ...
    def rank(
        self,
        method: str = ...,
        ascending: bool = ...,
        na_option: str = ...,
        pct: bool = ...,
    ) -> Any: ...
    def shift(
        self,
        periods: Any = ...,
        freq: object = ...,
        fill_value: object = ...,
        suffix: str | None = ...,
    ) -> Any: ...
    def transform(
        self,
        func: object = ...,
        *args: object,
        engine: str | None = ...,
        **kwargs: object,
    ) -> Any: ...
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
    def agg(
        self,
        func: Any = ...,
        *args: object,
        engine: str | None = ...,
        **kwargs: object,
    ) -> Any: ...
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
