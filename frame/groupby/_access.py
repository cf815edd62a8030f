# SPDX-License-Identifier: Apache-2.0
"""Groups one by one: `groups`, `indices`, `get_group`, iteration, `pipe` and `filter`."""

import datetime
import itertools
from collections.abc import Callable, Hashable, Iterator
from typing import Any

import jax
import numpy as np
import pandas as pd

from ..table._arguments import piped
from ..table._row_index import RowIndex
from ..table._to_host import host_array
from ..table._types import Options
from ..table._user_functions import UntraceableError, by_engine
from ._base import GroupByBase
from ._recorded import traced_over_groups, value_of
from ._user_functions import UserFunction

_TIMES = (datetime.datetime, datetime.timedelta, np.datetime64, np.timedelta64)


class GroupByAccess(GroupByBase):
    """Access to single groups. Only `pipe` works inside `jit`: the others need concrete groups.

    Rows are sorted by group once and the order is cached.
    """

    @property
    def ndim(self) -> int:
        """1 for a grouped series, 2 for a grouped frame."""
        return 1 if self._is_series else 2

    def __len__(self) -> int:
        return self.ngroups

    @property
    def ngroups(self) -> int:
        """The number of groups."""
        return len(self._keys_on_host("ngroups"))

    @property
    def groups(self) -> dict[Hashable, pd.Index]:
        """The index labels of the rows of each group, by key."""
        indices, labels = self.indices, self._source.index
        return {key: labels[row_ids] for key, row_ids in indices.items()}

    @property
    def indices(self) -> dict[Hashable, np.ndarray]:
        """The row positions of each group, by key."""
        keys = self._keys_on_host("indices")
        return dict(zip(keys, self._rows_by_group(), strict=True))

    def get_group(self, name: Hashable) -> Any:
        """Selects the rows of the group of a key, which is a tuple if `by` was a list."""
        keys = self._keys_on_host("get_group")
        if keys.nlevels > 1 and not isinstance(name, tuple):
            raise ValueError("must supply a tuple to get_group with multiple grouping keys")
        if keys.nlevels > 1 and isinstance(name, tuple) and len(name) != keys.nlevels:
            raise ValueError(
                "must supply a same-length tuple to get_group with multiple grouping keys"
            )
        key = name
        if self._has_wrapped_keys:
            if not isinstance(name, tuple) or len(name) != 1:
                raise KeyError(name)
            (key,) = name
        if isinstance(key, _TIMES) and not pd.isna(key):
            # A lookup would convert the keys to the unit of the time, which they may not fit.
            positions = np.flatnonzero(keys == key)
        else:
            positions = keys.get_indexer_for([key])
        if len(positions) != 1 or positions[0] < 0:
            raise KeyError(name)
        return self._rows_at(self._rows_by_group()[positions[0]])

    def __iter__(self) -> Iterator[tuple[Hashable, Any]]:
        keys = self._keys_on_host("iteration")
        for key, row_ids in zip(keys, self._rows_by_group(), strict=True):
            yield ((key,) if self._has_wrapped_keys else key), self._rows_at(row_ids)

    @property
    def _has_wrapped_keys(self) -> bool:
        """Whether keys are tuples of one, because `by` was a list of one."""
        return self._grouped.has_tuple_keys and len(self._grouped.keys) == 1

    def pipe(self, func: Any, *args: Any, **kwargs: Options) -> Any:
        """Calls a function of the groups, or a pair of one and the name of its groups argument."""
        return piped(self, func, args, kwargs)

    def filter(
        self,
        func: Callable[..., Any],
        dropna: bool = True,
        *args: object,
        engine: str | None = None,
        **kwargs: object,
    ) -> Any:
        """Keeps the rows of the groups for which `func`, called with each group, returns True.

        With `dropna=False` the values of the other rows become missing. For functions and `engine`
        see `apply`.
        """
        self._check_known("filter")
        how = UserFunction(func, args, kwargs, engine)
        is_selected = by_engine(
            "filter",
            engine,
            lambda: self._traced_flags(how),
            lambda: self._called_flags(how),
            is_traced=False,
        )
        if dropna:
            return self._rows_at(np.flatnonzero(is_selected))
        shown = self._shown(self._table)
        is_selected = is_selected.reshape(-1, *(1,) * (len(shown.shape) - 1))
        return shown.where(np.broadcast_to(is_selected, shown.shape))

    def _traced_flags(self, how: UserFunction) -> np.ndarray:
        column = value_of(traced_over_groups(self, how))
        if not column.is_bool:
            raise UntraceableError("filter: the function must return a bool for each group.")
        answers = np.append(host_array(column.data), False)
        return answers[host_array(self._groups.group_ids)[: len(self._source)]]

    def _called_flags(self, how: UserFunction) -> np.ndarray:
        is_selected = np.zeros(len(self._source), np.bool_)
        for row_ids in self._rows_by_group():
            if len(row_ids):
                answer = how(self._rows_at(row_ids))
                is_selected[row_ids] = _as_truth(answer, self._is_series)
        return is_selected

    def _check_known(self, caller: str) -> None:
        if self._groups.is_traced or self._source._is_traced:
            raise NotImplementedError(
                f"groupby: inside jit the groups are not known, so {caller} is not supported. "
                "Use agg() and transform()."
            )

    def _keys_on_host(self, caller: str) -> pd.Index:
        self._check_known(caller)
        groups = self._groups
        return RowIndex(groups.keys, self._grouped.key_names).to_pandas(int(groups.count))

    def _rows_by_group(self) -> list[np.ndarray]:
        """The row positions of each group, in the order of the groups."""
        return self._grouped.once("rows of groups", self._sorted_rows)

    def _sorted_rows(self) -> list[np.ndarray]:
        group_ids = host_array(self._groups.group_ids)[: len(self._source)]
        order = np.argsort(group_ids, kind="stable")
        bounds = np.searchsorted(group_ids[order], np.arange(int(self._groups.count) + 1))
        return [order[start:end] for start, end in itertools.pairwise(bounds)]

    def _rows_at(self, row_ids: np.ndarray) -> Any:
        """The selected columns at row positions."""
        return self._shown(self._source._taken(row_ids)._table)


def _as_truth(answer: object, is_series: bool) -> bool:
    """Converts the answer of a `filter` function to a bool; a missing answer is False."""
    if isinstance(answer, (jax.Array, np.ndarray)) and answer.ndim == 0:
        answer = np.asarray(answer)[()]
    if isinstance(answer, (bool, np.bool_)):
        return bool(answer)
    if pd.api.types.is_scalar(answer) and bool(pd.isna(answer)):
        return False
    if is_series:
        raise TypeError("the filter must return a boolean result")
    raise TypeError(
        f"filter function returned a {type(answer).__name__}, but expected a scalar bool"
    )
