# SPDX-License-Identifier: Apache-2.0
"""Collective scans against the NumPy oracle: the shards' rows as one sequence."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes.primitives import collective
from key_distributions import make_keys
from on_shards import SHARD_COUNTS, dealt_out, noting, on_shards, row_counts, valid_rows
from scanned_rows import SETTINGS, assert_is_scan, head_flags, rows_of

NUM_ROWS = 9
SOME = ((*SETTINGS[0],), ("min", True, False), ("mul", True, True), ("max", False, True))


def scan(op, reverse, exclusive, x, num_valid, segments):
    at = {"axis_name": "rows", "reverse": reverse, "num_valid": num_valid}
    if segments:
        return collective.segmented_scan(x, op, exclusive=exclusive, **segments, **at)
    function = collective.exclusive_scan if exclusive else collective.inclusive_scan
    return function(x, op, **at)


@functools.cache
def scans(num_shards, settings):
    def run(x, num_valid, segments):
        return [scan(*setting, x, num_valid, segments) for setting in settings]

    return on_shards(run, num_shards)


def check(x, counts, settings, flags=None, ids=None):
    """Rows, flags and ids are `[shards, rows]`; flags are those that the oracle goes by."""
    segments = {} if flags is None else {"head_flags": flags}
    if ids is not None:
        segments = {"segment_ids": ids}
        flags = oracles.head_flags_of(valid_rows(ids, counts))
    elif flags is not None:
        flags = valid_rows(flags, counts)
    results = scans(len(counts), settings)(x, counts, segments)
    for actual, (op, reverse, exclusive) in zip(results, settings, strict=True):
        actual = np.asarray(actual)
        with noting((op, reverse, exclusive, counts)):
            assert_is_scan(
                valid_rows(actual, counts), valid_rows(x, counts), op, head_flags=flags,
                reverse=reverse, exclusive=exclusive,
            )  # fmt: skip
            padding = np.arange(NUM_ROWS) >= counts[:, None]
            assert not actual[padding].any()


def shards_of(array, num_shards):
    return array.reshape(num_shards, NUM_ROWS)


# Matches the oracle


@pytest.mark.parametrize("num_shards", SHARD_COUNTS)
def test_every_number_of_valid_rows(num_shards):
    x = shards_of(rows_of(np.int32, num_shards * NUM_ROWS), num_shards)
    for counts in row_counts(num_shards, NUM_ROWS).values():
        check(x, counts, SOME)


@pytest.mark.parametrize("num_shards", SHARD_COUNTS)
def test_segments_that_cross_any_number_of_shards(num_shards):
    x = shards_of(rows_of(np.int32, num_shards * NUM_ROWS), num_shards)
    for mean_length in (1, 4, 30, 1000):
        flags = shards_of(head_flags(num_shards * NUM_ROWS, mean_length), num_shards)
        ids = shards_of(np.cumsum(flags) % 3, num_shards).astype(np.int16)
        for name, counts in row_counts(num_shards, NUM_ROWS).items():
            with noting((mean_length, name)):
                check(x, counts, SOME, flags=flags)
                check(x, counts, SOME, ids=ids)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "float64", "complex128"])
def test_other_dtypes(dtype):
    x = shards_of(rows_of(dtype, 3 * NUM_ROWS), 3)
    settings = SETTINGS[:4] if dtype == "complex128" else SETTINGS
    flags = shards_of(head_flags(3 * NUM_ROWS, 12), 3)
    for name in ("all", "growing"):
        check(x, row_counts(3, NUM_ROWS)[name], settings, flags=flags)


@pytest.mark.parametrize("distribution", ["signed_zeros", "nan_inf_sprinkled"])
def test_extremes_keep_their_bits_from_shard_to_shard(distribution):
    settings = tuple(setting for setting in SETTINGS if setting[0] in ("min", "max"))
    x = make_keys(distribution, 5 * NUM_ROWS, np.dtype(np.float32))
    x[:NUM_ROWS] = np.nan_to_num(x[:NUM_ROWS])
    check(shards_of(x, 5), row_counts(5, NUM_ROWS)["every second shard empty"], settings)
    check(shards_of(x, 5), row_counts(5, NUM_ROWS)["all"], settings)


@pytest.mark.parametrize("reverse", [False, True])
def test_a_function_as_operator_of_leaves_of_any_shape(reverse):
    x = np.random.default_rng(0).integers(-3, 4, (5, NUM_ROWS, 2, 2))
    flags = shards_of(head_flags(5 * NUM_ROWS, 20), 5)
    initial = np.array([[1, 2], [3, 4]])

    def run(x, flags, num_valid):
        at = {"axis_name": "rows", "reverse": reverse, "num_valid": num_valid}

        def multiply(left, right):
            return {"product": left["product"] @ right["product"]}

        rows, first = {"product": x}, {"product": jnp.asarray(initial)}
        return (
            collective.inclusive_scan(rows, multiply, **at),
            collective.exclusive_scan(rows, multiply, initial=first, **at),
            collective.segmented_scan(rows, multiply, head_flags=flags, **at),
            collective.segmented_scan(
                rows, multiply, head_flags=flags, exclusive=True, initial=first, **at
            ),
        )

    compiled = on_shards(run, 5)
    for name, counts in row_counts(5, NUM_ROWS).items():
        results = compiled(x, flags, counts)
        rows, heads = valid_rows(x, counts), valid_rows(flags, counts)
        for i, actual in enumerate(results):
            expected = oracles.scan(
                rows, np.matmul, head_flags=heads if i >= 2 else None, reverse=reverse,
                exclusive=i % 2 == 1, initial=initial if i % 2 else None,
            )  # fmt: skip
            with noting((name, i)):
                expected = dealt_out(expected, counts.tolist(), NUM_ROWS)
                oracles.assert_same_bits(actual, {"product": expected})


def test_what_stands_before_the_first_row_of_all():
    x = shards_of(rows_of(np.float32, 3 * NUM_ROWS), 3)
    counts = row_counts(3, NUM_ROWS)["growing"]

    def run(x, num_valid):
        return collective.exclusive_scan(x, axis_name="rows", initial=2, num_valid=num_valid)

    actual = np.asarray(on_shards(run, 3)(x, counts))
    assert_is_scan(
        valid_rows(actual, counts), valid_rows(x, counts), "add", exclusive=True,
        initial=np.float32(2),
    )  # fmt: skip


def test_shards_of_no_rows_at_all():
    x = np.zeros((3, 0), np.int32)
    assert scans(3, SOME)(x, np.zeros(3, np.int32), {})[0].shape == (3, 0)


# Laws


def test_integers_do_not_depend_on_the_number_of_shards():
    x = rows_of(np.int64, 8 * NUM_ROWS)
    flags = head_flags(8 * NUM_ROWS, 10)
    results = []
    for num_shards in (1, 2, 8):
        cut = functools.partial(np.reshape, shape=(num_shards, -1))
        counts = np.full(num_shards, 8 * NUM_ROWS // num_shards, np.int32)
        segments = {"head_flags": cut(flags)}
        results.append(
            [
                np.asarray(leaf).reshape(-1)
                for leaf in scans(num_shards, SOME)(cut(x), counts, segments)
            ]
        )
    for others in results[1:]:
        oracles.assert_same_bits(others, results[0])


def test_an_infinity_does_not_reach_the_derivatives_of_other_segments():
    x = np.array([[2.0, np.inf], [3.0, 4.0]])
    flags = np.array([[False, False], [True, False]])

    def products(x):
        run = on_shards(
            lambda x, flags: collective.segmented_scan(
                x, "mul", head_flags=flags, axis_name="rows"
            ),
            2,
            compiler_options=None,
        )
        return run(x, flags)[1].sum()

    assert jax.grad(products)(jnp.asarray(x))[1].tolist() == [5, 3]


# Errors word for word


def test_refuses_to_run_outside_a_shard_map():
    with pytest.raises(ValueError, match="must name an axis of the enclosing") as raised:
        collective.inclusive_scan(np.arange(3), axis_name="rows")
    assert str(raised.value).startswith("inclusive_scan: axis_name")
