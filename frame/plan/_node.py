# SPDX-License-Identifier: Apache-2.0
"""The nodes of a plan: scans of sources, and recorded calls of methods."""

import contextlib
import dataclasses
import datetime
import functools
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

import numpy as np
import pandas as pd

from ...primitives.staging import Frozen, freeze, thaw
from ..table._holes import assuming_holes, assuming_values
from ..table._ndframe import FrameBase, NDFrame
from ..table._user_functions import traced_only
from ._bound import bound
from ._declared import dtype_names
from ._expression import Expression
from ._joins import join_type
from ._methods import reads_of
from ._relation import Slot
from ._relations import RELATIONS
from ._sources import Source
from ._tree import inputs_first


class Formula:
    """An expression in the arguments of a node: compared by structure."""

    __slots__ = ("_key", "expression")

    def __init__(self, expression: Expression):
        self.expression: Expression = expression
        self._key: Any = expression.key()

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Formula) and self._key == other._key

    def __repr__(self) -> str:
        return repr(self.expression)

    def __reduce__(self) -> Any:
        return Formula, (self.expression,)


@dataclasses.dataclass(frozen=True, eq=False)
class PlanNode:
    """What scans and calls share: cached facts that are no part of the plan."""

    @functools.cached_property
    def _fields(self) -> tuple[Any, ...]:
        return (type(self), *(getattr(self, field.name) for field in dataclasses.fields(self)))

    @functools.cached_property
    def _hash(self) -> int:
        return hash(self._fields)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, PlanNode) or self._hash != other._hash:
            return False
        return self._fields == other._fields

    def __getstate__(self) -> dict[str, Any]:
        # Results without rows hold arrays, and hashes of strings differ between processes.
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    @property
    def empty(self) -> Any:
        """The result for sources without rows, with the widest dtypes that values can give.

        Where values decide a dtype, missing values and divisions by zero are assumed.
        """
        raise NotImplementedError

    @property
    def narrow(self) -> Any:
        """The result for sources without rows, as eager methods give it."""
        return self.empty

    @functools.cached_property
    def outcomes(self) -> tuple[Any, ...]:
        """The result for sources without rows in all dtypes that values can give."""
        same = dtype_names(self.empty) == dtype_names(self.narrow)
        return (self.empty,) if same else (self.empty, self.narrow)

    @functools.cached_property
    def labels(self) -> tuple[Hashable, ...]:
        """The column labels of a frame, or the name of a series."""
        return tuple(self.empty._names) if isinstance(self.empty, NDFrame) else ()

    @property
    def is_frame(self) -> bool:
        """Whether the result is a frame."""
        return isinstance(self.empty, FrameBase)


@dataclasses.dataclass(frozen=True, eq=False)
class Scan(PlanNode):
    """Reads a source.

    Attributes:
        source: where the rows are.
        columns: the labels to read, in the order of the source; all if None.
        predicate: a condition of all rows that the plan needs. The source may leave out others.
        limit: the number of rows that the plan needs from the front; all if None.
        has_labels: whether the plan needs the row labels.
    """

    source: Source
    columns: tuple[Hashable, ...] | None = None
    predicate: Formula | None = None
    limit: int | None = None
    has_labels: bool = True

    inputs: ClassVar[tuple[Any, ...]] = ()

    def run(self) -> Any:
        """Reads the rows."""
        predicate = None if self.predicate is None else self.predicate.expression
        return self.source.read(self.columns, predicate, self.limit, self.has_labels)

    def with_inputs(self, inputs: "tuple[Node, ...]") -> "Scan":
        """The scan itself, which has no inputs."""
        return self

    @functools.cached_property
    def empty(self) -> Any:
        """The source without rows."""
        frame = self.source.empty
        return frame if self.columns is None else frame._columns_named(self.columns)


@dataclasses.dataclass(frozen=True, eq=False)
class Call(PlanNode):
    """A recorded call of a method.

    Attributes:
        method: a name in the table of relations.
        inputs: the plans of the frames that the method takes.
        frozen: the other arguments by name.
    """

    method: str
    inputs: "tuple[Node, ...]"
    frozen: Frozen

    @classmethod
    def of(cls, method: str, inputs: "tuple[Node, ...]", arguments: Mapping[str, object]) -> "Call":
        """Records a call; raises for arguments that a plan cannot hold."""
        known = bound(method, lambda: inputs[0].empty, dict(arguments), RELATIONS["assign"].run)
        held = {name: _held(value, method, name) for name, value in known.items()}
        return cls(method, inputs, freeze(held))

    @functools.cached_property
    def arguments(self) -> dict[str, Any]:
        """The arguments by name. Not to be changed."""
        return given(self.frozen)

    def with_inputs(self, inputs: "tuple[Node, ...]") -> "Call":
        """The same call on other inputs."""
        if all(new is old for new, old in zip(inputs, self.inputs, strict=True)):
            return self
        return Call(self.method, inputs, self.frozen)

    def with_arguments(self, **arguments: object) -> "Call":
        """The same call with some arguments replaced."""
        return Call.of(self.method, self.inputs, {**self.arguments, **arguments})

    def run(self, *frames: object) -> Any:
        """Calls the eager method on the results of the inputs."""
        with traced_only():
            return RELATIONS[self.method].run(frames, self.arguments)

    @property
    def is_mapped(self) -> bool:
        """Whether a call of each batch gives the call of all rows."""
        return RELATIONS[self.method].is_mapped(self)

    @property
    def title(self) -> str:
        """The method; that of groups after `groupby`."""
        inner = self.arguments["method"] if self.method == "groupby" else None
        return self.method if inner is None else f"groupby.{inner}"

    @functools.cached_property
    def empty(self) -> Any:
        """The result for inputs without rows; see `PlanNode.empty`."""
        return _first(self._widest, self._narrowest, self._of_values)

    @functools.cached_property
    def narrow(self) -> Any:
        """The result of the eager method for inputs without rows."""
        if not self._may_widen and all(len(node.outcomes) == 1 for node in self.inputs):
            return self.empty
        return _first(self._narrowest, self._widest, self._of_values)

    @property
    def _may_widen(self) -> bool:
        """Whether values may decide a dtype of the result, given those of the inputs."""
        if self.method in ("assign", "column"):
            name = "values" if self.method == "assign" else "expression"
            found = self.arguments[name]
            values = found.values() if isinstance(found, dict) else [found]
            return any(one.may_widen() for one in values if isinstance(one, Expression))
        if self.method == "merge":
            return any(join_type(self).keeps)
        is_moved = RELATIONS[self.method].rows in ("drops", "sorts", "cuts")
        return not (is_moved or self.method in ("select", "rename"))

    def _widest(self) -> Any:
        # Those of the inputs first: a step that refuses columns with holes has a result without.
        inputs = [node.empty for node in self.inputs]
        with assuming_holes():
            return self.result_of(inputs)

    def _narrowest(self) -> Any:
        return self.result_of([node.narrow for node in self.inputs])

    def _of_values(self) -> Any:
        """The result if reductions are of some rows: a column of integers takes no NA."""
        inputs = [node.narrow for node in self.inputs]
        with assuming_values():
            return self.result_of(inputs)

    def result_of(self, inputs: Sequence[object]) -> Any:
        """The result of the eager method for frames without rows."""
        try:
            # A quotient of reductions of no rows is 0 / 0.
            with np.errstate(all="ignore"):
                return self.run(*inputs)
        except ValueError:
            if not self._is_reduction:
                raise
            # No rows have no greatest one; the value is known when the plan runs.
            return float("nan")

    @property
    def _is_reduction(self) -> bool:
        """Whether the result is one value of a series."""
        function = self.arguments.get("function", "")
        if self.method == "column":
            function = self.arguments["expression"].function
        return reads_of(function) == "column"


def _first(*calls: Callable[[], object]) -> Any:
    """The result of the first call that does not raise; the error of the last one if all do.

    Floats have fewer methods than integers, and integers take fewer constants.
    """
    for call in calls[:-1]:
        with contextlib.suppress(Exception):
            return call()
    return calls[-1]()


Node: TypeAlias = Scan | Call


def bottom_up(root: Any) -> Iterator[Any]:
    """Each distinct node once, after its inputs."""
    return inputs_first(root, lambda node: node.inputs, lambda node: node)


def in_order(root: Any) -> list[Any]:
    """Each object of a plan once, after its inputs. Equal objects are different ones."""
    return list(inputs_first(root, lambda node: node.inputs, id))


def rewritten(root: Node, change: Callable[[Node], Node]) -> Node:
    """Applies a change to each distinct node, after its inputs have changed."""
    new: dict[Node, Node] = {}
    for node in bottom_up(root):
        new[node] = change(node.with_inputs(tuple(new[child] for child in node.inputs)))
    return new[root]


def uses(root: Node) -> dict[Node, int]:
    """The number of calls that take each node as an input."""
    counts = {root: 0}
    for node in bottom_up(root):
        for child in node.inputs:
            counts[child] = counts.get(child, 0) + 1
    return counts


# The scalars of a plan, besides labels of columns.
_SCALARS = (
    str, bytes, int, float, complex, bool, type(None), np.generic, np.dtype, type,
    pd.Timestamp, pd.Timedelta, type(pd.NaT), type(pd.NA), type(...),
    pd.api.extensions.ExtensionDtype, Slot, datetime.datetime, datetime.timedelta,
)  # fmt: skip


def _held(value: object, method: str, name: str) -> Any:
    """An argument as a plan holds it."""
    if isinstance(value, Expression):
        return Formula(value)
    if isinstance(value, dict):
        return {label: _held(one, method, name) for label, one in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_held(one, method, name) for one in value)
    if isinstance(value, _SCALARS):
        return value
    raise NotImplementedError(
        f"{method}: a plan holds scalars, lists and expressions, got {type(value).__name__} as "
        f"{name}. Call collect() first."
    )


def given(frozen: Frozen) -> dict[str, Any]:
    """Arguments as the eager method takes them."""
    return _given(thaw(frozen))


def _given(value: object) -> Any:
    if isinstance(value, Formula):
        return value.expression
    if isinstance(value, dict):
        return {label: _given(one) for label, one in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(_given, value))
    return value
