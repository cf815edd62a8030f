# SPDX-License-Identifier: Apache-2.0
"""Global calls in control flow, under donation and through export; the rest is in test_matrix."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from compiled_program import CompiledProgram
from jaxframes import primitives, shardings
from jaxframes.primitives.kernels.base._library import TARGETS
from key_distributions import make_keys
from on_shards import mesh_of

# One length that the shards divide and one that they do not.
LENGTHS = [24, 22]


def test_a_batch_moves_its_rows_as_often_as_one_sort():
    run = jax.jit(jax.vmap(lambda keys: primitives.radix_sort(keys, mesh_of(8))))
    keys = jax.ShapeDtypeStruct((4, 1 << 15), jnp.int32)
    program = CompiledProgram(run.lower(keys).compile().as_text())
    assert program.most_executed("all-to-all") == 2


def test_a_scan_body_sorts():
    keys = make_keys("uniform", 24, np.dtype(np.int32))

    def step(keys, factor):
        keys = primitives.radix_sort(keys * factor, mesh_of(3), descending=True)
        return keys, keys[0]

    actual = jax.jit(functools.partial(jax.lax.scan, step))(keys, jnp.array([1, -1, 1], jnp.int32))
    firsts, expected = [], keys
    for factor in (1, -1, 1):
        expected = np.sort(expected * np.int32(factor))[::-1]
        firsts.append(expected[0])
    oracles.assert_same_bits(actual, (expected, np.array(firsts)))


@pytest.mark.parametrize("num_rows", LENGTHS)
def test_donated_arguments_are_reused_safely(num_rows):
    mesh = mesh_of(3)
    keys = make_keys("uniform", num_rows, np.dtype(np.int32))
    values = make_keys("uniform", num_rows, np.dtype(np.int32), seed=1)

    def sort(keys, values):
        return primitives.radix_sort(keys, mesh, values=values)

    place = shardings.row_sharded(mesh) if num_rows == LENGTHS[0] else shardings.replicated(mesh)
    expected = oracles.sort(keys, values=values)
    kept, donated = (jax.device_put((keys, values), place) for _ in range(2))
    for _ in range(3):
        oracles.assert_same_bits(jax.jit(sort)(*kept), expected)
    oracles.assert_same_bits(kept, (keys, values))
    oracles.assert_same_bits(jax.jit(sort, donate_argnums=(0, 1))(*donated), expected)
    assert all(array.is_deleted() for array in donated)


def test_an_eager_call_leaves_its_arguments_alone():
    mesh = mesh_of(3)
    keys = jax.device_put(np.arange(24, dtype=np.int32)[::-1].copy(), shardings.row_sharded(mesh))
    primitives.radix_sort(keys, mesh)
    primitives.partition(keys, keys % 3, mesh)
    assert keys.tolist() == list(range(23, -1, -1))


@pytest.mark.usefixtures("x64_off")
def test_without_x64():
    mesh = mesh_of(8)
    keys = make_keys("zipf", 65, np.dtype(np.float32)), make_keys("uniform", 65, np.dtype(np.int16))
    values = np.arange(65, dtype=np.int32)
    expected = oracles.sort(keys, values=values, descending=(True, False))
    actual = primitives.radix_sort(keys, mesh, values=values, descending=(True, False))
    oracles.assert_same_bits(actual, expected)
    order = primitives.radix_argsort(keys, mesh)
    oracles.assert_same_bits(order, oracles.argsort(keys))
    oracles.assert_same_bits(tuple(primitives.top_k(keys[0], 5, mesh)), oracles.top_k(keys[0], 5))
    sent = primitives.partition(values, values % 3, mesh)
    assert sent.count.tolist() == [22, 22, 21, 0, 0, 0, 0, 0]


# Export


@pytest.mark.parametrize("on_mesh", [False, True])
def test_a_sort_survives_export(on_mesh):
    mesh = mesh_of(3) if on_mesh else None
    keys = make_keys("nan_inf_sprinkled", 24, np.dtype(np.float32))
    values = np.arange(24, dtype=np.int32)
    sort = jax.jit(lambda keys, values: primitives.radix_sort(keys, mesh, values=values))
    exported = jax.export.export(
        sort,
        disabled_checks=[jax.export.DisabledSafetyCheck.custom_call(name) for name in TARGETS],
    )(keys, values)
    restored = jax.export.deserialize(exported.serialize())
    arguments = (keys, values)
    if on_mesh:
        # A program of several devices needs arrays on the same number of devices.
        arguments = jax.device_put(arguments, shardings.replicated(mesh))
    actual = jax.jit(restored.call)(*arguments)
    oracles.assert_same_bits(actual, oracles.sort(keys, values=values))


@pytest.mark.parametrize("platform", ["cuda", "rocm", "tpu"])
def test_a_sort_is_exported_for_other_platforms(platform):
    keys = jax.ShapeDtypeStruct((24,), jnp.float64)
    exported = jax.export.export(
        jax.jit(lambda keys: primitives.radix_sort(keys, values=keys)), platforms=[platform]
    )(keys)
    assert exported.platforms == (platform,)
