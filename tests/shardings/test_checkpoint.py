# SPDX-License-Identifier: Apache-2.0
"""Checkpoints: every bit on any mesh, and one that is complete after a death at any time."""

import os
import re
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pandas as pd
import pytest
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P
from jaxframes import shardings
from jaxframes.frame import from_pandas
from two_processes import run_all

ROWS = 1024


def mesh(**sizes):
    devices = jax.devices()[: int(np.prod(list(sizes.values())))]
    return shardings.mesh_spec(devices=devices, **sizes).build()


def matrix():
    bits = np.random.default_rng(0).integers(0, 2**32, (ROWS, ROWS), np.uint32)
    return bits.view(np.float32)


def placed(array, mesh, *spec):
    return jax.device_put(array, shardings.named(mesh, *spec))


def same_bits(left, right):
    np.testing.assert_array_equal(
        np.asarray(left).view(np.uint32), np.asarray(right).view(np.uint32)
    )


# What is saved comes back


def state():
    return {
        "layers": [
            {"w": jnp.array([-0.0, np.nan, np.inf]), "b": jnp.ones((2, 2), jnp.bfloat16)},
            {"w": np.arange(3, dtype=np.int8), "none": np.zeros((0, 3))},
        ],
        "step": 7,
        "rate": 0.25,
        "done": True,
        "flags": np.array([True, False]),
        "scale": jnp.float32(3),
        "key": jax.random.key(5),
        "a/b.c d": np.arange(2.0),
    }


def test_every_kind_of_leaf_comes_back(tmp_path):
    saved = state()
    folder = shardings.save(tmp_path, saved, 3)
    assert folder == tmp_path / "step_00000003"
    like = jax.tree.map(lambda leaf: leaf, state())
    like["step"], like["done"] = 0, False
    restored = shardings.restore(tmp_path, like)
    assert jax.random.key_data(restored["key"]).tolist() == [0, 5]
    assert jax.random.key_impl(restored["key"]) == jax.random.key_impl(saved["key"])
    del restored["key"], saved["key"]
    oracles.assert_same_bits(restored, saved)
    assert jax.tree.map(type, restored) == jax.tree.map(type, saved)
    # Nothing is pickled.
    assert not any(b"pickle" in file.read_bytes() for file in folder.rglob("*") if file.is_file())


def test_shapes_alone_describe_what_to_read(tmp_path):
    w = placed(matrix(), mesh(data=2, model=2), "data", "model")
    shardings.save(tmp_path, {"w": w})
    like = {"w": jax.ShapeDtypeStruct(w.shape, w.dtype, sharding=w.sharding)}
    restored = shardings.restore(tmp_path, like)["w"]
    assert restored.sharding == w.sharding
    same_bits(restored, w)
    like = {"w": jax.ShapeDtypeStruct(w.shape, w.dtype)}
    assert shardings.restore(tmp_path, like)["w"].devices() == {jax.devices()[0]}


def test_steps_are_named_and_the_newest_are_kept(tmp_path):
    for step in (1, 5, 20, 100):
        shardings.save(tmp_path, {"step": step}, step, keep=2)
    assert sorted(os.listdir(tmp_path)) == ["step_00000020", "step_00000100"]
    assert shardings.restore(tmp_path, {"step": 0}) == {"step": 100}
    assert shardings.restore(tmp_path, {"step": 0}, step=20) == {"step": 20}


def frame():
    return pd.DataFrame(
        {
            "i": [3, 1, 2],
            "s": ["b", None, "a"],
            "c": pd.Categorical(["x", "y", "x"], categories=["y", "x", "z"]),
            "f": [1.5, np.nan, -0.0],
            "t": pd.to_datetime(["2020-01-01", None, "2021-01-01"]),
            "b": [True, False, True],
        },
        index=pd.Index([7, 8, 9], name="k"),
    )


def test_frames_keep_types_dictionaries_and_labels(tmp_path):
    pandas = frame()
    shardings.save(tmp_path, {"frame": from_pandas(pandas), "s": from_pandas(pandas)["s"]})
    # The rows and the dictionaries of `like` do not count, its mesh does.
    sharding = shardings.row_sharded(shardings.make_mesh(4))
    like = from_pandas(pandas.iloc[:0], sharding=sharding)
    restored = shardings.restore(tmp_path, {"frame": like, "s": like["s"]})
    pd.testing.assert_frame_equal(restored["frame"].to_pandas(), from_pandas(pandas).to_pandas())
    pd.testing.assert_series_equal(restored["s"].to_pandas(), from_pandas(pandas)["s"].to_pandas())
    assert restored["frame"]._layout.mesh.size == 4


# Other meshes


def bytes_read():
    with open("/proc/self/io") as file:
        return int(file.readline().split()[1])


MESHES = {
    "tensor 2": ({"model": 2}, (None, "model")),
    "tensor 4": ({"model": 4}, (None, "model")),
    "data 4": ({"data": 4}, ("data",)),
    "data and tensor": ({"data": 2, "model": 2}, ("data", "model")),
}


@pytest.mark.skipif(sys.platform != "linux", reason="counts bytes as Linux does")
@pytest.mark.parametrize("before", MESHES)
@pytest.mark.parametrize("after", MESHES)
def test_another_mesh_gets_the_same_bits_and_reads_little_more(
    tmp_path, monkeypatch, before, after
):
    # As for arrays of gigabytes, which the test is spared.
    monkeypatch.setattr(shardings._save, "_LEAST_CHUNK_BYTES", 2**12)
    sizes, spec = MESHES[before]
    shardings.save(tmp_path, {"w": placed(matrix(), mesh(**sizes), *spec)})
    sizes, spec = MESHES[after]
    start = bytes_read()
    restored = shardings.restore(tmp_path, {"w": matrix()}, P(*spec), mesh=mesh(**sizes))["w"]
    assert bytes_read() - start <= 1.1 * restored.nbytes
    assert restored.sharding.is_equivalent_to(NamedSharding(mesh(**sizes), P(*spec)), 2)
    same_bits(restored, matrix())


def test_each_process_writes_and_reads_its_shards(tmp_path):
    script = """
from pathlib import Path


def bytes_read():
    path = Path("/proc/self/io")
    return int(path.read_text().split()[1]) if path.exists() else 0


bits = np.random.default_rng(0).integers(0, 2**32, (4, 2**18), np.uint32)
both = shardings.mesh_spec(data=2, model=2).build()
sharding = shardings.named(both, "data", "model")
w = jax.make_array_from_callback(bits.shape, sharding, lambda piece: bits[piece])
for step in range(3):
    shardings.save({folder!r}, {{"w": w, "n": np.arange(3)}}, step, keep=2)
like = {{"w": jax.ShapeDtypeStruct(w.shape, w.dtype), "n": np.zeros(3, int)}}
specs = {{"w": jax.sharding.PartitionSpec(None, "rows"), "n": jax.sharding.PartitionSpec()}}
start = bytes_read()
restored = shardings.restore({folder!r}, like, specs, mesh=mesh)
read = bytes_read() - start
# Saved pieces are rows and columns, restored ones columns: two devices may read a piece at once.
assert not start or 1 <= read / (bits.nbytes / 2) <= 2.1, read
for shard in restored["w"].addressable_shards:
    np.testing.assert_array_equal(shard.data, bits[shard.index])
np.testing.assert_array_equal(whole(restored["n"]), np.arange(3))
print("restored", bits.nbytes)
"""
    outputs = run_all(script.format(folder=str(tmp_path)), num_processes=2, num_devices=2)
    last_words = [output.split()[-2:] for output in outputs]
    num_bytes = last_words[0][1]
    assert last_words == [["restored", num_bytes]] * 2
    assert sorted(os.listdir(tmp_path)) == ["step_00000001", "step_00000002"]
    # Each process has half of the bits in files of its own.
    arrays = tmp_path / "step_00000002" / "arrays"
    for process in range(2):
        files = (arrays / f"ocdbt.process_{process}").rglob("*")
        written = sum(file.stat().st_size for file in files if file.is_file())
        assert 0.5 <= written / int(num_bytes) <= 0.55


# Deaths


KILLS = """
import os
import random
import signal
import sys
import time

import jax
import numpy as np
import orbax.checkpoint
from jaxframes import shardings

folder, num_kills = sys.argv[1], int(sys.argv[2])


def tree_of(step):
    return {"w": np.full((64, 64), step), "step": step}


def restored_step():
    tree = shardings.restore(folder, tree_of(0))
    np.testing.assert_array_equal(tree["w"], tree_of(tree["step"])["w"])
    return tree["step"]


def save_until_killed(start):
    for step in range(start, start + 1000):
        shardings.save(folder, tree_of(step), step, keep=2)
        print(step, file=saved, flush=True)


# JAX starts in the children: nothing of it may run before a fork.
random.seed(0)
last, num_unfinished, save_seconds = 0, 0, 0.0
for kill in range(num_kills + 1):
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        saved = os.fdopen(write_end, "w")
        try:
            found = restored_step() if kill else 0
            print("found", found, file=saved, flush=True)
            if kill < num_kills:
                save_until_killed(found + 1)
        finally:
            os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end) as saved:
        found = int(saved.readline().split()[1])
        assert found >= last, (found, last)
        if kill < num_kills:
            if kill == 0:
                start = time.monotonic()
                saved.readline()
                save_seconds = time.monotonic() - start
            time.sleep(random.random() * 2 * save_seconds)
            os.kill(child, signal.SIGKILL)
        said = saved.read().split()
    os.waitpid(child, 0)
    last = int(said[-1]) if said else found
    num_unfinished += any(not name[-1].isdigit() for name in os.listdir(folder))
# Deaths were in the middle of a save, and after one.
assert num_unfinished > num_kills / 10, num_unfinished
assert last > num_kills / 10, last
print("survived", num_kills, "at step", last)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="starts processes by fork")
def test_a_checkpoint_is_left_by_each_of_fifty_kills(tmp_path):
    finished = subprocess.run(
        [sys.executable, "-c", KILLS, str(tmp_path), "50"],
        env={**os.environ, "JAX_PLATFORMS": "cpu", "JAX_ENABLE_X64": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr[-4000:]
    assert finished.stdout.startswith("survived 50 at step")
    # What the dead have left is gone after the next save.
    shardings.save(tmp_path, {"w": np.zeros((64, 64), int), "step": 10**6}, 10**6, keep=1)
    assert os.listdir(tmp_path) == ["step_01000000"]


# Errors


@pytest.fixture
def checkpoint(tmp_path):
    shardings.save(tmp_path, {"w": np.ones((2, 3), np.float32), "b": np.ones(3)}, 4)
    return tmp_path


def test_a_step_is_saved_once(checkpoint):
    message = (
        f"save: a step must have one checkpoint, got step 4, which is in {checkpoint}. Save a "
        "later step, or remove that folder."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        shardings.save(checkpoint, {"w": np.ones(2)}, 4)


def test_what_is_saved_is_numbers(tmp_path):
    message = (
        "save: config/name must be an array of numbers, a number, a random key or a frame, got "
        "str. Keep it out of the tree, for example in a file of its own."
    )
    with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
        shardings.save(tmp_path, {"config": {"name": "x"}})
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("like", "message"),
    [
        (
            {"w": np.ones((2, 3), np.float32)},
            "restore: like must have the structure of the checkpoint in {folder}, got nothing "
            "beside it, and not b. Restore the whole tree, and take or add parts afterwards.",
        ),
        (
            {"w": np.ones((2, 3), np.float32), "b": np.ones(3), "c": 1},
            "restore: like must have the structure of the checkpoint in {folder}, got c beside it, "
            "and not nothing. Restore the whole tree, and take or add parts afterwards.",
        ),
        (
            {"w": np.ones((3, 2), np.float32), "b": np.ones(3)},
            "restore: w must be as in the checkpoint, float32[2,3], got float32[3,2]. Convert it "
            "after restoring.",
        ),
        (
            {"w": np.ones((2, 3)), "b": np.ones(3)},
            "restore: w must be as in the checkpoint, float32[2,3], got float64[2,3]. Convert it "
            "after restoring.",
        ),
    ],
)
def test_like_is_as_the_checkpoint(checkpoint, like, message):
    message = message.format(folder=checkpoint / "step_00000004")
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        shardings.restore(checkpoint, like)


def test_a_missing_checkpoint_lists_the_steps(checkpoint):
    message = f"restore: step 5 must be in {checkpoint}, got the steps 4. Check the path."
    with pytest.raises(FileNotFoundError, match=f"^{re.escape(message)}$"):
        shardings.restore(checkpoint, {}, step=5)
    empty = checkpoint / "empty"
    message = f"restore: a checkpoint must be in {empty}, got the steps none. Check the path."
    with pytest.raises(FileNotFoundError, match=f"^{re.escape(message)}$"):
        shardings.restore(empty, {})


def test_specs_fit_the_arrays(checkpoint):
    like = {"w": np.ones((2, 3), np.float32), "b": np.ones(3)}
    message = "restore: specs need a mesh, got none. Pass mesh=."
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        shardings.restore(checkpoint, like, P("rows"))
    message = (
        "restore: the mesh must divide each sharded axis of b, got shape (3,) with P('rows'): 3 is "
        "not a multiple of 2, the size of 'rows'. Pad the axis, or shard another."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        shardings.restore(checkpoint, like, P("rows"), mesh=shardings.make_mesh(2))


def test_without_orbax_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "orbax.checkpoint", None)
    message = (
        "save: checkpoints need orbax-checkpoint, which is not installed. pip install "
        "'jaxframes[checkpoint]'"
    )
    with pytest.raises(ImportError, match=f"^{re.escape(message)}$"):
        shardings.save(tmp_path, {})


def test_nothing_optional_is_imported_before_it_is_needed():
    script = (
        "import sys; from jaxframes import primitives, shardings; from jaxframes.primitives import "
        "collective, staging; optional = {'optax', 'flax', 'orbax', 'chex'}; "
        "print(sorted(optional & {name.split('.')[0] for name in sys.modules}))"
    )
    said = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert said.stdout == "[]\n"
