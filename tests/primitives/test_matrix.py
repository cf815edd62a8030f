# SPDX-License-Identifier: Apache-2.0
"""Every op on every level under every transformation, on a few rows each.

Other files test the results of each op; here no transformation may change them. The calls are in
op_cases.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import op_cases
import oracles
import pytest
from compiled_program import CompiledProgram
from derivatives import WAYS, check_derivatives
from jax.flatten_util import ravel_pytree
from jax.sharding import AxisType, PartitionSpec
from jaxframes import shardings
from on_shards import into_shards, mesh_of, noting, on_shards, row_counts
from quick_compilation import UNOPTIMISED

# A batch of three calls also serves as three shards.
BATCH = 3
WIDTHS = {"float64": np.float32, "int64": np.int32, "uint64": np.uint32, "complex128": np.complex64}


def cases_of(level, is_wanted=lambda case: True):
    cases = [case for case in op_cases.CASES if case.is_at(level) and is_wanted(case)]
    parametrized = pytest.mark.parametrize("case", cases, ids=lambda case: case.name)
    # At least one transformation for each op, and one op for each transformation.
    together = pytest.mark.covered_together(level)
    return lambda test: together(parametrized(test))


def assert_agree(case, actual, expected):
    if not case.tolerance:
        oracles.assert_same_bits(actual, expected)
        return
    assert jax.tree.structure(actual) == jax.tree.structure(expected)
    for one, other in zip(jax.tree.leaves(actual), jax.tree.leaves(expected), strict=True):
        assert one.dtype == other.dtype
        if one.dtype == float or one.dtype == np.float32:
            precision = case.tolerance * np.finfo(one.dtype).eps
            np.testing.assert_allclose(one, other, rtol=precision, atol=precision)
        else:
            oracles.assert_same_bits(one, other)


def elements_of(tree, axis=0):
    """The elements of a batch."""
    tree = jax.tree.map(np.asarray, tree)
    return [jax.tree.map(lambda leaf, i=i: leaf.take(i, axis), tree) for i in range(BATCH)]


def compiled(function):
    """Compiles with little optimization: these programs run once on a few rows."""
    return jax.jit(function, compiler_options=UNOPTIMISED)


def narrowed(tree):
    """Converts arrays to JAX's dtypes without x64 mode."""
    return jax.tree.map(lambda leaf: np.asarray(leaf, WIDTHS.get(leaf.dtype.name)), tree)


@functools.cache
def local_call(case):
    return jax.jit(case.at("local"))


@functools.cache
def expected_of(case, seed=0, num_rows=op_cases.NUM_ROWS):
    """The result of the local call, always with x64 mode."""
    with jax.enable_x64(True):
        return local_call(case)(*case.draw(seed, num_rows))


def collective_of(case):
    """The collective as a function of the number of valid rows and the rows."""

    def call(num_valid, *rows):
        return case.at("collective", axis_name="rows", num_valid=num_valid)(*rows)

    return call


@functools.cache
def on_three_shards(case):
    return on_shards(collective_of(case), 3)


@pytest.mark.parametrize("level", op_cases.PACKAGES)
def test_every_op_has_a_case(level):
    assert op_cases.ops_of(level) <= {case.name for case in op_cases.CASES}


def test_every_case_has_an_op():
    assert all(any(map(case.is_at, op_cases.PACKAGES)) for case in op_cases.CASES)


# Local


@cases_of("local")
def test_local_call_without_jit(case):
    assert_agree(case, case.at("local")(*case.draw(0)), expected_of(case))


@cases_of("local")
def test_local_call_under_vmap_and_in_a_scan(case):
    call = case.at("local")

    @compiled
    def mapped_and_looped(*batch):
        return jax.vmap(call)(*batch), jax.lax.map(lambda one: call(*one), batch)

    for batch in mapped_and_looped(*case.draw_batch(BATCH)):
        for seed, one in enumerate(elements_of(batch)):
            assert_agree(case, one, expected_of(case, seed))


@cases_of("local")
def test_local_call_inside_shard_map(case):
    call = on_shards(case.at("local"), BATCH)
    shards = call(*case.draw_batch(BATCH))
    for seed, one in enumerate(elements_of(shards)):
        assert_agree(case, one, expected_of(case, seed))


@cases_of("local")
@pytest.mark.usefixtures("x64_off")
def test_local_call_without_x64(case):
    actual = compiled(case.at("local"))(*narrowed(case.draw(0)))
    assert_agree(case, actual, narrowed(expected_of(case)))


@cases_of("local", lambda case: case.variables)
def test_derivatives_of_local_call(case):
    weighted, x = weighted_sum(case, case.at("local"), case.draw(0))
    check_derivatives(weighted, x, compiler_options=UNOPTIMISED)


@pytest.mark.parametrize(
    "case", [case for case in op_cases.CASES if case.fixed], ids=lambda case: case.name
)
def test_keys_that_tie_have_a_derivative(case):
    weighted, x = weighted_sum(case._replace(fixed=()), case.at("local"), case.draw(0))
    assert jax.eval_shape(jax.grad(weighted), x).shape == x.shape


# Collective


@cases_of("collective")
def test_collective_on_one_shard_is_the_local_call(case):
    # The rows arrive replicated, which a collective must accept too.
    by_row = PartitionSpec("rows")
    collective = jax.shard_map(
        lambda *rows: jax.tree.map(
            lambda leaf: leaf[None], case.at("collective", axis_name="rows")(*rows)
        ),
        mesh=mesh_of(1),
        in_specs=PartitionSpec(),
        out_specs=by_row,
    )
    actual = jax.tree.map(lambda leaf: leaf[0], compiled(collective)(*case.draw(0)))
    if case.is_at("local"):
        assert_agree(case, actual, expected_of(case))


@cases_of("collective")
def test_collective_under_vmap(case):
    # Each element of the batch has its own numbers of valid rows.
    counts = list(row_counts(3, op_cases.NUM_ROWS // 3).values())[:BATCH]
    draws = [(counts[seed], *into_shards(case.draw(seed), 3)) for seed in range(BATCH)]
    batch = jax.tree.map(lambda *arrays: np.stack(arrays, 1), *draws)
    actual = on_shards(jax.vmap(collective_of(case)), 3)(*batch)
    for one, draw in zip(elements_of(actual, axis=1), draws, strict=True):
        assert_agree(case, one, on_three_shards(case)(*draw))


# Second derivatives over a mesh are the largest programs of all, so each is one case.
@cases_of("collective", lambda case: case.variables)
@pytest.mark.parametrize("way", WAYS)
def test_derivatives_of_collective(case, way):
    # One route, and the longer one, instead of the choice between both.
    call = case.at("collective", axis_name="rows", transport="two_hop")
    on_rows = on_shards(call, 3, compiler_options=None)
    weighted, x = weighted_sum(case, lambda *rows: on_rows(*into_shards(rows, 3)), case.draw(0))
    check_derivatives(weighted, x, ways=[way], compiler_options=UNOPTIMISED)


@pytest.mark.parametrize(
    "case", [case for case in op_cases.CASES if case.moved], ids=lambda case: case.name
)
def test_rows_are_conserved(case):
    rows = into_shards(case.draw(0), 3)
    num_rows = op_cases.NUM_ROWS // 3
    for counted, counts in row_counts(3, num_rows).items():
        is_row = np.arange(num_rows) < counts[:, None]
        valid = [leaf * np.expand_dims(is_row, tuple(range(2, leaf.ndim))) for leaf in rows]
        sent, received = case.moved(valid, on_three_shards(case)(counts, *rows))
        with noting(counted):
            assert rows_of(received) == rows_of(sent)


def rows_of(shards):
    """The non-empty rows of all shards, sorted by value."""
    shards = np.asarray(shards)
    rows = shards.reshape(shards.shape[0] * shards.shape[1], -1)
    return sorted(map(tuple, rows[rows.any(axis=1)].tolist()))


# Global: most calls have a length that the shards do not divide. Unless the transport matters, the
# rows use the one that compiles fastest.


LENGTH = op_cases.NUM_ROWS - 1


def global_expected(case, mesh, seed=0, num_rows=LENGTH):
    """The result for every mesh; for a result by shard, the eager one of this mesh."""
    if case.is_at("local"):
        return expected_of(case, seed, num_rows)
    mesh = mesh if case.by_shard else mesh_of(1)
    return case.at("global", mesh=mesh)(*case.draw(seed, num_rows))


# A result by shard depends on the mesh.
@cases_of("global", lambda case: not case.by_shard)
def test_global_call_on_every_mesh(case):
    rows = case.draw(0, LENGTH)
    one_shard = case.at("global", mesh=mesh_of(1))(*rows)
    program = compiled(case.at("global", mesh=mesh_of(3))).lower(*rows).compile()
    three_shards = program(*rows)
    assert CompiledProgram(program.as_text()).collectives_in_control_flow() == []
    for actual in (one_shard, three_shards):
        assert_agree(case, actual, global_expected(case, mesh_of(1)))


@cases_of("global")
def test_global_call_on_explicit_axes_under_jit(case):
    mesh = shardings.make_mesh(3, axis_type=AxisType.Explicit)
    rows = case.draw(0)
    expected = global_expected(case, mesh_of(3), num_rows=len(rows[0]))
    with jax.set_mesh(mesh):
        rows = jax.device_put(rows, shardings.row_sharded(mesh))
        actual = compiled(case.at("global", mesh=mesh, transport="one_hop"))(*rows)
    assert_agree(case, actual, expected)


@cases_of("global")
def test_global_call_under_vmap(case):
    call = case.at("global", mesh=mesh_of(3), transport="one_hop")
    draws = [case.draw(seed, LENGTH) for seed in range(BATCH)]
    batch = jax.tree.map(lambda *arrays: np.stack(arrays), *draws)
    for seed, one in enumerate(elements_of(compiled(jax.vmap(call))(*batch))):
        assert_agree(case, one, global_expected(case, mesh_of(3), seed))


@cases_of("global", lambda case: case.variables)
def test_gradient_of_global_call(case):
    rows = case.draw(0, LENGTH)
    mesh = shardings.make_mesh(3, axis_type=AxisType.Explicit)
    one_device = {} if case.is_at("local") else {"mesh": mesh_of(3)}
    weighted, x = weighted_sum(case, case.at("global", **one_device), rows)
    expected = compiled(jax.grad(weighted))(x)
    # Explicit shardings of tangents are those of the mesh that is set.
    with jax.set_mesh(mesh):
        call = case.at("global", mesh=mesh, transport="one_hop")
        weighted, x = weighted_sum(case, call, rows)
        actual = compiled(jax.grad(weighted))(jax.device_put(x, shardings.replicated(mesh)))
    np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-12)


@cases_of("global")
def test_global_call_without_x64(case):
    expected = narrowed(global_expected(case, mesh_of(2)))
    with jax.enable_x64(False):
        call = case.at("global", mesh=mesh_of(2), transport="one_hop")
        actual = compiled(call)(*narrowed(case.draw(0, LENGTH)))
    assert_agree(case, actual, expected)


# Derivatives


def weighted_sum(case, function, rows):
    """A scalar function of the float arrays as one vector, and that vector.

    A result without floats must still have a derivative, which is zero.
    """
    places = case.variables
    x, unravel = ravel_pytree([jnp.asarray(rows[place]) for place in places])

    def weighted(x):
        arguments = list(rows)
        for place, leaf in zip(places, unravel(x), strict=True):
            # Nonlinear and increasing, so that sorted rows stay sorted.
            arguments[place] = leaf + jnp.sin(leaf) / 2
        leaves = [
            leaf.reshape(-1)
            for leaf in jax.tree.leaves(function(*arguments))
            if leaf.dtype == float
        ]
        # Each position has a distinct weight, which reveals a misplaced derivative.
        weights = [jnp.arange(1.0, leaf.size + 1) / leaf.size for leaf in leaves]
        return sum(map(jnp.vdot, weights, [leaf**2 for leaf in leaves]), start=0.0 * x.sum())

    return weighted, x
