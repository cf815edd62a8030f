# SPDX-License-Identifier: Apache-2.0
"""Every exported name exists, has a complete docstring, and its examples pass."""

import doctest
import importlib
import inspect
import re

import pytest

PACKAGES = [
    "jaxframes.frame",
    "jaxframes.primitives",
    "jaxframes.primitives.local",
    "jaxframes.primitives.collective",
    "jaxframes.primitives.staging",
    "jaxframes.shardings",
]
# The order of the sections is fixed; each level requires some of them, as listed below.
SECTIONS = ["Args", "Returns", "Raises", "Cost", "Guarantees", "References", "Example"]
pytestmark = pytest.mark.covered_apart
EXPORTS = [
    pytest.param(package, name, id=f"{package}.{name}")
    for package in PACKAGES
    for name in importlib.import_module(package).__all__
]


def exported(package, name):
    return getattr(importlib.import_module(package), name)


def sections_of(documented):
    return re.findall(r"^(\w+):$", inspect.getdoc(documented) or "", re.MULTILINE)


@pytest.mark.parametrize("package", PACKAGES)
def test_all_is_sorted_and_without_repeats(package):
    names = importlib.import_module(package).__all__
    assert len(names) == len(set(names))
    # Classes before functions, as ruff sorts them.
    assert sorted(names, key=lambda name: (name[0].islower(), name)) == names


@pytest.mark.parametrize(("package", "name"), EXPORTS)
def test_every_export_exists_and_is_documented(package, name):
    documented = exported(package, name)
    assert inspect.getdoc(documented)
    sections = sections_of(documented)
    known = [section for section in SECTIONS if section in sections]
    assert [section for section in sections if section in SECTIONS] == known


@pytest.mark.parametrize(("package", "name"), EXPORTS)
def test_every_function_says_all_that_a_caller_needs(package, name):
    function = exported(package, name)
    # Methods of frames are called like pandas', and document their differences.
    if not inspect.isfunction(function) or package == "jaxframes.frame":
        return
    signature = inspect.signature(function)
    sections = sections_of(function)
    expected = {"Example"}
    if signature.return_annotation is not None:
        expected |= {"Returns"}
    if signature.parameters:
        expected |= {"Args"}
        if package.startswith("jaxframes.primitives"):
            expected |= {"Raises", "Cost", "Guarantees"}
        following = sections[sections.index("Args") + 1]
        described = inspect.getdoc(function).split("Args:")[1].split(f"\n{following}:")[0]
        names = re.findall(r"^    (\w+):", described, re.MULTILINE)
        assert names == list(signature.parameters)
    assert expected <= set(sections)


@pytest.mark.parametrize(("package", "name"), EXPORTS)
def test_examples_show_what_happens(package, name):
    runner = doctest.DocTestRunner(optionflags=doctest.REPORT_NDIFF)
    report = []
    for place, documented in with_methods(exported(package, name), name):
        for example in doctest.DocTestFinder(recurse=False).find(documented, place, globs={}):
            runner.run(example, out=report.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)


def with_methods(documented, name):
    """Exported names and, for classes of frames, their inherited methods."""
    yield name, documented
    if inspect.isclass(documented) and documented.__module__.startswith("jaxframes.frame"):
        for method, member in inspect.getmembers_static(documented):
            if not method.startswith("_") and (
                inspect.isfunction(member) or isinstance(member, property)
            ):
                yield f"{name}.{method}", member
