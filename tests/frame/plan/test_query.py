# SPDX-License-Identifier: Apache-2.0
"""query and eval, compared with pandas' own."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import Bound, assert_parity, assert_same, assert_same_error
from hypothesis import given, settings
from hypothesis import strategies as st
from jaxframes.frame import JaxFrame, col

FRAME = mixed_frame().assign(**{"a b": range(37), "it's": 1.5, "x`y": 2, "and": 3, "é": 4})
FRAME.index = pd.Index(range(100, 137), name="row")
LIMIT, NAMES, KEYS = 1, ["a", "é"], np.array([1, 2])
START = pd.Timestamp("1990-01-01")

QUERIES = [
    "x > 0", "x > y", "k == 2", "k != 2", "x >= 0 and y < 0", "x >= 0 & y < 0",
    "x > 0 or y > 0 and k == 1", "x > 0 | y > 0 & k == 1", "not x > 0", "~(x > 0)",
    "not (x > 0 and b)", "b", "not b", "~b & x > 0", "b == True", "0 < x < 1", "-1 <= x < y <= 2",
    "k in [1, 2]", "k not in [1, 2]", "k in (1, 2)", "[1, 2] in k", "k == [1, 2]", "k != [1, 2]",
    "s in ['a', 'b']", "s == 'b'", "s != 'b'", '"b" == s', "s == ['a', 'b']", "s in 'b'",
    "s not in ['a', 'b'] and k > 1", "s > 'b'", "c == 'a'", "k + i > 10", "k * 2 + 1 == 5",
    "(k + 1) ** 2 > 4", "-k < -2", "i // 100 % 3 == 0", "i / 2 > 5.5", "x > @LIMIT",
    "k > @LIMIT + 1", "k in @KEYS", "s in @NAMES", "s not in @NAMES", "t > @START",
    "t > '1990-01-01'", "t.dt.year > 1990", "t.dt.month in [1, 2, 3]", "s.str.len() > 1",
    "s.str.lower() == 'z'", "s.str.contains('a') == True", "s.str[0] == 's'", "s.str[1:] == ''",
    "x.isna()", "x.notna() and b", "x.abs() > 1", "x.between(-1, 1)", "k.isin([1, 2])",
    "x.fillna(0) >= 0", "x > x.mean()", "i == i.max()", "x.rank() <= 3", "k.cumsum() > 20",
    "sin(x) > 0", "abs(x) > 0.5 and sqrt(k) > 1", "arctan2(x, y) > 0", "`a b` > 10",
    "`it's` > 1 and x > 0", "`x``y` == 2", "`and` == 3", "é == 4", "`a b` in [1, 2] or `a b` > 30",
    "index > 110", "row > 110 and x > 0", "x < inf", "x == x", "x != x", "1 < 2 and x > 0",
    "(x > 0) == b", "k == 1 + 1", "k < 10 ** 2", "s == '@x & y'", "s != '`'",
    "(x > 0) & (y > 0) | (k == 1)", "k in [1, @LIMIT]", "k not in [i, 2]", "x>0and(y>0)",
    "s.str.contains('a', na=False)", "t > @pd.Timestamp('1990-01-01')", "b & True", "-x > 1",
    "d > @pd.Timedelta(1, unit='s')", "k.between(1, @LIMIT + 2, inclusive='left')", "k == k",
    "`a b`.abs() > 20", "1 < k in [2, 3]", "s == s",
    "i.abs() % 2 == 0 != b", "x > 1 # y > 'x' and (", "0x10 < i", "1_0 < i", "x > .5e-1",
    "s == 'a' 'b'", "s == r'a'", "s == 'don\\'t'", "s.fillna('a') == 'a'",
    "s.isna() or not s.notna()",
]  # fmt: skip
EVALS = [
    "x + y", "x", "k * 2 - i", "-x", "+k", "~b", "x > 0", "x.sum()", "k.max() - k.min()", "1 + 1",
    "x - x.mean()", "2 ** k", "1 / (k + 1)", "s + s", "s.str.upper()", "t.dt.day", "i % 7",
    "log(k + 1)", "x.clip(-1, 1)", "x.where(x > 0, 0)", "k.astype('float32') + 1", "z = x + y",
    "x = x * 2", "n = 1", "z = x + 1\nw = z * 2\nz = w - 1", "\n z = k \n\n",
    "m = x.mean()", "flag = x > 0 and k in [1, 2]", "i.shift(1)", "x.rolling(3).mean()",
]  # fmt: skip


@pytest.mark.parametrize("text", QUERIES)
def test_query(text):
    ours, expected = JaxFrame(FRAME), FRAME.query(text, engine="python")
    assert_same(ours.query(text), expected)


@pytest.mark.parametrize("text", EVALS)
def test_eval(text):
    assert_same(JaxFrame(FRAME).eval(text), FRAME.eval(text, engine="python"), Bound(2, 1.0))


@pytest.mark.parametrize("way", ["jit", "mesh"])
def test_texts_inside_jit_and_on_a_mesh(way):
    def queried(f):
        f = f.query("k in [1, 2, 3] and not (x > @LIMIT or s == 'b')", engine="python")
        return f.eval("z = x * 2 + k\nw = z > 0 & s != 'a'", engine="python")

    assert_parity(queried, FRAME[["k", "x", "s"]].reset_index(drop=True), ways=[way], num_devices=4)


def test_a_variable_may_be_traced():
    @jax.jit
    def count(frame, limit):
        return frame.query("k > @limit")["k"].count()

    assert count(JaxFrame(FRAME[["k"]]), jnp.asarray(2)) == (FRAME.k > 2).sum()


def test_no_rows_one_row_and_none_that_match():
    for rows in (slice(0), slice(1)):
        assert_parity(lambda f: f.query("k > 1 and s != 'a'", engine="python"), FRAME[rows])
    assert len(JaxFrame(FRAME).query("k > 1000")) == 0


def test_names_of_the_index():
    frame = FRAME[["k", "x"]]
    labels = frame.set_axis(pd.Index(list("abcde") * 7 + ["a", "b"]), axis=0)
    levels = frame.set_index([pd.Index(range(37), name="u"), pd.Index(range(37))])
    for f, text in [
        (frame, "ilevel_0 > 3"),
        (labels, "index == 'a' and k > 1"),
        (labels, "ilevel_0 in ['a', 'b']"),
        (levels, "u > 3 and ilevel_1 < 20"),
        (frame.rename_axis("k"), "k > 2"),
    ]:
        if f is frame:
            f = f.reset_index(drop=True)
        assert_same(JaxFrame(f).query(text), f.query(text, engine="python"))


def test_variables_of_the_caller_of_a_level_and_of_dicts():
    def select(frame, **how):
        return frame.query("k > @bound", engine="python", **how)

    bound = 2
    ours, theirs = JaxFrame(FRAME), FRAME.query("k > 2")
    assert_same(select(ours, level=1), theirs)
    assert_same(select(ours, local_dict={"bound": bound}), theirs)
    assert_same(select(ours, global_dict={"bound": bound}), theirs)
    assert_same(ours.eval("k > @bound", local_dict={"bound": 2}), FRAME.k.gt(2))
    with pytest.raises(pd.errors.UndefinedVariableError, match=r"^local variable 'bound' is"):
        select(ours)
    values = {"positive": col("x") > 0, "index": pd.Index([1, 2]), "set": {1, 2}}
    got = ours.query("@positive and k in @index and k in @set", local_dict=values)
    assert_same(got, FRAME.query("x > 0 and k in [1, 2]"))


def test_a_new_label_may_be_in_backticks():
    assert JaxFrame(FRAME).eval("`new ``name` = k + 1")["new `name"].tolist() == [*(FRAME.k + 1)]


def test_the_frame_itself_stays():
    ours = JaxFrame(FRAME)
    ours.eval("k = k + 1\nnew = 1")
    assert_same(ours, FRAME)


TERMS = st.sampled_from(["x", "y", "k", "i", "2", "-1.5", "(k + 1)"])
COMPARISONS = st.builds(
    "{} {} {}".format, TERMS, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), TERMS
)
CONDITIONS = st.recursive(
    COMPARISONS | st.sampled_from(["b", "k in [1, 2]", "s == 'b'", "0 < x < y"]),
    lambda inner: st.one_of(
        st.builds("{} {} {}".format, inner, st.sampled_from(["and", "or", "&", "|"]), inner),
        st.builds("({})".format, inner),
        st.builds("not {}".format, inner),
        st.builds("~({})".format, inner),
    ),
    max_leaves=6,
)


@given(CONDITIONS)
@settings(max_examples=40)
def test_random_texts(text):
    expected = actual = None
    try:
        with warnings.catch_warnings():
            # Of a bool, Python 3.12 warns of the operator ~.
            warnings.simplefilter("ignore", DeprecationWarning)
            expected = FRAME.query(text, engine="python")
    except Exception as error:
        expected = error
    try:
        actual = JaxFrame(FRAME).query(text)
    except Exception as error:
        actual = error
    if isinstance(expected, Exception):
        # Of constants alone pandas may give no mask; neither do we.
        assert isinstance(actual, Exception), text
    else:
        assert not isinstance(actual, Exception), (text, actual)
        assert_same(actual, expected)


def test_errors_that_pandas_raises_too():
    for text in [
        "bogus > 1",
        "x >",
        "",
        "k in 5",
        "x = 1",
        "k > @nowhere",
        "x > 1; k",
        "f(x)",
        "g(x)",
        "x +",
    ]:
        assert_same_error(lambda f, text=text: f.query(text, engine="python"), FRAME)
    for text in [
        "x + 1\ny + 1",
        "z = x\ny + 1",
        "x = y = 1",
        "(x, y) = 1",
        "x += 1",
        "{k for k in x}",
    ]:
        assert_same_error(lambda f, text=text: f.eval(text, engine="python"), FRAME)
    assert_same_error(lambda f: f.query(f.x > 0), FRAME)
    assert_same_error(lambda f: f.query("x > 0", engine="bogus"), FRAME)
    assert_same_error(lambda f: f.query("x > 0\ny > 0"), FRAME)
    assert_same_error(lambda f: f.query("k.sum() > 0"), FRAME)


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        (lambda f: f.eval("x", inplace=True), ValueError, "^Cannot operate inplace if there is no"),
        (lambda f: f.query("x > 0", parser="python"), NotImplementedError, "^parser must be 'pan"),
        (
            lambda f: f.query("bogus > 0"),
            NameError,
            "^name 'bogus' is not defined. The columns are",
        ),
        (lambda f: f.query("x ^ k"), NotImplementedError, "^'BitXor' nodes are not implemented"),
        (lambda f: f.query("x if b else y"), NotImplementedError, "^'IfExp' nodes are not impl"),
        (
            lambda f: f.query("x and 1"),
            NotImplementedError,
            "^cannot evaluate scalar only bool ops",
        ),
        (
            lambda f: f.query("k & 1 == 1"),
            NotImplementedError,
            "^cannot evaluate scalar only bool ops.*put comparisons in parentheses",
        ),
        (
            lambda f: f.eval("~k | True"),
            NotImplementedError,
            "^cannot evaluate scalar only bool ops",
        ),
        (
            lambda f: f.query("s.str.bogus() > 1"),
            AttributeError,
            "^'s.str' has no attribute 'bogus'",
        ),
        (
            lambda f: f.query("round(x) > 1"),
            ValueError,
            '^"round" is not a supported function. The functions are abs, ',
        ),
        (lambda f: f.query("x > @f"), NotImplementedError, "^@f: variables must be scalars or lis"),
        (
            lambda f: f.query("x.value_counts() > 1"),
            AttributeError,
            "^'x' has no attribute 'value_",
        ),
        (lambda f: f.query("x > k[@LIMIT]"), NotImplementedError, r"^k\[@LIMIT\]: only .str has"),
        (lambda f: f.query("`a b`(1) > 1"), TypeError, "^'a b' is a column and is not callable$"),
        (lambda f: f.query("sin(x, y) > 1"), TypeError, r"^sin\(\) takes 1 arguments, got 2$"),
        (lambda f: f.query("s.str > 1"), SyntaxError, "^s.str is not a value. Call one of its"),
    ],
)
def test_messages(wrong, error, message):
    with pytest.raises(error, match=message):
        wrong(JaxFrame(FRAME))
