# SPDX-License-Identifier: Apache-2.0
"""First fit by blocks of rows: every number of rows, and laws of the rules."""

import jax.numpy as jnp
import numpy as np
import pytest
from jaxframes.primitives.local._bin_packing import first_or_best_fit, next_fit

LENGTH = 10


@pytest.mark.parametrize("capacity", [1, 2, 3, 7, 16, 33])
def test_no_row_overflows_and_a_document_without_room_fits_nowhere(capacity):
    lengths = np.sort(np.random.default_rng(capacity).integers(1, LENGTH + 1, 40))[::-1]
    for is_best in (False, True):
        rows, count = first_or_best_fit(
            jnp.asarray(lengths, jnp.int32), jnp.int32(40), LENGTH, capacity, is_best=is_best
        )
        rows = np.asarray(rows)
        is_placed = rows >= 0
        loads = np.bincount(rows[is_placed], lengths[is_placed], capacity)
        assert loads.max() <= LENGTH
        # The last document is the shortest.
        assert is_placed.all() or loads.min() + lengths[~is_placed].max() > LENGTH
        assert int(count) == len(np.unique(rows[is_placed])) + (~is_placed).sum()


def test_next_fit_begins_a_row_where_the_next_does_not_fit():
    lengths = jnp.array([10, 0, 3, 7, 1, 9, 9, 0], jnp.int32)
    rows, count = next_fit(lengths, jnp.ones(8, bool), LENGTH)
    assert (rows.tolist(), count) == ([0, 0, 1, 1, 2, 2, 3, 3], 4)
