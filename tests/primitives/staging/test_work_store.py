# SPDX-License-Identifier: Apache-2.0
"""`WorkStore`: objects for `host_map`, alive inside their block only."""

import gc
import re
import weakref
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from host_errors import fails
from jaxframes.primitives.staging import WorkStore, host_map

OUT = jax.ShapeDtypeStruct((), np.int64)


def raises(error, message):
    return pytest.raises(error, match=f"(?m)^{re.escape(message)}$")


class Simulator:
    def __init__(self, seed):
        self.seed = seed

    def run(self):
        return 10 * self.seed


def run_all(store, **options):
    return host_map(lambda i: store[i].run(), store.indices, OUT, **options)


@pytest.mark.parametrize("options", [{}, {"workers": 2}, {"strategy": "mesh", "workers": 4}])
def test_each_object_is_found_by_its_index(options):
    with WorkStore(Simulator(seed) for seed in (3, 1, 2)) as store:
        assert len(store) == 3
        np.testing.assert_array_equal(store.indices, np.arange(3, dtype=np.int32))
        np.testing.assert_array_equal(run_all(store, **options), [30, 10, 20])


def test_nested_stores_do_not_collide():
    with WorkStore([Simulator(1), Simulator(2)]) as outer:
        with WorkStore([Simulator(5)]) as inner:
            both = host_map(lambda i: outer[i].run() + inner[0].run(), outer.indices, OUT)
            np.testing.assert_array_equal(both, [60, 70])
        np.testing.assert_array_equal(run_all(outer), [10, 20])


def test_concurrent_stores_do_not_collide():
    def work(seed):
        with WorkStore([Simulator(seed), Simulator(seed + 1)]) as store:
            return np.asarray(run_all(store, workers=2))

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(work, range(12)))
    np.testing.assert_array_equal(results, [[10 * i, 10 * i + 10] for i in range(12)])


@pytest.mark.parametrize("jitted", [False, True])
def test_no_object_lives_after_the_block(jitted):
    simulators = [Simulator(seed) for seed in range(3)]
    watched = [weakref.ref(simulator) for simulator in simulators]
    with WorkStore(simulators) as store:
        run = lambda indices: host_map(lambda i: store[i].run(), indices, OUT)  # noqa: E731
        jax.block_until_ready((jax.jit(run) if jitted else run)(store.indices))
    simulators.clear()
    gc.collect()
    assert [watch() for watch in watched] == [None] * 3


def test_an_error_of_the_block_drops_the_objects_too():
    store = WorkStore([Simulator(1)])
    with pytest.raises(KeyError), store:
        raise KeyError
    with pytest.raises(RuntimeError):
        store[0]


# Errors


def test_a_late_call():
    message = (
        "WorkStore: the objects of a store are gone after its block, got a late call. "
        "Wait for the results inside the block, with jax.block_until_ready."
    )
    with WorkStore([Simulator(1)]) as store:
        pass
    with raises(RuntimeError, message):
        store[0]
    with fails(message):
        jax.block_until_ready(run_all(store))


@pytest.mark.parametrize("index", [-1, 2, np.int32(7)])
def test_an_index_in_range(index):
    message = f"WorkStore: an index must lie in [0, 2), got {index}. Map over store.indices."
    with WorkStore("ab") as store, raises(IndexError, message):
        store[index]


def test_an_integer_index():
    message = "WorkStore: an index must be an integer, got float64[]. Map over store.indices."
    with WorkStore("ab") as store, raises(TypeError, message):
        store[jnp.float64(1)]


@pytest.mark.checks_arguments
def test_objects_to_iterate_over():
    message = "WorkStore: objects must be iterable, got int. Put a single object into a list."
    with raises(TypeError, message):
        WorkStore(3)
