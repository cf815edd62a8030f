# SPDX-License-Identifier: Apache-2.0
"""Nothing that a file holds is run: no pickle is read, and no text is evaluated."""

import ast
import os
import pickle
from pathlib import Path

import pytest
from jaxframes.frame import _serialization

ROOT = Path(__file__).resolve().parents[1]
FILES = [
    path
    for package in ("frame", "primitives", "shardings")
    for path in (ROOT / package).rglob("*.py")
]
RUNS_CODE = {
    "pickle",
    "cPickle",
    "_pickle",
    "marshal",
    "shelve",
    "dill",
    "cloudpickle",
    "joblib",
    "yaml",
}
# The only reader of a pickle, restricted to constructors; tested below.
RESTRICTED = ROOT / "frame/_serialization.py"


def uses(path):
    """What a file does that can run code of its input."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] in RUNS_CODE)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            if (node.module or "").split(".")[0] in RUNS_CODE:
                yield node.module
        elif isinstance(node, ast.Call):
            called = node.func
            if isinstance(called, ast.Name) and called.id in (
                "eval",
                "exec",
                "compile",
                "__import__",
            ):
                yield called.id
            if isinstance(called, ast.Attribute) and called.attr in ("read_pickle", "literal_eval"):
                yield called.attr
            for keyword in node.keywords:
                if keyword.arg in ("allow_pickle", "unsafe_allow_python_extension"):
                    yield keyword.arg


def test_no_module_reads_a_pickle_or_evaluates_text():
    found = {str(path.relative_to(ROOT)): list(uses(path)) for path in FILES}
    assert {path: used for path, used in found.items() if used} == {
        "frame/_serialization.py": ["pickle"]
    }


def test_the_one_reader_of_pickles_is_restricted():
    tree = ast.parse(RESTRICTED.read_text())
    names = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "pickle"
    }
    assert names == {"Unpickler", "UnpicklingError", "dumps"}


class Trap:
    """Makes a folder where it is unpickled."""

    def __init__(self, function, *arguments):
        self.call = (function, arguments)

    def __reduce__(self):
        return self.call


def test_a_hostile_file_raises_and_runs_nothing(tmp_path):
    folder = str(tmp_path / "made")
    for trap in (
        Trap(os.mkdir, folder),
        Trap(eval, f"__import__('os').mkdir({folder!r})"),
        Trap(getattr, "text", "join"),
    ):
        for value in (trap, [1, {"labels": trap}]):
            with pytest.raises(pickle.UnpicklingError, match=r"jax\.export: a label or dictionary"):
                _serialization._read(pickle.dumps(value))
    # A name with dots would lead out of an allowed module.
    for module, name in [
        ("jaxframes.frame.table._column", "np.savetxt"),
        ("numpy", "load"),
        ("pandas", "read_pickle"),
        ("builtins", "exec"),
    ]:
        data = (
            b"\x80\x04\x8c"
            + bytes([len(module)])
            + module.encode()
            + b"\x8c"
            + bytes([len(name)])
            + name.encode()
            + b"\x93."
        )
        with pytest.raises(pickle.UnpicklingError, match="got " + module):
            _serialization._read(data)
    assert not os.path.exists(folder)
