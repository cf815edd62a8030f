# SPDX-License-Identifier: Apache-2.0
"""The annotations of the package can be enforced, as `JAXFRAMES_TYPECHECK=1` does."""

import os
import subprocess
import sys
from pathlib import Path

CHECKED = """
from jaxtyping import install_import_hook

install_import_hook("jaxframes", "type_checks.enforced")

import jax.numpy as jnp
from jaxframes import frame, primitives

assert frame.JaxFrame({"x": jnp.array([2, 1])}).sort_values("x").x.tolist() == [1, 2]
try:
    primitives.radix_sort(jnp.array([2, 1]), mesh=3)
except Exception as error:
    print(type(error).__module__.split(".")[0])
"""


def test_every_module_is_imported_with_its_annotations_enforced():
    done = subprocess.run(
        [sys.executable, "-c", CHECKED],
        cwd=Path(__file__).parent,
        # The hook does not find the kernels of an editable install.
        env={**os.environ, "JAXFRAMES_KERNELS": "xla"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "jaxtyping"
