# SPDX-License-Identifier: Apache-2.0
"""Global calls with `num_valid`: traced, and the same on every mesh.

Two and three shards do not divide the lengths, and the padding would sort among the valid rows,
match them and add to them.
"""

import functools
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from compiled_program import num_signatures
from jax.sharding import AxisType
from jaxframes import primitives, shardings
from key_distributions import make_keys
from on_shards import mesh_of, noting
from quick_compilation import UNOPTIMISED

NUM_ROWS, NUM_OTHERS = 13, 7
# None, one, a shard's and one more, all but one, all, and the number of the other side.
COUNTS = [(0, 0), (1, 7), (7, 0), (8, 5), (12, 1), (13, 7), (0, 3)]
MESHES = {
    "one device": lambda: None,
    "2 shards, Explicit": lambda: shardings.make_mesh(2, axis_type=AxisType.Explicit),
    "3 shards": lambda: mesh_of(3),
}


class Case(NamedTuple):
    """A call of an op and its expected result.

    Attributes:
        call: takes the number of valid rows and the mesh arguments.
        expected: takes the numbers of valid rows.
        has_two_sides: whether the call takes numbers of valid rows of two sides.
        moves_rows: whether the call takes a transport; the one that compiles fastest will do.
        compares_padding: whether padding rows have known values too.
    """

    call: Callable[..., Any]
    expected: Callable[..., Any]
    has_two_sides: bool = False
    moves_rows: bool = True
    compares_padding: bool = True


KEYS = np.random.default_rng(0).permutation(make_keys("four_values", NUM_ROWS, np.dtype(np.int32)))
OTHERS = np.random.default_rng(1).choice(KEYS, NUM_OTHERS)
FLOATS = make_keys("nan_inf_sprinkled", NUM_ROWS, np.dtype(np.float64))
IDS = np.arange(NUM_ROWS, dtype=np.int32)


IS_KEPT = IDS % 3 != 1
SEGMENT_IDS = IDS // 4
BUCKETS = IDS * 7 % 4
QUANTILES = np.array([0.0, 0.3, 0.5, 1.0])
HEADS = oracles.head_flags_of(SEGMENT_IDS)


def quantiles(num_valid):
    if not num_valid:
        return np.full(QUANTILES.shape, np.nan)
    return np.quantile(KEYS[:num_valid].astype(float), QUANTILES, method="lower")


def joined(how, num_valid, capacity=100):
    rows = oracles.join(KEYS, OTHERS, how=how, num_valid=num_valid)
    padded = np.full((2, capacity), -1, np.int32)
    padded[:, : len(rows[0])] = rows
    unmatched = oracles.unmatched_rows(KEYS, OTHERS, how=how, num_valid=num_valid)
    return *padded, np.int32(len(rows[0])), *unmatched


CASES = {
    "radix_sort": Case(
        lambda **at: primitives.radix_sort((KEYS, FLOATS), values=IDS, descending=True, **at),
        lambda v: oracles.sort((KEYS, FLOATS), values=IDS, descending=True, num_valid=v),
        compares_padding=False,
    ),
    "radix_sort of keys alone": Case(
        lambda **at: primitives.radix_sort(FLOATS, **at),
        lambda v: oracles.sort(FLOATS, num_valid=v),
        compares_padding=False,
    ),
    "radix_argsort": Case(
        lambda **at: primitives.radix_argsort((KEYS, FLOATS), **at),
        lambda v: oracles.argsort((KEYS, FLOATS), num_valid=v),
    ),
    "factorize": Case(
        lambda **at: primitives.factorize((KEYS, KEYS), **at),
        lambda v: oracles.factorize((KEYS, KEYS), num_valid=v),
    ),
    "factorize by first rows": Case(
        lambda **at: primitives.factorize(FLOATS, capacity=5, sort=False, return_first=True, **at),
        lambda v: oracles.factorize(FLOATS, capacity=5, sort=False, return_first=True, num_valid=v),
    ),
    **{
        f"{how} join": Case(
            lambda how=how, **at: primitives.join(KEYS, OTHERS, how=how, capacity=100, **at),
            functools.partial(joined, how),
            has_two_sides=True,
        )
        for how in ("left", "outer", "anti")
    },
    "join_size": Case(
        lambda **at: primitives.join_size(KEYS, OTHERS, how="right", **at),
        lambda v: np.int64(len(oracles.join(KEYS, OTHERS, how="right", num_valid=v)[0])),
        has_two_sides=True,
    ),
    "join_asof": Case(
        lambda **at: primitives.join_asof(KEYS, OTHERS, allow_exact=False, **at),
        lambda v: oracles.join_asof(KEYS, OTHERS, allow_exact=False, num_valid=v),
        has_two_sides=True,
    ),
    "isin": Case(
        lambda **at: primitives.isin(KEYS, OTHERS, invert=True, **at),
        lambda v: oracles.isin(KEYS, OTHERS, invert=True, num_valid=v),
        has_two_sides=True,
    ),
    **{
        f"set_{op}": Case(
            lambda op=op, **at: getattr(primitives, f"set_{op}")(KEYS, OTHERS, capacity=20, **at),
            lambda v, op=op: oracles.set_operation(op, KEYS, OTHERS, 20, v),
            has_two_sides=True,
        )
        for op in ("union", "intersection", "difference")
    },
    "unique": Case(
        lambda **at: primitives.unique(
            FLOATS, return_index=True, return_inverse=True, return_counts=True, **at
        ),
        lambda v: oracles.unique(FLOATS, num_valid=v),
    ),
    "reduce_by_key": Case(
        lambda **at: primitives.reduce_by_key(KEYS, IDS, "sum", **at),
        lambda v: oracles.reduce_by_key(KEYS, IDS, "sum", num_valid=v),
    ),
    "run_length_encode": Case(
        lambda **at: primitives.run_length_encode(SEGMENT_IDS, **at),
        lambda v: oracles.run_length_encode(SEGMENT_IDS, num_valid=v),
    ),
    "compact": Case(
        lambda **at: primitives.compact(IS_KEPT, FLOATS, **at),
        lambda v: oracles.compact(IS_KEPT, FLOATS, num_valid=v),
    ),
    "searchsorted": Case(
        lambda **at: primitives.searchsorted(np.sort(KEYS), OTHERS, side="right", **at),
        lambda v: oracles.searchsorted(np.sort(KEYS), OTHERS, side="right", num_valid=v),
    ),
    "segmented_sort": Case(
        lambda **at: primitives.segmented_sort(FLOATS, KEYS, **at),
        lambda v: oracles.segmented_sort(FLOATS, KEYS, num_valid=v),
        compares_padding=False,
    ),
    "top_k": Case(
        lambda **at: primitives.top_k(FLOATS, 5, **at),
        lambda v: oracles.top_k(FLOATS, 5, num_valid=v),
        moves_rows=False,
        compares_padding=False,
    ),
    "select_rank": Case(
        lambda **at: primitives.select_rank(FLOATS, IDS, **at),
        lambda v: oracles.sort(FLOATS, num_valid=v),
        moves_rows=False,
        compares_padding=False,
    ),
    "quantile": Case(
        lambda **at: primitives.quantile(KEYS, QUANTILES, interpolation="lower", **at),
        quantiles,
        moves_rows=False,
    ),
    "inclusive_scan": Case(
        lambda **at: primitives.inclusive_scan(IDS, reverse=True, **at),
        lambda v: oracles.scan(IDS, "add", reverse=True, num_valid=v),
        moves_rows=False,
    ),
    "exclusive_scan": Case(
        lambda **at: primitives.exclusive_scan(KEYS, "max", initial=2, **at),
        lambda v: oracles.scan(KEYS, "max", exclusive=True, initial=np.int32(2), num_valid=v),
        moves_rows=False,
    ),
    "segment_quantile": Case(
        lambda **at: primitives.segment_quantile(KEYS, BUCKETS, 3, 0.5, **at),
        lambda v: oracles.segment_quantile(KEYS, BUCKETS, 3, 0.5, num_valid=v),
    ),
    "segment_nunique": Case(
        lambda **at: primitives.segment_nunique(KEYS, BUCKETS, 3, **at),
        lambda v: oracles.segment_nunique(KEYS, BUCKETS, 3, num_valid=v),
    ),
    "segment_rank": Case(
        lambda **at: primitives.segment_rank(KEYS, BUCKETS, 3, method="min", **at),
        lambda v: oracles.segment_rank(KEYS, BUCKETS, 3, method="min", num_valid=v),
    ),
    "segment_shift": Case(
        lambda **at: primitives.segment_shift(IDS, BUCKETS, 3, fill_value=-1, **at),
        lambda v: oracles.segment_shift(IDS, BUCKETS, 3, fill_value=-1, num_valid=v),
    ),
    "segmented_scan by id": Case(
        lambda **at: primitives.segmented_scan(
            IDS, "add", segment_ids=BUCKETS, is_sorted=False, num_segments=3, **at
        ),
        lambda v: oracles.scan_of_segments(IDS, "add", BUCKETS, 3, num_valid=v),
    ),
    "segmented_scan": Case(
        lambda **at: primitives.segmented_scan(
            IDS, "add", segment_ids=SEGMENT_IDS, reverse=True, **at
        ),
        lambda v: oracles.scan(IDS, "add", head_flags=HEADS, reverse=True, num_valid=v),
        moves_rows=False,
    ),
}


def first_rows(tree, num_rows):
    return jax.tree.map(lambda leaf: np.asarray(leaf)[:num_rows], tree)


def unnamed(result):
    return tuple(result) if isinstance(result, tuple) else result


def check(case, actual, counts):
    expected = case.expected(counts if case.has_two_sides else counts[0])
    if not case.compares_padding:
        actual, expected = first_rows(actual, counts[0]), first_rows(expected, counts[0])
    oracles.assert_same_bits(unnamed(actual), unnamed(expected))


@pytest.mark.parametrize("place", MESHES)
@pytest.mark.parametrize("name", CASES)
def test_one_program_serves_every_number_of_rows(name, place):
    case = CASES[name]
    at = {"mesh": MESHES[place](), **({"transport": "one_hop"} if case.moves_rows else {})}

    @functools.partial(jax.jit, compiler_options=UNOPTIMISED)
    def run(num_valid):
        return case.call(num_valid=num_valid if case.has_two_sides else num_valid[0], **at)

    for counts in COUNTS:
        with noting(counts):
            check(case, run(tuple(map(np.int32, counts))), counts)
    assert run._cache_size() == 1


def test_eager_calls_share_a_program_too():
    mesh = mesh_of(3)
    sort = primitives._global._radix_sort._argsort_on_mesh
    for num_valid in (5, np.int64(5), jnp.asarray(5), jnp.asarray(5, jnp.uint8)):
        order = primitives.radix_argsort(KEYS, mesh, num_valid=num_valid)
        oracles.assert_same_bits(order, oracles.argsort(KEYS, num_valid=5))
        # A number on a single device is moved to the mesh.
        on_device = jax.device_put(np.int32(9), jax.devices()[7])
        order = primitives.radix_argsort(KEYS, mesh, num_valid=on_device)
        oracles.assert_same_bits(order, oracles.argsort(KEYS, num_valid=9))
    num_programs = num_signatures(sort)
    primitives.radix_argsort(KEYS, mesh, num_valid=3)
    assert num_signatures(sort) == num_programs


@pytest.mark.parametrize("num_shards", [None, 3])
def test_eager_results_are_as_long_as_they_must_be(num_shards):
    mesh = None if num_shards is None else mesh_of(num_shards)
    groups = primitives.factorize(FLOATS, mesh, num_valid=6)
    count = oracles.factorize(FLOATS, num_valid=6)[-1]
    expected = oracles.factorize(FLOATS, capacity=int(count), num_valid=6)
    oracles.assert_same_bits(tuple(groups), expected)


def test_an_eager_join_is_as_long_as_it_must_be():
    pairs = primitives.join(KEYS, OTHERS, num_valid=(9, jnp.asarray(4)))
    (size,) = {len(rows) for rows in oracles.join(KEYS, OTHERS, num_valid=(9, 4))}
    oracles.assert_same_bits(tuple(pairs), joined("inner", (9, 4), size))


def test_numbers_that_are_not_known_are_clipped():
    sort = jax.jit(lambda num_valid: primitives.radix_sort(KEYS, mesh_of(3), num_valid=num_valid))
    oracles.assert_same_bits(sort(2**40), np.sort(KEYS))
    oracles.assert_same_bits(first_rows(sort(-1), 0), KEYS[:0])


def test_a_batch_has_a_number_of_rows_each():
    sort = jax.jit(jax.vmap(lambda v: primitives.radix_argsort(KEYS, mesh_of(3), num_valid=v)))
    counts = np.array([0, 5, 13])
    expected = np.stack([oracles.argsort(KEYS, num_valid=count) for count in counts])
    oracles.assert_same_bits(sort(counts), expected)


@pytest.mark.usefixtures("x64_off")
def test_without_x64():
    for num_valid in (4, jnp.asarray(4), jnp.asarray(4, jnp.uint32)):
        order = primitives.radix_argsort(KEYS, mesh_of(3), num_valid=num_valid)
        oracles.assert_same_bits(order, oracles.argsort(KEYS, num_valid=4))


def test_more_rows_than_32_bits_count():
    # Too large for memory; only the range of the counts is tested.
    keys = jax.ShapeDtypeStruct((2**33 - 1,), jnp.int32)
    for num_valid in (None, 2**32 + 1, jnp.asarray(2**32 + 1), jnp.asarray(7, jnp.int32)):
        sort = functools.partial(primitives.radix_argsort, mesh=mesh_of(8), num_valid=num_valid)
        assert jax.eval_shape(sort, keys).dtype == jnp.int64
    scan = functools.partial(primitives.inclusive_scan, mesh=mesh_of(8))
    assert jax.eval_shape(scan, keys).shape == keys.shape
    find = functools.partial(primitives.isin, mesh=mesh_of(8))
    assert jax.eval_shape(find, keys, jax.ShapeDtypeStruct((9,), jnp.int32)).shape == keys.shape
    row_mesh = primitives._over_mesh.RowMesh(mesh_of(8), None, "sort")
    for num_valid in (2**32 + 1, jnp.asarray(2**32 + 1), jnp.asarray(2**32 + 1, jnp.uint64)):
        valid = row_mesh.valid_rows(num_valid, 2**33 - 1, "sort")
        assert valid is not None
        assert tuple(map(int, valid)) == (4, 1)


@pytest.mark.checks_arguments
@pytest.mark.parametrize("num_shards", [None, 3])
@pytest.mark.parametrize(
    ("num_valid", "error", "message"),
    [
        (14, ValueError, "radix_argsort: num_valid must be in [0, 13], got 14."),
        (
            np.float32(3),
            TypeError,
            "radix_argsort: num_valid must be a Python integer, got float32.",
        ),
        (
            jnp.zeros(2, jnp.int32),
            TypeError,
            "radix_argsort: num_valid must be an integer scalar, got int32[2].",
        ),
    ],
)
def test_errors(num_shards, num_valid, error, message):
    mesh = None if num_shards is None else mesh_of(num_shards)
    with pytest.raises(error, match=re.escape(message)):
        primitives.radix_argsort(KEYS, mesh, num_valid=num_valid)


@pytest.mark.checks_arguments
@pytest.mark.parametrize("num_shards", [None, 3])
def test_two_sides_take_a_pair(num_shards):
    mesh = None if num_shards is None else mesh_of(num_shards)
    message = "join: num_valid must be a pair, for a and for b, got int."
    with pytest.raises(TypeError, match=re.escape(message)):
        primitives.join(KEYS, OTHERS, mesh, num_valid=3)
