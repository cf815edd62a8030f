# SPDX-License-Identifier: Apache-2.0
"""Laws that no sort may break, on examples that Hypothesis draws.

Keys are drawn as bit patterns from a small pool, so that ties, NaNs of any payload and zeros of
either sign are common; lengths come from a few values, so that programs are compiled once.
"""

from typing import NamedTuple

import hypothesis.strategies as st
import jax
import numpy as np
import oracles
from hypothesis import given
from jaxframes.primitives import local
from key_distributions import INTEGER_DTYPES, KEY_DTYPES

LENGTHS = (0, 1, 7, 100)

STATIC = ("descending", "bits")
radix_sort = jax.jit(local.radix_sort, static_argnames=STATIC)
radix_argsort = jax.jit(local.radix_argsort, static_argnames=STATIC)
merge = jax.jit(local.merge, static_argnames="descending")
top_k = jax.jit(local.top_k, static_argnames=("k", "largest"))
searchsorted = jax.jit(local.searchsorted, static_argnames=("side", "descending"))
segmented_sort = jax.jit(local.segmented_sort)
bucket = jax.jit(local.bucket, static_argnames="num_buckets")


@st.composite
def columns(draw, num_rows, dtypes=KEY_DTYPES):
    """One key column of `num_rows` rows."""
    dtype = draw(st.sampled_from(dtypes))
    width = 1 if dtype == np.bool_ else 8 * dtype.itemsize
    pool = draw(st.lists(st.integers(0, 2**width - 1), min_size=1, max_size=6))
    picks = np.random.default_rng(draw(st.integers(0, 9))).integers(0, len(pool), num_rows)
    return np.array(pool, f"u{dtype.itemsize}")[picks].view(dtype)


class Problem(NamedTuple):
    """Keys, and all that a sort can be told about them."""

    keys: tuple[np.ndarray, ...]
    settings: dict


@st.composite
def problems(draw, dtypes=KEY_DTYPES, max_columns=3):
    num_rows = draw(st.sampled_from(LENGTHS))
    num_columns = draw(st.integers(1, max_columns))
    keys = tuple(draw(columns(num_rows, dtypes)) for _ in range(num_columns))
    bits = tuple(
        draw(st.sampled_from([None, 1, 7, 8 * key.dtype.itemsize - 1]))
        if key.dtype in INTEGER_DTYPES
        else None
        for key in keys
    )
    descending = tuple(draw(st.lists(st.booleans(), min_size=num_columns, max_size=num_columns)))
    num_valid = draw(st.none() | st.integers(0, num_rows))
    return Problem(keys, {"descending": descending, "bits": bits, "num_valid": num_valid})


@st.composite
def trees(draw, num_rows):
    """Values: any nesting of arrays with rows of any shape."""
    counter = iter(range(100))

    def leaf(row_shape):
        values = np.arange(num_rows * np.prod(row_shape, dtype=int)) + 1000 * next(counter)
        return values.reshape(num_rows, *row_shape)

    leaves = st.sampled_from([(), (3,), (2, 2)]).map(leaf)
    nested = st.recursive(
        leaves,
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.tuples(inner)
            | st.fixed_dictionaries({"a": inner, "b": inner})
        ),
        max_leaves=4,
    )
    return draw(nested)


@given(problem=problems(), data=st.data())
def test_matches_the_oracle(problem, data):
    values = data.draw(trees(len(problem.keys[0])))
    expected = oracles.sort(problem.keys, values=values, **problem.settings)
    actual = radix_sort(problem.keys, values=values, **problem.settings)
    oracles.assert_same_bits(actual, expected)


@given(problem=problems())
def test_a_permutation_that_keeps_the_padding(problem):
    row_ids = np.asarray(radix_argsort(problem.keys, **problem.settings))
    num_rows = len(problem.keys[0])
    num_valid = problem.settings["num_valid"]
    num_valid = num_rows if num_valid is None else num_valid
    np.testing.assert_array_equal(np.sort(row_ids[:num_valid]), np.arange(num_valid))
    np.testing.assert_array_equal(row_ids[num_valid:], np.arange(num_valid, num_rows))


@given(problem=problems())
def test_sorting_again_changes_nothing(problem):
    once = radix_sort(problem.keys, **problem.settings)
    oracles.assert_same_bits(radix_sort(once, **problem.settings), once)


@given(problem=problems(dtypes=INTEGER_DTYPES, max_columns=1))
def test_descending_is_ascending_by_the_complement(problem):
    (key,) = problem.keys
    settings = problem.settings | {"descending": True}
    complement = problem.settings | {"descending": False}
    oracles.assert_same_bits(radix_argsort(key, **settings), radix_argsort(~key, **complement))


@given(problem=problems(dtypes=INTEGER_DTYPES, max_columns=1), seed=st.integers(0, 9))
def test_the_order_of_the_rows_does_not_matter(problem, seed):
    (key,) = problem.keys
    shuffled = np.random.default_rng(seed).permutation(key)
    oracles.assert_same_bits(radix_sort(shuffled), radix_sort(key))


@given(problem=problems())
def test_columns_may_be_sorted_by_one_at_a_time(problem):
    row_ids = np.arange(len(problem.keys[0]), dtype=np.int32)
    per_column = zip(
        problem.keys, problem.settings["descending"], problem.settings["bits"], strict=True
    )
    for key, descending, bits in reversed(list(per_column)):
        settings = {"descending": descending, "bits": bits}
        step = radix_argsort(key[row_ids], num_valid=problem.settings["num_valid"], **settings)
        row_ids = row_ids[np.asarray(step)]
    oracles.assert_same_bits(radix_argsort(problem.keys, **problem.settings), row_ids)


@given(data=st.data(), descending=st.booleans())
def test_merging_sorted_halves_sorts_the_whole(data, descending):
    num_a, num_b = data.draw(st.tuples(st.sampled_from(LENGTHS), st.sampled_from(LENGTHS)))
    a = data.draw(columns(num_a))
    b = data.draw(columns(num_b, (a.dtype,)))
    values = np.arange(num_a + num_b)
    a_keys, a_values = radix_sort(a, values=values[:num_a], descending=descending)
    b_keys, b_values = radix_sort(b, values=values[num_a:], descending=descending)
    merged = merge(a_keys, b_keys, values=(a_values, b_values), descending=descending)
    whole = radix_sort(np.concatenate([a, b]), values=values, descending=descending)
    oracles.assert_same_bits(merged, whole)


@given(data=st.data(), largest=st.booleans())
def test_top_k_is_the_front_of_a_sort(data, largest):
    x = data.draw(columns(data.draw(st.sampled_from(LENGTHS))))
    k = data.draw(st.sampled_from(sorted({0, min(1, len(x)), len(x) // 2, len(x)})))
    num_valid = data.draw(st.integers(0, len(x)))
    top = top_k(x, k=k, largest=largest, num_valid=num_valid)
    row_ids = radix_argsort(x, descending=largest, num_valid=num_valid)
    oracles.assert_same_bits(top.row_ids, row_ids[:k])
    oracles.assert_same_bits(top.values, x[np.asarray(row_ids[:k])])


@given(data=st.data(), descending=st.booleans())
def test_each_query_goes_between_less_and_not_less(data, descending):
    num_rows = data.draw(st.sampled_from(LENGTHS))
    keys = data.draw(columns(num_rows))
    queries = np.concatenate([keys[:5], data.draw(columns(2, (keys.dtype,)))])
    keys = oracles.sort(keys, descending=descending)
    num_valid = data.draw(st.integers(0, num_rows))
    for side in ("left", "right"):
        settings = {"side": side, "descending": descending, "num_valid": num_valid}
        actual = searchsorted(keys, queries, **settings)
        oracles.assert_same_bits(actual, oracles.searchsorted(keys, queries, **settings))


@given(data=st.data())
def test_segments_are_sorted_like_a_more_significant_key(data):
    num_rows = data.draw(st.sampled_from(LENGTHS))
    keys = data.draw(columns(num_rows))
    segment_ids = data.draw(columns(num_rows, INTEGER_DTYPES))
    num_valid = data.draw(st.integers(0, num_rows))
    actual = segmented_sort(keys, segment_ids, num_valid=num_valid)
    _, expected = radix_sort((segment_ids, keys), num_valid=num_valid)
    oracles.assert_same_bits(actual, expected)


@given(data=st.data(), num_buckets=st.sampled_from([1, 9, 300]))
def test_buckets_lose_no_row(data, num_buckets):
    num_rows = data.draw(st.sampled_from(LENGTHS))
    bucket_ids = data.draw(columns(num_rows, INTEGER_DTYPES))
    num_valid = data.draw(st.integers(0, num_rows))
    grouped = bucket(np.arange(num_rows), bucket_ids, num_buckets=num_buckets, num_valid=num_valid)
    expected = oracles.bucket(np.arange(num_rows), bucket_ids, num_buckets, num_valid=num_valid)
    oracles.assert_same_bits(tuple(grouped), expected)
