# SPDX-License-Identifier: Apache-2.0
"""`series.hash` and `series.str.to_bytes` against Python's bytes and the hash of rows."""

import jax
import numpy as np
import pandas as pd
import pytest
from jaxframes.frame import JaxFrame, JaxSeries
from jaxframes.primitives import Ragged, local
from jaxframes.shardings import make_mesh, row_sharded

WORDS = ["ada", "", "žába", "bob", "ada", None, "a" * 100, "bob"]


def hash_of_strings(words, seed=0):
    """Each string as a segment of bytes; zero if it is missing."""
    content = [word.encode() if word is not None else b"" for word in words]
    values = np.frombuffer(b"".join(content), np.uint8)
    lengths = np.array(list(map(len, content)), np.int32)
    hashes = hash_of(Ragged.from_lengths(values, lengths), seed)
    return np.where([word is None for word in words], 0, hashes)


def hash_of(column, seed=0):
    high, low = (np.asarray(word).astype(np.uint64) for word in local.hash_rows(column, seed=seed))
    return high * np.uint64(2**32) + low


@pytest.mark.parametrize("dtype", ["str", "category", "string", "string[pyarrow]"])
def test_strings_are_hashed_by_their_bytes(dtype):
    series = JaxSeries(pd.Series(WORDS, dtype="str").astype(dtype))
    expected = hash_of_strings(WORDS, seed=3)
    hashes = series.hash(seed=3)
    assert hashes.dtype == np.uint64
    np.testing.assert_array_equal(hashes.to_numpy(), expected)
    np.testing.assert_array_equal(jax.jit(lambda s: s.hash(seed=3))(series).to_numpy(), expected)
    # Of other rows, with another dictionary.
    np.testing.assert_array_equal(series[2:6].hash(seed=3).to_numpy(), expected[2:6])


@pytest.mark.parametrize("num_shards", [1, 4])
def test_every_mesh_and_batch_has_the_same_hashes(num_shards):
    frame = pd.DataFrame({"w": WORDS, "x": np.arange(8.0) / 3, "i": np.arange(8) - 4})
    on_mesh = JaxFrame(frame, sharding=row_sharded(make_mesh(num_shards)))
    for name, expected in (
        ("w", hash_of_strings(WORDS)),
        ("x", hash_of(frame.x.to_numpy())),
        ("i", hash_of(frame.i.to_numpy())),
    ):
        np.testing.assert_array_equal(on_mesh[name].hash().to_numpy(), expected)
        np.testing.assert_array_equal(JaxFrame(frame[4:])[name].hash().to_numpy(), expected[4:])


def test_equal_numbers_of_other_dtypes_have_one_hash():
    values = [0, 1, 100]
    expected = hash_of(np.array(values, np.int64))
    for dtype in ("int8", "uint16", "int64", "Int32", "int64[pyarrow]"):
        hashes = JaxSeries(pd.Series(values, dtype=dtype)).hash()
        np.testing.assert_array_equal(hashes.to_numpy(), expected)


def test_missing_values_have_the_hash_zero():
    for values in (
        pd.Series([1.5, np.nan]),
        pd.Series([1, None], dtype="Int64"),
        pd.Series([True, None], dtype="boolean"),
        pd.Series(pd.to_datetime(["2024-05-01", None])),
        pd.Series(["a", None]),
    ):
        first, second = JaxSeries(values).hash().tolist()
        assert first != 0
        assert second == 0


def test_names_what_has_no_hash():
    for values in ([1 + 2j], [[1, 2], [3]], [("a", 1), "b"]):
        with pytest.raises(NotImplementedError, match="hash: values must be numbers, strings or"):
            JaxSeries(pd.Series(values)).hash()


@pytest.mark.usefixtures("x64_off")
def test_hashes_need_64_bits():
    with pytest.raises(NotImplementedError, match="need JAX's x64 mode"):
        JaxSeries(["a"]).hash()


@pytest.mark.parametrize("num_shards", [1, 4])
@pytest.mark.parametrize("dtype", ["str", "category", "string"])
def test_bytes_of_strings_are_ragged(dtype, num_shards):
    words = pd.DataFrame({"w": pd.Series(WORDS, dtype="str").astype(dtype)})
    series = JaxFrame(words, sharding=row_sharded(make_mesh(num_shards))).w
    ragged = series.str.to_bytes().to_ragged()
    content = [word.encode() if word is not None else b"" for word in WORDS]
    assert np.asarray(ragged.values).tobytes() == b"".join(content)
    assert ragged.values.dtype == np.uint8
    assert ragged.lengths.tolist() == list(map(len, content))


def test_bytes_inside_jit_are_ragged():
    series = JaxSeries(pd.Series(WORDS, dtype="str"))
    ragged = jax.jit(lambda s: s.str.to_bytes().to_ragged(capacity=160))(series)
    content = [word.encode() if word is not None else b"" for word in WORDS]
    assert ragged.lengths.tolist()[: len(WORDS)] == list(map(len, content))
    assert np.asarray(ragged.values).tobytes().startswith(b"".join(content))


def test_no_strings_and_empty_strings():
    for words in ([], ["", ""]):
        series = JaxSeries(pd.Series(words, dtype="str"))
        np.testing.assert_array_equal(series.hash().to_numpy(), hash_of_strings(words))
        assert series.str.to_bytes().to_ragged().lengths.tolist() == [0] * len(words)
