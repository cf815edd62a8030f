# SPDX-License-Identifier: Apache-2.0
"""Two processes of two CPU devices each, over `jax.distributed` on loopback."""

import pytest
from two_processes import PROLOGUE, run_apart, run_both


def test_each_process_sees_the_devices_of_both():
    run_both(
        """
assert jax.process_count() == 2
assert jax.process_index() == process_id
assert jax.local_device_count() == 2
assert mesh.size == 4
assert [device.process_index for device in mesh.devices.ravel()] == [0, 0, 1, 1]
"""
    )


def test_host_rows_are_one_table():
    run_both(
        """
# 7 rows here and 2 there: shards of 4, 3, 1 and 1 rows, with a capacity of 4 each.
own_rows = np.arange(7) if process_id == 0 else np.arange(7, 9)
sharded = shardings.host_rows({"id": own_rows, "square": own_rows[:, None] ** 2.0}, mesh)
assert sharded.layout.capacity == 4
np.testing.assert_array_equal(whole(sharded.layout.counts), [4, 3, 1, 1])
assert sharded.layout.num_rows == 9
expected = [0, 1, 2, 3, 4, 5, 6, 0, 7, 0, 0, 0, 8, 0, 0, 0]
np.testing.assert_array_equal(whole(sharded.rows["id"]), expected)
np.testing.assert_array_equal(whole(sharded.rows["square"]), np.square(expected)[:, None])

# A process may have no rows at all.
sharded = shardings.host_rows(np.arange(3 * process_id, dtype=np.float32), mesh)
np.testing.assert_array_equal(whole(sharded.layout.counts), [0, 0, 2, 1])
np.testing.assert_array_equal(whole(sharded.rows), [0, 0, 0, 0, 0, 1, 2, 0])

# And so may all of them.
sharded = shardings.host_rows(np.zeros((0, 2), np.float32), mesh)
assert sharded.rows.shape == (0, 2)
assert sharded.layout.num_rows == 0

# A function is asked for the rows of this process's shards alone.
asked = []


def read(start, stop):
    asked.append((start, stop))
    return np.arange(start, stop) ** 2


sharded = shardings.host_rows(read, mesh, num_rows=9)
assert asked == ([(0, 3), (3, 6)] if process_id == 0 else [(6, 9), (9, 9)])
np.testing.assert_array_equal(whole(sharded.rows)[:9], np.arange(9) ** 2)
assert sharded.layout.num_rows == 9

# Rows along one axis of two, replicated along the other, with copies in both processes.
grid = jax.sharding.Mesh(mesh.devices.reshape(2, 2), ("copies", "rows"))
sharded = shardings.host_rows(np.arange(5), grid, "rows")
np.testing.assert_array_equal(
    jax.device_put(sharded.rows, shardings.replicated(grid)), [0, 1, 2, 3, 4, 0]
)
np.testing.assert_array_equal(
    jax.device_put(sharded.layout.counts, shardings.replicated(grid)), [3, 2]
)
"""
    )


def test_every_process_has_a_device_on_the_mesh():
    run_both(
        """
try:
    shardings.host_rows(np.arange(3), shardings.make_mesh(2))
except ValueError as error:
    assert process_id == 1
    assert str(error) == (
        "host_rows: the mesh must have a device of every process, got none of process 1. "
        "Build it over all of jax.devices()."
    )
else:
    assert process_id == 0
"""
    )


def test_shard_rows_takes_what_every_process_has():
    run_both(
        """
sharded = shardings.shard_rows(np.arange(10), mesh)
np.testing.assert_array_equal(whole(sharded.rows), [*range(10), 0, 0])
np.testing.assert_array_equal(whole(sharded.layout.is_valid()), np.arange(12) < 10)
assert sharded.layout.num_rows == 10
"""
    )


def test_radix_sort_over_both():
    run_both(
        """
keys = np.random.default_rng(0).integers(-50, 50, 1000)
row_ids = np.arange(1000, dtype=np.int32)
own = slice(500 * process_id, 500 * (process_id + 1))
rows = shardings.host_rows({"key": keys[own], "row_id": row_ids[own]}, mesh).rows
sorted_keys, sorted_row_ids = primitives.radix_sort(rows["key"], mesh=mesh, values=rows["row_id"])
order = np.argsort(keys, kind="stable")
np.testing.assert_array_equal(whole(sorted_keys), keys[order])
np.testing.assert_array_equal(whole(sorted_row_ids), order)
assert sorted_keys.sharding.is_equivalent_to(shardings.row_sharded(mesh), 1)
np.testing.assert_array_equal(whole(primitives.radix_argsort(rows["key"], mesh=mesh)), order)
"""
    )


def test_a_second_set_up_does_nothing():
    run_both(
        """
shardings.initialize()
assert (jax.process_count(), mesh.size) == (2, 4)
assert jax.config.jax_cpu_collectives_implementation == "gloo"
"""
    )


DYING = """
import os
import sys

import jax
from jaxframes import shardings

shardings.initialize(heartbeat_timeout_seconds=5)
PROLOGUE
assert shardings.host_rows(np.arange(4), mesh).layout.num_rows == 8
if process_id == int(os.environ["DYING"]):
    os._exit(17)
while True:
    shardings.host_rows(np.arange(4), mesh)
"""


@pytest.mark.parametrize("dying", [0, 1])
def test_the_death_of_one_process_ends_the_other(dying):
    """The survivor does not wait forever in a collective, with no launcher to end it."""
    environment = {"DYING": str(dying)}
    ended = run_apart(DYING.replace("PROLOGUE", PROLOGUE), [environment, environment])
    assert ended[dying].returncode == 17, ended[dying].stderr
    assert ended[1 - dying].returncode not in (0, None), ended[1 - dying].stderr
