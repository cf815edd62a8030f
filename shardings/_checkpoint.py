# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of trees of arrays, over orbax-checkpoint.

A checkpoint is a folder `step_00000012`. It is written under another name, and renamed when all
processes have written their shards: a folder with the name of a step is complete. Arrays are in an
orbax checkpoint, keyed by their number; `tree.json` has their paths, shapes and dtypes. A node that
writes itself, such as a frame, has a folder of its own.
"""

import importlib
import json
import re
import shutil
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import NamedSharding, PartitionSpec

from ._arguments import as_static_int
from ._compat import MeshLike
from ._specs import check_spec

_STEP = re.compile(r"step_(\d{8,})")
_UNFINISHED = re.compile(r"step_\d{8,}\.(writing|removed)")
# A read takes whole chunks, so a shard is cut into several for a mesh of another shape. Below 1 MiB
# the number of chunks costs more than it saves, says orbax.
_CHUNKS_OF_A_SHARD = 64
_LEAST_CHUNK_BYTES = 1 << 20


@runtime_checkable
class WritesItself(Protocol):
    """A node of a tree with data beside its arrays, such as a frame with its types and labels."""

    def _write_checkpoint(self, folder: Path) -> None:
        """Writes this process's rows into a new folder."""

    def _read_checkpoint(self, folder: Path) -> Any:
        """Reads a node of the same kind, placed like this one."""


def save(path: Any, tree: Any, step: int = 0, *, keep: int | None = None) -> Path:
    """Writes a checkpoint of a tree, each process the shards of its own devices.

    Args:
        path: folder of the checkpoints, the same for all processes.
        tree: a pytree of arrays, numbers, random keys and frames.
        step: number of the step, which names the checkpoint.
        keep: number of checkpoints to keep, the newest; all by default.

    Returns:
        The folder of the checkpoint, `path/step_00000012`.

    Raises:
        ImportError: orbax-checkpoint is not installed.
        TypeError: a leaf is not an array of numbers, a number or a random key.
        ValueError: there is a checkpoint of this step.

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
    ocp = _orbax(caller)
    folder = Path(path).absolute()
    step = as_static_int(step, caller, "step", 0)
    keep = None if keep is None else as_static_int(keep, caller, "keep", 1)
    final = folder / f"step_{step:08}"
    writing = final.with_suffix(".writing")
    nodes = [(name, _stored(leaf, caller, name)) for name, leaf in _nodes_of(tree)]
    is_taken = final.exists()
    _wait_for_all("begin")
    if is_taken:
        raise ValueError(
            f"{caller}: a step must have one checkpoint, got step {step}, which is in {folder}. "
            "Save a later step, or remove that folder."
        )
    if jax.process_index() == 0:
        folder.mkdir(parents=True, exist_ok=True)
        for other in folder.iterdir():
            if _UNFINISHED.fullmatch(other.name):
                shutil.rmtree(other)
        writing.mkdir()
        (writing / "tree.json").write_text(json.dumps([_described(*node) for node in nodes]))
    _wait_for_all("folder")
    # Orbax refuses empty arrays, and trees without arrays.
    arrays = {f"{i:05}": node for i, (_, node) in enumerate(nodes) if _is_array(node) and node.size}
    options = {name: ocp.SaveArgs(chunk_byte_size=_chunk_bytes(a)) for name, a in arrays.items()}
    if arrays:
        with ocp.Checkpointer(ocp.PyTreeCheckpointHandler()) as checkpointer:
            arguments = ocp.args.PyTreeSave(arrays, save_args=options)
            checkpointer.save(writing / "arrays", args=arguments)
    for i, (_, node) in enumerate(nodes):
        if not _is_array(node):
            node._write_checkpoint(writing / f"{i:05}")
    _wait_for_all("written")
    if jax.process_index() == 0:
        writing.rename(final)
        for _, old in sorted(_steps_in(folder).items())[: -keep if keep else 0]:
            # A folder that is removed in part has no longer the name of a step.
            shutil.rmtree(old.rename(old.with_suffix(".removed")))
    _wait_for_all("named")
    return final


def restore(
    path: Any,
    like: Any,
    specs: Any = None,
    *,
    mesh: MeshLike | None = None,
    step: int | None = None,
) -> Any:
    """Reads a checkpoint that `save` wrote, on any mesh.

    Args:
        path: folder of the checkpoints.
        like: a pytree of the structure, shapes and dtypes to read, such as a new state; its values
            are not used. NumPy arrays and numbers are read as such; arrays and
            `jax.ShapeDtypeStruct`s take the sharding that they have. A frame takes its rows' mesh.
        specs: partition specs for all arrays, as from `match_specs`, or one for all of them, in
            place of the shardings in `like`; needs `mesh`.
        mesh: the mesh of `specs`.
        step: number of the step; the newest by default.

    Returns:
        A pytree of the structure of `like`.

    Raises:
        FileNotFoundError: there is no such checkpoint.
        ImportError: orbax-checkpoint is not installed.
        ValueError: structure, shapes or dtypes differ from those of the checkpoint, or a spec does
            not fit an array.

    Cost:
        Each process reads the shards of its own devices. Where they are cut in another way than
        `save` cut them, it reads at most a tenth more of shards of 64 MiB, and chunks of 1 MiB of
        smaller ones.

    Guarantees:
        Every bit as it was saved, on any mesh.

    Example:
        >>> import tempfile
        >>> import jax.numpy as jnp
        >>> from jax.sharding import PartitionSpec as P
        >>> from jaxframes import shardings
        >>> mesh = shardings.make_mesh(1)
        >>> with tempfile.TemporaryDirectory() as path:
        ...     _ = shardings.save(path, {"w": jnp.arange(4.0)})
        ...     w = shardings.restore(path, {"w": jnp.zeros(4)}, P("rows"), mesh=mesh)["w"]
        >>> w.tolist(), w.sharding.spec == P("rows")
        ([0.0, 1.0, 2.0, 3.0], True)
    """
    caller = "restore"
    ocp = _orbax(caller)
    folder = _step_folder(Path(path).absolute(), step)
    nodes = _nodes_of(like)
    saved = json.loads((folder / "tree.json").read_text())
    _check_same(saved, nodes, folder)
    shardings = _shardings_of(like, nodes, specs, mesh)

    arguments, wanted, read = {}, {}, {}
    for i, (_, node) in enumerate(nodes):
        if isinstance(node, WritesItself):
            read[i] = node._read_checkpoint(folder / f"{i:05}")
            continue
        shape, dtype = _shape_of(node)
        if 0 in shape:
            empty = np.zeros(shape, dtype)
            array = empty if shardings[i] is None else jax.device_put(empty, shardings[i])
            read[i] = _like(array, node)
            continue
        wanted[f"{i:05}"] = jax.ShapeDtypeStruct(shape, dtype)
        arguments[f"{i:05}"] = (
            ocp.RestoreArgs(restore_type=np.ndarray)
            if shardings[i] is None
            else ocp.ArrayRestoreArgs(sharding=shardings[i], global_shape=shape, dtype=dtype)
        )
    if wanted:
        with ocp.Checkpointer(ocp.PyTreeCheckpointHandler()) as checkpointer:
            arrays = checkpointer.restore(
                folder / "arrays",
                args=ocp.args.PyTreeRestore(wanted, restore_args=arguments),
            )
        read |= {int(name): _like(array, nodes[int(name)][1]) for name, array in arrays.items()}
    structure = jax.tree.structure(like, is_leaf=_is_node)
    return jax.tree.unflatten(structure, [read[i] for i in range(len(nodes))])


def _orbax(caller: str) -> Any:
    try:
        # Heavy, and optional.
        return importlib.import_module("orbax.checkpoint")
    except ImportError as error:
        raise ImportError(
            f"{caller}: checkpoints need orbax-checkpoint, which is not installed. "
            "pip install 'jaxframes[checkpoint]'"
        ) from error


def _is_node(node: Any) -> bool:
    return isinstance(node, WritesItself)


def _nodes_of(tree: Any) -> list[tuple[str, Any]]:
    paths = jax.tree_util.tree_leaves_with_path(tree, is_leaf=_is_node)
    return [(jax.tree_util.keystr(path, simple=True, separator="/"), node) for path, node in paths]


def _is_array(node: Any) -> bool:
    return isinstance(node, (np.ndarray, jax.Array))


def _is_key(node: Any) -> bool:
    return hasattr(node, "dtype") and jnp.issubdtype(node.dtype, jax.dtypes.prng_key)


def _stored(leaf: Any, caller: str, name: str) -> Any:
    """A leaf as it is written: an array of numbers, or a node that writes itself."""
    if isinstance(leaf, WritesItself):
        return leaf
    if _is_key(leaf):
        return jax.random.key_data(leaf)
    array = leaf if isinstance(leaf, jax.Array) else np.asarray(leaf)
    if array.dtype.kind in "OSUMm":
        raise TypeError(
            f"{caller}: {name} must be an array of numbers, a number, a random key or a frame, got "
            f"{type(leaf).__name__}. Keep it out of the tree, for example in a file of its own."
        )
    return array


def _described(name: str, node: Any) -> dict[str, Any]:
    if not _is_array(node):
        return {"path": name, "type": type(node).__name__}
    return {"path": name, "shape": list(node.shape), "dtype": str(node.dtype)}


def _shape_of(node: Any) -> tuple[tuple[int, ...], Any]:
    """Shape and dtype of a leaf of `like` as it is written."""
    if _is_key(node):
        data = jax.eval_shape(jax.random.key_data, node)
        return data.shape, data.dtype
    array = node if hasattr(node, "dtype") else np.asarray(node)
    return tuple(array.shape), array.dtype


def _check_same(saved: list[dict[str, Any]], nodes: list[tuple[str, Any]], folder: Path) -> None:
    by_path = {entry["path"]: entry for entry in saved}
    wanted = [name for name, _ in nodes]
    missing = [name for name in wanted if name not in by_path]
    unknown = [name for name in by_path if name not in wanted]
    if missing or unknown or list(by_path) != wanted:
        raise ValueError(
            f"restore: like must have the structure of the checkpoint in {folder}, got "
            f"{_listed(missing)} beside it, and not {_listed(unknown)}. Restore the whole tree, "
            "and take or add parts afterwards."
        )
    for name, node in nodes:
        entry = by_path[name]
        if isinstance(node, WritesItself):
            found = {"path": name, "type": type(node).__name__}
        else:
            shape, dtype = _shape_of(node)
            found = {"path": name, "shape": list(shape), "dtype": str(dtype)}
        if entry != found:
            raise ValueError(
                f"restore: {name} must be as in the checkpoint, {_shown(entry)}, got "
                f"{_shown(found)}. Convert it after restoring."
            )


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "nothing"


def _shown(entry: dict[str, Any]) -> str:
    if "type" in entry:
        return entry["type"]
    return f"{entry['dtype']}[{','.join(map(str, entry['shape']))}]"


def _shardings_of(
    like: Any, nodes: list[tuple[str, Any]], specs: Any, mesh: MeshLike | None
) -> list[Any]:
    """The sharding of each array; None for those of NumPy."""
    if specs is None:
        return [getattr(node, "sharding", None) or _default(node) for _, node in nodes]
    if mesh is None:
        raise ValueError("restore: specs need a mesh, got none. Pass mesh=.")
    if isinstance(specs, PartitionSpec):
        listed = [specs] * len(nodes)
    else:
        structure = jax.tree.structure(like, is_leaf=_is_node)
        listed = structure.flatten_up_to(specs)
    for (name, node), spec in zip(nodes, listed, strict=True):
        if not isinstance(node, WritesItself):
            check_spec(spec, _shape_of(node)[0], mesh, "restore", name)
    return [NamedSharding(mesh, spec) for spec in listed]


def _default(node: Any) -> Any:
    is_described = isinstance(node, jax.ShapeDtypeStruct)
    return jax.sharding.SingleDeviceSharding(jax.local_devices()[0]) if is_described else None


def _like(array: Any, node: Any) -> Any:
    """A restored array as the kind of leaf that `like` has."""
    if _is_key(node):
        return jax.random.wrap_key_data(array, impl=jax.random.key_impl(node))
    return type(node)(array) if isinstance(node, (bool, int, float, complex)) else array


def _chunk_bytes(array: Any) -> int:
    shard_shape = array.sharding.shard_shape(array.shape) if isinstance(array, jax.Array) else ()
    shard_bytes = int(np.prod(shard_shape)) * array.dtype.itemsize
    return max(shard_bytes // _CHUNKS_OF_A_SHARD, _LEAST_CHUNK_BYTES)


def _steps_in(folder: Path) -> dict[int, Path]:
    """The complete checkpoints."""
    found = [(_STEP.fullmatch(other.name), other) for other in folder.glob("step_*")]
    return {int(match.group(1)): other for match, other in found if match}


def _step_folder(folder: Path, step: int | None) -> Path:
    steps = _steps_in(folder)
    if step is None and steps:
        return steps[max(steps)]
    if step not in steps:
        there = ", ".join(map(str, sorted(steps))) or "none"
        wanted = "a checkpoint" if step is None else f"step {step}"
        raise FileNotFoundError(
            f"restore: {wanted} must be in {folder}, got the steps {there}. Check the path."
        )
    return steps[step]


def _wait_for_all(where: str) -> None:
    if jax.process_count() > 1:
        multihost_utils.sync_global_devices(f"jaxframes.save {where}")
