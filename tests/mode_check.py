# SPDX-License-Identifier: Apache-2.0
"""Checks that one function gives one answer in all modes: that of pandas.

`docs/frame_differences.toml` lists the known differences. An entry excuses results of pipelines and
operations that contain one of its `steps` and satisfy its `excuse`. What is excused must still
equal the eager result, unless the entry is about `jit`, about plans, or about files.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from frame_parity import Bound
from mode_comparison import Difference, differences
from mode_pipelines import tried
from mode_runs import Modes, group_of
from operation_parity import DIFFERENCES, is_excused


class Subject(NamedTuple):
    """What runs: its text, the function, and how far its floats may be from those of pandas."""

    text: str
    run: Callable[..., Any]
    bound: Callable[[Sequence[pd.DataFrame]], Bound]
    operation: Any = None


class Failure(NamedTuple):
    """A column that differs in a mode."""

    subject: Subject
    mode: str
    tables: tuple[pa.Table, ...]
    dtype: str
    found: str

    @property
    def kind(self) -> str:
        """What differs, without the values."""
        return f"{self.dtype}: {_kind(self.found)}"


class Case(NamedTuple):
    """A difference and where it was found."""

    mode: str
    frames: Sequence[pd.DataFrame]
    dtype: str
    found: str

    @property
    def are_dtypes(self) -> bool:
        """Whether only dtypes differ."""
        pattern = r"dtype|inferred_type|^got \w+ in place of \w+$"
        return re.search(pattern, self.found) is not None


class Counted(NamedTuple):
    """The number of compared columns, the calls that ours refuses, and the failures."""

    comparisons: int
    refused: list[tuple[str, str]]
    failures: list[Failure]


# A scalar of no values: an earlier step may have dropped the rows.
_INTEGER_FOR_NAN = re.compile(r"got np\.u?int\d+\(-?\d+\) in place of nan$")
# The dtypes of results that pandas has for objects.
_OF_OBJECTS = ("object", "error", "bool", "str", "NoneType")
# What an entry of the list may excuse.
EXCUSED: dict[str, Callable[[Case], bool]] = {
    "narrow integers": lambda case: case.are_dtypes and case.dtype in ("int8", "uint8", "int64"),
    "float32": lambda case: case.are_dtypes or "float32" in case.found,
    "bools inside jit": lambda case: case.mode == "jit" and case.dtype == "object",
    "dtypes inside jit": lambda case: case.mode == "jit" and case.are_dtypes,
    "ties": lambda case: _have_ties(case),
    "missing keys": lambda case: _have_missing_keys(case),
    "sign of zero": lambda case: "sign of 0" in case.found,
    "sign of zero inside programs": lambda case: (
        "sign of 0" in case.found and case.mode.split()[0] in ("jit", "plan", "batches")
    ),
    "a nullable dtype": lambda case: (
        re.search(r"left\]: +(U?Int|Float|boolean)", case.found) is not None
    ),
    "NaN for None": lambda case: (
        re.search(r"got (np\.float64\()?nan\)? in place of None", case.found) is not None
    ),
    "a label NaN for None": lambda case: (
        re.search(r"inferred_type.*left\]: +floating\s+\[right\]: +mixed", case.found, re.DOTALL)
        is not None
    ),
    "inside jit": lambda case: case.mode == "jit",
    "NA inside jit": lambda case: case.mode == "jit" and "nan) in place of <NA>" in case.found,
    "inside jit without values": lambda case: (
        case.mode == "jit"
        and (_have_no_values(case) or _INTEGER_FOR_NAN.match(case.found) is not None)
    ),
    "arguments out of range": lambda case: (
        "where pandas raises" in case.found or "OutOfBounds" in case.found or _have_no_rows(case)
    ),
    "no values": lambda case: _have_no_values(case),
    "no rows": lambda case: _have_no_rows(case),
    "dtypes without rows": lambda case: case.are_dtypes and _have_no_rows(case),
    "raised for lack of values": lambda case: (
        "raises" in case.found and (_have_no_rows(case) or _have_no_values(case))
    ),
    "small integers": lambda case: any("int8" in map(str, one.dtypes) for one in case.frames),
    "infinities": lambda case: "inf" in case.found,
    "columns of float32": lambda case: any(
        "float32" in map(str, frame.dtypes) for frame in case.frames
    ),
    "a time": lambda case: re.match("(?i)time|date", case.dtype) is not None,
    "columns of times": lambda case: any(
        frame.select_dtypes(("datetime", "timedelta")).shape[1] for frame in case.frames
    ),
    "sums of times over batches": lambda case: (
        case.mode.startswith("batches") and "OutOfBoundsTimedelta" in case.found
    ),
    "infinite values": lambda case: _have_infinities(case),
    "dtypes": lambda case: case.are_dtypes,
    "bools from objects": lambda case: re.search(r"left\]: +bool", case.found) is not None,
    "objects": lambda case: case.dtype in _OF_OBJECTS and _have_objects(case),
    "objects from pandas": lambda case: case.mode == "from pandas" and _have_objects(case),
    "bools with missing values": lambda case: _have_objects(case),
    "wide integers": lambda case: _have_wide_integers(case),
    "a wide range of integers": lambda case: _have_wide_ranges(case),
    "sums of wide integers": lambda case: (
        case.dtype == "float64"
        and re.search("values are different|Not equal to tolerance", case.found) is not None
        and _have_wide_integers(case)
    ),
    "a plan without an error": lambda case: (
        case.mode.split()[0] in ("plan", "batches") and "where pandas raises" in case.found
    ),
    "no categories": lambda case: case.mode.endswith("of files") and _lack_categories(case),
    "a new category": lambda case: "on a Categorical with a new category" in case.found,
    "a new category inside jit": lambda case: (
        case.mode == "jit" and "on a Categorical with a new category" in case.found
    ),
    "zones": lambda case: len(re.findall(r"datetime64\[\w+, ", case.found)) > 1,
    "pandas raises": lambda case: "where pandas raises" in case.found,
}


def _have_missing_keys(case: Case) -> bool:
    return any(frame.isna().any(axis=None) for frame in case.frames)


def _have_ties(case: Case) -> bool:
    numbers = [frame.select_dtypes("number") for frame in case.frames]
    return any(one[label].duplicated().any() for one in numbers for label in one)


def _have_infinities(case: Case) -> bool:
    return any(np.isinf(frame.select_dtypes("floating")).any(axis=None) for frame in case.frames)


def _have_objects(case: Case) -> bool:
    return any("object" in map(str, frame.dtypes) for frame in case.frames)


def _have_wide_integers(case: Case) -> bool:
    numbers = [frame.select_dtypes("number", exclude="timedelta") for frame in case.frames]
    columns = [frame[label] for frame in numbers for label in frame]
    # The magnitude of the least int64 wraps around.
    return any((x.abs() > 2**53).any() or (x < -(2**53)).any() for x in columns)


def _have_wide_ranges(case: Case) -> bool:
    """Whether the difference of two integers of a column does not fit its dtype."""
    numbers = [frame.select_dtypes("integer") for frame in case.frames]
    columns = [frame[label].dropna().to_numpy() for frame in numbers for label in frame]
    return any(
        len(x) and int(x.max()) - int(x.min()) > np.iinfo(x.dtype).max
        for x in columns
        if x.dtype.kind in "iu"
    )


def _lack_categories(case: Case) -> bool:
    columns = [frame[label] for frame in case.frames for label in frame]
    return any(x.dtype == "category" and not len(x.cat.categories) for x in columns)


def _have_no_rows(case: Case) -> bool:
    return any(not len(frame) for frame in case.frames)


def _have_no_values(case: Case) -> bool:
    return any(frame[label].isna().all() for frame in case.frames for label in frame)


# Excuses for plans alone, or for files alone.
_OF_MODES = frozenset(
    [
        "no categories",
        "no values",
        "objects from pandas",
        "a plan without an error",
        "sign of zero",
        "sign of zero inside programs",
        "sums of times over batches",
    ]
)


def excused_by(subject: Subject, case: Case) -> list[str]:
    """The excuses that hold for a difference."""
    found = [
        entry["excuse"]
        for entry in DIFFERENCES
        if "excuse" in entry
        and any(re.search(step, subject.text) for step in entry["steps"])
        and EXCUSED[entry["excuse"]](case)
    ]
    operation = subject.operation
    if operation is not None and is_excused(operation, list(case.frames), case.found):
        found.append("operation")
    return found


def check(
    subject: Subject, runner: Modes, tables: tuple[pa.Table, ...], modes: Sequence[str]
) -> Counted:
    """Runs a subject on some tables in some modes, and compares each result with that of pandas."""
    count, refused, failures = 0, [], []
    expected: dict[bool, Any] = {}
    eager: dict[bool, Any] = {}
    for mode in modes:
        frames = runner.of_pandas(tables, mode)
        source = mode.endswith("of files")
        if source not in expected:
            expected[source] = tried(subject.run, *(frame.copy() for frame in frames))
        got = tried(runner, mode, tables)
        if mode == "eager":
            eager[source] = got
        if _is_refusal(got, mode):
            refused.append((group_of(mode), str(got)[:90]))
            continue
        bound = subject.bound(frames)
        num, found = _compared(got, expected[source], bound, mode)
        count += num
        for one in found:
            excuses = excused_by(subject, Case(mode, frames, one.dtype, one.found))
            unlike = None
            if excuses and mode not in ("eager", "jit") and not _OF_MODES.intersection(excuses):
                if source not in eager:
                    eager[source] = tried(runner, "eager", tuple(runner.tables(tables, mode)))
                if "sums of wide integers" in excuses and mode.startswith("batches"):
                    bound = _with_wide_integers(bound, frames)
                _, others = _compared(got, eager[source], bound, mode)
                unlike = next((other for other in others if other.dtype == one.dtype), None)
            if not excuses or unlike is not None:
                worst = unlike or one
                failures.append(Failure(subject, mode, tables, worst.dtype, worst.found))
    return Counted(count, refused, failures)


def _with_wide_integers(bound: Bound, frames: Sequence[pd.DataFrame]) -> Bound:
    """The bound of sums that are rounded between batches, with the integers that they add up."""
    integers = [frame.select_dtypes("integer").fillna(0).to_numpy(np.float64) for frame in frames]
    magnitude = sum(float(np.abs(one).sum()) for one in integers)
    return bound._replace(magnitude=bound.magnitude + magnitude)


def _is_refusal(got: Any, mode: str) -> bool:
    if isinstance(got, NotImplementedError):
        return True
    # pandas shows bools with holes as objects: a frame made of these holds objects.
    return mode == "from pandas" and isinstance(got, TypeError) and "object" in str(got)


def _compared(got: Any, expected: Any, bound: Bound, mode: str) -> tuple[int, list[Difference]]:
    if isinstance(expected, AssertionError):
        # A fault of pandas, which asks for a report.
        return 0, []
    if isinstance(got, AssertionError):
        return 1, [Difference("schema", str(got))]
    if isinstance(expected, Exception):
        if isinstance(got, Exception) or mode == "jit":
            return 1, []
        return 1, [Difference("error", f"got {got!r} where pandas raises {expected!r}")]
    if isinstance(got, Exception):
        return 1, [Difference("error", f"raises {type(got).__name__}: {got}")]
    return differences(got, expected, bound)


def _kind(found: str) -> str:
    sides = re.findall(r"\[(?:left|right)\]: +<?([\w\[\]]*)", found)
    if "dtype" in found and len(sides) > 1:
        return "dtype " + " for ".join(sides[:2])
    for pattern in (r"^raises \w+", "pandas raises", "sign of 0", "length", "shape", "index",
                    "values", "schema"):  # fmt: skip
        if match := re.search(pattern, found):
            return match.group()
    return found[:40]
