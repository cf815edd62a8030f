# SPDX-License-Identifier: Apache-2.0
"""`bincount`, `quantile_bins` and `connected_components` of lengths that no mesh divides."""

import numpy as np
import oracles
import pytest
from jaxframes import primitives
from on_shards import mesh_of, noting


@pytest.mark.parametrize("mesh_size", [None, 3])
def test_matches_numpy(mesh_size):
    mesh = None if mesh_size is None else mesh_of(mesh_size)
    rng = np.random.default_rng(0)
    for num_rows in (0, 1, 7, 12):
        x = rng.integers(0, 5, num_rows).astype(np.float64)
        ids, others = rng.integers(-1, 5, (2, num_rows))
        for valid in (None, num_rows // 2):
            with noting((num_rows, valid)):
                columns = np.stack([ids, others], axis=1)
                np.testing.assert_allclose(
                    primitives.bincount(columns, 4, mesh, weights=x, num_valid=valid),
                    oracles.bincount(columns, 4, x, num_valid=valid),
                    rtol=1e-12,
                )
                binned = primitives.quantile_bins(x, 3, mesh, num_valid=valid)
                bins, edges = oracles.quantile_bins(x, 3, num_valid=valid)
                np.testing.assert_array_equal(binned.bin_ids, bins)
                np.testing.assert_array_equal(binned.edges, edges)
                found = primitives.connected_components(ids, others, 5, mesh, num_valid=valid)
                labels, smallest, count = oracles.connected_components(
                    ids, others, 5, num_valid=valid
                )
                np.testing.assert_array_equal(found.labels, labels)
                np.testing.assert_array_equal(found.representatives, smallest)
                assert int(found.count) == count
