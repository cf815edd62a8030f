# SPDX-License-Identifier: Apache-2.0
"""`tiered` gives the results of `jax.jit`, whichever tier computes them."""

import functools
import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxframes.primitives import backend, local, staging
from jaxframes.primitives.tiers import _background, _entry, _placing, _recent, _tiered
from jaxframes.shardings import make_mesh, row_sharded

pytestmark = pytest.mark.skipif(backend().cpu != "native", reason="interpreted with the kernels")


@pytest.fixture(params=["auto", "compiled", "interpreted"], autouse=True)
def mode(request, monkeypatch):
    for module in (_tiered, _entry):
        monkeypatch.setattr(module, "mode", lambda: request.param)
    return request.param


def only_entry(function):
    (entry,) = function._entries.values()
    return entry


def test_results_and_their_types(mode):
    @functools.partial(staging.tiered, static_argnums=1, static_argnames="kind")
    def move(tree, by, *, kind="add"):
        shifted = tree["a"] + by if kind == "add" else tree["a"] - by
        return {"moved": shifted, "pair": (tree["b"][::-1], by)}

    tree = {"a": jnp.arange(5), "b": np.array([1.0, 2.0])}
    for by, kind in ((1, "add"), (2, "add"), (2, "sub"), (1, "add")):
        result = move(tree, by, kind=kind)
        assert result["moved"].tolist() == [n + by * (1 if kind == "add" else -1) for n in range(5)]
        assert result["pair"][0].tolist() == [2.0, 1.0]
        assert isinstance(result["moved"], jax.Array)
        assert int(result["pair"][1]) == by
    assert move.__name__ == "move"
    assert len(move._entries) == (0 if mode == "compiled" else 3)


def test_numbers_and_numpy_scalars_are_arguments():
    add = staging.tiered(lambda x, y: x + y)
    x = jnp.arange(3, dtype=jnp.int32)
    for other in (2, np.int32(2), np.array([1, 2, 3], np.int32)):
        expected = jax.jit(lambda x, y: x + y)(x, other)
        actual = add(x, other)
        assert (actual.dtype, actual.weak_type) == (expected.dtype, expected.weak_type)
        assert actual.tolist() == expected.tolist()


def test_devices_and_commitment():
    first = staging.tiered(lambda x: x[:2] + 1)
    devices = jax.devices()
    for x, device in (
        (jnp.arange(4), devices[0]),
        (jax.device_put(jnp.arange(4), devices[1]), devices[1]),
        (np.arange(4), devices[0]),
    ):
        result = first(x)
        assert result.device == device
        assert result.committed == (isinstance(x, jax.Array) and x.committed)
        assert result.tolist() == [1, 2]


def test_places_of_auto_axes_and_traces_are_left_to_jax():
    double = staging.tiered(lambda x: x * 2)
    x = np.arange(8.0)
    mesh = make_mesh(4)
    sharded = jax.device_put(x, row_sharded(mesh))
    result = double(sharded)
    assert len(result.sharding.device_set) == 4
    np.testing.assert_array_equal(result, 2 * x)
    np.testing.assert_array_equal(jax.vmap(double)(x), 2 * x)
    np.testing.assert_array_equal(jax.jit(double)(x), 2 * x)
    assert float(jax.grad(lambda x: double(x).sum())(jnp.float32(3))) == 2
    with jax.set_mesh(mesh):
        np.testing.assert_array_equal(double(x), 2 * x)
    assert "mul" in double.lower(x).as_text() or "multiply" in double.lower(x).as_text()


def test_x64_is_part_of_the_signature():
    wide = staging.tiered(lambda: jnp.arange(3) + 1)
    with jax.enable_x64(True):
        assert wide().dtype == np.int64
    with jax.enable_x64(False):
        assert wide().dtype == np.int32


def test_effects_donation_and_debugging():
    seen = []

    @staging.tiered
    def watched(x):
        jax.debug.callback(lambda value: seen.append(int(value)), x[0])
        return x + 1

    for _ in range(2):
        assert watched(jnp.arange(2)).tolist() == [1, 2]
    jax.effects_barrier()
    assert seen == [0, 0]
    consumed = jnp.arange(8.0)
    taken = staging.tiered(lambda x: x + 1, donate_argnums=0)(consumed)
    assert float(taken[7]) == 8
    assert consumed.is_deleted()
    with jax.disable_jit():
        assert staging.tiered(lambda x: x if float(x) > 1 else -x)(2.0) == 2.0


def test_a_result_outlives_the_donation_of_its_argument():
    same = staging.tiered(lambda x: (x, x[:4], jnp.arange(4)))
    x = jnp.ones(1 << 16)
    results = same(x)
    jax.jit(lambda x: x.at[:].set(7), donate_argnums=0)(x).block_until_ready()
    for other in same(jnp.ones(1 << 16)):
        jax.jit(lambda x: x + 1, donate_argnums=0)(other).block_until_ready()
    assert [float(result[3]) for result in results] == [1, 1, 3]
    assert same(jnp.ones(1 << 16))[2].tolist() == [0, 1, 2, 3]


def test_a_result_does_not_share_the_memory_of_a_numpy_array():
    taken = staging.tiered(lambda x: (x.reshape(8, 8), x[:32], x))
    for _ in range(4):
        x = np.ones(64, np.int64)
        results = taken(x)
        x[:] = 7
        assert [int(np.max(result)) for result in results] == [1, 1, 1]


def test_options_of_jax_are_part_of_the_signature():
    add = staging.tiered(lambda x, y: x + y)
    x = np.arange(3)
    for device in jax.devices()[:2]:
        with jax.default_device(device):
            assert add(x, x).device == device
    variadic = staging.tiered(lambda *x: x[0] + x[1], static_argnums=1)
    assert int(variadic(np.int64(1), 2)) == 3


def test_an_error_of_the_function_is_raised():
    @staging.tiered
    def wrong(x):
        raise ValueError("no such luck")

    for _ in range(2):
        with pytest.raises(ValueError, match="no such luck"):
            wrong(jnp.arange(3))
    with pytest.raises(TypeError):
        staging.tiered(lambda x: x)(object())
    with pytest.raises(ValueError, match="Non-hashable"):
        staging.tiered(lambda x, y: x, static_argnums=1)(jnp.arange(3), [1])
    kind = staging.tiered(lambda x, y: x + len(repr(y)), static_argnums=1)
    assert [int(kind(0, y)) for y in (1, True, 1.0)] == [1, 4, 3]


def test_kernels_of_the_library():
    words = jnp.asarray(np.random.default_rng(0).integers(-9, 9, 1000))
    sort = staging.tiered(lambda x: local.radix_sort(x))
    order = staging.tiered(lambda x: local.radix_argsort(x, descending=True))
    kept = staging.tiered(lambda x: local.compact(x > 3, {"x": x}))
    np.testing.assert_array_equal(sort(words), np.sort(words))
    np.testing.assert_array_equal(order(words), np.argsort(-np.asarray(words), stable=True))
    rows, _, count = kept(words)
    chosen = np.asarray(words)[np.asarray(words) > 3]
    assert int(count) == len(chosen)
    np.testing.assert_array_equal(rows["x"][: len(chosen)], chosen)


def test_calls_move_to_the_compiled_program(monkeypatch, mode):
    count = staging.tiered(lambda x: (x > 2).sum())
    x = jnp.arange(10)
    monkeypatch.setattr(_entry.Entry, "compile_seconds", 1e9)
    for _ in range(3):
        assert int(count(x)) == 7
    if mode == "compiled":
        return
    entry = only_entry(count)
    assert (entry.compiled is None, entry.program is None) == (True, False)
    monkeypatch.setattr(_entry.Entry, "compile_seconds", 0.0)
    assert int(count(x)) == 7
    _background.wait_until_compiled()
    assert (entry.compiled is None) == (mode == "interpreted")
    assert int(count(x)) == 7


def test_the_interpreter_compiles_nothing(mode, caplog):
    if mode == "compiled":
        return
    move = staging.tiered(lambda x, y: (x[1:] + 1, y > 2, x[0]))
    # Of lengths that no other test has: JAX keeps its programs.
    for length in (1237, 1249):
        x = jax.device_put(np.arange(length))
        y = jax.device_put(np.arange(length, dtype=np.float32))
        with jax.log_compiles(True):
            results = move(x, y)
        assert [rows.tolist() for rows in results] == [
            list(range(2, length + 1)), [number > 2 for number in range(length)], 0
        ]  # fmt: skip
    assert not [one for one in caplog.messages if "XLA compilation" in one]


def test_results_of_programs_that_are_called_often(monkeypatch):
    add = staging.tiered(lambda x: (x + 1, x < 2))
    x = jnp.arange(4)
    monkeypatch.setattr(_placing, "_CALLS_BEFORE_COPY", 2)
    for _ in range(4):
        _background.wait_until_compiled()
        sums, flags = add(x)
        assert (sums.tolist(), flags.tolist()) == ([1, 2, 3, 4], [True, True, False, False])
        assert (sums.dtype, sums.committed, sums.weak_type) == (x.dtype, False, False)


@pytest.mark.parametrize("is_slow", [True, False])
def test_programs_that_are_called_often_move_if_they_take_longer(monkeypatch, mode, is_slow):
    if mode != "auto":
        return
    count = staging.tiered(lambda x: (x > 3).sum())
    x = jnp.arange(10)
    monkeypatch.setattr(_entry.Entry, "compile_seconds", 1e9)
    monkeypatch.setattr(_entry, "_DISPATCH_SECONDS", 0.0 if is_slow else 1e9)
    for _ in range(_entry._MOST_INTERPRETED_CALLS):
        assert int(count(x)) == 6
    entry = only_entry(count)
    assert entry.compiled is None
    assert int(count(x)) == 6
    _background.wait_until_compiled()
    assert (entry.compiled is not None) == is_slow


def test_a_branch_that_needs_the_compiler(mode):
    root_or_exponential = staging.tiered(lambda x: jax.lax.cond(x[0] > 0, jnp.sqrt, jnp.exp, x))
    assert root_or_exponential(jnp.array([4.0])).tolist() == [2.0]
    np.testing.assert_allclose(root_or_exponential(jnp.array([-1.0])), np.exp(-1))
    if mode != "compiled":
        assert only_entry(root_or_exponential).compiled is not None


def test_programs_are_given_back(monkeypatch, mode):
    if mode == "compiled":
        pytest.skip("jax.jit keeps its own programs")
    recent = _recent.Recent(lambda: 3)
    monkeypatch.setattr(_entry, "compiled_entries", recent)
    exponential = staging.tiered(jnp.exp)
    assert exponential(jnp.zeros(9)).tolist() == [1.0] * 9
    first = only_entry(exponential)
    assert first.compiled is not None
    for rows in range(1, 8):
        assert exponential(jnp.zeros(rows)).tolist() == [1.0] * rows
    assert first.compiled is None
    assert len(recent) == len(exponential._entries) == 3
    assert not [e for e in _recent.interpreted_entries if e.owner is exponential]
    assert exponential(jnp.zeros(1)).tolist() == [1.0]


def test_the_number_of_programs_kept_falls_with_the_devices(monkeypatch):
    for devices, programs in ((1, 256), (8, 128), (64, 64)):
        monkeypatch.setattr(jax, "local_device_count", lambda devices=devices: devices)
        assert _recent.most_compiled() == programs


def test_a_process_ends_while_programs_wait_for_the_compiler():
    script = (
        "import jax.numpy as jnp\n"
        "from jaxframes.primitives import staging\n"
        "from jaxframes.primitives.tiers import _entry\n"
        "_entry.Entry.compile_seconds = 0.0\n"
        "f = staging.tiered(lambda x: jnp.sort(x) + 1)\n"
        "for rows in range(1, 40): f(jnp.arange(rows))\n"
        "print('done')\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "JAXFRAMES_TIERS": "auto"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (0, "done\n"), ended.stderr


def test_an_import_leaves_the_number_of_devices_open():
    script = (
        "import jax\n"
        "from jaxframes import frame, primitives, shardings\n"
        "jax.config.update('jax_num_cpu_devices', 3)\n"
        "print(jax.device_count())\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", script],
        env={name: value for name, value in os.environ.items() if name != "XLA_FLAGS"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == "3\n"


def test_an_unknown_mode(monkeypatch):
    monkeypatch.undo()
    monkeypatch.setenv("JAXFRAMES_TIERS", "fast")
    _entry.mode.cache_clear()
    message = "JAXFRAMES_TIERS must be 'auto', 'compiled' or 'interpreted', got 'fast'."
    with pytest.raises(ValueError, match=message):
        staging.tiered(lambda x: x)(jnp.arange(3))
    _entry.mode.cache_clear()


def test_arguments_are_narrowed_as_by_jit():
    with jax.enable_x64(False):
        x = np.array([1e-40, 1.0])
        reverse = staging.tiered(lambda x: x[::-1])
        np.testing.assert_array_equal(reverse(x), jax.jit(lambda x: x[::-1])(x))
