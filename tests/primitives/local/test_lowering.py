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


def program(function, dtype, platform):
    keys = jax.ShapeDtypeStruct((NUM_ROWS,), dtype)
    return jax.jit(function).trace(keys).lower(lowering_platforms=(platform,)).as_text()


def operands_of_sorts(text):
    sorts = re.findall(r'"stablehlo\.sort"\(([^)]*)\)', text)
    assert len(sorts) == text.count("stablehlo.sort")
    return [len(operands.split(",")) for operands in sorts]


@pytest.mark.parametrize("platform", ["cuda", "rocm", "tpu"])
@pytest.mark.parametrize("op", OPS)
def test_accelerators_sort_at_most_two_operands(op, platform):
    # XLA on GPU has a radix sort for one or two operands, and a slow comparison sort for more.
    for dtype in KEY_DTYPES:
        text = program(OPS[op], dtype, platform)
        assert max(operands_of_sorts(text), default=0) <= 2
        assert "jaxframes_" not in text


@pytest.mark.usefixtures("x64_off")
@pytest.mark.parametrize("platform", ["cuda", "tpu"])
def test_accelerators_sort_at_most_two_operands_without_x64(platform):
    for op in OPS.values():
        for dtype in KEY_DTYPES:
            if dtype.itemsize < 8:
                text = program(op, dtype, platform)
                assert max(operands_of_sorts(text), default=0) <= 2
                assert "64x" not in text
                assert "xi64>" not in text


@pytest.mark.parametrize(
    ("op", "operands"),
    [
        ("radix_sort", [1]),
        ("radix_sort of values", [2]),
        ("radix_argsort", [2]),
        ("merge", []),
    ],
)
def test_one_sort_is_enough_for_one_word(op, operands):
    for dtype in ("int32", "uint64"):
        assert operands_of_sorts(program(OPS[op], dtype, "cuda")) == operands


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
    assert operands_of_sorts(text) == [1]
    assert "is_stable = false" in text


@pytest.mark.parametrize("platform", ["cuda", "tpu"])
def test_wide_keys_are_not_packed(platform):
    text = program(lambda keys: local.radix_argsort(keys, bits=26), np.dtype(np.int32), platform)
    assert operands_of_sorts(text) == [2]


# A sort of a permutation crashes or is miscompiled with x64 in some versions of XLA on GPU.
INVERTING_OPS = {
    "bucket_order": (lambda ids: local.bucket_order(ids, 7), 1),
    "segment_rank": (lambda ids: local.segment_rank(ids, ids, 7), 2),
    "factorize": (local.factorize, 1),
    "unique": (lambda keys: local.unique(keys, return_inverse=True), 1),
    "partitioned": (lambda ids: local.bucket(ids, ids, 7), 1),
}


@pytest.mark.parametrize("platform", ["cuda", "tpu"])
@pytest.mark.parametrize("op", INVERTING_OPS)
def test_permutations_are_inverted_by_scatter(op, platform):
    function, num_sorts = INVERTING_OPS[op]
    text = program(function, np.dtype(np.int32), platform)
    assert len(operands_of_sorts(text)) <= num_sorts
    if op != "partitioned":
        assert "stablehlo.scatter" in text


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
