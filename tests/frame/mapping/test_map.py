# SPDX-License-Identifier: Apache-2.0
import itertools
import math
import random

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from exact_numbers import KEYS, NUMBERS, as_python
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error, on_device
from jaxframes import frame as jf
from jaxframes.frame.table import _exact_trace


def _mapped(f):
    return (
        f.k.map({0: 10, 1: 20, 2: 30, 3: 40, 4: 50}),
        f.k.map({0: 10, 1: 20}),
        f.k.map({0: "zero", 1.0: "one", 2.5: "none"}),
        f.k.map(pd.Series([True, False], index=[1, 4])),
        f.k.map({0: pd.Timestamp("2020-01-01")}),
        f.y.map({np.nan: 1.0, 0.0: 2.0, np.inf: 3.0}),
        f.k.map({}),
    )


def _through_the_dictionary(f):
    return (
        f.s.map({"b": 1, "a": 2}),
        f.s.map({"b": "B", None: "missing"}),
        f.c.map({"u": "v", "v": "x", "w": "y"}),
        f.b.map({True: "yes", False: "no"}),
        f.s.map(lambda text: text.upper(), na_action="ignore"),
        f.c.map(str.upper, na_action="ignore"),
    )


def test_map_of_a_dict_or_series():
    assert_parity(_mapped, mixed_frame())
    assert_parity(_through_the_dictionary, mixed_frame(), ways=["eager"])
    frame = mixed_frame().dropna(subset=["s"])
    assert_parity(lambda f: (f.s.map(len), f.s.map({"b": "x"})), frame)
    assert_parity(lambda f: (f.k.map({1: 2.0}), f.s.map({"b": 1})), frame, ways=["mesh"])


def test_map_of_a_function():
    assert_parity(
        lambda f: (
            f.k.map(lambda x: x * x + 1),
            f.f.map(lambda x: x / 2),
            f.x.apply(lambda x: x > 0),
            f.k.apply(lambda x, y: x + y, args=(3,)),
            f[["k", "x"]].map(lambda x: x * 2),
        ),
        mixed_frame(),
    )


@pytest.mark.parametrize("num_rows", [0, 1])
def test_few_rows(num_rows):
    frame = mixed_frame()[["k", "y", "s"]][:num_rows]
    assert_parity(
        lambda f: (f.k.isin([1]), f.s.isin(["b"]), f.y.replace(np.nan, 1.0)), frame, ways=["eager"]
    )


def test_wrong_arguments_are_pandas_errors():
    frame = pd.DataFrame({"x": [1, 2], "s": ["a", "b"]})
    assert_same_error(lambda f: f.x.isin(1), frame)
    assert_same_error(lambda f: f.s.isin("a"), frame)
    assert_same_error(lambda f: f.isin(1), frame)
    assert_same_error(lambda f: f.x.map(pd.Series([1, 2], index=[1, 1])), frame)
    assert_same_error(lambda f: f.x.map({1: 2}, na_action="bogus"), frame)
    assert_same_error(lambda f: f.x.replace(1), frame)
    assert_same_error(lambda f: f.x.replace([1, 2], [1]), frame)
    with pytest.raises(NotImplementedError, match="trace"):
        on_device(frame).x.map(lambda x: 1 if x > 1 else 0, engine="jax")
    with pytest.raises(NotImplementedError, match="number"):
        on_device(frame).x.map(lambda x: "text", engine="jax")
    with pytest.raises(NotImplementedError, match=r"numbers, got str\. Use the methods of str"):
        on_device(frame).s.map(len, engine="jax")
    with pytest.raises(ValueError, match="engine must be"):
        on_device(frame).x.map(abs, engine="numba")


def _describe(value):
    return "number" if isinstance(value, (int, float)) else "none"


def _or_zero(value):
    try:
        return math.sqrt(value)
    except Exception:
        return 0.0


def test_functions_that_jax_cannot_trace_run_on_the_host():
    times = pd.Series(pd.to_datetime(["2020-01-31", None, "2020-02-01"]), name="t")
    assert_parity(
        lambda f: (
            f.k.map(lambda x: 1 if x > 1 else 0),
            f.k.map(lambda x: len(str(x))),
            f.k.map(lambda x: f"{x:03d}"),
            f.k.map("{} items".format),
            f.x.map(_describe),
            f.k.map(_or_zero),
            f.k.map({1: "a"}.get),
            f.k.map(lambda x: x if x in {1, 2} else None),
            f.x.map(lambda x: "neg" if x < 0 else "pos", na_action="ignore"),
            f.b.map(lambda x: "yes" if x else "no"),
            f.k.apply(lambda x: "text"),
            f.k.apply(lambda x, y: str(x + y), args=(3,)),
            f.k.apply(lambda x, y: str(x + y), y=3),
            f[["k", "b"]].map(str),
            f.s.apply(lambda x: 1),
        ),
        mixed_frame(),
        ways=["eager", "mesh"],
    )
    assert_parity(
        lambda t: (t.map(lambda x: x.day), t.map(lambda x: x + pd.Timedelta("1D")), t.apply(str)),
        times,
        ways=["eager"],
    )
    assert_parity(
        lambda s: s.map(lambda x: str(x)), pd.Series([3, 4], index=[7, 5]), ways=["eager"]
    )
    frame = pd.DataFrame({"x": [1, 2]})
    assert_parity(
        lambda f: f.x.apply(lambda x: pd.Series({"a": x, "b": "t"})), frame, ways=["eager"]
    )
    assert_same_error(lambda f: f.x.map(lambda x: x.bogus), frame)


@pytest.mark.parametrize(
    "values", [[{"a": 1}, {"a": 2, "b": 3}], [[1, 2], [3, 4]], ["x", "yy"], [1, "t"]], ids=str
)
def test_series_for_each_value_are_the_rows_of_a_frame(values):
    series = pd.Series(values, index=[3, 5], name="v")
    for apply in (
        lambda s, p: s.apply(p.Series),
        lambda s, p: s.apply(p.Series, index=[0, 1]),
        lambda s, p: s.apply(lambda v: p.Series({"of": type(v).__name__, "text": str(v)})),
    ):
        assert_same(apply(on_device(series), jf), apply(series, pd))


def test_a_trace_that_asks_for_the_text_or_type_of_a_number_is_not_used():
    ours = on_device(pd.Series([5, 250]))
    assert ours.map(lambda x: len(str(x)) + x).tolist() == [6, 253]
    assert ours.map(lambda x: x + 1 if isinstance(x, int) else 0).tolist() == [6, 251]
    assert jax.jit(lambda s: s.map(lambda x: jnp.where(x > 6, x, 6)))(ours).tolist() == [6, 250]
    with pytest.raises(NotImplementedError, match="trace"):
        jax.jit(lambda s: s.map(lambda x: len(str(x))))(ours)


def test_gradient_flows_through_a_function():
    frame = on_device(pd.DataFrame({"x": [1.0, 2.0, 3.0]}))
    gradient = jax.grad(lambda f: jnp.sum(f.x.map(lambda x: x**3)._only.data[:3]), allow_int=True)(
        frame
    )
    np.testing.assert_allclose(gradient._table.columns[0].data[:3], [3.0, 12.0, 27.0])


@pytest.mark.parametrize("dtype", NUMBERS)
def test_no_number_is_rounded(dtype):
    ours = on_device(pd.Series(NUMBERS[dtype]))
    for more in ([], [None], [0.25], ["a"]):
        keys = dict.fromkeys([*map(as_python, KEYS), *more])
        positions = {key: position for position, key in enumerate(keys)}
        expected = [positions.get(value, -5) for value in NUMBERS[dtype].tolist()]
        mappers = [positions, pd.Series(range(len(keys)), index=pd.Index(list(keys), dtype=object))]
        for mapper in mappers:
            assert ours.map(mapper).fillna(-5).tolist() == expected
            assert ours.map(mapper, na_action="ignore").fillna(-5).tolist() == expected
    for keys in NUMBERS.values():
        positions = {key: position for position, key in enumerate(keys.tolist())}
        expected = [positions.get(value, -5) for value in NUMBERS[dtype].tolist()]
        mapper = pd.Series(range(len(keys)), index=keys)
        assert ours.map(mapper).fillna(-5).tolist() == expected


def test_keys_of_categories_are_not_rounded():
    numbers = pd.Series(pd.Categorical([2**53, 2**53 + 1]))
    assert on_device(numbers).map({2**53 + 1: 1, 0.5: 2}).fillna(0).tolist() == [0, 1]


MISSING = [
    {None: 1}, {np.nan: 1}, {pd.NA: 1}, {pd.NaT: 1}, {1: 1, None: 2}, {1.0: 1, np.nan: 2},
    {"a": 1, None: 2}, {"a": 1, np.nan: 2}, {"a": 1, pd.NA: 2}, {1: 1, pd.NA: 2}, {1: 1, pd.NaT: 2},
    {True: 1, None: 2}, {pd.Timestamp("2020-01-01"): 1, None: 2}, {0: 2**53 + 1, None: 1}, {},
]  # fmt: skip


@pytest.mark.parametrize("mapper", MISSING, ids=map(str, MISSING))
def test_missing_keys_are_those_of_the_dtype(mapper):
    for values in (
        [1, 0], [1.0, np.nan], np.array([1, np.nan], "float32"), [True, False], ["a", None],
        pd.Categorical(["a", None]), pd.Categorical([1, None]), pd.to_timedelta([1, None]),
        pd.to_datetime(["2020-01-01", None]), pd.Series(["a", None, np.nan], dtype=object),
        pd.array([1, None], "Int64"), pd.array([None], "UInt8"), pd.array([1.5, None], "Float64"),
        pd.array([None], "Float64"), pd.array([True, None], "boolean"),
        pd.array(["a", None], "string"),
    ):  # fmt: skip
        operation = lambda s: s.map(mapper)  # noqa: E731
        assert_parity(operation, pd.Series(values), ways=["eager"])


def test_two_missing_keys_of_numbers_are_pandas_error():
    for values in ([1.0, np.nan], [1, 2], ["a", None]):
        assert_same_error(lambda s: s.map({None: 1, np.nan: 2}), pd.Series(values))


def test_objects_that_are_strings_give_strings():
    texts = pd.Series(["a", None, "b"], index=[1, 2, 3], dtype=object)
    mixed = pd.Series(["a", None, 1], index=[1, 2, 3], dtype=object)
    numbers = pd.Series([3, 1, 2, 9])
    for mapper in (texts, mixed):
        assert_same(on_device(numbers).map(on_device(mapper)), numbers.map(mapper))


def test_an_engine_is_that_of_a_function():
    for func in ({}, {1: 2}, pd.Series([3, 4])):
        message = assert_same_error(lambda s, f=func: s.map(f, engine="jax"), pd.Series([1, 2]))
        assert message.startswith("The engine argument can only be specified when func is a func")


# What Python's numbers compute in another way than those of JAX, and what they do not.
FUNCTIONS = {
    "line": lambda v: v * 2 + 1,
    "power of two": lambda v: 2**v,
    "negative power": lambda v: 10**-v,
    "quotient": lambda v: 5 // v,
    "remainder": lambda v: 5 % v,
    "inverse": lambda v: 1 / v,
    "half": lambda v: v / 2,
    "floor": lambda v: v // 2,
    "modulo": lambda v: v % 3,
    "square": lambda v: v**2,
    "large power": lambda v: v**40,
    "root": lambda v: v**0.5,
    "four times": lambda v: v * 4,
    "shift": lambda v: v << 62,
    "complement": lambda v: ~v,
    "bit": lambda v: v & 1,
    "abs": abs,
    "plus": lambda v: +v,
    "twice": lambda v: v + v,
    "product": lambda v: v * v,
    "logic": lambda v: v & (v | v) ^ v,
    "flags": lambda v: (v > 1) + (v < 1),
    "not": lambda v: ~(v > 1),
    "constant": lambda v: 7,
    "is missing": lambda v: v is pd.NA,
    "zero for missing": lambda v: 0 if v is pd.NA else v,
    "type": lambda v: v + 1 if type(v) is int else v,
    "is true": lambda v: v if v is True else 1,
    "text": lambda v: (v << 1) + len(str(v)),
    "random": lambda v: v + random.random(),
    "random of numpy": lambda v: v + np.random.rand(),  # noqa: NPY002
}
COLUMNS = {
    "integers": pd.Series([1, 2, 3, 60]),
    "zero": pd.Series([1, 2, 0, -3]),
    "large": pd.Series([2**55, 2**62 + 1]),
    "uint8": pd.Series(np.array([200, 3], np.uint8)),
    "int8": pd.Series(np.array([100, -3], np.int8)),
    "uint64": pd.Series(np.array([2**63 + 1, 3], np.uint64)),
    "floats": pd.Series([1.0, np.nan, 2.5]),
    "zero among floats": pd.Series([1.0, -0.0, -8.0, 1e200]),
    "bools": pd.Series([True, False]),
    "empty": pd.Series([], dtype=np.int64),
    **{
        f"{dtype} {word}": pd.Series(pd.array(values, dtype=dtype))
        for dtype in ("Int64", "Int8", "boolean", "Float64", "int64[pyarrow]")
        for word, values in (("full", [1, 1, 0]), ("missing", [1, None, 0]))
    },
}
# Python computes their powers of two with as many digits.
TOO_LARGE = {("power of two", "large"), ("power of two", "uint64"), ("negative power", "large")}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore:Bitwise inversion:DeprecationWarning")
def test_numbers_are_those_of_python(name):
    for column, series in COLUMNS.items():
        if (name, column) in TOO_LARGE or (name, column) == ("negative power", "uint64"):
            continue
        for how in (
            lambda s: s.map(FUNCTIONS[name]),
            lambda s: s.map(FUNCTIONS[name], na_action="ignore"),
            lambda s: s.apply(FUNCTIONS[name]),
            lambda s: s.to_frame("x").map(FUNCTIONS[name]),
        ):
            expected, got = (_result_or_error(how, one) for one in (series, on_device(series)))
            if isinstance(expected, Exception):
                assert isinstance(got, type(expected)), (column, got)
            else:
                assert_same(got, expected)


def _result_or_error(operation, series):
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002
    try:
        return operation(series)
    except Exception as error:
        return error


def test_functions_with_a_state_are_called_for_each_value():
    series = pd.Series([5, 6, 7])
    for make in (_with_counter, _with_generator, _with_cell, _with_random):
        assert_same(on_device(series).map(make()), series.map(make()))


def _with_counter():
    count = itertools.count()
    return lambda v: v + next(count)


def _with_generator():
    generator = np.random.default_rng(0)
    return lambda v: v + generator.integers(0, 2)


def _with_cell():
    total = 0

    def add(v):
        nonlocal total
        total += 1
        return v + total

    return add


def _with_random():
    numbers = iter([1, 2, 3])
    return lambda v: v + numbers.__next__()


def test_functions_that_agree_are_traced(monkeypatch):
    # They note their arguments, which would keep them from being traced.
    monkeypatch.setattr(_exact_trace, "calls_differ", lambda function: False)
    kinds = set()
    for name in ("line", "half", "floor", "modulo", "square", "bit", "product"):
        function = FUNCTIONS[name]

        def noted(v, function=function):
            _note_type(kinds, v)
            return function(v)

        on_device(COLUMNS["integers"]).map(noted)
    assert not {int, np.int64} & kinds


def _note_type(kinds, value):
    kinds.add(type(value))


def test_narrow_integers_do_not_wrap_without_x64():
    with jax.enable_x64(False):
        ours = jf.JaxSeries(np.array([200, 3], np.uint8))
        assert ours.map(lambda v: v * 4).tolist() == [800, 12]
        assert ours.map(lambda v: v - 5).tolist() == [195, -2]
