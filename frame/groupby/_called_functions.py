# SPDX-License-Identifier: Apache-2.0
"""`apply` of groups, and functions of the user in `agg` and `transform`."""

from typing import Any

from ..table._column import Column
from ..table._column_labels import Labels
from ..table._tracing import is_traced
from ..table._types import Function
from ..table._user_functions import as_frames, by_engine, has_host
from ._base import GroupByBase
from ._by_host import called_with_frames, groups_on_host, reduced_on_host
from ._recorded import GroupColumn, GroupValue, rows_of, traced_over_groups, value_of
from ._user_functions import UserFunction


def _called(
    grouped: GroupByBase, caller: str, how: UserFunction, trace: Function, on_host: Function
) -> Any:
    is_in_trace = grouped._groups.is_traced or is_traced(grouped._table)
    has_choice = how.engine is None and caller != "agg" and has_host(is_in_trace)
    if has_choice and not int(grouped._groups.count):
        # pandas calls the function with no rows, or not at all.
        return on_host()
    return by_engine(
        caller, how.engine, trace, on_host, is_traced=is_in_trace, function=how.function
    )


def reduced_by_user(grouped: GroupByBase, position: int, how: UserFunction) -> Column:
    """The value of each group that a function of a column's groups returns."""
    column = grouped._table.columns[position]
    series = grouped._source._make_series(column, grouped._source._names[position], grouped._table)
    return _called(
        grouped,
        "agg",
        how,
        lambda: value_of(traced_over_groups(grouped._of_series(series), how)),
        lambda: reduced_on_host(grouped, position, how),
    )


def transformed_by_user(grouped: GroupByBase, how: UserFunction) -> Any:
    """The rows that a function makes of the rows of each group; a value stands for all."""
    of: Any = grouped

    def trace() -> Any:
        parts = [of._source._make_series(column, None, of._table) for column in of._columns]
        traced = [traced_over_groups(of._of_series(part), how) for part in parts]
        kinds = {(type(one), one._column.dtype_name) for one in traced}
        if len(kinds) > 1 and any(isinstance(one, GroupValue) for one in traced):
            # In pandas the values of one group have a common dtype.
            traced[0]._trace.refuse("values of several dtypes")
        return of._made([rows_of(one) for one in traced], of._table)

    def on_host() -> Any:
        found = groups_on_host(of).transform(called_with_frames(how))
        return as_frames(found, of._source.sharding)

    return _called(of, "transform", how, trace, on_host)


class GroupByApply(GroupByBase):
    """`apply` of groups."""

    def apply(
        self,
        func: object,
        *args: object,
        include_groups: bool = False,
        engine: str | None = None,
        **kwargs: object,
    ) -> Any:
        """Calls a function with each group, and combines the results by pandas' rules.

        The function is traced first: it is called once, with a group whose columns stand for those
        of all groups. That works if it computes one value for each group by operators, reductions
        and row-wise methods of columns, as `lambda g: g.x.max() - g.x.min()` does. A trace is one
        program of all groups, and works inside `jit`, over a mesh and for gradients.

        Other functions run on the host, outside `jit` and in one process: once for each group, with
        a frame or a series of its rows. The results are scalars, series, frames or None.

        Args:
            func: a function of a group, or the name of a method.
            *args: further arguments of the function.
            include_groups: must be False.
            engine: "jax" for traced functions only, "python" for calls on the host only; by
                default the first that works.
            **kwargs: keyword arguments of the function.

        Cost:
            Traced: that of the methods that the function calls. On the host: a slice for each
            group, as in pandas, whose columns, length, values and extremes cost no more than
            there; other methods about as much as an eager call, a few hundred microseconds,
            however few rows a group has.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> frame = JaxFrame({"k": [2, 1, 2], "x": [1.0, 2.0, 4.0]})
            >>> frame.groupby("k").apply(lambda g: g.x.max() - g.x.min()).tolist()
            [0.0, 3.0]
        """
        if include_groups:
            raise ValueError("include_groups=True is no longer allowed. Leave it out.")
        if isinstance(func, str):
            result = getattr(self, func)
            return result(*args, **kwargs) if callable(result) else result
        if not callable(func):
            raise TypeError(f"apply: func must be a function or a name, got {func!r}.")
        how = UserFunction(func, args, kwargs, engine)

        def on_host() -> Any:
            found = groups_on_host(self).apply(called_with_frames(how))
            return as_frames(found, self._source.sharding)

        return _called(self, "apply", how, lambda: self._applied_at_once(how), on_host)

    def _applied_at_once(self, how: UserFunction) -> Any:
        traced = traced_over_groups(self, how)
        if isinstance(traced, GroupColumn):
            is_in_order = self._is_series and not self._options.group_keys
            if not is_in_order or self._grouped.may_drop:
                traced._trace.refuse("all rows of its result")
            return self._made([traced._column], self._table)
        if not self._options.as_index:
            traced._trace.refuse("as_index=False")
        is_in_trace = self._groups.is_traced or is_traced(self._table)
        if traced._column.is_nullable and has_host(is_in_trace) and how.engine is None:
            # pandas infers another dtype from the results.
            traced._trace.refuse("values of a nullable dtype")
        name = self._labels[0] if self._is_series else None
        return self._one_each([traced._column], Labels.of([name]), as_series=True)
