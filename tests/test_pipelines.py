# SPDX-License-Identifier: Apache-2.0
"""The pipelines of the tutorials equal NumPy, on one device and on four, and so do plain forms."""

import itertools
from collections import Counter

import jax
import jax.numpy as jnp
import mixture_of_experts
import numpy as np
import pytest
import tokenizer
import top_p
from jaxframes import shardings

pytestmark = pytest.mark.usefixtures("x64_off", "promotion_of_programs")


@pytest.fixture
def promotion_of_programs():
    """Programs are written with JAX's own settings."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


def softmax(x):
    exponentials = np.exp(x - x.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def of_experts(params, tokens, capacity):
    """The layer, one copy of a token after the other."""
    probabilities = softmax(tokens @ params["router"])
    experts = np.argsort(-probabilities, axis=1, kind="stable")[:, :2]
    weights = np.take_along_axis(probabilities, experts, axis=1)
    weights /= weights.sum(axis=1, keepdims=True)
    results, counts = np.zeros_like(tokens), np.zeros(params["up"].shape[0], int)
    for i, token in enumerate(tokens):
        for expert, weight in zip(experts[i], weights[i], strict=True):
            if counts[expert] < capacity:
                h = token @ params["up"][expert]
                h *= 0.5 * (1 + np.tanh(np.sqrt(2 / np.pi) * (h + 0.044715 * h**3)))
                results[i] += weight * (h @ params["down"][expert])
            counts[expert] += 1
    return results, counts


@pytest.mark.parametrize("form", ["one device", "four devices", "plain"])
def test_mixture_of_experts(form):
    params = mixture_of_experts.new_parameters(6, 8)
    rng = np.random.default_rng(1)
    tokens = rng.normal(size=(48, 6)).astype(np.float32)
    # A shard has room for what both of its experts have room for, so only their own room matters.
    capacity = {"one device": 11, "four devices": 48, "plain": 11}[form]
    layer = {"one device": mixture_of_experts.layer, "plain": mixture_of_experts.plain_layer}.get(
        form
    )
    if layer is None:
        layer = mixture_of_experts.over_mesh(shardings.make_mesh(4))

    def loss(params, tokens):
        mixed = layer(params, tokens, capacity)
        return (mixed.tokens**2).sum(), mixed

    gradient = jax.jit(jax.grad(loss, argnums=(0, 1), has_aux=True))
    slopes, mixed = jax.device_get(gradient(params, tokens))
    wide = jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), (params, tokens))
    expected, counts = of_experts(*wide, capacity)
    assert (counts.max() > capacity) == (form != "four devices")
    np.testing.assert_array_equal(mixed.counts, counts)
    np.testing.assert_allclose(mixed.tokens, expected, rtol=1e-4, atol=1e-5)

    # Along a random direction the gradient is the slope of the oracle.
    direction = jax.tree.map(lambda leaf: rng.normal(size=leaf.shape), wide)

    def moved(step):
        at = jax.tree.map(lambda leaf, along: leaf + step * along, wide, direction)
        return (of_experts(*at, capacity)[0] ** 2).sum()

    slope = sum(jax.tree.leaves(jax.tree.map(lambda a, b: (a * b).sum(), slopes, direction)))
    np.testing.assert_allclose(slope, (moved(1e-6) - moved(-1e-6)) / 2e-6, rtol=1e-3)


def merged_by_hand(word, pair, token):
    tokens, i = [], 0
    while i < len(word):
        is_pair = tuple(word[i : i + 2]) == pair
        tokens.append(token if is_pair else word[i])
        i += 2 if is_pair else 1
    return tokens


def byte_pairs(words, num_merges):
    """The merges of a list of words, and the tokens of each word, by loops."""
    merges = []
    for token in range(256, 256 + num_merges):
        pairs = Counter(pair for word in words for pair in itertools.pairwise(word))
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append((*best, pairs[best]))
        words = [merged_by_hand(word, best, token) for word in words]
    return merges, words


def test_tokenizer():
    documents = [*tokenizer.write_documents(12, seed=3), "aaaa aaa aaaaa", "ab"]
    given, words_of_document = tokenizer.split_words(documents)
    words = tokenizer.count_words(given)
    offsets, values = np.asarray(given.offsets), np.asarray(given.values)
    split = [values[a:b].tolist() for a, b in itertools.pairwise(offsets)]
    assert bytes(itertools.chain(*split)).decode() == "".join(documents)
    assert words.words.num_segments == len({tuple(word) for word in split}) < len(split)

    expected, tokens = byte_pairs(split, 24)
    merges = jax.jit(tokenizer.train, static_argnums=2)(words.words, words.counts, 24)
    np.testing.assert_array_equal(np.stack(merges, axis=1), expected)
    on_four = tokenizer.train_over_mesh(words, 24, shardings.make_mesh(4))
    np.testing.assert_array_equal(np.stack(on_four, axis=1), expected)
    state = given.values, given.segment_ids, jnp.ones(given.capacity, jnp.int32)
    key, count = tokenizer.plain_best_pair(*state, 300)
    assert (int(key) // 300, int(key) % 300, int(count)) == expected[0]

    encoded = tokenizer.encode_documents(words, words_of_document, merges)
    np.testing.assert_array_equal(encoded.values, list(itertools.chain(*tokens)))
    ends = np.cumsum([0, *words_of_document])
    lengths = [sum(map(len, tokens[a:b])) for a, b in itertools.pairwise(ends)]
    np.testing.assert_array_equal(encoded.lengths, lengths)


def nucleus_by_hand(logits, p, k):
    """The logits of a row in descending order, those outside the nucleus minus infinity."""
    tokens = np.argsort(-logits, kind="stable")[:k]
    shares = softmax(logits.astype(np.float64))[tokens]
    before = np.cumsum(shares) - shares
    return np.where(before < p, logits[tokens], -np.inf), tokens


@pytest.mark.parametrize(
    ("form", "k"),
    [
        (top_p.nucleus, None),
        (top_p.plain_nucleus, None),
        (top_p.likeliest_nucleus, 9),
        (top_p.plain_likeliest_nucleus, 9),
    ],
)
def test_nucleus(form, k):
    # Many logits are equal: the token of the lower number comes first.
    logits = np.random.default_rng(2).integers(-3, 4, (5, 40)).astype(np.float32)
    arguments = (0.7,) if k is None else (0.7, k)
    found = jax.jit(jax.vmap(lambda row: form(row, *arguments)))(logits)
    expected = [nucleus_by_hand(row, 0.7, k) for row in logits]
    np.testing.assert_array_equal(found.logits, [row for row, _ in expected])
    np.testing.assert_array_equal(found.tokens, [tokens for _, tokens in expected])
    assert np.isinf(found.logits).any()


@pytest.mark.parametrize("num_devices", [1, 4])
def test_texts_of_top_p(num_devices):
    model = top_p.count_word_pairs()
    keys = jax.random.split(jax.random.key(4), 4)
    first = np.arange(4, dtype=np.int32)
    placed = jax.device_put((keys, first), shardings.row_sharded(shardings.make_mesh(num_devices)))
    texts = jax.jit(top_p.generate, static_argnums=3)(*placed, model.logits, 6, 0.9)

    logits = np.asarray(model.logits)
    for key, token, text in zip(keys, first, np.asarray(texts), strict=True):
        for i, drawn in enumerate(text):
            ordered, tokens = nucleus_by_hand(logits[token], 0.9, None)
            noise = np.asarray(jax.random.gumbel(jax.random.fold_in(key, i), ordered.shape))
            token = tokens[np.argmax(ordered + noise)]
            assert drawn == token
