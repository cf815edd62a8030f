# SPDX-License-Identifier: Apache-2.0
"""`make test` runs covering arrays: no value of a parameter is lost, on cases drawn at random."""

import itertools
import types

import numpy as np
import pytest
from covering import covering, covering_items

DTYPES, SHARDS, ORDERS = ("int8", "float16", "bool"), (1, 2, 3, 5, 8), (False, True)
PRODUCT = [
    {"dtype": dtype, "num_shards": num_shards, "descending": descending}
    for dtype, num_shards, descending in itertools.product(DTYPES, SHARDS, ORDERS)
]


def settings_of(cases):
    return {setting for case in cases for setting in case.items()}


def test_a_product_is_covered_by_as_many_cases_as_its_longest_axis():
    chosen = covering(PRODUCT)
    assert len(chosen) == len(SHARDS)
    assert settings_of(PRODUCT[i] for i in chosen) == settings_of(PRODUCT)


@pytest.mark.parametrize("seed", range(20))
def test_every_value_that_occurs_is_chosen(seed):
    # Not every combination exists, as where a distribution needs floats.
    rng = np.random.default_rng(seed)
    cases = [case for case in PRODUCT if rng.random() < 0.3]
    chosen = covering(cases)
    assert settings_of(cases[i] for i in chosen) == settings_of(cases)
    # The least number of cases, by trying all; the greedy choice may take one more.
    least = next(
        num_cases
        for num_cases in range(len(cases) + 1)
        if any(
            settings_of(few) == settings_of(cases)
            for few in itertools.combinations(cases, num_cases)
        )
    )
    assert least <= len(chosen) <= least + 1
    assert chosen == sorted(set(chosen)) == covering(cases)


def test_one_parameter_keeps_every_case():
    assert covering([{"case": case} for case in "abc"]) == [0, 1, 2]


def test_values_are_used_evenly():
    # Five numbers of shards, three dtypes: no dtype has all that are left over.
    chosen = [PRODUCT[i]["dtype"] for i in covering(PRODUCT)]
    assert max(map(chosen.count, DTYPES)) == 2


def test_a_test_without_parameters_is_kept():
    assert covering([{}]) == [0]


def items_of(function, *marks, **parameters):
    """Cases of a test function: the product of its parameters."""
    return [
        types.SimpleNamespace(
            nodeid=f"test_x.py::{function}[{values}]",
            path="test_x.py",
            callspec=types.SimpleNamespace(params=dict(zip(parameters, values, strict=True))),
            get_closest_marker=lambda name: next((m for m in marks if m.name == name), None),
        )
        for values in itertools.product(*parameters.values())
    ]


def test_the_tests_of_a_file_share_an_array():
    items = items_of("test_a", dtype=DTYPES) + items_of("test_b", dtype=DTYPES, shards=SHARDS)
    chosen = covering_items(items)
    assert len(chosen) == len(SHARDS) + 1
    assert {item.nodeid.partition("[")[0][-1] for item in chosen} == {"a", "b"}


def test_a_test_that_is_marked_has_its_own_array():
    items = items_of("test_a", pytest.mark.covered_apart.mark, dtype=DTYPES)
    assert len(covering_items(items + items_of("test_b", dtype=DTYPES))) == 2 * len(DTYPES)


def test_tests_share_an_array_inside_their_file():
    one, other = (pytest.mark.covered_together(name).mark for name in ("one", "other"))
    items = items_of("test_a", one, dtype=DTYPES) + items_of("test_b", one, dtype=DTYPES)
    assert len(covering_items(items)) == len(DTYPES)
    assert len(covering_items(items + items_of("test_c", other, dtype=DTYPES))) == 2 * len(DTYPES)
