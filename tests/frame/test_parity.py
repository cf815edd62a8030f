# SPDX-License-Identifier: Apache-2.0
"""Compares every operation of the registry with pandas: on drawn frames, and under `jit`.

`docs/frame_differences.toml` lists the known differences with their reasons; an operation in the
list must differ.
"""

from typing import Any

import hypothesis
import jax
import pandas as pd
import pytest
from frame_operations import FAMILIES, OPERATIONS, Operation
from frame_parity import assert_same, on_device
from frame_strategies import COLUMNS, frames, special_frame
from hypothesis import strategies as st
from operation_parity import (
    DIFFERENCES,
    EXCUSES,
    IS_LONG,
    ONLY,
    RARE,
    Compared,
    answer_of_pandas,
    is_excused,
)

NUM_DRAWN = 200 if IS_LONG else 4
# Labels of one type: several would give an index of objects.
LIKE_INDEXES = [("range", "shifted", "duplicates"), ("strings",), ("datetimes",)]


@pytest.mark.parametrize("indexes", LIKE_INDEXES, ids="-".join)
@pytest.mark.parametrize("name", OPERATIONS)
def test_matches_pandas_on_drawn_frames(name, indexes):
    operation = OPERATIONS[name]
    compared = Compared(operation, lambda inputs: [on_device(frame) for frame in inputs])

    @hypothesis.settings(max_examples=NUM_DRAWN)
    @hypothesis.given(st.data())
    def check(data):
        drawn = frames(operation.columns, indexes=indexes)
        compared.check([data.draw(drawn) for _ in range(operation.num_frames)])

    check()
    # Drawn frames may have few rows; these have every special value, or none.
    for num_rows in (61, 0):
        compared.check(_special(operation, num_rows))
    if name in RARE:
        compared.check([RARE[name]])
    if name in EXCUSES:
        for seed in range(30):
            if not compared.num_excused:
                compared.check(_few(operation, seed))
        # GPUs do not flush subnormals to zero.
        is_met = name != "subnormal_floats" or jax.default_backend() == "cpu"
        assert compared.num_excused or not is_met, f"{name} is excused, and does not differ"


@pytest.mark.parametrize("family", FAMILIES)
def test_matches_pandas_in_one_program(family):
    # Two lengths of one capacity: the second call reuses the first one's program.
    drawn = [[special_frame(num_rows=n, seed=n + k) for k in range(2)] for n in (61, 53)]
    operations = [operation for operation in FAMILIES[family] if operation.jit]
    expected = [
        [answer_of_pandas(op, _columns(op, inputs)) for op in operations] for inputs in drawn
    ]
    # Operations that pandas rejects for these frames are compared eagerly.
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
            given = _columns(operation, inputs)
            try:
                assert_same(one, answers[place], operation.bound(given))
            except AssertionError as error:
                found = f"{operation.name}: {error}"
                assert is_excused(operation, given, found), found
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


def test_every_excuse_names_an_operation_and_a_reason():
    for difference in DIFFERENCES:
        assert {"method", "what", "why"} <= set(difference), difference
        assert set(difference.get("where", [])) <= set(OPERATIONS), difference
        assert difference.get("only", "always") in ONLY


def _special(operation: Operation, num_rows: int) -> list[pd.DataFrame]:
    return [
        special_frame(operation.columns, num_rows, seed) for seed in range(operation.num_frames)
    ]


def _few(operation: Operation, seed: int) -> list[pd.DataFrame]:
    """Frames of many, one or no rows, half of them with a range index."""
    few = []
    for one in range(seed, seed + operation.num_frames):
        frame = special_frame(operation.columns, (40, 1, 0)[one % 3], one)
        labels = pd.RangeIndex(len(frame), name=frame.index.name)
        few.append(frame.set_axis(labels) if seed % 2 else frame)
    return few


def _columns(operation: Operation, inputs: Any) -> list[Any]:
    """The operation's frames, restricted to its columns."""
    return [frame[list(operation.columns)] for frame in inputs[: operation.num_frames]]


assert set(COLUMNS) >= {column for op in OPERATIONS.values() for column in op.columns}
