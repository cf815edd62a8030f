# SPDX-License-Identifier: Apache-2.0
"""Leaves of a checkpoint: their names and kinds, and which of them cannot be saved or read."""

import os
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import PartitionSpec as P
from jaxframes import shardings
from two_processes import run_all


def raises(error, message):
    return pytest.raises(error, match=f"(?m)^{re.escape(message)}$")


def test_leaves_with_paths_of_one_spelling_come_back(tmp_path):
    tree = {"a/b": np.arange(2), "a": {"b": np.arange(3)}}
    shardings.save(tmp_path, tree)
    restored = shardings.restore(tmp_path, jax.tree.map(np.zeros_like, tree))
    np.testing.assert_array_equal(restored["a/b"], [0, 1])
    np.testing.assert_array_equal(restored["a"]["b"], [0, 1, 2])


def test_scalars_of_numpy_stay_scalars(tmp_path):
    shardings.save(tmp_path, {"scale": np.float32(0.1), "rows": np.int64(2**40)})
    restored = shardings.restore(tmp_path, {"scale": np.float32(0), "rows": np.int64(0)})
    assert restored == {"scale": np.float32(0.1), "rows": np.int64(2**40)}
    assert jax.tree.map(type, restored) == {"scale": np.float32, "rows": np.int64}


def test_numbers_are_read_as_such_with_specs(tmp_path, x64_off):
    tree = {"step": 2**40, "done": True, "scale": np.float64(0.1), "w": jnp.ones(4)}
    shardings.save(tmp_path, tree)
    like = {"step": 0, "done": False, "scale": np.float64(0), "w": jnp.zeros(4)}
    restored = shardings.restore(tmp_path, like, P(), mesh=shardings.make_mesh(2))
    assert jax.tree.map(type, restored)["step"] is int
    assert restored.pop("w").sharding.is_fully_replicated
    assert restored == {"step": 2**40, "done": True, "scale": np.float64(0.1)}


def test_keys_of_several_processes(tmp_path):
    script = """
from jax.sharding import PartitionSpec as P

key = jax.random.split(jax.random.key(3), 4)
try:
    shardings.save({folder!r}, {{"key": key}})
except ValueError as error:
    refused = str(error)
placed = shardings.place({{"key": key}}, mesh, P("rows"))
shardings.save({folder!r}, placed)
restored = shardings.restore({folder!r}, placed)["key"]
bits = jax.jit(jax.random.key_data, out_shardings=shardings.replicated(mesh))(restored)
np.testing.assert_array_equal(np.asarray(bits), jax.random.key_data(key))
print()
print(refused)
"""
    message = (
        "save: key must lie on devices of all processes, got key<fry>[4] on those of this process "
        "alone. Place the tree on a mesh first, with place(tree, mesh, P())."
    )
    outputs = run_all(script.format(folder=str(tmp_path)), num_processes=2, num_devices=2)
    assert [output.splitlines()[-1] for output in outputs] == [message] * 2


def test_the_checkpoint_just_saved_is_kept_after_a_return_to_an_earlier_step(tmp_path):
    for step in (10, 20, 30):
        shardings.save(tmp_path, {"step": step}, step)
    for step, left in ((11, [11, 30]), (12, [12, 30])):
        assert shardings.save(tmp_path, {"step": step}, step, keep=2).exists()
        assert sorted(os.listdir(tmp_path)) == [f"step_{there:08}" for there in left]
        assert shardings.restore(tmp_path, {"step": 0}, step=step) == {"step": step}
    shardings.save(tmp_path, {"step": 13}, 13, keep=1)
    assert os.listdir(tmp_path) == ["step_00000013"]


def test_a_key_keeps_its_generator(tmp_path):
    key = jax.random.key(3, impl="rbg")
    shardings.save(tmp_path, {"key": key})
    restored = shardings.restore(tmp_path, {"key": jax.random.key(0, impl="rbg")})["key"]
    np.testing.assert_array_equal(jax.random.bits(restored), jax.random.bits(key))
    message = (
        "restore: key must be as in the checkpoint, uint32[4] of a rbg key, got uint32[4] of a "
        "unsafe_rbg key. Convert it after restoring."
    )
    with raises(ValueError, message):
        shardings.restore(tmp_path, {"key": jax.random.key(0, impl="unsafe_rbg")})
    words = shardings.restore(tmp_path, {"key": np.zeros(4, np.uint32)})["key"]
    np.testing.assert_array_equal(words, jax.random.key_data(key))


@pytest.mark.parametrize("dtype", [jnp.uint4, np.longdouble])
def test_a_dtype_that_orbax_does_not_write_is_named(tmp_path, dtype):
    with pytest.raises(TypeError, match=r"^save: w must have a dtype that orbax writes, got"):
        shardings.save(tmp_path, {"w": np.zeros(2, dtype)})
    assert os.listdir(tmp_path) == []


def test_records_are_no_numbers(tmp_path):
    message = (
        "save: w must be an array of numbers, a number, a random key or a frame, got "
        "[('x', '<i4')][3]. Keep it out of the tree, for example in a file of its own."
    )
    with raises(TypeError, message):
        shardings.save(tmp_path, {"w": np.zeros(3, [("x", "<i4")])})


def test_donated_and_traced_leaves_are_named(tmp_path):
    x = jnp.ones(3, jnp.float32)
    jax.block_until_ready(jax.jit(jnp.negative, donate_argnums=0)(x))
    message = (
        "save: w must not be donated or deleted, got a float32[3] that is. Save what the step "
        "returned."
    )
    with raises(ValueError, message):
        shardings.save(tmp_path, {"w": x})
    message = (
        "save: w must be concrete, got the traced float32[3]. Call it outside jit, on what the "
        "program returns."
    )
    with raises(TypeError, message):
        jax.jit(lambda w: shardings.save(tmp_path, {"w": w}))(np.ones(3, np.float32))
    assert os.listdir(tmp_path) == []
    shardings.save(tmp_path, {"w": jnp.ones(3)})


def test_arrays_of_64_bits_are_not_narrowed(tmp_path, x64_off):
    shardings.save(tmp_path, {"step": np.array([2**40])})
    message = (
        "restore: 64-bit arrays need JAX's x64 mode, got int64[1] at step. Call "
        'jax.config.update("jax_enable_x64", True) first, or read a NumPy array, without specs.'
    )
    with raises(TypeError, message):
        shardings.restore(tmp_path, {"step": jax.ShapeDtypeStruct((1,), np.int64)})
    with raises(TypeError, message):
        shardings.restore(
            tmp_path, {"step": np.zeros(1, np.int64)}, P(), mesh=shardings.make_mesh(1)
        )
    assert shardings.restore(tmp_path, {"step": np.zeros(1, np.int64)})["step"].tolist() == [2**40]
