# SPDX-License-Identifier: Apache-2.0
"""The comparison of a benchmark's ratios with the stored ones."""

import baseline

STORED = {"calls, rank, warm": 2.0, "calls, merge, warm": 0.4}


def test_a_ratio_below_three_quarters_of_the_stored_one_warns():
    assert list(
        baseline.warnings({"calls, rank, warm": 1.49, "calls, merge, warm": 0.31}, STORED)
    ) == [
        "::warning title=Benchmark ratio worsened::calls, rank, warm: 1.49 times the speed of the "
        "fastest other engine, 2.00 in the baseline."
    ]


def test_three_quarters_and_more_do_not_warn():
    assert not list(
        baseline.warnings({"calls, rank, warm": 1.5, "calls, merge, warm": 9.0}, STORED)
    )


def test_a_ratio_that_is_not_stored_does_not_warn():
    assert not list(baseline.warnings({"calls, filter, warm": 0.01}, STORED))


def test_stored_ratios_keep_the_others(tmp_path):
    path = tmp_path / "baseline.json"
    assert baseline.read(path) == {}
    baseline.store(STORED, path)
    baseline.store({"calls, rank, warm": 1.23456}, path)
    assert baseline.read(path) == {"calls, rank, warm": 1.23, "calls, merge, warm": 0.4}


def test_the_baseline_of_the_tree_holds_positive_ratios():
    ratios = baseline.read()
    assert ratios
    assert all(ratio > 0 for ratio in ratios.values())
