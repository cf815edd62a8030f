# SPDX-License-Identifier: Apache-2.0
"""The form of a checkpoint, which `save` writes and `restore` reads.

A checkpoint is a folder `step_00000012`. It is written under another name, and renamed when all
processes have written their shards: a folder with the name of a step is complete. Arrays are in an
orbax checkpoint, keyed by their number; `tree.json` has their paths, shapes and dtypes. A node that
writes itself, such as a frame, has a folder of its own.
"""

import importlib
import re
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import jax
import numpy as np

_STEP = re.compile(r"step_(\d{8,})")


@runtime_checkable
class WritesItself(Protocol):
    """A node of a tree with data beside its arrays, such as a frame with its types and labels."""

    def _write_checkpoint(self, folder: Path) -> None:
        """Writes this process's rows into a new folder."""

    def _read_checkpoint(self, folder: Path) -> Any:
        """Reads a node of the same kind, placed like this one."""


def orbax(caller: str) -> Any:
    """The module `orbax.checkpoint`, or an error that names the extra."""
    try:
        # Heavy, and optional.
        return importlib.import_module("orbax.checkpoint")
    except ImportError as error:
        raise ImportError(
            f"{caller}: checkpoints need orbax-checkpoint, which is not installed. "
            "pip install 'jaxframes[checkpoint]'"
        ) from error


def nodes_of(tree: Any) -> list[tuple[str, Any]]:
    """The leaves of a tree, and the nodes that write themselves, with their paths."""
    paths = jax.tree_util.tree_leaves_with_path(tree, is_leaf=is_node)
    return [(jax.tree_util.keystr(path, simple=True, separator="/"), node) for path, node in paths]


def is_node(node: Any) -> bool:
    """Whether a node of a tree writes itself."""
    return isinstance(node, WritesItself)


def is_array(node: Any) -> bool:
    """Whether orbax writes it."""
    return isinstance(node, (np.ndarray, jax.Array))


def steps_in(folder: Path) -> dict[int, Path]:
    """The complete checkpoints."""
    found = [(_STEP.fullmatch(other.name), other) for other in folder.glob("step_*")]
    return {int(match.group(1)): other for match, other in found if match}
