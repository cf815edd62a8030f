# SPDX-License-Identifier: Apache-2.0
"""`collective.linear_recurrence` against the NumPy oracle on the rows of all shards."""

import numpy as np
import oracles
import pytest
from jaxframes.primitives import collective
from on_shards import dealt_out, noting, on_shards, valid_rows

COUNTS = {1: [7], 2: [5, 0], 3: [4, 6, 1], 5: [0, 3, 6, 0, 2], 8: [6, 1, 0, 2, 6, 6, 3, 5]}


@pytest.mark.parametrize("num_shards", COUNTS)
@pytest.mark.parametrize("reverse", [False, True])
def test_matches_the_oracle(num_shards, reverse):
    counts = COUNTS[num_shards]
    num_rows = sum(counts)
    rng = np.random.default_rng(num_shards)
    a, b = rng.uniform(-1, 1, (2, num_rows, 2))
    ids = np.repeat(np.arange(num_rows), rng.integers(1, 6, num_rows))[:num_rows]
    padded = dealt_out((a, b, ids), counts, max(counts))

    def solve(num_valid, a, b, ids):
        run = collective.linear_recurrence
        at = {"axis_name": "rows", "reverse": reverse, "num_valid": num_valid}
        return run(a, b, **at), run(a, b, segment_ids=ids, initial=0.5, **at)

    results = on_shards(solve, num_shards)(np.array(counts), *padded)
    heads = np.diff(ids, prepend=-1) > 0
    settings = ({}, {"head_flags": heads, "initial": 0.5})
    for result, setting in zip(results, settings, strict=True):
        with noting(setting):
            expected = oracles.linear_recurrence(a, b, reverse=reverse, **setting)
            found = valid_rows(np.asarray(result), np.array(counts))
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
