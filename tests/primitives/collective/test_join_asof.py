# SPDX-License-Identifier: Apache-2.0
"""`collective.join_asof` against nested loops over the rows of all shards."""

import functools

import numpy as np
import oracles
import pytest
from asof_sides import RULES, make_sides, tolerances_for
from jaxframes.primitives import collective
from jaxframes.primitives.collective._axis import as_shards
from jaxframes.primitives.collective._join_asof import deal_out_union
from jaxframes.primitives.local._asof_rule import as_asof
from on_shards import SHARD_COUNTS, even_shares, into_shards, noting, on_shards, row_counts

# One of each direction; the last one looks past equal times both ways.
FEW_RULES = (("backward", True), ("forward", True), ("nearest", False))


@functools.cache
def collective_joiner(num_shards, rules=FEW_RULES, transport="auto"):
    def join(left, right, by, tolerance, num_valid):
        return {
            rule: collective.join_asof(
                left,
                right,
                axis_name="rows",
                by=by,
                direction=rule[0],
                allow_exact=rule[1],
                tolerance=tolerance,
                num_valid=num_valid,
                transport=transport,
            )
            for rule in rules
        }

    return on_shards(join, num_shards)


def check_on_shards(left, right, tolerance, counts, by=None, rules=FEW_RULES, transport="auto"):
    """Shards the valid rows of both sides and joins them."""
    num_shards = len(counts[0])
    shards = into_shards((left, right, by), num_shards)
    limits = np.full(num_shards, tolerance)
    actual = collective_joiner(num_shards, rules, transport)(*shards, limits, counts)
    # The oracle is for one sequence: the valid rows, and where they stand.
    left_ids, right_ids = (
        np.flatnonzero((np.arange(len(side) // num_shards) < count[:, None]).reshape(-1))
        for side, count in zip((left, right), counts, strict=True)
    )
    groups = None
    if by is not None:
        groups = oracles.take(by[0], left_ids), oracles.take(by[1], right_ids)
    for rule in rules:
        rows = oracles.join_asof(
            left[left_ids],
            right[right_ids],
            by=groups,
            direction=rule[0],
            allow_exact=rule[1],
            tolerance=tolerance,
        )
        expected = np.full(len(left), -1, np.int32)
        expected[left_ids] = np.append(right_ids, -1)[rows]
        with noting(rule):
            oracles.assert_same_bits(actual[rule], into_shards(expected, num_shards))


@pytest.mark.parametrize("num_shards", SHARD_COUNTS)
def test_every_distribution_and_number_of_valid_rows(num_shards):
    for distribution in ("zipf", "constant"):
        left, right = make_sides(distribution, np.int32, 12 * num_shards, 9 * num_shards)
        by = make_sides("two_valued", np.int32, 12 * num_shards, 9 * num_shards)
        for counted in ("all", "all on the last shard", "every second shard empty", "growing"):
            counts = tuple(row_counts(num_shards, n)[counted] for n in (12, 9))
            with noting((distribution, counted)):
                check_on_shards(left, right, np.int32(2), counts, by)
        # One side begins where the other ends.
        counts = counts[0], row_counts(num_shards, 9)["all on the first shard"]
        check_on_shards(left, right, np.int32(2), counts, by)


def test_every_rule_on_shards():
    left, right = make_sides("nan_inf_sprinkled", np.float64, 36, 27)
    by = tuple(make_sides(name, np.float32, 36, 27) for name in ("signed_zeros", "constant"))
    by = tuple(zip(*by, strict=True))
    counts = tuple(row_counts(3, n)["growing"] for n in (12, 9))
    for tolerance in tolerances_for(left, right):
        check_on_shards(left, right, tolerance, counts, by, RULES)


@pytest.mark.parametrize("transport", ["one_hop", "two_hop", "ragged"])
def test_every_transport(transport):
    left, right = make_sides("zipf", np.int32, 36, 27)
    counts = tuple(np.full(3, n, np.int32) for n in (12, 9))
    rules = RULES[:1]
    check_on_shards(left, right, np.int32(9), counts, None, rules, transport)


def test_a_hot_group_loads_no_shard_more_than_others():
    left, right = make_sides("zipf", np.int32, 8 * 12, 8 * 9)
    by = np.zeros(8 * 12, np.int32), np.zeros(8 * 9, np.int32)
    counts = row_counts(8, 12)["growing"], row_counts(8, 9)["all on the first shard"]

    def load(left, right, by, counts):
        sides, rule, _ = as_asof(left, right, by, "backward", None, True, counts)
        return deal_out_union(as_shards(sides, "rows"), rule, "rows", "auto").sent.count

    loads = on_shards(load, 8)(*into_shards((left, right, by), 8), counts)
    assert loads.tolist() == even_shares(sum(count.sum() for count in counts), 8)
