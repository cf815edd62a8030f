# SPDX-License-Identifier: Apache-2.0
"""fillna and where with scalars: the dtype for each type of value, asked of pandas once."""

import numpy as np
import pandas as pd
import pytest
from frame_parity import assert_parity, on_device
from jaxframes.frame.mapping import _choices

FRAME = pd.DataFrame({"s": ["a", None], "x": [np.nan, 1.0], "i": [1, 2], "b": [True, False]})


@pytest.mark.filterwarnings("ignore:.*is not supported as a fill value for str dtype")
@pytest.mark.parametrize(
    "value", [1, 1.0, True, np.int8(1), np.float32(0.5), -0.0, 0.0, "1", "", np.str_("b")], ids=repr
)
def test_equal_values_of_several_types(value):
    assert_parity(lambda f: f.s.fillna(value), FRAME, ways=["eager"])
    assert_parity(
        lambda f: (f.s.where(f.i > 1, value), f.i.where(f.i > 1, value), f.b.mask(f.b, value)),
        FRAME, ways=["eager"],
    )  # fmt: skip


def test_pandas_is_asked_once_for_each_dtype(monkeypatch):
    asked = []

    def counted(like, value, promoted=_choices._promoted):
        asked.append(like.dtype)
        return promoted(like, value)

    monkeypatch.setattr(_choices, "_promoted", counted)
    _choices._promoted_by_dtype.cache_clear()
    for _ in range(3):
        on_device(FRAME).fillna(7)
    assert len(asked) == len(set(asked)) == 2


@pytest.mark.parametrize("dtype", ["Float64", "Float32", "double[pyarrow]"])
def test_nullable_floats_keep_their_dtype(dtype):
    frame = pd.DataFrame({"x": pd.array([5, None, 3], dtype), "y": [1.0, np.nan, 2.0]})
    assert_parity(lambda f: (f.x.fillna(1.5), f.fillna(0.0), f.x.fillna(2)), frame, ways=["eager"])
