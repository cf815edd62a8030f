# SPDX-License-Identifier: Apache-2.0
"""What the libraries of kernels for CPU and for GPU have in common: the switch, and loading."""

import ctypes
import functools
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax


class Library(NamedTuple):
    """A shared library of kernels, as its loader expects it.

    Attributes:
        platform: the platform of its targets, as XLA spells it.
        version_function: the C function that returns the version of the signatures.
        version: the version that this package calls.
        targets: the names of its targets.
        functions: result and argument types of its other C functions.
    """

    platform: str
    version_function: str
    version: int
    targets: Sequence[str]
    functions: Mapping[str, tuple[Any, Sequence[Any]]]

    def open(self, path: Path) -> ctypes.CDLL:
        """Loads the library and registers its targets.

        Raises:
            OSError: the library is for another version, or is none.
        """
        opened = ctypes.CDLL(str(path))
        built_for = getattr(opened, self.version_function)()
        if built_for != self.version:
            raise OSError(f"it has version {built_for} of the interface, not {self.version}")
        for name, (result, arguments) in self.functions.items():
            function = getattr(opened, name)
            function.restype, function.argtypes = result, list(arguments)
        for target in self.targets:
            handler = jax.ffi.pycapsule(getattr(opened, target))
            jax.ffi.register_ffi_target(target, handler, platform=self.platform)
        return opened


def found_in(folders: Iterable[Any], name: str) -> Path | None:
    """The path of a library in the first of some folders that has it."""
    paths = (Path(folder) / name for folder in folders)
    return next((path for path in paths if path.exists()), None)


def switch() -> str:
    """The value of `JAXFRAMES_KERNELS`: "native" for kernels where there are any, or "xla"."""
    value = os.environ.get("JAXFRAMES_KERNELS", "native")
    if value not in ("native", "xla"):
        raise ValueError(f"JAXFRAMES_KERNELS must be 'native' or 'xla', got {value!r}.")
    return value


@functools.cache
def warn_once(kernels: str, reason: str) -> None:
    """Warns that XLA's versions serve in place of kernels that could be there."""
    warnings.warn(
        f"jaxframes: the portable XLA versions replace the {kernels}. {reason} "
        "Set JAXFRAMES_KERNELS=xla to choose this and silence the warning.",
        RuntimeWarning,
        stacklevel=2,
    )
