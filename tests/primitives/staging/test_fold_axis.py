# SPDX-License-Identifier: Apache-2.0
"""`fold_axis`: a key for each shard."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, PartitionSpec
from jaxframes.primitives.staging import fold_axis

MESH = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)


def raises(error, message):
    return pytest.raises(error, match=f"(?m)^{re.escape(message)}$")


def on_each(function, *arguments):
    """Results of a function of replicated arguments on each device of the mesh."""
    mapped = jax.shard_map(
        lambda *arguments: function(*arguments)[None, None],
        mesh=MESH,
        in_specs=PartitionSpec(),
        out_specs=PartitionSpec("data", "model"),
        check_vma=False,
    )
    return np.asarray(jax.jit(mapped)(*arguments))


@pytest.mark.parametrize("make", [jax.random.key, jax.random.PRNGKey])
@pytest.mark.parametrize(
    ("axis_name", "number_of"),
    [
        ("data", lambda d, m: d),
        ("model", lambda d, m: m),
        (("data", "model"), lambda d, m: 4 * d + m),
    ],
)
def test_folds_the_position_on_the_axis(make, axis_name, number_of):
    key = make(7)
    drawn = on_each(lambda key: jax.random.bits(fold_axis(key, axis_name)), key)
    expected = [
        [int(jax.random.bits(jax.random.fold_in(key, number_of(d, m)))) for m in range(4)]
        for d in range(2)
    ]
    np.testing.assert_array_equal(drawn, expected)


def test_keys_are_distinct_and_reproducible():
    def draw(seed):
        fold = lambda key: jax.random.bits(fold_axis(key, ("data", "model")), (4,), jnp.uint32)  # noqa: E731
        return on_each(fold, jax.random.key(seed)).reshape(8, 4)

    assert len({tuple(row) for seed in (0, 1) for row in draw(seed)}) == 16
    np.testing.assert_array_equal(draw(0), draw(0))


def test_under_vmap_with_an_axis_name():
    keys = jax.vmap(lambda _: fold_axis(jax.random.key(0), "i"), axis_name="i")(jnp.arange(3))
    expected = jax.vmap(lambda i: jax.random.fold_in(jax.random.key(0), i))(jnp.arange(3))
    assert (keys == expected).all()


# Errors


def test_the_axes_that_there_are():
    message = (
        "fold_axis: axis_name must be among the axes of the enclosing jax.shard_map, "
        "('data', 'model'), got 'rows'. Choose one of them."
    )
    with raises(ValueError, message):
        on_each(lambda key: jax.random.bits(fold_axis(key, "rows")), jax.random.key(0))


def test_outside_shard_map():
    message = (
        "fold_axis: it must be called inside jax.shard_map, got axis_name='data' without any axis "
        "in scope. Map a function that calls it over a mesh with that axis."
    )
    with raises(ValueError, message):
        fold_axis(jax.random.key(0), "data")


@pytest.mark.checks_arguments
@pytest.mark.parametrize(
    ("key", "got"), [(3, "int"), (jnp.float32(3), "float32[]"), (jnp.zeros((2, 2)), "float64[2,2]")]
)
def test_one_random_key(key, got):
    message = f"fold_axis: key must be one random key, got {got}. Make it with jax.random.key."
    with raises(TypeError, message):
        fold_axis(key, "data")


@pytest.mark.checks_arguments
def test_a_name():
    message = "fold_axis: axis_name must be the name of a mesh axis, or a tuple of names, got 0."
    with raises(TypeError, message):
        fold_axis(jax.random.key(0), 0)
