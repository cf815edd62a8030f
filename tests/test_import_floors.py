# SPDX-License-Identifier: Apache-2.0
"""Imports point down only, JAX is used through its public names only, and both checks can fail."""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ["primitives", "frame", "shardings"]
SOURCES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
FRAME = [path for path in SOURCES if path.is_relative_to(ROOT / "frame")]


@pytest.fixture(scope="module")
def pristine(tmp_path_factory):
    """A copy of the packages under their installed name, with the contracts beside it."""
    folder = tmp_path_factory.mktemp("floors")
    for package in PACKAGES:
        shutil.copytree(
            ROOT / package,
            folder / "jaxframes" / package,
            ignore=shutil.ignore_patterns("__pycache__"),
        )
    shutil.copy(ROOT / "package/jaxframes/__init__.py", folder / "jaxframes")
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def lint_imports(folder):
    """Runs the contracts; returns whether they hold, and the output."""
    linted = subprocess.run(
        [sys.executable, "-S", "-c", "from importlinter.cli import lint_imports_command as c; c()"],
        cwd=folder,
        env={
            **os.environ,
            # Without site hooks, because an editable install would hide the copy.
            "PYTHONPATH": os.pathsep.join([str(folder), *sys.path]),
            "NO_COLOR": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    return linted.returncode == 0, linted.stdout + linted.stderr


def test_contracts_are_kept(pristine):
    kept, said = lint_imports(pristine)
    assert kept, said


@pytest.mark.parametrize(
    ("module", "planted", "broken"),
    [
        ("shardings/_mesh.py", "from .. import primitives", "Imports point down only BROKEN"),
        ("shardings/_mesh.py", "import jaxframes.frame", "Imports point down only BROKEN"),
        (
            "primitives/_global/_radix_sort.py",
            "from ... import frame",
            "Imports point down only BROKEN",
        ),
        (
            "primitives/kernels/sort/_merge.py",
            "from ... import local",
            "Floors of the primitives BROKEN",
        ),
        (
            "primitives/local/_merge.py",
            "from ..collective import partition",
            "Floors of the primitives BROKEN",
        ),
        (
            "primitives/collective/_partition.py",
            "from .._global._radix_sort import radix_sort",
            "Floors of the primitives BROKEN",
        ),
        (
            "primitives/local/_top_k.py",
            "from ... import primitives",
            "The floors below do not know the global calls BROKEN",
        ),
        (
            "primitives/collective/_partition.py",
            "from ..local._bucket import bucket",
            "Higher floors take from local its public names and its parts BROKEN",
        ),
        (
            "primitives/_global/_partition.py",
            "from ..local._bucket import bucket",
            "Higher floors take from local its public names and its parts BROKEN",
        ),
        (
            "primitives/contract/_key_bits.py",
            "from ..kernels.base import _library",
            "Floors of the primitives BROKEN",
        ),
        (
            "primitives/staging/_frozen.py",
            "from ..local import radix_sort",
            "Staging knows no primitive BROKEN",
        ),
        (
            "primitives/collective/_partition.py",
            "from ..staging import freeze",
            "Floors of the primitives BROKEN",
        ),
        ("primitives/_homeless.py", '"""A module on no floor."""', "_homeless"),
        ("frame/table/_take.py", "from ..align import _align", "Rooms of the frame BROKEN"),
        ("frame/ops/_clip.py", "from ..groupby import _agg", "Rooms of the frame BROKEN"),
        ("frame/_homeless.py", '"""A module in no room."""', "_homeless"),
    ],
)
def test_an_import_upwards_is_found(pristine, tmp_path, module, planted, broken):
    folder = tmp_path / "planted"
    shutil.copytree(pristine, folder)
    with (folder / "jaxframes" / module).open("a") as file:
        file.write(f"\n{planted}\n")
    kept, said = lint_imports(folder)
    assert not kept
    assert broken in said


def found_by(look, paths):
    """What a function of a source finds, by path; the paths of clean sources are left out."""
    found = {str(path.relative_to(ROOT)): look(path.read_text()) for path in paths}
    return {path: names for path, names in found.items() if names}


def imports_in_functions(source):
    """Line numbers of the imports inside functions."""
    return sorted(
        {
            inner.lineno
            for node in ast.walk(ast.parse(source))
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            for inner in ast.walk(node)
            if isinstance(inner, (ast.Import, ast.ImportFrom))
        }
    )


def test_no_import_inside_a_function_of_the_frame():
    assert found_by(imports_in_functions, FRAME) == {}


def test_an_import_inside_a_function_is_found():
    assert imports_in_functions("import jax\n\ndef f():\n    import numpy") == [4]


def siblings(source):
    """The modules of its own folder that a module imports."""
    return {
        node.module
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module
    }


def test_no_module_of_the_frame_imports_more_than_a_dozen_siblings():
    # The file of the classes and the front door import from every room.
    in_rooms = [path for path in FRAME if path.parent.name != "frame"]
    assert [path for path, names in found_by(siblings, in_rooms).items() if len(names) > 12] == []


LOOPS = {"platform_dependent", "fori_loop", "while_loop", "scan", "map", "associative_scan"}


def loops_in(source):
    """Loops of JAX, choices of a platform, and sizes of blocks, wherever the source has them."""
    found = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute():
                # Methods of other objects, and functions of Python, may have the same names.
                if node.attr in LOOPS and ast.unparse(node.value).split(".")[-1] == "lax":
                    found.append(ast.unparse(node))
            case ast.ImportFrom():
                if (node.module or "").startswith("jax"):
                    found += [alias.name for alias in node.names if alias.name in LOOPS]
            case ast.Name() | ast.arg():
                name = node.id if isinstance(node, ast.Name) else node.arg
                if re.search(r"(^|_)blocks?(_|$)", name, re.IGNORECASE):
                    found.append(name)
    return found


def test_the_frame_leaves_loops_to_the_primitives():
    assert found_by(loops_in, FRAME) == {}


@pytest.mark.parametrize(
    "planted",
    [
        "jax.lax.platform_dependent(x, cpu=f, default=g)",
        "lax.fori_loop(0, 3, f, x)",
        "jax.lax.while_loop(f, g, x)",
        "jax.lax.map(f, x)",
        "jax.lax.scan(f, x, y)",
        "from jax.lax import scan",
        "BLOCK_ROWS = 1 << 18",
        "def f(x, block): ...",
        "num_blocks = 3",
    ],
)
def test_a_loop_is_found(planted):
    assert loops_in(planted)


def test_names_of_python_are_no_loops():
    assert loops_in("map(f, x); jax.tree.map(f, x); x.block_until_ready(); pd.Series.map(x)") == []


def unset_arrays_in(source):
    """Arrays of JAX that nothing has written: what they hold would differ from run to run."""
    names = {"empty", "empty_like"}
    found = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute():
                owner = ast.unparse(node.value)
                if node.attr in names and owner in ("jnp", "lax", "jax.numpy", "jax.lax"):
                    found.append(ast.unparse(node))
            case ast.ImportFrom():
                if (node.module or "").startswith("jax"):
                    found += [alias.name for alias in node.names if alias.name in names]
    return found


def test_no_array_starts_unset():
    assert found_by(unset_arrays_in, SOURCES) == {}


@pytest.mark.parametrize(
    "planted",
    [
        "jnp.empty(3)",
        "jnp.empty_like(x)",
        "jax.lax.empty((3,), int)",
        "from jax.numpy import empty",
    ],
)
def test_an_unset_array_is_found(planted):
    assert unset_arrays_in(planted)


def names_from_parts(path):
    """Names that a module imports from the parts of `local`."""
    return {
        alias.name
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module == "local.parts"
        for alias in node.names
    }


def test_parts_of_local_are_those_that_higher_floors_use():
    folders = ("primitives", "primitives/_global", "primitives/collective")
    higher = [path for folder in folders for path in (ROOT / folder).glob("_*.py")]
    listed = {
        alias.name
        for node in ast.walk(ast.parse((ROOT / "primitives/local/parts.py").read_text()))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert set().union(*map(names_from_parts, higher)) == listed


def private_names(source):
    """Private names of JAX in the source."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if _is_private(alias.name)]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found += [name for name in names if _is_private(name)]
        elif isinstance(node, ast.Attribute) and _is_private(ast.unparse(node)):
            found.append(ast.unparse(node))
    return found


def _is_private(name):
    root, *rest = name.split(".")
    return root == "jaxlib" or (root == "jax" and any(part.startswith("_") for part in rest))


def test_only_public_names_of_jax():
    assert found_by(private_names, SOURCES) == {}


@pytest.mark.parametrize(
    "planted",
    [
        "import jax._src.core",
        "from jax import _src",
        "from jax._src.core import Tracer",
        "import jax\njax._src.core.Tracer",
        "from jaxlib import xla_client",
    ],
)
def test_a_private_name_is_found(planted):
    assert private_names(planted)


def test_staging_is_loaded_by_those_who_import_it():
    script = (
        "import sys, jaxframes.primitives;assert 'jaxframes.primitives.staging' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_importing_changes_no_setting_of_jax():
    script = (
        "import jax; before = dict(jax.config.values);"
        "import jaxframes.primitives, jaxframes.frame, jaxframes.shardings;"
        "assert dict(jax.config.values) == before"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
