# SPDX-License-Identifier: Apache-2.0
"""Files of the steps of a job: temporary ones, or those of a checkpoint, from which it goes on.

A file of a checkpoint gets its name when it is complete and synced. A manifest lists the files of a
step, with the number of the batches that they cover. It is replaced at once, so that files which it
does not list do not count.
"""

import contextlib
import glob
import itertools
import json
import os
from collections.abc import Callable, Iterator
from typing import Any, Protocol, runtime_checkable

from ..table._layout import Layout
from ..table._ndframe import FrameBase
from ..table._types import Options
from ._arrow_rows import frame_of_arrow
from ._files import writing
from ._replacing import new_file, read_arrow, read_json, write_arrow, write_text
from ._stage import close
from ._temporary_folder import TemporaryFolder

# A state in memory is kept after every so many batches.
EVERY = 16
# The names of the files of steps in the folder of a checkpoint.
NAMES = r"step-\d+(?:-\d+\.rows|\.json)"

# Gives batches and the number of the first one, which is at most a given number.
BatchesFrom = Callable[[int], tuple[Iterator[Any], int]]


def from_first(batches: Iterator[Any]) -> BatchesFrom:
    """Batches of which none can be left out."""
    return lambda _: (batches, 0)


@runtime_checkable
class Kept(Protocol):
    """What a step makes of its batches, and can put into files."""

    def add(self, batch: FrameBase, /) -> None:
        """Adds a batch."""
        ...

    def state(self) -> dict[str, Any] | None:
        """Facts as plain values, with the names of files under "files"; None if there are none.

        The step goes on from what was written, so that a resumed job gives the same bytes.
        """
        ...

    def restore(self, state: Options) -> None:
        """Takes a state in place of its own."""
        ...


class Steps:
    """The steps of a job, in the order in which its pipeline is built.

    Args:
        folder: the folder of a checkpoint; None if nothing is kept.
    """

    def __init__(self, folder: str | None = None):
        self._folder = folder
        self._numbers = itertools.count()

    def following(self, layout: Layout) -> "Step":
        """The next step, whose rows have a layout."""
        if self._folder is None:
            return Step(layout)
        return Step(layout, os.path.join(self._folder, f"step-{next(self._numbers):04}"))


class Step:
    """A step that may have rows on disk.

    Attributes:
        layout: that of its rows.
        path: where its files are kept, without the end of their names; None if they are not.
        is_running: whether the kept files are in use.
    """

    def __init__(self, layout: Layout, path: str | None = None):
        self.layout, self.path, self.is_running = layout, path, False

    def files(self) -> "StepFiles":
        """The files of one run of the step."""
        return StepFiles(self)


class StepFiles:
    """The files of one run of a step. A context manager.

    A second run at the same time has temporary files, but keeps its states in them as the first one
    does: both give the same bits.

    Attributes:
        layout: that of the rows.
        is_kept: whether states are written.
        num_batches: the number of batches that the kept files cover.
        is_complete: whether these are all.
        kept_state: the state of these batches; None without files.
        has_new: whether a file was made since the last state.
    """

    def __init__(self, step: Step):
        self.layout, self.is_kept = step.layout, step.path is not None
        self._step, self._path = step, step.path
        self._temporary: TemporaryFolder | None = None
        self._open_files = contextlib.ExitStack()
        self._owner: Kept | None = None
        self._listed: set[str] = set()
        self.num_batches, self.is_complete, self.has_new = 0, False, False
        self.kept_state: dict[str, Any] | None = None
        if step.is_running:
            self._path = None
        elif step.path is not None:
            step.is_running = True
            self._open(step.path)
        # A file that is not listed is replaced.
        numbers = [int(name.rpartition("-")[2].partition(".")[0]) for name in self._listed]
        self._numbers = itertools.count(max(numbers, default=-1) + 1)

    def _open(self, step: str) -> None:
        manifest = read_json(f"{step}.json")
        if manifest is not None:
            self.num_batches, self.is_complete = manifest["batches"], manifest["is complete"]
            self.kept_state = manifest["state"]
            self._listed = set(_listed(self.kept_state))
        self._remove_others(step)

    def __enter__(self) -> "StepFiles":
        return self

    def __exit__(self, *error: Any) -> None:
        try:
            # A file that cannot be written cannot be closed either: the first error counts.
            with contextlib.suppress(OSError) if error[0] is not None else contextlib.nullcontext():
                self._open_files.__exit__(*error)
        finally:
            if self._temporary is not None:
                self._temporary.cleanup()
            if self._path is not None:
                self._step.is_running = False

    def closed_with(self, stack: contextlib.ExitStack) -> contextlib.ExitStack:
        """Closes files that are still open at the end of the run."""
        self._open_files.push(stack)
        return stack

    def temporary(self) -> "StepFiles":
        """Temporary files, of which nothing is kept."""
        return StepFiles(Step(self.layout))

    def _start(self) -> str:
        """How the paths of all files start. The temporary folder is made when a file is."""
        if self._path is not None:
            return self._path
        if self._temporary is None:
            self._temporary = TemporaryFolder()
        return os.path.join(self._temporary.name, "step")

    def new_path(self) -> str:
        """The path of a new file; see `writing`."""
        self.has_new = True
        return f"{self._start()}-{next(self._numbers):06}.rows"

    def path_of(self, name: str) -> str:
        """The path of a file of a state."""
        return os.path.join(os.path.dirname(self._start()), name)

    @contextlib.contextmanager
    def writing(self, path: str) -> Iterator[str]:
        """Gives the name under which a new file is written, until it is complete."""
        with new_file(path) if self._path is not None else writing(path) as name:
            yield name

    def write(self, rows: Any) -> str:
        """Writes a frame; returns the name of its file."""
        path = self.new_path()
        write_arrow(path, rows.to_arrow())
        return os.path.basename(path)

    def read(self, name: str) -> Any:
        """Reads a frame that `write` wrote."""
        return frame_of_arrow(read_arrow(self.path_of(name)), self.layout)

    def add_batches(self, to: Kept, batches_from: BatchesFrom) -> None:
        """Adds batches to a step; those that the kept files cover are not read again."""
        self._owner = to
        finished = self.num_batches
        if self.kept_state is not None:
            to.restore(self.kept_state)
            if self.is_complete:
                return
        batches, number = batches_from(finished)
        try:
            for batch in batches:
                number += 1
                if number <= finished:
                    continue
                to.add(batch)
                if self.is_kept and (self.has_new or number % EVERY == 0):
                    self._keep(number)
        finally:
            close(batches)
        if self.is_kept:
            self._keep(number, is_complete=True)

    def replace(self, paths: list[str]) -> None:
        """Removes files that others of the step replace."""
        if self.is_kept and self.is_complete:
            self._keep(self.num_batches, is_complete=True)
        for path in paths:
            if os.path.basename(path) not in self._listed:
                with contextlib.suppress(FileNotFoundError):
                    os.remove(path)

    def _keep(self, num_batches: int, *, is_complete: bool = False) -> None:
        """Replaces the manifest by one of the present state, if there is one."""
        assert self._owner is not None
        state = self._owner.state()
        self.has_new = False
        if state is None:
            return
        manifest = {"batches": num_batches, "is complete": is_complete, "state": state}
        write_text(f"{self._start()}.json", json.dumps(manifest))
        self.num_batches, self.is_complete = num_batches, is_complete
        before, self._listed = self._listed, set(_listed(state))
        for name in before - self._listed:
            os.remove(self.path_of(name))

    def _remove_others(self, step: str) -> None:
        """Removes what a job that was interrupted had not listed yet."""
        folder, own = os.path.split(step)
        for name in glob.glob(f"{glob.escape(own)}-*.rows", root_dir=folder):
            if name not in self._listed:
                os.remove(os.path.join(folder, name))


def _listed(state: object) -> Iterator[str]:
    """The names of the files of a state."""
    if isinstance(state, dict):
        yield from state.get("files", [])
        for value in state.values():
            yield from _listed(value)
