# SPDX-License-Identifier: Apache-2.0
"""Keys and labels of 64-bit integers beside other numbers are matched without rounding."""

import jax
import numpy as np
import pandas as pd
import pytest
from exact_numbers import NUMBERS
from frame_parity import on_device
from jaxframes.frame import JaxFrame, JaxSeries, concat
from jaxframes.shardings import make_mesh, row_sharded

FRACTIONS = np.array([-0.5, -1e-300, 5e-324, 0.5, -5.0, np.nan, -(2.0**70)])
KEYS = {**NUMBERS, "float64": np.concatenate([NUMBERS["float64"], FRACTIONS])}
PAIRS = [("int64", "uint64"), ("uint64", "int8"), ("int64", "float64"), ("float32", "uint64")]


def pairs_of(left, right):
    """The positions of equal numbers, by Python's comparison; NaN equals NaN."""
    return [
        (i, j)
        for i, a in enumerate(left.tolist())
        for j, b in enumerate(right.tolist())
        if a == b or (a != a and b != b)
    ]


def frames(left, right, sharding=None):
    return (
        JaxFrame({"k": KEYS[left], "p": np.arange(len(KEYS[left]))}, sharding=sharding),
        JaxFrame({"k": KEYS[right], "q": np.arange(len(KEYS[right]))}, sharding=sharding),
    )


def matched(merged):
    rows = merged.to_pandas().dropna(subset=["p", "q"])
    return sorted(zip(rows.p.astype(int).tolist(), rows.q.astype(int).tolist(), strict=True))


@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_keys_of_two_dtypes(left, right):
    expected = pairs_of(KEYS[left], KEYS[right])
    ours = frames(left, right)
    for how in ("inner", "left", "right", "outer"):
        assert matched(ours[0].merge(ours[1], on="k", how=how)) == expected
    a, b = frames(left, right, row_sharded(make_mesh(3)))
    assert matched(a.merge(b, on="k")) == expected
    a, b = frames(left, right)
    compiled = jax.jit(lambda a, b: a.merge(b, on="k", how="left", capacity=64))
    assert matched(compiled(a, b)) == expected
    plan = a.lazy().merge(b.lazy(), on="k")
    assert matched(plan.collect()) == matched(plan.collect(batch_rows=2)) == expected
    assert matched(a.set_index("k").join(b.set_index("k"), how="inner")) == expected
    unmatched = set(range(len(KEYS[left]))) - {i for i, _ in expected}
    assert set(a.merge(b, on="k", how="left_anti").p.tolist()) == unmatched


@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_outer_keys_are_in_numeric_order(left, right):
    a, b = frames(left, right)
    rows = a.merge(b, on="k", how="outer").to_pandas()
    own = [
        KEYS[left].tolist()[int(p)] if p == p else KEYS[right].tolist()[int(q)]
        for p, q in zip(rows.p, rows.q, strict=True)
    ]
    numbers = [key for key in own if key == key]
    assert numbers == sorted(numbers)
    assert numbers == own[: len(numbers)]


@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_labels_of_two_dtypes(left, right):
    expected = dict(pairs_of(KEYS[left], KEYS[right]))
    a = JaxSeries(np.arange(len(KEYS[left])), index=KEYS[left])
    b = JaxSeries(np.arange(len(KEYS[right])), index=KEYS[right])
    found = b.reindex(KEYS[left]).fillna(-1).tolist()
    assert found == [expected.get(i, -1) for i in range(len(KEYS[left]))]
    together = concat([a.rename("p"), b.rename("q")], axis=1, join="inner")
    assert matched(together) == sorted(expected.items())


def test_labels_without_a_common_dtype_are_refused():
    signed = on_device(pd.Series([1, 2], index=[2**53 + 1, -1]))
    unsigned = on_device(pd.Series([1, 2], index=np.array([2**53 + 1, 5], "uint64")))
    with pytest.raises(NotImplementedError, match="labels of int64 and uint64 beyond 2"):
        concat([signed, unsigned], axis=1)
    few = on_device(pd.Series([1, 2], index=np.array([3, 5], "uint64")))
    assert (few + few.rename_axis(None)).tolist() == [2, 4]
    assert (on_device(pd.Series([1], index=[5])) + few).fillna(0).tolist() == [0.0, 3.0]
