# SPDX-License-Identifier: Apache-2.0
"""Readers, writers and plots that pandas makes on the host."""

import io
import pickle
import sqlite3
import sys
import types

import jax
import jaxframes.frame as jf
import pandas as pd
import pytest
from frame_parity import assert_same
from jax.sharding import NamedSharding, PartitionSpec
from jaxframes.frame import JaxFrame, JaxSeries
from jaxframes.frame.io._formats_of_pandas import READERS

FRAME = pd.DataFrame({"x": [1, 2, 3], "s": ["a", None, "c"], "y": [0.5, 1.5, None]})


def test_tables_of_a_database():
    connection = sqlite3.connect(":memory:")
    assert JaxFrame(FRAME).to_sql("rows", connection, index=False) == 3
    query = "select * from rows where x > 1"
    assert_same(jf.read_sql(query, connection), pd.read_sql(query, connection))
    chunks = list(jf.read_sql_query("select * from rows", connection, chunksize=2))
    expected = list(pd.read_sql_query("select * from rows", connection, chunksize=2))
    for ours, theirs in zip(chunks, expected, strict=True):
        assert_same(ours, theirs)


def test_pickles_are_those_of_pandas(tmp_path):
    path = tmp_path / "f.pkl"
    for theirs, ours in ((FRAME, JaxFrame(FRAME)), (FRAME.x, JaxSeries(FRAME.x))):
        ours.to_pickle(path)
        assert type(pickle.loads(path.read_bytes())) is type(theirs)
        assert_same(jf.read_pickle(path), theirs)
    pd.to_pickle([FRAME, 1], path)
    (found, one) = jf.read_pickle(path)
    assert_same(found, FRAME)
    assert one == 1


def test_text_of_fixed_widths_and_tabs():
    text = "a   b\n1   x\n22  y\n"
    assert_same(jf.read_fwf(io.StringIO(text)), pd.read_fwf(io.StringIO(text)))
    parts = list(jf.read_fwf(io.StringIO(text), chunksize=1))
    assert [part["a"].tolist() for part in parts] == [[1], [22]]
    tabs = "a\tb\n1\tx\n"
    assert_same(jf.read_table(io.StringIO(tabs)), pd.read_table(io.StringIO(tabs)))
    for how in ({"sep": "|"}, {"delimiter": "|"}):
        found = jf.read_table(io.StringIO("a|b\n1|x\n"), **how)
        assert_same(found, pd.DataFrame({"a": [1], "b": "x"}))


def test_rows_go_to_the_devices_of_a_sharding(tmp_path):
    FRAME.to_pickle(tmp_path / "f.pkl")
    sharding = NamedSharding(jax.make_mesh((2,), ("rows",)), PartitionSpec("rows"))
    found = jf.read_pickle(tmp_path / "f.pkl", sharding=sharding)
    assert found.sharding == sharding
    assert_same(found, FRAME)


@pytest.mark.parametrize("name", sorted(READERS))
def test_each_reader_says_whose_it_is(name):
    assert name in getattr(jf, name).__doc__
    assert pickle.loads(pickle.dumps(getattr(jf, name))) is getattr(jf, name)


def test_plots_are_drawn_by_the_backend_of_pandas(monkeypatch):
    drawn = []
    backend = types.ModuleType("drawing")

    def plot(data, kind, **options):
        drawn.append((data, kind, options))
        return "axes"

    backend.plot = plot
    backend.hist_frame = backend.hist_series = backend.boxplot_frame = (
        lambda data, *args, **options: ("drawn", len(data))
    )
    monkeypatch.setitem(sys.modules, "drawing", backend)
    with pd.option_context("plotting.backend", "drawing"):
        ours = JaxFrame(FRAME)
        assert ours.plot(x="x", y="y") == ours.plot.bar() == ours.x.plot.line() == "axes"
        assert ours.hist() == ours.y.hist() == ours.boxplot() == ("drawn", 3)
    assert [kind for _, kind, _ in drawn] == ["line", "bar", "line"]
    assert_same(JaxSeries(drawn[2][0]), FRAME.x)
