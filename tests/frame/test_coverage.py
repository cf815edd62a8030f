# SPDX-License-Identifier: Apache-2.0
"""Every public name of pandas is a method of ours, or listed with an alternative."""

import pandas as pd
import pytest
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
