# SPDX-License-Identifier: Apache-2.0
"""`join_asof` of one device and of whole arrays against nested loops, and against pandas."""

import functools
import re

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pandas as pd
import pytest
from asof_sides import NUM_LEFT, NUM_RIGHT, RULES, make_sides, tolerances_for
from jax.sharding import AxisType, PartitionSpec
from jaxframes import primitives, shardings
from jaxframes.primitives import collective, local
from jaxframes.primitives.local import _join_asof
from on_platforms import traced_as
from on_shards import mesh_of, noting


@functools.cache
def joiner(rules=RULES):
    """Every rule, with a tolerance and without, compiled as one program."""

    @jax.jit
    def join(left, right, by, tolerance, num_valid):
        return {
            rule: tuple(
                local.join_asof(
                    left,
                    right,
                    by=by,
                    direction=rule[0],
                    allow_exact=rule[1],
                    tolerance=limit,
                    num_valid=num_valid,
                )
                for limit in (None, tolerance)
            )
            for rule in rules
        }

    return join


def check(left, right, tolerance, by=None, num_valid=None):
    valid = (len(left), len(right)) if num_valid is None else num_valid
    actual = joiner()(left, right, by, tolerance, tuple(jnp.int32(count) for count in valid))
    for rule in RULES:
        for limit, rows in zip((None, tolerance), actual[rule], strict=True):
            with noting((rule, limit, valid)):
                settings = {"direction": rule[0], "allow_exact": rule[1], "tolerance": limit}
                expected = oracles.join_asof(left, right, by=by, num_valid=valid, **settings)
                oracles.assert_same_bits(rows, expected)


# Matches the oracle


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint32", "int64", "uint64", "float16", "bfloat16", "float64"]
)
def test_times_of_any_dtype_and_distribution(dtype):
    dtype = np.dtype(jnp.bfloat16 if dtype == "bfloat16" else dtype)
    by = make_sides("four_values", np.int16)
    names = ["uniform", "four_values", "zipf", "constant"]
    names += ["signed_zeros", "nan_inf_sprinkled"] if oracles.is_float(dtype) else []
    for distribution in names:
        left, right = make_sides(distribution, dtype)
        for tolerance in tolerances_for(left, right):
            with noting((distribution, tolerance)):
                check(left, right, tolerance, by)


def test_integers_at_the_ends_of_their_range():
    for dtype in (np.int64, np.uint64):
        limits = np.iinfo(dtype)
        ends = [limits.min, limits.min + 1, limits.max - 1, limits.max, limits.max // 2, 0]
        left, right = np.repeat(np.array(ends, dtype), 4), np.repeat(np.array(ends[::-1], dtype), 3)
        for tolerance in (0, 1, limits.max // 2, limits.max):
            check(left, right, dtype(tolerance))
    # Further apart than the dtype counts.
    left, right = np.array([127, -128], np.int8), np.array([-128], np.int8)
    assert local.join_asof(left, right, tolerance=254).tolist() == [-1, 0]
    assert local.join_asof(left, right, tolerance=255).tolist() == [0, 0]
    assert local.join_asof(left, right, tolerance=2**70).tolist() == [0, 0]


def test_groups_of_several_columns():
    left_by, right_by = zip(
        make_sides("two_valued", np.float64), make_sides("four_values", np.int64), strict=True
    )
    # A NaN is a group of its own.
    left_by[0][::5] = right_by[0][::4] = np.nan
    left, right = make_sides("zipf", np.int32)
    for num_valid in (None, (20, 11), (0, 18), (24, 0), (1, 1)):
        check(left, right, np.int32(3), (left_by, right_by), num_valid)


@pytest.mark.parametrize(("num_left", "num_right"), [(0, 0), (0, 1), (1, 0), (1, 1), (5, 1)])
def test_edge_sizes(num_left, num_right):
    left, right = make_sides("four_values", np.float32, num_left, num_right)
    for rule in RULES:
        settings = {"direction": rule[0], "allow_exact": rule[1]}
        expected = oracles.join_asof(left, right, **settings)
        oracles.assert_same_bits(local.join_asof(left, right, **settings), expected)


def test_traced_tolerances_that_nothing_meets():
    left, right = make_sides("four_values", np.float32)
    for tolerance in (np.float32(-1), np.float32(np.nan)):
        actual = joiner()(left, right, None, tolerance, (jnp.int32(24), jnp.int32(18)))
        assert all((with_limit == -1).all() for _, with_limit in actual.values())


@pytest.mark.usefixtures("x64_off")
def test_without_x64():
    by = make_sides("four_values", np.int32)
    for dtype in (np.int32, np.float32):
        left, right = make_sides("zipf", dtype)
        check(left, right, dtype(2), by)


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_is_what_pandas_finds(dtype):
    rng = np.random.default_rng(0)
    left, right = (np.sort(rng.integers(0, 60, n)).astype(dtype) for n in (50, 40))
    by = rng.integers(0, 3, 50), rng.integers(0, 3, 40)
    frames = [
        pd.DataFrame({"time": times, "group": group, name: np.arange(len(times))})
        for times, group, name in zip((left, right), by, ("left_row", "right_row"), strict=True)
    ]
    shuffled = rng.permutation(50), rng.permutation(40)
    # What pandas wants sorted comes in any order, equal times of the right side in theirs.
    order = np.argsort(right[shuffled[1]], kind="stable")
    stable = np.empty(40, int)
    stable[order] = np.sort(shuffled[1])
    moved = left[shuffled[0]], right[np.sort(shuffled[1])][np.argsort(order)]
    moved_by = by[0][shuffled[0]], by[1][stable]
    valid, tolerance = (jnp.int32(50), jnp.int32(40)), dtype(2)
    for groups, moved_groups in ((None, None), (by, moved_by)):
        in_order = joiner()(left, right, groups, tolerance, valid)
        in_disorder = joiner()(*moved, moved_groups, tolerance, valid)
        for rule in RULES:
            for i, limit in enumerate((None, 2)):
                merged = pd.merge_asof(
                    *(frame if groups else frame.drop(columns="group") for frame in frames),
                    on="time",
                    by="group" if groups else None,
                    direction=rule[0],
                    allow_exact_matches=rule[1],
                    tolerance=limit,
                )
                expected = merged.right_row.fillna(-1).to_numpy().astype(np.int32)
                with noting((rule, limit, groups is None)):
                    oracles.assert_same_bits(in_order[rule][i], expected)
                    actual = np.append(stable, -1)[np.asarray(in_disorder[rule][i])]
                    oracles.assert_same_bits(actual, expected[shuffled[0]].astype(int))


def test_shifts_find_the_rows_on_tpu(monkeypatch):
    monkeypatch.setattr(_join_asof, "on_tpu", lambda by_shifts: {"tpu": by_shifts})
    by = make_sides("four_values", np.int16)
    for rule in RULES:
        join = traced_as(
            "tpu",
            lambda *sides, rule=rule, by=None, num_valid=None: local.join_asof(
                *sides, by=by, direction=rule[0], allow_exact=rule[1], num_valid=num_valid
            ),
        )
        settings = {"direction": rule[0], "allow_exact": rule[1]}
        for dtype, valid in ((np.int32, (NUM_LEFT, NUM_RIGHT)), (np.float32, (11, 9))):
            left, right = make_sides("zipf", dtype)
            actual = join(left, right, by=by, num_valid=valid)
            expected = oracles.join_asof(left, right, by=by, num_valid=valid, **settings)
            oracles.assert_same_bits(actual, expected)


# Global calls


@pytest.mark.parametrize(
    ("num_shards", "num_left", "num_right"),
    [(None, 29, 24), (1, 24, 5), (8, 29, 24), (3, 0, 5), (3, 5, 0), (3, 1, 1)],
)
def test_whole_arrays_of_any_length(num_shards, num_left, num_right):
    mesh = None if num_shards is None else mesh_of(num_shards)
    left, right = make_sides("zipf", np.int32, num_left, num_right)
    settings = {"direction": "nearest", "allow_exact": False, "tolerance": 40}
    actual = primitives.join_asof(left, right, mesh, **settings)
    oracles.assert_same_bits(actual, oracles.join_asof(left, right, **settings))


def test_explicit_axes_of_a_mesh_of_two():
    mesh = jax.make_mesh((2, 3), ("host", "device"), axis_types=(AxisType.Explicit,) * 2)
    left, right = make_sides("zipf", np.int32)
    expected = oracles.join_asof(left, right, direction="forward")
    for axis in (None, "device"):
        actual = primitives.join_asof(left, right, mesh, direction="forward", axis=axis)
        oracles.assert_same_bits(actual, expected)


def test_rows_lie_where_the_left_ones_do():
    left, right = make_sides("zipf", np.int32)
    rows = primitives.join_asof(left, right, mesh_of(8))
    assert rows.sharding.is_equivalent_to(shardings.row_sharded(mesh_of(8)), 1)


# Errors, word for word

T = np.arange(4)


@pytest.mark.checks_arguments
@pytest.mark.parametrize(
    ("sides", "settings", "error", "message"),
    [
        (
            (T, T),
            {"direction": "up"},
            ValueError,
            "join_asof: direction must be one of 'backward', 'forward', 'nearest', got 'up'.",
        ),
        (
            (T, T.astype(float)),
            {},
            TypeError,
            "join_asof: left and right must have the same dtype, got int64[4] and float64[4]. "
            "Cast one of them.",
        ),
        (
            ((T, T), T),
            {},
            TypeError,
            "join_asof: left must be one array, got a tuple of 2. For several columns sort them, "
            "with radix_sort.",
        ),
        (
            (T, T),
            {"by": T},
            TypeError,
            "join_asof: by must be a pair, for a and for b, got int64[4].",
        ),
        (
            (T, T),
            {"by": (T, (T, T))},
            ValueError,
            "join_asof: by of the left side and that of the right must have the same number of "
            "columns, got 1 and 2.",
        ),
        (
            (T, T),
            {"by": (T, T[:3])},
            ValueError,
            "join_asof: by of the right side must have an entry for each of its 4 rows, "
            "got int64[3].",
        ),
        (
            (T, T),
            {"tolerance": -1},
            ValueError,
            "join_asof: tolerance must be 0 or more, got -1.",
        ),
        (
            (T / 2, T / 2),
            {"tolerance": np.nan},
            ValueError,
            "join_asof: tolerance must be 0 or more, got nan.",
        ),
        (
            (T, T),
            {"tolerance": 0.5},
            TypeError,
            "join_asof: tolerance must be a number of the dtype of left, int64, got float.",
        ),
        (
            (T, T),
            {"tolerance": jnp.float32(1)},
            TypeError,
            "join_asof: tolerance must be a number of the dtype of left, int64, got float32[].",
        ),
        (
            (T, T),
            {"num_valid": 3},
            TypeError,
            "join_asof: num_valid must be a pair, for a and for b, got int.",
        ),
    ],
)
def test_errors(sides, settings, error, message):
    with pytest.raises(error) as caught:
        local.join_asof(*sides, **settings)
    assert str(caught.value) == message
    settings = {**settings, "axis_name": "rows"}
    spec = PartitionSpec()
    run = jax.shard_map(
        lambda: collective.join_asof(*sides, **settings), mesh=mesh_of(1), in_specs=(),
        out_specs=spec,
    )  # fmt: skip
    with pytest.raises(error) as caught:
        run()
    assert str(caught.value) == message


@pytest.mark.checks_arguments
def test_no_such_axis_or_transport():
    message = "join_asof: axis_name must name an axis of the enclosing jax.shard_map, got 'rows'."
    with pytest.raises(ValueError, match=re.escape(message)):
        collective.join_asof(T, T, axis_name="rows")
    message = (
        "join_asof: transport must be one of 'auto', 'ragged', 'one_hop', 'two_hop', got 'post'."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        primitives.join_asof(T, T, transport="post")
