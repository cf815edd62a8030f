# SPDX-License-Identifier: Apache-2.0
"""What the programs of level 1 consist of on each platform: a contract on their StableHLO."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes.primitives import backend, local
from key_distributions import KEY_DTYPES
from on_platforms import lowered, operands_of_sorts

NUM_ROWS = 100
IDS = jnp.arange(NUM_ROWS, dtype=jnp.int32) % 7
OPS = {
    "radix_sort": local.radix_sort,
    "radix_sort of values": lambda keys: local.radix_sort(keys, values=IDS),
    "radix_sort of bits": lambda keys: local.radix_sort((keys, IDS), bits=(None, 5)),
    "radix_argsort": local.radix_argsort,
    "radix_argsort of three columns": lambda keys: local.radix_argsort((keys, IDS, keys)),
    "radix_argsort descending": lambda keys: local.radix_argsort(keys, descending=True),
    "segmented_sort": lambda keys: local.segmented_sort(keys, IDS, num_segments=7),
    "top_k": lambda keys: local.top_k(keys, 5),
    "merge": lambda keys: local.merge(keys, keys),
    "bucket": lambda keys: local.bucket(keys, IDS, 7),
}


_KEYS_OF_PAIRS = re.compile(r"is_stable = true\}> .*?\}\) : \(tensor<\d+x(\w+)>, ", re.DOTALL)


def program(function, dtype, platform):
    return lowered(function, platform, jax.ShapeDtypeStruct((NUM_ROWS,), dtype))


@pytest.mark.parametrize("platform", ["cuda", "rocm"])
@pytest.mark.parametrize("op", OPS)
def test_a_gpu_sorts_at_most_two_operands(op, platform):
    # XLA has a radix sort for one or two operands, and a slow comparison sort for more. Beside a
    # key of 64 bits it has one on some cards only.
    for dtype in KEY_DTYPES:
        text = program(OPS[op], dtype, platform)
        assert max(operands_of_sorts(text), default=0) <= 2
        assert set(_KEYS_OF_PAIRS.findall(text)) <= {"ui32"}
        assert "jaxframes_" not in text


@pytest.mark.parametrize("op", OPS)
def test_a_tpu_sorts_all_columns_at_once(op):
    for dtype in KEY_DTYPES:
        text = program(OPS[op], dtype, "tpu")
        assert len(operands_of_sorts(text)) <= 1
        assert "jaxframes_" not in text


@pytest.mark.usefixtures("x64_off")
@pytest.mark.parametrize("platform", ["cuda", "tpu"])
def test_sorts_without_x64_have_words_of_32_bits(platform):
    for op in OPS.values():
        for dtype in KEY_DTYPES:
            if dtype.itemsize < 8:
                text = program(op, dtype, platform)
                assert platform == "tpu" or max(operands_of_sorts(text), default=0) <= 2
                assert "64x" not in text
                assert "xi64>" not in text


# Operands of the sorts of int32, and of uint64.
SORTS = {
    ("radix_sort", "cuda"): ([1], [1]),
    ("radix_sort of values", "cuda"): ([2], [2, 2]),
    ("radix_argsort", "cuda"): ([2], [2, 2]),
    ("merge", "cuda"): ([], []),
    ("radix_sort", "tpu"): ([1], [2]),
    ("radix_sort of values", "tpu"): ([3], [4]),
    ("radix_argsort", "tpu"): ([2], [3]),
    ("radix_argsort of three columns", "tpu"): ([4], [6]),
}


@pytest.mark.parametrize(("op", "platform"), SORTS)
def test_sorts_have_few_operands(op, platform):
    for dtype, operands in zip(("int32", "uint64"), SORTS[op, platform], strict=True):
        text = program(OPS[op], dtype, platform)
        assert operands_of_sorts(text) == operands
        if platform == "tpu":
            assert "stablehlo.gather" not in text
            assert "stablehlo.scatter" not in text


@pytest.mark.parametrize("platform", ["cuda", "tpu"])
def test_valid_rows_take_no_mask(platform):
    for num_valid, is_masked in ((None, False), (NUM_ROWS, False), (NUM_ROWS - 1, True)):

        def sort(keys, num_valid=num_valid):
            return local.radix_sort(keys, num_valid=num_valid)

        # Two masks: padding goes last, and comes back.
        text = program(sort, np.dtype(np.uint32), platform)
        assert text.count("stablehlo.select") == 2 * is_masked


@pytest.mark.parametrize("num_values", [1, 2, 8, 9])
def test_values_are_operands_of_a_sort(num_values):
    def sort(keys):
        return local.radix_sort(keys, values=[keys * i for i in range(num_values)])

    text = program(sort, np.dtype(np.int32), "tpu")
    # The key, the row id, and eight columns at most.
    assert operands_of_sorts(text) == {1: [3], 2: [4], 8: [10], 9: [10, 3]}[num_values]
    assert "stablehlo.gather" not in text
    text = program(sort, np.dtype(np.int32), "cuda")
    assert operands_of_sorts(text) == [2]
    assert ("stablehlo.gather" in text) == (num_values > 2)


PACKED_OPS = {
    "bucket ids": (lambda ids: local.bucket(ids, ids, 500), np.int32),
    "bucket ids, their order and its inverse": (lambda ids: local.bucket_order(ids, 500), np.int32),
    "keys of 25 bits": (lambda keys: local.radix_argsort(keys, bits=25), np.int32),
    "keys of 16 bits": (local.radix_argsort, np.uint16),
}


@pytest.mark.parametrize("platform", ["cuda", "tpu"])
@pytest.mark.parametrize("op", PACKED_OPS)
def test_narrow_keys_are_sorted_as_one_word_with_their_row_ids(op, platform):
    # The bits of the keys and the 7 bits of the ids of 100 rows fit 32.
    function, dtype = PACKED_OPS[op]
    text = program(function, np.dtype(dtype), platform)
    # On TPU a sort of pairs inverts the order.
    inversion = [2] if platform == "tpu" and "inverse" in op else []
    assert operands_of_sorts(text) == [1, *inversion]
    assert "is_stable = false" in text


@pytest.mark.parametrize("platform", ["cuda", "tpu"])
def test_wide_keys_are_not_packed(platform):
    text = program(lambda keys: local.radix_argsort(keys, bits=26), np.dtype(np.int32), platform)
    assert operands_of_sorts(text) == [2]


# A sort of a permutation crashes or is miscompiled with x64 in some versions of XLA on GPU. On TPU
# it costs a tenth of a scatter.
INVERTING_OPS = {
    "bucket_order": (lambda ids: local.bucket_order(ids, 7), 1),
    "segment_rank": (lambda ids: local.segment_rank(ids, ids, 7), 2),
    "factorize": (local.factorize, 1),
    "unique": (lambda keys: local.unique(keys, return_inverse=True), 1),
    "partitioned": (lambda ids: local.bucket(ids, ids, 7), 1),
}


@pytest.mark.parametrize("op", INVERTING_OPS)
def test_permutations_are_inverted_by_scatter_on_gpu(op):
    function, num_sorts = INVERTING_OPS[op]
    text = program(function, np.dtype(np.int32), "cuda")
    assert len(operands_of_sorts(text)) <= num_sorts
    if op != "partitioned":
        assert "stablehlo.scatter" in text


@pytest.mark.parametrize("op", INVERTING_OPS)
def test_permutations_are_inverted_by_a_sort_on_tpu(op):
    text = program(INVERTING_OPS[op][0], np.dtype(np.int32), "tpu")
    assert len(operands_of_sorts(text)) <= (3 if op == "bucket_order" else 2)
    assert "stablehlo.scatter" not in text


@pytest.mark.skipif(jax.default_backend() != "gpu", reason="XLA rewrites sorts on a GPU alone")
@pytest.mark.parametrize("op", ["radix_sort", "radix_argsort", "radix_argsort descending"])
def test_a_gpu_sorts_by_cub(op):
    for dtype in KEY_DTYPES:
        # Of few rows XLA may think comparisons quicker.
        keys = jax.ShapeDtypeStruct((10_000_000,), dtype)
        text = jax.jit(OPS[op]).lower(keys).compile().as_text()
        assert re.search(r'custom_call_target="[^"]*cub', text, re.IGNORECASE)
        assert not re.search(r"= .*\bsort\(", text)


@pytest.mark.parametrize("op", OPS)
def test_the_cpu_calls_the_kernels_and_sorts_nothing_itself(op):
    for dtype in KEY_DTYPES:
        text = program(OPS[op], dtype, "cpu")
        if backend().cpu == "native":
            assert "jaxframes_" in text
            assert operands_of_sorts(text) == []
        else:
            # XLA on CPU is quick for one operand only.
            assert "jaxframes_" not in text
            assert max(operands_of_sorts(text), default=1) == 1


def test_one_exported_program_serves_every_platform():
    keys = np.array([3, 1, 2], np.int32)
    sort = jax.jit(local.radix_sort)
    targets = ["jaxframes_radix_sort_keys_v1"]
    checks = [jax.export.DisabledSafetyCheck.custom_call(target) for target in targets]
    exported = jax.export.export(sort, platforms=("cpu", "cuda", "tpu"), disabled_checks=checks)(
        jax.ShapeDtypeStruct(keys.shape, keys.dtype)
    )
    restored = jax.export.deserialize(exported.serialize())
    oracles.assert_same_bits(restored.call(keys), np.sort(keys))


MOVING_OPS = {
    "unique": lambda keys: local.unique(keys, return_index=True, return_counts=True),
    "factorize": lambda keys: local.factorize(keys, return_first=True)[:1],
    "reduce_by_key": lambda keys: local.reduce_by_key(keys, IDS, "sum"),
    "extremes": lambda keys: local.reduce_by_key(keys, (keys, IDS), ("max", "count")),
    "join": lambda keys: local.join(keys, IDS, capacity=NUM_ROWS),
    "left join": lambda keys: local.join(keys, IDS, how="left", capacity=NUM_ROWS),
    "isin": lambda keys: local.isin(keys, IDS),
    "compact": lambda keys: local.compact(keys > 3, (keys, IDS)),
    "segmented_sort": lambda keys: local.segmented_sort(keys, IDS, values=keys),
}


@pytest.mark.parametrize("op", MOVING_OPS)
def test_a_tpu_moves_columns_without_gathers(op):
    text = program(MOVING_OPS[op], np.dtype(np.int32), "tpu")
    assert "stablehlo.gather" not in text
    assert "stablehlo.scatter" not in text
