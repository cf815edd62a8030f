# SPDX-License-Identifier: Apache-2.0
"""Functions are traced only if their code shows that calls do not differ."""

import collections
import functools
import math
import random

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from frame_parity import assert_parity, on_device
from jaxframes.frame.table._function_effects import calls_differ, compares_identity, reads

RNG = np.random.default_rng(0)
SCALE, TABLE, NARROW = 3, {"a": 1.5, "b": (2, 3)}, np.uint8(250)
MEAN, WEIGHTS = np.float64(2.5), jnp.arange(4.0)


def scaled(v):
    return v * SCALE


def asks(v):
    return type(v) is int


def logarithm(x):
    try:
        return np.log(x)
    except Exception:
        return x


@jax.jit
def doubled(x):
    return x * 2


class Counting:
    def __init__(self):
        self.calls = 0

    def __call__(self, x):
        self.calls += 1
        return x * (1 if self.calls <= 2 else 5)

    def of_method(self, x):
        return self(x)


PLAIN = [
    lambda v: v * 2 + 1, lambda v: v if v > 0 else -v, lambda v: np.log(v) + math.pi,
    lambda v: jnp.where(v > 0, v, 0), lambda v: v - MEAN, lambda v: scaled(v) + 1,
    lambda v: v * TABLE["a"], lambda v: WEIGHTS[v], lambda r: r["a"] + r.b, lambda v: min(v, 3),
    lambda g: g.x.max() - g.x.min(), doubled, functools.partial(lambda a, v: a * v, 2),
    functools.partial(scaled), np.sqrt, np.sum, jnp.tanh, abs, lambda v, k=2: v**k,
    lambda v: sum(v * i for i in range(3)), lambda v: sum([v * i for i in range(3)]),
]  # fmt: skip


@pytest.mark.parametrize("function", PLAIN)
def test_operators_and_functions_of_numbers_are_plain(function):
    assert not calls_differ(function)


DIFFERING = [
    lambda v: v + 1 if asks(v) else v, logarithm, lambda v, r=RNG: v + r.normal(),
    lambda v: v + random.random(), lambda v: v + RNG.random(), lambda v: v * NARROW,
    lambda r: "a" in r, lambda v: f"{v}", str, str.upper, Counting(),
    Counting().of_method, functools.partial(lambda a, v: a * v, NARROW), pd.isna,
    lambda v: pd.isna(v), lambda v: hasattr(v, "name"), lambda v: v.__class__,
    functools.partial(logarithm), lambda v: divmod(v, 3)[0], lambda v: logarithm(v),
]  # fmt: skip


@pytest.mark.parametrize("function", DIFFERING)
def test_what_may_ask_count_draw_or_catch_is_not(function):
    assert calls_differ(function)


def test_stores_are_effects():
    counts, kept, number = collections.Counter(), [], 0

    def counted(v):
        nonlocal number
        number += 1
        return v

    def stored(v):
        TABLE["c"] = v
        return v

    assert calls_differ(lambda v: (counts.update(a=1), v)[1])
    assert calls_differ(lambda v: kept.append(v) or v)
    assert calls_differ(counted)
    assert calls_differ(stored)


def test_what_code_names():
    assert compares_identity(lambda v: v is None)
    assert not compares_identity(lambda v: v == 1)
    assert reads(functools.partial(lambda w: w.index[0]), "index")
    assert not reads(lambda w: w.sum(), "index")
    assert not reads(np.sqrt, "index")


def test_functions_that_differ_give_what_pandas_gives():
    numbers = pd.Series([1.0, 4.0, 9.0], index=[10, 20, 30])
    integers = numbers.astype("int64")
    for function in (logarithm, lambda x: x + 1 if asks(x) else x - 1, lambda x: x // NARROW):
        assert_parity(lambda s, f=function: s.map(f), integers, ways=["eager"])
    assert_parity(lambda s: s.map(Counting()), numbers, ways=["eager"])
    assert_parity(lambda s: s.rolling(2).apply(lambda w: w.index[-1]), numbers, ways=["eager"])
    frame = pd.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6]})
    assert_parity(
        lambda f: f.apply(lambda r: r["a"] + r["b"] if "a" in r else r["b"], axis=1),
        frame,
        ways=["eager"],
    )
    generator, expected = random.Random(3), random.Random(3)
    drawn = on_device(numbers).map(lambda x: x + generator.random())
    assert drawn.tolist() == [x + expected.random() for x in numbers]
