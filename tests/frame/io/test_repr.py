# SPDX-License-Identifier: Apache-2.0
import io

import jax
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_same_error, on_device
from jaxframes.frame import JaxFrame
from jaxframes.frame.table import _to_host
from jaxframes.shardings import make_mesh, row_sharded


@pytest.mark.parametrize("num_rows", [0, 1, 37, 60, 200])
def test_prints_what_pandas_prints(num_rows):
    frame = mixed_frame(num_rows)
    for shown in (frame, frame.set_index("s"), frame.set_index(["s", "k"])):
        ours = on_device(shown)
        assert repr(ours) == repr(shown)
        assert str(ours) == str(shown)
        assert ours._repr_html_() == shown._repr_html_()
        assert repr(ours.x) == repr(shown.x)
    assert repr(on_device(frame).c) == repr(frame.c)


def test_moves_at_most_60_rows_to_the_host(monkeypatch):
    moved = []
    whole = _to_host.host_array

    def counted(array):
        moved.append(array.shape[0])
        return whole(array)

    frame = mixed_frame(1000)[["x", "k", "s"]]
    for sharding in (None, row_sharded(make_mesh(3))):
        ours = on_device(frame.set_index("s"), sharding)
        with monkeypatch.context() as patched:
            patched.setattr(_to_host, "host_array", counted)
            assert ours._repr_html_() == frame.set_index("s")._repr_html_()
    assert max(moved) <= 60
    assert len(moved) == 2 * 3


def test_inside_jit_the_columns_are_shown():
    texts = []
    jax.jit(lambda f: texts.append((repr(f), repr(f.x))))(on_device(mixed_frame()))
    assert "capacity 64" in texts[0][0]
    assert "s: str" in texts[0][0]
    assert "float64" in texts[0][1]


def test_memory_on_each_device():
    frame = pd.DataFrame({"x": np.arange(100.0), "s": ["a"] * 100})
    ours, sharded = on_device(frame), on_device(frame, row_sharded(make_mesh(2)))
    capacity = ours._table.capacity
    assert ours.memory_usage().to_dict() == {"Index": 0, "x": 8 * capacity, "s": 4 * capacity}
    assert sharded.memory_usage()["x"] == 4 * sharded._table.capacity
    assert ours.memory_usage(deep=True)["s"] > ours.memory_usage()["s"]
    assert ours.x.memory_usage() == 8 * capacity
    assert ours.x.nbytes == 8 * capacity
    assert sharded.s.nbytes == 2 * sharded._table.capacity
    text = io.StringIO()
    ours.x.info(buf=text)
    assert "<class 'jaxframes.frame.JaxSeries'>" in text.getvalue()
    assert "x   100 non-null  float64" in text.getvalue()
    assert f"{8 * capacity} bytes" in text.getvalue()
    text = io.StringIO()
    sharded.info(buf=text)
    assert "2 shards" in text.getvalue()
    assert "100 non-null" in text.getvalue()


def test_a_frame_of_shapes_shows_its_columns():
    frame = JaxFrame({"x": [1.5], "s": ["a"]})
    shapes = jax.eval_shape(lambda f: f, frame)
    assert repr(shapes) == "<JaxFrame of shapes, capacity 64, x: float64, s: str>"
    assert "of shapes" in repr(jax.eval_shape(lambda f: f.x, frame))
    assert "&lt;JaxFrame of shapes" in shapes._repr_html_()


def test_info_of_a_series_has_no_number_of_columns():
    message = assert_same_error(lambda s: s.info(max_cols=1), pd.Series([1]))
    assert message.startswith("Argument `max_cols` can only be passed in DataFrame.info")
