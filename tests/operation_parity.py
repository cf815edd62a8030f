# SPDX-License-Identifier: Apache-2.0
"""An operation of the registry on pandas and on ours, frame by frame.

`docs/frame_differences.toml` lists the known differences with their reasons.
"""

import tomllib
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pandas as pd
from frame_operations import Operation
from frame_parity import assert_same
from frame_strategies import special_frame

DOCS = Path(__file__).parents[1] / "docs"
DIFFERENCES = tomllib.loads((DOCS / "frame_differences.toml").read_text(encoding="utf-8"))[
    "difference"
]
EXCUSES = {
    name: difference.get("only", "always")
    for difference in DIFFERENCES
    for name in difference.get("where", [])
}
# Frames for cases that are too rare among those of special values.
RARE = {
    "frame_sum_float32": pd.DataFrame({"k": range(3), "f32": np.float32([3e38, 3e38, -3e38])}),
    "min": pd.DataFrame(
        {
            "i8": np.int8([1, 2]),
            "u64": np.uint64([1, 2]),
            "f32": np.float32([0.0, -0.0]),
            "y": [0.0, -0.0],
            "b": [False, True],
        }
    ),
    "qcut_int8": pd.DataFrame({"i8": np.int8([-128, 127])}),
}
# The profile "long" draws many frames, and runs every operation on every mesh.
IS_LONG = hypothesis.settings.get_current_profile_name() == "long"


class Compared:
    """An operation on pandas and on ours, frame by frame."""

    def __init__(self, operation: Operation, placed: Callable[[Any], Any]):
        self.operation = operation
        self.placed = placed
        self.num_excused = 0

    def check(self, inputs: list[pd.DataFrame]) -> None:
        """Fails where ours differ, unless that is excused."""
        found = self.difference(inputs)
        if found is None:
            return
        assert is_excused(self.operation, inputs, found), f"{self.operation.name}: {found}"
        self.num_excused += 1

    def difference(self, inputs: list[pd.DataFrame]) -> str | None:
        """How ours differ from pandas on some frames; None if they do not."""
        expected = answer_of_pandas(self.operation, inputs)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                got = self.operation.run(*self.placed(inputs))
        except Exception as error:
            if isinstance(expected, Exception) and isinstance(error, type(expected)):
                return None
            return f"raises {error!r} where pandas has {expected!r}"
        if isinstance(expected, Exception):
            return f"got {got!r} where pandas raises {expected!r}"
        try:
            assert_same(got, expected, self.operation.bound(inputs))
        except AssertionError as error:
            return str(error)
        return None


def answer_of_pandas(operation: Operation, inputs: list[pd.DataFrame]) -> Any:
    """What pandas returns or raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return operation.run(*[frame.copy() for frame in inputs])
        except Exception as error:
            return error


def uneven_inputs(operation: Operation) -> list[list[pd.DataFrame]]:
    """Frames that leave shards of a mesh empty: of special values, half of the rows the same one,
    a single row, none; in the profile "long" also under labels of a range.
    """
    places = range(operation.num_frames)
    special, one, none = (
        [special_frame(operation.columns, num_rows, place) for place in places]
        for num_rows in (37, 1, 0)
    )
    skewed = [frame.iloc[np.minimum(np.arange(37), 18)] for frame in special]
    ranged = [frame.reset_index(drop=True) for frame in special]
    return [special, skewed, one, none, *([ranged] if IS_LONG else [])]


def _overflows_float32(frame: pd.DataFrame) -> bool:
    """Whether pandas adds a column of float32 up to what is not finite, and float64 to another."""
    x = frame.select_dtypes("float32")
    with np.errstate(over="ignore", invalid="ignore"):
        narrow = x.sum().to_numpy()
        wide = x.astype(np.float64).sum().to_numpy().astype(np.float32)
    is_lost = ~np.isfinite(narrow)
    return not np.array_equal(narrow[is_lost], wide[is_lost], equal_nan=True)


def _wraps(frame: pd.DataFrame) -> bool:
    """Whether the distance of two values of a column wraps around in its dtype."""
    columns = [x for _, x in frame.select_dtypes(["int8", "int64"]).items() if len(x)]
    return any(int(x.max()) - int(x.min()) > np.iinfo(x.dtype).max for x in columns)


# What an entry of the list may excuse, of the frames that are given and what is found to differ.
ONLY: dict[str, Callable[[list[pd.DataFrame], str], bool]] = {
    "always": lambda inputs, found: True,
    "no rows": lambda inputs, found: any(not len(frame) for frame in inputs),
    "sign of zero": lambda inputs, found: "sign of 0" in found,
    "pandas raises": lambda inputs, found: "where pandas raises" in found,
    "names of labels": lambda inputs, found: "names" in found,
    "float32 overflows": lambda inputs, found: any(map(_overflows_float32, inputs)),
    "a distance wraps": lambda inputs, found: any(map(_wraps, inputs)),
}


def is_excused(operation: Operation, inputs: list[pd.DataFrame], found: str) -> bool:
    """Whether a difference is in the list."""
    only = EXCUSES.get(operation.name)
    return only is not None and ONLY[only](inputs, found)
