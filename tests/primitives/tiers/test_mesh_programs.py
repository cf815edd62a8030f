# SPDX-License-Identifier: Apache-2.0
"""Programs over a mesh of CPU devices: the interpreter's bits and places are XLA's."""

import functools

import jax
import jax.monitoring
import jax.numpy as jnp
import numpy as np
import pytest
from both_ways import mesh_of, on_mesh
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P
from jaxframes import primitives
from jaxframes.primitives import backend, staging
from jaxframes.primitives.tiers import _entry, _tiered
from jaxframes.primitives.tiers._mesh_program import MeshProgram
from jaxframes.primitives.tiers._signature import shared_memory
from jaxframes.shardings._compat import COMPILE_EVENT

pytestmark = pytest.mark.skipif(backend().cpu != "native", reason="interpreted with the kernels")


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    for module in (_tiered, _entry):
        monkeypatch.setattr(module, "mode", lambda: "interpreted")
    with shared_memory("off"):
        yield


MESHES = [
    mesh_of((8,), ("a",)),
    mesh_of((3,), ("a",), AxisType.Explicit),
    mesh_of((2, 4), ("a", "b")),
    mesh_of((2, 2, 2), ("b", "c", "a"), AxisType.Explicit),
]
over_meshes = pytest.mark.parametrize("mesh", MESHES, ids=lambda mesh: str(dict(mesh.shape)))


def assert_interprets(function, *arguments):
    """Compares with XLA's program, of the same operations apart from each other."""
    tiered = staging.tiered(function)
    actual = jax.tree.leaves(tiered(*arguments))
    (entry,) = tiered._entries.values()
    assert isinstance(entry.program, MeshProgram)
    assert entry.num_calls == 1
    expected = jax.tree.leaves(entry.run((arguments, {}), jax.tree.leaves(arguments)))
    by_jax = jax.tree.leaves(jax.jit(function)(*arguments))
    assert len(actual) == len(expected) == len(by_jax)
    for ours, others in zip(actual, by_jax, strict=True):
        assert ours.sharding.is_equivalent_to(others.sharding, ours.ndim)
    for ours, theirs in zip(actual, expected, strict=True):
        assert (ours.dtype, ours.shape, ours.sharding) == (
            theirs.dtype, theirs.shape, theirs.sharding,
        )  # fmt: skip
        assert np.asarray(ours).tobytes() == np.asarray(theirs).tobytes()
        for one, other in zip(ours.addressable_shards, theirs.addressable_shards, strict=True):
            assert (one.device, one.index) == (other.device, other.index)
            assert np.asarray(one.data).tobytes() == np.asarray(other.data).tobytes()
    return actual


def assert_interprets_shards(function, mesh, *arrays, out_specs=None):
    spec = P(mesh.axis_names)
    out_specs = spec if out_specs is None else out_specs
    mapped = jax.shard_map(function, mesh=mesh, in_specs=spec, out_specs=out_specs)
    return assert_interprets(mapped, *(on_mesh(mesh, array) for array in arrays))


def floats(mesh, num_rows=24, dtype=np.float32):
    rng = np.random.default_rng(mesh.size)
    scales = np.float64(10) ** rng.integers(-6, 6, mesh.size * num_rows)
    return (rng.normal(size=mesh.size * num_rows) * scales).astype(dtype)


@over_meshes
@pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.float32, np.float64])
def test_sums_are_those_of_xla(mesh, dtype):
    x = floats(mesh).astype(dtype)
    axes = mesh.axis_names
    for over in (axes, axes[:1], axes[::-1]):
        rest = tuple(axis for axis in axes if axis not in over)
        assert_interprets_shards(
            lambda x, over=over: jax.lax.psum(x, over), mesh, x, out_specs=P(rest or None)
        )


@over_meshes
def test_extremes(mesh):
    x = np.arange(mesh.size * 2, dtype=np.int32)[::-1].copy()
    assert_interprets_shards(
        lambda x: (jax.lax.pmax(x, mesh.axis_names), jax.lax.pmin(x, mesh.axis_names)),
        mesh, x, out_specs=P(),
    )  # fmt: skip


@over_meshes
def test_extremes_of_floats(mesh):
    rng = np.random.default_rng(1)
    edges = np.array([0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 1.0])
    x = rng.choice(edges, mesh.size * 200)
    x[:: mesh.size] = np.nan
    assert_interprets_shards(
        lambda x: (jax.lax.pmax(x, mesh.axis_names), jax.lax.pmin(x, mesh.axis_names)),
        mesh, x, out_specs=P(),
    )  # fmt: skip


@over_meshes
@pytest.mark.parametrize("tiled", [True, False])
def test_gathers_and_exchanges(mesh, tiled):
    axis = mesh.axis_names[0]
    size = mesh.shape[axis]
    x = floats(mesh, 4 * size)

    def of_shard(x):
        rows = x.reshape(4, size)
        gathered = jax.lax.all_gather(rows, axis, axis=1, tiled=tiled)
        exchanged = jax.lax.all_to_all(rows, axis, 1, 0, tiled=tiled)
        scattered = jax.lax.psum_scatter(
            rows.view(np.int32), axis, scatter_dimension=1, tiled=tiled
        )
        return gathered.ravel(), exchanged.ravel(), scattered.ravel()

    assert_interprets_shards(of_shard, mesh, x)


@over_meshes
def test_permutations_and_positions(mesh):
    axes = mesh.axis_names
    perm = [(0, 1), (1, 0)] if mesh.size == 8 else [(2, 1)]

    def of_shard(x):
        return jax.lax.ppermute(x, axes, perm), x + jax.lax.axis_index(axes).astype(x.dtype)

    assert_interprets_shards(of_shard, mesh, floats(mesh))


@over_meshes
def test_products_and_sums_are_rounded_one_by_one(mesh):
    x, y = floats(mesh), floats(mesh)[::-1].copy()
    is_explicit = all(kind == AxisType.Explicit for kind in mesh.axis_types)

    def whole(x, y):
        spec = P(mesh.axis_names)
        product = jax.shard_map(
            lambda x, y: (x * y + x, x * y * 1.1), mesh=mesh, in_specs=spec, out_specs=spec
        )
        inside, scaled = product(x * 3.3, y)
        # A sum of what the shards multiplied.
        return inside, scaled + y if is_explicit else scaled

    assert_interprets(whole, on_mesh(mesh, x), on_mesh(mesh, y))


@over_meshes
def test_conditions(mesh):
    axes = mesh.axis_names

    def of_shard(x):
        total = jax.lax.psum(x[0], axes)
        # All devices take the same branch, which has a collective.
        same = jax.lax.cond(total > 0, lambda x: x + jax.lax.psum(x, axes), lambda x: x, x)
        # Each device takes its own.
        each = jax.lax.switch(
            jax.lax.axis_index(axes) % 3, [lambda x: x, lambda x: -x, lambda x: x * 2], x
        )
        return same, each

    assert_interprets_shards(of_shard, mesh, np.arange(mesh.size * 3, dtype=np.int32))


@over_meshes
def test_loops(mesh):
    axes = mesh.axis_names

    def of_shard(x):
        def turn(carried, row):
            total = carried + jax.lax.psum(row, axes)
            return total, total * row

        totals, rows = jax.lax.scan(turn, jnp.int32(0), x, reverse=True)
        # Devices go on for different numbers of turns.
        alone = jax.lax.while_loop(lambda n: n < 50, lambda n: n * 2 + 1, x[0] % 7)
        together = jax.lax.while_loop(
            lambda state: jax.lax.pmax(state, axes) < 100, lambda state: state + x[0] + 1, x[1]
        )
        return rows, jnp.stack([alone, together]) + totals

    assert_interprets_shards(of_shard, mesh, np.arange(mesh.size * 3, dtype=np.int32))


def test_devices_that_differ_in_a_loop_with_a_collective_are_left_to_xla():
    mesh = MESHES[0]

    def of_shard(x):
        # JAX cannot know that all devices go on alike.
        goes_on = jax.lax.psum(x[0], "a") > jax.lax.axis_index("a") - 100
        return jax.lax.cond(goes_on, lambda x: x + jax.lax.psum(x, "a"), lambda x: x, x)

    assert_interprets_shards(of_shard, mesh, np.arange(16, dtype=np.int32))


@over_meshes
def test_programs_without_arguments_on_the_mesh(mesh):
    spec = P(mesh.axis_names)

    def whole(x):
        return jax.shard_map(
            lambda x: x + jax.lax.axis_index(mesh.axis_names), mesh=mesh, in_specs=P(),
            out_specs=spec,
        )(x)  # fmt: skip

    assert_interprets(whole, jnp.arange(3, dtype=jnp.int32))
    assert_interprets(whole, np.arange(3, dtype=np.int32))


def test_a_mesh_of_one_device():
    mesh = mesh_of((1,), ("a",))
    assert_interprets_shards(lambda x: x + jax.lax.psum(x, "a"), mesh, np.arange(4))


@over_meshes
def test_rows_of_operators_lie_as_their_operands(mesh):
    x, y = on_mesh(mesh, floats(mesh)), on_mesh(mesh, floats(mesh) ** 2)
    (result,) = assert_interprets(lambda x, y: jnp.where(x > 0.5, x * y + 1.5, -y), x, y)
    assert result.sharding.is_equivalent_to(x.sharding, 1)
    (flags,) = assert_interprets(lambda x, n: (x > 0) & (n < 4), x, 3)
    assert flags.sharding.is_equivalent_to(x.sharding, 1)


@over_meshes
def test_rows_that_are_made_of_the_same_rows(mesh):
    x = on_mesh(mesh, floats(mesh))
    ids = on_mesh(mesh, np.arange(len(x), dtype=np.int32)[::-1] % 5)
    table = jax.device_put(np.arange(10.0).reshape(5, 2), NamedSharding(mesh, P()))

    def of_rows(x, ids, table):
        taken = table.at[ids].get(mode="clip")
        pairs = jnp.broadcast_to(x.reshape(-1, 1), (len(x), 2))
        return taken, pairs > taken.astype(x.dtype), (taken > 4).sum(axis=1), (x > 0).sum()

    if all(kind == AxisType.Auto for kind in mesh.axis_types):
        assert_interprets(of_rows, x, ids, table)
    largest = staging.tiered(lambda x: x.max())
    # XLA leaves out NaNs of other devices.
    largest(x)
    (entry,) = largest._entries.values()
    assert entry.program is None


def test_operations_around_shards():
    mesh = mesh_of((4,), ("a",), AxisType.Explicit)
    x = on_mesh(mesh, floats(mesh))

    def whole(x, factor):
        doubled = jnp.where(x > 0, x * factor, -x)
        count = (x > 0).sum()
        return doubled, count, jax.sharding.reshard(x > 1, NamedSharding(mesh, P()))

    assert_interprets(whole, x, 2.5)


def test_what_xla_places_is_compiled():
    mesh = MESHES[0]
    x = on_mesh(mesh, floats(mesh))
    for function in (
        lambda x: x.reshape(8, -1) > 0,  # Where XLA places it.
        lambda x: jnp.zeros(4),
        lambda x: jax.lax.with_sharding_constraint(x[:8], NamedSharding(mesh, P())),
    ):
        tiered = staging.tiered(function)
        tiered(x)
        (entry,) = tiered._entries.values()
        assert entry.program is None


def test_results_do_not_share_the_memory_of_numpy_arrays():
    mesh = MESHES[0]
    spec = P("a")
    same = staging.tiered(
        jax.shard_map(lambda x: (x, x[:1]), mesh=mesh, in_specs=spec, out_specs=spec)
    )
    given = np.arange(32)
    results = same(given)
    given[:] = 7
    assert np.asarray(results[0]).tolist() == list(range(32))
    assert np.asarray(results[1]).tolist() == list(range(0, 32, 4))


def test_the_first_calls_of_global_primitives_compile_nothing():
    mesh = mesh_of((8,), ("rows",), AxisType.Explicit)
    rng = np.random.default_rng(0)
    rows = functools.partial(on_mesh, mesh)
    keys = rows(rng.integers(0, 50, 4096).astype(np.int32))
    values = rows(rng.normal(size=4096))
    ids = rows(rng.integers(0, 4096, 4096).astype(np.int32))
    compiled = []

    def listen(event, seconds, **_):
        if event == COMPILE_EVENT:
            compiled.append(event)

    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        sorted_keys, sorted_values = primitives.radix_sort(keys, mesh, values=values)
        sums = primitives.reduce_by_key(keys, values, "sum", mesh, capacity=64)
        distinct = primitives.unique(keys, mesh, capacity=64, return_counts=True)
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)
    assert not compiled
    taken = primitives.gather_rows(values, ids, mesh)
    is_in = primitives.isin(keys, rows(np.full(8, 77, np.int32)), mesh)
    keys, values, ids = map(np.asarray, (keys, values, ids))
    order = np.argsort(keys, kind="stable")
    np.testing.assert_array_equal(sorted_keys, keys[order])
    np.testing.assert_array_equal(sorted_values, values[order])
    np.testing.assert_array_equal(taken, values[ids])
    np.testing.assert_array_equal(np.asarray(distinct.counts)[:50], np.bincount(keys, minlength=50))
    np.testing.assert_allclose(
        np.asarray(sums.values)[:50], np.bincount(keys, values, 50), rtol=1e-12
    )
    assert not np.asarray(is_in).any()
