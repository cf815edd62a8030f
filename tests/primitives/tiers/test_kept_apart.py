# SPDX-License-Identifier: Apache-2.0
"""Operations on floats that XLA would join have the bits of NumPy where they are kept apart."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from interpreted_programs import assert_interprets_apart, numbers
from jax import lax
from jaxframes.primitives import backend, staging
from jaxframes.primitives.tiers import _background, _entry, _tiered

pytestmark = pytest.mark.skipif(backend().cpu != "native", reason="interpreted with the kernels")

CONSTANT = np.random.default_rng(2).normal(size=40)


def broadcast(x):
    return jnp.broadcast_to(x, 40)


JOINED = [
    lambda x: x * x + 1, lambda x: 1 - jnp.where(x > 0, x * x, 0), lambda x: (x + 0.1) + 0.2,
    lambda x: x / x[::-1] / x, lambda x: 1 / jnp.sqrt(x), lambda x: x * 0.3 * 0.7,
    lambda x: lax.fori_loop(0, 3, lambda i, y: y * x + i, x) + x,
    lambda x: lax.cond(x[0] > 0, lambda x: x * x, lambda x: x, x) - x,
    lambda x: lax.cond(x[0] > 0, lambda x: x * x - x, lambda x: x / 7 - x, x),
    lambda x: lax.scan(lambda c, r: (c * r + 0.1, c * 3 - r), x[0], x * x),
    lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * x - 1), (0, x)),
    lambda x: jnp.max((x * x)[:, None], 1) + x, lambda x: lax.sort((x * x)[:, None])[:, 0] + x,
    lambda x: x.astype(np.float32)[::2].astype(np.float64) * 3,
    lambda x: x - jnp.where(x[::-1] > 0, x, 0), lambda x: x * jnp.where(x > 0, 1.0, x),
    lambda x: x / jnp.where(x > 0, x, 1.0)[::-1],
    lambda x: x * (x > 0).astype(x.dtype)[::-1],
    lambda x: x / 3, lambda x: x / -CONSTANT, lambda x: x / (CONSTANT[::-1] + 1),
    lambda x: x / x[0], lambda x: x / -x[:1], lambda x: (x + 1) / (x[0] + x[1]),
    lambda x: x / jnp.sqrt(jnp.asarray(CONSTANT[:1]) * 2), lambda x: lax.integer_pow(x, 3) + x,
    lambda x: x + jnp.zeros(40).at[jnp.arange(40) % 9].add(x * 0.1),
    lambda x: jnp.ones(40).at[jnp.arange(40) % 9].add(x) + x,
    lambda x: x * x[::-1] + jnp.zeros(40).at[jnp.arange(40) % 9].add(x * 0.1),
    lambda x: x / (broadcast(x[0] * x[1]) * broadcast(x[2] * x[3])),
    lambda x: x / jnp.sqrt(broadcast(jnp.abs(x[0] * x[1]))),
    lambda x: x / (broadcast(x[0]) * 0.3 * 0.7),
    lambda x: x / (broadcast(x[0] * x[1] + 0.1) + broadcast(x[2] * x[3])),
    lambda x: (x * 3.1) / lax.dynamic_slice(broadcast(x[0]), (jnp.argmax(x) % 3,), (40,)),
    lambda x: x / 2.0**1023 + x, lambda x: jnp.split(x * x, [7, 9])[1] - x[:2],
    lambda x: jnp.nextafter(x * x, x) - x,
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(JOINED)))
def test_operations_that_xla_joins(number):
    function = JOINED[number]
    x = np.random.default_rng(number).normal(size=40)
    assert assert_interprets_apart(function, x).is_apart
    assert_interprets_apart(function, numbers("float64"))


def steps(seed):
    """A function of three columns of floats: each step takes results of earlier ones."""
    rng = np.random.default_rng(seed)
    binary = [
        lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a / b,
        lambda a, b: jnp.where(a > b, b, 0.0), lambda a, b: jnp.maximum(a, b), lambda a, b: -a,
        lambda a, b: a * 3.1 + b, lambda a, b: a / 7, lambda a, b: a - b[0], lambda a, b: a / b[1],
        lambda a, b: a * jnp.max(b), lambda a, b: a * (b > 0).astype(a.dtype),
        lambda a, b: jnp.floor(a) * b,
        lambda a, b: lax.square(a), lambda a, b: jnp.sqrt(jnp.abs(a)), lambda a, b: a[::-1] * b,
        lambda a, b: lax.cond(a[0] > 0, lambda a, b: a * b + a, lambda a, b: a / b, a, b),
        lambda a, b: lax.fori_loop(0, 2, lambda i, c: c * a + b, b),
    ]  # fmt: skip
    num_steps = int(rng.integers(2, 12))
    chosen = [
        (binary[rng.integers(len(binary))], *rng.integers(0, 3 + at, 2)) for at in range(num_steps)
    ]

    def function(*columns):
        values = list(columns)
        for step, left, right in chosen:
            values.append(step(values[left], values[right]).astype(columns[0].dtype))
        return values[-1], values[-2]

    return function


@pytest.mark.parametrize("seed", range(40))
def test_programs_of_several_steps(seed):
    rng = np.random.default_rng(seed)
    dtype = ("float32", "float64")[seed % 2]
    columns = rng.normal(size=(3, 300)).astype(dtype)
    if seed % 3 == 0:
        columns = [numbers(dtype, seed + at) for at in range(3)]
    assert_interprets_apart(steps(seed), *columns)


@pytest.mark.parametrize("wrap", [np.asarray, jnp.asarray])
def test_a_result_is_the_same_before_and_after_the_program_is_compiled(monkeypatch, wrap):
    for module in (_tiered, _entry):
        monkeypatch.setattr(module, "mode", lambda: "auto")
    monkeypatch.setattr(_entry.Entry, "compile_seconds", 1e9)

    @staging.tiered
    def standard(x, count, *, scale):
        center = jnp.max(x) / count
        return {"scores": (x - center) * (x - center) * scale + x / 3, "center": center * 0.7}

    x = wrap(np.random.default_rng(0).normal(size=1000))
    first = standard(x, 7, scale=0.3)
    (entry,) = standard._entries.values()
    assert entry.compiled is None
    monkeypatch.setattr(_entry.Entry, "compile_seconds", 0.0)
    standard(x, 7, scale=0.3)
    _background.wait_until_compiled()
    assert entry.compiled is not None
    later = standard(x, 7, scale=0.3)
    assert later.keys() == first.keys()
    for name, value in first.items():
        assert (later[name].dtype, later[name].shape) == (value.dtype, value.shape)
        assert np.asarray(later[name]).tobytes() == np.asarray(value).tobytes()
    numpy_center = np.max(np.asarray(x)) / 7
    numpy_scores = (np.asarray(x) - numpy_center) ** 2 * 0.3 + np.asarray(x) / 3
    np.testing.assert_array_equal(first["scores"], numpy_scores)


def test_devices_are_kept():
    device = jax.devices()[-1]
    product = staging.tiered(lambda x: x * x + 1 / x)
    x = jax.device_put(np.arange(1.0, 9.0), device)
    results = [product(x) for _ in range(_entry._MOST_INTERPRETED_CALLS + 2)]
    _background.wait_until_compiled()
    assert product(x).devices() == results[-1].devices() == {device}


def compiled_after(function, *arguments):
    """The results before and after the program is compiled, and the entry."""
    first = function(*arguments)
    entry = next(iter(function._entries.values()))
    entry.compile()
    return first, function(*arguments), entry


@pytest.mark.parametrize(
    ("dtype", "step"),
    [
        ("bfloat16", lambda a, b: a / b), ("float16", lambda a, b: a / b + b),
        ("complex64", lambda a, b: jnp.sqrt(a) * b), ("complex128", lambda a, b: a / b),
        ("int32", lambda a, b: a // b), ("bfloat16", lambda a, b: jnp.sign(a) * b),
        ("float32", lambda a, b: a / b * b - a),
    ],
)  # fmt: skip
def test_constants(dtype, step):
    @staging.tiered
    def function(x):
        folded = step(jnp.full(3, 5, dtype), jnp.full(3, 2, dtype))
        return folded, x * x + 1

    first, later, _ = compiled_after(function, np.arange(3.0))
    assert np.asarray(first[0]).tobytes() == np.asarray(later[0]).tobytes()
    expected = jax.jit(step)(jnp.full(3, 5, dtype), jnp.full(3, 2, dtype))
    np.testing.assert_allclose(
        np.asarray(first[0], complex), np.asarray(expected, complex), rtol=1e-6
    )


def test_transfers_that_are_not_allowed_do_not_happen():
    function = staging.tiered(lambda x: x * x + 1 / x)
    x = jax.device_put(np.arange(1.0, 9.0))
    first, _, entry = compiled_after(function, x)
    with jax.transfer_guard("disallow"):
        later = function(x)
    assert entry.compiled is not None
    np.testing.assert_array_equal(first, later)


def test_places_are_those_of_the_call():
    device = jax.devices()[-1]
    sharding = jax.sharding.SingleDeviceSharding(device)
    placed = staging.tiered(lambda x: x * x + 1 / x, out_shardings=sharding)
    x = np.arange(1.0, 9.0)
    assert {one.device for one in compiled_after(placed, x)[:2]} == {device}
    function = staging.tiered(lambda x: x * x + 1 / x)
    with jax.default_device(device):
        assert {one.device for one in compiled_after(function, x)[:2]} == {device}


def test_parts_of_64_bits_without_x64_mode_are_compiled():
    @staging.tiered
    def function(x):
        with jax.enable_x64(True):
            return (jnp.square(x.astype(np.float64)) + 1).astype(np.float32)

    x = np.random.default_rng(0).normal(size=64).astype(np.float32)
    with jax.enable_x64(False):
        first, later, _ = compiled_after(function, x)
    assert first.shape == later.shape == (64,)
    np.testing.assert_array_equal(first, later)
    np.testing.assert_allclose(first, x.astype(np.float64) ** 2 + 1, rtol=1e-6)
