# SPDX-License-Identifier: Apache-2.0
"""Near duplicates among documents: signatures, bands, and connected components."""

from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from divided import divide
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P
from jaxframes import primitives
from jaxframes.primitives import local
from jaxframes.primitives.local import Ragged

Array: TypeAlias = jax.Array
WORDS_OF_SHINGLE = 3
NUM_HASHES, NUM_BANDS = 64, 16
LEAST_SIMILARITY = 0.5


class Edges(NamedTuple):
    """Pairs of documents; the first document is -1 if there is no pair."""

    senders: Array
    receivers: Array


def write_documents(num_documents: int, seed: int = 0) -> tuple[Ragged, np.ndarray]:
    """Documents as ids of words, and the original of each: its own number, or that of another.

    A copy differs from its original in one or two words.
    """
    rng = np.random.default_rng(seed)
    originals = np.arange(num_documents)
    is_copy = rng.random(num_documents) < 0.4
    is_copy[0] = False
    documents: list[np.ndarray] = []
    for i in range(num_documents):
        if is_copy[i]:
            originals[i] = originals[rng.integers(i)]
            words = documents[originals[i]].copy()
            words[rng.integers(len(words), size=2)] = rng.integers(20_000, size=2)
        else:
            words = (20_000 * rng.random(rng.integers(40, 200)) ** 3).astype(np.int32)
        documents.append(words)
    lengths = np.array([len(words) for words in documents], np.int32)
    return Ragged.from_lengths(np.concatenate(documents), lengths), originals


def shingles(documents: Ragged) -> Ragged:
    """The set of each document: hashes of all runs of three words."""
    words = documents.values
    columns = tuple(jnp.roll(words, -i) for i in range(WORDS_OF_SHINGLE))
    _, hashes = local.hash_rows(columns)
    # The last two words of a document begin no run.
    rest = jnp.diff(documents.offsets)[documents.segment_ids] - documents.positions
    is_first = (documents.segment_ids >= 0) & (rest >= WORDS_OF_SHINGLE)
    lengths = jnp.maximum(documents.lengths - (WORDS_OF_SHINGLE - 1), 0)
    return Ragged.from_lengths(local.compact(is_first, hashes).rows, lengths)


def signatures_of(documents: Ragged) -> Array:
    """The signature of each document, `(documents, hashes)`."""
    return local.minhash(shingles(documents), NUM_HASHES)


def band_keys(signatures: Array) -> tuple[Array, Array]:
    """The hashes of all bands of all documents, 64 bits in two columns."""
    high, low = local.lsh_bands(signatures, NUM_BANDS)
    return high.ravel(), low.ravel()


def candidates(keys: tuple[Array, Array], mesh: Mesh | None = None) -> Edges:
    """An edge from each document to the first one with an equal band, one for each band."""
    groups = primitives.factorize(keys, mesh, sort=False, return_first=True)
    assert groups.row_ids is not None
    first = groups.row_ids[groups.group_ids]
    return Edges(jnp.arange(len(first), dtype=jnp.int32) // NUM_BANDS, first // NUM_BANDS)


def similar(edges: Edges, signatures: Array) -> Edges:
    """The edges between documents whose signatures agree often enough."""
    agreement = (signatures[edges.senders] == signatures[edges.receivers]).mean(axis=1)
    return Edges(jnp.where(agreement >= LEAST_SIMILARITY, edges.senders, -1), edges.receivers)


def first_copies(documents: Ragged) -> Array:
    """The first near duplicate of each document, which is its own number if there is none."""
    signatures = signatures_of(documents)
    edges = similar(candidates(band_keys(signatures)), signatures)
    found = local.connected_components(*edges, num_nodes=documents.num_segments)
    return found.representatives


def first_copies_over_mesh(documents: Ragged, mesh: Mesh) -> Array:
    """`first_copies` with the documents and the bands over the devices of a mesh."""
    (axis_name,) = mesh.axis_names
    mapped = jax.shard_map(signatures_of, mesh=mesh, in_specs=P(axis_name), out_specs=P(axis_name))
    signatures = jax.jit(mapped)(divide(documents, mesh.size))
    edges = similar(candidates(jax.jit(band_keys)(signatures), mesh), signatures)
    found = primitives.connected_components(*edges, len(signatures), mesh)
    return found.representatives[: documents.num_segments]


def plain_candidates(keys: tuple[Array, Array]) -> Edges:
    """`candidates` of `jax.numpy` alone: a sort by both columns, and the first of each run."""
    order = jnp.lexsort(keys[::-1])
    is_head = jnp.append(True, (keys[0][order] != keys[0][jnp.roll(order, 1)])[1:])
    is_head |= jnp.append(True, (keys[1][order] != keys[1][jnp.roll(order, 1)])[1:])
    starts = jax.lax.cummax(jnp.where(is_head, jnp.arange(len(order)), 0))
    first = jnp.zeros_like(order).at[order].set(order[starts])
    return Edges(jnp.arange(len(first)) // NUM_BANDS, first // NUM_BANDS)


def plain_components(edges: Edges, num_nodes: int) -> Array:
    """The smallest node that each node is connected to: labels spread until none changes."""
    senders = jnp.where(edges.senders < 0, num_nodes, edges.senders)

    def spread(state: tuple[Array, Array]) -> tuple[Array, Array]:
        labels, _ = state
        smaller = labels.at[edges.receivers].min(
            labels.at[senders].get(mode="fill", fill_value=num_nodes)
        )
        smaller = smaller.at[senders].min(smaller[edges.receivers], mode="drop")
        return smaller, (smaller != labels).any()

    labels = jnp.arange(num_nodes)
    return jax.lax.while_loop(lambda state: state[1], spread, (labels, jnp.array(True)))[0]
