# SPDX-License-Identifier: Apache-2.0
"""Scans of whole arrays over a mesh; the collectives' tests check the results."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes import primitives, shardings
from on_shards import mesh_of, noting
from scanned_rows import assert_is_scan, head_flags, named_row_op, rows_of


@pytest.mark.parametrize("num_rows", [0, 1, 24, 29])
@pytest.mark.parametrize("num_shards", [1, 3, 8])
def test_any_length(num_rows, num_shards):
    mesh, x = mesh_of(num_shards), rows_of(np.int32, num_rows)
    flags = head_flags(num_rows, 10)
    sums = primitives.inclusive_scan(x, "add", mesh)
    assert_is_scan(sums, x, "add")
    maxima = primitives.exclusive_scan(x, "max", mesh, reverse=True)
    assert_is_scan(maxima, x, "max", reverse=True, exclusive=True)
    minima = primitives.segmented_scan(x, "min", mesh, head_flags=flags, reverse=True)
    assert_is_scan(minima, x, "min", reverse=True, head_flags=flags)
    if num_rows and num_rows % num_shards == 0:
        assert sums.sharding.is_equivalent_to(shardings.row_sharded(mesh), 1)


def test_a_mesh_of_two_axes_and_one_of_them():
    mesh = jax.make_mesh((2, 3), ("host", "device"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    x = rows_of(np.int64, 26)
    ids = (np.arange(26) // 7).astype(np.int32)
    for axis in (None, "device", ("device", "host")):
        actual = primitives.segmented_scan(x, "add", mesh, segment_ids=ids, axis=axis)
        with noting(axis):
            assert_is_scan(actual, x, "add", head_flags=oracles.head_flags_of(ids))


def test_a_function_as_operator_under_jit():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 22))
    affine = named_row_op("affine")

    @jax.jit
    def run(a, b, state):
        at = {"mesh": mesh_of(3), "reverse": True}
        inclusive = primitives.inclusive_scan((a, b), affine, **at)
        return inclusive, primitives.exclusive_scan((a, b), affine, initial=(1.0, state), **at)

    (_, inclusive), (factors, exclusive) = run(a, b, 0.5)
    state = 0.0
    for row in range(22)[::-1]:
        state = state * a[row] + b[row]
        np.testing.assert_allclose(inclusive[row], state, rtol=1e-9)
    np.testing.assert_allclose(factors, np.append(np.cumprod(a[::-1])[-2::-1], 1.0), rtol=1e-9)
    start = 0.5 * np.asarray(factors)
    np.testing.assert_allclose(exclusive, np.append(inclusive[1:], 0.0) + start, rtol=1e-9)


def test_without_a_mesh_it_is_the_local_call():
    x, flags = rows_of(np.float32, 20), head_flags(20, 4)
    for function in (
        functools.partial(primitives.inclusive_scan, op="mul"),
        functools.partial(primitives.exclusive_scan, initial=2),
        functools.partial(primitives.segmented_scan, head_flags=flags, exclusive=True),
    ):
        local = getattr(primitives.local, function.func.__name__)
        oracles.assert_same_bits(function(x), local(x, **function.keywords))


@pytest.mark.checks_arguments
def test_refuses_what_is_no_mesh():
    with pytest.raises(TypeError) as raised:
        primitives.inclusive_scan(jnp.arange(3), "add", "rows")
    assert str(raised.value) == (
        "inclusive_scan: mesh must be a jax.sharding.Mesh, or None for one device, got str. "
        "Make one with jaxframes.shardings.make_mesh()."
    )
