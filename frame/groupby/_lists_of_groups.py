# SPDX-License-Identifier: Apache-2.0
"""`agg(list)`: the values of each group as a list."""

import jax.numpy as jnp
import numpy as np

from ...primitives.staging import tiered
from ..table._column import Array, Column
from ..table._list_slices import packed_starts
from ..table._lists import Lists, column_of_lists
from ..table._sort import argsort_rows
from ..table._take import position, take_columns
from ._grouped_column import Groups


def lists_of_groups(column: Column, groups: Groups, sizes: Array, num_rows: object) -> Column:
    """The values of a column in a list for each group, in the order of rows.

    The rows are sorted by group, so that the list of a group is a piece of them.
    """
    layout = groups.layout
    order = argsort_rows([(_none_last(groups.group_ids), False)], num_rows, layout)
    (values,) = take_columns([column], order, layout)
    lengths = sizes.astype(jnp.int32)
    lists = Lists(packed_starts(lengths, layout), lengths, values)
    return column_of_lists(position(lengths.shape[0], layout), lists)


@tiered
def _none_last(group_ids: Array) -> Array:
    return jnp.where(group_ids < 0, np.int32(np.iinfo(np.int32).max), group_ids)
