# SPDX-License-Identifier: Apache-2.0
"""transform."""

import numpy as np
import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error

FRAME = mixed_frame()[["k", "i"]]


def test_functions_are_names_or_callables():
    def transformed(f):
        return f.transform("abs"), f.transform(lambda s: s * 2), f.i.transform("cumsum")

    assert_parity(transformed, FRAME, ways=["jit"])


def test_arguments_go_to_the_function():
    def transformed(f):
        return f.transform("shift", 0, 1, fill_value=0), f.i.transform(lambda s, n: s + n, n=3)

    assert_parity(transformed, FRAME, ways=["eager"])
    assert_parity(lambda f: f.transform("abs"), FRAME[:1], ways=["eager"])


def test_names_of_numpy_functions():
    def transformed(f):
        return f.transform("square"), f.i.transform("sign"), f.apply("negative"), f.agg("isnan")

    assert_parity(transformed, FRAME, ways=["jit"])
    assert_parity(lambda f: (f.k.apply("floor"), f.apply("rint", axis=1)), FRAME, ways=["eager"])
    for name in ("none such", "maximum"):
        assert_same_error(lambda f, name=name: f.transform(name), FRAME)
        assert_same_error(lambda f, name=name: f.i.apply(name), FRAME)


def test_rows_must_stay():
    assert_same_error(lambda f: f.transform("sum"), FRAME)
    assert_same_error(lambda s: s.transform(lambda s: s.sum()), FRAME["k"])


def test_several_functions():
    def transformed(f):
        return (
            f.transform(["abs", "cumsum"]),
            f.transform({"i": "cumsum", "k": "abs"}),
            f.transform({"i": ["cumsum", "abs"], "k": "abs"}),
            f.i.transform(["abs", np.sign]),
            f.i.transform({"a": "abs", "b": "cumsum"}),
            f.i.transform({"a": "abs", "b": ["cumsum", "abs"]}),
            f.rename_axis(columns="c").transform(("abs",)),
            f.i.agg(["abs", "cumsum"]),
            f.rename_axis(columns="c").agg(["abs", "cumsum"]),
        )

    assert_parity(transformed, FRAME, ways=["eager", "jit", "mesh"])


def test_several_functions_of_the_user():
    def transformed(f):
        return (
            f.transform([lambda x: x * 2, "abs"]),
            f.i.transform([np.negative, lambda x: x + 1]),
            f.transform(pd.Series({"i": "abs"})),
            f.transform("shift", 0, 1),
            f.transform(["shift"], 0, 1),
            f.transform(["abs"], axis=1),
            f.agg({"i": ["cumsum", "abs"], "k": "abs"}),
            f[:0].transform(["abs", "cumsum"]),
        )

    assert_parity(transformed, FRAME[:9], ways=["eager"])


def test_wrong_functions():
    for functions in ([], {}, {"z": "abs"}, ["abs", "abs"], ["sum"], {"i": {"a": "abs"}}):
        assert_same_error(lambda f, one=functions: f.transform(one), FRAME)
        if functions != {"z": "abs"}:
            assert_same_error(lambda f, one=functions: f.i.transform(one), FRAME)


def test_a_function_is_one_of_values_or_of_the_series():
    series = pd.Series([1, 2, 0, -3])
    functions = (
        lambda v: 1 / v, lambda v: v - v.mean(), lambda v: 1, lambda v: v * 2, lambda v: 2.0**v,
    )  # fmt: skip
    for function in functions:
        assert_parity(lambda s, f=function: s.transform(f), series, ways=["eager"])
        if function is not functions[2]:
            frame = series.to_frame("x")
            assert_parity(lambda d, f=function: d.transform(f), frame, ways=["eager"])
    # As integers these raise, and those of Python do not.
    assert_parity(lambda s: s.transform(lambda v: 2**v), series, ways=["eager"])
    assert_same_error(lambda d: d.transform(lambda v: 2**v), series.to_frame("x"))
