# SPDX-License-Identifier: Apache-2.0
"""Attention within documents of different lengths: by edges, in packed rows, and padded."""

import functools
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from divided import divide
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P
from jaxframes.primitives import local
from jaxframes.primitives.local import Packed, Ragged

Array: TypeAlias = jax.Array


class Projections(NamedTuple):
    """The query, the key and the value of each token, `(tokens, width)`."""

    query: Array
    key: Array
    value: Array


def make_documents(num_documents: int, width: int, seed: int = 0) -> Ragged:
    """Random projections of documents whose lengths differ by a factor of a hundred."""
    rng = np.random.default_rng(seed)
    lengths = np.minimum(rng.lognormal(4, 1.2, num_documents).astype(np.int32) + 1, 1024)
    shape = (3, lengths.sum(), width)
    return Ragged.from_lengths(Projections(*rng.standard_normal(shape, np.float32)), lengths)


def num_edges_of(lengths: np.ndarray, window: int) -> int:
    """The number of pairs of a token and one that it attends to, in documents of these lengths."""
    longest = int(lengths.max(initial=0))
    edges_up_to = np.cumsum(np.minimum(np.arange(longest + 1), window))
    return int(edges_up_to[np.asarray(lengths)].sum())


def edges_of(documents: Ragged, window: int, capacity: int) -> Ragged:
    """A sparse matrix with an entry where a token attends to another.

    A token attends to itself and to those before it in its document, at most `window` in all.
    """
    has_token = documents.segment_ids >= 0
    degrees = jnp.where(has_token, jnp.minimum(documents.positions + 1, window), 0)
    edges = local.repeat_rows(degrees, capacity=capacity)
    columns = edges.row_ids + 1 - degrees[edges.row_ids] + edges.copies
    return Ragged.from_lengths((columns, None), degrees)


def attend(documents: Ragged, window: int, num_edges: int) -> Array:
    """Attention with one score for each edge, and no padding."""
    query, key, value = documents.values
    edges = edges_of(documents, window, num_edges)
    edges = local.sddmm(edges, query / np.sqrt(query.shape[1]), key)
    columns, scores = edges.values
    weights = local.segment_softmax(scores, edges.segment_ids, documents.capacity)
    return local.spmm(edges.with_values((columns, weights)), value)


def attend_packed(documents: Ragged, packed: Packed, window: int) -> Array:
    """Attention in rows of several documents, with a score for each pair of places of a row."""
    query, key, value = packed.place(documents)
    ids = packed.segment_ids
    sees = (ids[:, :, None] == ids[:, None, :]) & is_near(ids.shape[1], window)
    results = masked_attention(query, key, value, sees)
    # Back to the tokens of documents.
    document, in_document = documents.segment_ids, documents.positions
    place = packed.row_ids[document] * ids.shape[1] + packed.offsets[document] + in_document
    return local.gather_rows(
        results.reshape(-1, results.shape[-1]), jnp.where(document < 0, -1, place)
    )


def attend_padded(documents: Ragged, length: int, window: int) -> Array:
    """The plain form: a row for each document, as long as the longest."""
    query, key, value = documents.to_padded(length)
    results = masked_attention(query, key, value, is_near(length, window))
    ids = documents.segment_ids
    return results[ids, documents.positions] * (ids >= 0)[:, None]


def is_near(length: int, window: int) -> Array:
    """Whether a place attends to another: itself and those before it, `window` in all."""
    distance = jnp.arange(length)[:, None] - jnp.arange(length)
    return (distance >= 0) & (distance < window)


def masked_attention(query: Array, key: Array, value: Array, sees: Array) -> Array:
    """Attention of the places of a row to those that they see."""
    scores = jnp.einsum("rqw,rkw->rqk", query / np.sqrt(query.shape[-1]), key)
    weights = jax.nn.softmax(jnp.where(sees, scores, -1e30))
    return jnp.einsum("rqk,rkw->rqw", weights, value)


def attend_over_mesh(documents: Ragged, window: int, mesh: Mesh) -> Ragged:
    """Attention with documents over the devices of a mesh; each has whole documents."""
    (axis_name,) = mesh.axis_names
    divided = divide(documents, mesh.size)
    lengths = np.diff(np.asarray(divided.offsets).reshape(mesh.size, -1))
    num_edges = max(num_edges_of(of_shard, window) for of_shard in lengths)

    @functools.partial(jax.shard_map, mesh=mesh, in_specs=P(axis_name), out_specs=P(axis_name))
    def mapped(documents: Ragged) -> Ragged:
        return documents.with_values(attend(documents, window, num_edges))

    return jax.jit(mapped)(divided)
