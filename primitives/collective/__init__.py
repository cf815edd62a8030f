# SPDX-License-Identifier: Apache-2.0
"""Level 2: the rows of a mesh axis, inside `shard_map`."""

from ._partition import Partitioned, partition
from ._radix_sort import even_share, radix_argsort, radix_sort

__all__ = ["Partitioned", "even_share", "partition", "radix_argsort", "radix_sort"]
