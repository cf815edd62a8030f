# SPDX-License-Identifier: Apache-2.0
"""Labels of a range at positions, of sources with more rows than an int32 counts."""

import numpy as np
import pandas as pd
import pytest
from jaxframes.frame import JaxSeries, concat
from jaxframes.frame.table._from_host import labels_at_positions
from jaxframes.frame.table._layout import ONE_DEVICE
from jaxframes.frame.table._row_index import RowIndex


@pytest.mark.parametrize(
    "positions", [[0, 5, 2**31 - 1], [7, 2**31], [2**31, 2**31 + 2], [3 * 2**31], []]
)
def test_labels_are_exact(positions):
    row_ids = np.array(positions, np.int64)
    capacity = ONE_DEVICE.capacity_for(len(row_ids))
    index = labels_at_positions(RowIndex((), ("n",), 10, -3), row_ids, capacity, ONE_DEVICE)
    assert index.to_pandas(len(row_ids)).equals(pd.Index(10 - 3 * row_ids, name="n"))


def test_batches_before_and_after_the_limit_are_concatenated():
    parts = []
    for first in (2**31 - 3, 2**31 + 4):
        part = JaxSeries([1.5, 2.5])
        row_ids = first + np.array([0, 2])
        index = labels_at_positions(RowIndex(), row_ids, part._table.capacity, ONE_DEVICE)
        parts.append(part._like(part._table.replace(index=index)))
    expected = [2**31 - 3, 2**31 - 1, 2**31 + 4, 2**31 + 6]
    assert concat(parts).index.tolist() == expected
