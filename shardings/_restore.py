# SPDX-License-Identifier: Apache-2.0
"""Reads a checkpoint of a tree onto any mesh."""

import json
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

from ._checkpoint import WritesItself, is_node, nodes_of, orbax, steps_in
from ._compat import MeshLike, is_key
from ._specs import check_spec

# Of Python and NumPy: read as such, whatever the spec.
_NUMBERS = (bool, int, float, complex, np.generic)


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
            are not used. NumPy arrays and numbers are read as such; other arrays, and values of
            `jax.ShapeDtypeStruct`, take the sharding that they have. A frame takes its rows' mesh.
        specs: partition specs for all arrays, as from `match_specs`, or one for all of them, in
            place of the shardings in `like`; needs `mesh`.
        mesh: the mesh of `specs`.
        step: number of the step; the newest by default.

    Returns:
        A pytree of the structure of `like`.

    Raises:
        FileNotFoundError: there is no such checkpoint.
        ImportError: orbax-checkpoint is not installed.
        TypeError: a JAX array of 64 bits without x64 mode.
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
    ocp = orbax(caller)
    folder = _step_folder(Path(path).absolute(), step)
    nodes = nodes_of(like)
    saved = json.loads((folder / "tree.json").read_text())
    _check_same(saved, nodes, folder)
    shardings = _shardings_of(like, nodes, specs, mesh)

    arguments, wanted, read = {}, {}, {}
    for i, (_, node) in enumerate(nodes):
        if isinstance(node, WritesItself):
            read[i] = node._read_checkpoint(folder / f"{i:05}")
            continue
        shape, dtype = _shape_of(node)
        if shardings[i] is not None and jax.dtypes.canonicalize_dtype(dtype) != dtype:
            raise TypeError(
                f"{caller}: 64-bit arrays need JAX's x64 mode, got {_shown(saved[i])} at "
                f'{nodes[i][0]}. Call jax.config.update("jax_enable_x64", True) first, or read a '
                "NumPy array, without specs."
            )
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
    structure = jax.tree.structure(like, is_leaf=is_node)
    return jax.tree.unflatten(structure, [read[i] for i in range(len(nodes))])


def _step_folder(folder: Path, step: int | None) -> Path:
    steps = steps_in(folder)
    if step is None and steps:
        return steps[max(steps)]
    if step not in steps:
        there = ", ".join(map(str, sorted(steps))) or "none"
        wanted = "a checkpoint" if step is None else f"step {step}"
        raise FileNotFoundError(
            f"restore: {wanted} must be in {folder}, got the steps {there}. Check the path."
        )
    return steps[step]


def _check_same(saved: list[dict[str, Any]], nodes: list[tuple[str, Any]], folder: Path) -> None:
    there = [entry["path"] for entry in saved]
    wanted = [name for name, _ in nodes]
    if there != wanted:
        missing = [name for name in wanted if name not in there]
        unknown = [name for name in there if name not in wanted]
        got = f"{_listed(missing)} beside it, and not {_listed(unknown)}"
        if not (missing or unknown):
            got = f"its leaves in the order {_listed(wanted)}, not {_listed(there)}"
        raise ValueError(
            f"restore: like must have the structure of the checkpoint in {folder}, got {got}. "
            "Restore the whole tree, and take or add parts afterwards."
        )
    for entry, (name, node) in zip(saved, nodes, strict=True):
        if isinstance(node, WritesItself):
            found = {"path": name, "type": type(node).__name__}
        else:
            shape, dtype = _shape_of(node)
            found = {"path": name, "shape": list(shape), "dtype": str(dtype)}
            # The words of a key may also be read as such.
            if "key" in entry:
                found["key"] = str(jax.random.key_impl(node)) if is_key(node) else entry["key"]
        if entry != found:
            raise ValueError(
                f"restore: {name} must be as in the checkpoint, {_shown(entry)}, got "
                f"{_shown(found)}. Convert it after restoring."
            )


def _shape_of(node: Any) -> tuple[tuple[int, ...], Any]:
    """Shape and dtype of a leaf of `like` as it is written."""
    if is_key(node):
        data = jax.eval_shape(jax.random.key_data, node)
        return data.shape, data.dtype
    array = node if hasattr(node, "dtype") else np.asarray(node)
    return tuple(array.shape), array.dtype


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "nothing"


def _shown(entry: dict[str, Any]) -> str:
    if "type" in entry:
        return entry["type"]
    words = f"{entry['dtype']}[{','.join(map(str, entry['shape']))}]"
    return f"{words} of a {entry['key']} key" if "key" in entry else words


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
        structure = jax.tree.structure(like, is_leaf=is_node)
        listed = structure.flatten_up_to(specs)
    for (name, node), spec in zip(nodes, listed, strict=True):
        if not isinstance(node, WritesItself):
            check_spec(spec, _shape_of(node)[0], mesh, "restore", name)
    return [
        None if isinstance(node, _NUMBERS) else NamedSharding(mesh, spec)
        for (_, node), spec in zip(nodes, listed, strict=True)
    ]


def _default(node: Any) -> Any:
    is_described = isinstance(node, jax.ShapeDtypeStruct)
    return jax.sharding.SingleDeviceSharding(jax.local_devices()[0]) if is_described else None


def _like(array: Any, node: Any) -> Any:
    """A restored array as the kind of leaf that `like` has."""
    if is_key(node):
        return jax.random.wrap_key_data(array, impl=jax.random.key_impl(node))
    if isinstance(node, np.generic):
        return np.asarray(array)[()]
    return type(node)(array) if isinstance(node, (bool, int, float, complex)) else array
