# SPDX-License-Identifier: Apache-2.0
"""Errors suggest the column that a misspelt name resembles."""

import pytest
from jaxframes.frame import JaxFrame

CALLS = [
    lambda f: f["distnace"],
    lambda f: f.distnace,
    lambda f: f[["carrier", "Distance"]],
    lambda f: f.sort_values("distanc"),
    lambda f: f.groupby("distanc"),
    lambda f: f.set_index("distanc"),
    lambda f: f.drop(columns="distanc"),
    lambda f: f.query("distanc > 1"),
    lambda f: f.merge(f, on="distanc"),
]


@pytest.mark.parametrize("call", CALLS)
def test_a_misspelt_column(call):
    frame = JaxFrame({"carrier": ["a"], "distance": [1]})
    with pytest.raises((KeyError, AttributeError, NameError), match="Did you mean 'distance'"):
        call(frame)


def test_names_that_resemble_none():
    frame = JaxFrame({"carrier": ["a"], 3: [1]})
    for label in ("x", 4, ("carrier", 1)):
        with pytest.raises(KeyError) as error:
            frame[label]
        assert "Did you mean" not in str(error.value)
    with pytest.raises(NameError, match=r"The columns are \['carrier'\]\.$"):
        frame.query("x > 1")


def test_an_error_within_a_property_is_not_hidden():
    class Loud(JaxFrame):
        @property
        def loud(self):
            raise AttributeError("the cause")

    with pytest.raises(AttributeError, match="the cause"):
        _ = Loud({"x": [1]}).loud
