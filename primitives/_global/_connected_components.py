# SPDX-License-Identifier: Apache-2.0
"""Connected components of a whole graph, on one device or over a mesh."""

import functools

from ...shardings._compat import MeshLike
from .. import collective, local
from .._in_shared_memory import in_shared_memory
from .._over_mesh import RowMesh, ValidRows, as_row_mesh
from ..contract._typing import Array, ArrayLike, Integer
from ..local import Components
from ..local.parts import as_edges
from ..tiers._tiered import tiered


@in_shared_memory(everywhere=True)
def connected_components(
    senders: Integer[ArrayLike, " edges"],
    receivers: Integer[ArrayLike, " edges"],
    num_nodes: int,
    mesh: MeshLike | None = None,
    *,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    axis: str | tuple[str, ...] | None = None,
) -> Components:
    """Finds which nodes of a graph are connected, whatever the directions of its edges.

    Args:
        senders: a node of each edge, integers of shape `(edges,)` and any length. Edges with a node
            outside `[0, num_nodes)` are dropped.
        receivers: the other node of each edge, integers of the same shape.
        num_nodes: the number of nodes. Static.
        mesh: mesh of the edges; one device by default.
        num_valid: number of valid edges, at the front; all by default.
        axis: mesh axis or axes of the edges; all axes of the mesh by default.

    Returns:
        `Components(labels, representatives, count)`: the component of each node, int32, numbered
        in the order of their smallest nodes, so that they are segment ids; the smallest node of
        each node's component; and the number of components. On a mesh every device gets them.

    Raises:
        TypeError: ids that are not integers, `num_nodes` is traced, or `mesh` is not a mesh.
        ValueError: lengths differ, `num_nodes` is out of range, or `axis` names no axis of the
            mesh.

    Cost:
        See `collective.connected_components`.

    Guarantees:
        Deterministic; does not depend on the mesh. Integers have no derivative.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives
        >>> found = primitives.connected_components(jnp.array([4, 1]), jnp.array([2, 3]), 5)
        >>> found.labels.tolist(), found.count.tolist()
        ([0, 1, 2, 1, 2], 3)
    """
    caller = "connected_components"
    row_mesh = as_row_mesh(mesh, axis, caller)
    if row_mesh is None:
        return local.connected_components(senders, receivers, num_nodes, num_valid=num_valid)
    edges, num_nodes = as_edges(caller, senders, receivers, num_nodes)
    num_edges = edges[0].shape[0]
    valid = row_mesh.valid_rows(num_valid, num_edges, caller)
    if num_nodes == 0 or num_edges == 0:
        return local.connected_components(*edges, num_nodes)
    return _on_mesh(row_mesh.place(edges), valid, num_nodes, row_mesh, num_edges)


@functools.partial(tiered, static_argnums=(2, 3, 4))
def _on_mesh(
    edges: tuple[Array, Array],
    valid: ValidRows | None,
    num_nodes: int,
    row_mesh: RowMesh,
    num_edges: int,
) -> Components:
    def of_shard(edges: tuple[Array, Array], valid: ValidRows | None) -> Components:
        return collective.connected_components(
            *edges,
            num_nodes,
            axis_name=row_mesh.axes,
            num_valid=row_mesh.num_valid(num_edges, valid),
        )

    return row_mesh.map_to_all(of_shard, edges, replicated=(valid,))
