# SPDX-License-Identifier: Apache-2.0
"""`repeat_rows` of whole arrays: what an eager and a traced call return, on one device and many."""

import jax
import numpy as np
import oracles
import pytest
from jaxframes import primitives
from on_shards import mesh_of, noting


@pytest.mark.parametrize("mesh_size", [None, 1, 3])
def test_matches_numpy(mesh_size):
    mesh = None if mesh_size is None else mesh_of(mesh_size)
    rng = np.random.default_rng(0)
    for num_rows in (0, 1, 7, 12):
        repeats = rng.integers(0, 5, num_rows).astype(np.int32)
        for valid in (None, num_rows // 2):
            count = int(oracles.repeat_rows(repeats, 0, valid)[2])
            for capacity in (None, count + 2, lambda count: count + 1):
                room = {None: count}.get(capacity, capacity)
                room = room(count) if callable(room) else room
                actual = primitives.repeat_rows(repeats, mesh, capacity=capacity, num_valid=valid)
                with noting((num_rows, valid, room)):
                    oracles.assert_same_bits(
                        tuple(actual), oracles.repeat_rows(repeats, room, valid)
                    )


@pytest.mark.parametrize("mesh_size", [None, 3])
def test_a_traced_call_returns_the_true_count(mesh_size):
    mesh = None if mesh_size is None else mesh_of(mesh_size)
    call = jax.jit(lambda repeats: primitives.repeat_rows(repeats, mesh, capacity=6))
    for repeats in ([2, 0, 1], [9, 0, 1], [0, 0, 0]):
        repeats = np.array(repeats, np.int32)
        oracles.assert_same_bits(tuple(call(repeats)), oracles.repeat_rows(repeats, 6))


def test_names_what_is_wrong():
    for mesh in (None, mesh_of(3)):
        with pytest.raises(primitives.CapacityError) as error:
            primitives.repeat_rows(np.array([5, 2]), mesh, capacity=6)
        assert error.value.needed == 7
    with pytest.raises(ValueError, match="repeat_rows: capacity must be given under jit"):
        jax.jit(primitives.repeat_rows)(np.array([5, 2]))
    with pytest.raises(ValueError, match=r"repeat_rows: the result must have fewer than 2\*\*31"):
        primitives.repeat_rows(np.array([2**30, 2**30]))
