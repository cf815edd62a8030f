# SPDX-License-Identifier: Apache-2.0
"""`LazyFrame`: a plan of a frame, and where its rows go."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ..io._narwhals import narwhals_frame
from ..plan._lazy import Lazy
from ..plan._lazy_frame import FramePlan, plan_of_frame
from ..table._ndframe import FrameBase
from ..table._types import Sharding
from . import _streams
from ._collected import Collected


class LazyFrame(FramePlan, Collected):
    """A plan of a frame, which runs when `collect` is called. Immutable and hashable.

    Made by `JaxFrame.lazy`, `scan_parquet`, `scan_csv` and `scan_arrow`. The methods are those of
    `JaxFrame`, with the same arguments and the same answers. A method first runs on a frame
    without rows, so wrong arguments raise where they are written, and labels and dtypes are known.
    Columns are `col("x")`, or `plan["x"]` and `plan.x`.

    Example:
        >>> from jaxframes.frame import JaxFrame, col
        >>> frame = JaxFrame({"k": [1, 2, 1], "x": [1.0, 2.0, 4.0]})
        >>> plan = frame.lazy().filter(col("x") > 1).groupby("k").sum()
        >>> plan.collect().to_pandas().x.to_dict()
        {1: 4.0, 2: 2.0}
    """

    @property
    def schema(self) -> pd.Series:
        """The dtype of each column of the result.

        Where pandas takes a dtype from values, as for a left join whose rows may all have a match,
        the plan runs up to this step to find it. Other plans read no rows.
        """
        return self._dtypes

    @property
    def dtypes(self) -> pd.Series:
        """The dtype of each column; see `schema`."""
        return self.schema

    def to_parquet(
        self,
        path: object,
        *,
        partition_cols: Sequence[str] | None = None,
        max_rows_per_file: int | None = None,
        batch_rows: int | None = None,
        memory_limit: int | str | None = None,
        progress: bool | None = None,
        checkpoint: object = None,
        **options: object,
    ) -> None:
        """Runs the plan and writes the result as Parquet; see `JaxFrame.to_parquet`.

        Over batches, the file has one row group for each, and appears when it is complete.

        `partition_cols` or `max_rows_per_file` make a folder of several files, with a manifest
        that names them. The new manifest replaces the old one when all files are on the disk, so a
        reader finds the old rows or the new ones, also after a crash. Files of the old manifest
        are removed then.

        Args:
            path: the file, or its URL; a new or empty folder of this machine, or one that was
                written so before.
            partition_cols: columns of strings, integers or booleans whose values become folders
                `key=value`.
            max_rows_per_file: the number of rows after which a new file begins.
            batch_rows: the number of rows of a batch; see `collect`.
            memory_limit: the limit from which the size of batches follows; see `collect`.
            progress: whether to show a progress bar.
            checkpoint: a folder for finished work, from which an interrupted job goes on; see
                `collect`. The files have the same bytes as those of a job without interruption.
            options: those of `JaxFrame.to_parquet`: `index`, `compression`, `filesystem` and
                `storage_options`.

        Raises:
            FileExistsError: the folder has files, but no manifest.
            BlockingIOError: another writer is at work in the folder.
            NotImplementedError: a column of `partition_cols` has another dtype.

        Example:
            >>> import os, tempfile
            >>> from jaxframes.frame import JaxFrame, scan_parquet
            >>> folder = tempfile.TemporaryDirectory()
            >>> plan = JaxFrame({"k": ["a", "b", "a"], "x": [1, 2, 3]}).lazy()
            >>> plan.to_parquet(folder.name, partition_cols=["k"])
            >>> sorted(os.listdir(folder.name))
            ['_manifest.json', 'k=a', 'k=b']
            >>> scan_parquet(folder.name).x.sum().collect().item()
            6
            >>> folder.cleanup()
        """
        options |= {"partition_cols": partition_cols, "max_rows_per_file": max_rows_per_file}
        _streams.to_parquet(
            self._plan, path, {name: one for name, one in options.items() if one is not None},
            batch_rows=batch_rows, memory_limit=memory_limit, progress=progress,
            checkpoint=checkpoint,
        )  # fmt: skip

    def to_csv(
        self,
        path_or_buf: object = None,
        *,
        batch_rows: int | None = None,
        memory_limit: int | str | None = None,
        progress: bool | None = None,
        checkpoint: object = None,
        **options: object,
    ) -> str | None:
        """Runs the plan and writes comma-separated values; see `JaxFrame.to_csv`.

        Args:
            path_or_buf: the file, or its URL; over batches it appears when it is complete. A file
                of another store is written on this machine first, and copied there.
            batch_rows: the number of rows of a batch; see `collect`.
            memory_limit: the limit from which the size of batches follows; see `collect`.
            progress: whether to show a progress bar.
            checkpoint: a folder for finished work; see `to_parquet`.
            options: those of `JaxFrame.to_csv`.
        """
        if batch_rows is None and memory_limit is None and checkpoint is None:
            return self.collect().to_csv(path_or_buf, **options)
        return _streams.to_csv(
            self._plan, path_or_buf, options, batch_rows=batch_rows, memory_limit=memory_limit,
            progress=progress, checkpoint=checkpoint,
        )  # fmt: skip

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return _streams.arrow_reader(self._plan).__arrow_c_stream__(requested_schema)

    def __narwhals_lazyframe__(self) -> Any:
        return narwhals_frame(self, is_lazy=True)

    def batches(
        self,
        size: int,
        *,
        drop_remainder: bool = False,
        shuffle_buffer: int | None = None,
        seed: int = 0,
        epochs: int | None = 1,
        state: Mapping[str, object] | None = None,
        batch_rows: int | None = None,
        memory_limit: int | str | None = None,
        sharding: Sharding = None,
    ) -> Any:
        """Runs the plan and iterates over frames of `size` rows and one capacity.

        The capacity is `size`, or over a mesh the next multiple of its shards. The iterator is a
        `Batches`: `state()` tells its position, and `state=` starts from one and gives bit for bit
        the batches that would have come. Rows are shuffled within buffers. A plan that cannot run
        over batches of its sources is collected first.

        Args:
            size: the number of rows of a frame.
            drop_remainder: whether to leave out a shorter frame at the end of a pass.
            shuffle_buffer: the number of rows that are shuffled together, rounded up to a multiple
                of `size`; rows keep their order if left out.
            seed: the seed of the shuffling, which differs between passes.
            epochs: the number of passes; endless if None.
            state: where to start, from `state()` of an equal iterator.
            batch_rows: the number of rows that are read at one time.
            memory_limit: the limit from which this number follows; see `collect`. The rows that
                are shuffled together come on top.
            sharding: the placement of the frames; see `JaxFrame`.

        Raises:
            ValueError: a number is not positive, both `batch_rows` and `memory_limit` are given,
                or the state is one of another plan, of other options or of files of other sizes.
        """
        return _streams.batches(
            self._plan, size, drop_remainder=drop_remainder, shuffle_buffer=shuffle_buffer,
            seed=seed, epochs=epochs, state=state, batch_rows=batch_rows,
            memory_limit=memory_limit, sharding=sharding,
        )  # fmt: skip

    def to_grain(
        self,
        size: int,
        *,
        random_access: bool = False,
        drop_remainder: bool = False,
        shuffle_buffer: int | None = None,
        seed: int = 0,
        epochs: int | None = 1,
        batch_rows: int | None = None,
    ) -> Any:
        """A dataset of the library grain: dicts of NumPy arrays of `size` rows, by label.

        By default it is a `grain.IterDataset` that streams the batches of `batches`. The state of
        its iterator is that of `Batches.state`, which JSON holds and orbax saves.

        With `random_access` it is a `grain.MapDataset` whose element `i` has the rows from
        `i * size` on. `shuffle()` shuffles batches. The plan must keep the number and the order of
        its rows, and start with Parquet files or a frame.

        Args:
            size: the number of rows of an element.
            random_access: whether elements are read by number.
            drop_remainder: whether to leave out a shorter element at the end of a pass.
            shuffle_buffer: see `batches`; for streams.
            seed: see `batches`; for streams.
            epochs: see `batches`; for streams.
            batch_rows: see `batches`; for streams.

        Raises:
            ImportError: grain is not installed; it comes with the extra `grain`.
            NotImplementedError: `random_access`, and the number of rows is not known.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> plan = JaxFrame({"x": [1, 2, 3, 4, 5]}).lazy()
            >>> dataset = plan.to_grain(2).map(lambda batch: batch["x"].sum().item())
            >>> iterator = iter(dataset)
            >>> next(iterator)
            3
            >>> state = iterator.get_state()
            >>> resumed = iter(dataset)
            >>> resumed.set_state(state)
            >>> list(resumed)
            [7, 5]
            >>> plan.to_grain(2, random_access=True)[1]["x"].tolist()
            [3, 4]
        """
        return _streams.to_grain(
            self._plan, size, random_access=random_access, drop_remainder=drop_remainder,
            shuffle_buffer=shuffle_buffer, seed=seed, epochs=epochs, batch_rows=batch_rows,
        )  # fmt: skip


class FramePlanning(FrameBase):
    """Plans that start with a frame."""

    def lazy(self) -> LazyFrame:
        """A plan that starts with this frame: methods are recorded, and run by `collect`.

        Example:
            >>> from jaxframes.frame import JaxFrame, col
            >>> plan = JaxFrame({"x": [3, 1, 2]}).lazy().filter(col("x") > 1).sort_values("x")
            >>> print(plan.explain(optimized=False))
            sort_values(by='x')
            └─ filter(col('x') > 1)
               └─ frame(3 rows, 1 columns)
            >>> plan.collect().x.tolist()
            [2, 3]
        """
        return LazyFrame._of(plan_of_frame(self))


Lazy.frame_class = LazyFrame
