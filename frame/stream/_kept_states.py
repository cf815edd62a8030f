# SPDX-License-Identifier: Apache-2.0
"""Partial states of a job in the folder of its checkpoint, from which it goes on."""

import itertools
import json
import os

import pyarrow as pa

from ..io._construction import table_of_arrow
from ..table._layout import Layout
from ..table._ndframe import FrameBase
from ._files import naming
from ._replacing import new_file
from ._spilling_groups import SpillingGroups

# A state is kept after every so many batches. Writing one takes the time of a few of them.
EVERY = 16
_FACTS = b"jaxframes state"


class KeptStates:
    """The states of a job's groupbys, in the order of its steps."""

    def __init__(self, folder: str):
        self._folder = folder
        self._numbers = itertools.count()

    def following(self) -> "KeptState":
        """The state of the next groupby."""
        return KeptState(os.path.join(self._folder, f"state-{next(self._numbers):04}.arrow"))


class KeptState:
    """The groups of the first batches of a source, in a file."""

    def __init__(self, path: str):
        self._path = path

    def restore(self, groups: SpillingGroups, layout: Layout) -> int:
        """Gives groups without rows the kept state; returns the number of its batches."""
        if not os.path.exists(self._path):
            return 0
        with naming(self._path), pa.OSFile(self._path) as file:
            table = pa.ipc.open_file(file).read_all()
        facts = json.loads(table.schema.metadata[_FACTS])
        rows = FrameBase.frame_class._of(*table_of_arrow(table, layout))
        groups.restore(rows, facts["rows"])
        return facts["batches"]

    def keep(self, groups: SpillingGroups, num_batches: int, layout: Layout) -> None:
        """Keeps the groups of the first batches, unless they are on disk already.

        The groups go on from what was written, so that a resumed job gives the same bytes.
        """
        if num_batches % EVERY:
            return
        rows = groups.in_memory()
        if rows is None:
            return
        table = rows.to_arrow()
        facts = {"batches": num_batches, "rows": groups.num_rows}
        metadata = {**(table.schema.metadata or {}), _FACTS: json.dumps(facts)}
        table = table.replace_schema_metadata(metadata)
        with (
            new_file(self._path) as temporary,
            pa.OSFile(temporary, "wb") as file,
            pa.ipc.new_file(file, table.schema) as writer,
        ):
            writer.write_table(table)
        self.restore(groups, layout)
