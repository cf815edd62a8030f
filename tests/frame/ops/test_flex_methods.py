# SPDX-License-Identifier: Apache-2.0
"""The operators as methods: add, radd, ..., eq, ..."""

import numpy as np
import pandas as pd
import pytest
from frame_examples import finite, mixed_frame
from frame_parity import EVERYWHERE, assert_parity, assert_same, assert_same_error, on_device
from jaxframes.frame import JaxFrame, JaxSeries

ARITHMETIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
REFLECTED = tuple(f"r{name}" for name in ARITHMETIC)
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
OTHER_NAMES = {
    "div": "truediv", "divide": "truediv", "rdiv": "rtruediv", "multiply": "mul", "subtract": "sub"
}  # fmt: skip
# The compiler computes powers with its own rounding.
ULPS = {"pow": 8, "rpow": 8}

FRAME = pd.DataFrame(
    {"x": finite().abs() + 0.5, "y": finite(seed=3), "k": mixed_frame()["k"] + 1.0}
)

each = pytest.mark.parametrize("name", [*ARITHMETIC, *REFLECTED, *COMPARISONS])


@each
def test_with_scalars_arrays_series_and_frames(name):
    def results(f):
        array = np.linspace(1.0, 3.0, 37)[: len(f)]
        return (
            getattr(f, name)(2.0), getattr(f, name)(f.k, axis=0), getattr(f.x, name)(f.k),
            getattr(f.x, name)(array), getattr(f, name)([1.0, 2.0, 3.0]),
        )  # fmt: skip

    for num_rows in (37, 0):
        assert_parity(results, FRAME[:num_rows], ways=["eager"], ulps=ULPS.get(name, 0))


@pytest.mark.parametrize("name", ["sub", "rtruediv", "eq", "lt"])
def test_other_labels_are_brought_together(name):
    def results(f):
        some, others = f[["x", "k"]].iloc[3:], f[["k", "x"]].iloc[:20]
        if name in COMPARISONS:
            return getattr(f, name)(f[["y", "k", "x"]]), getattr(some.x, name)(others.x)
        return (
            getattr(some, name)(others),
            getattr(some, name)(others, fill_value=1.5),
            getattr(some.x, name)(others.k, fill_value=2.0),
        )

    assert_parity(results, FRAME, ways=["eager"], ulps=ULPS.get(name, 0))


def test_integers_and_strings():
    frame = mixed_frame()[["k", "i", "s"]]

    def results(f):
        f = f.assign(k=f.k + 1)
        return (
            f.i.floordiv(f.k), f.i.mod(f.k), f.k.pow(2), f.k.rpow(2), f.i.truediv(f.k),
            f.s.add("!"), f.s.radd("!"), f.s.lt("b"), f.s.eq(f.s), f.s.ne("a"), f.i.rsub(f.k),
        )  # fmt: skip

    assert_parity(results, frame, ways=["eager"])


def test_integers_divided_by_zero_are_those_of_the_operators():
    frame = mixed_frame()[["k", "i"]]
    ours = on_device(frame)
    assert_same(
        (ours.i.floordiv(ours.k), ours.i.mod(ours.k)), (frame.i // frame.k, frame.i % frame.k)
    )
    assert_same(ours.rfloordiv(9), pd.DataFrame({label: 9 // frame[label] for label in frame}))


def test_in_jit_and_on_a_mesh():
    def results(f):
        return f.radd(1.0), f.rdiv(2.0), f.x.rsub(f.y), f.le(f.k, axis=0), f.y.ge(0.0), f.x.rmul(3)

    assert_parity(results, FRAME, ways=EVERYWHERE)


@each
def test_wrong_uses_are_pandas_errors(name):
    assert_same_error(lambda f: getattr(f, name)(1, axis=2), FRAME)
    assert_same_error(lambda f: getattr(f.x, name)(1, axis=1), FRAME)
    assert_same_error(lambda f: getattr(f.x, name)([1, 2]), FRAME)
    assert_same_error(lambda f: getattr(f, name)([1, 2]), FRAME)
    with pytest.raises(NotImplementedError, match="level"):
        getattr(on_device(FRAME), name)(1, level=0)


@pytest.mark.parametrize("name", OTHER_NAMES)
def test_other_names_are_the_same_methods(name):
    for kind in (JaxFrame, JaxSeries):
        assert getattr(kind, name) is getattr(kind, OTHER_NAMES[name])
    assert_parity(lambda f: (getattr(f, name)(2.0), getattr(f.x, name)(f.k)), FRAME, ways=["eager"])


def test_quotients_with_remainders():
    assert_parity(
        lambda f: (*f.k.divmod(3), *f.k.rdivmod(7), *divmod(f.x, f.f), *divmod(9, f.x)),
        mixed_frame()[["k", "x", "f"]],
        ways=["eager"],
        ulps=2,
    )
