# SPDX-License-Identifier: Apache-2.0
"""Writes a checkpoint of a tree, so that it is complete or not there."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax.core import Tracer
from jax.experimental import multihost_utils

from ._arguments import as_static_int, type_of
from ._checkpoint import WritesItself, is_array, nodes_of, orbax, steps_in
from ._compat import is_key

_UNFINISHED = re.compile(r"step_\d{8,}\.(writing|removed)")
# A read takes whole chunks, so a shard is cut into several for a mesh of another shape. Below 1 MiB
# the number of chunks costs more than it saves, says orbax.
_CHUNKS_OF_A_SHARD = 64
_LEAST_CHUNK_BYTES = 1 << 20
# Dtypes of JAX and NumPy that orbax refuses, some of them after it has begun to write.
_UNWRITTEN = (
    *("int1", "uint1", "uint2", "uint4", "float6_e2m3fn", "float6_e3m2fn", "float8_e4m3"),
    *("float128", "complex256"),
)


def save(path: Any, tree: Any, step: int = 0, *, keep: int | None = None) -> Path:
    """Writes a checkpoint of a tree, each process the shards of its own devices.

    Args:
        path: folder of the checkpoints, the same for all processes.
        tree: a pytree of arrays, numbers, random keys and frames.
        step: number of the step, which names the checkpoint.
        keep: number of checkpoints to keep: this one and the newest others; all by default.

    Returns:
        The folder of the checkpoint, `path/step_00000012`.

    Raises:
        ImportError: orbax-checkpoint is not installed.
        TypeError: a leaf is traced, or not an array of numbers, a number or a random key.
        ValueError: there is a checkpoint of this step, or a leaf is a donated array, or with
            several processes one on devices of this process alone.

    Cost:
        Each shard is written once, by one of the processes that hold it.

    Guarantees:
        Atomic: after the death of a process at any time, `restore` finds the previous checkpoint or
        the new one, complete. Nothing is pickled.

    Example:
        >>> import tempfile
        >>> import numpy as np
        >>> from jaxframes import shardings
        >>> with tempfile.TemporaryDirectory() as path:
        ...     folder = shardings.save(path, {"w": np.arange(3)}, step=12)
        ...     restored = shardings.restore(path, {"w": np.zeros(3, int)})
        >>> folder.name, restored["w"].tolist()
        ('step_00000012', [0, 1, 2])
    """
    caller = "save"
    ocp = orbax(caller)
    folder = Path(path).absolute()
    step = as_static_int(step, caller, "step", 0)
    keep = None if keep is None else as_static_int(keep, caller, "keep", 1)
    final = folder / f"step_{step:08}"
    writing = final.with_suffix(".writing")
    leaves = nodes_of(tree)
    nodes = [(name, _stored(leaf, caller, name)) for name, leaf in leaves]
    is_taken = final.exists()
    _wait_for_all("begin")
    if is_taken:
        raise ValueError(
            f"{caller}: a step must have one checkpoint, got step {step}, which is in {folder}. "
            "Save a later step, or remove that folder."
        )
    described = [_described(leaf, *node) for (_, leaf), node in zip(leaves, nodes, strict=True)]
    if jax.process_index() == 0:
        folder.mkdir(parents=True, exist_ok=True)
        for other in folder.iterdir():
            if _UNFINISHED.fullmatch(other.name):
                shutil.rmtree(other)
        writing.mkdir()
        (writing / "tree.json").write_text(json.dumps(described))
    _wait_for_all("folder")
    # Orbax refuses empty arrays, and trees without arrays.
    arrays = {f"{i:05}": node for i, (_, node) in enumerate(nodes) if is_array(node) and node.size}
    options = {name: ocp.SaveArgs(chunk_byte_size=_chunk_bytes(a)) for name, a in arrays.items()}
    if arrays:
        with ocp.Checkpointer(ocp.PyTreeCheckpointHandler()) as checkpointer:
            arguments = ocp.args.PyTreeSave(arrays, save_args=options)
            checkpointer.save(writing / "arrays", args=arguments)
    for i, (_, node) in enumerate(nodes):
        if not is_array(node):
            node._write_checkpoint(writing / f"{i:05}")
    _wait_for_all("written")
    if jax.process_index() == 0:
        writing.rename(final)
        # After a return to an earlier step there are later ones than this.
        others = [other for _, other in sorted(steps_in(folder).items()) if other != final]
        for old in others[: max(len(others) - (keep - 1), 0)] if keep else ():
            # A folder that is removed in part has no longer the name of a step.
            shutil.rmtree(old.rename(old.with_suffix(".removed")))
    _wait_for_all("named")
    return final


def _stored(leaf: Any, caller: str, name: str) -> Any:
    """A leaf as it is written: an array of numbers, or a node that writes itself."""
    if isinstance(leaf, WritesItself):
        return leaf
    if isinstance(leaf, Tracer):
        raise TypeError(
            f"{caller}: {name} must be concrete, got the traced {type_of(leaf)}. Call it outside "
            "jit, on what the program returns."
        )
    if isinstance(leaf, jax.Array) and leaf.is_deleted():
        raise ValueError(
            f"{caller}: {name} must not be donated or deleted, got a {type_of(leaf)} that is. Save "
            "what the step returned."
        )
    if isinstance(leaf, jax.Array) and leaf.is_fully_addressable and jax.process_count() > 1:
        raise ValueError(
            f"{caller}: {name} must lie on devices of all processes, got {type_of(leaf)} on those "
            "of this process alone. Place the tree on a mesh first, with place(tree, mesh, P())."
        )
    if is_key(leaf):
        return jax.random.key_data(leaf)
    array = leaf if isinstance(leaf, jax.Array) else np.asarray(leaf)
    if array.dtype.kind in "OSUMm" or array.dtype.fields:
        raise TypeError(
            f"{caller}: {name} must be an array of numbers, a number, a random key or a frame, got "
            f"{type_of(leaf)}. Keep it out of the tree, for example in a file of its own."
        )
    if array.dtype.name in _UNWRITTEN:
        raise TypeError(
            f"{caller}: {name} must have a dtype that orbax writes, got {type_of(array)}. Cast it "
            "first, for example to uint8 or float32."
        )
    return array


def _described(leaf: Any, name: str, node: Any) -> dict[str, Any]:
    if not is_array(node):
        return {"path": name, "type": type(node).__name__}
    described = {"path": name, "shape": list(node.shape), "dtype": str(node.dtype)}
    return described | ({"key": str(jax.random.key_impl(leaf))} if is_key(leaf) else {})


def _chunk_bytes(array: Any) -> int:
    shard_shape = array.sharding.shard_shape(array.shape) if isinstance(array, jax.Array) else ()
    shard_bytes = int(np.prod(shard_shape)) * array.dtype.itemsize
    return max(shard_bytes // _CHUNKS_OF_A_SHARD, _LEAST_CHUNK_BYTES)


def _wait_for_all(where: str) -> None:
    if jax.process_count() > 1:
        multihost_utils.sync_global_devices(f"jaxframes.save {where}")
