# SPDX-License-Identifier: Apache-2.0
"""Every operation of the registry against pandas: on drawn frames, under `jit`, on four devices.

What is known to differ stands in `docs/frame_differences.toml`, each with its reason; an operation
that is excused there has to differ in fact.
"""

import tomllib
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis
import jax
import pandas as pd
import pytest
from frame_operations import FAMILIES, OPERATIONS, Operation
from frame_parity import assert_same, on_device
from frame_strategies import COLUMNS, frames, special_frame
from hypothesis import strategies as st
from jaxframes.shardings import make_mesh, row_sharded

DOCS = Path(__file__).parents[2] / "docs"
DIFFERENCES = tomllib.loads((DOCS / "frame_differences.toml").read_text(encoding="utf-8"))
EXCUSES = {
    name: difference.get("only", "always")
    for difference in DIFFERENCES.get("difference", [])
    for name in difference.get("where", [])
}

# The profile "long" draws as many frames as it says, and runs everything on four devices.
IS_LONG = hypothesis.settings.get_current_profile_name() == "long"
NUM_DRAWN = 200 if IS_LONG else 4
# What an entry may excuse alone.
ONLY = ("always", "no rows", "sign of zero", "pandas raises", "names of labels")
# Labels of one type: those of several would make an index of objects.
LIKE_INDEXES = [("range", "shifted", "duplicates"), ("strings",), ("datetimes",)]


@pytest.mark.parametrize("name", OPERATIONS)
def test_matches_pandas_on_drawn_frames(name):
    operation = OPERATIONS[name]
    compared = Compared(operation, lambda inputs: [on_device(frame) for frame in inputs])

    @hypothesis.settings(max_examples=NUM_DRAWN)
    @hypothesis.given(st.data())
    def check(data):
        indexes = data.draw(st.sampled_from(LIKE_INDEXES))
        drawn = frames(operation.columns, indexes=indexes)
        compared.check([data.draw(drawn) for _ in range(operation.num_frames)])

    check()
    # Drawn frames may be of few rows; these hold every special value, and none.
    for num_rows in (61, 0):
        compared.check(_special(operation, num_rows))
    if name in EXCUSES:
        for seed in range(30):
            if not compared.num_excused:
                compared.check(_few(operation, seed))
        assert compared.num_excused, f"{name} is excused, and does not differ"


@pytest.mark.parametrize("family", FAMILIES)
def test_matches_pandas_in_one_program(family):
    # Two lengths of one capacity: the second call finds the program that the first one made.
    drawn = [[special_frame(num_rows=n, seed=n + k) for k in range(2)] for n in (61, 53)]
    operations = [operation for operation in FAMILIES[family] if operation.jit]
    expected = [[_of_pandas(op, _columns(op, inputs)) for op in operations] for inputs in drawn]
    # What pandas refuses for these frames is compared eagerly.
    refused = {
        place for all in expected for place, one in enumerate(all) if isinstance(one, Exception)
    }
    places = [place for place in range(len(operations)) if place not in refused]
    num_traced = 0

    @jax.jit
    def run(*ours):
        nonlocal num_traced
        num_traced += 1
        return [operations[place].run(*_columns(operations[place], ours)) for place in places]

    for inputs, answers in zip(drawn, expected, strict=True):
        got = run(*map(on_device, inputs))
        for place, one in zip(places, got, strict=True):
            operation = operations[place]
            try:
                assert_same(one, answers[place], operation.ulps)
            except AssertionError as error:
                found = f"{operation.name}: {error}"
                assert _is_excused(operation, inputs, found), found
    assert num_traced == 1


@pytest.mark.parametrize("family", FAMILIES)
def test_what_has_no_meaning_inside_jit_says_so(family):
    inputs = [on_device(special_frame(seed=place)) for place in range(2)]
    for operation in FAMILIES[family]:
        if operation.jit is False:
            columns = _columns(operation, inputs)
            with pytest.raises(NotImplementedError):  # noqa: PT012
                jax.eval_shape(operation.run, *columns)
                pytest.fail(f"{operation.name} works inside jit")


@pytest.mark.parametrize("name", [name for name, op in OPERATIONS.items() if IS_LONG or op.mesh])
def test_matches_pandas_on_four_devices(name):
    operation = OPERATIONS[name]
    sharding = row_sharded(make_mesh(4))
    compared = Compared(operation, lambda inputs: [on_device(frame, sharding) for frame in inputs])
    compared.check(_special(operation, 61))


def test_every_excuse_names_an_operation_and_a_reason():
    for difference in DIFFERENCES.get("difference", []):
        assert {"method", "what", "why"} <= set(difference), difference
        assert set(difference.get("where", [])) <= set(OPERATIONS), difference
        assert difference.get("only", "always") in ONLY


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
        assert _is_excused(self.operation, inputs, found), f"{self.operation.name}: {found}"
        self.num_excused += 1

    def difference(self, inputs: list[pd.DataFrame]) -> str | None:
        """How ours differ from pandas on some frames; None if they do not."""
        expected = _of_pandas(self.operation, inputs)
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
            assert_same(got, expected, self.operation.ulps)
        except AssertionError as error:
            return str(error)
        return None


def _of_pandas(operation: Operation, inputs: list[pd.DataFrame]) -> Any:
    """What pandas returns or raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return operation.run(*[frame.copy() for frame in inputs])
        except Exception as error:
            return error


def _special(operation: Operation, num_rows: int) -> list[pd.DataFrame]:
    return [
        special_frame(operation.columns, num_rows, seed) for seed in range(operation.num_frames)
    ]


def _few(operation: Operation, seed: int) -> list[pd.DataFrame]:
    """Frames of many rows, one or none, half of them labelled by a range."""
    few = []
    for one in range(seed, seed + operation.num_frames):
        frame = special_frame(operation.columns, (40, 1, 0)[one % 3], one)
        labels = pd.RangeIndex(len(frame), name=frame.index.name)
        few.append(frame.set_axis(labels) if seed % 2 else frame)
    return few


def _columns(operation: Operation, inputs: Any) -> list[Any]:
    """As many of the frames as an operation is given, with its columns alone."""
    return [frame[list(operation.columns)] for frame in inputs[: operation.num_frames]]


def _is_excused(operation: Operation, inputs: list[pd.DataFrame], found: str) -> bool:
    return {
        None: False,
        "always": True,
        "no rows": any(not len(frame) for frame in inputs),
        "sign of zero": "sign of 0" in found,
        "pandas raises": "where pandas raises" in found,
        "names of labels": "names" in found,
    }[EXCUSES.get(operation.name)]


assert set(COLUMNS) >= {column for op in OPERATIONS.values() for column in op.columns}
