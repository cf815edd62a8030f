# SPDX-License-Identifier: Apache-2.0
"""Calls over a mesh in one memory, by whole arrays and by messages."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from jaxframes.primitives.tiers._signature import shared_memory


def mesh_of(shape, names, kind=AxisType.Auto, order=range(8)):
    devices = np.array(jax.devices())[list(order)][: np.prod(shape)].reshape(shape)
    return Mesh(devices, names, axis_types=(kind,) * len(names))


def on_mesh(mesh, array, spec=None):
    spec = P(mesh.axis_names) if spec is None else spec
    return jax.device_put(array, NamedSharding(mesh, spec))


def both_ways(call):
    """The results by whole arrays, and by messages."""
    results = []
    for way in ("auto", "off"):
        with shared_memory(way):
            results.append(call())
    return results


def assert_same_places(ours, theirs):
    assert jax.tree.structure(ours) == jax.tree.structure(theirs)
    for one, other in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        assert (one.dtype, one.shape, one.weak_type) == (other.dtype, other.shape, other.weak_type)
        # XLA decides where nothing lies.
        assert not one.size or one.sharding.is_equivalent_to(other.sharding, one.ndim)
        assert one.committed == other.committed


def assert_same(ours, theirs, tolerance=0.0):
    assert_same_places(ours, theirs)
    for one, other in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        if tolerance and jnp.issubdtype(one.dtype, jnp.floating):
            bound = tolerance * float(jnp.finfo(one.dtype).eps)
            np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=bound, atol=bound)
        else:
            assert np.asarray(one).tobytes() == np.asarray(other).tobytes()
        for own in one.addressable_shards:
            np.testing.assert_array_equal(own.data, np.asarray(one)[own.index])
