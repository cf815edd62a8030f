# SPDX-License-Identifier: Apache-2.0
"""The identity of a streamed job: a checkpoint serves only the job that made it."""

import hashlib
import os
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..plan._explain import plan_text
from ..plan._identity import identity
from ..plan._node import Node, Scan, in_order
from ..plan._sources import CsvFile, Memory
from ..table._types import Options
from ._files import naming, stamp
from ._identity import files_of

# What differs, and what to do, for each part of a job.
_REMEDIES = {
    "plan": "It was made by another plan",
    "options": "It was made with other options",
    "files": "The files that it read have changed",
}


def job_of(plan: Node, root: Any, options: dict[str, Any]) -> dict[str, Any]:
    """What must be equal for a job to go on.

    Args:
        plan: the plan.
        root: the plan after the optimiser.
        options: the size of batches, and the arguments of the sink.
    """
    sources = [node.source for node in in_order(plan) if isinstance(node, Scan)]
    steps = f"{identity(plan, _source_text)}\n{plan_text(root)}"
    return {
        "plan": hashlib.sha256(steps.encode()).hexdigest(),
        "options": {name: _plain(value) for name, value in sorted(options.items())},
        "files": {
            os.path.abspath(path): _facts(path, source)
            for source in sources
            for path in files_of(source)
        },
    }


def difference(old: Options, new: Options) -> str | None:
    """Says which part of a job differs; None if all are equal."""
    for part, remedy in _REMEDIES.items():
        before, now = old.get(part), new[part]
        if before == now:
            continue
        detail = ""
        if isinstance(before, dict):
            name = next(name for name in {**before, **now} if before.get(name) != now.get(name))
            detail = f" {name!r}: {before.get(name)!r} became {now.get(name)!r}."
        return f"{remedy}{':' if detail else '.'}{detail}"
    return None


def _source_text(source: Any) -> str:
    """The names of the files of a source, or a hash of rows in memory."""
    files = files_of(source)
    return f"{source.text()} {list(map(os.path.abspath, files)) or _hash_of_rows(source)}"


def _facts(path: str, source: object) -> dict[str, Any]:
    """The size, the time of the last change, and the row groups of a file."""
    num_bytes, modified = stamp(path)
    facts: dict[str, Any] = {"bytes": num_bytes, "modified": modified}
    if not isinstance(source, CsvFile):
        with naming(path):
            metadata = pq.read_metadata(path)
        groups = range(metadata.num_row_groups)
        facts["row groups"] = [metadata.row_group(number).num_rows for number in groups]
    return facts


def _hash_of_rows(source: Any) -> str:
    if isinstance(source, CsvFile):
        # Files of other file systems have no stamps.
        table = source.read(None, None, None, False).to_arrow()
    else:
        table = (
            source.frame.to_arrow() if isinstance(source, Memory) else source._dataset.to_table()
        )
    hashed = _Hashed()
    with pa.ipc.new_stream(hashed, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    return hashed.digest.hexdigest()


class _Hashed:
    """A file that hashes what is written."""

    closed = False

    def __init__(self):
        self.digest = hashlib.sha256()

    def write(self, data: Any) -> int:
        """Hashes bytes."""
        self.digest.update(data)
        return len(data)

    def flush(self) -> None:
        """Does nothing."""

    def close(self) -> None:
        """Does nothing."""


def _plain(value: object) -> Any:
    """A value as JSON gives it back."""
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {str(name): _plain(one) for name, one in value.items()}
    return value if isinstance(value, (str, int, float, bool, type(None))) else repr(value)
