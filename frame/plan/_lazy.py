# SPDX-License-Identifier: Apache-2.0
"""The base class of plans of frames, of series and of values."""

from collections.abc import Mapping
from typing import Any, ClassVar, NoReturn

from ..table._deferred import Deferred
from ..table._ndframe import FrameBase, SeriesBase
from ._explain import plan_svg, plan_text
from ._node import Call, Node
from ._optimize import optimized as apply_rules
from ._run import run


class Lazy(Deferred):
    """A plan: what its result is, and how to calculate it."""

    # The classes for plans of frames, of series and of values.
    frame_class: ClassVar[type]
    series_class: ClassVar[type]
    value_class: ClassVar[type]

    _plan: Node
    # The room above that runs plans over batches.
    _streams: ClassVar[Any]

    @classmethod
    def _of(cls, plan: Node) -> Any:
        lazy = object.__new__(cls)
        lazy._plan = plan
        return lazy

    def collect(
        self,
        *,
        optimizations: Mapping[str, bool] | None = None,
        batch_rows: int | None = None,
        memory_limit: int | str | None = None,
        progress: bool | None = None,
        checkpoint: Any = None,
    ) -> Any:
        """Runs the plan: at once, or over batches of rows if a size or a limit is given.

        Over batches, rowwise methods run batch by batch, and groups, reductions and distinct rows
        keep partial states, which go to a temporary folder when they outgrow a batch. Sums of
        floats may differ in the last bits.

        Args:
            optimizations: rules of the optimiser to switch off by name, such as
                `{"predicate_pushdown": False}`. The result is the same without them.
            batch_rows: the number of rows of a batch.
            memory_limit: bytes, or a text such as "2GiB", from which the size of batches follows.
                The result itself comes on top.
            progress: whether to show a progress bar; if left out, on a terminal only.
            checkpoint: a folder for finished batches of the result, and for sorted runs, partial
                states and parts of joins before there is one. A job that was interrupted goes on
                from these when it is called again. The folder is removed at the end.

        Raises:
            NotImplementedError: a method cannot run over batches.
            ValueError: there is no rule of that name, both a size and a limit are given, or the
                checkpoint is of another plan, of other options, or of files that have changed.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> plan = JaxFrame({"k": [1, 2, 1], "x": [1, 2, 4]}).lazy().groupby("k").sum()
            >>> plan.collect(batch_rows=2).x.tolist()
            [5, 2]
        """
        if batch_rows is not None or memory_limit is not None or checkpoint is not None:
            return self._streams.collect(
                self._plan, optimizations, batch_rows=batch_rows, memory_limit=memory_limit,
                progress=progress, checkpoint=checkpoint,
            )  # fmt: skip
        return run(apply_rules(self._plan, optimizations))

    @property
    def _dtypes(self) -> Any:
        return self._streams.without_rows(self._plan).dtypes

    def explain(
        self, optimized: bool = True, *, optimizations: Mapping[str, bool] | None = None
    ) -> str:
        """The plan as a tree of text, the last step first.

        Args:
            optimized: whether to apply the rules of the optimiser first.
            optimizations: rules to switch off; see `collect`.
        """
        return plan_text(apply_rules(self._plan, optimizations) if optimized else self._plan)

    def _record(self, method: str, /, *others: Node, **arguments: Any) -> Any:
        call = Call.of(method, (self._plan, *others), arguments)
        return lazy_of(call)

    def _repr_svg_(self) -> str:
        return plan_svg(apply_rules(self._plan, None))

    def _repr_html_(self) -> str:
        return f"<div>{self._repr_svg_()}</div>"

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

    def __setattr__(self, name: str, value: Any) -> None:
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
