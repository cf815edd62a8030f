# SPDX-License-Identifier: Apache-2.0
"""Kernel-first parallel primitives for JAX, and frames in the manner of pandas.

What stands here is loaded when it is asked for: `import jaxframes` imports neither JAX nor pandas.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import frame, primitives, shardings
    from .frame import JaxFrame, JaxSeries

    __version__: str

__all__ = ["JaxFrame", "JaxSeries", "__version__", "frame", "primitives", "shardings"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "__version__":
        from importlib.metadata import version

        value = version(__name__)
    elif name in ("JaxFrame", "JaxSeries"):
        value = getattr(importlib.import_module(".frame", __name__), name)
    else:
        value = importlib.import_module(f".{name}", __name__)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
