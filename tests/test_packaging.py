# SPDX-License-Identifier: Apache-2.0
"""The source distribution, and its wheels with and without a compiler."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from covering import RUNS_ALL

ROOT = Path(__file__).resolve().parents[1]
# Where each folder of the sources goes.
PACKAGES = {
    "package/jaxframes": "jaxframes",
    "primitives": "jaxframes/primitives",
    "frame": "jaxframes/frame",
    "shardings": "jaxframes/shardings",
}
KERNELS = "jaxframes/primitives/kernels/libjaxframes_kernels.so"


def run(arguments, cwd, **environment):
    finished = subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout + finished.stderr


def build(kind, source, target, **environment):
    """Runs one hook of the build backend, with the tools of this environment."""
    script = f"from scikit_build_core import build; build.build_{kind}({str(target)!r})"
    said = run(["-c", script], source, **environment)
    (built,) = target.iterdir()
    return built, said


def run_installed(folder, arguments, **environment):
    """Runs Python on an unpacked wheel. `-S` keeps an editable install of this tree out."""
    path = os.pathsep.join([str(folder), *filter(None, sys.path)])
    return run(["-S", *arguments], folder, PYTHONPATH=path, **environment)


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    return build("sdist", ROOT, tmp_path_factory.mktemp("sdist"))[0]


def unpacked(sdist, folder):
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (source,) = folder.iterdir()
    return source


@pytest.fixture(scope="module")
def source(sdist, tmp_path_factory):
    return unpacked(sdist, tmp_path_factory.mktemp("source"))


# Takes the place of the compiler for objects that lie in a folder already.
LAUNCHER = """#!/bin/sh
for word; do
  [ "$last" = -o ] && object=$word
  last=$word
done
if [ -f "{objects}/$object" ]; then cp "{objects}/$object" "$object"; else exec "$@"; fi
"""


def compiled_objects():
    """The folder in which `make install` has compiled these sources, or None."""
    kernels = ROOT / "primitives/kernels"
    sources = [path for path in kernels.rglob("*.*") if path.suffix in (".h", ".cc")]
    newest = max(path.stat().st_mtime for path in sources if not path.name.startswith("cuda_"))
    for folder in (ROOT / "build").glob("py3-*"):
        objects = list((folder / "CMakeFiles/jaxframes_kernels.dir").rglob("*.o"))
        if objects and min(path.stat().st_mtime for path in objects) > newest:
            return folder
    return None


@pytest.fixture(scope="module")
def wheel(source, tmp_path_factory):
    objects = None if RUNS_ALL else compiled_objects()
    if objects:
        launcher = tmp_path_factory.mktemp("launcher") / "compiler"
        launcher.write_text(LAUNCHER.format(objects=objects))
        launcher.chmod(0o755)
        settings = {"CMAKE_CXX_COMPILER_LAUNCHER": str(launcher)}
    else:
        # Without the optimiser the build takes half of the time. `make install` has built with it.
        settings = {"SKBUILD_CMAKE_BUILD_TYPE": "None", "CXXFLAGS": "-O0"}
    return build("wheel", source, tmp_path_factory.mktemp("wheel"), **settings)[0]


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The unpacked wheel."""
    folder = tmp_path_factory.mktemp("installed")
    zipfile.ZipFile(wheel).extractall(folder)
    return folder


# The Python part of a wheel.
SOURCES = (".py", ".pyi", ".typed")


def package_files(root, *suffixes):
    return {
        f"{package}/{path.relative_to(root / folder)}"
        for folder, package in PACKAGES.items()
        for path in (root / folder).rglob("*")
        if path.suffix in suffixes
    }


def test_sdist_holds_what_building_and_testing_need(source):
    suffixes = (*SOURCES, ".cc", ".h", ".txt")
    assert package_files(source, *suffixes) == package_files(ROOT, *suffixes)
    for name in ("pyproject.toml", "Makefile", "README.md", "LICENSE", "tests/conftest.py"):
        assert (source / name).read_bytes() == (ROOT / name).read_bytes()


def test_sdist_holds_nothing_that_was_built(source):
    built = ("build", "dist", "docs/_build", "asv_bench/env", "asv_bench/results", ".venv", ".git")
    assert [name for name in built if (source / name).exists()] == []
    assert not list(source.rglob("__pycache__"))


def test_wheel_holds_the_packages_and_the_kernels(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if name.startswith("jaxframes/")}
    assert names == package_files(ROOT, *SOURCES) | {KERNELS}


def test_wheel_serves_every_python_of_its_platform(wheel):
    assert re.fullmatch(r"jaxframes-[\d.]+-py3-none-(?!any)\w+\.whl", wheel.name)


def test_installed_wheel_runs_its_kernels(installed):
    script = """
import jax.numpy as jnp
from jaxframes import frame, primitives, shardings

assert primitives.radix_sort(jnp.array([3, 1, 2])).tolist() == [1, 2, 3]
print(primitives.__file__, primitives.backend().cpu)
"""
    said = run_installed(installed, ["-W", "error", "-c", script], JAXFRAMES_KERNELS="native")
    assert said.split() == [f"{installed}/jaxframes/primitives/__init__.py", "native"]


def test_doctests_of_the_installed_wheel(installed):
    # `make test` runs the doctests of the sources too.
    packages = ["jaxframes.primitives" if RUNS_ALL else "jaxframes.primitives.local._radix_sort"]
    packages += ["jaxframes.shardings"]
    options = ["-p", "no:cacheprovider", "-p", "no:xdist", "-o", "consider_namespace_packages=true"]
    said = run_installed(
        installed, ["-m", "pytest", *options, "--doctest-modules", "--pyargs", *packages]
    )
    assert re.search(r"=+ \d\d+ passed in ", said), said


@pytest.fixture(scope="module")
def built_without_compiler(sdist, tmp_path_factory):
    """The wheel of a machine without a C++ compiler, and the output of its build."""
    source = unpacked(sdist, tmp_path_factory.mktemp("source"))
    path = tmp_path_factory.mktemp("path")
    for tool in ("cmake", "ninja"):
        (path / tool).symlink_to(shutil.which(tool) or pytest.fail(f"{tool} is not installed"))
    return build("wheel", source, tmp_path_factory.mktemp("pure"), PATH=str(path), CXX="/bin/false")


def test_without_compiler_a_wheel_without_kernels_is_built(built_without_compiler):
    wheel, said = built_without_compiler
    assert re.fullmatch(r"jaxframes-[\d.]+-py3-none-any\.whl", wheel.name)
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if name.startswith("jaxframes/")}
    assert names == package_files(ROOT, *SOURCES)
    assert (
        "jaxframes: the C++ kernels could not be built (is a C++17 compiler installed?). "
        "The portable XLA path serves in their place; jaxframes.primitives.backend() says so."
    ) in said


def test_without_kernels_the_first_use_warns_once(built_without_compiler, tmp_path):
    wheel, _ = built_without_compiler
    zipfile.ZipFile(wheel).extractall(tmp_path)
    script = """
import warnings

import jax.numpy as jnp
from jaxframes import primitives

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    assert primitives.radix_sort(jnp.array([3, 1, 2])).tolist() == [1, 2, 3]
    assert primitives.radix_sort(jnp.array([3.0, 1.0, 2.0])).tolist() == [1, 2, 3]
assert [warning.category for warning in caught] == [RuntimeWarning]
assert str(caught[0].message).startswith(
    "jaxframes: the portable XLA versions replace the C++ kernels."
)
print(primitives.backend().cpu)
"""
    said = run_installed(tmp_path, ["-c", script], JAXFRAMES_KERNELS="native")
    assert said.split() == ["xla"]


def test_build_takes_the_oldest_supported_jaxlib():
    """The kernels must not need newer headers than those of the installed jaxlib."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (oldest,) = {
        requirement.partition(">=")[2]
        for requirement in settings["project"]["dependencies"]
        if requirement.startswith("jax")
    }
    assert any(
        requirement.startswith(f"jaxlib=={oldest};")
        for requirement in settings["build-system"]["requires"]
    )


def test_one_version_is_named_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    version = project["version"]
    assert project["optional-dependencies"]["cuda13"] == [f"jaxframes-cuda13=={version}"]
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    first, *_ = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert first == version
