# SPDX-License-Identifier: Apache-2.0
"""What the CUDA kernels are called for, and what becomes of their results, against NumPy."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from emulated_cuda import run_emulated as run
from jaxframes.primitives import local
from jaxframes.primitives.kernels.scan._reduce_by_key_cuda import can_keep_on_cuda
from jaxframes.primitives.local import parts

NUM_ROWS = 200


def make_rows(seed=0):
    rng = np.random.default_rng(seed)
    keys = rng.integers(-9, 9, NUM_ROWS).astype(np.int32)
    return keys, rng.integers(-1000, 1000, NUM_ROWS).astype(np.int32), rng.random(NUM_ROWS)


@pytest.mark.parametrize("op", ["sum", "prod", "min", "max", "count", "mean", "first", "last"])
def test_reduce_by_key_sorts_once_and_reduces_runs(op):
    keys, ints, floats = make_rows()
    # A product of floats has a way of its own.
    for values in (ints,) if op == "prod" else (ints, floats.astype(np.float32), floats):
        for num_valid, capacity in ((None, NUM_ROWS), (150, NUM_ROWS), (NUM_ROWS, 5), (0, 3)):
            actual, called = run(
                lambda k, x, num_valid=num_valid, capacity=capacity: local.reduce_by_key(
                    k, x, op, capacity=capacity, num_valid=num_valid
                ),
                keys,
                values,
            )
            expected = oracles.reduce_by_key(keys, values, op, capacity, num_valid)
            oracles.assert_same_bits(actual.unique_keys, expected[0])
            np.testing.assert_allclose(actual.values, expected[1], rtol=1e-5)
            assert int(actual.num_runs) == expected[2]
            assert called.count("radix_sort_rows") == 1
            # It numbers the runs too, whatever the operation.
            assert "reduce_by_key" in called


@pytest.mark.parametrize("dtype", ["float32", "int8", "int64", "bool"])
def test_one_kernel_finds_keys_and_adds_up(dtype):
    keys, ints, floats = make_rows(7)
    keys = keys.astype(dtype)
    if dtype == "float32":
        # Zeros are equal whatever their sign, and so are NaNs.
        keys[keys == 3], keys[::9], keys[1::9] = np.nan, 0.0, -0.0
    values = {"a": floats, "b": ints, "c": ints}
    ops = {"a": "last", "b": "sum", "c": "sum"}
    for num_valid, capacity in ((None, 30), (120, 300), (0, 4)):
        actual, called = run(
            lambda k, v, num_valid=num_valid, capacity=capacity: local.reduce_by_key(
                k, v, ops, capacity=capacity, num_valid=num_valid
            ),
            keys,
            values,
        )
        for name, op in ops.items():
            expected = oracles.reduce_by_key(keys, values[name], op, capacity, num_valid)
            oracles.assert_same_bits(
                (actual.unique_keys, actual.values[name]), (expected[0], expected[1])
            )
        assert int(actual.num_runs) == len(np.unique(keys[:num_valid]))
        # The keys come with the first sum.
        assert called.count("reduce_by_key") == 2


def test_reduce_by_key_of_several_columns_and_keys():
    keys, ints, floats = make_rows(1)
    values = {"x": ints, "y": floats.astype(np.float32)}
    ops = {"x": "max", "y": "sum"}
    both = (keys, keys[::-1].copy())
    actual, _ = run(lambda k, v: local.reduce_by_key(k, v, ops), both, values)
    for name, op in ops.items():
        unique_keys, reduced, count = oracles.reduce_by_key(both, values[name], op)
        oracles.assert_same_bits(actual.unique_keys, unique_keys)
        np.testing.assert_allclose(actual.values[name], reduced, rtol=1e-5)
        assert int(actual.num_runs) == count


@pytest.mark.parametrize("num_valid", [None, 120])
def test_unique_selects_the_heads_of_runs(num_valid):
    keys, *_ = make_rows(2)
    for dtype in (np.int32, np.uint32, np.float32, np.int64):
        column = keys.astype(dtype)
        actual, called = run(lambda k: local.unique(k, capacity=40, num_valid=num_valid), column)
        expected = np.unique(column[:num_valid])
        oracles.assert_same_bits(actual.unique_keys[: expected.size], expected)
        assert not np.any(actual.unique_keys[expected.size :])
        assert int(actual.count) == expected.size
        assert called.count("flagged_rows") == 0
        assert called.count("reduce_by_key") == 1


def test_unique_with_all_results():
    keys, *_ = make_rows(3)
    actual, _ = run(
        lambda k: local.unique(k, return_index=True, return_inverse=True, return_counts=True), keys
    )
    unique_keys, rows, inverse, counts = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    size = unique_keys.size
    for found, expected in ((actual.unique_keys, unique_keys), (actual.row_ids, rows)):
        np.testing.assert_array_equal(found[:size], expected)
    np.testing.assert_array_equal(actual.inverse, inverse)
    np.testing.assert_array_equal(actual.counts[:size], counts)


def test_repeat_rows_by_one_kernel():
    repeats = np.random.default_rng(8).integers(-1, 4, 60).astype(np.int32)
    for capacity, num_valid in ((1, None), (90, 33), (300, None), (10, 0)):
        actual, called = run(
            lambda n, capacity=capacity, num_valid=num_valid: local.repeat_rows(
                n, capacity=capacity, num_valid=num_valid
            ),
            repeats,
        )
        oracles.assert_same_bits(tuple(actual), oracles.repeat_rows(repeats, capacity, num_valid))
        assert called == ["repeat_rows"]
    many, _ = run(lambda n: local.repeat_rows(n, capacity=2), np.full(4, 2**30))
    assert int(many.count) == 2**31 - 1


def test_compact_moves_columns_of_32_bytes_in_a_call():
    mask = np.random.default_rng(4).random(NUM_ROWS) < 0.3
    columns = {
        name: np.arange(NUM_ROWS).astype(dtype)
        for name, dtype in zip("abcdef", ("i4", "f8", "f8", "i2", "f8", "f4"), strict=True)
    }
    actual, called = run(lambda m, c: local.compact(m, c, capacity=80), mask, columns)
    oracles.assert_same_bits((actual.rows, actual.count), oracles.compact(mask, columns, 80)[::2])
    # 4 + 8 + 8 + 2 + 8 bytes, then 4.
    assert called.count("flagged_rows") == 2
    assert called.count("count_flags") == 1
    # Row ids come with columns of up to 28 bytes.
    few = {name: columns[name] for name in "abd"}
    actual, called = run(
        lambda m, c: local.compact(m, c, capacity=80, return_index=True), mask, few
    )
    expected = oracles.compact(mask, few, 80, return_index=True)
    oracles.assert_same_bits((actual.rows, actual.row_ids, actual.count), expected)
    assert called.count("flagged_rows") == 1


def test_derivatives_are_those_of_the_definition():
    keys, _, floats = make_rows(5)
    values = floats.astype(np.float32)

    def total(values):
        sums = local.reduce_by_key(jnp.asarray(keys), values, "sum", capacity=20).values
        return jnp.sum(sums * jnp.arange(20, dtype=sums.dtype))

    actual, _ = run(jax.grad(total), values)
    np.testing.assert_allclose(actual, jax.grad(total)(values))


# The kernel reads the column itself, so nothing else runs over all rows.
SEGMENT_OPS = ("min", "max", "any", "all", "first", "last", "argmin", "argmax", "count")


@pytest.mark.parametrize("dtype", ["float32", "int32", "float64", "bool", "uint32", "int64"])
def test_tables_reduce_columns_as_they_are(dtype):
    rng = np.random.default_rng(6)
    ids = rng.integers(-1, 12, NUM_ROWS).astype(np.int32)
    ids[ids == 7] = 12
    rows = rng.integers(0, 4, NUM_ROWS).astype(dtype)
    if np.dtype(dtype).kind == "f":
        rows = np.select([ids == 1, ids == 2], [np.resize([0.0, -0.0], NUM_ROWS), -rows], rows)
        rows = np.where(rng.random(NUM_ROWS) < 0.02, np.nan, rows).astype(dtype)

    def reduced(x, ids):
        return {op: local.segment_reduce(x, ids, 12, op) for op in SEGMENT_OPS}

    actual, called = run(reduced, rows, ids)
    oracles.assert_same_bits(actual, jax.jit(reduced)(rows, ids))
    # Words of 64 bits hold a row of 32 and its position; for other rows these take a second call.
    num_calls = len(SEGMENT_OPS) + (0 if dtype in ("float32", "int32", "uint32") else 2)
    assert called == ["segment_reduce"] * num_calls


def test_each_pass_over_a_column_of_floats_takes_one_call():
    x = make_rows(25)[2].astype(np.float32)

    def reduced(x):
        return local.pairwise_sum(x, num_valid=150), local.reduce(x, "var", dtype=np.float64)

    (total, variance), called = run(reduced, x)
    assert float(total) == np.float32(math.fsum(x[:150]))
    np.testing.assert_allclose(variance.values, np.var(x.astype(np.float64)), rtol=1e-14)
    assert called == ["pairwise_sum"] * 3


def test_no_rows_are_left_to_xla():
    flags, keys = jnp.zeros(2, bool), jnp.zeros(2, jnp.int8)
    assert can_keep_on_cuda((keys,), flags)
    assert not can_keep_on_cuda((keys[:0],), flags[:0])


@pytest.mark.parametrize("side", ["left", "right"])
def test_queries_are_searched_at_once_or_sorted_with_the_rows(side):
    # Enough queries for a sort.
    queries = np.random.default_rng(11).integers(-12, 12, 1030).astype(np.int32)
    for num_rows, num_valid, is_sorted in ((900, 700, True), (900, 0, True), (1, 1, False)):
        keys = np.sort(queries[:num_rows]) + 1
        actual, called = run(
            lambda k, q, n=num_valid: local.searchsorted(k, q, side=side, num_valid=n),
            keys,
            queries,
        )
        expected = np.searchsorted(keys[:num_valid], queries, side).astype(np.int32)
        oracles.assert_same_bits(actual, expected)
        assert called == ["search"]
        # Two words of two columns are searched in their common order.
        pairs, called = run(
            lambda k, q, n=num_valid: local.searchsorted(k, q, side=side, num_valid=n),
            (keys.astype(np.float64), keys),
            (queries.astype(np.float64), queries),
        )
        oracles.assert_same_bits(pairs, expected)
        assert (called[-1:] == ["reduce_by_key"]) == is_sorted
    actual, called = run(local.searchsorted, np.sort(queries), queries[:50])
    np.testing.assert_array_equal(actual, np.searchsorted(np.sort(queries), queries[:50]))
    assert called == ["search"]


@pytest.mark.parametrize("sort", [True, False])
@pytest.mark.parametrize("num_valid", [None, 130, 0])
def test_factorize_is_a_sort_and_a_pass(sort, num_valid):
    keys, ints, floats = make_rows(13)
    floats[::7], floats[1::7] = np.nan, -0.0
    # Three words of two columns are sorted in two calls.
    for columns in (keys, keys.astype(np.float32), floats, ints.astype(np.int64), (floats, keys)):
        for capacity in (NUM_ROWS, 6, 0):
            actual, called = run(
                lambda k, capacity=capacity: local.factorize(
                    k, capacity=capacity, sort=sort, return_first=True, num_valid=num_valid
                ),
                columns,
            )
            expected = oracles.factorize(
                columns, capacity=capacity, sort=sort, return_first=True, num_valid=num_valid
            )
            oracles.assert_same_bits(tuple(actual), expected)
            assert called.count("reduce_by_key") == (1 if sort else 2)
            assert called.count("radix_sort_pairs") <= 1 + isinstance(columns, tuple)


@pytest.mark.parametrize("how", ["inner", "left", "right", "outer", "semi", "anti"])
def test_joins_sort_both_sides_once(how):
    left, right = make_rows(14)[0], make_rows(15)[0][:120]
    for num_valid in (None, (150, 40), (0, 120), (200, 0)):
        for capacity in (4000, 20):
            actual, called = run(
                lambda a, b, n=num_valid, capacity=capacity: local.join(
                    a, b, how=how, capacity=capacity, num_valid=n
                ),
                left,
                right,
            )
            rows = oracles.join(left, right, how=how, num_valid=num_valid or (None, None))
            count = len(rows[0])
            for found, expected in zip(actual[:2], rows, strict=True):
                np.testing.assert_array_equal(found[:count], expected[:capacity])
            assert int(actual.count) == count
            # All else too, as on CPU.
            on_cpu = local.join(left, right, how=how, capacity=capacity, num_valid=num_valid)
            oracles.assert_same_bits(actual, on_cpu)
            assert sum(name.startswith("radix") for name in called) == 1
            assert called.count("match_rows") == 1
        size, _ = run(
            lambda a, b, n=num_valid: local.join_size(a, b, how=how, num_valid=n), left, right
        )
        assert int(size) == count


@pytest.mark.parametrize("how", ["inner", "outer"])
def test_joins_of_no_rows(how):
    keys = make_rows(20)[0][:30]
    for left, right in ((keys[:0], keys), (keys, keys[:0]), (keys[:0], keys[:0])):
        actual, _ = run(lambda a, b: local.join(a, b, how=how, capacity=40), left, right)
        oracles.assert_same_bits(actual, local.join(left, right, how=how, capacity=40))


@pytest.mark.parametrize("how", ["left", "outer"])
def test_matches_are_found_and_written_by_two_programs(how):
    left, right = make_rows(17)[0], make_rows(18)[0][:90]
    rows = oracles.join(left, right, how=how)
    sides = parts.as_sides(left, right, how, None, "join")
    matches, _ = run(lambda sides: parts.match_sides(sides, how), sides)
    pairs, called = run(lambda found: parts.pairs_of_sides(found, how, 4000), matches)
    for found, expected in zip(pairs[:2], rows, strict=True):
        np.testing.assert_array_equal(found[: len(expected)], expected)
        assert np.all(np.asarray(found[len(expected) :]) == -1)
    assert int(pairs.count) == len(rows[0])
    assert called.count("repeat_rows") == 1
    assert not any(name.startswith("radix") for name in called)


def test_isin_sorts_both_sides_once():
    _, ints, _ = make_rows(16)
    for num_valid in (None, (150, 30), (NUM_ROWS, 0)):
        actual, called = run(
            lambda k, v, n=num_valid: local.isin(k, v, num_valid=n), ints, ints[::3]
        )
        count, num_tested = num_valid or (NUM_ROWS, None)
        expected = np.isin(ints, ints[::3][:num_tested])
        expected[count:] = False
        np.testing.assert_array_equal(actual, expected)
        assert called == ["radix_sort_pairs", "match_rows"]


@pytest.mark.parametrize("op", ["intersection", "difference"])
def test_sets_sort_both_sides_once(op):
    _, ints, floats = make_rows(21)
    a, b = ints // 40, ints[::2] // 40 + 5
    for dtype in (np.int32, np.int8, np.uint64, np.bool_):
        for num_valid in (None, (150, 30), (NUM_ROWS, 0), (0, 60)):
            for capacity in (NUM_ROWS, 4):
                actual, called = run(
                    lambda a, b, n=num_valid, capacity=capacity: getattr(local, f"set_{op}")(
                        a, b, capacity=capacity, num_valid=n
                    ),
                    a.astype(dtype),
                    b.astype(dtype),
                )
                expected = oracles.set_operation(
                    op,
                    a.astype(dtype),
                    b.astype(dtype),
                    capacity,
                    num_valid=num_valid or (a.size, b.size),
                )
                oracles.assert_same_bits(tuple(actual), expected)
                assert called == ["radix_sort_pairs", "reduce_by_key"]
    # Equal floats may have different bits.
    _, called = run(getattr(local, f"set_{op}"), floats, floats[:9])
    assert "match_rows" in called


@pytest.mark.parametrize("num_valid", [None, 130, 0])
def test_runs_are_encoded_in_one_pass(num_valid):
    keys, ints, floats = make_rows(19)
    keys, floats = keys // 9, np.where(ints < 0, np.nan, np.sign(floats - 0.5))
    for columns in (keys, keys.astype(np.int8), floats, (keys, floats)):
        for capacity in (NUM_ROWS, 7, 0):
            actual, called = run(
                lambda k, capacity=capacity: local.run_length_encode(
                    k, capacity=capacity, num_valid=num_valid
                ),
                columns,
            )
            expected = oracles.run_length_encode(columns, capacity, num_valid)
            oracles.assert_same_bits(tuple(actual), expected)
            assert not capacity or called == ["reduce_by_key"]


def test_a_merge_of_columns_is_one_sort_of_both_sides():
    keys, ints, _ = make_rows(12)
    a, b = np.sort(keys), np.sort(keys[:90] + 3)
    values = (ints, ints[:90] - 1)
    of_floats = a.astype(np.float32), b.astype(np.float32)
    # Two words of two columns.
    of_both = (a.astype(np.float64), a), (b.astype(np.float64), b)
    for columns in ((a, b), of_floats, of_both):
        for num_valid in (None, (120, 33), (0, 90)):
            (actual, moved), called = run(
                lambda a, b, n=num_valid: local.merge(a, b, values=values, num_valid=n), *columns
            )
            expected = local.merge(*columns, values=values, num_valid=num_valid)
            oracles.assert_same_bits((actual, moved), expected)
            if isinstance(columns[0], tuple):
                assert set(called) <= {"radix_argsort", "radix_sort_pairs", "radix_sort_rows"}
            else:
                assert called == ["merge"]
