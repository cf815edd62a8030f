# SPDX-License-Identifier: Apache-2.0
"""Modules of `local` and `collective` have test files of their noun, here or on another level."""

from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PRIMITIVES = TESTS.parents[1] / "primitives"
# Parts that the tests of the ops in front of them cover: joins, windows, reductions, pipelines.
COVERED_BY_OPS = {
    "local": {
        "asof_rule",
        "reduce_passes",
        "run_segments",
        "scan_segments",
        "segment_ops",
        "segments",
        "window_bounds",
        "windows",
    },
    "collective": {
        "copies",
        "key_ranges",
        "meeting",
        "moving",
        "over_shards",
        "permute",
        "pipeline_1f1b",
        "pipeline_gpipe",
        "scan_shards",
        "shard_carries",
        "sort_shards",
        "sorted_runs",
    },
}


@pytest.mark.parametrize("level", COVERED_BY_OPS)
def test_each_module_has_a_test_file_of_its_noun(level):
    nouns = {path.stem.lstrip("_") for path in (PRIMITIVES / level).glob("_[!_]*.py")}
    tested = {path.stem.removeprefix("test_") for path in TESTS.rglob("test_*.py")}
    assert nouns - tested == COVERED_BY_OPS[level]
