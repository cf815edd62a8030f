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
    with pytest.raises(NotImplementedError, match="no column has a label"):
        wide_to_long(on_device(FRAME), "Z", i="id", j="n")
    with pytest.raises(NotImplementedError, match=r"inside jit.*melt\(\)"):
        jax.jit(lambda f: wide_to_long(f, "B", "id", "n", "_"))(on_device(FRAME[["id", "B_1"]]))
    with pytest.raises(TypeError, match="got DataFrame"):
        wide_to_long(FRAME, "B", i="id", j="n")
