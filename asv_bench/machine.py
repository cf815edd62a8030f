# SPDX-License-Identifier: Apache-2.0
"""The machine and the versions of a run."""

import os
import platform
from importlib.metadata import version
from typing import Any

PACKAGES = ("jaxframes", "jax", "jaxlib", "numpy", "pandas", "polars", "duckdb")


def machine() -> dict[str, Any]:
    from jaxframes import primitives

    return {
        "kernels": primitives.backend().cpu,
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        **{package: version(package) for package in PACKAGES},
    }
