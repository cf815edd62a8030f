# SPDX-License-Identifier: Apache-2.0
"""Operations that are computed together when their result is read; pandas is the oracle."""

import gc
import pickle
import weakref
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from jaxframes.frame import JaxFrame
from jaxframes.frame.table import _defer, _map_program

NUM_ROWS = 75


@pytest.fixture(autouse=True)
def always(monkeypatch):
    """Defers operations on any number of rows."""
    monkeypatch.setattr(_defer, "LEAST_MAPPED", 0)


def example(seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "x": rng.standard_normal(NUM_ROWS),
            "y": rng.standard_normal(NUM_ROWS) * 1e3,
            "z": rng.uniform(0, 1, NUM_ROWS),
            "f": rng.standard_normal(NUM_ROWS).astype(np.float32),
            "i": rng.integers(-9, 9, NUM_ROWS),
            "j": rng.integers(-9, 9, NUM_ROWS).astype(np.int32),
            "u": rng.integers(0, 9, NUM_ROWS).astype(np.uint8),
            "b": rng.random(NUM_ROWS) < 0.5,
            "t": pd.Timestamp("2024-02-29") + pd.to_timedelta(rng.integers(0, 99, NUM_ROWS), "D"),
            "s": rng.choice(["a", "b", "c"], NUM_ROWS),
            "c": pd.Categorical(rng.choice(["p", "q"], NUM_ROWS)),
        }
    )
    frame.loc[::7, ["x", "f"]] = np.nan
    frame.loc[::9, "t"] = pd.NaT
    frame.loc[::11, ["s", "c"]] = None
    frame.loc[3, "y"] = np.inf
    return frame


def is_deferred(series):
    return series._stored.columns[0].node is not None


@pytest.fixture
def programs(monkeypatch):
    """The operations of each expression that is computed."""
    computed, found = _map_program._computed, []

    def counted(leaves, zero, operations, outputs):
        found.append((len(operations), len(outputs)))
        return computed(leaves, zero, operations, outputs)

    monkeypatch.setattr(_map_program, "_computed", counted)
    return found


DAY = pd.Timestamp("2024-03-15")
EXPRESSIONS = {
    # A product and a sum, which XLA contracts to one operation in one program.
    "product and sum": lambda f: f.x * f.y + f.z,
    "product and difference": lambda f: f.z - f.x * f.y,
    "products": lambda f: f.x * 3.3 * 7.7 * f.z,
    "sums": lambda f: (f.x + 1e16) - 1e16 + f.z,
    "quotients": lambda f: f.x / 3.0 / 7.0,
    "quotient of a sum": lambda f: (f.x + f.y) / (f.z - 1.0),
    "reciprocal": lambda f: 1.0 / f.y * f.x,
    "negated": lambda f: -(f.x * f.y) + f.z,
    "float32": lambda f: f.f * f.f + f.f / 3,
    "widths": lambda f: f.f * f.x + f.f,
    "integers": lambda f: f.i * 3 - f.j + f.u,
    "quotient of integers": lambda f: f.i / f.j,
    "integers and floats": lambda f: f.i / 3 + f.x * f.u,
    "bools": lambda f: (f.b & (f.x > 0)) | ~f.b ^ (f.i <= f.j),
    "bools and numbers": lambda f: f.b * f.x + f.b,
    "sum of bools": lambda f: f.b + (f.x > 0),
    "a large integer": lambda f: f.u > 1000,
    "bits": lambda f: (f.i & 3) | (f.j ^ f.i),
    "between days": lambda f: (f.t >= DAY) & (f.t < DAY + pd.Timedelta("40D")) & (f.z < 0.9),
    "unequal times": lambda f: ~(f.t != DAY) | (f.t == f.t),
    "codes": lambda f: (f.s == "b") | (f.s > "b") | (f.c == "p") | (f.s == "absent"),
    "other operations between": lambda f: (f.x * 2).fillna(1.0) * 3 + (f.i // 4) ** 2,
    "many": lambda f: sum((f.x * n + f.z for n in range(9)), f.y),
    "frames": lambda f: f[["x", "y"]] * 2 + f[["y", "x"]],
    "frame and numbers": lambda f: (f[["x", "i", "b"]] * 2 - 1) > 0,
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_the_values_are_those_of_pandas_to_the_last_bit(name):
    expression, frame = EXPRESSIONS[name], example()
    expected = expression(frame)
    result = expression(JaxFrame(frame))
    assert list(np.atleast_1d(result.dtypes)) == list(np.atleast_1d(expected.dtypes))
    check = pd.testing.assert_series_equal
    if isinstance(expected, pd.DataFrame):
        check = pd.testing.assert_frame_equal
    check(result.to_pandas(), expected, check_exact=True)


@pytest.mark.parametrize("name", ["product and sum", "bools", "between days", "codes"])
@pytest.mark.parametrize(
    "use",
    [
        lambda f, x: f.assign(n=x)[["n", "i"]],
        lambda f, x: f[["i", "y"]].assign(n=x).sort_values("n", kind="stable"),
        lambda f, x: f[["i", "y"]].assign(n=x)[f["i"] > 0],
        lambda f, x: f[["i", "y"]].assign(n=x).groupby("n")[["i"]].sum(),
        lambda f, x: x.where(f["i"] > 0, x)[f["i"] > 3].to_frame(),
        lambda f, x: x.to_frame("n").astype("float64").describe(),
    ],
)
def test_results_are_used_as_other_columns(name, use):
    expression, frame = EXPRESSIONS[name], example()
    expected = use(frame, expression(frame))
    ours = JaxFrame(frame)
    pd.testing.assert_frame_equal(use(ours, expression(ours)).to_pandas(), expected)


def test_an_expression_is_one_program(programs):
    frame = JaxFrame(example())
    result = frame.x * 2.0 + frame.y - frame.i / 3.0 > frame.z
    assert is_deferred(result)
    assert programs == []
    assert (result.sum(), result.any()) == (int(result.to_numpy().sum()), True)
    assert programs == [(5, 1)]
    assert not is_deferred(result)


def test_results_that_are_held_are_computed_together(programs):
    frame, expected = JaxFrame(example()), example()
    revenue = frame.y * (1 - frame.z)
    charge = revenue * (1 + frame.x)
    pd.testing.assert_series_equal(
        charge.to_pandas(), expected.y * (1 - expected.z) * (1 + expected.x), check_exact=True
    )
    assert programs == [(4, 2)]
    assert not is_deferred(revenue)
    assert (revenue * 2).max() == 2 * (expected.y * (1 - expected.z)).max()
    assert programs == [(4, 2), (1, 1)]


def test_long_expressions_are_computed_in_parts(programs):
    series, expected = JaxFrame(example()).x, example().x
    for number in range(40):
        series, expected = series * 1.1 + number, expected * 1.1 + number
    pd.testing.assert_series_equal(
        series.to_pandas(), expected, check_exact=True, check_names=False
    )
    assert sum(steps for steps, _ in programs) == 80
    assert max(steps for steps, _ in programs) <= _defer.MOST_STEPS


def test_deferred_rows_are_operands():
    frame = example()
    ours = JaxFrame(frame)
    selected, expected = ours[ours.i > 0], frame[frame.i > 0]
    pd.testing.assert_frame_equal(
        selected[selected.x * selected.y > selected.z].to_pandas(),
        expected[expected.x * expected.y > expected.z],
    )


def test_few_rows_traced_rows_and_masked_rows_are_computed_at_once(monkeypatch):
    frame = JaxFrame(example())
    assert not is_deferred(jax.jit(lambda f: f.x + f.y)(frame))
    traced = []
    jax.jit(lambda f: traced.append(is_deferred(f.x + f.y)))(frame)
    jax.jit(lambda y: traced.append(is_deferred(frame.x + frame.y)))(0)
    assert traced == [False, False]
    masked = frame[["i"]].shift(1).i
    assert (masked + 1).sum() == (example().i.shift(1) + 1).sum()
    monkeypatch.setattr(_defer, "LEAST_MAPPED", 1 << 15)
    assert not is_deferred(frame.x + frame.y)


def test_a_result_is_read_first_inside_jit():
    frame = JaxFrame(example())
    result = frame.i * 2 + 1
    assert jax.jit(lambda y: y + result.sum())(1) == (example().i * 2 + 1).sum() + 1
    other = frame.i * 2 + 1
    assert jax.jit(lambda series: series.max())(other) == (example().i * 2 + 1).max()


@pytest.mark.parametrize("donated", ["frame", "array", "by the caller"])
def test_results_are_computed_before_their_columns_are_donated(donated):
    values = jnp.arange(64.0)
    frame = JaxFrame({"x": values if donated == "by the caller" else np.arange(64.0)})
    frame["k"] = np.arange(64.0)
    if donated != "by the caller":
        frame = jax.jit(lambda tree: jax.tree.map(jnp.copy, tree))(frame)
    result = (frame.x * 2 + frame.k) > 30
    assert is_deferred(result)
    one = {"frame": frame, "array": frame, "by the caller": values}[donated]
    one = frame["x"].to_jax() if donated == "array" else one
    copied_in_place = jax.jit(lambda tree: jax.tree.map(jnp.copy, tree), donate_argnums=0)
    jax.block_until_ready(copied_in_place(one))
    assert result.sum() == 53


@pytest.mark.parametrize("part", [lambda f: f[f.i > 0].y, lambda f: f.y * 2.0])
def test_results_are_computed_before_a_forced_part_is_donated(part):
    frame = jax.jit(lambda tree: jax.tree.map(jnp.copy, tree))(JaxFrame(example()))
    one = part(frame)
    # They do not share the index.
    result = (one + 1.0).reset_index(drop=True)
    expected = one.to_numpy() + 1.0
    assert is_deferred(result)
    jax.block_until_ready(jax.jit(lambda y: y * 3.0, donate_argnums=0)(one))
    np.testing.assert_array_equal(result.to_numpy(), expected)


def test_results_do_not_keep_the_columns_of_others_in_memory():
    frame, other = JaxFrame(example()), JaxFrame(example(1))
    result = frame.x * 2 + frame.y
    source = weakref.ref(frame._stored.columns[0].data)
    assert is_deferred(result)
    del frame
    gc.collect()
    assert other.sort_values("i").i.iloc[0] == example(1).i.min()
    assert not is_deferred(result)
    gc.collect()
    assert source() is None
    assert result.max() == (example().x * 2 + example().y).max()


def test_copies_and_pickles_of_results():
    frame = JaxFrame(example())
    expected = (example().x * 2).to_frame()
    for result in (pickle.loads(pickle.dumps(frame.x * 2)), (frame.x * 2).copy()):
        pd.testing.assert_frame_equal(result.to_frame().to_pandas(), expected)


def test_threads_may_read_one_result():
    frame = JaxFrame(example())
    expected = (example().x * 2 + example().y).max()
    for _ in range(10):
        result = frame.x * 2 + frame.y
        with ThreadPoolExecutor(4) as threads:
            found = list(threads.map(lambda series: series.max(), [result] * 4))
        assert found == [expected] * 4


def test_errors_are_raised_by_the_operation():
    frame = JaxFrame(example())
    with pytest.raises(TypeError, match="boolean subtract"):
        _ = frame.b - frame.b
    with pytest.raises(TypeError, match="unsupported operand"):
        _ = frame.x & frame.i
    with pytest.raises(TypeError, match="Invalid comparison"):
        assert frame.t > 3


@pytest.mark.parametrize("value", [3, -2.5, True, np.float32(0.1), np.nan, np.int8(7)])
def test_a_constant_is_deferred(value, programs):
    frame = example()
    actual = JaxFrame(frame).assign(n=value)
    is_of_numpy = isinstance(value, np.generic)
    assert is_of_numpy or is_deferred(actual.n)
    assert not programs
    result = actual.assign(sum=actual.n + actual.x, both=actual.n * actual.n)
    expected = frame.assign(n=value)
    expected = expected.assign(sum=expected.n + expected.x, both=expected.n * expected.n)
    pd.testing.assert_frame_equal(
        result[["sum", "both", "n"]].to_pandas(), expected[["sum", "both", "n"]]
    )
    kept = actual[actual.i > 0].n
    pd.testing.assert_series_equal(kept.to_pandas(), frame.assign(n=value)[frame.i > 0].n)


def test_a_constant_without_x64_and_inside_jit():
    with jax.enable_x64(False):
        constant = JaxFrame({"x": np.arange(5, dtype=np.int32)}).assign(n=2).n
        assert constant.dtype == np.int32
        assert constant.tolist() == [2] * 5
    doubled = jax.jit(lambda frame: frame.assign(n=2).n * frame.x)(JaxFrame({"x": [1, 2]}))
    assert doubled.tolist() == [2, 4]
