# SPDX-License-Identifier: Apache-2.0
"""Each equation gives XLA's bits in the interpreter, at the edges of its dtype too."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from interpreted_programs import assert_interprets, numbers
from jax import lax
from jax.extend.core import ClosedJaxpr
from jaxframes.primitives import backend
from jaxframes.primitives.contract._random_rows import random_words
from jaxframes.primitives.tiers._entry import interpret
from jaxframes.primitives.tiers._equal_rounding import NotInterpretable
from jaxframes.primitives.tiers._program import Program

pytestmark = pytest.mark.skipif(backend().cpu != "native", reason="interpreted with the kernels")

INTEGERS = ["int8", "int32", "int64", "uint8", "uint32", "uint64"]
FLOATS = ["float32", "float64"]
INDICES = np.array([3, 0, 7, -1, 30, 3], np.int32)[:, None]


BINARY = [
    lax.add, lax.sub, lax.mul, lax.div, lax.rem, lax.max, lax.min, lax.eq, lax.ne, lax.lt, lax.le,
    lax.gt, lax.ge,
]  # fmt: skip
BITWISE = [
    lax.bitwise_and, lax.bitwise_or, lax.bitwise_xor, lax.shift_left, lax.shift_right_logical,
    lax.shift_right_arithmetic,
]  # fmt: skip
UNARY = [lax.neg, lax.sign, lax.abs]
DIVISIONS = [lax.div, lax.rem]


@pytest.mark.parametrize("dtype", INTEGERS + FLOATS)
def test_elementwise(dtype):
    x, y = numbers(dtype), numbers(dtype, 1)

    def all_of_them(x, y):
        results = [function(x, y) for function in BINARY]
        results += [function(x) for function in UNARY if x.dtype.kind != "u" or function != lax.abs]
        if dtype in FLOATS:
            results += [lax.floor(x), lax.ceil(x), lax.is_finite(x), lax.sqrt(x), lax.square(x)]
            results += [lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN), lax.nextafter(x, y)]
        else:
            results += [function(x, y) for function in BITWISE]
            results += [lax.bitwise_not(x), lax.population_count(x), lax.clz(x)]
        results += [lax.integer_pow(x, exponent) for exponent in range(1, 8)]
        results += [lax.clamp(x[3], x, y[5]), lax.select(x < y, x, y), x + 0, x - x.dtype.type(0)]
        return results

    assert_interprets(all_of_them, x, y)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_quotients_by_one_number(dtype):
    info = np.iinfo(dtype)
    divisors = {1, 2, 3, 60, -1, -2, -7, 0, int(info.max), int(info.min)}
    chosen = [np.array(one, dtype) for one in divisors if info.min <= one <= info.max]
    x = np.append(numbers(dtype), np.array([info.min, info.max], dtype))

    def all_of_them(x):
        results = [function(x, lax.full_like(x, y)) for y in chosen for function in DIVISIONS]
        return results + [function(abs(x[:3]), lax.full_like(x[:3], 3)) for function in DIVISIONS]

    assert_interprets(all_of_them, x)


@pytest.mark.parametrize("source", ["bool", *INTEGERS, *FLOATS])
def test_conversions(source):
    x = numbers(source)
    targets = ["bool", *INTEGERS, *FLOATS]
    if source in FLOATS:
        targets = ["bool", "int32", "int64", "uint32", "uint64", *FLOATS]
    assert_interprets(lambda x: [lax.convert_element_type(x, target) for target in targets], x)
    if source != "bool":
        word = f"uint{8 * x.dtype.itemsize}"
        assert_interprets(lambda x: lax.bitcast_convert_type(x, word), x)


@pytest.mark.parametrize("shape", [(2,), (3, 2), (0, 2), (2, 0, 2)])
def test_words_of_other_widths(shape):
    halves = np.arange(np.prod(shape), dtype=np.uint32).reshape(shape) * 3
    wide = np.ones(shape, np.int64) << 40
    assert_interprets(lambda x: lax.bitcast_convert_type(x, np.uint64), halves)
    assert_interprets(lambda x: lax.bitcast_convert_type(x, np.uint16), wide)
    assert_interprets(lambda x: lax.bitcast_convert_type(x, np.uint8), np.float32(1.5))


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64"])
def test_random_words(dtype):
    row_ids = np.array([0, 1, np.iinfo(np.dtype(dtype)).max], dtype)
    for words in ([0, 0], [1, 2**32 - 1], [123, 456]):
        words = np.array(words, np.uint32)
        assert_interprets(random_words, words, row_ids)
        assert_interprets(random_words, words, row_ids[:0])
        for row_id, *actual in zip(row_ids.tolist(), *random_words(words, row_ids), strict=True):
            key = jax.random.wrap_key_data(words, impl="threefry2x32")
            if dtype == "int64":
                key = jax.random.fold_in(key, np.uint32(row_id >> 32))
            key = jax.random.fold_in(key, np.uint32(row_id & 0xFFFFFFFF))
            assert list(map(int, actual)) == jax.random.key_data(key).tolist()


def test_gathers_of_numbers_from_a_table():
    table = np.arange(24).reshape(4, 6)
    rows, columns = np.array([0, 3, 2]), np.array([5, 0, 1])

    def taken(table, rows, columns):
        return table.at[rows, columns].get(mode="promise_in_bounds")

    assert_interprets(taken, table, rows, columns)
    assert_interprets(taken, table, rows.reshape(3, 1), columns)


@pytest.mark.parametrize("dtype", ["bool", "int32", "uint64", "float32", "float64"])
def test_moves_scans_and_sorts(dtype):
    x = numbers(dtype)

    def moves(x):
        square = x.reshape(5, 8)
        return [
            x[3:30:4], x[::-1], square.T, jnp.pad(square, ((1, 2), (0, 3))),
            lax.pad(x, x[0], [(-2, 3, 0)]), lax.pad(x, x[0], [(1, 2, 2)]), x[None], square[:, :1],
            jnp.concatenate([square, square[1:]], 0), jnp.broadcast_to(x[:, None], (40, 3)),
            lax.dynamic_slice(x, (np.int32(38),), (5,)), lax.broadcasted_iota(np.int32, (3, 4), 1),
            lax.dynamic_update_slice(x, x[:5], (np.int32(-3),)), jnp.max(square, 0),
            jnp.argmax(square, 1), jnp.sort(x), lax.sort((x, x[::-1]), num_keys=1),
            lax.sort((x, x[::-1], jnp.arange(40)), num_keys=2), jnp.min(square, 1),
            *jnp.unstack(square), *jnp.unstack(square, axis=1),
        ]  # fmt: skip

    assert_interprets(moves, x)
    if dtype in ("int32", "uint64"):
        assert_interprets(
            lambda x: [
                x.sum(),
                x.prod(),
                jnp.cumsum(x),
                lax.cumsum(x, reverse=True),
                lax.cummax(x),
            ],
            x,
        )
    if dtype == "bool":
        assert_interprets(lambda x: [x.any(), x.all(), x.sum()], x)


@pytest.mark.parametrize("dtype", ["bool", "int8", "float64", "float16", "bfloat16"])
def test_broadcasts(dtype):
    x = np.arange(12).reshape(3, 4).astype(jnp.dtype(dtype))

    def broadcasts(x):
        return [
            jnp.broadcast_to(x, (2, 3, 4)), jnp.broadcast_to(x[:, :1], (3, 5)), x[None],
            jnp.broadcast_to(x.T[:, None], (4, 2, 3)), jnp.broadcast_to(x[1, 2], (2, 2)),
            *jnp.split(x, [1, 2], 1), jnp.broadcast_to(x[:0], (2, 0, 4)),
            jnp.broadcast_to(x[:, 2], (2, 3)),
        ]  # fmt: skip

    assert_interprets(broadcasts, x)


@pytest.mark.parametrize("shape", [(8,), (8, 3)])
@pytest.mark.parametrize("mode", ["clip", "fill", "promise_in_bounds"])
def test_gathers_and_scatters(shape, mode):
    rows = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    ids = INDICES[:, 0].clip(0, 7) if mode == "promise_in_bounds" else INDICES[:, 0]
    ids = np.where(ids < 0, 99, ids)
    updates = np.arange(6 * rows[0].size, dtype=np.int32).reshape(6, *shape[1:]) - 4
    assert_interprets(lambda x, ids: x.at[ids].get(mode=mode), rows, ids)
    assert_interprets(lambda x, ids: x.astype(np.float64).at[ids].get(mode=mode), rows, ids)
    mode = {"fill": "drop"}.get(mode, mode)
    for method in ("set", "add", "mul", "min", "max"):
        if method == "set":
            ids = np.unique(ids)
            updates = updates[: len(ids)]
        assert_interprets(
            lambda x, ids, new, method=method: getattr(x.at[ids], method)(new, mode=mode),
            rows,
            ids,
            updates,
        )


@pytest.mark.parametrize("method", ["add", "mul"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_floats_are_scattered_in_the_order_of_the_rows(dtype, method):
    rng = np.random.default_rng(3)
    updates = rng.normal(1, 0.1, 5000).astype(dtype)
    ids = rng.integers(0, 7, 5000).astype(np.int32)
    start = np.full(7, 0.7, dtype)
    assert_interprets(lambda x, ids, new: getattr(x.at[ids], method)(new), start, ids, updates)


@pytest.mark.parametrize("dtype", ["int32", "uint64", *FLOATS])
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("method", ["scan", "sort", "compare_all"])
def test_searches(dtype, side, method):
    x = numbers(dtype)
    x = np.sort(x[x == x])
    search = functools.partial(jnp.searchsorted, side=side, method=method)
    assert_interprets(search, x, numbers(dtype, 1))


@pytest.mark.parametrize("dtype", ["bool", *INTEGERS, *FLOATS])
def test_selections_of_many_rows(dtype):
    rng = np.random.default_rng(0)
    num_rows = (1 << 14) + 5
    # The bits of NaN and -0.0 are kept.
    x = np.resize(numbers(dtype), num_rows)
    y = rng.permutation(x)
    late = np.arange(num_rows) == num_rows - 1
    flags = [rng.random(num_rows) < share for share in (0.0, 0.5, 1.0)]

    def selected(x, y, *flags):
        one = lax.full_like(x, y[3])
        pairs = [(x, y), (x, one), (one, y)]
        return [lax.select(one, *pair) for one in flags for pair in pairs]

    assert_interprets(selected, x, y, *flags, late, ~late)


@pytest.mark.parametrize("mode", ["clip", "fill", "promise_in_bounds"])
@pytest.mark.parametrize("ids", ["int8", "uint8", "int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32"])
def test_gathers_of_many_rows(dtype, ids, mode):
    ends = np.iinfo(ids)
    inside = np.resize(np.arange(100, dtype=ids), 5000)
    outside = np.array([ends.min, ends.max, 120, 100], ids)
    row_ids = inside if mode == "promise_in_bounds" else np.append(inside, outside)
    rows = np.resize(numbers(dtype), 100)

    def gathered(rows, row_ids):
        take = functools.partial(rows.at[row_ids].get, mode=mode)
        if mode == "fill":
            return [take(), take(fill_value=1), rows.at[row_ids.reshape(2, -1)].get(mode=mode)]
        return [take(), rows.at[row_ids.reshape(2, -1)].get(mode=mode)]

    assert_interprets(gathered, rows, row_ids)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "complex64"])
def test_moves_of_other_dtypes(dtype):
    x = np.random.default_rng(0).normal(size=40).astype(dtype)
    assert_interprets(
        lambda x: [
            x[3:9],
            x[::-1],
            jnp.concatenate([x, x]),
            jnp.stack([x, x], 1),
            x.reshape(5, 8).T,
        ],
        x,
    )
    with pytest.raises(NotInterpretable):
        Program(jax.jit(lambda x: x.at[INDICES[:, 0]].get(mode="fill") + x[0]).trace(x).jaxpr)


def test_control_flow():
    x = numbers("int64")
    functions = [
        lambda x: lax.cond(x[0] > 5, lambda x: x + 1, lambda x: x - 1, x),
        lambda x: lax.while_loop(lambda i: i < 1000, lambda i: i * 2, 1 + x[3] % 7),
        lambda x: lax.scan(lambda c, r: (c + r, c * r), x[0], x, reverse=True),
        lambda x: lax.switch(x[1] % 3, [lambda: x[1], lambda: x[2], lambda: x[3]]),
        lambda x: lax.map(lambda row: row * 2, x),
        # A loop without results.
        lambda x: (lax.map(lambda row: (), x), x + 1)[1],
        lambda x: jax.jit(lambda y: y + 1)(x) * x,
    ]
    for function in functions:
        assert_interprets(function, x)


@pytest.mark.parametrize(
    "function",
    [
        jnp.exp, lambda x: x @ x, lambda x: lax.sort((x, x), num_keys=1, is_stable=False),
        lambda x: x.at[INDICES[:, 0]].min(x[:6]), lambda x: lax.pad(x, x[0], [(4, -42, 0)]),
    ],
)  # fmt: skip
def test_an_equation_without_a_rule_is_refused(function):
    x = numbers("float64")
    with pytest.raises(NotInterpretable, match="has no rule"):
        Program(jax.jit(function).trace(x).jaxpr)


def test_constants_and_literals_have_the_shape_of_the_result():
    x = numbers("float64")
    assert_interprets(
        lambda x: [jnp.zeros(5) + 2.0, jnp.ones(4) * 3.0, 2.0 + jnp.zeros(3), x[:3] - jnp.zeros(3)],
        x,
    )


def test_a_branch_that_is_not_interpretable_raises_only_if_it_is_taken():
    def root_or_exponential(x):
        return lax.cond(x[0] > 0, jnp.sqrt, jnp.exp, x)

    x = np.array([4.0, 9.0])
    assert_interprets(root_or_exponential, x)
    program = Program(jax.jit(root_or_exponential).trace(x).jaxpr)
    with pytest.raises(NotInterpretable):
        interpret(program, [-x])


def test_an_equation_with_other_parameters_is_not_interpretable():
    closed = jax.jit(lambda x: x[::-1]).trace(np.ones(3)).jaxpr
    (equation,) = closed.jaxpr.eqns
    renamed = closed.jaxpr.replace(eqns=[equation.replace(params={"axes": (0,)})])
    with pytest.raises(NotInterpretable, match="rev without a parameter 'dimensions'"):
        Program(ClosedJaxpr(renamed, closed.consts))


def test_what_is_not_used_is_not_computed():
    def first(x):
        return x[0], jnp.exp(x)

    program = Program(jax.jit(lambda x: first(x)[0]).trace(np.ones(3)).jaxpr)
    assert program.num_steps == 2  # A slice and a reshape.
