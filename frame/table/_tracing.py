# SPDX-License-Identifier: Apache-2.0
"""Concrete values during tracing: evaluates captured arrays eagerly and caches the results."""

import functools
from collections.abc import Callable, Hashable
from typing import Any, ParamSpec, TypeVar

import jax
import numpy as np
from jax.core import Tracer, eval_context

from ...shardings._compat import is_under_trace, trace_state

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def is_traced(*trees: object) -> bool:
    """Whether any array is traced. A deferred column is a leaf, and no array of it is."""
    if len(trees) == 1 and type(trees[0]) is np.int32:
        # Every method asks for the number of rows.
        return False
    leaves = jax.tree.leaves(trees)
    return any(issubclass(kind, Tracer) for kind in set(map(type, leaves)))


def at_once(
    function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Result:
    """Calls `function` eagerly if no argument is traced, even inside another trace.

    JAX would stage the call, although its inputs are concrete: the host could not read the result,
    and it must not outlive the trace. All arrays that `function` reads must be arguments.
    """
    if not is_under_trace() or is_traced(args, kwargs):
        return function(*args, **kwargs)
    with eval_context():
        return function(*args, **kwargs)


def answered_at_once(method: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Decorator that makes each call by `at_once`, for functions that read values on the host."""

    @functools.wraps(method)
    def answer(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        return at_once(method, *args, **kwargs)

    return answer


class FoundOnce:
    """A cache for results computed eagerly or under a trace.

    Concrete results are kept for good. A staged result belongs to its trace: inner and outer
    traces compute their own.
    """

    def __init__(self):
        self._known: dict[Any, Any] = {}
        self._staged: dict[Any, list[tuple[Any, Any]]] = {}

    def __contains__(self, name: Hashable) -> bool:
        """Whether a result is cached, under any trace."""
        return name in self._known or name in self._staged

    def once(
        self,
        name: Hashable,
        find: Callable[[], object],
        *,
        is_staged: Callable[[object], bool] = is_traced,
        keeps_staged: bool = True,
    ) -> Any:
        """The cached result of `find`; `keeps_staged=False` if the cache outlives a trace."""
        if name in self._known:
            return self._known[name]
        trace = trace_state()
        for staged_in, result in self._staged.get(name, ()):
            if staged_in == trace:
                return result
        result = find()
        if not is_staged(result):
            self._known[name] = result
        elif keeps_staged:
            self._staged.setdefault(name, []).append((trace, result))
        return result


def is_in_jit(*trees: object) -> bool:
    """Whether results are traced: inside `jit`, even those computed from concrete arrays."""
    if not is_under_trace():
        return is_traced(*trees)
    return is_traced(*trees, jax.device_put(np.int32(0)))
