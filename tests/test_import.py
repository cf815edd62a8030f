# SPDX-License-Identifier: Apache-2.0
"""`import jaxframes` imports nothing else until it is asked for it."""

import subprocess
import sys
import tomllib
from pathlib import Path

import jaxframes
import pytest
from jaxframes import frame

ROOT = Path(__file__).resolve().parents[1]
NAMES = ["JaxFrame", "JaxSeries", "__version__", "frame", "primitives", "shardings"]


def test_import_loads_neither_jax_nor_pandas():
    script = f"""
import sys
import jaxframes

assert dir(jaxframes) == jaxframes.__all__ == {NAMES}
print(jaxframes.__version__, *({{"jax", "numpy", "pandas", "pyarrow"}} & set(sys.modules)))
print(jaxframes.JaxFrame.__name__, jaxframes.primitives.__name__)
"""
    said = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=True
    ).stdout
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert said.splitlines() == [version, "JaxFrame jaxframes.primitives"]


def test_names_are_those_of_the_packages():
    assert jaxframes.JaxFrame is frame.JaxFrame
    assert jaxframes.JaxSeries is frame.JaxSeries
    assert jaxframes.frame is frame


def test_other_names_are_refused():
    with pytest.raises(AttributeError, match=r"module 'jaxframes' has no attribute 'DataFrame'"):
        _ = jaxframes.DataFrame
