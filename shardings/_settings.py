# SPDX-License-Identifier: Apache-2.0
"""The settings that all processes of a program must share, and the comparison of them."""

import ctypes
import functools
import hashlib
import importlib.metadata
import importlib.util
import os
import platform
from collections.abc import Mapping
from pathlib import Path

import jax

Settings = Mapping[str, str]

_PACKAGES = ("shardings", "primitives", "frame")
_KERNELS = "libjaxframes_kernels.so"
# Options of JAX that change programs or their results.
_OPTIONS = (
    "jax_enable_x64",
    "jax_num_cpu_devices",
    "jax_platforms",
    "jax_default_matmul_precision",
    "jax_default_prng_impl",
    "jax_threefry_partitionable",
    "jax_numpy_dtype_promotion",
    "jax_use_shardy_partitioner",
)
_VARIABLES = ("XLA_FLAGS", "LIBTPU_INIT_ARGS", "JAXFRAMES_KERNELS", "JAXFRAMES_TIERS")
# A process may write what it dumps to a place of its own.
_OWN_FLAGS = ("--xla_dump", "--xla_gpu_dump")


def own_settings() -> dict[str, str]:
    """The versions and settings of this process, by the name that an error gives them."""
    settings = {
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "jax": importlib.metadata.version("jax"),
        "jaxlib": importlib.metadata.version("jaxlib"),
        "jaxframes": _version(),
        "the kernels of jaxframes": _kernels(),
    }
    for option in _OPTIONS:
        settings[option] = repr(getattr(jax.config, option, None))
    for variable in _VARIABLES:
        flags = sorted(os.environ.get(variable, "").split())
        settings[variable] = repr(" ".join(f for f in flags if not f.startswith(_OWN_FLAGS)))
    return settings


def disagreement(settings: Mapping[int, Settings]) -> str | None:
    """Names each setting that differs, with its values and their processes; None if none does.

    Args:
        settings: the settings of each process, by its id.
    """
    names = {name: None for own in settings.values() for name in own}
    differing = []
    for name in names:
        processes: dict[str, list[int]] = {}
        for process_id in sorted(settings):
            processes.setdefault(settings[process_id].get(name, "none"), []).append(process_id)
        if len(processes) > 1:
            values = " and ".join(f"{value} in {_named(ids)}" for value, ids in processes.items())
            differing.append(f"{name}: {values}")
    return "; ".join(differing) or None


def _named(process_ids: list[int]) -> str:
    shown = ", ".join(str(process_id) for process_id in process_ids[:8])
    more = f" and {len(process_ids) - 8} more" if len(process_ids) > 8 else ""
    return f"process{'es' if len(process_ids) > 1 else ''} {shown}{more}"


@functools.cache
def _version() -> str:
    """The version of jaxframes, and a digest of its sources, which change between versions."""
    digest = hashlib.sha256()
    for package in _PACKAGES:
        for folder in _folders(package):
            for path in sorted(folder.rglob("*.py")):
                digest.update(str(path.relative_to(folder)).encode())
                digest.update(path.read_bytes())
    try:
        version = importlib.metadata.version("jaxframes")
    except importlib.metadata.PackageNotFoundError:
        version = "not installed"
    return f"{version} (sources {digest.hexdigest()[:12]})"


@functools.cache
def _kernels() -> str:
    """Which kernels there are. Those of other interfaces have other programs."""
    if os.environ.get("JAXFRAMES_KERNELS") == "xla":
        return "off"
    for folder in _folders("primitives"):
        path = folder / "kernels" / _KERNELS
        if path.exists():
            try:
                version = ctypes.CDLL(str(path)).jaxframes_kernels_abi_version()
            except (OSError, AttributeError) as error:
                return f"not usable ({error})"
            return f"interface {version}"
    return "not installed"


def _folders(package: str) -> list[Path]:
    # The packages may not be imported: that would import the higher floors.
    spec = importlib.util.find_spec(f"{__name__.rsplit('.', 2)[0]}.{package}")
    return [Path(folder) for folder in (spec and spec.submodule_search_locations) or ()]
