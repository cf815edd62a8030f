# SPDX-License-Identifier: Apache-2.0
"""`accumulate`: the mean over microbatches, its memory, meshes and errors."""

import itertools
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding, PartitionSpec
from jax.test_util import check_grads
from jaxframes import shardings
from jaxframes.primitives.staging import accumulate

ROWS = 16


def raises(error, message):
    return pytest.raises(error, match=f"(?m)^{re.escape(message)}$")


def loss(params, batch):
    hidden = jnp.tanh(batch["x"] @ params["w"])
    return jnp.mean((hidden.sum(axis=1) - batch["y"]) ** 2)


grad = jax.value_and_grad(loss)


def problem(rows=ROWS, width=5, dtype=np.float32):
    rng = np.random.default_rng(0)
    params = {"w": rng.normal(size=(3, width)).astype(dtype)}
    batch = {
        "x": rng.normal(size=(rows, 3)).astype(dtype),
        "y": rng.normal(size=rows).astype(dtype),
    }
    return params, batch


def assert_close(one, other, tolerance=1e-6):
    scale = max(float(np.abs(leaf).max()) for leaf in jax.tree.leaves(other))
    for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * scale)


@pytest.mark.parametrize("jitted", [False, True])
@pytest.mark.parametrize("steps", [1, 2, 4, 8])
def test_equals_the_full_batch(steps, jitted):
    params, batch = problem()
    run = jax.jit(accumulate, static_argnums=(0, 3)) if jitted else accumulate
    assert_close(run(grad, params, batch, steps), grad(params, batch))


def test_microbatches_are_every_stepth_row():
    seen = []

    def note(params, rows):
        jax.debug.callback(lambda rows: seen.append(rows.tolist()), rows, ordered=True)
        return jnp.mean(rows)

    rows = np.arange(6, dtype=np.float32)
    assert float(accumulate(note, None, rows, 3)) == 2.5
    jax.effects_barrier()
    assert seen == [[0, 3], [1, 4], [2, 5]]


def test_temporary_memory_falls_with_steps():
    params, batch = problem(rows=4096, width=64)

    def temporary_bytes(steps):
        run = jax.jit(lambda params, batch: accumulate(grad, params, batch, steps))
        return run.lower(params, batch).compile().memory_analysis().temp_size_in_bytes

    used = [temporary_bytes(steps) for steps in (1, 2, 4, 8)]
    assert all(more > 1.5 * less for more, less in itertools.pairwise(used)), used


def test_sixteen_bits_are_summed_in_thirty_two():
    # In bfloat16 each sum from 256 on would drop the next 1.
    rows = jnp.ones(1024, jnp.bfloat16)
    mean = accumulate(lambda _, rows: jnp.mean(rows), None, rows, 1024)
    assert mean.dtype == jnp.bfloat16
    assert float(mean) == 1.0


def test_a_batch_may_hold_random_keys():
    keys = jax.random.split(jax.random.key(0), 8)

    def mean(_, keys):
        return jnp.mean(jax.vmap(lambda key: jax.random.uniform(key, dtype=jnp.float32))(keys))

    np.testing.assert_allclose(accumulate(mean, None, keys, 4), mean(None, keys), rtol=1e-6)


def test_results_may_have_any_structure():
    result = accumulate(
        lambda p, rows: (None, [jnp.mean(rows).astype(complex) * 1j]), None, np.ones(4), 2
    )
    assert result[0] is None
    assert complex(result[1][0]) == 1j


@pytest.mark.parametrize("steps", [2, 4])
def test_inside_shard_map(steps):
    params, batch = problem(rows=32)
    mesh = shardings.make_mesh(4)

    def shard(params, batch):
        # The value differs between shards. JAX sums the gradient in replicated parameters.
        value, gradient = accumulate(grad, params, batch, steps)
        return jax.lax.pmean(value, "rows"), jax.tree.map(lambda leaf: leaf / 4, gradient)

    rows, whole = PartitionSpec("rows"), PartitionSpec()
    run = jax.shard_map(shard, mesh=mesh, in_specs=(whole, rows), out_specs=whole)
    assert_close(jax.jit(run)(params, batch), grad(params, batch))


@pytest.mark.parametrize("axis_type", [AxisType.Auto, AxisType.Explicit])
def test_a_sharded_batch_stays_in_place(axis_type):
    params, batch = problem(rows=32)
    mesh = shardings.make_mesh(4, axis_type=axis_type)
    placed = jax.device_put(batch, NamedSharding(mesh, PartitionSpec("rows")))
    run = jax.jit(lambda params, batch: accumulate(grad, params, batch, 4))
    with jax.sharding.set_mesh(mesh):
        params = jax.device_put(params, NamedSharding(mesh, PartitionSpec()))
        assert_close(run(params, placed), grad(params, batch))
        program = run.lower(params, placed).compile().as_text()
    assert "all-to-all" not in program
    assert "all-gather" not in program
    assert "collective-permute" not in program


def test_a_python_number_has_a_mean():
    assert float(accumulate(lambda _, rows: 1.5, None, np.arange(4), 2)) == 1.5


def test_is_differentiable():
    params, batch = problem(dtype=np.float64)

    def value(params):
        return accumulate(loss, params, batch, 4)

    assert_close(jax.grad(value)(params), jax.grad(loss)(params, batch))
    check_grads(value, (params,), order=2)


# Errors


@pytest.mark.parametrize(
    ("rows", "steps", "message"),
    [
        (
            10,
            4,
            "accumulate: steps must divide the 10 rows of batch, got 4. "
            "Take steps=5, or pad the batch to 12 rows.",
        ),
        (
            7,
            8,
            "accumulate: steps must divide the 7 rows of batch, got 8. "
            "Take steps=7, or pad the batch to 8 rows.",
        ),
        (8, 0, "accumulate: steps must be at least 1, got 0."),
    ],
)
def test_steps_divide_the_batch(rows, steps, message):
    with raises(ValueError, message):
        accumulate(grad, *problem(rows), steps)


@pytest.mark.parametrize(("rows", "steps", "fits"), [(8, 4, 2), (12, 2, 1), (24, 4, 2)])
def test_explicit_shards_divide_a_microbatch(rows, steps, fits):
    params, batch = problem(rows)
    mesh = shardings.make_mesh(4, axis_type=AxisType.Explicit)
    placed = jax.device_put(batch, shardings.row_sharded(mesh))
    with jax.sharding.set_mesh(mesh):
        message = (
            "accumulate: the 4 shards of batch must divide the rows of a microbatch, got "
            f"{rows // steps} rows in each of {steps} steps, and batch float32[{rows}@rows,3]. "
            f"Take steps={fits}, or shard the batch over fewer devices."
        )
        with raises(ValueError, message):
            accumulate(grad, params, placed, steps)
        params = jax.device_put(params, shardings.replicated(mesh))
        result = jax.jit(accumulate, static_argnums=(0, 3))(grad, params, placed, fits)
    assert_close(result, grad(jax.device_get(params), batch))


@pytest.mark.checks_arguments
def test_only_a_function_has_a_mean():
    message = "accumulate: grad_fn must be callable, got float. Pass jax.grad of a mean loss."
    with raises(TypeError, message):
        accumulate(1.0, None, np.arange(4), 2)


@pytest.mark.checks_arguments
def test_steps_are_static():
    message = (
        "accumulate: steps must be a Python integer, because shapes depend on it, got the traced "
        "int64[]. Mark it static (static_argnames in jax.jit)."
    )
    with raises(TypeError, message):
        jax.jit(lambda steps: accumulate(grad, *problem(), steps))(np.int64(2))


def test_leaves_have_the_same_number_of_rows():
    message = (
        "accumulate: every leaf of batch must have the same number of rows along its leading "
        "axis, got int64[4], int64[5]."
    )
    with raises(ValueError, message):
        accumulate(grad, None, (np.arange(4), np.arange(5)), 1)


def test_only_floats_have_a_mean():
    message = (
        "accumulate: grad_fn must return floats, got int64[] at result['rows']. Cast it to float32."
    )
    with raises(TypeError, message):
        accumulate(lambda _, rows: {"rows": rows.sum()}, None, np.arange(4), 2)
