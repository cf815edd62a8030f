# SPDX-License-Identifier: Apache-2.0
"""Every public name of pandas is a method of ours, or listed with an alternative."""

import inspect

import pandas as pd
import pytest
from jaxframes import frame
from jaxframes.frame import JaxFrame, JaxSeries
from jaxframes.frame.table._unsupported import LACKING

FRAME = pd.DataFrame({"k": [1, 2], "x": [1.0, 2.0]})
PAIRS = {
    "JaxFrame": (FRAME, JaxFrame),
    "JaxSeries": (FRAME["x"], JaxSeries),
    "FrameGroupBy": (FRAME.groupby("k"), lambda _: JaxFrame(FRAME).groupby("k")),
    "SeriesGroupBy": (FRAME.groupby("k").x, lambda _: JaxFrame(FRAME).groupby("k").x),
}


@pytest.mark.parametrize("kind", PAIRS)
def test_each_name_of_pandas_is_there_or_says_what_to_use(kind):
    theirs, make = PAIRS[kind]
    ours = make(theirs)
    for name in dir(theirs):
        # Columns are attributes too.
        if name.startswith("_") or name in FRAME.columns:
            continue
        lacking = LACKING[kind].get(name)
        if hasattr(type(ours), name):
            assert lacking is None, f"{kind}.{name} is there, and listed as lacking"
            continue
        assert lacking is not None, f"{kind}.{name} is neither there nor listed"
        with pytest.raises(NotImplementedError, match=f"{kind}.{name} is not .* Use "):
            getattr(ours, name)


TIMES = pd.DataFrame({"t": pd.to_datetime(["2020-01-01"]), "d": pd.to_timedelta([1])})
TEXTS = pd.DataFrame({"s": ["a"], "c": pd.Categorical(["a"])})
PARTS = {
    "StringMethods": (TEXTS, lambda f: f["s"].str),
    "CategoryMethods": (TEXTS, lambda f: f["c"].cat),
    "DatetimeMethods": (TIMES, lambda f: f["t"].dt),
    "TimedeltaMethods": (TIMES, lambda f: f["d"].dt),
    "Windows": (FRAME, lambda f: f["x"].rolling(2)),
    "ExponentialWindows": (FRAME, lambda f: f["x"].ewm(span=2)),
    "GroupWindows": (FRAME, lambda f: f.groupby("k").rolling(2)),
    "GroupExponentialWindows": (FRAME, lambda f: f.groupby("k").ewm(span=2)),
    "Resampler": (TIMES.set_index("t"), lambda f: f.resample("D")),
    "GroupResampler": (TIMES.assign(k=1).set_index("t"), lambda f: f.groupby("k").resample("D")),
}


@pytest.mark.parametrize("kind", PARTS)
def test_each_name_of_accessors_and_windows_is_there_or_says_what_to_use(kind):
    source, make = PARTS[kind]
    ours = make(JaxFrame(source))
    names = {name for name in dir(make(source)) if not name.startswith("_")} - set(source)
    lacking = {name for name in names if not hasattr(type(ours), name)}
    assert lacking == set(LACKING[kind])
    for name in lacking:
        with pytest.raises(NotImplementedError, match=f"{name} is not supported. Use "):
            getattr(ours, name)


def test_each_function_of_pandas_is_there_or_says_what_to_use():
    names = [name for name in dir(pd) if not name.startswith("_")]
    functions = {name for name in names if inspect.isroutine(getattr(pd, name))}
    lacking = {name for name in functions if not hasattr(frame, name)}
    assert lacking == set(LACKING["frame"])
    assert set(dir(pd)).issuperset(frame._OF_PANDAS)
    with pytest.raises(NotImplementedError, match=r"frame.to_pickle is not .* Use to_pandas"):
        _ = frame.to_pickle


@pytest.mark.parametrize("kind", [JaxFrame, JaxSeries])
def test_no_concept_hides_a_method_of_another(kind):
    defined = {}
    for base in kind.__mro__[:-1]:
        for name, value in vars(base).items():
            if callable(value) and not name.startswith("__"):
                other = defined.setdefault(name, base)
                assert issubclass(other, base), f"{name} of {base} is hidden by that of {other}"


def test_a_name_that_pandas_has_not_is_no_attribute():
    for make in (JaxFrame(FRAME), JaxSeries(FRAME["x"]), JaxFrame(FRAME).groupby("k")):
        with pytest.raises(AttributeError, match="bogus") as caught:
            _ = make.bogus
        assert not isinstance(caught.value, NotImplementedError)
