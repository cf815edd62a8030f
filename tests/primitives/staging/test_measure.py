# SPDX-License-Identifier: Apache-2.0
"""`measure`: times that wait, memory, collectives and traces."""

import itertools
import re
import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import PartitionSpec
from jaxframes import shardings
from jaxframes.primitives.staging import Collectives, Measured, compiled_step, measure
from jaxframes.primitives.staging._collectives import collectives_in

SECONDS = 0.05
X = jax.ShapeDtypeStruct((3,), np.float64)


def raises(error, message):
    return pytest.raises(error, match=f"(?m)^{re.escape(message)}$")


def sleeps(x):
    """Takes a known time on the device, long after the call returned."""

    def sleep(x):
        time.sleep(SECONDS)
        return np.asarray(x)

    return jax.pure_callback(sleep, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def on_mesh(function, num_shards=4):
    rows = PartitionSpec("rows")
    mesh = shardings.make_mesh(num_shards)
    return jax.shard_map(function, mesh=mesh, in_specs=rows, out_specs=rows)


def test_each_call_is_timed_until_its_result_is_there():
    x = jnp.ones(3)
    measured = measure(sleeps, x, repeats=3)
    assert measured.warm_seconds >= SECONDS
    assert measured.cold_seconds >= SECONDS
    assert measured.num_traces == 1


def test_seconds_are_those_of_the_clock(monkeypatch):
    durations, now = iter([80.0, 1.0, 50.0, 2.0]), [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])

    def wait(x):
        now[0] += next(durations)
        return np.asarray(x)

    measured = measure(lambda x: jax.pure_callback(wait, X, x), jnp.ones(3), repeats=3)
    # The first call, and the median of the others.
    assert (measured.cold_seconds, measured.warm_seconds) == (80, 2)


def test_the_cold_call_traces_and_compiles_again():
    slow_to_trace = jax.jit(lambda x: time.sleep(SECONDS) or x + 1)
    x = jnp.ones(3)
    slow_to_trace(x)
    for fn in (slow_to_trace, compiled_step(lambda x: time.sleep(SECONDS) or x + 1)):
        for _ in range(2):
            measured = measure(fn, x, repeats=3)
            assert measured.cold_seconds >= SECONDS
            assert measured.num_traces == 1


def test_temporary_memory_is_that_of_the_program():
    def product(a, b):
        return jnp.tanh(a @ b) @ b

    a, b = jnp.ones((64, 128)), jnp.ones((128, 128))
    direct = jax.jit(product).lower(a, b).compile().memory_analysis().temp_size_in_bytes
    assert measure(product, a, b).temporary_bytes == direct > 0


def test_collectives_by_kind_with_their_bytes():
    def communicate(x):
        def body(total, _):
            return x + jax.lax.psum(total, "rows"), None

        total, _ = jax.lax.scan(body, jnp.zeros_like(x), None, length=5)
        gathered = jax.lax.all_gather(x, "rows")
        moved = jax.lax.ppermute(x, "rows", [(0, 1), (1, 0)])
        return total + gathered.sum(axis=0) + moved

    x = jnp.ones(4 * 256, jnp.float32)
    measured = measure(on_mesh(communicate), x, repeats=1)
    assert measured.collectives == {
        "all-gather": (1, 4 * 256 * 4),
        "all-reduce": (5, 5 * 256 * 4),
        "collective-permute": (1, 256 * 4),
    }
    assert measured.collectives["all-reduce"] == Collectives(count=5, bytes=5120)
    assert measure(jnp.sort, x).collectives == {}


def test_of_two_branches_the_one_with_most():
    def communicate(x):
        few = lambda x: jax.lax.psum(x[:8], "rows").sum() + x  # noqa: E731
        many = lambda x: jax.lax.psum(x, "rows").sum() + x  # noqa: E731
        return jax.lax.cond(jax.lax.psum(x[0], "rows") > 0, few, many, x)

    measured = measure(on_mesh(communicate), jnp.ones(4 * 64, jnp.float32))
    assert measured.collectives == {"all-reduce": (2, 64 * 4 + 4)}


def test_asynchronous_collectives_count_once():
    text = """HloModule m

%wrapped (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %r = bf16[2,8]{1,0:T(8,128)(2,1)} reduce-scatter(%p), dimensions={0}
}

ENTRY %main (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  %s = (f32[8]{0}, f32[32]{0}) all-gather-start(%x), dimensions={0}
  %d = f32[32]{0} all-gather-done(%s)
  %a = ((f32[8]{0}), f32[8]{0}) async-start(%x), calls=%wrapped
  %u = ((f32[8]{0}), f32[8]{0}) async-update(%a), calls=%wrapped
  %f = f32[8]{0} async-done(%u), calls=%wrapped
  ROOT %t = (s4[3]{0}, pred[5]{0}, c64[2]{0}, f8e4m3fn[8]{0}) all-to-all(%x, %x, %x, %x)
}
"""
    assert collectives_in(text) == {
        "all-gather": (1, 128),
        "all-to-all": (1, (12 + 40 + 128 + 64) // 8),
        "reduce-scatter": (1, 32),
    }


class NeverFound:
    """A static value that no cache finds again, because its hash changes."""

    def __init__(self):
        self.hashes = itertools.count()

    def __hash__(self):
        return next(self.hashes)


def test_a_planted_retrace_is_counted():
    step = compiled_step(lambda x, config: x + 1, static="config")
    x = jnp.ones(3)
    assert measure(step, x, {"size": 1}, repeats=4).num_traces == 1
    assert measure(step, x, {"size": NeverFound()}, repeats=4).num_traces == 5


def test_donated_arguments_stay_with_the_caller():
    x = jnp.ones(3)
    measured = measure(jax.jit(lambda x: x + 1, donate_argnums=0), x)
    assert measured.num_traces == 1
    np.testing.assert_array_equal(x, np.ones(3))


def test_no_field_is_a_ratio_of_times():
    assert Measured._fields == (
        "cold_seconds",
        "warm_seconds",
        "temporary_bytes",
        "collectives",
        "num_traces",
    )
    documented = f"{measure.__doc__}{Measured.__doc__}{measure(jnp.sort, jnp.ones(3))}".lower()
    assert "speedup" not in documented
    assert "speed-up" not in documented


# Errors


@pytest.mark.checks_arguments
@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: measure(jnp.ones(3)),
            TypeError,
            "measure: fn must be callable, got float64[3]. Pass the function and its arguments, "
            "not its result.",
        ),
        (
            lambda: measure(jnp.sort, jnp.ones(3), repeats=0),
            ValueError,
            "measure: repeats must be at least 1, got 0.",
        ),
        (
            lambda: jax.jit(lambda x: measure(jnp.sort, x))(jnp.ones(3)),
            TypeError,
            "measure: args must be concrete, got the traced float64[3] at args[0]. "
            "Call it outside jit.",
        ),
    ],
)
def test_wrong_uses(call, error, message):
    with raises(error, message):
        call()
