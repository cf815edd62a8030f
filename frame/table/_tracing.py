# SPDX-License-Identifier: Apache-2.0
"""What is known while a function is traced: arrays that it closes over, and what they give."""

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import jax
import jax.numpy as jnp
from jax.core import Tracer, eval_context
from jax.extend.core import get_opaque_trace_state

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

with eval_context():
    _NOTHING_TRACED = get_opaque_trace_state()


def is_traced(*trees: Any) -> bool:
    """Whether any of the arrays has no value yet."""
    return any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(trees))


def at_once(
    function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Result:
    """What a function makes of known arrays, with its values, even while another is traced.

    JAX stages what is asked of known arrays then: the result would have no value for the host to
    look at, and must not outlive the trace. Where an argument is traced, so is the result; all
    arrays that it depends on must be among the arguments.
    """
    if get_opaque_trace_state() == _NOTHING_TRACED or is_traced(args, kwargs):
        return function(*args, **kwargs)
    with eval_context():
        return function(*args, **kwargs)


def answered_at_once(method: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Makes every call one by `at_once`: for what looks at values on the host itself."""

    @functools.wraps(method)
    def answer(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        return at_once(method, *args, **kwargs)

    return answer


class FoundOnce:
    """What is looked for only once.

    What is known is found for good. What is staged belongs to the function that was being traced;
    one inside it, or around it, looks for itself.
    """

    def __init__(self):
        self._known: dict[Any, Any] = {}
        self._staged: dict[Any, list[tuple[Any, Any]]] = {}

    def __contains__(self, name: Any) -> bool:
        """Whether it was found, by whatever function."""
        return name in self._known or name in self._staged

    def once(
        self,
        name: Any,
        find: Callable[[], Any],
        *,
        is_staged: Callable[[Any], bool] = is_traced,
        keeps_staged: bool = True,
    ) -> Any:
        """What `find` returns; `keeps_staged=False` for what outlives the trace."""
        if name in self._known:
            return self._known[name]
        function = get_opaque_trace_state()
        for made_by, found in self._staged.get(name, ()):
            if made_by == function:
                return found
        found = find()
        if not is_staged(found):
            self._known[name] = found
        elif keeps_staged:
            self._staged.setdefault(name, []).append((function, found))
        return found


def is_in_jit(*trees: Any) -> bool:
    """Whether results of the arrays have no value yet; inside `jit` even those of known arrays."""
    return is_traced(*trees, jnp.zeros((), jnp.int32))
