# SPDX-License-Identifier: Apache-2.0
"""What a plan knows of a method: which columns it reads, makes and keeps, and what becomes of rows.

The row labels count as one more column, `INDEX`.
"""

import enum
import functools
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from ..table._arguments import listed
from ._expression import Expression

# The effect on rows. "each" gives each row in its place, "drops" leaves out rows, "sorts" reorders
# them, "cuts" takes them by position or rank, "joins" pairs the rows of two inputs, "appends" puts
# those of several inputs one after the other, and "makes" computes new rows.
Rows: TypeAlias = Literal["each", "drops", "sorts", "cuts", "joins", "appends", "makes"]
# How a method runs over batches; the operators of `stream` have these names. "each" runs on each
# batch by itself, "renumbers" labels the rows of the result anew, "first" takes rows from the
# front, "folds" keeps some rows from batch to batch, "reduces" merges partial states. The others
# have an operator of their own. Methods that map row by row run on each batch in any case.
Streams: TypeAlias = Literal[
    "each", "renumbers", "first", "folds", "distinct", "unique", "sorts", "counts", "groups",
    "windows", "reduces", "joins", "appends", "aligns",
]  # fmt: skip
# The objects with a method that records itself with the arguments of the eager method.
Owner: TypeAlias = Literal["frame", "series"]


class _Index(enum.Enum):
    """The row labels, among column labels."""

    INDEX = "row labels"


INDEX = _Index.INDEX
Labels: TypeAlias = frozenset[Any]
# For each input: the label there of each column that the result has unchanged.
Origins: TypeAlias = tuple[Mapping[Hashable, Hashable], ...]
Run: TypeAlias = Callable[[Sequence[Any], Mapping[str, Any]], Any]


@runtime_checkable
class RecordedCall(Protocol):
    """A recorded call, as relations see it: `_node.Call`, which is made with them."""

    @property
    def method(self) -> str: ...
    @property
    def inputs(self) -> tuple[Any, ...]: ...
    @functools.cached_property
    def arguments(self) -> dict[str, Any]: ...
    @functools.cached_property
    def labels(self) -> tuple[Hashable, ...]: ...
    @property
    def is_frame(self) -> bool: ...
    @property
    def empty(self) -> Any: ...
    def with_arguments(self, **arguments: object) -> Any: ...


def nothing(call: object, wanted: Labels) -> Labels:
    return frozenset()


def as_it_is(call: object, wanted: Labels) -> Any:
    return call


def yes(call: object) -> bool:
    return True


def no(call: object) -> bool:
    return False


@dataclass(frozen=True)
class Relation:
    """A method of a plan.

    Attributes:
        run: calls the eager method with the results of the inputs and the arguments.
        rows: the effect on rows.
        reads: the columns of the first input that the method reads, for some wanted columns of
            the result; those that it keeps as they are count only if they are read.
        makes: the columns of the result that are in no input.
        keeps_labels: whether the rows of the result have the labels of the inputs' rows.
        is_rowwise: whether each row of the result depends on one row of each input alone.
        origins: the kept columns, for a method that changes labels or has several inputs.
        reads_of_each: `reads` for a method of several inputs.
        narrowed: the call without what concerns unwanted columns alone; None if nothing is left.
        streams: how it runs over batches.
        maps_batches: whether the method of each batch gives the method of all rows; by default if
            it is rowwise.
        owners: the objects whose method it is; none for a step that other methods record.
        recorded: the arguments that are recorded with their defaults if they are left out.
    """

    run: Run
    rows: Rows
    reads: Callable[[Any, Labels], Labels] = nothing
    makes: Callable[[Any], Labels] = lambda call: frozenset()
    keeps_labels: Callable[[Any], bool] = yes
    is_rowwise: Callable[[Any], bool] = no
    origins: Callable[[Any], Origins] | None = None
    reads_of_each: Callable[[Any, Labels], tuple[Labels, ...]] | None = None
    narrowed: Callable[[Any, Labels], Any] = as_it_is
    streams: Streams = "each"
    maps_batches: Callable[[Any], bool] | None = None
    owners: tuple[Owner, ...] = ()
    recorded: tuple[str, ...] = ()

    def is_mapped(self, call: object) -> bool:
        """Whether a call of each batch gives the call of all rows."""
        if self.maps_batches is not None:
            return self.maps_batches(call)
        return self.rows in ("each", "drops") and self.is_rowwise(call)


@dataclass(frozen=True)
class Slot:
    """The place of an input among the operands of a function."""

    position: int

    def __repr__(self) -> str:
        return f"input {self.position + 1}"


def all_of(node: Any) -> Labels:
    """All columns of a result, and its row labels."""
    return frozenset(node.labels) | {INDEX}


def read_by(expression: Expression) -> Labels:
    """The columns that an expression reads."""
    reads_labels = any(part.function == "index" for part in expression._bottom_up())
    return expression.columns() | (frozenset({INDEX}) if reads_labels else frozenset())


def found_by(node: Any, keys: Iterable[object]) -> Labels:
    """The columns that keys read: labels, levels of the index, or expressions."""
    read: Labels = frozenset()
    for key in keys:
        if isinstance(key, Expression):
            read |= read_by(key)
        else:
            read |= {key if key in node.labels else INDEX}
    return read


def method_of(name: str) -> Run:
    return lambda frames, arguments: getattr(frames[0], name)(**arguments)


def of_argument(name: str) -> Callable[[Any, Labels], Labels]:
    """Reads the columns that an argument names: all of them if it is left out."""

    def reads(call: RecordedCall, wanted: Labels) -> Labels:
        labels = call.arguments.get(name)
        if labels is None:
            return frozenset(call.inputs[0].labels)
        return found_by(call.inputs[0], listed(labels))

    return reads


def unless(name: str) -> Callable[[Any], bool]:
    return lambda call: not call.arguments.get(name, False)
