# SPDX-License-Identifier: Apache-2.0
"""std."""

import numpy as np
import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device

ULPS = 64


def few():
    return pd.DataFrame({"i": [1, 2, 9], "x": [0.5, np.nan, 4.5]})


def test_ddof_is_taken_from_the_count_of_values():
    def deviations(f):
        return tuple(f.std(ddof=ddof) for ddof in (0, 2, 4))

    assert_parity(deviations, few(), ways=["eager"], ulps=ULPS)
    assert_parity(lambda f: (f.x.std(ddof=2), f.std(axis=1, ddof=0), f[:1].std()), few(), ulps=ULPS)


def test_is_the_root_of_the_variance_and_does_not_move_with_the_mean():
    ours = on_device(few())
    np.testing.assert_allclose(ours.std() ** 2, ours.var(), rtol=1e-15)
    np.testing.assert_allclose((ours.i * -3 + 7).std(), 3 * ours.i.std(), rtol=1e-15)
    assert (ours.x * 0 + 1e8).std() == 0.0


def test_timedeltas_have_a_deviation_and_datetimes_too():
    times = pd.DataFrame(
        {
            "t": pd.to_datetime(["2020-01-01", None, "2020-01-03"]),
            "d": pd.to_timedelta(["1h", "3h", "5h"]),
        }
    )
    assert_parity(
        lambda f: (f.t.std(), f.t.std(skipna=False), f.d.std(ddof=0), f.d[:1].std(), f.std()),
        times,
        ways=["eager"],
    )


def test_missing_values():
    assert_parity(
        lambda f: (f.std(skipna=False), f[1:2].std(ddof=0), f[:0].std(), f.x[1:2].std()),
        few(),
        ways=["eager"],
        ulps=ULPS,
    )


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()
    assert_same_error(lambda f: f[["k", "c"]].std(), frame)
    assert_same_error(lambda f: f.k.std(min_count=1), frame)
    assert_same_error(lambda f: f.k.std(axis=1), frame)


def test_a_deviation_past_the_range_of_times_is_missing():
    """The least and the greatest time are sqrt(2) * 2^63 units from their mean."""
    ends = np.array([2**63 - 1, 1 - 2**63])
    frame = on_device(pd.DataFrame({"k": 0, "t": ends.view("M8[ns]"), "d": ends.view("m8[ns]")}))
    found = (frame.t.std(), frame.d.std(), *frame.groupby("k").t.agg(["std", "sem"]).iloc[0])
    assert [value is pd.NaT for value in found] == [True, True, True, False]
