# SPDX-License-Identifier: Apache-2.0
"""`collect` of a plan: at once, or over batches."""

from collections.abc import Mapping
from typing import Any

from ..plan._lazy import Lazy
from ..plan._optimize import optimized
from ..plan._run import run
from . import _streams


class Collected(Lazy):
    """A plan that runs."""

    def collect(
        self,
        *,
        optimizations: Mapping[str, bool] | None = None,
        batch_rows: int | None = None,
        memory_limit: int | str | None = None,
        progress: bool | None = None,
        checkpoint: object = None,
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
            return _streams.collect(
                self._plan, optimizations, batch_rows=batch_rows, memory_limit=memory_limit,
                progress=progress, checkpoint=checkpoint,
            )  # fmt: skip
        return run(optimized(self._plan, optimizations))

    @property
    def _dtypes(self) -> Any:
        return _streams.without_rows(self._plan).dtypes
