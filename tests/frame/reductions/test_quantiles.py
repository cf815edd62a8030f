# SPDX-License-Identifier: Apache-2.0
import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device
from jaxframes.frame import JaxFrame, JaxSeries

Q = [0.0, 0.1, 0.5, 0.63, 1.0]
HOWS = ["linear", "lower", "higher", "midpoint", "nearest"]


def test_series():
    frame = mixed_frame()[["k", "x"]]

    def quantiles(f):
        return tuple(
            (s.median(), s.quantile(0.3), *(s.quantile(Q, interpolation=h) for h in HOWS))
            for s in (f.k, f.x)
        )

    assert_parity(quantiles, frame, ways=["jit"], ulps=4)
    assert_parity(lambda s: (s.median(), s.median(skipna=False), s.quantile(Q)), frame["x"],
                  ways=["eager"], ulps=4)  # fmt: skip


def test_times():
    frame = mixed_frame()[["t", "d"]]
    frame = pd.DataFrame({"t": frame.t.dt.floor("D"), "d": frame.d.dt.floor("s")})
    assert_parity(lambda f: (f.t.median(), f.t.quantile(0.5)), frame, ways=["eager"])
    assert_parity(lambda f: f.quantile([0.0, 1.0]), frame, ways=["eager"])
    assert_parity(lambda f: f.median(), frame, ways=["eager"])


def test_frames():
    frame = mixed_frame()[["k", "x", "f"]]
    assert_parity(lambda f: (f.median(), f.quantile(0.3)), frame[["k", "x"]], ulps=4)
    assert_parity(lambda f: f.quantile(Q), frame.dropna(), ways=["eager"], ulps=4)
    assert_parity(lambda f: f.quantile(Q, interpolation="lower"), frame, ways=["eager"])
    assert_parity(lambda f: f.median(numeric_only=True), mixed_frame()[["k", "x", "s"]], ulps=4)
    assert_parity(lambda f: f.quantile(Q), frame[["x"]], ways=["mesh"], ulps=4)


@pytest.mark.parametrize("num_rows", [0, 1])
def test_few_rows(num_rows):
    frame = mixed_frame()[["k", "x"]][:num_rows]
    assert_parity(lambda f: (f.median(), f.quantile(0.3)), frame, ways=["eager"])
    assert_parity(lambda f: f.k.quantile([0.3], interpolation="lower"), frame, ways=["eager"])


def test_beside_infinities():
    series = JaxSeries([1.0, np.inf])
    assert series.median() == np.inf
    assert series.quantile(0.5) == np.inf
    assert JaxSeries([np.inf, np.inf]).quantile(0.3) == np.inf
    for values, expected in (
        ([1.0, np.inf], [1.0, np.inf, np.inf]),
        ([-np.inf, 1.0], [-np.inf, -np.inf, 1.0]),
        ([-np.inf, np.inf], [-np.inf, np.nan, np.inf]),
    ):
        x = JaxFrame({"k": np.zeros(2, int), "x": values})
        found = [
            [float(x.x.quantile(q)) for q in (0.0, 0.25, 1.0)],
            [float(x.groupby("k").x.quantile(q)[0]) for q in (0.0, 0.25, 1.0)],
            [float(x.lazy().x.quantile(q).collect(batch_rows=1)) for q in (0.0, 0.25, 1.0)],
        ]
        np.testing.assert_array_equal(found, [expected] * 3)


@pytest.mark.parametrize(("values", "expected"), [([-1, 1], 0.0), ([1, 1], 1.0)])
def test_between_the_largest_numbers(values, expected):
    largest = np.finfo(float).max
    frame = JaxFrame({"k": np.zeros(2, int), "x": np.array(values) * largest})
    x, groups = frame.x, frame.groupby("k").x
    found = [
        x.median(),
        x.quantile(0.5),
        x.quantile(0.5, interpolation="midpoint"),
        frame.median()["x"],
        groups.median()[0],
        groups.quantile(0.5)[0],
        x.rolling(2).median()[1],
        x.rolling(2).quantile(0.5)[1],
        x.rolling(2).quantile(0.5, interpolation="midpoint")[1],
        x.expanding().median()[1],
        JaxFrame({"a": x[:1].to_numpy(), "b": x[1:].to_numpy()}).median(axis=1)[0],
        jax.jit(lambda x: x.median())(x),
        frame.lazy().x.median().collect(),
    ]
    assert [float(one) for one in found] == [expected * largest] * len(found)


def test_places_and_labels_of_extremes():
    frame = mixed_frame().set_index("s")
    some = frame[["k", "x", "b", "c", "t"]]

    def labels(f):
        return tuple((s.idxmin(), s.idxmax()) for _, s in f.items())

    assert_parity(labels, some[["k", "t"]], ways=["eager"])
    places = lambda f: tuple((s.argmin(), s.argmax()) for _, s in f.items())  # noqa: E731
    assert_parity(places, some[["k", "x", "c", "t"]], ways=["jit"])
    assert_parity(lambda f: (f.idxmin(), f.idxmax()), some[["k", "x"]], ways=["eager"])
    assert_parity(lambda f: f.idxmin(), some[["k", "x"]].reset_index(drop=True), ways=["mesh"])


def test_gradient_of_a_quantile():
    x = jnp.array([1.0, jnp.nan, 4.0, 2.0])
    gradient = jax.grad(lambda x: JaxFrame({"x": x}).x.quantile(0.25))(x)
    np.testing.assert_allclose(gradient, [0.5, 0, 0, 0.5])
    gradient = jax.grad(lambda x: JaxSeries(x).median())(x)
    np.testing.assert_allclose(gradient, [0, 0, 0, 1])


def test_wrong_arguments_are_pandas_errors():
    frame = mixed_frame()
    assert_same_error(lambda s: s.quantile(1.5), frame["x"])
    assert_same_error(lambda s: s.quantile(0.5, interpolation="bogus"), frame["x"])
    assert_same_error(lambda s: s.quantile(), frame["b"])
    assert_same_error(lambda s: s.median(), frame["s"])
    assert "'s'" in assert_same_error(lambda f: f.median(), frame[["k", "s"]])
    assert_same_error(lambda s: s.idxmin(), frame["x"][:0])
    assert_same_error(lambda s: s.argmax(skipna=False), frame["x"])
    with pytest.raises(TypeError, match="'s'"):
        JaxFrame(frame[["s"]]).quantile()


@pytest.mark.parametrize("q", [0.1, 0.3, 0.6, 0.7, 0.9])
def test_quantiles_of_times_are_those_of_numpy_to_the_unit(q):
    seconds = pd.Series(pd.to_timedelta([10, -5, None, 10, 3, -5], unit="s"))
    for spans in (seconds, seconds.dt.as_unit("ns"), pd.Timestamp("2020-01-01") + seconds):
        assert on_device(spans).quantile(q) == spans.quantile(q)
