# SPDX-License-Identifier: Apache-2.0
"""Calls over a mesh in one memory: whole arrays give the results and the places of messages."""

import functools
import inspect

import jax
import jax.numpy as jnp
import numpy as np
import op_cases
import pytest
from both_ways import assert_same, both_ways, mesh_of, on_mesh
from jax.sharding import AxisType, NamedSharding, SingleDeviceSharding
from jax.sharding import PartitionSpec as P
from jaxframes import primitives
from jaxframes.primitives import backend, staging
from jaxframes.primitives._in_shared_memory import _is_within_shard, runs_on_one_device
from jaxframes.primitives.tiers._mesh_program import MeshProgram, WholeProgram
from jaxframes.primitives.tiers._shards import Sharded, Shards, from_devices, grid_of, to_devices
from jaxframes.primitives.tiers._signature import shared_memory

pytestmark = pytest.mark.skipif(backend().cpu != "native", reason="interpreted with the kernels")

KINDS = [AxisType.Auto, AxisType.Explicit]


GLOBAL = [case for case in op_cases.CASES if case.is_at("global") and not case.by_shard]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("num_rows", [12, 13])
@pytest.mark.parametrize("case", GLOBAL, ids=lambda case: case.name)
def test_both_ways_agree(case, num_rows, kind):
    mesh = mesh_of((4,), ("rows",), kind)
    arrays = case.draw(0, num_rows)
    call = case.at("global", mesh=mesh)

    def result_or_error():
        # The capacity of some cases is that of fewer rows.
        try:
            return call(*arrays)
        except primitives.CapacityError as error:
            return str(error)

    ours, theirs = both_ways(result_or_error)
    if isinstance(ours, str):
        assert ours == theirs
    else:
        assert_same(ours, theirs, tolerance=4 * case.tolerance)


SCATTERED = {
    "segment_sum": lambda x, ids, **at: primitives.segment_sum(x, ids, 8, **at),
    "segment_count": lambda x, ids, **at: primitives.segment_count(ids, 8, **at),
    "segment_nunique": lambda x, ids, **at: primitives.segment_nunique(x, ids, 8, **at),
    "segment_quantile": lambda x, ids, **at: primitives.segment_quantile(x, ids, 8, 0.5, **at),
}


@pytest.mark.parametrize("scattered", [False, True])
@pytest.mark.parametrize("name", SCATTERED)
def test_results_of_segments_lie_as_asked(name, scattered):
    mesh = mesh_of((4,), ("rows",))
    x, ids = np.arange(20) / 8, np.arange(20, dtype=np.int32) % 7
    call = functools.partial(SCATTERED[name], x, ids, mesh=mesh, scattered=scattered)
    ours, theirs = both_ways(call)
    assert_same(ours, theirs)
    assert ours.sharding.is_fully_replicated is not scattered


GIVEN = {
    "sharded": lambda mesh, x: on_mesh(mesh, x),
    "on all devices": lambda mesh, x: on_mesh(mesh, x, P()),
    "on one device": lambda mesh, x: jnp.asarray(x),
    "of the host": lambda mesh, x: x,
    "by one of two axes": lambda mesh, x: on_mesh(mesh, x, P(mesh.axis_names[-1])),
    "on another mesh": lambda mesh, x: on_mesh(mesh_of((2,), ("q",), order=[7, 3]), x),
    "bound to the last device": lambda mesh, x: jax.device_put(x, jax.devices()[-1]),
}


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize(
    ("shape", "names", "axis"),
    [((8,), ("a",), None), ((2, 4), ("a", "b"), None), ((2, 4), ("a", "b"), "a"),
     ((2, 4), ("a", "b"), ("b", "a"))],
)  # fmt: skip
def test_arguments_may_lie_anywhere(given, shape, names, axis):
    mesh = mesh_of(shape, names, order=[3, 1, 7, 0, 5, 2, 6, 4])
    rng = np.random.default_rng(0)
    keys, values = rng.integers(0, 9, 16), rng.random((16, 3))
    keys, values = (GIVEN[given](mesh, x) for x in (keys, values))
    sort = functools.partial(primitives.radix_sort, keys, mesh, values=values, axis=axis)
    ours, theirs = both_ways(sort)
    assert_same(ours, theirs)
    order = np.argsort(np.asarray(keys), kind="stable")
    np.testing.assert_array_equal(ours[1], np.asarray(values)[order])


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "bfloat16", "float32"])
def test_bits_and_empty_arrays(dtype):
    mesh = mesh_of((4,), ("rows",))
    for num_rows in (0, 1, 8):
        bits = np.arange(num_rows * jnp.dtype(dtype).itemsize, dtype=np.uint8) * 37
        keys = bits % 2 == 1 if dtype == "bool" else bits.view(dtype)
        call = functools.partial(primitives.radix_sort, keys[:num_rows], mesh)
        assert_same(*both_ways(call))
        call = functools.partial(primitives.unique, keys[:num_rows], mesh)
        assert_same(*both_ways(call))


def sorted_twice(keys, mesh):
    return primitives.radix_sort(primitives.radix_sort(keys, mesh), mesh)


@pytest.mark.parametrize("dtype", ["bool", "int64", "bfloat16"])
def test_the_result_of_a_call_is_the_argument_of_another(dtype):
    keys = (np.arange(64) * 37 % 64).astype(dtype)
    mesh = mesh_of((4,), ("rows",))
    assert_same(*both_ways(functools.partial(sorted_twice, keys, mesh)))


def test_rows_behind_the_valid_ones_change_nothing():
    mesh = mesh_of((4,), ("rows",))
    keys = on_mesh(mesh, np.array([5, 3, 8, 1, 9, 9, 0, 0]))
    for num_valid in (0, 3, 5, np.int32(4), jnp.int32(7)):
        call = functools.partial(primitives.radix_sort, keys, mesh, num_valid=num_valid)
        for result in both_ways(call):
            valid = int(num_valid)
            assert result.tolist()[:valid] == sorted(keys.tolist()[:valid])


def test_errors_are_those_of_a_mesh():
    mesh = mesh_of((4,), ("rows",))
    keys = on_mesh(mesh, np.arange(8))
    for call, error in (
        (lambda: primitives.radix_sort(keys, mesh, axis="none"), ValueError),
        (lambda: primitives.radix_sort(keys, mesh, transport="none"), ValueError),
        (lambda: primitives.unique(keys, mesh, capacity=2), primitives.CapacityError),
        (lambda: primitives.segment_sum(keys, keys, -1, mesh), ValueError),
    ):
        texts = []
        for way in ("auto", "off"):
            with shared_memory(way), pytest.raises(error) as raised:
                call()
            texts.append(str(raised.value))
        assert texts[0] == texts[1]


def test_errors_of_python_name_the_function():
    mesh = mesh_of((4,), ("rows",))
    for call in (
        lambda: primitives.join(np.arange(8), mesh=mesh),
        lambda: primitives.radix_sort(np.arange(8), mesh, mesh=mesh),
        lambda: primitives.radix_sort(np.arange(8), mesh, of=3),
    ):
        with shared_memory("auto"), pytest.raises(TypeError, match=r"\(\)"):
            call()


def test_edges_of_bins_are_on_all_devices():
    mesh = mesh_of((4,), ("rows",))
    for num_bins in (4, 5, 9):
        call = functools.partial(primitives.quantile_bins, np.arange(16.0), num_bins, mesh)
        ours, theirs = both_ways(call)
        assert_same(ours, theirs)
        assert ours.edges.sharding.is_fully_replicated


def test_sums_that_are_not_reduced_are_left_to_jax():
    mesh = mesh_of((4,), ("rows",), AxisType.Explicit)
    left, right = on_mesh(mesh, np.ones((2, 8)), P(None, "rows")), on_mesh(mesh, np.ones((8, 8)))
    with jax.set_mesh(mesh):
        place = P(None, None, unreduced={"rows"})
        multiply = functools.partial(jnp.einsum, "ab,bc->ac", out_sharding=place)
        terms = jax.jit(multiply)(left, right)
    with shared_memory("auto"), pytest.raises(NotImplementedError):
        primitives.gather_rows(terms, np.array([1, 0]), mesh)


def test_arguments_in_another_memory():
    mesh = mesh_of((4,), ("rows",))
    place = SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host")
    keys = jax.device_put(np.arange(8)[::-1].copy(), place)
    ours, theirs = both_ways(lambda: primitives.radix_sort(keys, mesh))
    assert_same(ours, theirs)


def test_a_guard_of_transfers_is_for_the_arguments():
    mesh = mesh_of((4,), ("rows",))
    keys = on_mesh(mesh, np.arange(8)[::-1].copy())
    with shared_memory("auto"), jax.transfer_guard("disallow_explicit"):
        result = primitives.radix_sort(keys, mesh)
    assert result.tolist() == list(range(8))


def test_more_rows_than_one_device_may_hold():
    """A repeated number takes no memory."""
    few, most = np.zeros(5), np.broadcast_to(np.int8(0), 2**31 - 1)
    for leaves in ([few, 2**31 - 1], [most], [few, "sum", None, np.float32(1e20)]):
        assert _is_within_shard(leaves)
    for leaves in ([few, 2**31], [few, np.int64(2**40)], [most, few]):
        assert not _is_within_shard(leaves)


def test_calls_that_are_left_to_the_mesh():
    mesh = mesh_of((4,), ("rows",))
    keys = on_mesh(mesh, np.arange(8)[::-1].copy())
    with shared_memory("auto"):
        assert runs_on_one_device(mesh)
        assert not runs_on_one_device(mesh.abstract_mesh)
        with jax.disable_jit():
            assert not runs_on_one_device(mesh)
        with jax.set_mesh(mesh):
            assert not runs_on_one_device(mesh)
            assert primitives.radix_sort(keys, mesh).tolist() == list(range(8))
        seen = []

        @jax.jit
        def sort(keys):
            seen.append(runs_on_one_device(mesh))
            return primitives.radix_sort(keys, mesh)

        assert sort(keys).tolist() == list(range(8))
        assert seen == [False]
        assert "shard_map" in str(jax.make_jaxpr(sort)(keys))
        scales = jax.grad(lambda v: primitives.radix_sort(keys, mesh, values=v)[1][0])
        assert scales(on_mesh(mesh, np.arange(8.0))).tolist() == [0.0] * 7 + [1.0]
    with shared_memory("off"):
        assert not runs_on_one_device(mesh)


def test_shards_of_a_result_lie_one_behind_the_other():
    mesh = mesh_of((4,), ("rows",))
    with shared_memory("auto"):
        keys = primitives.radix_sort(on_mesh(mesh, np.arange(4096.0)[::-1].copy()), mesh)
    shards = from_devices(keys, grid_of(mesh))
    whole = shards.whole()
    assert np.shares_memory(whole, shards.shards[3])
    assert not whole.flags.writeable
    np.testing.assert_array_equal(whole, np.arange(4096.0))
    # The memory stays as long as the array that shows it.
    del keys, shards
    np.testing.assert_array_equal(whole, np.arange(4096.0))


def test_shards_that_lie_elsewhere_are_copied():
    grid = grid_of(mesh_of((2, 2), ("a", "b")))
    memory = np.arange(16.0)
    quarters = [memory[4 * n : 4 * n + 4] for n in range(4)]
    for shards, spec, shape in (
        (quarters[::-1], (("a", "b"),), (16,)),
        (quarters, (("b", "a"),), (16,)),
        ([quarters[0], quarters[0], quarters[1], quarters[1]], ("a",), (8,)),
        ([one.reshape(2, 2) for one in quarters], ("a", "b"), (4, 4)),
        ([memory[n::4] for n in range(4)], (("a", "b"),), (16,)),
    ):
        value = Sharded(grid, spec, Shards(shards), shape)
        assert not np.shares_memory(value.whole(), memory)
        mesh = mesh_of((2, 2), ("a", "b"))
        placed = to_devices(value, mesh, spec)
        np.testing.assert_array_equal(np.asarray(placed), value.whole())


def test_a_donated_argument_keeps_the_memory_of_others():
    mesh = mesh_of((4,), ("rows",))
    with shared_memory("auto"):
        first = primitives.radix_sort(on_mesh(mesh, np.arange(64.0)), mesh)
        (second,) = primitives.radix_sort((first,), mesh)
        whole = from_devices(first, grid_of(mesh)).whole()
        jax.block_until_ready(jax.jit(lambda x: x + 1, donate_argnums=0)(first))
    np.testing.assert_array_equal(whole, np.arange(64.0))
    np.testing.assert_array_equal(second, np.arange(64.0))


def test_arrays_of_the_caller_may_change_later():
    mesh = mesh_of((4,), ("rows",))
    keys = np.arange(4096)
    with shared_memory("auto"):
        result = primitives.radix_sort(keys, mesh)
        inverse = primitives.gather_rows(keys, np.arange(4096), mesh)
    keys[:] = 0
    np.testing.assert_array_equal(result, np.arange(4096))
    np.testing.assert_array_equal(inverse, np.arange(4096))


def test_keys_of_random_numbers():
    mesh = mesh_of((4,), ("rows",))
    for key in (jax.random.key(3), on_mesh(mesh, jax.random.key(3), P())):
        ours, theirs = both_ways(functools.partial(primitives.random_permutation, key, 12, mesh))
        assert_same(ours, theirs)


def sorted_sums(mesh, keys, values):
    place = NamedSharding(mesh, P(mesh.axis_names))
    order = primitives.radix_argsort(keys, mesh)
    values = primitives.gather_rows(values, order, mesh)
    total = primitives.inclusive_scan(values * 2 + 1, "sum", mesh)
    return jax.lax.with_sharding_constraint(total - values, place), jnp.sum(keys), keys[:3]


@pytest.mark.parametrize("size", [4, 1])
def test_a_tiered_function_runs_on_one_device(size):
    mesh = mesh_of((size,), ("rows",))
    rng = np.random.default_rng(0)
    keys, values = on_mesh(mesh, rng.integers(0, 9, 64)), on_mesh(mesh, rng.random(64))
    function = staging.tiered(lambda keys, values: sorted_sums(mesh, keys, values))
    with shared_memory("auto"):
        ours = function(keys, values)
    (entry,) = function._entries.values()
    assert isinstance(entry.program, WholeProgram)
    compiled = entry.run(((keys, values), {}), [keys, values])
    assert_same(ours, compiled)
    order = np.argsort(np.asarray(keys), kind="stable")
    expected = np.asarray(values)[order]
    expected = np.cumsum(expected * 2 + 1) - expected
    np.testing.assert_allclose(np.asarray(ours[0]), expected, rtol=1e-14)
    assert ours[0].sharding.spec == P(mesh.axis_names)
    assert int(ours[1]) == int(np.asarray(keys).sum())
    assert ours[1].sharding.is_fully_replicated
    assert ours[2].tolist() == np.asarray(keys)[:3].tolist()
    with shared_memory("off"):
        function(keys, values)
    assert len(function._entries) == 2


def test_results_of_weak_type_stay_weak():
    mesh = mesh_of((4,), ("rows",))
    function = staging.tiered(lambda x: (primitives.radix_sort(x, mesh), jnp.sum(x) * 0 + 1, 2))
    keys = on_mesh(mesh, np.arange(8)[::-1].copy())
    ours, theirs = both_ways(functools.partial(function, keys))
    assert_same(ours, theirs)
    assert ours[2].weak_type


def test_a_shard_map_runs_over_the_mesh():
    mesh = mesh_of((4,), ("rows",))
    spec = P("rows")
    function = staging.tiered(
        lambda x: jax.shard_map(
            lambda x: x + jax.lax.axis_index("rows").astype(x.dtype),
            mesh=mesh,
            in_specs=spec,
            out_specs=spec,
        )(primitives.radix_sort(x, mesh))
    )
    with shared_memory("auto"):
        result = function(on_mesh(mesh, np.arange(8)[::-1].copy()))
    (entry,) = function._entries.values()
    assert type(entry.program) is MeshProgram
    assert result.tolist() == [0, 1, 3, 4, 6, 7, 9, 10]


def test_64_bits_without_x64_mode():
    mesh = mesh_of((4,), ("rows",))
    with jax.enable_x64(False):
        keys = on_mesh(mesh, np.arange(8, dtype=np.float32)[::-1].copy())
        assert_same(*both_ways(functools.partial(primitives.radix_argsort, keys, mesh)))
        for way in ("auto", "off"):
            with shared_memory(way), pytest.raises(TypeError, match="x64"):
                primitives.radix_sort(np.arange(8), mesh)


def test_xla_divides_what_calls_no_kernel():
    mesh = mesh_of((4,), ("rows",))
    function = staging.tiered(lambda x: x * 2)
    with shared_memory("auto"):
        result = function(on_mesh(mesh, np.arange(8)))
    (entry,) = function._entries.values()
    assert type(entry.program) is MeshProgram
    assert result.tolist() == list(range(0, 16, 2))


def test_every_op_over_a_mesh_takes_one_of_the_ways():
    """Calls whose results say what each shard has run over the mesh."""
    by_shard = {"partition", "rebalance", "divide_ragged", "collect_ragged"}
    for name in op_cases.ops_of("global") | {"random_permutation", "collect_ragged"}:
        function = getattr(primitives, name)
        if name == "segment_reduce" or "mesh" not in inspect.signature(function).parameters:
            # All reductions of segments go through one call.
            continue
        assert hasattr(function, "__wrapped__") is (name not in by_shard), name
