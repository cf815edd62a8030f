# SPDX-License-Identifier: Apache-2.0
"""wide_to_long."""

import jax
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_operations import functions_for
from frame_parity import assert_parity, assert_same_error, on_device
from jaxframes.frame import wide_to_long

MIXED = mixed_frame(9)
FRAME = pd.DataFrame(
    {
        "q": MIXED.s, "id": range(9), "X": MIXED.x, "A_2": MIXED.s, "A_1": MIXED.c.astype("str"),
        "B_1": MIXED.i, "B_3": MIXED.k, "B_2": MIXED.x, "T_1": MIXED.t,
    }
)  # fmt: skip


def reshaped(f, *args, **options):
    return functions_for(f).wide_to_long(f, *args, **options)


def test_a_row_for_each_suffix():
    words = {"A_1": "A.one", "A_2": "A.two", "B_1": "B.one", "B_2": "B.two"}
    assert_parity(
        lambda f: (
            reshaped(f, ["A", "B"], i="id", j="n", sep="_"),
            reshaped(f, ["B", "A", "T"], i=["q", "id"], j="n", sep="_"),
            reshaped(f[["id", "B_1", "B_3"]], "B", i="id", j="n", sep="_"),
            reshaped(f[["id", "B_1", "B_3"]], "B_", i="id", j="n"),
            reshaped(f, ["A", "Z"], i="id", j="n", sep="_"),
            reshaped(f.rename(columns=words), ["A", "B"], i="id", j="n", sep=".", suffix=r"\w+"),
        ),
        FRAME,
        ways=["eager"],
    )
    assert_parity(
        lambda f: reshaped(f, "B", i=["id", "X"], j="n", sep="_"),
        FRAME[["id", "B_1", "B_3", "X"]],
        ways=["mesh"],
    )


def test_wrong_uses():
    assert_same_error(lambda f: reshaped(f, "X", i="id", j="n"), FRAME)
    assert_same_error(lambda f: reshaped(f.assign(id=1), "B", i="id", j="n", sep="_"), FRAME)
    assert_same_error(lambda f: reshaped(f, "B", i="none", j="n", sep="_"), FRAME)
    with pytest.raises(NotImplementedError, match=r"inside jit.*melt\(\)"):
        jax.jit(lambda f: wide_to_long(f, "B", "id", "n", "_"))(on_device(FRAME[["id", "B_1"]]))
    with pytest.raises(TypeError, match="got DataFrame"):
        wide_to_long(FRAME, "B", i="id", j="n")


def test_no_row_without_a_suffix():
    frame = FRAME[["id", "X", "B_1", "q"]]
    assert_parity(
        lambda f: (
            reshaped(f, "Z", i="id", j="n"),
            reshaped(f, ["Z", "Y"], i=["id", "X"], j="n"),
            reshaped(f, "B_", i="id", j="n", sep="_"),
            reshaped(f[:0], "B", i="id", j="n", sep="_"),
        ),
        frame,
        ways=["eager"],
    )


def test_names_and_dtypes_of_suffixes():
    frame = FRAME[["id", "X", "B_1", "B_3"]]
    assert_parity(
        lambda f: (
            reshaped(f, "B", i="id", j="X", sep="_"),
            reshaped(f, "B", i="id", j=5, sep="_"),
            reshaped(f, ["B", "B"], i="id", j="n", sep="_"),
        ),
        frame,
        ways=["eager"],
    )
    # Suffixes of nullable labels are nullable integers.
    for dtype in (object, "string"):
        labelled = frame.set_axis(pd.Index(list(frame.columns), dtype=dtype), axis=1)
        assert_parity(lambda f: reshaped(f, "B", i="id", j="n", sep="_"), labelled, ways=["eager"])


@pytest.mark.parametrize("ids", [["1", "2"], [1, 2], [1, "a"], ["a", None]], ids=str)
def test_objects_that_identify_rows(ids):
    frame = pd.DataFrame({"id": pd.Series(ids, dtype=object), "X": [1, 2], "A_1": [3, 4]})
    assert_parity(
        lambda f: (
            *([] if None in ids else [reshaped(f, ["A", "B"], i="id", j="n", sep="_")]),
            reshaped(f, "A", i=["id", "X"], j="n", sep="_"),
        ),
        frame,
        ways=["eager"],
    )


def test_missing_suffixes_of_a_nullable_column():
    frame = FRAME[["id", "B_1", "B_3", "A_2"]].astype({"B_1": "int64", "B_3": "Int64"})
    assert_parity(lambda f: reshaped(f, ["B", "A"], i="id", j="n", sep="_"), frame, ways=["eager"])
