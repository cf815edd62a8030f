# SPDX-License-Identifier: Apache-2.0
"""`to_ragged` and `from_ragged`: lists of tokens through the primitives and back."""

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from frame_parity import on_device
from jaxframes import primitives
from jaxframes.frame import JaxFrame, JaxSeries
from jaxframes.shardings import make_mesh, row_sharded

DOCUMENTS = [[1, 2, 3], [], [4], None, [5, 6], [7]]
TABLE = np.arange(20.0) * 10


def documents():
    tokens = pd.Series(DOCUMENTS, dtype=pd.ArrowDtype(pa.list_(pa.int32())))
    return pd.DataFrame({"t": tokens, "w": np.arange(6.0)})


@pytest.fixture(params=[None, 3], ids=["one device", "mesh"])
def frame(request):
    sharding = None if request.param is None else row_sharded(make_mesh(request.param))
    return on_device(documents(), sharding)


def test_values_and_offsets(frame):
    ragged = frame[frame.w != 2].t.to_ragged()
    assert ragged.values.tolist() == [1, 2, 3, 5, 6, 7]
    assert ragged.offsets.tolist() == [0, 3, 3, 3, 5, 6]
    assert JaxSeries.from_ragged(ragged, name="t").tolist() == [[1, 2, 3], [], [], [5, 6], [7]]


def test_a_model_inside_jit(frame):
    @jax.jit
    def step(frame):
        ragged = frame.t.to_ragged(capacity=12)
        embedded = jnp.asarray(TABLE)[ragged.values]
        sums = primitives.segment_sum(embedded, ragged.segment_ids, ragged.num_segments)
        scores = JaxSeries.from_ragged(ragged.with_values(embedded), like=frame)
        return frame.assign(sums=sums, scores=scores)

    expected = [[float(TABLE[token]) for token in tokens or []] for tokens in DOCUMENTS]
    result = step(frame)
    assert result.scores.tolist() == expected
    assert result.sums.tolist() == [sum(tokens) for tokens in expected]
    assert step(frame[frame.w > 3]).scores.tolist() == expected[4:]


def test_offsets_of_rows_that_the_mesh_does_not_divide(frame):
    lengths = np.random.default_rng(0).integers(0, 9, 100)
    tokens = pd.Series([[7] * n for n in lengths], dtype=pd.ArrowDtype(pa.list_(pa.int32())))
    many = JaxFrame({"t": tokens}, sharding=frame.sharding)
    ragged = jax.jit(lambda f: f.t.to_ragged(capacity=512))(many)
    np.testing.assert_array_equal(np.diff(ragged.offsets)[:100], lengths)
    assert ragged.values.dtype == np.int32


def test_a_capacity_that_is_too_small_gives_the_true_count(frame):
    ragged = jax.jit(lambda f: f.t.to_ragged(capacity=4))(frame)
    assert int(ragged.count) == 7
    with pytest.raises(ValueError, match="to_ragged: inside jit capacity must be the maximum"):
        jax.jit(lambda f: f.t.to_ragged())(frame)


def test_missing_tokens_and_strings():
    tokens = JaxSeries(pd.Series([[1, None], [3]], dtype=pd.ArrowDtype(pa.list_(pa.int64()))))
    np.testing.assert_array_equal(tokens.to_ragged().values, [1.0, np.nan, 3.0])
    words = JaxSeries(["b a", "c"]).str.split()
    assert words.to_ragged().values.tolist() == [1, 0, 2]


def test_names_what_is_wrong():
    ragged = JaxFrame(documents()).t.to_ragged()
    with pytest.raises(ValueError, match="like must have a row for each of 6 segments, got 2 rows"):
        JaxSeries.from_ragged(ragged, like=JaxSeries([1, 2]))
    with pytest.raises(TypeError, match="values must be one array of one dimension"):
        JaxSeries.from_ragged(ragged.with_values(jnp.zeros((7, 2))))
    nested = JaxSeries(pd.Series([[[1]]], dtype=pd.ArrowDtype(pa.list_(pa.list_(pa.int64())))))
    with pytest.raises(NotImplementedError, match="to_ragged: lists must hold values"):
        nested.to_ragged()
