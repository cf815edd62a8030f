# SPDX-License-Identifier: Apache-2.0
"""Frames and plans behind narwhals' interface: Arrow computes, and the result is ours again.

narwhals calls a small protocol of each library. Ours is narwhals' own for Arrow, with two
differences: the table is made of a frame when narwhals first asks for its rows, and what a caller
gets back from `to_native` is a frame, or a plan where it was a plan. A series stays Arrow's.
"""

import functools
import sys
from typing import Any, NamedTuple

import pyarrow as pa

from ..table._ndframe import FrameBase, NDFrame


class _Classes(NamedTuple):
    """narwhals' classes for frames, for plans and for its functions, and its newest version."""

    frame: Any
    plan: Any
    namespace: Any
    version: Any


def narwhals() -> Any:
    """The module, which is loaded because only narwhals calls what is here."""
    return sys.modules["narwhals"]


@functools.cache
def _classes() -> _Classes:
    plain: Any = narwhals().from_native(pa.table({}), eager_only=True)._compliant_frame
    plain_frame, plain_namespace = type(plain), type(plain.__narwhals_namespace__())

    class Frame(plain_frame):
        """An eager frame; its rows are a frame of ours, a table of Arrow, or both."""

        _is_lazy = False

        @classmethod
        def from_native(cls, data: Any, /, *, context: Any) -> Any:
            return cls(data, version=context._version, validate_column_names=type(data) is pa.Table)

        # narwhals hands this to the caller of `to_native`, and reads `native` itself.
        @property
        def _native_frame(self) -> Any:
            if self._ours is None:
                frame = NDFrame.frame_class(self._rows)
                self._ours = frame.lazy() if self._is_lazy else frame
            return self._ours

        @_native_frame.setter
        def _native_frame(self, rows: Any) -> None:
            is_arrow = isinstance(rows, pa.Table)
            self._rows, self._ours = (rows, None) if is_arrow else (None, rows)

        @property
        def native(self) -> pa.Table:
            if self._rows is None:
                rows = arrow_rows(self._ours)
                # Which checks that the names of the columns differ.
                plain_frame(rows, version=self._version, validate_column_names=True)
                self._rows = rows
            return self._rows

        def _with_version(self, version: Any) -> Any:
            return type(self)(self._given(), version=version, validate_column_names=False)

        def _given(self) -> Any:
            """The rows as they came, without a conversion."""
            return self._rows if self._ours is None else self._ours

        def __narwhals_namespace__(self) -> Any:
            return Namespace(version=self._version)

        def lazy(self, backend: Any = None, **options: Any) -> Any:
            if backend is not None:
                return super().lazy(backend, **options)
            return Plan(self.native, version=self._version, validate_column_names=False)

        def collect(self, backend: Any = None, **options: Any) -> Any:
            if backend is not None:
                return super().collect(backend, **options)
            return Frame(self.native, version=self._version, validate_column_names=False)

    class Plan(Frame):
        """A lazy frame: a plan, which runs when narwhals first asks for its rows."""

        _is_lazy = True

    class Namespace(plain_namespace):
        """narwhals' functions of Arrow, whose frames are ours."""

        @property
        def _dataframe(self) -> Any:
            return Frame

        def from_native(self, data: Any, /) -> Any:
            if isinstance(data, FrameBase):
                return Frame.from_native(data, context=self)
            if hasattr(data, "__narwhals_lazyframe__"):
                return Plan.from_native(data, context=self)
            return data.__narwhals_series__()._with_version(self._version)

        def concat(self, items: Any, *, how: Any) -> Any:
            frames = list(items)
            found = super().concat(frames, how=how)
            return found.lazy() if any(frame._is_lazy for frame in frames) else found

    return _Classes(Frame, Plan, Namespace, plain._version)


def arrow_rows(frame: Any) -> pa.Table:
    """The rows of a frame, whose labels 0, 1, ... are no column, or of a plan, which runs."""
    if isinstance(frame, FrameBase):
        return frame._with_range().to_arrow()
    return pa.RecordBatchReader.from_stream(frame).read_all()


def narwhals_frame(frame: Any, *, is_lazy: bool = False) -> Any:
    """What narwhals takes in place of a frame, or of a plan."""
    classes = _classes()
    kind = classes.plan if is_lazy else classes.frame
    return kind(frame, version=classes.version, validate_column_names=False)


def narwhals_namespace(version: Any) -> Any:
    """narwhals' functions for frames of ours, in a version of its interface."""
    return _classes().namespace(version=version)
