# SPDX-License-Identifier: Apache-2.0
"""A stream compiles each stage once: all batches have one of a few capacities."""

import jax
import numpy as np
import pandas as pd
import pytest
from jaxframes.frame import col, scan_parquet

BATCH_ROWS = 400
QUERIES = {
    "rows": lambda plan: plan.assign(z=col("x") * 2),
    "groups": lambda plan: plan.groupby("k").agg(x=("x", "sum"), n=("x", "size")),
    "distinct rows": lambda plan: plan.drop_duplicates("k"),
    "sort": lambda plan: plan.sort_values("x"),
}


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """Files of 3 and of 9 batches, of other data."""
    folder = tmp_path_factory.mktemp("programs")
    paths = []
    for num_batches in (3, 9):
        rng = np.random.default_rng(num_batches)
        size = num_batches * BATCH_ROWS
        keys = np.concatenate([np.arange(50), rng.integers(0, 50, size - 50)])
        path = folder / f"{num_batches}.parquet"
        pd.DataFrame({"k": keys, "x": rng.permutation(size) - size / 2}).to_parquet(path)
        paths.append(path)
    return paths


def programs_of(query, path):
    """The number of programs that a query traces."""
    traced = []

    def note(event, duration, **details):
        if "trace" in event:
            traced.append(event)

    jax.monitoring.register_event_duration_secs_listener(note)
    try:
        for batch in query(scan_parquet(path)).batches(BATCH_ROWS, batch_rows=BATCH_ROWS):
            del batch
    finally:
        jax.monitoring.unregister_event_duration_listener(note)
    return len(traced)


@pytest.mark.parametrize("name", QUERIES)
def test_more_batches_compile_nothing_more(name, paths):
    programs_of(QUERIES[name], paths[0])
    # The last piece of a sort has a length of its own.
    assert programs_of(QUERIES[name], paths[1]) <= 1
