# SPDX-License-Identifier: Apache-2.0
"""Sparse matrices and graphs on one device."""

import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse.csgraph
from jaxframes.primitives import local

from .measuring import axis, use_devices, waiting_call

DEGREE, WIDTH = 16, 32


def by_scatter(rows, columns, values, dense):
    """What code for graphs writes."""
    return jnp.zeros_like(dense).at[rows].add(values[:, None] * dense[columns])


def by_rows(rows, columns, values, dense):
    csr = local.csr_from_coo(rows, columns, len(dense), values=values)
    return local.spmm(csr, dense)


class SpMM:
    """How long does a sum over neighbours take, from unordered edges?"""

    params = (axis(2**10, 2**15), axis("jaxframes", "jnp"))
    param_names = ("nodes", "implementation")

    def setup(self, nodes, implementation):
        use_devices(1)
        rng = np.random.default_rng(0)
        edges = rng.integers(0, nodes, (2, DEGREE * nodes)).astype(np.int32)
        values = rng.standard_normal(DEGREE * nodes).astype(np.float32)
        dense = rng.standard_normal((nodes, WIDTH)).astype(np.float32)
        call = by_rows if implementation == "jaxframes" else by_scatter
        self.run = waiting_call(call, *jax.device_put((*edges, values, dense)))
        self.run()

    def time_spmm(self, nodes, implementation):
        self.run()


class SDDMM:
    """How long do the products of the two nodes of each edge take, by rows of a matrix?"""

    params = (axis(2**10, 2**15), axis("jaxframes", "jnp"))
    param_names = ("nodes", "implementation")

    def setup(self, nodes, implementation):
        use_devices(1)
        rng = np.random.default_rng(0)
        senders = np.repeat(np.arange(nodes, dtype=np.int32), DEGREE)
        receivers = rng.integers(0, nodes, DEGREE * nodes).astype(np.int32)
        dense = rng.standard_normal((2, nodes, WIDTH)).astype(np.float32)
        if implementation == "jaxframes":
            csr = local.csr_from_coo(senders, receivers, nodes)
            self.run = waiting_call(local.sddmm, csr, *jax.device_put(tuple(dense)))
        else:
            arrays = jax.device_put((senders, receivers, *dense))
            self.run = waiting_call(lambda i, j, x, y: jnp.sum(x[i] * y[j], 1), *arrays)
        self.run()

    def time_sddmm(self, nodes, implementation):
        self.run()


class NeighbourSample:
    """How long do five random edges of each of 4,096 nodes take, with and without replacement?"""

    params = (axis(2**12, 2**18), axis("without replacement", "with replacement"))
    param_names = ("nodes", "draws")

    def setup(self, nodes, draws):
        use_devices(1)
        rng = np.random.default_rng(0)
        lengths = rng.integers(0, 2 * DEGREE, nodes).astype(np.int32)
        graph = local.Ragged.from_lengths(np.arange(lengths.sum(), dtype=np.int32), lengths)
        batch = jax.device_put(rng.integers(0, nodes, 4096).astype(np.int32))

        def draw(key, graph, batch):
            return local.neighbour_sample(key, graph, batch, 5, replace=draws == "with replacement")

        self.run = waiting_call(draw, jax.random.key(0), graph, batch)
        self.run()

    def time_neighbour_sample(self, nodes, draws):
        self.run()


class Components:
    """How long do the components of a random graph take, beside SciPy's search?"""

    params = (axis(2**12, 2**18), axis("jaxframes", "scipy"))
    param_names = ("nodes", "implementation")

    def setup(self, nodes, implementation):
        use_devices(1)
        edges = np.random.default_rng(0).integers(0, nodes, (2, nodes)).astype(np.int32)

        def search():
            graph = scipy.sparse.coo_matrix((np.ones(nodes, np.int8), edges), (nodes, nodes))
            return scipy.sparse.csgraph.connected_components(graph, directed=False)

        def components(senders, receivers):
            return local.connected_components(senders, receivers, nodes)

        is_own = implementation == "jaxframes"
        self.run = waiting_call(components, *jax.device_put(tuple(edges))) if is_own else search
        self.run()

    def time_components(self, nodes, implementation):
        self.run()
