# SPDX-License-Identifier: Apache-2.0
"""Checkpoints: the finished batches of a job, in a folder, from which it goes on.

A batch is one file, which gets its name when it is complete and synced. So the files that have
names, counted from the first one, are the batches that were finished. Partial states of groups are
files, too: see `_steps`.
"""

import contextlib
import itertools
import json
import os
import re
from collections.abc import Iterator
from typing import Any

from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._types import Options
from ._arrow_rows import frame_of_arrow
from ._job import difference
from ._replacing import locked, read_arrow, read_json, write_arrow, write_text
from ._stage import Stage, close, joined
from ._steps import NAMES, Steps

JOB = "job.json"
# The number of all batches, when these are finished.
ALL = "batches.json"
# The version of the format of checkpoints. Other versions are not read.
FORMAT = 2
_FILE = rf"(?:batch-\d+\.arrow|batches\.json|job\.json|{NAMES})"
_OWN_NAME = re.compile(rf"{_FILE}|\.{_FILE}\..*\.part")


class Checkpoint:
    """The finished batches of a job. A context manager that keeps them if an error occurs.

    Args:
        folder: a new or empty folder, or that of the job before.
        job: what must be equal for the job to go on, of plain values.

    Raises:
        ValueError: the checkpoint is one of another job.
        FileExistsError: the folder has other files.
        BlockingIOError: another process runs the job.
    """

    def __init__(self, folder: Any, job: Options):
        self._folder = os.path.abspath(os.fspath(folder))
        self._job = {"jaxframes checkpoint": FORMAT, **job}

    def __enter__(self) -> "Checkpoint":
        os.makedirs(self._folder, exist_ok=True)
        self._lock = locked(
            self._folder,
            f"checkpoint: another process runs the job of {self._folder!r}. Wait for it, or "
            "give another folder.",
        )
        try:
            self._open()
        except BaseException:
            os.close(self._lock)
            raise
        return self

    def __exit__(self, kind: object, *error: object) -> None:
        try:
            if kind is None:
                self._clear()
                if not os.listdir(self._folder):
                    os.rmdir(self._folder)
        finally:
            os.close(self._lock)

    def _open(self) -> None:
        path = os.path.join(self._folder, JOB)
        others = sorted(name for name in os.listdir(self._folder) if not _OWN_NAME.fullmatch(name))
        if others:
            raise FileExistsError(
                f"checkpoint: the folder {self._folder!r} has other files, such as {others[0]!r}. "
                "Give a new folder."
            )
        old = read_json(path)
        if old is None:
            # Batches without a job are what a removal left.
            self._clear()
            write_text(path, json.dumps(self._job, indent=1))
            return
        found = difference(old, self._job)
        if found is not None or old["jaxframes checkpoint"] != FORMAT:
            raise ValueError(
                f"checkpoint: the folder {self._folder!r} is of another job. "
                f"{found or 'Another version of jaxframes made it.'} Give another folder, or "
                "remove this one to start again."
            )

    def _clear(self) -> None:
        """Removes the files of steps, then the batches, the last one first.

        So a manifest goes before the files that it lists, and batches that are left still count.
        """
        for name in sorted(os.listdir(self._folder), reverse=True):
            if _OWN_NAME.fullmatch(name) and name != JOB:
                os.remove(os.path.join(self._folder, name))
        with contextlib.suppress(FileNotFoundError):
            os.remove(os.path.join(self._folder, JOB))

    @property
    def num_batches(self) -> int:
        """The number of finished batches."""
        return next(
            number for number in itertools.count() if not os.path.exists(self._path(number))
        )

    @property
    def steps(self) -> Steps:
        """The steps of the job that have rows on disk or partial states."""
        return Steps(self._folder)

    def _path(self, number: int) -> str:
        return os.path.join(self._folder, f"batch-{number:08}.arrow")

    def resumed(self, stage: Stage) -> Stage:
        """The stage with its finished batches taken from the folder, and the others put there."""
        if not isinstance(stage.empty, (FrameBase, SeriesBase)):
            return stage
        if not stage.is_whole:
            return Stage(lambda: self._batches(stage), False, stage.empty)
        if stage.pieces is None:
            return stage

        def pieces() -> Iterator[Any]:
            return self._batches(stage)

        return Stage(lambda: joined(pieces(), stage.empty), True, stage.empty, pieces)

    def _batches(self, stage: Stage) -> Iterator[Any]:
        finished, empty = self.num_batches, stage.empty
        for number in range(finished):
            yield self._load(number, empty)
        if finished == self._num_all():
            return
        batches, first = stage.batches_from(finished)
        try:
            for number, batch in enumerate(batches, first):
                if number >= finished:
                    self._save(number, batch)
                    # What a resumed job would read, so that both give the same bytes.
                    yield self._load(number, empty)
        finally:
            close(batches)
        all_batches = json.dumps({"batches": self.num_batches})
        write_text(os.path.join(self._folder, ALL), all_batches)

    def _num_all(self) -> int | None:
        """The number of all batches; None if it is not known yet."""
        known = read_json(os.path.join(self._folder, ALL))
        return None if known is None else known["batches"]

    def _save(self, number: int, batch: Any) -> None:
        frame = batch.to_frame("values") if isinstance(batch, SeriesBase) else batch
        write_arrow(self._path(number), frame.to_arrow())
        kinds = [column.dtype_name for column in frame._table.columns]
        restored = [column.dtype_name for column in self._frame(number, frame)._table.columns]
        if kinds != restored:
            changed = [(a, b) for a, b in zip(kinds, restored, strict=True) if a != b]
            raise NotImplementedError(
                f"checkpoint: columns of {changed[0][0]} become {changed[0][1]} in a file. Call "
                "astype() first, or omit checkpoint=."
            )

    def _load(self, number: int, empty: Any) -> Any:
        frame = self._frame(number, empty)
        if isinstance(empty, SeriesBase):
            return frame["values"].rename(empty._name)
        frame._labels = empty._labels
        return frame

    def _frame(self, number: int, template: NDFrame) -> Any:
        return frame_of_arrow(read_arrow(self._path(number)), template._layout)
