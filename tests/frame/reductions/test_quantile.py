# SPDX-License-Identifier: Apache-2.0
"""quantile."""

import jax
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error, on_device
from jaxframes.frame import scan_parquet


def quarters():
    return pd.DataFrame({"i": [4, 1, 3, 2, 5], "x": [0.5, np.nan, 2.0, 8.0, 4.0]})


def test_a_list_gives_a_row_for_each_part_in_its_order():
    assert_parity(
        lambda f: (f.quantile([0.75, 0.25, 0.25]), f.x.quantile([1, 0]), f.i.quantile([])),
        quarters(),
        ways=["eager"],
    )
    assert_parity(lambda f: (f.quantile(0.25), f.i.quantile(0.75)), quarters(), ways=["jit"])


def test_interpolation_that_picks_a_value_keeps_integers():
    assert_parity(
        lambda f: tuple(
            f.i.quantile(0.4, interpolation=how) for how in ("lower", "higher", "nearest")
        ),
        quarters(),
        ways=["eager"],
    )


def test_what_lies_between_small_floats_is_float64():
    small = pd.DataFrame({"h": [0.1, 0.7, 9.3, -2.1], "x": [1.1, -7.3, 0.3, 5.9]})
    for dtype in ("float16", "float32"):
        frame = small.astype(dtype)
        assert_parity(
            lambda f: (f.quantile([0.2, 0.5]), f.quantile(0.2, interpolation="midpoint")),
            frame,
            ways=["eager"],
        )
        assert_parity(lambda f: f.x.quantile([0.3], "higher"), frame, ways=["eager"])


def test_values_picked_of_groups_are_int64():
    frame = pd.DataFrame({"k": [0, 1, 0, 1], "v": np.array([3, -4, 9, 7], np.int8)})
    assert_parity(
        lambda f: f.groupby("k").quantile(0.4, interpolation="lower"), frame, ways=["eager", "jit"]
    )


def test_its_ends_are_the_extremes_and_it_never_falls():
    column = on_device(mixed_frame()).x
    least, low, high, most = column.quantile([0.0, 0.3, 0.7, 1.0]).tolist()
    assert least == column.min() <= low <= high <= most == column.max()


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()[["k", "x"]]
    assert_same_error(lambda f: f.quantile([0.5, -0.1]), frame)
    assert_same_error(lambda f: f.quantile(interpolation="bogus"), frame)
    assert_same_error(lambda f: f.quantile(method="bogus"), frame)
    assert_same_error(lambda f: f.k.quantile(0.5, axis=1), frame)


def test_a_part_may_be_traced():
    frame = quarters()
    found = jax.jit(lambda f, q: f.quantile(q))(on_device(frame), 0.25).to_pandas()
    pd.testing.assert_series_equal(found, frame.quantile(0.25), check_names=False)


def test_times_inside_jit_are_no_counts():
    frame = on_device(
        pd.DataFrame({"t": np.array(["NaT", "2020"], "M8[ns]"), "d": np.array([5, 7], "m8[s]")})
    )
    for label in ("t", "d"):
        for method in ("median", "quantile"):
            with pytest.raises(NotImplementedError, match=f"{method}: inside jit a scalar must be"):
                jax.jit(lambda f, label=label, method=method: getattr(f[label], method)())(frame)
        found = jax.jit(lambda f, label=label: (f[[label]].median(), f[label].quantile([0.5])))(
            frame
        )
        expected = frame[[label]].median().tolist()
        assert [one.tolist() for one in found] == [expected, expected]


def test_parts_are_numbers():
    for q in ("0.3", ["0.3"], b"1", None, 0.3 + 0j, [[0.1]]):
        assert_same_error(lambda f, q=q: f.quantile(q), quarters())
        assert_same_error(lambda f, q=q: f.x.quantile(q), quarters())


NULLABLE = pd.DataFrame(
    {
        "missing": pd.array([1, 2, 4, None], dtype="Int64"),
        "small": pd.array([5, None, 7, 9], dtype="UInt8"),
        "complete": pd.array([1, 2, 3, 4], dtype="Int64"),
        "none": pd.array([None] * 4, dtype="Int8"),
        "float": pd.array([1.0, None, 2.0, 3.0], dtype="Float64"),
    }
)


@pytest.mark.parametrize("q", [0.5, 0.25, [0.5], [0, 1], [0.25, 0.5], [0.0, 0.5, 1.0]], ids=str)
def test_whole_quantiles_of_nullable_integers_with_missing_ones_are_integers(q):
    ways = ["eager", "mesh"]
    for labels in (list(NULLABLE), ["missing", "small"], ["missing", "none"]):
        assert_parity(lambda f: f.quantile(q), NULLABLE[labels], ways=ways)
    for label in NULLABLE:
        assert_parity(lambda f, label=label: f[label].quantile(q), NULLABLE, ways=ways)


def test_whole_quantiles_of_nullable_integers_over_batches(tmp_path):
    NULLABLE.to_parquet(tmp_path / "rows.parquet")
    plan = scan_parquet(tmp_path / "rows.parquet")
    for q in (0.5, 0.25, [0, 1], [0.25, 0.5]):
        for labels in (list(NULLABLE), ["missing", "small"], "missing", "none"):
            found = plan[labels].quantile(q).collect(batch_rows=2)
            assert_same(found, NULLABLE[labels].quantile(q))
