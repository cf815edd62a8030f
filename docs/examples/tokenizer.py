# SPDX-License-Identifier: Apache-2.0
"""Byte pair encoding: a tokenizer that is trained in one program, and documents packed in rows."""

import functools
import re
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from divided import divide
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P
from jaxframes import primitives
from jaxframes.primitives import collective, local
from jaxframes.primitives.local import Ragged

Array: TypeAlias = jax.Array
NUM_BYTES = 256


class Words(NamedTuple):
    """The distinct words of a text as bytes, how often each occurs, and the word at each place."""

    words: Ragged
    counts: Array
    word_ids: Array


class Merges(NamedTuple):
    """The two tokens that each new token stands for, and how often they were adjacent."""

    left: Array
    right: Array
    counts: Array


def write_documents(num_documents: int, seed: int = 0) -> list[str]:
    """Documents of many lengths, by a random walk over the letters of Lincoln's address."""
    text = Path(__file__).with_name("gettysburg.txt").read_text().replace("\n", " ")
    followers: dict[str, list[str]] = {}
    for i in range(len(text) - 2):
        followers.setdefault(text[i : i + 2], []).append(text[i + 2])
    rng = np.random.default_rng(seed)
    documents = []
    for length in rng.lognormal(5, 0.8, num_documents).astype(int) + 20:
        written, draws = text[:2], rng.random(length)
        for draw in draws:
            choices = followers.get(written[-2:], [" "])
            written += choices[int(draw * len(choices))]
        documents.append(written)
    return documents


def split_words(documents: list[str]) -> tuple[Ragged, np.ndarray]:
    """The words of all documents, each with the space before it, and the words of a document."""
    split = [re.findall(rb" ?[^ ]+| ", document.encode()) for document in documents]
    words = [word for of_document in split for word in of_document]
    values = np.frombuffer(b"".join(words), np.uint8).astype(np.int32)
    lengths = np.array([len(word) for word in words], np.int32)
    return Ragged.from_lengths(values, lengths), np.array([len(one) for one in split], np.int32)


def count_words(words: Ragged) -> Words:
    """Groups equal words by a hash of their bytes."""
    groups = primitives.factorize(local.hash_rows(words), sort=False, return_first=True)
    assert groups.row_ids is not None
    lengths = words.lengths[groups.row_ids]
    distinct = words.take(groups.row_ids, capacity=int(lengths.sum()))
    counts = local.segment_count(groups.group_ids, len(groups.row_ids))
    return Words(distinct, counts, groups.group_ids)


def is_pair(tokens: Array, word_ids: Array) -> Array:
    """Whether a token and the next one are of the same word."""
    return (word_ids[:-1] == word_ids[1:]) & (word_ids[:-1] >= 0)


def best_pair(
    tokens: Array, word_ids: Array, weights: Array, vocabulary: int, axis_name: str | None = None
) -> tuple[Array, Array]:
    """The most frequent pair of tokens as one integer, the smallest of several, and its count."""
    pairs = is_pair(tokens, word_ids)
    keys = jnp.where(pairs, tokens[:-1] * vocabulary + tokens[1:], -1)
    weights = jnp.where(pairs, weights[:-1], 0)
    if axis_name is None:
        runs = local.reduce_by_key(keys, weights, "sum")
    else:
        runs = collective.reduce_by_key(keys, weights, "sum", axis_name=axis_name)
    best = jnp.argmax(runs.values)
    key, count = runs.unique_keys[best], runs.values[best]
    if axis_name is not None:
        # The shards' keys ascend, so the first of equal counts has the smallest key.
        keys, counts = jax.lax.all_gather((key, count), axis_name)
        best = jnp.argmax(counts)
        key, count = keys[best], counts[best]
    return key, count


def merge_pair(
    tokens: Array, word_ids: Array, left: Array, right: Array, merged: Array
) -> tuple[Array, Array]:
    """Replaces each pair by one token, from the left: the first two of three equal ones."""
    position = jnp.arange(tokens.shape[0])
    matches = is_pair(tokens, word_ids) & (tokens[:-1] == left) & (tokens[1:] == right)
    matches = jnp.append(matches, False)
    before = local.inclusive_scan(jnp.where(matches, -1, position), "max")
    is_first = (position - before) % 2 == 1
    is_second = jnp.roll(is_first, 1)
    rows = (jnp.where(is_first, merged, tokens), word_ids + 1)
    tokens, word_ids = local.compact(~is_second, rows).rows
    # Padding is zero: a token of no word.
    return tokens, word_ids - 1


def train(words: Ragged, counts: Array, num_merges: int, axis_name: str | None = None) -> Merges:
    """Learns merges from words and their counts; with an axis, from the words of all its shards."""
    vocabulary = NUM_BYTES + num_merges
    if vocabulary**2 > 2**31:
        raise ValueError(f"train: num_merges must be at most 46,084, got {num_merges}.")

    def step(state: tuple[Array, Array], merged: Array) -> tuple[Any, Merges]:
        tokens, word_ids = state
        weights = counts[word_ids]
        key, count = best_pair(tokens, word_ids, weights, vocabulary, axis_name)
        left, right = key // vocabulary, key % vocabulary
        return merge_pair(tokens, word_ids, left, right, merged), Merges(left, right, count)

    new_tokens = jnp.arange(NUM_BYTES, vocabulary, dtype=jnp.int32)
    return jax.lax.scan(step, (words.values, words.segment_ids), new_tokens)[1]


def train_over_mesh(words: Words, num_merges: int, mesh: Mesh) -> Merges:
    """Learns merges with the words divided over the devices of a mesh."""
    (axis_name,) = mesh.axis_names
    # Each device has whole words, and words without bytes if they are not enough.
    divided = divide(words.words, mesh.size)
    num_words = divided.offsets.shape[0] - mesh.size
    counts = jnp.pad(words.counts, (0, num_words - len(words.counts)))
    mapped = jax.shard_map(
        functools.partial(train, num_merges=num_merges, axis_name=axis_name),
        mesh=mesh,
        in_specs=(P(axis_name), P(axis_name)),
        out_specs=P(),
        # What all devices decide from gathered counts is the same on each.
        check_vma=False,
    )
    return jax.jit(mapped)(divided, counts)


def encode(words: Ragged, merges: Merges) -> Ragged:
    """The tokens of words, by the merges in their order."""

    def step(state: tuple[Array, Array], merge: tuple[Array, Array, Array]) -> tuple[Any, None]:
        return merge_pair(*state, *merge), None

    new_tokens = NUM_BYTES + jnp.arange(len(merges.left), dtype=jnp.int32)
    state = (words.values, words.segment_ids)
    (tokens, word_ids), _ = jax.lax.scan(step, state, (merges.left, merges.right, new_tokens))
    return Ragged.from_lengths(tokens, local.segment_count(word_ids, words.num_segments))


def encode_documents(words: Words, words_of_document: Array, merges: Merges) -> Ragged:
    """The tokens of each document; each distinct word is encoded once."""
    encoded = encode(words.words, merges)
    lengths = encoded.lengths[words.word_ids]
    tokens = encoded.take(words.word_ids, capacity=int(lengths.sum()))
    documents = Ragged.from_lengths(lengths, words_of_document)
    sums = local.segment_sum(lengths, documents.segment_ids, documents.num_segments)
    return Ragged.from_lengths(tokens.values, sums)


def plain_best_pair(
    tokens: Array, word_ids: Array, weights: Array, vocabulary: int
) -> tuple[Array, Array]:
    """`best_pair` of `jax.numpy` alone: a sort of the pairs, and sums of equal ones."""
    pairs = is_pair(tokens, word_ids)
    keys = jnp.where(pairs, tokens[:-1] * vocabulary + tokens[1:], -1)
    weights = jnp.where(pairs, weights[:-1], 0)
    order = jnp.argsort(keys)
    keys = keys[order]
    is_head = jnp.append(True, keys[1:] != keys[:-1])
    ids = jnp.cumsum(is_head) - 1
    sums = jnp.zeros_like(weights).at[ids].add(weights[order])
    best = jnp.argmax(sums)
    return keys[jnp.searchsorted(ids, best)], sums[best]


def dense_best_pair(
    tokens: Array, word_ids: Array, weights: Array, vocabulary: int
) -> tuple[Array, Array]:
    """`best_pair` with a counter for each pair of the vocabulary."""
    keys = tokens[:-1] * vocabulary + tokens[1:]
    weights = jnp.where(is_pair(tokens, word_ids), weights[:-1], 0)
    sums = jnp.zeros(vocabulary**2, weights.dtype).at[keys].add(weights)
    best = jnp.argmax(sums)
    return best, sums[best]
