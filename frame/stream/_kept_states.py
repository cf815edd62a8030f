# SPDX-License-Identifier: Apache-2.0
"""Partial states of a job in the folder of its checkpoint, from which it goes on."""

import itertools
import json
import os
from collections.abc import Callable, Iterator
from typing import Any

from ..io._construction import table_of_arrow
from ..table._layout import Layout
from ..table._ndframe import FrameBase
from ._replacing import read_arrow, write_arrow
from ._spilling_groups import SpillingGroups

# A state is kept after every so many batches.
EVERY = 16
_FACTS = b"jaxframes state"


class KeptStates:
    """The states of a job's groupbys, in the order of its steps."""

    def __init__(self, folder: str):
        self._folder = folder
        self._numbers = itertools.count()

    def following(self, later: Callable[[int], Iterator[Any]], layout: Layout) -> "KeptState":
        """The state of the next groupby.

        Args:
            later: gives the batches to group from a number on.
            layout: the layout of their rows.
        """
        path = os.path.join(self._folder, f"state-{next(self._numbers):04}.arrow")
        return KeptState(path, later, layout)


class KeptState:
    """The groups of the first batches, in a file; see `KeptStates.following`."""

    def __init__(self, path: str, later: Callable[[int], Iterator[Any]], layout: Layout):
        self._path, self._later, self._layout = path, later, layout

    def add_batches(self, groups: SpillingGroups) -> None:
        """Adds all batches to groups without rows; those of the kept state are not read again."""
        first = self._restore(groups) if os.path.exists(self._path) else 0
        for number, batch in enumerate(self._later(first), first + 1):
            groups.add(batch)
            if number % EVERY == 0:
                self._keep(groups, number)

    def _restore(self, groups: SpillingGroups) -> int:
        """Gives groups the kept state; returns the number of its batches."""
        table = read_arrow(self._path)
        facts = json.loads(table.schema.metadata[_FACTS])
        rows = FrameBase.frame_class._of(*table_of_arrow(table, self._layout))
        groups.restore(rows, facts["rows"])
        return facts["batches"]

    def _keep(self, groups: SpillingGroups, num_batches: int) -> None:
        """Keeps the groups of the first batches, unless they are on disk already.

        The groups go on from what was written, so that a resumed job gives the same bytes.
        """
        rows = groups.in_memory()
        if rows is None:
            return
        table = rows.to_arrow()
        facts = {"batches": num_batches, "rows": groups.num_rows}
        metadata = {**(table.schema.metadata or {}), _FACTS: json.dumps(facts)}
        write_arrow(self._path, table.replace_schema_metadata(metadata))
        self._restore(groups)
