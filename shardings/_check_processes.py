# SPDX-License-Identifier: Apache-2.0
"""Compares what the processes of a program must have in common, by one small collective."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from ._compat import Device
from ._settings import disagreement, own_settings


def check_processes(arrays: Any = None) -> None:
    """Raises unless all processes have the same settings, and arrays of the same shapes.

    Every process calls it. `initialize` has compared the settings that were made before it; call
    this after later changes of options, or before a collective on arrays that a process has read
    by itself. Processes with different programs would wait for each other forever.

    Args:
        arrays: a pytree of arrays that must have the same structure, shapes and dtypes in all
            processes; their values may differ. Settings alone by default.

    Raises:
        RuntimeError: versions, settings or numbers of devices differ. Every process raises the
            same, with each value and the processes that have it.
        ValueError: the same for `arrays`.

    Cost:
        One `all_gather` of 32 bytes for each process.

    Example:
        >>> import numpy as np
        >>> from jaxframes import shardings
        >>> shardings.check_processes({"x": np.zeros((5, 2))})
    """
    compare_processes("check_processes")
    compare_arrays(arrays, jax.devices(), "check_processes", "arrays")


def compare_processes(caller: str) -> None:
    """Raises if the settings of the processes differ, or their numbers of devices."""
    if jax.process_count() == 1:
        return
    own = own_settings() | {"the number of devices": str(jax.local_device_count())}
    differing = _compared(own, jax.devices())
    if differing is not None:
        raise RuntimeError(
            f"{caller}: all processes must have the same versions and settings, got {differing}. "
            "Start all of them from the same environment."
        )


def compare_arrays(
    arrays: Any,
    devices: Sequence[Device],
    caller: str,
    name: str,
    skip_axes: int = 0,
    options: Mapping[str, Any] | None = None,
) -> None:
    """Raises if arrays differ in structure, shape or dtype among the processes of some devices.

    The first `skip_axes` axes may have any length. Options must be equal too.
    """
    if len({device.process_index for device in devices}) == 1:
        return
    leaves, _ = jax.tree_util.tree_flatten_with_path(arrays)
    own = {name + jax.tree_util.keystr(path): _described(leaf, skip_axes) for path, leaf in leaves}
    own |= {option: repr(value) for option, value in (options or {}).items()}
    differing = _compared(own, devices)
    if differing is not None:
        raise ValueError(
            f"{caller}: all processes must pass arrays of the same shapes and dtypes, got "
            f"{differing}."
        )


def _described(leaf: Any, skip_axes: int) -> str:
    leaf = leaf if hasattr(leaf, "shape") and hasattr(leaf, "dtype") else np.asarray(leaf)
    lengths = ["any"] * min(skip_axes, len(leaf.shape)) + [str(n) for n in leaf.shape[skip_axes:]]
    return f"{leaf.dtype}[{','.join(lengths)}]"


def _compared(own: Mapping[str, str], devices: Sequence[Device]) -> str | None:
    """The entries that differ among the processes of the devices; None if none does."""
    message = json.dumps(own).encode()
    text = np.frombuffer(message, np.uint8)
    digest = np.frombuffer(hashlib.sha256(message).digest(), np.uint8)
    digests, _ = gathered(digest, devices)
    if (digests == digests[0]).all():
        return None
    # Texts of other lengths, so first the longest.
    lengths, _ = gathered(np.array([text.size], np.int32), devices)
    padded = np.zeros(lengths.max(), np.uint8)
    padded[: text.size] = text
    texts, process_ids = gathered(padded, devices)
    settings = {
        process_id: json.loads(row[:length].tobytes())
        for process_id, row, (length,) in zip(process_ids, texts, lengths, strict=True)
    }
    return disagreement(settings)


def gathered(own: np.ndarray, devices: Sequence[Device]) -> tuple[np.ndarray, list[int]]:
    """One row of each process, and the ids of the processes."""
    # One device each, because processes may have different numbers of them.
    first: dict[int, Device] = {}
    for device in devices:
        first.setdefault(device.process_index, device)
    process_ids = sorted(first)
    mesh = Mesh(np.asarray([first[i] for i in process_ids]), ("processes",))
    rows = jax.make_array_from_callback(
        (len(process_ids), own.size),
        NamedSharding(mesh, PartitionSpec("processes")),
        lambda _: own[None],
    )
    gather = jax.jit(_identity, out_shardings=NamedSharding(mesh, PartitionSpec()))
    return np.asarray(gather(rows)), process_ids


def _identity(rows: jax.Array) -> jax.Array:
    return rows
