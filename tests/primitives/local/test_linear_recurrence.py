# SPDX-License-Identifier: Apache-2.0
"""`local.linear_recurrence` against the NumPy oracle."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jax.test_util import check_grads
from jaxframes.primitives import local
from on_shards import noting

# Few and many rows, narrow and wide ones.
SHAPES = [(0,), (1,), (2, 3), (64,), (65,), (300, 3), (1000,), (90, 70)]
SETTINGS = [{}, {"reverse": True}, {"initial": 2}, {"initial": 3, "reverse": True, "num_valid": 40}]


def steps_of(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    a, b = rng.uniform(-1, 1, (2, *shape))
    if np.dtype(dtype).kind == "c":
        a, b = a * np.exp(1j * b), b + 1j * a
    scale = 3 if np.dtype(dtype).kind == "i" else 1
    return (scale * a).astype(dtype), (scale * b).astype(dtype)


def head_flags(num_rows):
    return np.random.default_rng(1).random(num_rows) < 0.1


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64", "complex128"])
def test_matches_the_oracle(dtype):
    for number, shape in enumerate(SHAPES):
        a, b = steps_of(shape, dtype)
        settings = dict(SETTINGS[number % len(SETTINGS)])
        settings["num_valid"] = min(settings.get("num_valid", shape[0]), shape[0])
        for flags in (None, head_flags(shape[0])):
            with noting((shape, settings, flags is None)):
                actual = local.linear_recurrence(a, b, head_flags=flags, **settings)
                expected = oracles.linear_recurrence(a, b, head_flags=flags, **settings)
                assert actual.dtype == b.dtype
                rtol = 1e-4 if dtype == "float32" else 1e-9
                np.testing.assert_allclose(actual, expected, rtol=rtol, atol=rtol)


def test_one_factor_for_each_row_and_segments_by_id():
    a, b = steps_of((70,), "float64")[0], steps_of((70, 2), "float64")[1]
    ids = np.cumsum(head_flags(70))
    actual = local.linear_recurrence(a, b, segment_ids=ids, initial=np.array([1.0, 2.0]))
    expected = oracles.linear_recurrence(
        np.repeat(a[:, None], 2, 1), b, head_flags=np.diff(ids, prepend=-1) > 0, initial=[1, 2]
    )
    np.testing.assert_allclose(actual, expected, rtol=1e-9)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_floats_of_16_bits_are_rounded_at_the_end(dtype):
    b = np.full(400, 2**-8)
    actual = local.linear_recurrence(jnp.ones(400, dtype), jnp.asarray(b, dtype))
    oracles.assert_same_bits(actual, jnp.asarray(np.cumsum(b), dtype))


def test_zeros_keep_their_signs_and_a_head_stops_what_is_not_finite():
    a, b = np.ones(4), np.array([-0.0, -0.0, np.inf, -0.0])
    heads = np.array([True, False, False, True])
    actual = local.linear_recurrence(a, b, head_flags=heads)
    oracles.assert_same_bits(actual, np.array([-0.0, -0.0, np.inf, -0.0]))


@pytest.mark.parametrize("num_rows", [5, 90])
@pytest.mark.parametrize("reverse", [False, True])
def test_derivatives_of_two_orders(num_rows, reverse):
    a, b = steps_of((num_rows, 2), "float64")
    run = functools.partial(
        local.linear_recurrence, head_flags=head_flags(num_rows), reverse=reverse,
        num_valid=num_rows - 1,
    )  # fmt: skip
    solve = jax.jit(lambda a, b, initial: run(a, b, initial=initial))
    check_grads(solve, (a, b, np.array([0.5, 2.0])), order=2)


@pytest.mark.parametrize("reverse", [False, True])
def test_nan_of_padding_and_of_heads_stays_out_of_the_derivative(reverse):
    a, b = np.full(5, 0.5), np.ones(5)
    flags = np.array([True, False, True, False, True])
    a[3:] = np.nan
    # The factor of the row that starts the second segment is not used.
    a[2] = 0.5 if reverse else np.nan

    def total(a, b, flags, **settings):
        return local.linear_recurrence(a, b, head_flags=flags, reverse=reverse, **settings).sum()

    for_b = jax.grad(total, 1)(a, b, flags, num_valid=3)
    np.testing.assert_array_equal(for_b, [1, 1.5, 1, 0, 0] if reverse else [1.5, 1, 1, 0, 0])
    if reverse:
        by_initial = jax.grad(lambda initial: total(a, b, flags, num_valid=3, initial=initial))(2.0)
        np.testing.assert_array_equal(by_initial, 0.5 + 0.25 + 0.5)


def test_the_derivative_is_a_recurrence_in_the_other_direction():
    a, b = steps_of((300, 2), "float64")
    weights = steps_of((300, 2), "float64", seed=5)[1]
    of_b = jax.grad(lambda b: (local.linear_recurrence(a, b) * weights).sum())(b)
    expected = oracles.linear_recurrence(np.roll(a, -1, 0), weights, reverse=True)
    np.testing.assert_allclose(of_b, expected, rtol=1e-9)


@pytest.mark.parametrize("num_rows", [2**10, 2**20])
def test_the_size_of_the_program_does_not_depend_on_the_rows(num_rows):
    rows = jax.ShapeDtypeStruct((num_rows,), jnp.float32)
    of_a = jax.grad(lambda a, b: local.linear_recurrence(a, b).sum())
    assert len(jax.jit(of_a).lower(rows, rows).as_text().splitlines()) < 700


ROWS = np.arange(5.0)
ERRORS = [
    (
        lambda: local.linear_recurrence(ROWS, ROWS.astype(np.float32)),
        TypeError,
        "linear_recurrence: a and b must have the same dtype, got float64[5] and float32[5]. "
        "Cast one of them.",
    ),
    (
        lambda: local.linear_recurrence(ROWS > 1, ROWS > 2),
        TypeError,
        "linear_recurrence: b must be an array of numbers, got bool[5].",
    ),
    (
        lambda: local.linear_recurrence(ROWS[:4], ROWS),
        ValueError,
        "linear_recurrence: a must have the shape of b or one factor for each row, got float64[4] "
        "for float64[5].",
    ),
    (
        lambda: local.linear_recurrence(ROWS, ROWS, initial=ROWS),
        ValueError,
        "linear_recurrence: initial must be like a row of b, float64[], got float64[5].",
    ),
    (
        lambda: local.linear_recurrence(ROWS, ROWS, head_flags=ROWS > 1, segment_ids=ROWS),
        ValueError,
        "linear_recurrence: segments are given by head_flags or by segment_ids, got both.",
    ),
]


@pytest.mark.checks_arguments
@pytest.mark.parametrize(("call", "error", "message"), ERRORS)
def test_refuses(call, error, message):
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == message
