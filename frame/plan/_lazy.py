# SPDX-License-Identifier: Apache-2.0
"""The base class of plans of frames, of series and of values."""

from collections.abc import Mapping
from typing import Any, ClassVar, NoReturn

from ..table._lazy_base import LazyBase
from ..table._ndframe import FrameBase, SeriesBase
from ..table._types import Options
from ._explain import Explanation, plan_text
from ._node import Call, Node
from ._optimize import optimized as apply_rules


class Lazy(LazyBase):
    """A plan: what its result is, and how to calculate it."""

    # The classes for plans of frames, of series and of values.
    frame_class: ClassVar[type]
    series_class: ClassVar[type]
    value_class: ClassVar[type]

    _plan: Node

    @classmethod
    def _of(cls, plan: Node) -> Any:
        lazy = object.__new__(cls)
        lazy._plan = plan
        return lazy

    def explain(
        self, optimized: bool = True, *, optimizations: Mapping[str, bool] | None = None
    ) -> str:
        """The plan as a tree of text, the last step first; a notebook shows it as a drawing.

        Args:
            optimized: whether to apply the rules of the optimiser first.
            optimizations: rules to switch off; see `collect`.
        """
        root = apply_rules(self._plan, optimizations) if optimized else self._plan
        return Explanation.of(root)

    def _record(self, method: str, /, *others: Node, **arguments: object) -> Any:
        call = Call.of(method, (self._plan, *others), arguments)
        return lazy_of(call)

    def _recorded(self, method: str, arguments: Options) -> Any:
        """A step of a method that records itself, with the arguments of the eager method."""
        return self._record(method, **arguments)

    def _repr_svg_(self) -> str:
        return Explanation.of(apply_rules(self._plan, None))._repr_svg_()

    def _repr_html_(self) -> str:
        return Explanation.of(apply_rules(self._plan, None))._repr_html_()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>\n{plan_text(self._plan)}"

    def __hash__(self) -> int:
        return hash((type(self), self._plan))

    def __bool__(self) -> NoReturn:
        raise TypeError(
            f"the truth value of a {type(self).__name__} is not known before it runs. "
            "Call collect() first."
        )

    def __len__(self) -> NoReturn:
        raise TypeError(
            f"len: the number of rows of a {type(self).__name__} is not known before it runs. "
            "Call collect() first."
        )

    def __array__(self, dtype: object = None, copy: object = None) -> NoReturn:
        del dtype, copy
        raise TypeError(
            f"the values of a {type(self).__name__} are not known before it runs. Call collect() "
            "first, or its own methods: where() for np.where."
        )

    def __setattr__(self, name: str, value: object) -> None:
        if name != "_plan" or "_plan" in vars(self):
            raise AttributeError(f"a {type(self).__name__} is immutable. Use assign().")
        object.__setattr__(self, name, value)


def lazy_of(plan: Node) -> Any:
    """The lazy object for the kind of a plan's result. Runs the plan without rows."""
    empty = plan.empty
    if isinstance(empty, FrameBase):
        return Lazy.frame_class._of(plan)
    return (Lazy.series_class if isinstance(empty, SeriesBase) else Lazy.value_class)._of(plan)


def unheld(kind: str, method: str) -> NotImplementedError:
    """The error for what a plan cannot hold."""
    return NotImplementedError(
        f"{kind}: a plan cannot hold {method}. Call collect() first, and {method} of the result."
    )
