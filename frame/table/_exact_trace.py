# SPDX-License-Identifier: Apache-2.0
"""One trace of a user's function outside `jit`, if it gives what calls with each value give."""

import functools
import itertools
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.extend.core import ClosedJaxpr, Literal, jaxpr_as_fun

from ...primitives.staging import tiered
from ._column import Array, Column
from ._function_effects import calls_differ, compares_identity
from ._layout import Layout
from ._number_bounds import Bounds, Rules, agree, any_of, of_values
from ._table import Count, Table, is_row
from ._tracing import answered_at_once
from ._types import Function
from ._user_functions import UntraceableError, with_python_numbers

# Traces that a second one confirmed.
_confirmed: "OrderedDict[Trace, Trace]" = OrderedDict()
_MOST_CONFIRMED = 512

# Equations whose result is missing if an operand is.
_PASS_MISSING = frozenset(
    (
        *("add", "sub", "mul", "div", "neg", "abs", "eq", "ne", "lt", "le", "gt", "ge"),
        *("convert_element_type", "copy"),
    )
)


class Trace:
    """The equations of a function of one value or row. Equal if the equations are."""

    __slots__ = ("_hash", "_key", "closed", "tree")

    def __init__(self, closed: ClosedJaxpr, tree: Any):
        self.closed, self.tree = closed, tree
        consts = tuple(map(_key_of_array, closed.consts))
        self._key = (_key_of(closed.jaxpr), consts, tree)
        self._hash = hash(self._key)

    def __call__(self, values: Sequence[Array]) -> Any:
        return jax.tree.unflatten(self.tree, jaxpr_as_fun(self.closed)(*values))

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Trace) and self._key == other._key)

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> Any:
        raise TypeError("a trace is not kept on disk")


def exact_trace(
    func: Function,
    call: Function,
    columns: Sequence[Column],
    dtypes: Sequence[np.dtype],
    table: Table,
    rules: Rules,
) -> Function:
    """The trace of a function, for arguments of some dtypes; raises if calls may differ from it.

    Args:
        func: the function of the user.
        call: calls it with a tuple of values.
        columns: the columns of the arguments.
        dtypes: the dtypes of the arguments.
        table: the table of the columns.
        rules: the numbers that the host calls the function with.
    """
    are_bools = any(dtype.kind == "b" for dtype in dtypes)
    if calls_differ(func) or (are_bools and compares_identity(func)):
        raise UntraceableError("each call of the function may differ from its trace")
    if not table.num_rows_on_host:
        raise UntraceableError("without rows pandas calls no function, or calls it with none")
    trace = confirmed_trace(call, [jax.ShapeDtypeStruct((), dtype) for dtype in dtypes])
    if trace is None:
        return call
    if not _depends(trace.closed.jaxpr):
        raise UntraceableError("the result of the function does not depend on its argument")
    try:
        agree(trace.closed, list(map(any_of, dtypes)), rules)
    except UntraceableError:
        found = [_bounds(column, table) for column in columns]
        agree(trace.closed, found, rules)
    return trace


def confirmed_trace(call: Function, avals: Sequence[Any]) -> Trace | None:
    """The trace of a function of a tuple of arrays; raises if a second one differs.

    None within the trace of a gradient of what the function closes over.
    """
    trace = _traced(call, avals)
    if any(isinstance(const, Tracer) for const in trace.closed.consts):
        return None
    if trace not in _confirmed:
        if _traced(call, avals) != trace:
            raise UntraceableError("the function computes something else when it is traced again")
        _confirmed[trace] = trace
        if len(_confirmed) > _MOST_CONFIRMED:
            _confirmed.popitem(last=False)
    return _confirmed[trace]


def passes_missing(trace: Function, func: Function) -> bool:
    """Whether a function of a missing value gives one: it is made of operators that do."""
    names = (
        {one.primitive.name for one in trace.closed.jaxpr.eqns}
        if isinstance(trace, Trace)
        else {""}
    )
    return names <= _PASS_MISSING and not compares_identity(func)


def _traced(call: Function, avals: Sequence[Any]) -> Trace:
    # A new function each time: JAX keeps traces by function.
    with with_python_numbers():
        closed, shapes = jax.make_jaxpr(lambda *values: call(values), return_shape=True)(*avals)
    return Trace(closed, jax.tree.structure(shapes))


def _depends(jaxpr: Any) -> bool:
    """Whether any result depends on an argument."""
    reached = set(jaxpr.invars)
    for equation in jaxpr.eqns:
        if any(not isinstance(atom, Literal) and atom in reached for atom in equation.invars):
            reached.update(equation.outvars)
    return any(not isinstance(atom, Literal) and atom in reached for atom in jaxpr.outvars)


def _bounds(column: Column, table: Table) -> Bounds:
    dtype = np.dtype(column.dtype)
    if dtype.kind not in "iuf":
        return any_of(dtype)
    least, greatest, has_zero = _extent(column.data, table.num_rows, table.layout)
    ends = of_values(np.array([np.asarray(least), np.asarray(greatest)]))
    return (
        ends
        if dtype.kind == "f" and not np.isfinite(ends.low)
        else Bounds(ends.low, ends.high, bool(has_zero))
    )


@answered_at_once
@functools.partial(tiered, static_argnums=2)
def _extent(data: Array, num_rows: Count, layout: Layout) -> tuple[Array, Array, Array]:
    """The least and the greatest value of the rows, NaN aside, and whether there is a zero."""
    is_value = is_row(data.shape[0], num_rows, layout)
    if jnp.issubdtype(data.dtype, jnp.floating):
        is_value &= ~jnp.isnan(data)
        limits: Any = jnp.array([-jnp.inf, jnp.inf], data.dtype)
        tiny = jnp.finfo(data.dtype).tiny
    else:
        info = jnp.iinfo(data.dtype)
        limits, tiny = jnp.array([info.min, info.max], data.dtype), 1
    is_zero = (
        (data < data.dtype.type(tiny))
        if data.dtype.kind == "u"
        else (jnp.abs(data) < data.dtype.type(tiny))
    )
    least = jnp.where(is_value, data, limits[1]).min()
    greatest = jnp.where(is_value, data, limits[0]).max()
    return least, greatest, jnp.any(is_zero & is_value)


def _key_of(jaxpr: Any) -> tuple[Any, ...]:
    """The equations of a jaxpr with numbers for variables."""
    numbers: dict[Any, int] = {}
    count = itertools.count()

    def name(atom: Any) -> Any:
        if isinstance(atom, Literal):
            return (str(atom.aval), np.asarray(atom.val).tobytes())
        if atom not in numbers:
            numbers[atom] = next(count)
        return (numbers[atom], str(atom.aval))

    def names(atoms: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(map(name, atoms))

    given = names([*jaxpr.constvars, *jaxpr.invars])
    equations = tuple(
        (one.primitive.name, names(one.invars), _key_of_params(one), names(one.outvars))
        for one in jaxpr.eqns
    )
    return given, equations, names(jaxpr.outvars)


def _key_of_params(equation: Any) -> tuple[Any, ...]:
    # The rules of derivatives are new functions in each trace, and have no part in the values.
    is_custom = equation.primitive.name.startswith("custom_")
    return tuple(
        (key, _key_of_param(value))
        for key, value in sorted(equation.params.items())
        if not (is_custom and callable(value) and not isinstance(value, ClosedJaxpr))
    )


def _key_of_param(value: Any) -> Any:
    if isinstance(value, ClosedJaxpr):
        return _key_of(value.jaxpr), tuple(map(_key_of_array, value.consts))
    if hasattr(value, "eqns"):
        return _key_of(value)
    if isinstance(value, (tuple, list)):
        return type(value), tuple(map(_key_of_param, value))
    try:
        hash(value)
    except TypeError:
        return _Identity(value)
    return type(value), value


def _key_of_array(array: Any) -> Any:
    if isinstance(array, Tracer):
        return _Identity(array)
    values = np.asarray(array)
    return values.shape, str(values.dtype), values.tobytes()


class _Identity:
    """A value that is equal to itself only."""

    __slots__ = ("value",)

    def __init__(self, value: object):
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)
