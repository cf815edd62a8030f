# SPDX-License-Identifier: Apache-2.0
"""What the collectives and the global calls refuse, word for word, before anything runs."""

import contextlib
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import PartitionSpec
from jaxframes import primitives
from jaxframes.primitives import collective
from on_shards import mesh_of

pytestmark = [pytest.mark.checks_arguments, pytest.mark.covered_apart]

X = np.arange(6, dtype=np.int32)
DTYPES = (
    "bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, bfloat16, float32 "
    "and float64"
)
SWITCH_ON = 'Call jax.config.update("jax_enable_x64", True) first, or cast to 32 bits.'

# Each calls one collective with rows of a shard, beside good arguments that others replace.
COLLECTIVES = {
    "radix_sort": lambda x, **options: collective.radix_sort(x, **options),
    "radix_argsort": lambda x, **options: collective.radix_argsort(x, **options),
    "histogram": lambda x, **options: collective.histogram(x, **options),
    "digit_histogram": lambda x, **options: collective.digit_histogram(x, 0, 4, **options),
    "segment_reduce": lambda x, **options: collective.segment_reduce(x, X[:3], 3, "sum", **options),
    "segment_count": lambda x, **options: collective.segment_count(X[:3], 3, **options),
    "segment_argmin": lambda x, **options: collective.segment_argmin(x, X[:3], 3, **options),
    "segmented_sort": lambda x, **options: collective.segmented_sort(x, X[:3], **options),
    "merge": lambda x, **options: collective.merge(x, x, **options),
    "searchsorted": lambda x, **options: collective.searchsorted(x, x, **options),
    "isin": lambda x, **options: collective.isin(x, x, **options),
    "set_union": lambda x, **options: collective.set_union(x, x, **options),
    "factorize": lambda x, **options: collective.factorize(x, **options),
    "partition": lambda x, **options: collective.partition(x, X[:3], **options),
    "top_k": lambda x, **options: collective.top_k(x, 1, **options),
    "quantile": lambda x, **options: collective.quantile(x, 0.5, **options),
    "select_rank": lambda x, **options: collective.select_rank(x, 0, **options),
}
GLOBALS = {
    "radix_sort": lambda x, mesh, **options: primitives.radix_sort(x, mesh, **options),
    "radix_argsort": lambda x, mesh, **options: primitives.radix_argsort(x, mesh, **options),
    "histogram": lambda x, mesh, **options: primitives.histogram(x, mesh, **options),
    "digit_histogram": lambda x, mesh, **options: primitives.digit_histogram(
        x, 0, 4, mesh, **options
    ),
    "segment_reduce": lambda x, mesh, **options: primitives.segment_reduce(
        x, X, 3, "sum", mesh, **options
    ),
    "segment_count": lambda x, mesh, **options: primitives.segment_count(X, 3, mesh, **options),
    "segment_argmin": lambda x, mesh, **options: primitives.segment_argmin(
        x, X, 3, mesh, **options
    ),
    "segmented_sort": lambda x, mesh, **options: primitives.segmented_sort(x, X, mesh, **options),
    "merge": lambda x, mesh, **options: primitives.merge(x, x, mesh, **options),
    "searchsorted": lambda x, mesh, **options: primitives.searchsorted(x, x, mesh, **options),
    "isin": lambda x, mesh, **options: primitives.isin(x, x, mesh, **options),
    "set_union": lambda x, mesh, **options: primitives.set_union(x, x, mesh, **options),
    "factorize": lambda x, mesh, **options: primitives.factorize(x, mesh, **options),
    "partition": lambda x, mesh, **options: primitives.partition(x, X, mesh, **options),
    "top_k": lambda x, mesh, **options: primitives.top_k(x, 1, mesh, **options),
    "quantile": lambda x, mesh, **options: primitives.quantile(x, 0.5, mesh, **options),
    "select_rank": lambda x, mesh, **options: primitives.select_rank(x, 0, mesh, **options),
}
TAKE_TRANSPORT = (
    "radix_sort", "radix_argsort", "segmented_sort", "merge", "partition", "searchsorted", "isin",
    "set_union", "factorize",
)  # fmt: skip
TAKE_KEYS = dict.fromkeys(("radix_sort", "radix_argsort", "segmented_sort"), "keys")
TAKE_KEYS |= {"merge": "a_keys", "top_k": "x", "select_rank": "x"}
TAKE_KEYS |= {"searchsorted": "sorted_keys", "isin": "keys", "set_union": "a", "factorize": "keys"}


def inside(function, x=X, num_shards=2):
    """Traces a function of a shard's rows inside `shard_map`; nothing is compiled."""
    mapped = jax.shard_map(
        lambda x: jax.tree.map(jnp.zeros_like, (function(x), x))[1],
        mesh=mesh_of(num_shards),
        in_specs=PartitionSpec("rows"),
        out_specs=PartitionSpec("rows"),
    )
    return jax.eval_shape(mapped, x)


@contextlib.contextmanager
def raises(kind, message):
    with pytest.raises(kind) as error:
        yield
    # JAX says behind some messages that it has hidden frames of its own.
    assert str(error.value).partition("\n-----")[0] == message


# The mesh and its axes


@pytest.mark.parametrize("name", GLOBALS)
def test_a_mesh_that_is_none(name):
    rule = f"{name}: mesh must be a jax.sharding.Mesh, or None for one device, got "
    remedy = ". Make one with jaxframes.shardings.make_mesh()."
    for mesh, shown in ((8, "int"), ("rows", "str"), (jax.devices(), "list")):
        with raises(TypeError, rule + shown + remedy):
            GLOBALS[name](X, mesh)


@pytest.mark.parametrize("name", GLOBALS)
def test_an_axis_that_the_mesh_does_not_have(name):
    rule = f"{name}: axis must name axes of the mesh, got "
    remedy = ". The mesh has the axes ('rows',)."
    for axis in ("columns", ("rows", "columns"), ()):
        with raises(ValueError, rule + repr(axis) + remedy):
            GLOBALS[name](X, mesh_of(2), axis=axis)


@pytest.mark.parametrize("name", [*COLLECTIVES, "even_share"])
def test_an_axis_name_outside_shard_map(name):
    call = COLLECTIVES.get(name, lambda x, axis_name: collective.even_share(1, axis_name=axis_name))
    remedy = (
        ". Call it inside shard_map over that axis, or use the function of the same name in "
        "jaxframes.primitives, which takes a mesh."
    )
    rule = f"{name}: axis_name must name an axis of the enclosing jax.shard_map, got "
    with raises(ValueError, f"{rule}'rows'{remedy}"):
        call(X[:3], axis_name="rows")
    with raises(ValueError, f"{rule}'columns'{remedy}"):
        inside(lambda x: call(x, axis_name="columns"))
    with raises(ValueError, f"{rule}('rows', 'columns'){remedy}"):
        inside(lambda x: call(x, axis_name=("rows", "columns")))


@pytest.mark.parametrize("name", COLLECTIVES)
def test_an_axis_name_that_is_no_name(name):
    message = (
        f"{name}: axis_name must be the name of a mesh axis, or a tuple of names, got NoneType."
    )
    with raises(TypeError, message):
        COLLECTIVES[name](X[:3], axis_name=None)


# Transports and capacities


@pytest.mark.parametrize("name", TAKE_TRANSPORT)
def test_a_transport_that_does_not_exist(name):
    message = (
        f"{name}: transport must be one of 'auto', 'ragged', 'one_hop', 'two_hop', got 'three_hop'."
    )
    with raises(ValueError, message):
        inside(lambda x: COLLECTIVES[name](x, axis_name="rows", transport="three_hop"))
    with raises(ValueError, message):
        GLOBALS[name](X, mesh_of(2), transport="three_hop")


def test_capacities():
    def on_mesh(capacity):
        return primitives.partition(X, X, mesh_of(2), capacity=capacity)

    def in_shard_map(capacity):
        return inside(
            lambda x: collective.partition(x, x, axis_name="rows", capacity=capacity).rows
        )

    for partition in (on_mesh, in_shard_map):
        with raises(ValueError, "partition: capacity must be in [0, 2147483647], got -1."):
            partition(-1)
        with raises(ValueError, "partition: capacity must be in [0, 2147483647], got 2147483648."):
            partition(2**31)
        with raises(TypeError, "partition: capacity must be a Python integer, got float."):
            partition(1.5)
        with raises(
            TypeError,
            "partition: capacity must be a Python integer, because shapes depend on it, got the "
            "traced int32[]. Mark it static (static_argnames in jax.jit).",
        ):
            jax.jit(partition)(jnp.int32(3))


def test_destinations():
    for call in (
        lambda to: primitives.partition(X, to, mesh_of(2)),
        lambda to: inside(lambda x: collective.partition(X, to, axis_name="rows").rows),
    ):
        with raises(TypeError, "partition: destination must be integers, got float32[6]."):
            call(X.astype(np.float32))
        with raises(
            ValueError,
            "partition: destination must have one entry for each of the 6 rows, got int32[5].",
        ):
            call(X[:5])
    with raises(ValueError, "partition: rows must hold at least one array, got an empty pytree."):
        primitives.partition({}, X, mesh_of(2))
    with raises(
        ValueError,
        "partition: every leaf of rows must have the same number of rows along its leading axis, "
        "got int32[6], int32[5].",
    ):
        primitives.partition((X, X[:5]), X, mesh_of(2))


# Keys and values


@pytest.mark.parametrize("name", TAKE_KEYS)
def test_keys_that_cannot_be_sorted_by(name):
    keys = np.zeros(6, np.complex64)
    rule = f"{name}: {TAKE_KEYS[name]} must be of one of the dtypes {DTYPES}, got "
    with raises(TypeError, rule + "complex64[6]."):
        GLOBALS[name](keys, mesh_of(2))
    with raises(TypeError, rule + "complex64[3]{V:rows}."):
        inside(lambda x: COLLECTIVES[name](x, axis_name="rows"), keys)


@pytest.mark.usefixtures("x64_off")
@pytest.mark.parametrize("dtype", ["int64", "uint64", "float64"])
@pytest.mark.parametrize("name", TAKE_KEYS)
def test_keys_of_64_bits_without_x64(name, dtype):
    keys = np.zeros(6, dtype)
    message = f"{name}: 64-bit {TAKE_KEYS[name]} need JAX's x64 mode, got {dtype}[6]. {SWITCH_ON}"
    with raises(TypeError, message):
        GLOBALS[name](keys, mesh_of(2))


@pytest.mark.parametrize("name", TAKE_KEYS)
def test_keys_of_two_dimensions(name):
    keys = np.zeros((6, 2), np.float32)
    rule = f"{name}: {TAKE_KEYS[name]} must be one-dimensional, got float32"
    remedy = ". Use jax.vmap for a batch, a tuple of arrays for several columns."
    with raises(ValueError, f"{rule}[6,2]{remedy}"):
        GLOBALS[name](keys, mesh_of(2))


@pytest.mark.parametrize("name", ["radix_sort", "segmented_sort"])
def test_values_of_another_length(name):
    rule = f"{name}: every leaf of values must have "
    with raises(ValueError, rule + "6 rows along its leading axis, got int32[5]."):
        GLOBALS[name](X, mesh_of(2), values={"a": X, "b": X[:5]})
    with raises(ValueError, rule + "3 rows along its leading axis, got int32[6]."):
        inside(lambda x: COLLECTIVES[name](x, axis_name="rows", values=X))


def test_columns_of_different_lengths():
    with raises(ValueError, "radix_sort: keys must have the same length, got int32[6], int32[5]."):
        primitives.radix_sort((X, X[:5]), mesh_of(2))
    with raises(
        ValueError,
        "segmented_sort: segment_ids must name a segment for each of the 6 rows, got int32[5].",
    ):
        primitives.segmented_sort(X, X[:5], mesh_of(2))


def test_sequences_that_cannot_be_merged():
    with raises(
        TypeError,
        "merge: a_keys and b_keys must have the same dtype, got int32[6] and float32[6]. "
        "Cast one of them.",
    ):
        primitives.merge(X, X.astype(np.float32), mesh_of(2))
    with raises(
        ValueError, "merge: a_keys and b_keys must have the same number of columns, got 1 and 2."
    ):
        primitives.merge(X, (X, X), mesh_of(2))
    with raises(TypeError, "merge: values must be a pair, for a and for b, got int32[6]."):
        primitives.merge(X, X, mesh_of(2), values=X)
    with raises(TypeError, "merge: num_valid must be a pair, for a and for b, got int."):
        inside(lambda x: collective.merge(x, x, axis_name="rows", num_valid=3))


# k and ranks


def test_k_out_of_range():
    for call, most in (
        (lambda k: primitives.top_k(X, k, mesh_of(2)), 6),
        (lambda k: inside(lambda x: collective.top_k(x, k, axis_name="rows").values), 6),
    ):
        for k in (-1, most + 1):
            with raises(ValueError, f"top_k: k must be in [0, {most}], got {k}."):
                call(k)
    with raises(
        TypeError,
        "top_k: k must be a Python integer, because shapes depend on it, got the traced int32[]. "
        "Mark it static (static_argnames in jax.jit).",
    ):
        jax.jit(lambda k: primitives.top_k(X, k, mesh_of(2)))(jnp.int32(1))


def test_ranks_that_do_not_exist():
    for call in (
        lambda ranks: primitives.select_rank(X, ranks, mesh_of(2)),
        lambda ranks: inside(lambda x: collective.select_rank(x, ranks, axis_name="rows")),
    ):
        for ranks, bad in ((6, 6), (-1, -1), (np.array([0, 7]), 7)):
            with raises(
                ValueError,
                f"select_rank: ranks must lie in [0, 6), the rows of x, got {bad}.",
            ):
                call(ranks)
        with raises(TypeError, "select_rank: ranks must be integers, got float32[1]."):
            call(np.zeros(1, np.float32))
    with raises(ValueError, "select_rank: x must not be empty, got no rows."):
        primitives.select_rank(X[:0], 0, mesh_of(2))


def test_ranks_that_differ_from_shard_to_shard():
    with raises(
        ValueError,
        "select_rank: ranks must be the same on every shard of 'rows', got int32[3]{V:rows}. Pass "
        "them through shard_map with an empty PartitionSpec, or gather them first "
        "(jax.lax.all_gather with to='invarying').",
    ):
        inside(lambda x: collective.select_rank(x, x, axis_name="rows"))


@pytest.mark.parametrize("name", ["top_k", "select_rank"])
def test_several_columns_where_one_is_meant(name):
    with pytest.raises(TypeError, match=f"^{name}: x must be one array, got a tuple of 2."):
        GLOBALS[name]((X, X), mesh_of(2))
    with pytest.raises(TypeError, match=f"^{name}: x must be one array, got a tuple of 2."):
        inside(lambda x: COLLECTIVES[name]((x, x), axis_name="rows"))


# Settings


@pytest.mark.parametrize("name", ["radix_sort", "radix_argsort", "segmented_sort"])
def test_settings_that_do_not_fit_the_keys(name):
    call = functools.partial(GLOBALS[name], X, mesh_of(2))
    with raises(ValueError, f"{name}: bits must be in [1, 32], got 33."):
        call(bits=33)
    with raises(
        ValueError,
        f"{name}: descending must name a direction for each of the 1 keys, got 2.",
    ):
        call(descending=(True, False))


def test_num_valid():
    with raises(ValueError, "radix_sort: num_valid must be in [0, 3], got 4."):
        inside(lambda x: collective.radix_sort(x, axis_name="rows", num_valid=4))
    with raises(
        TypeError, "radix_sort: num_valid must be an integer scalar, got int32[3]{V:rows}."
    ):
        inside(lambda x: collective.radix_sort(x, axis_name="rows", num_valid=x))
