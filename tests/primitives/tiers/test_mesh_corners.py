# SPDX-License-Identifier: Apache-2.0
"""Rare programs over a mesh: XLA's bits, places and errors in both tiers."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from both_ways import mesh_of, on_mesh
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P
from jaxframes.primitives import backend, staging
from jaxframes.primitives.tiers import _entry, _tiered
from jaxframes.primitives.tiers._mesh_program import MeshProgram
from jaxframes.primitives.tiers._signature import shared_memory

pytestmark = pytest.mark.skipif(backend().cpu != "native", reason="interpreted with the kernels")
_ORDER = [3, 1, 7, 0, 5, 2, 6, 4]


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    for module in (_tiered, _entry):
        monkeypatch.setattr(module, "mode", lambda: "interpreted")
    with shared_memory("off"):
        yield


def over(mesh, function, out_specs=None, **options):
    spec = P(mesh.axis_names)
    out_specs = spec if out_specs is None else out_specs
    return jax.shard_map(function, mesh=mesh, in_specs=spec, out_specs=out_specs, **options)


def assert_same(actual, expected):
    for ours, theirs in zip(jax.tree.leaves(actual), jax.tree.leaves(expected), strict=True):
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        assert ours.sharding.is_equivalent_to(theirs.sharding, ours.ndim)
        assert ours.sharding.memory_kind == theirs.sharding.memory_kind
        for one, other in zip(ours.addressable_shards, theirs.addressable_shards, strict=True):
            assert one.device == other.device
            assert np.asarray(one.data).tobytes() == np.asarray(other.data).tobytes()


def assert_interprets(function, *arguments):
    tiered = staging.tiered(function)
    actual = tiered(*arguments)
    (entry,) = tiered._entries.values()
    assert isinstance(entry.program, MeshProgram)
    assert entry.num_calls == 1
    assert_same(actual, entry.run((arguments, {}), jax.tree.leaves(arguments)))
    return actual


def assert_left_to_xla(function, *arguments):
    tiered = staging.tiered(function)
    assert_same(tiered(*arguments), jax.jit(function)(*arguments))
    (entry,) = tiered._entries.values()
    assert entry.num_calls == 0


MESHES = [
    mesh_of((8,), ("a",), order=_ORDER),
    mesh_of((2, 4), ("a", "b"), AxisType.Explicit, _ORDER),
    mesh_of((2, 2, 2), ("b", "c", "a")),
    mesh_of((1, 8), ("s", "a")),
    mesh_of((1,), ("a",)),
]
over_meshes = pytest.mark.parametrize("mesh", MESHES, ids=lambda mesh: str(dict(mesh.shape)))


def words(num_words):
    """NaNs of many kinds, zeros of both signs, subnormal numbers and infinities."""
    rng = np.random.default_rng(0)
    edges = [0x7FC00001, 0xFFC00002, 0x7F800003, 0x80000000, 0, 1, 0x80000005, 0x00400000,
             0x7F800000, 0xFF800000, 0x3F800000]  # fmt: skip
    found = rng.choice(np.array(edges, np.uint32), num_words)
    # Some positions where all devices have the same kind.
    found[::3] = 0x80000000
    found[1::3] = 0x7FC00000 + np.arange(len(found[1::3]))
    found[2::9] = 0x80000001
    return found.view(np.float32)


@over_meshes
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_reductions_of_special_numbers(mesh, dtype):
    # Each device has as many rows, so that the kinds of numbers meet each other.
    with np.errstate(all="ignore"):
        x = np.tile(words(8 * 9), mesh.size).astype(dtype)
    x[-17:] = 1
    axes = mesh.axis_names

    def of_shard(x):
        scattered = [jax.lax.psum_scatter(x[: x.size // 8 * 8], one, tiled=True) for one in axes]
        return jax.lax.psum(x, axes), jax.lax.pmax(x, axes), jax.lax.pmin(x, axes), *scattered

    specs = [P(), P(), P(), *[P(axes)] * len(axes)]
    assert_interprets(over(mesh, of_shard, tuple(specs)), on_mesh(mesh, x))


@over_meshes
def test_axes_in_any_order(mesh):
    axes = mesh.axis_names[::-1]
    perm = [(0, 3), (3, 1), (1, 6)] if mesh.size == 8 else [(0, 0)]

    def of_shard(x):
        gathered = jax.lax.all_gather(x, axes).ravel()
        exchanged = jax.lax.all_to_all(x.reshape(8, -1), axes, 0, 1, tiled=True).ravel()
        return jax.lax.ppermute(x, axes, perm), gathered, exchanged, jax.lax.psum(x, axes) + x

    assert_interprets(over(mesh, of_shard), on_mesh(mesh, np.arange(mesh.size * 16.0)))


@pytest.mark.parametrize(("shape", "names"), [((1,), ("s",)), ((1, 8), ("s", "a"))], ids=str)
def test_exchanges_of_single_devices_are_left_out(shape, names):
    mesh = mesh_of(shape, names)
    x, y = np.random.default_rng(0).normal(size=(2, 512)).astype(np.float32)

    def of_shard(x, y):
        # XLA contracts the product and the sum, and selects by the flags.
        product = jax.lax.all_to_all(x * y, "s", 0, 0, tiled=True) + x
        flags = jax.lax.all_to_all((x > 0).astype(x.dtype), "s", 0, 0, tiled=True)
        return product, flags * (y / 0)

    assert_interprets(over(mesh, of_shard), on_mesh(mesh, x), on_mesh(mesh, y))
    assert_left_to_xla(
        over(mesh, lambda x: jax.lax.all_to_all(x.reshape(1, -1), "s", 0, 1).ravel()),
        on_mesh(mesh, x),
    )


def test_branches_of_single_devices_that_mark_what_varies():
    mesh = MESHES[0]

    def of_shard(x, y):
        return jax.lax.cond(
            x[0] > 10, lambda x, y: x + jax.lax.pcast(y * 2, "a", to="varying"),
            lambda x, y: x, x, y,
        )  # fmt: skip

    mapped = jax.shard_map(of_shard, mesh=mesh, in_specs=(P("a"), P()), out_specs=P("a"))
    assert_interprets(mapped, on_mesh(mesh, np.arange(32)), on_mesh(mesh, np.arange(4), P()))


def test_results_that_devices_should_have_alike_but_do_not():
    mesh = mesh_of((2, 4), ("a", "b"))
    x = on_mesh(mesh, np.arange(32))
    for spec in (P(), P("a"), P("b")):
        assert_left_to_xla(over(mesh, lambda x: x, spec, check_vma=False), x)
        # They are alike here.
        assert_interprets(over(mesh, lambda x: x[:1] * 0, spec, check_vma=False), x)

    def total(x):
        apart = over(mesh, lambda x: x, P(), check_vma=False)(x)
        summed = lambda x: jax.lax.psum(x, ("a", "b"))  # noqa: E731
        return jax.shard_map(summed, mesh=mesh, in_specs=P(), out_specs=P(), check_vma=False)(apart)

    assert_left_to_xla(total, x)


def test_explicit_axes_and_arguments_without_a_place():
    mesh = mesh_of((8,), ("a",), AxisType.Explicit)
    x, y = on_mesh(mesh, np.arange(16)), np.arange(16)
    assert_interprets(lambda x, y: (x + y, y, y + 1, y.sum()), x, y)
    assert_interprets(lambda x, y: (x + y, y, y + 1, y.sum()), x, jnp.asarray(y))


def test_constraints_that_no_result_may_have():
    mesh = mesh_of((8,), ("a",))
    x = on_mesh(mesh, np.arange(64))
    place = jax.lax.with_sharding_constraint
    other = mesh_of((4, 2), ("x", "y"))
    assert_left_to_xla(lambda x: place(x[:7], NamedSharding(mesh, P("a"))), x)
    assert_left_to_xla(lambda x: place(x + 1, NamedSharding(mesh, P(P.UNCONSTRAINED))), x)
    assert_left_to_xla(lambda x: place(x + 1, NamedSharding(other, P("x"))), x)
    assert_left_to_xla(jax.jit(lambda x: x + 1, out_shardings=NamedSharding(mesh, P())), x)
    assert_left_to_xla(
        lambda x: jax.jit(lambda x: x + 1, out_shardings=NamedSharding(mesh, P()))(x), x
    )


def test_sums_that_are_not_reduced_are_left_to_xla():
    mesh = mesh_of((2, 4), ("a", "b"), AxisType.Explicit)
    make = jax.shard_map(
        lambda x: x, mesh=mesh, in_specs=P("a"), out_specs=P(None, unreduced={"a"})
    )
    x = on_mesh(mesh, np.arange(16.0), P("a"))
    whole = NamedSharding(mesh, P(None))
    assert_left_to_xla(lambda x: jax.sharding.reshard(make(x), whole), x)
    assert_left_to_xla(lambda x: jax.sharding.reshard(x, whole), jax.jit(make)(x))


def test_meshes_that_differ():
    mesh, other = mesh_of((8,), ("a",)), mesh_of((8,), ("a",), order=_ORDER)
    explicit = mesh_of((8,), ("a",), AxisType.Explicit)
    x = np.arange(16)

    def positions(mesh):
        return over(mesh, lambda x: x + jax.lax.axis_index("a").astype(x.dtype))

    both = lambda x: (positions(mesh)(x), positions(other)(x))  # noqa: E731
    for function, given in ((positions(other), on_mesh(mesh, x)), (both, x)):
        with pytest.raises(ValueError, match="incompatible devices"):
            staging.tiered(function)(given)
    assert_left_to_xla(positions(mesh), on_mesh(explicit, x))
    assert_interprets(positions(other), x)


def test_arrays_in_another_memory_and_of_half_bytes_are_left_to_jax():
    mesh = mesh_of((8,), ("a",))
    place = NamedSharding(mesh, P("a"), memory_kind="pinned_host")
    assert_left_to_xla(lambda x: (x, x + 1), jax.device_put(np.arange(16), place))
    single = jax.sharding.SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host")
    assert_left_to_xla(lambda x: (x, x + 1), jax.device_put(np.arange(16), single))
    assert_left_to_xla(lambda x: (x, x + x), on_mesh(mesh, jnp.arange(16).astype("int4")))


def test_a_guard_of_transfers():
    mesh = mesh_of((8,), ("a",))
    x = on_mesh(mesh, np.arange(16))
    total = over(mesh, lambda x: jax.lax.psum(x, "a"), P())
    with jax.transfer_guard("disallow_explicit"):
        result = staging.tiered(total)(x)
    np.testing.assert_array_equal(result, np.arange(16).reshape(8, 2).sum(0))
