# SPDX-License-Identifier: Apache-2.0
"""`select` and `pipe` of plans are those of frames."""

import pandas as pd
import pytest
from frame_parity import assert_same
from jaxframes.frame import JaxFrame, col

FRAME = pd.DataFrame({"alpha": [1, 2, 3], "k": ["a", "b", "a"]})


@pytest.mark.parametrize(
    "run",
    [
        lambda f: f.select("k", "alpha"),
        lambda f: f.select(["k"], total=col("alpha") * 2),
        lambda f: f.select(col("alpha") + 1, "k"),
        lambda f: f.select("k", twice=lambda g: g.alpha * 2),
        lambda f: f.pipe(lambda g, least: g[g.alpha > least], 1),
        lambda f: f.pipe((lambda least, g: g[g.alpha > least], "g"), 1),
    ],
)
def test_a_plan_gives_what_the_frame_gives(run):
    ours = JaxFrame(FRAME)
    assert_same(run(ours.lazy()).collect(), run(ours).to_pandas())


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (lambda f: f.select("alfa"), KeyError),
        (lambda f: f.select({"alpha"}), TypeError),
        (lambda f: f.select(col("alpha").sum()), TypeError),
        (lambda f: f.select("alpha", ["k"]), TypeError),
    ],
)
def test_wrong_columns_are_refused_where_they_are_written(wrong, error):
    for rows in (JaxFrame(FRAME), JaxFrame(FRAME).lazy()):
        with pytest.raises(error):
            wrong(rows)


def test_misspelt_attributes_and_labels_are_suggested():
    with pytest.raises(AttributeError, match="Did you mean 'alpha'"):
        _ = JaxFrame(FRAME).lazy().alfa
    with pytest.raises(KeyError, match="Did you mean 'alpha'"):
        _ = JaxFrame(FRAME).loc[:, "alfa"]
    with pytest.raises(KeyError, match=r"bread.*Did you mean 'break'"):
        _ = JaxFrame(FRAME.set_axis(["lunch", "break", "tea"])).loc["bread"]
