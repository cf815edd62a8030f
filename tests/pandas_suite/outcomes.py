# SPDX-License-Identifier: Apache-2.0
"""What became of a test: passed, refused, wrong, and why."""

import functools
import inspect
import re
import tomllib
import traceback
from pathlib import Path
from typing import Any, NamedTuple

import jaxframes.frame

_FRAME = Path(jaxframes.frame.__file__).resolve().parent

# What no columnar frame has: blocks, views, extension arrays, pickles, plots, subclasses.
_OUT_OF_SCOPE = re.compile(
    r"\._mgr|\._values|\._get_|\._data\b|\._is_|\._set|_cacher|\.array\b|\.values\.|\.base\b|pickle"
    r"|plot|share[sd]_memory|\.flags|memory_usage|blocks|[Ee]xtension|Sparse|sparse|weakref"
    r"|_metadata|[Ss]ubclass|_constructor|DummyArray|DecimalArray|JSONArray|PandasArray|from_array"
    r"|_op_via_|engine=\"numba\"|numba|tracemalloc|get_locs|_ixs|\._grouper|Grouping|\._grp"
    r"|NumpyExtension|memoryview|view\(|getsizeof|\.style|to_latex|to_hdf|to_excel|read_pickle"
)


class Outcome(NamedTuple):
    """The kind of a test's end, its cause without numbers and names, and where it came from."""

    kind: str
    cause: str = ""
    where: str = ""


def outcome_of(error: BaseException, function: Any, test: str = "") -> Outcome:
    """Sorts the exception that ended a test.

    Kinds: `refused` (we say that we cannot), `wrong` (an answer that is not that of pandas),
    `documented` (such an answer, which `documented.toml` gives a reason for),
    `lenient` (an answer where pandas raises), `text` (another message than that of pandas), `error`
    (anything else), `slow`, and `out of scope` (the test looks at what a columnar frame has not).
    """
    frames = traceback.extract_tb(error.__traceback__)
    ours = [each for each in frames if _is_ours(each)]
    where = (
        f"{Path(ours[-1].filename).resolve().relative_to(_FRAME)}:{ours[-1].lineno}" if ours else ""
    )
    kind = _kind(error, bool(ours) and ours[-1] is frames[-1])
    if kind != "slow" and _OUT_OF_SCOPE.search(_source(function)):
        kind = "out of scope"
    if kind == "wrong" and _name(test) in _reasons():
        return Outcome("documented", _reasons()[_name(test)], where)
    return Outcome(kind, _cause(error), where)


def _name(test: str) -> str:
    """The file and the function of a test, without its folder, class and parameters."""
    path, *_, function = test.split("[")[0].split("::")
    return f"{Path(path).name}::{function}"


@functools.cache
def _reasons() -> dict[str, str]:
    """The reason for each test that fails by a documented difference."""
    entries = tomllib.loads(Path(__file__).with_name("documented.toml").read_text())["documented"]
    return {test: entry["reason"] for entry in entries for test in entry["tests"].split()}


def _is_ours(frame: traceback.FrameSummary) -> bool:
    return Path(frame.filename).resolve().is_relative_to(_FRAME)


def _kind(error: BaseException, raised_here: bool) -> str:
    name, message = type(error).__name__, str(error)
    if isinstance(error, TimeoutError):
        return "slow"
    if name == "Failed" and message.startswith("DID NOT RAISE"):
        return "lenient"
    if isinstance(error, AssertionError):
        if message.startswith("Regex pattern did not match"):
            return "text"
        return "wrong"
    if isinstance(error, NotImplementedError):
        return "refused"
    if "got an unexpected keyword argument" in message or "has no attribute" in message:
        return "refused"
    if raised_here and (name == "TypeError" or re.match(r"[\w.\[\]()=, ]+: ", message)):
        return "refused"
    return "error"


def _source(function: Any) -> str:
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        return ""


def _cause(error: BaseException) -> str:
    """The first lines of a message, without the names and numbers of the one test."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if isinstance(error, AssertionError):
        text = " | ".join(line for line in lines[:5] if not line.startswith("At positional"))
    else:
        text = lines[0] if lines else ""
    if "has no attribute" not in text and "unexpected keyword" not in text:
        text = re.sub(r"'[^']*'", "'_'", text)
    text = re.sub(r"-?\d+(\.\d+)?", "0", text)
    return f"{type(error).__name__}: {text}"[:300]
