# SPDX-License-Identifier: Apache-2.0
"""Level 2: the rows of a mesh axis, inside `shard_map`."""
