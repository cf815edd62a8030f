# SPDX-License-Identifier: Apache-2.0
"""The function eval."""

import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_operations import functions_for
from frame_parity import EVERYWHERE, assert_parity, assert_same, assert_same_error, on_device
from jaxframes import frame

FRAME = mixed_frame()[["k", "i", "x", "f", "b"]].assign(**{"a b": 1.5})


def found(f):
    x, other, limit, numbers = f.x, f[["k", "i"]], 3, [1, 2]
    assert limit
    assert numbers
    assert len(x.shape) + len(other.shape) == 3
    evaluated = functions_for(f).eval
    return (
        evaluated("x + 1"), evaluated("f.x - 2 * f.f"), evaluated("other * 2"),
        evaluated("f.k > limit and f.b"), evaluated("f['k'] in numbers"),
        evaluated("f['a b'] + (f.i < 0)"), evaluated("sqrt(abs(x))"), evaluated("other + other"),
        evaluated("(x > 0) | f.b"), evaluated("-other"),
    )  # fmt: skip


def test_variables_and_their_columns():
    assert_parity(found, FRAME, ways=EVERYWHERE)


def test_assignment_to_a_target():
    def assigned(f):
        evaluated = functions_for(f).eval
        return (
            evaluated("z = f.k + f.x", target=f),
            evaluated("z = f.k * 2\ny = z + 1", target=f[["x"]]),
        )

    assert_parity(assigned, FRAME)
    ours = on_device(FRAME)
    frame.eval("x = ours.k", target=ours)
    assert_same(ours, FRAME)


def test_other_variables():
    ours = on_device(FRAME)
    theirs = FRAME
    for text in ("d.x + e", "1 + 2 * e", "d.x.sum() + e"):
        got = frame.eval(text, local_dict={"d": ours, "e": 2})
        assert_same(got, pd.eval(text, local_dict={"d": theirs, "e": 2}), 8)
    assert_same(frame.eval("x - y", global_dict={"x": ours.x, "y": ours.k}, local_dict={}),
                FRAME.x - FRAME.k)  # fmt: skip

    def nested():
        return frame.eval("ours.k + 1", level=1)

    assert_same(nested(), FRAME.k + 1)


def test_wrong_uses_are_pandas_errors():
    for text in ("none + 1", "@f.x + 1", "y = f.x", "f.x + 1\nf.x + 2", "", "f.none", "import os"):
        assert_same_error(lambda f, text=text: functions_for(f).eval(text, local_dict={"f": f}),
                          FRAME)  # fmt: skip
    assert_same_error(
        lambda f: functions_for(f).eval("f.x + 1\ny = f.x", local_dict={"f": f}, target=f), FRAME
    )


def test_texts_that_run_nothing():
    ours = on_device(FRAME)
    assert len(ours)
    texts = (
        "ours.to_pandas()", "ours._table", "ours.x.tolist()", "__import__('os')",
        "ours.__class__", "ours.x.__class__", "ours['none']", "pd.read_csv('x')",
    )  # fmt: skip
    for text in texts:
        with pytest.raises(Exception) as caught:  # noqa: PT011
            frame.eval(text)
        assert isinstance(
            caught.value, (AttributeError, NotImplementedError, KeyError, TypeError, ValueError)
        )
    with pytest.raises(NotImplementedError, match="resolvers"):
        frame.eval("ours.x", resolvers=({},))
    with pytest.raises(TypeError, match="target must be a JaxFrame"):
        frame.eval("x = 1", target=3)
