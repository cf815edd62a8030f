# SPDX-License-Identifier: Apache-2.0
"""A cast of times to text has one form for all rows, whatever rows a step or a batch has."""

import pandas as pd
import pytest
from frame_parity import assert_same
from jaxframes.frame import JaxFrame, col

ROWS = pd.DataFrame(
    {
        "k": [1, 2, 3],
        "t": pd.to_datetime(["2024-03-01", "2024-03-02", "2024-03-03 12:30"], format="ISO8601"),
        "d": pd.to_timedelta(["0 days", "1 days", "1.5s"]),
    }
)


def cast(f):
    return f.assign(z=f.t.astype("str"))


def cast_by_name(f):
    return f.assign(z=lambda g: g.d.astype(str))


def cast_frame(f):
    return f.astype({"t": "str"})


def cast_of_a_column_of_the_step(f):
    return f.assign(w=f.k * 2, u=f.t, z=lambda g: g.u.astype("string"))


CASTS = (cast, cast_by_name, cast_frame, cast_of_a_column_of_the_step)


@pytest.mark.parametrize("change", CASTS)
def test_a_later_filter_changes_no_text(change):
    def run(f):
        f = change(f)
        return f[f.k < 3]

    expected = run(ROWS)
    assert_same(run(JaxFrame(ROWS).lazy()).collect(), expected)
    assert_same(run(JaxFrame(ROWS)), expected)


@pytest.mark.parametrize("change", CASTS)
def test_batches_are_refused(change):
    plan = change(JaxFrame(ROWS).lazy())
    with pytest.raises(NotImplementedError, match="needs all rows at once"):
        plan.collect(batch_rows=1)


def test_a_text_in_a_filter_reads_the_rows_of_all_steps():
    def run(f):
        f = f[f.k < 3]
        return f[f.t.astype("str") == "2024-03-01"]

    assert_same(run(JaxFrame(ROWS).lazy()).collect(), run(ROWS))


def test_casts_of_a_moved_column():
    def run(f):
        return f.groupby(f.k * 0)["t"].shift().astype("category")

    plan = run(JaxFrame(ROWS).lazy())
    assert_same(plan.collect(), run(ROWS))
    with pytest.raises(NotImplementedError, match="needs all rows at once"):
        plan.collect(batch_rows=1)


def test_numbers_are_cast_in_batches():
    plan = JaxFrame(ROWS).lazy().assign(z=col("k").astype("str"))
    assert_same(plan.collect(batch_rows=2), ROWS.assign(z=ROWS.k.astype("str")))
    assert "astype" in repr(plan)
