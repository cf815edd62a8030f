# SPDX-License-Identifier: Apache-2.0
"""Where rows live: meshes, the shardings of rows, and the set-up of several processes."""

from ._mesh import make_mesh, replicated, row_sharded

__all__ = ["make_mesh", "replicated", "row_sharded"]
