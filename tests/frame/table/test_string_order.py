# SPDX-License-Identifier: Apache-2.0
"""The order of strings; Python's order of their code points is the oracle."""

import jax
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from jaxframes.frame.table import _string_order

RNG = np.random.default_rng(0)
STRINGS = {
    "one": ["b"],
    "equal": ["same"] * 9,
    "only empty": [""] * 3,
    "prefixes of each other": ["x" * size for size in range(30)] * 2,
    "NUL": ["a", "a\0", "a\0\0", "a\0b", "", "\0", "a" * 7, "a" * 7 + "\0", "a" * 8],
    "beyond ASCII": ["\uffff", "\U0001f600", "\u00e9", "e\u0301", "stra\u00dfe", "\u65e5\u672c"],
    "longer than all words": ["p" * 90 + tail for tail in ("b", "", "a", "a", "c" * 9)],
    "many words": ["".join(RNG.choice(["a", "b"], 30)) for _ in range(60)] + ["a" * 40, "b"],
    "common prefix": [f"a common prefix {number % 40}" for number in range(60)],
}


@pytest.mark.parametrize("least", [1, 1 << 14], ids=["radix sort", "sort of Arrow"])
@pytest.mark.parametrize("name", STRINGS)
def test_ranks(monkeypatch, name, least):
    monkeypatch.setattr(_string_order, "LEAST_RADIX_SORTED", least)
    strings = STRINGS[name]
    # A slice starts within the buffers.
    array = pa.array(["first", *strings, "last"], pa.large_string())[1:-1]
    ranks, rows = _string_order.ranked(array)
    distinct = sorted(set(strings))
    np.testing.assert_array_equal(ranks, [distinct.index(string) for string in strings])
    assert [strings[row] for row in rows] == distinct


def test_no_strings():
    ranks, rows = _string_order.ranked(pa.array([], pa.large_string()))
    assert len(ranks) == len(rows) == 0


def test_without_x64_and_inside_jit(x64_off):
    strings = pd.Series(RNG.permutation(20_000)).map("{:x} and more".format)
    array = pa.array(strings, pa.large_string())
    expected, _ = pd.factorize(strings, sort=True)
    np.testing.assert_array_equal(_string_order.ranked(array)[0], expected)
    seen = []
    jax.eval_shape(lambda x: seen.append(_string_order.ranked(array)[0]) or x, 1.0)
    np.testing.assert_array_equal(seen[0], expected)
