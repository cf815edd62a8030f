# SPDX-License-Identifier: Apache-2.0
"""Checked collectives on trees: NumPy's results, JAX's programs, and errors word for word."""

import functools
import re

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jax.sharding import PartitionSpec as P
from jaxframes.primitives import collective
from on_shards import mesh_of, on_shards

NUM_SHARDS = 4
RAW = {
    "psum": lambda tree: jax.lax.psum(tree, "rows"),
    "pmean": lambda tree: jax.lax.pmean(tree, "rows"),
    "pmax": lambda tree: jax.lax.pmax(tree, "rows"),
    "pmin": lambda tree: jax.lax.pmin(tree, "rows"),
    "all_gather": lambda tree: jax.lax.all_gather(tree, "rows", axis=1, tiled=True),
    "psum_scatter": lambda tree: jax.lax.psum_scatter(tree, "rows", tiled=True),
    "ppermute": lambda tree: jax.lax.ppermute(tree, "rows", [(0, 2), (2, 1)]),
    "shift": lambda tree: jax.lax.ppermute(tree, "rows", [(0, 1), (1, 2), (2, 3)]),
}
OPTIONS = {
    "all_gather": {"axis": 1, "tiled": True},
    "psum_scatter": {"tiled": True},
    "ppermute": {"perm": [(0, 2), (2, 1)]},
}


def checked(name):
    options = OPTIONS.get(name, {})
    return functools.partial(getattr(collective, name), axis_name="rows", **options)


def tree_of(num_shards=NUM_SHARDS):
    rng = np.random.default_rng(0)
    return {
        "float": rng.standard_normal((num_shards, 4, 3)).astype(np.float32),
        "nested": [
            rng.integers(0, 9, (num_shards, 8, 1)),
            rng.standard_normal((num_shards, 4, 2)).astype(jnp.bfloat16),
        ],
    }


@pytest.mark.parametrize("name", RAW)
def test_the_program_is_that_of_jax(name):
    def lowered(function):
        mapped = jax.shard_map(
            lambda tree: jax.tree.map(lambda leaf: leaf[None], function(tree_squeezed(tree))),
            mesh=mesh_of(NUM_SHARDS),
            in_specs=P("rows"),
            out_specs=P("rows"),
        )
        return jax.jit(mapped).lower(tree_of()).as_text()

    def tree_squeezed(tree):
        return jax.tree.map(lambda leaf: leaf[0], tree)

    assert lowered(checked(name)) == lowered(RAW[name])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("psum", lambda x: np.broadcast_to(x.sum(0), x.shape)),
        ("pmean", lambda x: np.broadcast_to(x.mean(0), x.shape)),
        ("pmax", lambda x: np.broadcast_to(x.max(0), x.shape)),
        ("pmin", lambda x: np.broadcast_to(x.min(0), x.shape)),
        ("all_gather", lambda x: np.stack([np.concatenate(x, axis=1)] * len(x))),
        ("psum_scatter", lambda x: np.stack(np.split(x.sum(0), len(x)))),
        ("ppermute", lambda x: np.stack([0 * x[0], x[2], x[0], 0 * x[3]])),
        ("shift", lambda x: np.stack([0 * x[0], *x[:-1]])),
    ],
)
def test_results_are_those_of_numpy(name, expected):
    tree = tree_of()
    result = on_shards(checked(name), NUM_SHARDS)(tree)
    assert jax.tree.structure(result) == jax.tree.structure(tree)
    for leaf, whole in zip(jax.tree.leaves(result), jax.tree.leaves(tree), strict=True):
        wide = expected(whole.astype(np.float64))
        tolerance = 2e-2 if leaf.dtype == jnp.bfloat16 else 1e-6
        np.testing.assert_allclose(leaf.astype(np.float64), wide, rtol=tolerance, atol=tolerance)
        assert leaf.dtype == whole.dtype or name == "pmean"


AWKWARD = {
    "float": np.array([-0.0, 0.0, np.nan, np.inf, 5e-324, 1e-310]),
    "single": np.array([-0.0, 1e-40, -np.inf], np.float32),
    "half": np.array([-0.0, 3], jnp.bfloat16),
    "flags": np.array([True, False]),
    "small": np.array(-7, np.int8),
    "large": np.array([2**63 + 1], np.uint64),
    "complex": np.array([-0.0 - 1j]),
    "none": np.zeros((0, 2)),
}


@pytest.mark.parametrize("src", range(NUM_SHARDS))
def test_broadcast_copies_every_bit_of_any_source(src):
    trees = [
        jax.tree.map(lambda leaf, i=i: leaf if i == src else np.ones_like(leaf), AWKWARD)
        for i in range(NUM_SHARDS)
    ]
    stacked = jax.tree.map(lambda *leaves: np.stack(leaves), *trees)
    mapped = jax.shard_map(
        lambda tree: collective.broadcast(
            jax.tree.map(lambda leaf: leaf[0], tree), src, axis_name="rows"
        ),
        mesh=mesh_of(NUM_SHARDS),
        in_specs=P("rows"),
        # The same on every shard, which JAX checks.
        out_specs=P(),
    )
    oracles.assert_same_bits(jax.jit(mapped)(stacked), AWKWARD)


def test_broadcast_sends_one_message_and_is_differentiable():
    def loss(x):
        def of_shard(x):
            copied = collective.broadcast({"x": x[0], "n": jnp.int32(3)}, 2, axis_name="rows")
            return (copied["x"] ** 3 * copied["n"].astype(x.dtype)).sum()

        mapped = jax.shard_map(
            of_shard, mesh=mesh_of(NUM_SHARDS), in_specs=P("rows"), out_specs=P()
        )
        return mapped(x)

    x = np.arange(8.0).reshape(4, 2)
    expected = np.zeros_like(x)
    expected[2] = 9 * x[2] ** 2
    np.testing.assert_allclose(jax.jit(jax.grad(loss))(x), expected)
    np.testing.assert_allclose(
        jnp.diagonal(jax.hessian(loss)(x).reshape(8, 8)), (expected * 2 / np.where(x, x, 1)).ravel()
    )
    assert jax.jit(loss).lower(x).as_text().count("all_reduce") == 1


def test_an_empty_tree_is_broadcast():
    assert on_shards(lambda x: collective.broadcast({}, 0, axis_name="rows"), 2)(np.ones(2)) == {}


def test_a_batch_and_two_axes():
    mesh = jax.make_mesh((2, 2), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    x = np.arange(8.0).reshape(4, 2)

    def both(x):
        return jax.vmap(lambda x: collective.shift(x, axis_name=("data", "model"), wrap=True))(x)

    spec = P(("data", "model"))
    moved = jax.jit(jax.shard_map(both, mesh=mesh, in_specs=spec, out_specs=spec))(x)
    np.testing.assert_array_equal(moved, np.roll(x, 1, axis=0))


# Errors


def message_of(function, *arguments):
    mesh = jax.make_mesh((2, 2), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    mapped = jax.shard_map(
        function, mesh=mesh, in_specs=P("data"), out_specs=P("data"), check_vma=False
    )
    with pytest.raises((TypeError, ValueError)) as raised:
        jax.eval_shape(mapped, *(arguments or (np.ones((4, 3)),)))
    return str(raised.value)


CALLS = {name: getattr(collective, name) for name in (*RAW, "broadcast")}
CALLS["ppermute"] = functools.partial(collective.ppermute, perm=[(0, 1)])
CALLS["broadcast"] = lambda tree, axis_name: collective.broadcast(tree, 0, axis_name=axis_name)


@pytest.mark.checks_arguments
@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_axis_lists_those_there_are(name):
    assert message_of(functools.partial(CALLS[name], axis_name="modle")) == (
        f"{name}: axis_name must be among the axes of the enclosing jax.shard_map, "
        "('data', 'model'), got 'modle'. Did you mean 'model'?"
    )
    assert message_of(functools.partial(CALLS[name], axis_name=("data", "x"))) == (
        f"{name}: axis_name must be among the axes of the enclosing jax.shard_map, "
        "('data', 'model'), got ('data', 'x'). Choose one of them."
    )
    assert message_of(functools.partial(CALLS[name], axis_name=3)) == (
        f"{name}: axis_name must be the name of a mesh axis, or a tuple of names, got 3."
    )


@pytest.mark.parametrize("name", CALLS)
def test_outside_shard_map_it_says_so(name):
    message = (
        f"{name}: it must be called inside jax.shard_map, got axis_name='data' without any axis in "
        "scope. Map a function that calls it over a mesh with that axis."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        CALLS[name](np.ones(3), axis_name="data")


TREES = [
    (
        lambda x: collective.psum({"a": [x, "text"]}, axis_name="data"),
        "psum: tree['a'][1] must be an array of numbers, got <U4[]. Encode it as integers first "
        "(numpy.unique with return_inverse, or a view).",
    ),
    (
        lambda x: collective.pmax([jax.lax.complex(x, x)], axis_name="data"),
        "pmax: tree[0] must be real, because complex numbers have no order, got "
        "complex128[2,3]. Pass its parts or jnp.abs of it.",
    ),
    (
        lambda x: collective.all_gather(x, axis_name="data", axis=3),
        "all_gather: axis must lie in [0, 2] for float64[2,3], got 3.",
    ),
    (
        lambda x: collective.psum_scatter(x, axis_name="data", axis=1, tiled=True),
        "psum_scatter: axis 1 of each leaf must have a length of a multiple of 2, the number of "
        "shards, got float64[2,3]. Pad it first.",
    ),
    (
        lambda x: collective.psum_scatter(x, axis_name="data", axis=1),
        "psum_scatter: axis 1 of each leaf must have a length of 2, as without tiled, the number "
        "of shards, got float64[2,3]. Pass tiled=True to cut a longer axis.",
    ),
    (
        lambda x: collective.broadcast(x, 2, axis_name="data"),
        "broadcast: src must be in [0, 1], got 2.",
    ),
    (
        lambda x: collective.ppermute(x, [(0, 2)], axis_name="data"),
        "ppermute: a destination in perm must be in [0, 1], got 2.",
    ),
    (
        lambda x: collective.ppermute(x, [(0, 1), (0, 0)], axis_name="data"),
        "ppermute: perm must name each shard at most once as source, got shard 0 twice in "
        "[(0, 1), (0, 0)]. Use broadcast to send from one shard to many, or partition to send to "
        "one shard from many.",
    ),
    (
        lambda x: collective.ppermute(x, [(0, 1), (1, 1)], axis_name="data"),
        "ppermute: perm must name each shard at most once as destination, got shard 1 twice in "
        "[(0, 1), (1, 1)]. Use broadcast to send from one shard to many, or partition to send to "
        "one shard from many.",
    ),
    (
        lambda x: collective.ppermute(x, [0, 1], axis_name="data"),
        "ppermute: perm must be pairs of (source, destination), got [0, 1].",
    ),
    (
        lambda x: collective.shift(x, axis_name=("model", "data")),
        "shift: the axes in axis_name must be in the order of the mesh, got ('model', 'data'). "
        "Pass ('data', 'model').",
    ),
    (
        lambda x: collective.shift(x, x.sum(), axis_name="data"),
        "shift: k must be a Python integer, because shapes depend on it, got the traced "
        "float64[]. Mark it static (static_argnames in jax.jit).",
    ),
]


@pytest.mark.checks_arguments
@pytest.mark.parametrize(("call", "message"), TREES)
def test_errors_name_the_leaf_or_the_shard(call, message):
    assert message_of(call) == message
