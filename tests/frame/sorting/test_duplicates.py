# SPDX-License-Identifier: Apache-2.0
import jax
import numpy as np
import pandas as pd
import pytest
from frame_examples import complexes, floats, mixed_frame
from frame_parity import assert_parity, assert_same_error
from jaxframes.frame import JaxFrame, JaxSeries

KINDS = ["k", "y", "b", "s", "c", "t"]


def test_rows_of_several_columns():
    def drop_each(f):
        return tuple(
            (f.duplicated(["k", "c"], keep=keep), f.drop_duplicates(["k", "c"], keep=keep))
            for keep in ("first", "last", False)
        )

    frame = mixed_frame()[["k", "s", "c"]]
    assert_parity(drop_each, frame, ways=["eager"])
    assert_parity(lambda f: f.drop_duplicates("k", ignore_index=True), frame, ways=["jit"])
    assert_parity(lambda f: f.drop_duplicates("k", keep="last"), frame, ways=["mesh"])
    assert_parity(lambda f: (f.duplicated(), f.drop_duplicates()), frame, ways=["eager"])


@pytest.mark.parametrize("label", KINDS)
def test_values_of_each_kind(label):
    def distinct(s):
        return (s.drop_duplicates(), s.unique(), s.nunique(), s.nunique(dropna=False))

    assert_parity(distinct, mixed_frame()[label], ways=["eager"])


def test_numbers_of_values():
    frame = mixed_frame()
    for label in ("k", "s", "c"):
        assert_parity(
            lambda s: (s.factorize(), s.factorize(sort=True), s.factorize(use_na_sentinel=False)),
            frame[label],
            ways=["eager"],
        )
    assert_parity(lambda s: s.factorize(sort=True, use_na_sentinel=False), floats(), ways=["eager"])


def test_counts_of_different_values():
    frame = mixed_frame()
    assert_parity(lambda f: (f.nunique(), f.nunique(dropna=False)), frame[KINDS])
    assert_parity(lambda f: f.nunique(), frame[["k", "y"]], ways=["mesh"])
    assert JaxSeries([1, 2, 3]).is_unique
    assert not JaxSeries([1, 2, 1]).is_unique


@pytest.mark.parametrize("num_rows", [0, 1])
def test_few_rows(num_rows):
    frame = mixed_frame()[["k", "s"]][:num_rows]
    assert_parity(
        lambda f: (f.drop_duplicates(), f.duplicated(keep="last"), f.nunique(), f.s.unique()),
        frame,
        ways=["eager"],
    )


def test_one_program_for_every_length():
    traces = []

    @jax.jit
    def drop_each(frame):
        traces.append(1)
        return frame.drop_duplicates("x")

    for num_rows in (10, 20):
        got = drop_each(JaxFrame({"x": np.arange(num_rows) % 7})).to_pandas()
        assert got["x"].tolist() == list(range(7))
    assert len(traces) == 1


def test_wrong_arguments_are_pandas_errors():
    frame = mixed_frame()
    assert "bogus" in assert_same_error(lambda f: f.drop_duplicates("bogus"), frame)
    assert_same_error(lambda f: f.duplicated(["k", "bogus"]), frame)
    assert_same_error(lambda f: f.drop_duplicates(keep="bogus"), frame[["k"]])
    assert_same_error(lambda s: s.unique(), pd.Series([[1], [2]], name="o"))
    with pytest.raises(NotImplementedError, match="drop_duplicates"):
        jax.jit(lambda s: s.unique())(JaxSeries([1]))


def test_complex_values():
    def distinct(f):
        return (
            f.duplicated(["z", "k"]),
            f.z.unique(),
            f.z.nunique(),
            f.z.value_counts(dropna=False),
            f.z.mode(),
            f.z.isin([1.0, -2.5j, complex(np.inf, 0)]),
            f.x.round().isin([1 + 0j, 2 + 1j]),
            f.z.replace(1 + 1j, 7),
        )

    assert_parity(distinct, complexes(), ways=["eager"])


@pytest.mark.parametrize(
    "values",
    [
        pd.Series([-128, 127, 5, 5], dtype="int8"),
        pd.Series([2**64 - 1, 2**64 - 3, 2**64 - 1], dtype="uint64"),
        pd.Series([0, 2**64 - 1], dtype="uint64"),
        pd.Series([2**63 - 1, -(2**63), 2**63 - 1]),
        pd.Series(["a", None, "b", "a", None], dtype="str"),
        pd.Series(pd.Categorical(["x", None, "y", "x"], categories=["z", "y", "x"])),
        pd.Series([True, None, True], dtype="boolean"),
        pd.Series([], dtype="str"),
    ],
    ids=lambda values: f"{values.dtype} {len(values)}",
)
def test_few_rows_with_values_at_the_ends_of_their_dtype(values):
    def distinct(s):
        counts = [s.value_counts(dropna=dropna, sort=sort) for dropna in (1, 0) for sort in (1, 0)]
        numbers = s.nunique(), s.nunique(dropna=False)
        listed = [s.isin([5, None]), s.isin([2**63 - 1, -1]), s.isin([])]
        return (*counts, *numbers, s.unique(), *listed)

    assert_parity(distinct, values.rename("x"), ways=["eager"])


def test_distinct_values_without_jit():
    frame = pd.DataFrame({"x": [2.5, 1.5, 2.5, np.nan], "i": [1, 2**40, 1, 3]})

    def distinct(f):
        return f["x"].unique(), f["i"].nunique(), f.drop_duplicates("x"), f["x"].value_counts()

    with jax.disable_jit():
        assert_parity(distinct, frame, ways=["eager"])
