# SPDX-License-Identifier: Apache-2.0
"""Small arrays of the host are placed as `jax.device_put` places them."""

import cProfile
import pstats

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jaxframes.primitives.tiers import _background, _placing, _recent


@pytest.fixture(autouse=True)
def few_calls(monkeypatch):
    """Copies are compiled at the third call, and forgotten after the test."""
    monkeypatch.setattr(_placing, "_copies", {})
    monkeypatch.setattr(_placing, "_CALLS_BEFORE_COPY", 3)


def placed_often(*arrays):
    """The arrays as placed by calls before and after the compilation."""
    placed = [_placing.on_device(arrays) for _ in range(3)]
    _background.wait_until_compiled()
    return [*placed, _placing.on_device(arrays)]


@pytest.mark.parametrize(
    "dtype",
    ["bool", "int8", "uint16", "int32", "int64", "float32", "float64", "complex128",
     ml_dtypes.bfloat16],
)  # fmt: skip
@pytest.mark.parametrize("shape", [(), (0,), (1,), (257,), (8, 33)])
def test_results_are_those_of_device_put(dtype, shape):
    array = np.random.default_rng(0).integers(0, 2, shape).astype(dtype)
    expected = jax.device_put(array)
    for (result,) in placed_often(array):
        assert result.aval == expected.aval
        assert (result.committed, result.sharding) == (False, expected.sharding)
        np.testing.assert_array_equal(np.asarray(result), array)
    assert [copy.compiled is None for copy in _placing._copies.values()] == [False]


def test_a_compiled_copy_takes_few_calls():
    array = np.arange(1000.0)
    placed_often(array)
    profile = cProfile.Profile()
    profile.runcall(_placing.on_device, [array])
    assert pstats.Stats(profile).total_calls < 40


def test_some_arrays_have_a_copy():
    known, other = np.arange(3), np.arange(4.0)
    placed_often(known)
    results = _placing.on_device([other, known, other, jnp.ones(2)])
    assert [rows.tolist() for rows in results] == [[0, 1, 2, 3], [0, 1, 2], [0, 1, 2, 3], [1, 1]]


def test_a_result_has_memory_of_its_own():
    array = np.arange(1000.0)
    *_, (result,) = placed_often(array)
    array[:] = 0
    np.testing.assert_array_equal(result, np.arange(1000.0))


def test_what_is_left_to_jax():
    many = np.zeros(_placing._MOST_BYTES, np.float32)
    assert placed_often(many)[-1][0].shape == many.shape
    assert not _placing._copies
    array = np.arange(5.0)
    placed_often(array)
    with jax.default_device(jax.devices()[1]):
        assert _placing.on_device([array])[0].device == jax.devices()[1]
    with jax.enable_x64(False):
        assert placed_often(array)[-1][0].dtype == np.float32
    with jax.transfer_guard("disallow"):
        assert _placing.on_device([array])[0].tolist() == array.tolist()
    staged = []
    jax.jit(lambda: staged.append(_placing.on_device([array])[0]))()
    assert isinstance(staged[0], jax.core.Tracer)


def test_programs_are_given_back(monkeypatch):
    recent = _recent.Recent(lambda: 2)
    monkeypatch.setattr(_placing, "compiled_entries", recent)
    for rows in range(1, 6):
        *_, (result,) = placed_often(np.arange(rows))
        assert result.tolist() == list(range(rows))
    assert len(recent) == len(_placing._copies) == 2


def test_rare_shapes_are_forgotten(monkeypatch):
    monkeypatch.setattr(_placing, "_MOST_COPIES", 3)
    placed_often(np.arange(3))
    for rows in range(4, 12):
        assert _placing.on_device([np.arange(rows)])[0].tolist() == list(range(rows))
    assert len(_placing._copies) <= 3
    assert [copy.compiled is None for copy in _placing._copies.values()].count(False) == 1


def test_arrays_of_several_shapes_are_copied_together():
    arrays = [np.arange(5.0), np.arange(7, dtype=np.int32), np.arange(5.0) < 2]
    for placed in placed_often(*arrays):
        for result, array in zip(placed, arrays, strict=True):
            assert result.aval == jax.device_put(array).aval
            np.testing.assert_array_equal(result, array)
    profile = cProfile.Profile()
    profile.runcall(_placing.on_device, arrays)
    assert pstats.Stats(profile).total_calls < 50
