# SPDX-License-Identifier: Apache-2.0
"""Other libraries take frames by their protocols."""

import altair
import duckdb
import jax
import jax.numpy as jnp
import matplotlib.pyplot
import narwhals
import numpy as np
import pandas as pd
import plotly.express
import polars
import pyarrow as pa
import pytest
import seaborn
from frame_examples import mixed_frame
from jaxframes.frame import JaxFrame, JaxSeries
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import OneHotEncoder, StandardScaler

PANDAS = pd.DataFrame({"x": [1.0, 2.0, 4.0], "y": [2, 1, 3], "s": ["b", "a", "b"]})


@pytest.fixture
def frame():
    return JaxFrame(PANDAS)


def test_polars_and_arrow_take_its_stream(frame):
    assert polars.DataFrame(frame).to_dict(as_series=False) == PANDAS.to_dict("list")
    assert pa.table(frame).to_pydict() == PANDAS.to_dict("list")
    assert polars.Series(frame["s"]).to_list() == ["b", "a", "b"]
    pd.testing.assert_frame_equal(pd.DataFrame.from_arrow(frame), PANDAS)
    assert polars.DataFrame(frame.lazy()).to_dict(as_series=False) == PANDAS.to_dict("list")


def test_what_polars_has_becomes_a_frame(frame):
    pd.testing.assert_frame_equal(JaxFrame(polars.DataFrame(frame)).to_pandas(), PANDAS)


def test_duckdb_finds_it_by_its_name(frame):
    del frame  # the query finds jax_frame by its name
    jax_frame = JaxFrame(mixed_frame())
    rows = duckdb.sql("select s, count(*) from jax_frame where k > 2 group by s").fetchall()
    expected = mixed_frame().query("k > 2").groupby("s", dropna=False).size()
    assert sorted(count for _, count in rows) == sorted(expected)
    assert len(jax_frame) == 37


def test_narwhals_takes_it(frame):
    assert narwhals.from_native(frame).columns == ["x", "y", "s"]
    grouped = narwhals.from_native(frame).group_by("s").agg(narwhals.col("y").sum()).sort("s")
    assert grouped.to_dict(as_series=False) == {"s": ["a", "b"], "y": [1, 5]}
    assert narwhals.from_native(frame["y"], series_only=True).sum() == 6


def test_numpy_takes_it_as_an_array(frame):
    np.testing.assert_array_equal(np.asarray(frame[["x", "y"]]), PANDAS[["x", "y"]].to_numpy())
    np.testing.assert_array_equal(np.asarray(frame["s"]), PANDAS["s"].to_numpy())
    assert np.asarray(frame["y"], dtype=np.float32).dtype == np.float32
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        np.asarray(frame, copy=False)


def test_numpy_takes_no_traced_frame(frame):
    with pytest.raises(jax.errors.TracerArrayConversionError):
        jax.jit(lambda frame: np.asarray(frame))(frame)


def test_scikit_learn_fits_it(frame):
    model = LinearRegression().fit(frame[["x"]], frame["y"])
    assert list(model.feature_names_in_) == ["x"]
    expected = LinearRegression().fit(PANDAS[["x"]], PANDAS["y"])
    np.testing.assert_allclose(model.predict(frame[["x"]]), expected.predict(PANDAS[["x"]]))
    columns = ColumnTransformer(
        [("scaled", StandardScaler(), ["x"]), ("s", OneHotEncoder(), ["s"])]
    )
    np.testing.assert_allclose(columns.fit_transform(frame), columns.fit_transform(PANDAS))


def test_plotly_draws_it(frame):
    figure = plotly.express.scatter(frame, x="x", y="y", color="s")
    assert sorted(trace.name for trace in figure.data) == ["a", "b"]


def test_altair_draws_it(frame):
    chart = altair.Chart(frame).mark_point().encode(x="x", y="y", color="s").to_dict()
    (rows,) = chart["datasets"].values()
    assert rows == PANDAS.to_dict("records")
    assert chart["encoding"]["color"]["type"] == "nominal"


def test_seaborn_draws_it(frame):
    matplotlib.use("agg")
    axes = seaborn.scatterplot(frame, x="x", y="y")
    np.testing.assert_array_equal(axes.collections[0].get_offsets(), PANDAS[["x", "y"]])


def test_seaborn_draws_pairs_of_pandas(frame):
    matplotlib.use("agg")
    with pytest.raises(TypeError, match="must be pandas DataFrame"):
        seaborn.pairplot(frame)
    assert list(seaborn.pairplot(frame.to_pandas()).x_vars) == ["x", "y"]


def test_matplotlib_draws_it(frame):
    matplotlib.use("agg")
    axes = matplotlib.pyplot.figure().subplots()
    drawn = axes.scatter("x", "y", data=frame)
    np.testing.assert_array_equal(drawn.get_offsets(), PANDAS[["x", "y"]])
    lines = axes.plot(frame[["x", "y"]])
    np.testing.assert_array_equal(lines[1].get_ydata(), PANDAS["y"])


def test_dlpack_hands_on_a_column(frame):
    np.testing.assert_array_equal(np.from_dlpack(frame["x"]), PANDAS["x"].to_numpy())
    assert isinstance(jnp.from_dlpack(frame["y"]), jax.Array)
    with pytest.raises(TypeError, match="__dlpack__: the values must be numbers"):
        np.from_dlpack(JaxSeries(["a"]))
