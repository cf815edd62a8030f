# SPDX-License-Identifier: Apache-2.0
import jax
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error
from jaxframes.frame import JaxFrame

ULPS = 64


def test_series_of_each_kind():
    frame = mixed_frame()
    for label in ("k", "x"):
        assert_parity(lambda s: s.describe(percentiles=[0.1, 0.9]), frame[label], ways=["eager"],
                      ulps=ULPS)  # fmt: skip
    for label in ("b", "s", "c"):
        assert_parity(lambda s: s.describe(), frame[label], ways=["eager"])
    days = frame["t"].dt.floor("D")
    assert_parity(lambda s: s.describe(percentiles=[0.5]), days, ways=["eager"])


def test_objects():
    objects = mixed_frame()[["k"]].assign(
        o=pd.Series([[1], None, "a", [1]] * 9 + [2], dtype=object)
    )
    assert_parity(
        lambda f: (f.o.describe(), f[["o"]].describe(), f.o[:0].describe(), f.o[1:2].describe()),
        objects,
        ways=["eager"],
    )
    assert_parity(lambda f: f.describe(include="all"), objects, ways=["eager"], ulps=ULPS)


def test_complex_numbers_have_no_order():
    frame = pd.DataFrame({"k": [1, 2], "z": [1j, 2.0]})
    assert "'z'" in assert_same_error(lambda f: f.describe(), frame)
    assert "'z'" in assert_same_error(lambda f: f.z.describe(), frame)


def test_frames():
    frame = mixed_frame()[["k", "s", "x"]]
    assert_parity(lambda f: f.describe(), frame, ways=["eager", "mesh"], ulps=ULPS)
    assert_parity(lambda f: f.describe(include="all"), frame, ways=["eager"], ulps=ULPS)
    assert_parity(lambda f: f.describe(exclude=["str"]), frame, ways=["eager"], ulps=ULPS)
    assert_parity(lambda f: f[["s"]].describe(), frame, ways=["eager"])


@pytest.mark.parametrize("num_rows", [0, 1])
def test_few_rows(num_rows):
    frame = mixed_frame()[["k", "x"]][:num_rows]
    assert_parity(lambda f: f.describe(), frame, ways=["eager"])


def test_wrong_arguments():
    frame = mixed_frame()[["k"]]
    assert_same_error(lambda f: f.describe(percentiles=[2]), frame)
    assert_same_error(lambda f: f.describe(include="all", exclude="all"), frame)
    assert_same_error(lambda f: f.describe(), pd.DataFrame(index=[1]))
    with pytest.raises(NotImplementedError, match="describe: inside jit"):
        jax.jit(lambda f: f.describe())(JaxFrame(frame))
