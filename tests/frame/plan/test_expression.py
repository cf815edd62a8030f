# SPDX-License-Identifier: Apache-2.0
"""Expressions of columns."""

import copy
import datetime
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import Bound, assert_parity, assert_same
from hypothesis import given
from hypothesis import strategies as st
from jaxframes.frame import Expression, JaxFrame, JaxSeries, col
from jaxframes.frame.plan._methods import (
    ACCESSORS,
    GROUPINGS,
    METHODS,
    OF_TIMES,
    OPERATORS,
    UNARY_OPERATORS,
)

FRAME = mixed_frame()

# The order of a sum, and exp.
ROUNDING = Bound(4, 1.0)

# Functions of `col` or `pandas.col`, whose results have one value per row.
ROWWISE = {
    "arithmetic": lambda c: 1 - c("x") * 2 / (c("y") - 3),
    "integers": lambda c: -(c("k") ** 2) // 3 % 5,
    "comparison": lambda c: c("x") > c("y") + 2,
    "logic": lambda c: (c("k") == 2) & ~(c("x") < 0) | (c("b") ^ (c("i") >= 10)),
    "reflected": lambda c: 2 ** c("k") + 7 // (c("k") + 1),
    "flex": lambda c: c("x").add(c("y"), fill_value=0.0).gt(1),
    "missing": lambda c: c("x").isna() | c("s").notna(),
    "filled": lambda c: c("x").fillna(0).abs().round(2),
    "where": lambda c: c("x").where(c("y") > 0, c("k")),
    "clip": lambda c: c("i").clip(-10, 200),
    "between": lambda c: c("x").between(-1, c("y")),
    "isin": lambda c: c("k").isin([1, 3]),
    "astype": lambda c: c("k").astype("float32"),
    "strings": lambda c: c("s").str.lower().str.len(),
    "characters": lambda c: c("s").str[0] + c("s").str[1:3],
    "datetimes": lambda c: c("t").dt.year * 100 + c("t").dt.month,
    "timedeltas": lambda c: (c("t") + c("d")).dt.floor("D"),
    "ufunc": lambda c: np.exp(c("x").clip(-5, 5)) + np.float64(2) * c("y"),
    "map": lambda c: c("k").map({0: 10, 1: 11, 2: 12, 3: 13, 4: 14}),
}
OF_ROWS = {
    "demeaned": lambda c: c("x") - c("x").mean(),
    "cumulative": lambda c: c("k").cumsum() + c("k").shift(1, fill_value=0),
    "rolling": lambda c: c("k").rolling(3, min_periods=1).sum(),
    "rank": lambda c: c("x").rank(),
    "of groups": lambda c: c("i").groupby(c("k")).transform("max") - c("i"),
    "by name": lambda c: c("i") - c("i").groupby(c("k")).cumsum(),
    "foreign values": lambda c: c("k").isin(c("i")),
}
ALL = ROWWISE | OF_ROWS
REPRS = {
    "col('a') > col('b') + 2",
    "1 - (col('a') - (col('b') - 3))",
    "(col('a') > 1) & ~(col('b') == 2)",
    "-col('a') ** 2",
    "(-col('a')) ** 2",
    "2 ** col('a') ** 3",
    "(2 ** col('a')) ** 3",
    "(-1) ** col('a')",
    "(col('a') == 1) == (col('b') > 2)",
    "col('s').str.lower().str.get(0).isin(['a', 'b'])",
    "col('a').rolling(3, min_periods=1).mean().fillna(float('nan'))",
    "np.log(col('a')) + np.float64(2.0)",
    "col('t').dt.year // 10",
    "col('a').groupby([col('b'), col('c')]).transform('sum')",
    "(col('a') + 1).alias(('x', 1))",
    "col('a').where(col('b') > 0, other=-1).astype(float)",
}


@pytest.mark.parametrize("make", [pytest.param(make, id=name) for name, make in ALL.items()])
def test_expressions_of_both_libraries_give_what_pandas_gives(make):
    ours, expected = JaxFrame(FRAME), FRAME.assign(r=make(pd.col))["r"]
    assert_same(ours.assign(r=make(pd.col))["r"], expected, ROUNDING)
    assert_same(ours.assign(r=make(col))["r"], expected, ROUNDING)
    assert Expression.from_pandas(make(pd.col)).key() == make(col).key()


@pytest.mark.parametrize("way", ["jit", "mesh"])
def test_a_frame_assigns_expressions_inside_jit_and_on_a_mesh(way):
    names = ["arithmetic", "logic", "where", "strings", "demeaned", "cumulative"]

    def assigned(f):
        f = f[pd.col("k") < 4]
        return f.assign(**{name: ALL[name](pd.col) for name in names})

    assert_parity(assigned, FRAME, ways=[way], ulps=ROUNDING, num_devices=4)


def test_a_frame_takes_expressions_as_masks():
    ours = JaxFrame(FRAME)
    for c in (col, pd.col):
        assert_same(ours[c("x") > 0], FRAME[FRAME.x > 0])
        assert_same(ours.loc[c("x") > 0, "k"], FRAME.loc[FRAME.x > 0, "k"])
        assert_same(ours.filter((c("x") > 0) & c("b")), FRAME[(FRAME.x > 0) & FRAME.b])


def test_rows_are_sorted_and_grouped_by_expressions():
    ours = JaxFrame(FRAME)
    expected = FRAME.assign(key=-FRAME.x).sort_values(["k", "key"]).drop(columns="key")
    for c in (col, pd.col):
        assert_same(ours.sort_values(["k", -c("x")]), expected)
        assert_same(ours.sort_values(c("x").abs()), FRAME.sort_values("x", key=abs))
        got = ours.groupby([c("i") // 100, "k"])["i"].sum()
        assert_same(got, FRAME.groupby([FRAME.i // 100, "k"])["i"].sum())
        assert_same(ours.groupby(c("k")).size(), FRAME.groupby("k").size())
    with pytest.raises(ValueError, match=r"^sort_values: col\('x'\).sum\(\) must have a value for"):
        ours.sort_values(col("x").sum())


def test_a_column_is_set_from_an_expression():
    ours, expected = JaxFrame(FRAME[["k"]]), FRAME[["k"]].copy()
    ours["z"] = col("k") * 2
    expected["z"] = expected["k"] * 2
    assert_same(ours, expected)


def test_reductions_give_scalars():
    frame = JaxFrame(FRAME)
    assert (col("k").sum() / col("k").count()).evaluate(frame) == FRAME.k.mean()
    assert col("i").max()(frame) == FRAME.i.max()
    assert_same((col("i").max() - col("i")).evaluate(frame), FRAME.i.max() - FRAME.i)


def test_operands_may_be_traced():
    @jax.jit
    def count(frame, limit):
        return frame[(col("k") >= limit) & (limit > 0)]["k"].count()

    frame = JaxFrame(FRAME[["k"]])
    assert count(frame, jnp.asarray(2)) == (FRAME.k >= 2).sum()
    with pytest.raises(TypeError, match=r"^unhashable expression: an operand is traced"):
        jax.jit(lambda limit: (col("k") > limit).key())(1)
    assert (col("k") > jnp.asarray(2)).key() == (col("k") > jnp.asarray(2)).key()


@pytest.mark.parametrize("text", sorted(REPRS))
def test_the_repr_is_the_code_that_makes_the_expression(text):
    expression = eval(text, {"col": col, "np": np})
    assert repr(expression) == text
    for same in (pickle.loads(pickle.dumps(expression)), copy.deepcopy(expression)):
        assert same.key() == expression.key()
        assert hash(same) == hash(expression)


LITERALS = st.sampled_from(
    [
        1, -2, 1.5, -0.0, float("inf"), float("-inf"), float("nan"), True, None, "a'b", 2j,
        np.int8(3), np.float32(0.1), np.float64(np.nan), pd.NaT, pd.Timestamp("2026-01-02"),
        pd.Timestamp("2026-01-02").as_unit("ns"), pd.Timestamp("2026-01-02", tz="UTC"),
        pd.Timedelta("1s"), pd.Timedelta("1s").as_unit("ms"), np.datetime64("2026-01-02", "D"),
        datetime.date(2026, 1, 2), datetime.timedelta(1),
    ]
)  # fmt: skip
LEAVES = st.sampled_from(["a", "b c", ("x", 1), 2]).map(col)


def larger(inner):
    """Expressions of smaller ones, operands on both sides."""
    operands, binary = st.one_of(inner, LITERALS), st.sampled_from(sorted(OPERATORS))
    return st.one_of(
        st.builds(Expression.of, binary, inner, operands),
        # Left operands without the operator: Python calls that of the right one.
        st.builds(Expression.of, binary, st.sampled_from([2, -1.5, np.float32(3)]), inner),
        st.builds(Expression.of, st.sampled_from(sorted(UNARY_OPERATORS)), inner),
        st.builds(lambda x, y: x.where(y, other=1), inner, inner),
        st.builds(lambda x, y: x.fillna(y), inner, operands),
        st.builds(lambda x, y: x.isin(y), inner, st.lists(LITERALS, max_size=2)),
        st.builds(lambda x: x.rolling(2).mean(), inner),
        st.builds(lambda x: x.astype(np.dtype("M8[s]")).dt.year.alias("y"), inner),
        st.builds(lambda x: np.log(x.str.lower().str[0]), inner),
    )


@given(st.recursive(LEAVES, larger, max_leaves=8))
def test_random_expressions_are_read_back_from_their_repr(expression):
    scope = {"col": col, "np": np, "pd": pd, "datetime": datetime}
    for same in (eval(repr(expression), scope), pickle.loads(pickle.dumps(expression))):
        assert same.key() == expression.key()
        assert same.columns() == expression.columns()
    swapped = {"a": "b c", "b c": "a"}
    assert expression.rename(swapped).rename(swapped).key() == expression.key()


def test_no_recorded_name_hides_an_attribute():
    assert not set(METHODS) & set(vars(Expression))


def test_keys_tell_all_operands_apart():
    values = [
        1, 1.0, True, "1", None, 0.0, -0.0, np.float32(1), np.int64(1), np.nan, pd.NaT,
        pd.Timestamp("2026"), pd.Timestamp("2026").as_unit("ns"), np.datetime64("2026", "s"),
        np.datetime64("2026", "ns"),
    ]  # fmt: skip
    expressions = [col("x") == value for value in values]
    expressions += [
        col("x").isin([1]), col("x").isin([1.0]), col("x").isin({1}), col("x").fillna(1),
        col("x").fillna(value=1),
        col(1) == 1, col(1.0) == 1, col("x").alias("y") == 1, col("y") == 1, -col("x") == 1,
    ]  # fmt: skip
    keys = {expression.key() for expression in expressions}
    assert len(keys) == len(expressions)
    assert np.greater(1, col("x")).key() == (col("x") < 1).key()
    assert (col("x") == float("nan")).key() == (col("x") == np.nan).key()


def test_a_shared_part_is_evaluated_once_and_keyed_once():
    expression = col("k")
    for _ in range(60):
        expression = expression + expression
    assert len(expression.key()) == 61
    assert expression.columns() == {"k"}
    frame = JaxFrame({"k": [0, 0]})
    assert expression.evaluate(frame).tolist() == [0, 0]


def test_columns_names_and_rowwise():
    expression = (col("a") + col("b").mean()).where(col("c") > 0)
    assert expression.columns() == {"a", "b", "c"}
    assert expression.name == "a"
    assert expression.alias("z").name == "z"
    assert (1 - col(("x", 2))).name == ("x", 2)
    renamed = expression.rename({"a": "x", "b": "a"})
    assert renamed.key() == (col("x") + col("a").mean()).where(col("c") > 0).key()
    assert not expression.is_rowwise()
    for make in ROWWISE.values():
        assert make(col).is_rowwise()
    for make in OF_ROWS.values():
        assert not make(col).is_rowwise()
    assert not col("s").astype("category").is_rowwise()
    assert not (col("c").cat.codes > 1).is_rowwise()
    assert not col("s").str.cat(sep=",").is_rowwise()
    assert col("s").str.cat(col("s")).is_rowwise()


def test_a_rowwise_expression_may_be_evaluated_before_rows_are_dropped():
    ours = JaxFrame(FRAME)
    few = ours[ours.k > 2]
    for make in ROWWISE.values():
        before = make(col).evaluate(ours)[ours.k > 2]
        pd.testing.assert_series_equal(make(col).evaluate(few).to_pandas(), before.to_pandas())


# Arguments of the methods that need some.
ARGUMENTS = {
    "astype": ("float32",), "between": (0, 1), "isin": ([1],), "map": ({1: 2},),
    "mask": (col("b"),), "where": (col("b"),), "replace": (1, 2), "fillna": (0,),
    "groupby.transform": ("sum",),
    "rolling": (3,), "groupby": (col("k"),), "corr": (col("y"),), "cov": (col("y"),),
    "str.cat": (col("s"),), "str.center": (5,), "str.contains": ("a",), "str.count": ("a",),
    "str.endswith": ("a",), "str.find": ("a",), "str.fullmatch": ("a",), "str.get": (0,),
    "str.ljust": (5,), "str.match": ("a",), "str.normalize": ("NFC",), "str.pad": (5,),
    "str.removeprefix": ("a",), "str.removesuffix": ("a",), "str.repeat": (2,), "str.rfind": ("a",),
    "str.replace": ("a", "b"), "str.rjust": (5,), "str.startswith": ("a",), "str.wrap": (5,),
    "list.get": (0,), "list.slice": (0, 1, None),
    "str.translate": ({97: "b"},), "str.zfill": (5,), "str.findall": ("a",), "str.join": ("-",),
    "dt.as_unit": ("us",), "dt.ceil": ("D",),
    "dt.floor": ("D",), "dt.round": ("D",), "dt.strftime": ("%Y",), "cat.add_categories": (["zz"],),
    "dt.to_period": ("M",), "dt.tz_localize": ("Asia/Kolkata",), "dt.tz_convert": ("Asia/Kolkata",),
    "cat.remove_categories": (["u"],), "cat.rename_categories": (str.upper,),
}  # fmt: skip
OF_COLUMNS = {"str": "s", "dt": "t", "cat": "c"}
OF_SPANS = {"days", "seconds", "microseconds", "nanoseconds", "total_seconds"}
BINARY = {
    "add", "div", "divide", "eq", "floordiv", "ge", "gt", "le", "lt", "mod", "mul", "multiply",
    "ne", "pow", "radd", "rdiv", "rfloordiv", "rmod", "rmul", "rpow", "rsub", "rtruediv", "sub",
    "subtract", "truediv",
}  # fmt: skip


def recorded(function):
    """An expression that calls one of the listed methods."""
    namespace, _, name = function.rpartition(".")
    if namespace == OF_TIMES:
        # A step of a plan, which knows the dtype of the column, records it under this name.
        return Expression(function, (col("t"), "str"))
    label = "d" if namespace == "dt" and name in OF_SPANS else OF_COLUMNS.get(namespace, "x")
    owner = col("b" if function in ("all", "any") else label)
    if namespace in GROUPINGS:
        owner = getattr(owner, namespace)(*ARGUMENTS.get(namespace, ()))
    elif namespace:
        # Only times with a zone convert to another one.
        owner = owner.dt.tz_localize("UTC") if name == "tz_convert" else owner
        owner = col("s").str.split("b") if namespace == "list" else owner
        owner = getattr(owner, namespace)
    if METHODS[function].is_attribute:
        return getattr(owner, name)
    arguments = (col("y"),) if function in BINARY else ARGUMENTS.get(function, ())
    return getattr(owner, name)(*arguments)


@pytest.mark.parametrize("reads", ["row", "rows", "column"])
def test_methods_read_the_rows_that_the_table_says(reads):
    ours = JaxFrame(FRAME)
    kept = ours.b | (ours.k > 1)
    few = ours[kept]
    # These orders and dictionaries are other ones of fewer rows.
    unordered = ("cat.reorder_categories", "cat.set_categories")
    for function, method in METHODS.items():
        if method.reads != reads or function in (*GROUPINGS, *unordered):
            continue
        expression = recorded(function)
        result = expression.evaluate(ours)
        assert isinstance(result, JaxSeries) == (reads != "column"), function
        assert expression.is_rowwise() == (reads == "row"), function
        if reads == "row":
            assert_same(expression.evaluate(few), result[kept].to_pandas())


def test_an_alias_names_the_values():
    frame = JaxFrame(FRAME)
    assert (col("x") + 1).evaluate(frame).name == "x"
    assert (col("x") + col("y")).evaluate(frame).name is None
    assert (col("x") + col("y")).alias("z").evaluate(frame).name == "z"
    assert frame.groupby((col("i") // 100).alias("hundreds")).size().index.name == "hundreds"


def test_every_listed_method_is_one_of_a_series():
    frame = mixed_frame()
    ours = JaxFrame(frame)
    owners = {
        "": ours.x, OF_TIMES: ours.t, "str": ours.s.str, "dt": ours.t.dt, "cat": ours.c.cat,
        "list": ours.s.str.split().list,
        "rolling": ours.x.rolling(2), "expanding": ours.x.expanding(),
        "groupby": ours.x.groupby(ours.k),
    }  # fmt: skip
    for function, method in METHODS.items():
        if function in ("list.get", "list.slice"):  # These record subscripts.
            continue
        namespace, _, name = function.rpartition(".")
        kinds = [type(owners[namespace])]
        if namespace == "dt":
            kinds.append(type(ours.d.dt))
        found = [getattr(kind, name) for kind in kinds if name in dir(kind)]
        assert found, function
        assert any(callable(one) != method.is_attribute for one in found), function
    assert set(owners) == {"", OF_TIMES, *ACCESSORS, *GROUPINGS}
    assert {"fillna", "str", "sum"} <= set(dir(col("x")))
    assert "lower" in dir(col("x").str)


def test_an_expression_has_no_truth_value_and_no_elements():
    message = (
        "^boolean value of an expression is ambiguous. Use & | ~ instead of and, or, not, with "
        "parentheses around comparisons.$"
    )
    with pytest.raises(TypeError, match=message):
        bool(col("x") > 1)
    with pytest.raises(TypeError, match="not iterable"):
        iter(col("x"))
    with pytest.raises(TypeError, match="not iterable"):
        assert 1 in col("x")
    with pytest.raises(AttributeError, match="cannot assign to field"):
        col("x").function = "y"


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        (lambda: col([]), TypeError, "^Expected Hashable, got: <class 'list'>"),
        (lambda: col("x").value_counts(), NotImplementedError, "^Expression: value_counts is not"),
        (lambda: col("x").set_flags(1), NotImplementedError, "^JaxSeries.set_flags is not part"),
        (lambda: col("x").bogus, AttributeError, "object has no attribute 'bogus'$"),
        (lambda: col("x").str.bogus, AttributeError, "object has no attribute 'str.bogus'$"),
        (lambda: col("x").fillna(1, bogus=2), TypeError, r"^fillna\(\) got an unexpected keyword"),
        (lambda: col("x").fillna(1, inplace=True), NotImplementedError, "^fillna: inplace must be"),
        (
            lambda: col("x") + np.arange(3),
            NotImplementedError,
            r"^\+: operands of expressions must",
        ),
        (lambda: col("x") > JaxSeries([1]), NotImplementedError, "^>: operands of .* JaxSeries. "),
        (lambda: col("x").where([True]), NotImplementedError, "^where: operands of .* got list. "),
        (lambda: np.add.reduce(col("x")), NotImplementedError, "^np.add: expressions only support"),
        (lambda: col("x").dt[0], TypeError, "is not subscriptable$"),
        (lambda: JaxFrame({"x": [1]})[col("y") > 1], ValueError, "^Column 'y' not found in given"),
        (lambda: JaxFrame({"x": [1]})[pd.col("y") > 1], ValueError, "^Column 'y' not found in "),
        (lambda: JaxSeries([1])[col("x")], TypeError, "^Expression: must be evaluated on a Jax"),
        (lambda: Expression.from_pandas("x"), TypeError, "^expected an expression, got str. "),
        (
            lambda: Expression.from_pandas(pd.col("x").str),
            NotImplementedError,
            "the result is not a column, got Namespace",
        ),
    ],
)
def test_wrong_uses(wrong, error, message):
    with pytest.raises(error, match=message):
        wrong()
